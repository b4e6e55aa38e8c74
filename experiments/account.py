"""What a run says of the active subspace, and how much of it is true."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from boring.exceptions import InvalidInputError, UnknownNameError
from boring.initial_design import sobol_design
from boring.rng import keyed_generator
from boring.typing import FloatArray

from .config import named_problem
from .records import RunRecord

if TYPE_CHECKING:
    from boring.subspace.estimate import SubspaceEstimate
    from synthetic.base import TestProblem

__all__ = [
    "Account",
    "account_of",
    "interval_coverage",
    "judged_angle",
    "learned_dim",
    "names_directions",
    "true_dim",
    "true_importance",
]

N_POINTS = 4096
"""Points of the box over which the true gradient is averaged."""

BATCH = 512
"""Gradients at a time: in 1000 dimensions these take 4 MB."""

IMPORTANCE_TOLERANCE = 1e-4
"""An interval covers a true share that it comes this near to: the average is over finitely many
points, and a share that is zero is never estimated as exactly that (chosen here)."""


@dataclass(frozen=True)
class Account:
    """The account of the subspace as a record keeps it; None where there is none.

    Parameters
    ----------
    trusted : bool or None
    learned_dim : int or None
        d, the number of directions that were learned.
    trust : dict of str to float, or None
        The figures behind ``trusted``.
    importance : tuple of float, shape (D,), or None
    importance_interval : tuple of tuples of float, shape (D, 2), or None
    importance_coverage : float or None
        Share of the parameters whose true importance lies within its interval.
    """

    trusted: bool | None = None
    learned_dim: int | None = None
    trust: dict[str, float] | None = None
    importance: tuple[float, ...] | None = None
    importance_interval: tuple[tuple[float, ...], ...] | None = None
    importance_coverage: float | None = None


def account_of(estimate: SubspaceEstimate | None, problem: TestProblem | None) -> Account:
    """Return the account of a subspace, compared with the truth where that is known.

    Parameters
    ----------
    estimate : SubspaceEstimate or None
    problem : TestProblem or None
    """
    if estimate is None:
        return Account()
    interval = np.asarray(estimate.importance_interval, dtype=np.float64)
    has_interval = bool(np.all(np.isfinite(interval)))
    truth = true_importance(problem) if has_interval and problem is not None else None
    return Account(
        trusted=bool(estimate.trusted),
        learned_dim=estimate.effective_dim,
        trust={name: float(value) for name, value in estimate.trust.items()},
        importance=tuple(float(share) for share in np.asarray(estimate.importance)),
        importance_interval=(
            tuple((float(low), float(high)) for low, high in interval) if has_interval else None
        ),
        importance_coverage=None if truth is None else interval_coverage(interval, truth),
    )


def true_importance(problem: TestProblem) -> FloatArray | None:
    """Return the true activity scores: mean squared derivatives over the box, summing to 1.

    Parameters
    ----------
    problem : TestProblem

    Returns
    -------
    ndarray, shape (D,), or None
        Derivatives are by scaled inputs, as those of the estimate. None for a problem without a
        gradient.

    Notes
    -----
    Constantine & Diaz (2017). The average is over a scrambled Sobol sequence of fixed seed.
    """
    space = problem.space
    scaled = sobol_design(N_POINTS, space.dim, keyed_generator(0, "true importance"))
    total = np.zeros(space.dim)
    try:
        for begin in range(0, N_POINTS, BATCH):
            points = space.unscale(scaled[begin : begin + BATCH])
            gradient = problem.gradient(points) * (0.5 * space.width)
            total += np.einsum("ij,ij->j", gradient, gradient)
    except InvalidInputError:
        return None
    mass = float(total.sum())
    return total / mass if np.isfinite(mass) and mass > 0.0 else None


def interval_coverage(interval: FloatArray, truth: FloatArray) -> float:
    """Return the share of parameters whose true importance lies within its interval.

    Parameters
    ----------
    interval : ndarray, shape (D, 2)
    truth : ndarray, shape (D,)

    Examples
    --------
    >>> interval_coverage(np.array([[0.6, 0.9], [0.1, 0.2]]), np.array([0.7, 0.3]))
    0.5
    """
    lower, upper = interval[:, 0] - IMPORTANCE_TOLERANCE, interval[:, 1] + IMPORTANCE_TOLERANCE
    return float(np.mean((lower <= truth) & (truth <= upper)))


def learned_dim(record: RunRecord) -> int | None:
    """Return d, the number of directions that a run has learned."""
    if record.learned_dim is not None:
        return record.learned_dim
    return len(record.basis[0]) if record.basis else None


def names_directions(record: RunRecord) -> bool:
    """Return whether a run has learned fewer directions than inputs: all of R^D says nothing."""
    d, inputs = learned_dim(record), len(record.importance or record.basis or ())
    return d is not None and (d < inputs or not inputs)


def true_dim(record: RunRecord) -> int | None:
    """Return the number of directions that matter; None if unknown, or if that is all of R^D."""
    if record.true_basis is not None:
        d, inputs = len(record.true_basis[0]), len(record.true_basis)
    else:
        d, inputs = _dims_of(record.problem)
    return d if d < inputs else None


@cache
def _dims_of(name: str) -> tuple[int, int]:
    """Return the active and all dimensions of a problem of the registry, zeros for another."""
    try:
        problem = named_problem(name, 0)
    except UnknownNameError:
        return 0, 0
    return problem.effective_dim or problem.dim, problem.dim


def judged_angle(record: RunRecord) -> float | None:
    """Return the largest angle to the truth, degrees; None where either is all of R^D.

    All of R^D contains every subspace, so that the angle is 0 whatever was learned.
    """
    if not names_directions(record) or true_dim(record) is None:
        return None
    return record.largest_angle_degrees
