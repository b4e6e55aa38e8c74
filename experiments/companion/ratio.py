"""How well the density-ratio methods find a ratio that is known (density-ratio paper, figure 1).

Good points are drawn from ``0.3 N(2, 1) + 0.7 N(-3, 0.25)`` and the others from ``N(0, 4)``, on
[-10, 10] (Tiao et al. 2021). What the loop uses of a score is its order alone, and most of all
where it is highest, so these are compared with the exact ratio, and not the values, which are
probabilities with one method and logarithms or margins with another.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from boring.exceptions import InvalidInputError
from boring.registry import get_optimizer
from boring.rng import keyed_generator, single_blas_thread
from boring.typing import FloatArray

from ..plots import PALETTE, new_figure, save
from ..single_run import register_methods
from ..tables import markdown
from ..thesis.study import Record, Study, by_cell, count_failed, format_spread, succeeded

__all__ = ["exact_ratio", "ratio_study"]

HALF_WIDTH = 10.0
GRID = np.linspace(-5.0, 5.0, 501)
SIZES = (30, 200, 2000)
"""Points of both kinds together, half of them good."""


def exact_ratio(x: FloatArray) -> FloatArray:
    """Return ``l / (l / 2 + g / 2)`` of the two densities."""
    good = 0.3 * _normal(x, 2.0, 1.0) + 0.7 * _normal(x, -3.0, 0.5)
    ratio: FloatArray = 2.0 * good / (good + _normal(x, 0.0, 2.0))
    return ratio


def run(cell: str, seed: int, method: str) -> dict[str, Any]:
    """Fit a score to n labelled points, and compare it with the exact ratio."""
    from scipy.stats import spearmanr

    from baselines.density_ratio.ratio_loop import DensityRatioOptimizer, Labelled

    half = int(cell) // 2
    rng = keyed_generator(seed, "companion", "ratio")
    left = rng.random(half) < 0.7
    good = np.where(left, -3.0, 2.0) + np.where(left, 0.5, 1.0) * rng.standard_normal(half)
    x = np.append(good, 2.0 * rng.standard_normal(half))
    labelled = Labelled(x[:, np.newaxis] / HALF_WIDTH, np.arange(2 * half) < half, np.ones(1))
    register_methods()
    optimizer = get_optimizer(method)([(-1.0, 1.0)], direction="maximize", seed=seed)
    if not isinstance(optimizer, DensityRatioOptimizer):
        raise InvalidInputError(f"{method!r} has no score of labelled points.")
    start = time.process_time()
    with single_blas_thread():
        score = optimizer.scored(labelled, keyed_generator(seed, "companion", "ratio", method))
        value = score.value(GRID[:, np.newaxis] / HALF_WIDTH)
    seconds = time.process_time() - start
    truth = exact_ratio(GRID)
    highest = GRID[np.isclose(value, value.max())]  # a forest has a plateau
    return {
        "order": float(spearmanr(value, truth).statistic),
        "mode_error": float(np.abs(highest - GRID[truth.argmax()]).mean()),
        "attained": float(truth[np.isclose(value, value.max())].mean() / truth.max()),
        "seconds": seconds,
        "value": [float(f"{v:.5g}") for v in value],
    }


def table(records: Sequence[Record]) -> str:
    """Return medians and quartiles over seeds."""
    groups = by_cell(records, tuple(map(str, SIZES)))
    rows = []
    for (cell, method), group in groups.items():
        good = succeeded(group)
        rows.append(
            [f"{cell}: {method}", count_failed(group)]
            + [format_spread(r[key] for r in good) for key in ("order", "mode_error", "attained")]
        )
    header = ["points: method", "runs", "rank correlation", "error of the mode", "ratio there"]
    note = (
        "Median and quartiles: Spearman's correlation of the score with the exact ratio on a grid, "
        "distance of the score's highest point from the ratio's, and the ratio there in "
        "parts of its maximum."
    )
    return f"{markdown(header, rows)}\n\n{note}"


def draw(records: Sequence[Record], folder: Path) -> list[Path]:
    """Draw the scores of the first seed, each stretched to [0, 1], over the exact ratio."""
    good = succeeded(records)
    if not good:
        return []
    first = [r for r in good if r["seed"] == min(s["seed"] for s in good)]
    cells = [str(n) for n in SIZES if any(r["cell"] == str(n) for r in first)]
    methods = list(dict.fromkeys(r["method"] for r in first))
    columns = max(2, len(methods))
    figure = new_figure(2.3 * columns, 2.1 * len(cells) + 0.6)
    panels = figure.subplots(len(cells), columns, squeeze=False, sharex=True, sharey=True)
    found = {(r["cell"], r["method"]): r for r in first}
    truth = exact_ratio(GRID)
    for row, cell in zip(panels, cells, strict=True):
        for axes, method in zip(row, methods, strict=False):
            axes.plot(GRID, truth / truth.max(), color="0.5", linestyle="--", label="exact ratio")
            record = found.get((cell, method))
            if record is not None:
                value = np.array(record["value"])
                span = float(np.ptp(value)) or 1.0
                axes.plot(GRID, (value - value.min()) / span, color=PALETTE[0], label="score")
            axes.set_title(f"{method}, n = {cell}", fontsize="small")
        for axes in row[len(methods) :]:
            axes.set_visible(False)
    panels[0, 0].legend(fontsize="x-small")
    figure.suptitle(f"Scores stretched to [0, 1], seed {first[0]['seed']}", fontsize="medium")
    return [save(figure, folder / "ratio.png")]


def ratio_study(methods: Sequence[str]) -> Study:
    """Return the study of these methods."""
    return Study(
        name="ratio",
        title="Recovery of a known ratio",
        about="Two densities in one dimension, after figure 1 of the density-ratio paper.",
        cells=tuple(map(str, SIZES)),
        methods=tuple(methods),
        run=run,
        table=table,
        draw=draw,
        quick=("30", "200"),
    )


def _normal(x: FloatArray, mean: float, deviation: float) -> FloatArray:
    density: FloatArray = np.exp(-0.5 * ((x - mean) / deviation) ** 2) / deviation
    return density
