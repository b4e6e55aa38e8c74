"""Figures 5.1 to 5.4: the surrogate against the real function, at points unseen in training."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..config import get_experiment
from ..demo import N_TRAINING, surrogate_data
from ..plots import plot_surrogate, save
from ..tables import markdown
from .study import Record, Study, by_cell, count_failed, format_spread, succeeded

__all__ = ["FIGURES", "STUDY"]

FIGURES: Mapping[str, str] = {
    "parabola-1-in-2": "5.1",
    "sinexp-2-in-5": "5.2",
    "camelback-2-in-5": "5.3",
    "rosenbrock-5-in-10": "5.4",
}
"""Number of the figure in the thesis, by experiment."""

DIGITS = 6
"""Significant digits of the points kept for the pictures."""


def run(cell: str, seed: int, method: str) -> dict[str, Any]:
    """Learn W and a GP on X W from 100 points, and predict at 400 others.

    The record holds these points, so that the pictures are drawn without learning again.
    """
    start = time.process_time()
    Z, real, mean, angle = surrogate_data(get_experiment(cell), seed, method)
    seconds = time.process_time() - start
    error = float(np.sqrt(np.mean((mean - real) ** 2)) / real.std())
    points = {"Z": Z, "real": real, "mean": mean}
    return {"angle": angle, "error": error, "seconds": seconds} | {
        name: np.vectorize(lambda v: float(f"{v:.{DIGITS}g}"))(array).tolist()
        for name, array in points.items()
    }


def table(records: Sequence[Record]) -> str:
    """Return angles and errors, as Markdown."""
    rows = []
    for (cell, method), group in by_cell(records, tuple(FIGURES)).items():
        good = succeeded(group)
        rows.append(
            [
                cell,
                FIGURES[cell],
                method,
                count_failed(group),
                format_spread(r["angle"] for r in good),
                format_spread((r["error"] for r in good), 3),
                f"{np.median([r['seconds'] for r in good]):.1f}" if good else "–",
            ]
        )
    header = ["function", "figure", "learner", "runs", "angle / °", "RMSE / sd", "CPU / s"]
    return markdown(header, rows)


def draw(records: Sequence[Record], folder: Path) -> list[Path]:
    """Draw one picture for each function and learner, of the first seed."""
    written = []
    for (cell, method), group in by_cell(succeeded(records), tuple(FIGURES)).items():
        first = group[0]
        figure = plot_surrogate(
            first["Z"],
            first["real"],
            first["mean"],
            title=f"{cell}, seed {first['seed']}: W by {method} from {N_TRAINING} points, "
            f"{first['angle']:.1f}° off",
        )
        written.append(save(figure, folder / f"surrogate-{cell}-{method}.png"))
    return written


STUDY = Study(
    name="surrogate",
    title="Figures 5.1 to 5.4: the surrogate against the real function",
    about=(
        f"W and a GP on X W from {N_TRAINING} uniform points, predictions at 400 others with true "
        "coordinates |z_i| <= 1; errors in units of the standard deviation of the real values, "
        "median and quartiles. The pictures show the first seed: blue real, orange predicted."
    ),
    cells=tuple(FIGURES),
    methods=("full-rank", "tripathy"),
    run=run,
    table=table,
    draw=draw,
    quick=("parabola-1-in-2", "camelback-2-in-5"),
)
