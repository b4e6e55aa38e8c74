"""Section 5.3.2: how well the subspace is identified, over the number of points."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .. import recovery
from ..plots import new_figure, save, style_of
from ..tables import Spread, markdown
from .study import Record, Study, by_cell, count_failed, format_spread, succeeded

__all__ = ["CELLS", "STUDY"]

FUNCTIONS = (("parabola", 2), ("camelback", 5), ("sinexp", 5), ("rosenbrock", 10))
"""The four functions of section 5.3.2, with their D."""

POINTS = (15, 25, 50, 100, 200)
"""The thesis has 100."""

CELLS = {
    cell.name: cell
    for name, dim in FUNCTIONS
    for n in POINTS
    if n > dim
    for cell in (recovery.Cell(name, dim, n),)
}

LEARNER_NAMES = {"full-rank": "default", "tripathy": "Tripathy, 30 restarts"}
FLOOR_DEGREES = 0.001
"""Smaller angles are drawn here: the axis is logarithmic."""


def run(cell: str, seed: int, method: str) -> dict[str, Any]:
    """Learn W from uniform points; see :func:`experiments.recovery.run`."""
    return recovery.run(CELLS[cell], seed, method)


def table(records: Sequence[Record]) -> str:
    """Return angles, hits, and what the checks said, as Markdown."""
    rows = []
    for (name, method), group in by_cell(records, tuple(CELLS)).items():
        cell, good = CELLS[name], succeeded(group)
        checked = [r for r in good if "trusted" in r]
        hits = sum(r["angle"] < recovery.HIT_DEGREES for r in good)
        right = sum(r["bic_dim"] == r["effective_dim"] for r in checked)
        rows.append(
            [
                f"{cell.problem} in {cell.dim}",
                str(cell.n),
                method,
                count_failed(group),
                f"{hits}/{len(group)}",
                format_spread(r["angle"] for r in good),
                f"{right}/{len(checked)}" if checked else "",
                f"{sum(r['trusted'] for r in checked)}/{len(checked)}" if checked else "",
                f"{np.median([r['seconds'] for r in good]):.2f}" if good else "–",
            ]
        )
    header = [
        "function",
        "points",
        "learner",
        "runs",
        f"< {recovery.HIT_DEGREES:g}°",
        "angle / °",
        "d by BIC",
        "trusted",
        "CPU / s",
    ]
    return markdown(header, rows)


def draw(records: Sequence[Record], folder: Path) -> list[Path]:
    """Draw the largest principal angle over the number of points, one panel a function."""
    good = succeeded(records)
    shown = [(f, dim) for f, dim in FUNCTIONS if any(_is_of(r, f, dim) for r in good)]
    if not shown:
        return []
    figure = new_figure(3.1 * len(shown) + 0.6, 3.6)
    panels = figure.subplots(1, len(shown), sharey=True, squeeze=False)[0]
    for panel, (function, dim) in zip(panels, shown, strict=True):
        for position, method in enumerate(LEARNER_NAMES):
            _draw_learner(panel, [r for r in good if _is_of(r, function, dim)], method, position)
        panel.axhline(recovery.HIT_DEGREES, color="0.6", linewidth=0.8)
        panel.set(xscale="log", yscale="log", xlabel="points", ylim=(FLOOR_DEGREES, 120.0))
        panel.set_xticks(POINTS, [str(n) for n in POINTS])
        panel.minorticks_off()
        panel.set_title(f"{function} in {dim} dimensions", fontsize="medium")
        panel.grid(True, linewidth=0.4, alpha=0.6)
    panels[0].set_ylabel("largest principal angle / °")
    panels[0].legend(fontsize="small")
    seeds = len({r["seed"] for r in good})
    figure.suptitle(
        f"Learned against true subspace: median and quartiles over up to {seeds} seeds; "
        f"grey line {recovery.HIT_DEGREES:g}°",
        fontsize="medium",
    )
    return [save(figure, folder / "identification.png")]


def _is_of(record: Record, function: str, dim: int) -> bool:
    cell = CELLS[record["cell"]]
    return (cell.problem, cell.dim) == (function, dim)


def _draw_learner(panel: Any, records: Sequence[Record], method: str, position: int) -> None:
    points: dict[int, list[float]] = {}
    for record in records:
        if record["method"] == method:
            points.setdefault(CELLS[record["cell"]].n, []).append(record["angle"])
    spreads = {n: Spread.of(np.maximum(points[n], FLOOR_DEGREES)) for n in sorted(points)}
    known = {n: spread for n, spread in spreads.items() if spread is not None}
    if not known:
        return
    style = style_of("boring" if position == 0 else "boring-thesis", position)
    panel.plot(
        list(known), [s.median for s in known.values()], label=LEARNER_NAMES[method], **style
    )
    panel.fill_between(
        list(known),
        [s.lower for s in known.values()],
        [s.upper for s in known.values()],
        color=style["color"],
        alpha=0.15,
        linewidth=0,
    )


STUDY = Study(
    name="identification",
    title="5.3.2: subspace identification",
    about=(
        "W from uniform points without noise, d given; median and quartiles of the largest "
        "principal angle to the truth. The check of trust and BIC belong to the default learner. "
        "Functions and placements are those of `synthetic.recovery_problem`."
    ),
    cells=tuple(CELLS),
    methods=("full-rank", "tripathy"),
    run=run,
    table=table,
    draw=draw,
    quick=("parabola-2-15", "parabola-2-25", "camelback-5-25"),
)
