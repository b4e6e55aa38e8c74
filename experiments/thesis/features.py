"""Feature selection by matrix weights (abstract of the thesis) on real data.

The thesis wants "the most important features" to "receive the highest matrix weights". On real
data no one knows which they are. Here each data set gets a shuffled copy of every column: a copy
has the column's distribution and says nothing of y, so that a useful weight ranks real columns
above copies.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from boring.rng import keyed_generator, single_blas_thread
from boring.subspace.estimation import estimate_active_subspace
from boring.typing import FloatArray
from synthetic.tasks.regression_data import BUNDLED, RegressionData, load_bundled

from ..plots import PALETTE, new_figure, save
from ..tables import Spread, markdown
from .study import Record, Study, by_cell, count_failed, format_spread, succeeded

__all__ = ["SCORES", "STUDY", "area_under_curve", "with_copies"]

N_TRAINING = 200
"""Rows that are learned from (chosen here)."""

N_KEPT = 5
"""Columns that a selection keeps (chosen here)."""

SCORES = ("matrix weight", "importance", "correlation")
"""Of a column: length of its row of W; its activity score, which weighs the directions by how much
f varies along them; and, to compare with, the absolute correlation with y."""


def with_copies(
    data: RegressionData, n: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Return n random rows, each column followed at the end by a shuffled copy, and their y.

    Returns
    -------
    X : ndarray, shape (n, 2 D)
        The first D columns are real. Columns constant in these rows stay.
    y : ndarray, shape (n,)
    """
    rows = rng.permutation(len(data.y))[:n]
    X = data.X[rows]
    copies = rng.permuted(X, axis=0)
    return np.hstack([X, copies]), data.y[rows]


def area_under_curve(scores: FloatArray, n_real: int) -> float:
    """Return the share of pairs (real, copy) in which the real column scores higher; ties half."""
    real, copies = scores[:n_real, None], scores[None, n_real:]
    return float(np.mean((real > copies) + 0.5 * (real == copies)))


def run(cell: str, seed: int, method: str) -> dict[str, Any]:
    """Score the columns of a data set and its copies."""
    data = load_bundled(cell)
    rng = keyed_generator(seed, "feature selection", cell)
    X, y = with_copies(data, min(N_TRAINING, len(data.y)), rng)
    start = time.process_time()
    with single_blas_thread():
        estimate = estimate_active_subspace(X, y, rng=rng, method=method, check=False)
    seconds = time.process_time() - start
    moving = X.std(axis=0) > 0.0
    correlation = np.zeros(X.shape[1])
    correlation[moving] = np.abs(np.corrcoef(X[:, moving].T, y)[-1, :-1])
    weight = np.linalg.norm(estimate.active_basis, axis=1)
    scores = dict(zip(SCORES, (weight, estimate.importance, correlation), strict=True))
    n_real = data.X.shape[1]
    return {
        "d": estimate.effective_dim,
        "seconds": seconds,
        "columns": X.shape[1],
        "area": {name: area_under_curve(score, n_real) for name, score in scores.items()},
        "kept real": {
            name: int(np.sum(np.argsort(-score)[:N_KEPT] < n_real))
            for name, score in scores.items()
        },
        "first": [data.features[i % n_real] for i in np.argsort(-weight)[:N_KEPT]],
    }


def table(records: Sequence[Record]) -> str:
    """Return how well each score tells real columns from copies, as Markdown."""
    rows = []
    for (cell, _), group in by_cell(records, BUNDLED).items():
        good = succeeded(group)
        for name in SCORES:
            kept = [r["kept real"][name] for r in good]
            rows.append(
                [
                    cell,
                    str(good[0]["columns"]) if good else "–",
                    name,
                    count_failed(group),
                    format_spread((r["area"][name] for r in good), 3),
                    f"{np.mean(kept):.1f} of {N_KEPT}" if kept else "–",
                    f"{np.median([r['d'] for r in good]):g}" if good else "–",
                ]
            )
    header = ["data", "columns", "score", "runs", "real above copy", "real among first", "d by BIC"]
    return markdown(header, rows)


def draw(records: Sequence[Record], folder: Path) -> list[Path]:
    """Draw the share of pairs in which a real column scores above a copy."""
    groups = {cell: group for (cell, _), group in by_cell(succeeded(records), BUNDLED).items()}
    if not groups:
        return []
    figure = new_figure(6.4, 3.6)
    axes = figure.add_subplot()
    width = 0.8 / len(SCORES)
    for position, name in enumerate(SCORES):
        spreads = [Spread.of(r["area"][name] for r in group) for group in groups.values()]
        middle = np.array([s.median for s in spreads if s is not None])
        ends = np.array([[s.lower, s.upper] for s in spreads if s is not None]).T
        axes.bar(
            np.arange(len(groups)) + (position - 1) * width,
            middle,
            width,
            yerr=np.abs(ends - middle),
            capsize=3,
            color=PALETTE[position],
            edgecolor="black",
            linewidth=0.5,
            hatch=("", "///", "...")[position],
            label=name,
        )
    axes.axhline(0.5, color="black", linewidth=0.8, linestyle="--", label="chance")
    axes.set_xticks(np.arange(len(groups)), list(groups))
    axes.set(ylim=(0.4, 1.0), ylabel="share of pairs, real above copy")
    figure.legend(fontsize="small", ncols=4, loc="outside lower center")
    seeds = len({r["seed"] for group in groups.values() for r in group})
    axes.set_title(f"Real columns against shuffled copies: {seeds} seeds", fontsize="medium")
    return [save(figure, folder / "features.png")]


STUDY = Study(
    name="features",
    title="Feature selection by matrix weights",
    about=(
        f"Data sets of scikit-learn, {N_TRAINING} rows, each column with a shuffled copy; d by "
        "BIC. "
        "`real above copy`: share of pairs in which the real column scores higher (chance .5), "
        f"median and quartiles; `real among first`: mean over seeds, of the {N_KEPT} highest."
    ),
    cells=BUNDLED,
    methods=("full-rank",),
    run=run,
    table=table,
    draw=draw,
    quick=("diabetes",),
)
