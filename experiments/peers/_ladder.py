"""The trust region of TuRBO (Eriksson et al. 2019), as pure functions of what was told.

Costs: smaller is better, infinite for a failed evaluation. Boxes and points: the unit cube.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from boring.initial_design import sobol_design
from boring.typing import FloatArray

__all__ = [
    "Ladder",
    "LocalRun",
    "failure_tolerance_of",
    "local_run",
    "perturbed_candidates",
    "region",
]

LENGTH_INIT, LENGTH_MIN, LENGTH_MAX = 0.8, 0.5**7, 1.6
"""Side of the trust region in the unit cube: at first, the least and the largest (appendix D)."""

SUCCESS_TOLERANCE = 3
"""Improvements in a row after which the side is doubled (appendix D)."""

IMPROVEMENT = 1e-3
"""Least improvement that counts, relative to the magnitude of the best cost (BoTorch's tutorial;
the paper gives none)."""

PERTURBED = 20
"""Coordinates in which a candidate differs from the centre, on average and at most (appendix D)."""

LEAST_FAILURE_TOLERANCE = 4
"""Failures that the least of dimensions allows (BoTorch's tutorial)."""


@dataclass(frozen=True)
class Ladder:
    """Side of a trust region, with the counts that decide when it changes.

    Parameters
    ----------
    best : float
        Least cost so far; infinite if there is none.
    length : float
        Side, in units of the cube's.
    successes, failures : int
        Improvements, and evaluations without one, in a row.
    """

    best: float = np.inf
    length: float = LENGTH_INIT
    successes: int = 0
    failures: int = 0

    @property
    def is_collapsed(self) -> bool:
        """Whether the side has fallen below the least one."""
        return self.length < LENGTH_MIN

    def improved_by(self, cost: float) -> bool:
        """Whether a cost is better than the best by what counts."""
        if not np.isfinite(self.best):
            return bool(np.isfinite(cost))
        return bool(cost < self.best - IMPROVEMENT * abs(self.best))

    def step(
        self, cost: float, failure_tolerance: int, success_tolerance: int = SUCCESS_TOLERANCE
    ) -> Ladder:
        """Return the ladder after one more evaluation."""
        length = self.length
        successes, failures = (
            (self.successes + 1, 0) if self.improved_by(cost) else (0, self.failures + 1)
        )
        if successes >= success_tolerance:
            length, successes = min(2.0 * length, LENGTH_MAX), 0
        elif failures >= failure_tolerance:
            length, failures = length / 2.0, 0
        return Ladder(min(self.best, cost), length, successes, failures)

    def restarted(self) -> Ladder:
        """Return a ladder of the first length that knows the best cost."""
        return Ladder(best=self.best)


@dataclass(frozen=True)
class LocalRun:
    """Where TuRBO stands.

    Parameters
    ----------
    ladder : Ladder
    first : int
        Evaluations before the present trust region was begun; it knows none of them.
    n_restarts : int
    """

    ladder: Ladder
    first: int
    n_restarts: int


def failure_tolerance_of(dim: int) -> int:
    """Return after how many failures in a row the side is halved, asking for single points.

    Appendix D has ``ceil(D / q)``; the least value is that of BoTorch's tutorial.
    """
    return max(LEAST_FAILURE_TOLERANCE, dim)


def local_run(
    costs: Sequence[float] | FloatArray,
    n_first: int,
    n_design: int,
    failure_tolerance: int,
    success_tolerance: int = SUCCESS_TOLERANCE,
) -> LocalRun:
    """Return where TuRBO stands after these evaluations, in the order in which they were told.

    Parameters
    ----------
    costs : sequence of float
    n_first : int
        Evaluations at the beginning that are the first initial design.
    n_design : int
        Length of the initial design after a restart.
    failure_tolerance, success_tolerance : int

    Returns
    -------
    LocalRun
        A collapsed trust region has been restarted already.
    """
    ladder, first, n_restarts, design = Ladder(), 0, 0, n_first
    for row, cost in enumerate(costs):
        if row - first < design:
            ladder = Ladder(best=min(ladder.best, float(cost)))
            continue
        ladder = ladder.step(float(cost), failure_tolerance, success_tolerance)
        if ladder.is_collapsed:
            ladder, first, n_restarts, design = Ladder(), row + 1, n_restarts + 1, n_design
    return LocalRun(ladder, first, n_restarts)


def region(
    centre: FloatArray, lengthscales: FloatArray, length: float
) -> tuple[FloatArray, FloatArray]:
    """Return the corners of the trust region, cut to the unit cube.

    Parameters
    ----------
    centre : ndarray, shape (d,)
    lengthscales : ndarray, shape (d,)
        Of the model; the sides are proportional to them.
    length : float
        Geometric mean of the sides.
    """
    weights = np.exp(np.log(lengthscales) - np.log(lengthscales).mean())
    half = 0.5 * length * weights
    return np.clip(centre - half, 0.0, 1.0), np.clip(centre + half, 0.0, 1.0)


def perturbed_candidates(
    centre: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    n: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Return candidates that differ from the centre in some coordinates.

    Parameters
    ----------
    centre, lower, upper : ndarray, shape (d,)
    n : int
    rng : numpy.random.Generator
        Consumed.

    Returns
    -------
    ndarray, shape (n, d)
        Points of a scrambled Sobol sequence in the region, each coordinate kept with probability
        min(1, 20 / d), and one at least; the others are the centre's.
    """
    dim = centre.size
    sobol = lower + (upper - lower) * 0.5 * (sobol_design(n, dim, rng) + 1.0)
    moved = rng.random((n, dim)) < min(1.0, PERTURBED / dim)
    none = np.flatnonzero(~moved.any(axis=1))
    moved[none, rng.integers(dim, size=none.size)] = True
    return np.where(moved, sobol, centre)
