"""Evaluated points as lines across their parameters: parallel coordinates."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boring.exceptions import InvalidInputError
from boring.optimizer import Optimizer
from boring.parameters import Categorical, ParameterSpace
from boring.result import OptimizationResult
from boring.space import Box
from boring.typing import Direction, FloatArray
from boring.validation import as_positive_int

from . import _canvas as canvas
from . import _furniture as furniture
from ._labels import brief, names_of, short_names, unlike
from ._sources import Points, check_dim, checked_direction, points_of, subspace_of
from ._sweeps import label_of, range_of, varying_of

if TYPE_CHECKING:
    from boring.study.recorded import RecordedStudy
    from boring.subspace.estimate import SubspaceEstimate

    from ._canvas import Axes

__all__ = ["plot_parallel_coordinates"]

MOST_COORDINATES = 25
"""With more parameters than this, parallel coordinates show those that matter most."""

COORDINATE_WIDTH = 0.16
"""Inches between two parameters."""

LETTER_WIDTH, TWO_LINES = 0.07, 0.45
"""Inches of a letter of a tick, and of two lines that stand apart from the next two."""

RANGE_LINES = 3
"""Lines that a range may take below a name."""

INACTIVE = -1.3
"""Height at which a line passes a parameter that is inactive: below its range, not at a value."""

BEST_SHARE = 0.2
"""Without a subspace, those matter that the best fifth of the points agree upon [chosen here]."""


def plot_parallel_coordinates(
    source: OptimizationResult | Optimizer | RecordedStudy | None,
    X: ArrayLike | None = None,
    y: ArrayLike | None = None,
    ax: Axes | None = None,
    *,
    space: Box | ArrayLike | None = None,
    names: Sequence[str] | None = None,
    direction: Direction | None = None,
    most: int | None = None,
    label: str = "value",
    title: str | None = None,
) -> Axes:
    """Draw each evaluated point as a line across the parameters, coloured by its value.

    Parameters
    ----------
    source : OptimizationResult, Optimizer or Study
        None if X and y are given.
    X, y : array_like, shapes (n, D) and (n,), optional
        Raw units if there is a ``space``, else scaled to [-1, 1].
    ax : matplotlib.axes.Axes, optional
    space : Box or array_like of shape (D, 2), optional
    names : sequence of str, optional
        Of the D parameters; of a study, of those that vary.
    direction : {"minimize", "maximize"}, optional
        What is better of X and y; a run has its own.
    most : int, optional
        Parameters drawn, by default as many as are legible, 25 at most. Of more, the most important
        ones of the subspace are chosen, as in a report; without one, those whose scatter among the
        best fifth of the points is smallest compared with all points (without a direction, those of
        largest rank correlation with y).
    label : str
        Of the values, with the unit.
    title : str, optional

    Returns
    -------
    matplotlib.axes.Axes
        Values by rank, the better ones (larger ones, without a direction) drawn last; the best
        point is a thick line. Points that break a constraint are left out, unless all do: then the
        thick line is the one that does so least. A study has one line for each parameter, with its
        range in its own units where there is room; lines pass below what is inactive.

    Raises
    ------
    InvalidInputError
        If there are no finite values, shapes disagree, or points lie outside the cube or the box.
    """
    from boring.study.recorded import RecordedStudy

    drawn = source.optimizer if isinstance(source, RecordedStudy) else source
    run = points_of(drawn, X, y, space).finite()
    check_dim(run, run.dim)
    run = replace(run, direction=checked_direction(direction) or run.direction)

    def importance() -> FloatArray | None:
        estimate = subspace_of(drawn if X is None else None, required=False)
        return importance_of(estimate, source.space if isinstance(source, RecordedStudy) else None)

    if not isinstance(source, RecordedStudy):
        labels = names_of(names, run.dim)
        return draw_parallel(
            ax, run, labels, importance=importance, most=most, label=label, title=title
        )
    parameters = varying_of(source.space)
    given = [label_of(p) for p in parameters] if names is None else names
    return draw_parallel(
        ax,
        by_parameter(run, source.space),
        names_of(given, len(parameters)),
        ranges=[range_of(p) for p in parameters],
        importance=importance,
        most=most,
        label=label,
        title=title,
    )


def by_parameter(run: Points, space: ParameterSpace) -> Points:
    """Return points of the cube with one column for each parameter that varies, [-1, 1].

    Categories stand in the order of their choices; what is not active is below the range.
    """
    columns = []
    configurations = space.decode(run.X)
    for parameter in varying_of(space):
        is_active = [parameter.name in configuration for configuration in configurations]
        part = run.X[:, space.slice_of(parameter.name)]
        if isinstance(parameter, Categorical) and parameter.n_columns > 1:
            part = 2.0 * np.argmax(part, axis=1)[:, None] / (len(parameter.choices) - 1) - 1.0
        columns.append(np.where(np.array(is_active)[:, None], part, INACTIVE))
    return replace(run, X=np.hstack(columns), space=None)


def importance_of(
    estimate: SubspaceEstimate | None, space: ParameterSpace | None
) -> FloatArray | None:
    """Return the importance of each parameter that varies, of a box that of each coordinate."""
    if estimate is None:
        return None
    if space is None:
        return estimate.importance
    return np.array(list(space.importance_by_parameter(estimate.importance).values()))


def draw_parallel(
    ax: Axes | None,
    run: Points,
    labels: Sequence[str],
    *,
    ranges: Sequence[str] | None = None,
    importance: Callable[[], FloatArray | None] = lambda: None,
    most: int | None = None,
    label: str = "value",
    title: str | None = None,
) -> Axes:
    """Draw points; arguments are those of `plot_parallel_coordinates`, and texts of the ranges.

    ``importance`` is asked for only where there are more parameters than are drawn: an estimate
    takes seconds. None goes by the points.
    """
    run = run.finite()
    feasible = run.feasible
    if feasible.any():
        run = run.rows(feasible)
    axes = canvas.axes_or_new(ax, 7.2, 4.2)
    theme = canvas.theme_of(axes)
    width, _ = furniture.inches(axes)
    if most is None:
        most = int(np.clip((width - 0.6) / COORDINATE_WIDTH, 3, MOST_COORDINATES))
    most = as_positive_int(most, "most")
    if not len(run.y):
        raise InvalidInputError("there are no finite values to draw; evaluate some points first.")
    shown = np.arange(run.dim)
    if run.dim > most:
        known = importance()
        weights = _decisiveness(run) if known is None else known
        shown = np.sort(np.argsort(-weights, kind="stable")[:most])
    bar = _draw_lines(axes, run, shown, theme, label)
    short = short_names(labels)
    _name_coordinates(
        axes,
        [short[int(i)] for i in shown],
        None if ranges is None else [ranges[int(i)] for i in shown],
    )
    axes.set_xlim(-0.3, len(shown) - 0.7)
    ticks = {-1.0: "lower\nbound", 0.0: "middle", 1.0: "upper\nbound"}
    if (run.X[:, shown] == INACTIVE).any():
        ticks[INACTIVE] = "inactive"
    axes.set_ylim(min(ticks) - 0.05, 1.05)
    axes.set_yticks(list(ticks), list(ticks.values()))
    details = [f"{len(shown)} of {run.dim} parameters"] if run.dim > most else []
    if not feasible.all():
        n = int((~feasible).sum())
        details.append(f"{n} infeasible left out" if feasible.any() else "no point is feasible")
    above = 0.0 if run.direction is None else furniture.legend_above(axes)
    furniture.title(axes, title, "; ".join(details), above=above)
    canvas.dress(axes, theme, grid="x")
    furniture.wrap_texts(axes, bar)
    return axes  # type: ignore[no-any-return]


def _name_coordinates(axes: Any, names: Sequence[str], ranges: Sequence[str] | None) -> None:
    """Name the lines, side by side if there is room, with their ranges if there is room for them.

    Else names stand upright, and ranges beside them if the lines are far apart.
    """
    furniture.settle(axes)
    slot = furniture.inches(axes)[0] / len(names)
    ticks, is_level = list(names), _fit(names, slot)
    if ranges is not None:
        letters = max(4, int(slot / LETTER_WIDTH) - 1)
        broken = [textwrap.fill(text, letters, break_long_words=False) for text in ranges]
        both = [f"{name}\n{text}" for name, text in zip(names, broken, strict=True)]
        if _fit(both, slot) and all(text.count("\n") < RANGE_LINES for text in broken):
            ticks, is_level = both, True
        elif not is_level and slot >= TWO_LINES:
            ticks = [f"{name}\n{text}" for name, text in zip(names, ranges, strict=True)]
    axes.set_xticks(np.arange(len(ticks)), ticks, rotation=0 if is_level else 90)
    for text in axes.get_xticklabels():
        text.set_multialignment("center" if is_level else "right")


def _fit(ticks: Sequence[str], slot: float) -> bool:
    """Say whether texts have room side by side, each in the middle of so many inches."""
    longest = [max(len(line) for line in tick.split("\n")) for tick in ticks]
    return all(LETTER_WIDTH * (0.5 * (a + b) + 1.5) <= slot for a, b in pairwise(longest))


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
    rows, values = run.scaled[:, shown], run.y[order]
    across = np.arange(len(shown), dtype=np.float64)
    if len(shown) == 1:
        across, rows = np.array([-0.2, 0.2]), np.repeat(rows, 2, axis=1)
    sorted_values = np.sort(values)
    ranks = np.searchsorted(sorted_values, values) / max(len(values) - 1, 1)
    lines = canvas.line_collection(across, rows[order], ranks, theme, low_is_best=low_is_best)
    axes.add_collection(lines)
    bar = furniture.colorbar(
        axes.figure, lines, axes, f"{label}\n(colour by rank)", theme, pad=0.02
    )
    ticks = np.linspace(0.0, 1.0, 5)
    spread = float(np.ptp(values))
    texts = [brief(value, spread=spread) for value in np.quantile(sorted_values, ticks)]
    kept = unlike(texts)
    bar.set_ticks(ticks[kept], labels=[texts[i] for i in kept])
    best = run.incumbent()
    if best is not None:
        axes.plot(across, rows[best], color=theme.background, linewidth=4.0, zorder=4)
        axes.plot(across, rows[best], color=theme.palette[1], linewidth=2.2, zorder=5, label="best")
    return bar.ax
