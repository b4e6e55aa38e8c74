"""Evaluated points as lines across their parameters: parallel coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boring.exceptions import InvalidInputError
from boring.optimizer import Optimizer
from boring.result import OptimizationResult
from boring.space import Box
from boring.typing import FloatArray
from boring.validation import as_positive_int

from . import _canvas as canvas
from ._labels import brief, names_of, short_names
from ._sources import Points, points_of, takes_studies

if TYPE_CHECKING:
    from boring.study.recorded import RecordedStudy

    from ._canvas import Axes

__all__ = ["plot_parallel_coordinates"]

MOST_COORDINATES = 25
"""With more parameters than this, parallel coordinates show those that matter most."""

COORDINATE_WIDTH = 0.16
"""Inches between two parameters."""

BEST_SHARE = 0.2
"""Parameters that matter are those that the best fifth of the points agree upon [chosen here]."""


@takes_studies
def plot_parallel_coordinates(
    source: OptimizationResult | Optimizer | RecordedStudy | None,
    X: ArrayLike | None = None,
    y: ArrayLike | None = None,
    ax: Axes | None = None,
    *,
    space: Box | ArrayLike | None = None,
    names: Sequence[str] | None = None,
    most: int | None = None,
    label: str = "value",
    title: str | None = None,
) -> Axes:
    """Draw each evaluated point as a line across the parameters, coloured by its value.

    Parameters
    ----------
    source : OptimizationResult or Optimizer
        None if X and y are given.
    X, y : array_like, shapes (n, D) and (n,), optional
        Raw units if there is a ``space``, else scaled to [-1, 1].
    ax : matplotlib.axes.Axes, optional
    space : Box or array_like of shape (D, 2), optional
    names : sequence of str, optional
        Of the D parameters.
    most : int, optional
        Parameters drawn, by default as many as are legible, 25 at most. Of more, those are chosen
        whose scatter among the best fifth of the points is smallest compared with all points
        (without a direction, those of largest rank correlation with y).
    label : str
        Of the values, with the unit.
    title : str, optional

    Returns
    -------
    matplotlib.axes.Axes
        Values by rank, the better ones (larger ones, without a direction) drawn last; the best
        point is a thick line.

    Raises
    ------
    InvalidInputError
        If there are no finite values, or shapes disagree.
    """
    axes = canvas.axes_or_new(ax, 7.2, 4.2)
    theme = canvas.theme_of(axes)
    width, _ = canvas.inches(axes)
    if most is None:
        most = int(np.clip((width - 0.6) / COORDINATE_WIDTH, 3, MOST_COORDINATES))
    most = as_positive_int(most, "most")
    run = points_of(source, X, y, space).finite()
    if not len(run.y):
        raise InvalidInputError("there are no finite values to draw; evaluate some points first.")
    labels = short_names(names_of(names, run.dim))
    shown = np.arange(run.dim)
    if run.dim > most:
        shown = np.sort(np.argsort(-_decisiveness(run), kind="stable")[:most])
    bar = _draw_lines(axes, run, shown, theme, label)
    ticks = [labels[index] for index in shown]
    upright = sum(len(tick) + 2 for tick in ticks) * 0.075 < width
    axes.set_xticks(np.arange(len(shown)), ticks, rotation=0 if upright else 90)
    axes.set_xlim(-0.3, len(shown) - 0.7)
    axes.set_ylim(-1.05, 1.05)
    axes.set_yticks([-1, 0, 1], ["lower\nbound", "middle", "upper\nbound"])
    detail = f"{len(shown)} of {run.dim} parameters" if run.dim > most else ""
    above = 0.0 if run.direction is None else canvas.legend_above(axes)
    canvas.title(axes, title, detail, above=above)
    canvas.dress(axes, theme, grid="x")
    canvas.wrap_texts(axes, bar)
    return axes  # type: ignore[no-any-return]


def _decisiveness(run: Points) -> FloatArray:
    """Return for each parameter how much it seems to matter, larger is more."""
    X = run.scaled
    if run.direction is None:
        ranks = np.argsort(np.argsort(run.y)) - 0.5 * (len(run.y) - 1)
        centred = np.argsort(np.argsort(X, axis=0), axis=0) - 0.5 * (len(X) - 1)
        return np.asarray(np.abs(ranks @ centred))
    sign = 1.0 if run.direction == "minimize" else -1.0
    best = np.argsort(sign * run.y)[: max(2, int(np.ceil(BEST_SHARE * len(run.y))))]
    return np.asarray(-X[best].std(axis=0) / np.maximum(X.std(axis=0), 1e-12))


def _draw_lines(
    axes: Any, run: Points, shown: NDArray[np.intp], theme: canvas.Theme, label: str
) -> Any:
    """Draw the points; return the axes of the colour bar."""
    low_is_best = run.direction == "minimize"
    order = np.argsort(-run.y if low_is_best else run.y, kind="stable")
    rows, values = run.scaled[order][:, shown], run.y[order]
    across = np.arange(len(shown), dtype=np.float64)
    if len(shown) == 1:
        across, rows = np.array([-0.2, 0.2]), np.repeat(rows, 2, axis=1)
    sorted_values = np.sort(values)
    ranks = np.searchsorted(sorted_values, values) / max(len(values) - 1, 1)
    lines = canvas.line_collection(across, rows, ranks, theme, low_is_best=low_is_best)
    axes.add_collection(lines)
    bar = canvas.colorbar(axes.figure, lines, axes, f"{label}\n(colour by rank)", theme, pad=0.02)
    ticks = np.linspace(0.0, 1.0, 5)
    bar.set_ticks(ticks, labels=[brief(v) for v in np.quantile(sorted_values, ticks)])
    if run.direction is not None:
        axes.plot(across, rows[-1], color=theme.background, linewidth=4.0, zorder=4)
        axes.plot(across, rows[-1], color=theme.palette[1], linewidth=2.2, zorder=5, label="best")
    return bar.ax
