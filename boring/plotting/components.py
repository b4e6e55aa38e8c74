"""Pictures of the components of an additive model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from boring.exceptions import InvalidInputError
from boring.models.posterior import GaussianProcess
from boring.optimizer import Optimizer
from boring.surrogate import ObjectiveProcess
from boring.typing import Direction, FloatArray
from boring.validation import as_positive_int
from boring.warping import Units

from . import _canvas as canvas
from . import _furniture as furniture
from ._labels import names_of, short_names
from ._panels import columns_of, legible, side_by_side
from ._sources import checked_direction, takes_studies
from ._surfaces import (
    LINE_POINTS,
    coordinate_label,
    draw_curve,
    draw_surface,
    span_of,
)

if TYPE_CHECKING:
    from boring.study.recorded import RecordedStudy

    from ._canvas import Axes, Figure

__all__ = ["plot_components"]

MOST_COMPONENTS = 9
COMPONENT_WIDTH = 2.3
"""Least inches that a panel takes of a figure that is given."""


@takes_studies
def plot_components(
    source: Optimizer | RecordedStudy | ObjectiveProcess | GaussianProcess,
    figure: Figure | None = None,
    *,
    names: Sequence[str] | None = None,
    most: int | None = None,
    direction: Direction | None = None,
    ylabel: str | None = None,
    title: str | None = None,
) -> Figure:
    """Draw the components of an additive model: the active one, and each passive one.

    Parameters
    ----------
    source : Optimizer, Study, ObjectiveProcess or GaussianProcess
        Such as that of ``BoringOptimizer.thesis``, whose surrogate is active plus passive terms
        [thesis Sec. 4.1].
    figure : matplotlib.figure.Figure, optional
    names : sequence of str, optional
        Of the D parameters.
    most : int, optional
        Components drawn, those that vary most; by default as many as are legible, 9 at most.
    direction : {"minimize", "maximize"}, optional
        Which end of a map's colours stands out; an optimiser's own, else "maximize".
    ylabel : str, optional
        Of the components, with the unit.
    title : str, optional

    Returns
    -------
    matplotlib.figure.Figure
        One panel for each component of one or two directions, its label the component's name:
        posterior mean with a band of two standard deviations [thesis eq. 4.4, 4.5] over one
        direction, contours that fade over two. Marks at the foot are the data. Components of more
        directions are named in the title, not drawn.

    Raises
    ------
    InvalidInputError
        If there is no model, or none of its components can be drawn.
    """
    canvas.check_figure(figure)
    if most is None:
        most = legible(figure, MOST_COMPONENTS, COMPONENT_WIDTH)
    most = as_positive_int(most, "most")
    posterior, units = _posterior_of(source)
    low_is_best = (
        checked_direction(direction) or getattr(source, "direction", "maximize")
    ) == "minimize"
    labels = short_names(names_of(names, posterior.X.shape[1]))
    terms = _drawable(posterior)
    left_out = [
        t.name for t in posterior.model.kernel.terms if t.name not in {n for _, n, _ in terms}
    ]
    if not terms:
        raise InvalidInputError(
            "no component of the model has one or two directions; it has "
            f"{', '.join(posterior.model.kernel.component_names)}. Draw plot_slices instead."
        )
    spread = np.ptp(posterior.components(posterior.X)[0], axis=0)
    chosen = sorted(terms, key=lambda term: -spread[term[0]])[:most]
    chosen.sort(key=lambda term: term[0])
    columns = side_by_side(len(chosen))
    if figure is None:
        rows = -(-len(chosen) // columns)
        figure = canvas.new_figure(max(3.6, 2.9 * columns), 0.8 + 2.3 * rows)
    columns = min(columns, columns_of(figure, COMPONENT_WIDTH))
    panels = canvas.grid_of(figure, len(chosen), columns)
    theme = canvas.theme_of(panels[0])
    lines = []
    for panel, (index, name, basis) in zip(panels, chosen, strict=True):
        panel.set_label(name)
        panel.set_title(name, fontsize="medium", color=theme.ink)
        if _draw_component(panel, posterior, units, index, basis, labels, theme, low_is_best):
            lines.append(panel)
    _same_scale(lines)
    furniture.side_label(figure, ylabel or "component (units of y)", theme)
    some = f"{len(chosen)} of {len(terms)} of one or two directions"
    more = f"of more directions: {', '.join(left_out)}" if left_out else ""
    detail = "; ".join(part for part in (some if len(chosen) < len(terms) else "", more) if part)
    furniture.headline(figure, (title or "Components of the model", detail), theme)
    furniture.wrap_texts(*panels)
    return figure


def _posterior_of(source: Any) -> tuple[GaussianProcess, Units]:
    """Return a posterior, and the units in which it is drawn."""
    model = source.surrogate if isinstance(source, Optimizer) else source
    if isinstance(model, ObjectiveProcess) and hasattr(model, "posterior"):
        return model.posterior, model.units
    if isinstance(model, GaussianProcess):
        return model, Units(0.0, 1.0)
    has_model = isinstance(source, Optimizer)
    received = f"{type(source).__name__}{f' with {type(model).__name__}' if has_model else ''}"
    remedy = "Tell it more points" if has_model else "Pass an optimiser that has one"
    raise InvalidInputError(
        f"components need a fitted additive Gaussian process; received {received}. {remedy}, or "
        "pass an ObjectiveProcess or a GaussianProcess."
    )


def _drawable(posterior: GaussianProcess) -> list[tuple[int, str, FloatArray]]:
    """Return index, name and orthonormal directions (D, 1 or 2) of the terms that have so few."""
    dim = posterior.X.shape[1]
    found = []
    for index, (term, _, parameters) in enumerate(posterior.model.kernel.split(posterior.theta)):
        inputs = term.feature_map.inputs(np.eye(dim))
        # Features are linear: those of the axes are the rows of the map's matrix.
        matrix = term.feature_map.features(inputs, parameters)
        U, singular, _ = np.linalg.svd(matrix, full_matrices=False)
        rank = int(np.sum(singular > 1e-9 * singular[0]))
        if rank <= 2:
            basis = U[:, :rank]
            peaks = basis[np.argmax(np.abs(basis), axis=0), np.arange(rank)]
            found.append((index, term.name, basis * np.sign(peaks)))
    return found


def _draw_component(
    panel: Any,
    posterior: GaussianProcess,
    units: Units,
    index: int,
    basis: FloatArray,
    labels: Sequence[str],
    theme: canvas.Theme,
    low_is_best: bool,
) -> bool:
    """Draw one component; return whether it is a curve."""
    Z = posterior.X @ basis

    def predict(points: FloatArray) -> tuple[FloatArray, FloatArray]:
        means, variances = posterior.components(points @ basis.T)
        return units.differences(means[:, index]), units.deviations(variances[:, index])

    width, height = furniture.inches(panel)
    ranges = [span_of(column) for column in Z.T]
    panel.set_xlabel(coordinate_label("z", basis[:, 0], labels, width), fontsize="small")
    if len(ranges) == 1:
        t = np.linspace(*ranges[0], LINE_POINTS)
        draw_curve(panel, t, *predict(t[:, None]), theme, "± 2 sd")
        canvas.dress(panel, theme)
        panel.plot(
            Z[:, 0],
            np.zeros(len(Z)),
            "|",
            color=theme.muted,
            markersize=6,
            transform=panel.get_xaxis_transform(),
        )
        return True
    drawn = draw_surface(panel, predict, ranges, theme, low_is_best=low_is_best)
    panel.plot(Z[:, 0], Z[:, 1], ".", color=theme.ink, markersize=3, alpha=0.7)
    panel.set_ylabel(coordinate_label("z'", basis[:, 1], labels, height), fontsize="small")
    furniture.colorbar(panel.figure, drawn, panel, "", theme, pad=0.02, ticks=drawn.levels[::4])
    canvas.dress(panel, theme, grid=None)
    return False


def _same_scale(panels: Sequence[Axes]) -> None:
    """Give curves one vertical range, so that sizes compare."""
    if panels:
        ends = np.array([panel.get_ylim() for panel in panels])
        for panel in panels:
            panel.set_ylim(float(ends[:, 0].min()), float(ends[:, 1].max()))
