r"""Expectation propagation for probit labels under a Gaussian process.

A normal density :math:`N(v_i; f_i, 1 / \tau_i)`, but for a factor, stands in the place of each
label's likelihood :math:`\Phi(t_i f_i)`, such that it does to the rest of the posterior what the
likelihood does: the two agree in mass, mean and variance of :math:`f_i` (Rasmussen and Williams
2006, section 3.6).

**Deviation**: all sites move at once, by a step that shrinks where it overshoots (of many labels at
one place each would else do the work of all), instead of one after the other.
"""

from __future__ import annotations

import numpy as np

from boring._normal import log_probability
from boring.models.linalg import cholesky, solve, solve_lower
from boring.typing import FloatArray

__all__ = ["probit_sites"]

# Sweeps over the sites, and the change of a site's parameters by which they end.
SWEEPS = 100
TOLERANCE = 1e-5
# A change that is larger than this share of the last one has overshot; factors of the step then
# and otherwise, and the least step. [chosen here: labels of 21 kinds end within 35 sweeps, all but
# 100 equal ones at one point]
OVERSHOT = 0.9
SHORTER, LONGER = 0.5, 1.1
LEAST_STEP = 0.1
# Least precision of a site: a label that is quite certain says next to nothing.
LEAST_PRECISION = 1e-12


def probit_sites(K: FloatArray, labels: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return pseudo-values and their noise variances, whose regression is the posterior of f.

    Parameters
    ----------
    K : ndarray, shape (n, n)
        Prior covariance of f at the data.
    labels : ndarray, shape (n,)
        +1 or -1.

    Returns
    -------
    values, variances : ndarray, shape (n,)
        v and 1 / tau, the latter at least 1.

    Examples
    --------
    >>> values, variances = probit_sites(np.array([[4.0]]), np.array([-1.0]))
    >>> bool(values[0] < 0 and variances[0] >= 1)
    True
    """
    n = len(labels)
    precision, shift = np.full(n, LEAST_PRECISION), np.zeros(n)  # tau and tau v
    step, last = 1.0, np.inf
    for _ in range(SWEEPS):
        A = K.copy()
        A.flat[:: n + 1] += 1.0 / precision
        L, _ = cholesky(A)
        mean = K @ solve(L, shift / precision)
        half = solve_lower(L, np.asfortranarray(K))
        variance = K.diagonal() - np.einsum("ij,ij->j", half, half)
        # Without its own site f_i is N(m, c), to which the label has the probability Phi(z).
        # From the slope g and the curvature -q of log Phi(z) in m follow mean and variance
        # with the label, m + c g and c - c^2 q, and the site that leads there.
        c = 1.0 / (1.0 / variance - precision)
        m = c * (mean / variance - shift)
        z = labels * m / np.sqrt(1.0 + c)
        _, ratio = log_probability(z)
        g = labels * ratio / np.sqrt(1.0 + c)
        q = np.maximum(ratio * (ratio + z) / (1.0 + c), LEAST_PRECISION)
        moves = q / (1.0 - c * q) - precision, (g + m * q) / (1.0 - c * q) - shift
        change = float(max(np.abs(move).max() for move in moves))
        if change < TOLERANCE:
            break
        overshot = change > OVERSHOT * last
        step = max(SHORTER * step, LEAST_STEP) if overshot else min(LONGER * step, 1.0)
        precision, shift = precision + step * moves[0], shift + step * moves[1]
        last = change
    return shift / precision, 1.0 / precision
