"""One picture of many experiments: a small panel of convergence for each, one legend for all."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from boring.exceptions import InvalidInputError

from .curves import BestSoFarCurves, regret_curves, value_curves
from .grouping import group_by_method, present
from .plots import REGRET_FLOOR, new_figure, save
from .records import RunRecord
from .standings import order_methods

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["STYLES", "convergence_panels", "method_styles"]

COLUMNS = 3
PANEL_WIDTH, PANEL_HEIGHT = 4.0, 2.9
LEGEND_COLUMNS = 5
LEGEND_ROW_HEIGHT = 0.28
LEGEND_HANDLE, LEGEND_LETTER = 0.7, 0.07
TITLE_HEIGHT = 0.45
"""Inches."""

COLOURS = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#000000",
    "#882255",
    "#8C8C00",
    "#7A5C3E",
    "#6A51A3",
    "#888888",
)
"""Okabe and Ito's colours first, then more of differing lightness."""

LINE_STYLES = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (5, 1.5, 1, 1.5)))

STYLES = tuple(
    {"color": colour, "linestyle": LINE_STYLES[index % len(LINE_STYLES)]}
    for index, colour in enumerate(COLOURS)
)
"""Twelve looks that differ in colour and, between neighbours, in line."""

DECADES_SHOWN = 8
"""The axis of regrets reaches at most so many decades below the top."""


def method_styles(methods: Sequence[str], reference: str) -> dict[str, dict[str, Any]]:
    """Return the look of each method; the reference is drawn thick, over the others.

    Parameters
    ----------
    methods : sequence of str
        In the order of the legend.
    reference : str
    """
    styles = {}
    ordered = [reference] if reference in methods else []
    for index, method in enumerate([*ordered, *(m for m in methods if m != reference)]):
        own = method == reference
        styles[method] = {
            **STYLES[index % len(STYLES)],
            "linewidth": 2.2 if own else 1.2,
            "zorder": 4 if own else 3,
        }
    return styles


def _curves(records: Sequence[RunRecord]) -> tuple[dict[str, BestSoFarCurves], bool]:
    """Return the curves of one experiment, and whether they are regrets."""
    known = all(record.simple_regret is not None for record in records)
    make = regret_curves if known else value_curves
    groups = group_by_method(records)
    return {name: make(groups[name]) for name in order_methods(groups)}, known


def _draw(
    axes: Axes,
    records: Sequence[RunRecord],
    styles: Mapping[str, Mapping[str, Any]],
    reference: str,
) -> bool:
    """Draw one panel: medians with bands between the quartiles. Return whether they are regrets."""
    curves, known = _curves(records)
    n_initial = records[0].n_initial
    longest = max(curve.n_evaluations for curve in curves.values())
    lows, highs = [], []
    for method, curve in curves.items():
        bands = [np.where(np.isfinite(band), band, np.nan) for band in curve.summary()]
        if known:
            bands = [np.maximum(band, REGRET_FLOOR) for band in bands]
        lower, median, upper = bands
        evaluations = np.arange(1, curve.n_evaluations + 1)
        style = styles[method]
        axes.plot(evaluations, median, drawstyle="steps-post", label=method, **style)
        axes.fill_between(
            evaluations,
            lower,
            upper,
            step="post",
            color=style["color"],
            alpha=0.2 if method == reference else 0.07,
            linewidth=0,
            zorder=2,
        )
        after = slice(min(n_initial, curve.n_evaluations) - 1, None)
        lows.append(np.nanmin(np.append(lower[after], np.inf)))
        highs.append(np.nanmax(np.append(upper[after], -np.inf)))
    _limits(axes, float(np.nanmin(lows)), float(np.nanmax(highs)), known)
    axes.set_xlim(1, max(longest, 2))
    axes.locator_params(axis="x", integer=True)
    axes.axvspan(1, n_initial, color="0.93", zorder=0)
    axes.grid(True, which="major", linewidth=0.4, alpha=0.6)
    axes.tick_params(labelsize="small", which="both")
    counts = sorted({curve.n_runs for curve in curves.values()})
    seeds = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]}–{counts[-1]}"
    what = "" if known else ", best value" if records[0].direction == "minimize" else ", best (max)"
    unit = "seed" if seeds == "1" else "seeds"
    axes.set_title(f"{records[0].experiment} ({seeds} {unit}{what})", fontsize="small")
    return known


def _limits(axes: Axes, low: float, high: float, known: bool) -> None:
    """Leave the initial design's worst values out of the axis, so that the rest has room."""
    if known:
        axes.set_yscale("log")
    if not (np.isfinite(low) and np.isfinite(high)):
        return
    if known:
        low = max(low, high * 10.0**-DECADES_SHOWN, REGRET_FLOOR)
        axes.set_ylim(0.6 * low, 1.6 * max(high, low))
    else:
        margin = 0.05 * (high - low) or 1.0
        axes.set_ylim(low - margin, high + margin)


def convergence_panels(
    groups: Mapping[str, Sequence[RunRecord]],
    path: str | os.PathLike[str],
    *,
    reference: str,
    methods: Sequence[str] | None = None,
    title: str = "",
) -> Path:
    """Draw one panel for each experiment into a file.

    Parameters
    ----------
    groups : mapping of str to sequence of RunRecord
        By experiment; what is not installed has no curve.
    path : path-like
    reference : str
        Method that is drawn thick.
    methods : sequence of str, optional
        All methods that share the looks, so that several pictures agree; those of the records by
        default.
    title : str

    Raises
    ------
    InvalidInputError
        If there is no run to draw.
    """
    made = {name: present(records) for name, records in groups.items()}
    made = {name: records for name, records in made.items() if records}
    if not made:
        raise InvalidInputError("a picture of convergence needs at least one run.")
    drawn = order_methods(r.method for records in made.values() for r in records)
    styles = method_styles(drawn if methods is None else methods, reference)
    columns = min(COLUMNS, len(made))
    rows = math.ceil(len(made) / columns)
    width = max(PANEL_WIDTH * columns, 7.0)
    room = int(width / (LEGEND_HANDLE + LEGEND_LETTER * max(map(len, drawn))))
    legend_columns = max(1, min(LEGEND_COLUMNS, max(2, columns * 2 - 1), room))
    legend_height = LEGEND_ROW_HEIGHT * math.ceil(len(drawn) / legend_columns) + 0.1
    figure = new_figure(width, PANEL_HEIGHT * rows + legend_height + TITLE_HEIGHT)
    panels = figure.subplots(rows, columns, squeeze=False)
    known = [
        _draw(axes, records, styles, reference)
        for axes, records in zip(panels.flat, made.values(), strict=False)
    ]
    for axes in list(panels.flat)[len(made) :]:
        axes.set_visible(False)
    for axes in list(panels.flat)[max(len(made) - columns, 0) : len(made)]:
        axes.set_xlabel("number of evaluations", fontsize="small")
    kinds = (["simple regret"] if any(known) else []) + ([] if all(known) else ["best value"])
    unit = "\n(units of the objective)" if rows == 1 else " (units of the objective)"
    figure.supylabel(", or ".join(kinds) + unit, fontsize="medium")
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], label=method, **styles[method]) for method in drawn]
    figure.legend(
        handles=handles,
        loc="outside lower center",
        ncols=legend_columns,
        fontsize="small",
        frameon=False,
        handlelength=3.0,
    )
    figure.suptitle(
        f"{title}\nmedian and quartiles; grey: initial design".strip(), fontsize="medium"
    )
    return save(figure, path)
