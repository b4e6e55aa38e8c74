"""Pictures of the course of a run: convergence, and angles between subspaces."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from boring.exceptions import InvalidInputError
from boring.optimizer import Optimizer
from boring.result import OptimizationResult
from boring.subspace.stiefel import largest_angle, orthonormalize
from boring.typing import BoolArray, FloatArray
from boring.validation import as_positive_int, as_real

from . import _canvas as canvas
from . import _furniture as furniture
from ._labels import brief
from ._sources import result_of, takes_studies
from .parallel import plot_parallel_coordinates
from .trace import SubspaceTrace

if TYPE_CHECKING:
    from boring.study.recorded import RecordedStudy

    from ._canvas import Axes

__all__ = ["draw_bands", "plot_angles", "plot_convergence", "plot_parallel_coordinates"]

REGRET_FLOOR = 1e-9
"""Smaller regrets are drawn here: the axis is logarithmic."""

Run: TypeAlias = "OptimizationResult | Optimizer | RecordedStudy"
Runs: TypeAlias = "Run | Iterable[Run]"


def plot_convergence(
    runs: Runs | Mapping[str, Runs],
    ax: Axes | None = None,
    *,
    optimum: float | None = None,
    n_initial: int | None = None,
    ylabel: str | None = None,
    title: str | None = None,
) -> Axes:
    """Draw the best value so far over the evaluations.

    Parameters
    ----------
    runs : OptimizationResult, several of them, or a mapping of labels to one or several
        An Optimizer or a Study stands for its result so far. Several results under one label are
        repetitions: their median is drawn, with a band between the quartiles. A single run is drawn
        with its evaluated values; crosses at the edge are points that break a constraint.
    ax : matplotlib.axes.Axes, optional
    optimum : float, optional
        Draws the gap to this value, on a logarithmic axis; gaps below 1e-9 are drawn at 1e-9. The
        title says by how much runs are better than it: by noise, or since its sign is wrong.
    n_initial : int, optional
        Ends the shaded initial design.
    ylabel : str, optional
        With the unit.
    title : str, optional

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InvalidInputError
        If there is nothing to draw, directions differ, or something else than results came.

    Notes
    -----
    A run that ended earlier than others of its label keeps its last best value.
    """
    groups = _groups(runs)
    first = next(iter(groups.values()))[0]
    sign = 1.0 if first.direction == "minimize" else -1.0
    if any(run.direction != first.direction for group in groups.values() for run in group):
        raise InvalidInputError("runs must all minimise or all maximise; draw them apart.")
    target = None if optimum is None else as_real(optimum, "optimum")
    axes = canvas.axes_or_new(ax)
    theme = canvas.theme_of(axes)
    longest = max(run.n_evaluations for group in groups.values() for run in group)

    def shown(y: FloatArray) -> FloatArray:
        return y if target is None else np.maximum(sign * (y - target), REGRET_FLOOR)

    if n_initial is not None and as_positive_int(n_initial, "n_initial", 0):
        axes.axvspan(0.5, n_initial + 0.5, color=theme.grid, alpha=0.5, lw=0, zorder=0)
    lone = len(groups) == 1 and len(first.y) and len(next(iter(groups.values()))) == 1
    if lone:
        good = first.feasible
        axes.plot(
            np.flatnonzero(good) + 1,
            shown(first.y[good]),
            ".",
            color=theme.muted,
            markersize=4,
            alpha=0.7,
            label="evaluated",
        )
        falls = target is not None or first.direction == "minimize"
        if target is None:
            beyond = _limit_view(axes, first)
            _mark_edge(axes, beyond, "^" if falls else "v", "beyond the axis", theme, falls)
        _mark_edge(axes, np.isfinite(first.y) & ~good, "x", "infeasible", theme, falls)
    for position, (label, group) in enumerate(groups.items()):
        length = max(run.n_evaluations for run in group)
        curves = [shown(run.best_so_far()) for run in group]
        worst = np.inf if target is not None else sign * np.inf
        table = np.array([np.pad(c, (0, length - len(c)), mode="edge") for c in curves])
        bands = quartile_bands(np.where(np.isnan(table), worst, table))
        draw_bands(axes, bands, theme.style(position), label, longest, (position, len(groups)))
    found = any(run.is_feasible for group in groups.values() for run in group)
    if not found:
        axes.tick_params(axis="y", left=False, labelleft=False)
    elif target is not None:
        axes.set_yscale("log")
    axes.set_xlim(0.5, longest + 0.5)
    axes.set_xlabel("number of evaluations")
    canvas.whole_ticks(axes)
    axes.set_ylabel(ylabel or ("best value so far" if target is None else "gap to the optimum"))
    many = max(len(group) for group in groups.values())
    above = 0.0
    if lone:  # its points are everywhere
        above = furniture.legend_above(axes)
    elif len(groups) > 1 or "" not in groups:
        furniture.legend(axes)
    details = [f"median and quartiles over {many} runs"] if many > 1 else []
    if not found:
        details.append("no point is feasible")
    elif target is not None:
        details += _excess(groups, sign * target, sign)
    furniture.title(axes, title, "; ".join(details), above=above)
    canvas.dress(axes, theme)
    furniture.wrap_texts(axes)
    return axes  # type: ignore[no-any-return]


def _limit_view(axes: Any, run: OptimizationResult) -> BoolArray:
    """End the axis where the best curve or most values end; return which values lie beyond."""
    good = run.feasible
    if not good.any():
        return good
    best = run.best_so_far()[np.argmax(good) :]
    usual = float(np.quantile(run.y[good], 0.75 if run.direction == "minimize" else 0.25))
    low, high = min(best.min(), usual), max(best.max(), usual)
    margin = 0.06 * (high - low)
    beyond = good & ((run.y > high + margin) | (run.y < low - margin)) & (margin > 0.0)
    if beyond.any():
        axes.set_ylim(low - margin, high + margin)
    return np.asarray(beyond)


def _mark_edge(
    axes: Any, rows: BoolArray, marker: str, label: str, theme: canvas.Theme, falls: bool
) -> None:
    """Mark evaluations whose values are not drawn at the edge that the curve comes from."""
    if rows.any():
        axes.plot(
            np.flatnonzero(rows) + 1,
            np.full(int(rows.sum()), 0.985 if falls else 0.015),
            marker,
            color=theme.muted,
            markersize=4,
            transform=axes.get_xaxis_transform(),
            label=label,
        )


def _excess(
    groups: Mapping[str, Sequence[OptimizationResult]], target: float, sign: float
) -> list[str]:
    """Say by how much the best run is better than what was given as the optimum, if it is."""
    runs = itertools.chain.from_iterable(groups.values())
    beyond = target - min(np.nanmin(sign * run.best_so_far(), initial=np.inf) for run in runs)
    if not beyond > REGRET_FLOOR:
        return []
    return [f"best run {brief(beyond)} better than the optimum given"]


def _groups(runs: Any) -> dict[str, list[OptimizationResult]]:
    """Return the runs of each label; one group without name if there are no labels."""
    named = runs if isinstance(runs, Mapping) else {"best so far": runs}
    groups: dict[str, list[OptimizationResult]] = {}
    for label, members in named.items():
        group = list(members) if isinstance(members, Iterable) else [members]
        group = [result_of(run) for run in group]
        if not group or not all(isinstance(run, OptimizationResult) for run in group):
            kinds = sorted({type(run).__name__ for run in group}) or ["nothing"]
            raise InvalidInputError(
                f"each label needs one OptimizationResult, Optimizer or Study, or more; {label!r} "
                f"has {', '.join(kinds)}. Pass what minimize, maximize or result() returned."
            )
        if not all(run.n_evaluations for run in group):
            raise InvalidInputError(f"a run of {label!r} has no evaluations; leave it out.")
        groups[str(label)] = group
    if not groups:
        raise InvalidInputError("a convergence plot needs at least one run; received none.")
    return groups


def quartile_bands(table: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return lower quartile, median and upper quartile of each column, NaN where infinite."""
    with np.errstate(invalid="ignore"):
        bands = np.quantile(table, [0.25, 0.5, 0.75], axis=0)
    lower, median, upper = np.where(np.isfinite(bands), bands, np.nan)
    return lower, median, upper


