"""Slices of a model through the best point, one for each parameter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from boring._brief import in_brief
from boring.exceptions import InvalidInputError
from boring.models.base import ObjectiveSurrogate
from boring.optimizer import Optimizer
from boring.result import OptimizationResult
from boring.surrogate import ObjectivePosterior
from boring.typing import FloatArray
from boring.validation import as_points, as_positive_int, as_real

from . import _canvas as canvas
from . import _furniture as furniture
from ._labels import names_of, short_labels
from ._panels import columns_of, legend_below, legible, side_by_side
from ._sources import model_of, points_of, subspace_of
from ._surfaces import N_SDS, draw_curve
from ._sweeps import Sweep, parameter_sweeps, set_ticks, sweeps_of_box, varying_of

if TYPE_CHECKING:
    from boring.parameters import ParameterSpace
    from boring.study.recorded import RecordedStudy
    from boring.subspace.estimate import SubspaceEstimate

    from ._canvas import Figure

__all__ = ["draw_slices", "plot_slices"]

MOST_SLICES = 6
SLICE_WIDTH = 1.7
"""Least inches that a panel takes of a figure that is given."""

PANEL_WIDTH, PANEL_HEIGHT = 2.3, 1.9
"""Inches of a small multiple."""

BAND = "± 2 sd"


def plot_slices(
    source: OptimizationResult | Optimizer | RecordedStudy | ObjectiveSurrogate,
    figure: Figure | None = None,
    *,
    center: ArrayLike | Mapping[str, Any] | None = None,
    value: float | None = None,
    top: int | None = None,
    names: Sequence[str] | None = None,
    ylabel: str = "value",
    title: str | None = None,
) -> Figure:
    """Draw the surrogate along each parameter, all others held at the incumbent.

    Parameters
    ----------
    source : OptimizationResult, Optimizer, Study or ObjectiveSurrogate
        An optimiser brings its surrogate; where it has none, and for a result, a model is fitted
        to the points: along the subspace if that is trusted.
    figure : matplotlib.figure.Figure, optional
    center : array_like, shape (D,), or mapping, optional
        Raw units; of a study, a configuration. By default the incumbent. A model needs it.
    value : float, optional
        Evaluated at ``center``, to be marked; by default that of the incumbent.
    top : int, optional
        Parameters drawn, the most important ones of the subspace, as in a report; without one, or
        of a model, those along which the mean varies most. By default as many as are legible, 6 at
        most.
    names : sequence of str, optional
        Of the D parameters, with their units. A study brings its own; names in their place are
        those of the parameters that vary.
    ylabel : str
        Of the values, with the unit.
    title : str, optional

    Returns
    -------
    matplotlib.figure.Figure
        One panel a parameter, on one scale; the label of each is the parameter's name. The band is
        two standard deviations of the objective without noise. The parameters of a study are in
        their own units, on a logarithmic axis where they are logarithmic; one that takes few
        values has a mark with a bar for each, and those of an order or category their names.

    Raises
    ------
    InvalidInputError
        If there is no finite value to fit to, or a center is missing.
    """
    from boring.study.recorded import RecordedStudy

    space = source.space if isinstance(source, RecordedStudy) else None
    drawn: Any = source.optimizer if isinstance(source, RecordedStudy) else source
    estimate = None
    if not isinstance(drawn, ObjectiveSurrogate):
        estimate = subspace_of(drawn, required=False)
    model, point, found = _model_and_center(drawn, center, space, estimate)
    if space is None:
        sweeps = sweeps_of_box(model.space, point, names_of(names, model.space.dim))
    else:
        given = None if names is None else names_of(names, len(varying_of(space)))
        sweeps = parameter_sweeps(space, point, given)
    return draw_slices(
        figure,
        model,
        sweeps,
        value=found if value is None else as_real(value, "value"),
        top=top,
        ylabel=ylabel,
        importance=None if estimate is None else estimate.importance,
        title=title,
    )


def draw_slices(
    figure: Figure | None,
    model: ObjectiveSurrogate,
    sweeps: Sequence[Sweep],
    *,
    value: float | None,
    top: int | None,
    ylabel: str,
    importance: FloatArray | None = None,
    title: str | None = None,
) -> Figure:
    """Draw a model along sweeps, the most important ones; the rest is that of `plot_slices`.

    ``importance`` is that of the columns, shape (D,); None goes by how much the mean varies.
    """
    canvas.check_figure(figure)
    means, sds = zip(*(_predicted(model, sweep) for sweep in sweeps), strict=True)
    if importance is None:
        weights = [float(np.ptp(mean)) for mean in means]
    else:
        weights = [float(importance[sweep.columns].sum()) for sweep in sweeps]
    order = np.argsort(-np.array(weights), kind="stable")
    most = legible(figure, MOST_SLICES, SLICE_WIDTH)
    order = order[: most if top is None else as_positive_int(top, "top")]
    columns = side_by_side(len(order))
    rows = -(-len(order) // columns)
    if figure is None:
        figure = canvas.new_figure(max(3.6, PANEL_WIDTH * columns), 0.9 + PANEL_HEIGHT * rows)
    columns = min(columns, columns_of(figure, SLICE_WIDTH))
    panels = canvas.grid_of(figure, len(order), columns, sharey=True)
    theme = canvas.theme_of(panels[0])
    labels = short_labels([sweep.label for sweep in sweeps])
    for panel, index in zip(panels, order, strict=True):
        sweep = sweeps[index]
        _draw_sweep(panel, sweep, means[index], sds[index], theme)
        panel.axvline(sweep.here, color=theme.muted, linestyle=":", linewidth=1.2, zorder=0.9)
        if value is not None:
            panel.plot(
                sweep.here,
                value,
                "D",
                color=theme.real,
                markersize=5,
                label="incumbent",
                zorder=4,
                clip_on=False,  # Best settings often lie at the end of a range.
            )
        panel.set_label(sweep.label)
        panel.set_xlabel(labels[index], fontsize="small")
        set_ticks(panel, sweep)
        panel.locator_params(axis="y", nbins=5)
        canvas.dress(panel, theme)
    furniture.side_label(figure, ylabel, theme)
    detail = f"{len(order)} of {len(sweeps)} parameters" if len(order) < len(sweeps) else ""
    furniture.headline(figure, (title or "Slices through the incumbent", detail), theme)
    legend_below(figure, panels, theme)
    furniture.wrap_texts(*panels)
    return figure


def _predicted(model: ObjectiveSurrogate, sweep: Sweep) -> tuple[FloatArray, FloatArray]:
    if isinstance(model, ObjectivePosterior):
        return model.predict_with_sd(sweep.X)
    mean, variance = model.predict(sweep.X)
    return mean, np.sqrt(variance)


def _draw_sweep(
    panel: Any, sweep: Sweep, mean: FloatArray, sd: FloatArray, theme: canvas.Theme
) -> None:
    """Draw a curve with a band, or a mark with a bar for each of few values."""
    if not sweep.is_marked:
        draw_curve(panel, sweep.at, mean, sd, theme, BAND)
        return
    low, high = mean - N_SDS * sd, mean + N_SDS * sd
    bars = {"color": theme.model, "alpha": 0.25, "linewidth": 7.0, "label": BAND}
    panel.vlines(sweep.at, low, high, **bars)
    marks = {"color": theme.model, "markersize": 6.0, "linewidth": 1.0, "label": "posterior mean"}
    panel.plot(sweep.at, mean, "o" if sweep.scale == "names" else "o--", **marks)


def _model_and_center(
    source: Any,
    center: ArrayLike | Mapping[str, Any] | None,
    space: ParameterSpace | None,
    estimate: SubspaceEstimate | None,
) -> tuple[ObjectiveSurrogate, FloatArray, float | None]:
    """Return the model, the point to slice through, and the value evaluated there if there is."""
    point: Any = center
    if isinstance(center, Mapping):
        if space is None:
            raise InvalidInputError(
                "center may be a configuration where a Study is drawn; received a mapping with "
                f"{type(source).__name__}. Pass the Study, or an array of raw units."
            )
        point = space.encode(center)[0]
    if isinstance(source, ObjectiveSurrogate):
        if center is None:
            raise InvalidInputError(
                "a model has no incumbent; pass center, a point of shape "
                f"({source.space.dim},) in raw units."
            )
        return source, _inside(source, point), None
    run = points_of(source)
    best = run.incumbent()
    if best is None:
        raise InvalidInputError("there are no finite values to fit to; evaluate some points first.")
    model = model_of(source, run, estimate)
    if center is not None:
        return model, _inside(model, point), None
    return model, run.X[best], float(run.y[best])


def _inside(model: ObjectiveSurrogate, center: ArrayLike) -> FloatArray:
    point = as_points(center, model.space.dim, "center")
    if len(point) != 1 or not model.space.contains(point, 1e-9).all():
        received = in_brief(np.asarray(center))
        raise InvalidInputError(f"center must be one point of the box; received {received}.")
    return np.asarray(point[0])
