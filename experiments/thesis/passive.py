"""Equation 4.1: whether terms on the passive directions make the surrogate more accurate.

The same learned W, with 0, 1 (as in the author's code) or all D - d one-dimensional terms beside
the active one. Points lie where the true coordinates are |z_i| <= 1: beyond, the camelback climbs
to hundreds, where terms of a few tenths are lost.

Algorithm 4 of the thesis draws the passive directions at random in the complement of W, and terms
along a rotation of the right directions are not the same model. A fourth model has the function's
own directions, which no learner is told: the most that passive terms could give.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from boring.loop.thesis import thesis_model
from boring.models.gp import prior_mode
from boring.rng import keyed_generator, single_blas_thread
from boring.subspace.estimation import estimate_active_subspace
from boring.subspace.passive import gram_schmidt_complement
from boring.typing import FloatArray
from synthetic import get_problem
from synthetic.base import TestProblem

from ..metrics import largest_angle_degrees
from ..tables import markdown
from .study import Record, Study, by_cell, count_failed, format_spread, succeeded

__all__ = ["CELLS", "STUDY", "points_inside"]

N_TEST = 400
ITERATIONS = 100
METHODS = ("active alone", "one passive term", "all passive terms", "all, true directions")


@dataclass(frozen=True)
class _Cell:
    problem: str
    n: int

    @property
    def name(self) -> str:
        return f"{self.problem}, {self.n}"


CELLS = {
    cell.name: cell
    for problem in ("camelback-2-in-5", "ripple-2-in-5", "exact-structure-2-in-5")
    for n in (50, 100, 200)
    for cell in (_Cell(problem, n),)
}
"""The first has nothing in its passive directions."""


def points_inside(problem: TestProblem, n: int, rng: np.random.Generator) -> FloatArray:
    """Return n uniform points, scaled, whose true coordinates are all at most 1 in size."""
    found: list[FloatArray] = []
    while sum(map(len, found)) < n:
        X = rng.uniform(-1.0, 1.0, (2 * n, problem.dim))
        found.append(X[np.all(np.abs(X @ _truth(problem)) <= 1.0, axis=1)])
    return np.vstack(found)[:n]


def _truth(problem: TestProblem) -> FloatArray:
    basis = problem.true_basis
    assert basis is not None
    return basis


def _passive_directions(
    problem: TestProblem, W: FloatArray, method: str, rng: np.random.Generator
) -> FloatArray:
    """Return V (D, q); where f has no passive terms, any basis of the true complement is true."""
    free = problem.dim - W.shape[1]
    if method == METHODS[3]:
        V = problem.passive_basis
        return gram_schmidt_complement(_truth(problem), free, rng) if V is None else np.asarray(V)
    n_passive = {METHODS[0]: 0, METHODS[1]: 1, METHODS[2]: free}[method]
    return gram_schmidt_complement(W, free, rng)[:, :n_passive]


def run(cell: str, seed: int, method: str) -> dict[str, Any]:
    """Fit the model with so many passive terms, and return its errors at unseen points."""
    settings = CELLS[cell]
    problem = get_problem(settings.problem, seed)
    rng = keyed_generator(seed, "passive terms", cell)  # the same W and points for each method
    truth = _truth(problem)
    d = truth.shape[1]
    X, X_test = (points_inside(problem, n, rng) for n in (settings.n, N_TEST))
    y, y_test = (np.asarray(problem(problem.space.unscale(points))) for points in (X, X_test))
    start = time.process_time()
    with single_blas_thread():
        W = np.asarray(estimate_active_subspace(X, y, d, rng=rng, check=False).active_basis)
        V = _passive_directions(problem, W, method, rng)
        values = (y - y.mean()) / y.std()
        model = thesis_model(W, V)
        fit = model.fit(X, values, prior_mode(model), max_iterations=ITERATIONS)
        posterior = model.condition(fit.theta, X, values)
        mean, variance = posterior.predict(X_test)
    truth_values = (y_test - y.mean()) / y.std()
    total = variance + posterior.noise_variance
    density = -0.5 * ((truth_values - mean) ** 2 / total + np.log(2.0 * np.pi * total))
    return {
        "angle": largest_angle_degrees(W, truth),
        "error": float(np.sqrt(np.mean((mean - truth_values) ** 2)) / truth_values.std()),
        "log_density": float(np.mean(density)),
        "seconds": time.process_time() - start,
    }


def table(records: Sequence[Record]) -> str:
    """Return errors and densities, and on how many seeds a model beats the active term alone."""
    groups = by_cell(records, tuple(CELLS))
    rows = []
    for cell in dict.fromkeys(cell for cell, _ in groups):
        alone = {r["seed"]: r["log_density"] for r in succeeded(groups.get((cell, METHODS[0]), []))}
        for method in METHODS:
            group = groups.get((cell, method), [])
            good = succeeded(group)
            paired = [r for r in good if r["seed"] in alone and method != METHODS[0]]
            better = sum(r["log_density"] > alone[r["seed"]] for r in paired)
            rows.append(
                [
                    cell,
                    method,
                    count_failed(group),
                    format_spread((r["error"] for r in good), 3),
                    format_spread(r["log_density"] for r in good),
                    f"{better}/{len(paired)}" if paired else "",
                    format_spread((r["angle"] for r in good), 1),
                ]
            )
    header = [
        "problem, points",
        "model",
        "runs",
        "RMSE / sd",
        "log density",
        "denser than alone",
        "angle / °",
    ]
    return markdown(header, rows)


def draw(records: Sequence[Record], folder: Path) -> list[Path]:
    """Draw nothing: the table says it."""
    return []


STUDY = Study(
    name="passive",
    title="Equation 4.1: terms on the passive directions",
    about=(
        "Matern-3/2 on the learned W, d given, with 0, 1 or all one-dimensional passive terms "
        "along random directions (Algorithm 4), or along the function's own, which none knows; "
        f"errors at {N_TEST} unseen points in units of the standard deviation, log density in nats "
        "a point, y standardised; median and quartiles."
    ),
    cells=tuple(CELLS),
    methods=METHODS,
    run=run,
    table=table,
    draw=draw,
    quick=("ripple-2-in-5, 50",),
)