def draw_bands(
    axes: Any,
    bands: tuple[FloatArray, FloatArray, FloatArray],
    style: Mapping[str, Any],
    label: str,
    longest: int,
    place: tuple[int, int] = (0, 1),
) -> None:
    """Draw a median as steps, with a band between the quartiles.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
    bands : (lower, median, upper), each of shape (n,)
        After 1, 2, ... evaluations.
    style : mapping
        Colour, line style, marker.
    label : str
    longest : int
        Evaluations of the longest curve of the picture.
    place : (int, int)
        Which curve of how many this is: their markers are set apart.
    """
    lower, median, upper = bands
    evaluations = np.arange(1, len(median) + 1)
    step = max(1, longest // 8)
    offset = place[0] * step // max(place[1], 1)
    axes.plot(
        evaluations,
        median,
        label=label,
        linewidth=1.8,
        markersize=4.5,
        drawstyle="steps-post",
        markevery=(min(offset, len(median) - 1), step),
        **style,
    )
    axes.fill_between(
        evaluations, lower, upper, step="post", color=style["color"], alpha=0.18, linewidth=0
    )


@takes_studies
def plot_angles(
    source: OptimizationResult | Optimizer | RecordedStudy | SubspaceTrace,
    ax: Axes | None = None,
    *,
    truth: ArrayLike | None = None,
    title: str | None = None,
) -> Axes:
    """Draw how far the subspace of a run moved, or how far it was from the truth.

    Parameters
    ----------
    source : OptimizationResult, Optimizer or SubspaceTrace
        What was recorded while it ran is drawn; nothing is fitted. With ``truth``, the
        `SubspaceTrace` that was the run's callback: only it remembers every basis.
    ax : matplotlib.axes.Axes, optional
    truth : array_like, shape (D, d'), optional
        True active basis, scaled units.
    title : str, optional

    Returns
    -------
    matplotlib.axes.Axes
        Largest principal angle in degrees over the evaluations.

    Raises
    ------
    InvalidInputError
        If nothing was recorded, or the truth does not fit.

    Notes
    -----
    The angle to the last basis is the one that the default loop records as
    ``info["angle to previous"]``. If the dimensions of two bases differ, it is the largest of the
    min(d, d') angles that exist.
    """
    if truth is not None:
        counts, angles = _true_angles(source, orthonormalize(truth))
    elif isinstance(source, SubspaceTrace):
        counts = np.array(source.counts[1:], dtype=np.float64)
        pairs = itertools.pairwise(source.bases)
        angles = np.degrees([largest_angle(after, before) for before, after in pairs])
    else:
        counts, angles = _recorded_angles(source)
    if not len(counts):
        raise InvalidInputError(
            "no basis was recorded, or no second one: the optimiser learns none, or took no turn "
            "with it yet. Use BoringOptimizer and more evaluations than its subspace_from."
        )
    axes = canvas.axes_or_new(ax)
    theme = canvas.theme_of(axes)
    axes.plot(
        counts, angles, drawstyle="steps-post", linewidth=1.4, markersize=3.5, **theme.style(0)
    )
    axes.set_ylim(0.0, max(5.0, 1.08 * float(np.max(angles))))
    axes.set_xlabel("number of evaluations")
    canvas.whole_ticks(axes)
    other = "the previous basis" if truth is None else "the truth"
    axes.set_ylabel(f"angle to {other} (degrees)")
    furniture.title(axes, title)
    canvas.dress(axes, theme)
    furniture.wrap_texts(axes)
    return axes  # type: ignore[no-any-return]


def _recorded_angles(source: Any) -> tuple[FloatArray, FloatArray]:
    if isinstance(source, OptimizationResult):
        infos = [(record.index, record.info) for record in source.records]
    elif isinstance(source, Optimizer):
        history = source.history
        infos = [(t.index, history.asks[t.ask].info) for t in history.tells if t.ask is not None]
    else:
        raise InvalidInputError(
            "an OptimizationResult, an Optimizer or a SubspaceTrace is needed; received "
            f"{type(source).__name__}."
        )
    pairs = [(i, float(v)) for i, info in infos if (v := info.get("angle to previous")) is not None]
    table = np.array(pairs, dtype=np.float64).reshape(-1, 2)
    return table[:, 0] + 1.0, np.degrees(table[:, 1])


def _true_angles(source: Any, truth: FloatArray) -> tuple[FloatArray, FloatArray]:
    if not isinstance(source, SubspaceTrace):
        raise InvalidInputError(
            f"a {type(source).__name__} remembers no former bases. For the angle to the truth pass "
            "callback=SubspaceTrace() to the run, and that trace to this function."
        )
    wrong = [basis for basis in source.bases if len(basis) != len(truth)]
    if wrong:
        raise InvalidInputError(f"truth must have {len(wrong[0])} rows; received {len(truth)}.")
    angles = [largest_angle(basis, truth) for basis in source.bases]
    return np.array(source.counts, dtype=np.float64), np.degrees(np.array(angles))
