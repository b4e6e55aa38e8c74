"""Where an inner optimum lands in the cube [-1, 1]^D, and whether it can be reached.

With W (D, d) orthonormal, the points x of the cube with ``W'x = z`` exist only if z lies in the
projection of the cube, a polytope. For a point uniform in the cube each ``z_i`` has standard
deviation 1/sqrt(3) = 0.577 at every D, the same as for a point uniform in [-1, 1]^d.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

from boring.typing import FloatArray

__all__ = ["REACH", "most_central_point", "reachable_points"]

REACH = 0.95
"""Largest |x_i| allowed for the optimum of a randomly placed problem (chosen here)."""


def most_central_point(W: FloatArray, z: FloatArray) -> FloatArray:
    """Return a point x with ``W'x = z`` whose largest coordinate is as small as it can be.

    Parameters
    ----------
    W : ndarray, shape (D, d)
        Orthonormal columns.
    z : ndarray, shape (d,)

    Returns
    -------
    ndarray, shape (D,)

    Notes
    -----
    Linear program over (x, t): least t with ``-t <= x_i <= t`` and ``W'x = z``. It is always
    feasible, because x = W z is a solution.
    """
    D, d = W.shape
    eye, ones = np.eye(D), np.ones((D, 1))
    solution = linprog(
        np.append(np.zeros(D), 1.0),
        A_ub=np.block([[eye, -ones], [-eye, -ones]]),
        b_ub=np.zeros(2 * D),
        A_eq=np.hstack((W.T, np.zeros((d, 1)))),
        b_eq=z,
        bounds=[(None, None)] * D + [(0.0, None)],
    )
    assert solution.success, solution.message
    x: FloatArray = solution.x[:D]
    corrected: FloatArray = x + W @ (z - W.T @ x)  # remove the solver's tolerance
    return corrected


def reachable_points(W: FloatArray, Z: FloatArray, reach: float) -> FloatArray:
    """Return one point x with ``W'x = z`` for each z that has one within reach.

    Parameters
    ----------
    W : ndarray, shape (D, d)
        Orthonormal columns.
    Z : ndarray, shape (k, d)
    reach : float
        Largest absolute coordinate allowed.

    Returns
    -------
    ndarray, shape (m, D), m <= k
        The point of least norm, ``W z``, if it is within reach, otherwise the most central one.
    """
    found = []
    for z in Z:
        x: FloatArray = W @ z
        if np.max(np.abs(x)) > reach:
            x = most_central_point(W, z)
        if np.max(np.abs(x)) <= reach:
            found.append(x)
    return np.array(found).reshape(len(found), W.shape[0])
