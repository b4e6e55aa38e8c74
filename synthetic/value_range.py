"""How far the values of a function are spread, as a measure for noise."""

from __future__ import annotations

import numpy as np

from .base import TestProblem

__all__ = ["RANGE_POINTS", "RANGE_SEED", "value_range"]

RANGE_POINTS = 4096
"""Sobol points from which a range is estimated (chosen here)."""

RANGE_SEED = 0
"""Seed of their scrambling: a range is a number that belongs to the function, not to a run."""


def value_range(problem: TestProblem, n_points: int = RANGE_POINTS) -> float:
    """Estimate the largest minus the smallest noiseless value over the box.

    Parameters
    ----------
    problem : TestProblem
    n_points : int, default 4096
        Best a power of two.

    Returns
    -------
    float, units of y
        The range of the values at the first points of a scrambled Sobol sequence of fixed seed, and
        of the optimum where it is known. Never larger than the true range.

    Examples
    --------
    >>> from synthetic import camelback
    >>> round(value_range(camelback()), 2)
    6.65
    """
    from scipy.stats import qmc  # slow to load

    # A power of two is drawn and cut, because the sequence is balanced only then.
    exponent = int(np.ceil(np.log2(max(n_points, 2))))
    cube = qmc.Sobol(problem.dim, seed=RANGE_SEED).random_base2(exponent)[:n_points]
    values = problem(problem.space.unscale(2.0 * cube - 1.0))
    if problem.optimum is not None:
        values = np.append(values, problem.optimum)
    return float(np.ptp(values))
