"""Matrices of low rank from few linear measurements y = A vec(X) + error.

Two convex programs, X of shape (D, m), |X|_* the sum of its singular values:

- Dantzig selector: min |X|_* subject to |A'(y - A x)|_op <= radius (Candes & Plan 2011, which
  Djolonga, Krause & Cevher 2013 use), by the alternating direction method of multipliers.
- Nuclear-norm least squares: min .5 |y - A x|^2 + penalty |X|_*, by accelerated proximal
  gradient (FISTA: Beck & Teboulle 2009; singular-value thresholding: Cai, Candes & Shen 2010).

Both stop at a duality gap, which bounds how far the value is from the optimum, and report it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..exceptions import InvalidInputError
from ..typing import FloatArray
from ..validation import as_points, as_positive_int, as_real, as_values

MAX_ITERATIONS = 5000
TOLERANCE = 1e-4
"""Duality gap at which to stop, relative to the value [chosen here: singular vectors no longer
move by then]."""

_BALANCE = 10.0
_CHECK_EVERY = 10


@dataclass(frozen=True, eq=False, slots=True)
class LowRankResult:
    """Outcome of either program.

    Attributes
    ----------
    X : ndarray, shape (D, m)
    value : float
        Of the objective.
    gap : float
        Value minus a lower bound of the optimum.
    infeasibility : float
        By how much |A'(y - A x)|_op exceeds the radius, relative to |A'y|_op; 0 without constraint.
    n_iterations : int
    converged : bool
    """

    X: FloatArray
    value: float
    gap: float
    infeasibility: float
    n_iterations: int
    converged: bool


def nuclear_norm(X: FloatArray) -> float:
    """Return the sum of the singular values."""
    return float(np.linalg.svd(X, compute_uv=False).sum())


def _operator_norm(X: FloatArray) -> float:
    return float(np.linalg.norm(X, 2))


def shrink_singular_values(X: FloatArray, threshold: float) -> FloatArray:
    """Return the proximal point of ``threshold * |X|_*``: singular values less the threshold."""
    U, singular, Vt = np.linalg.svd(X, full_matrices=False)
    return np.asarray((U * np.maximum(singular - threshold, 0.0)) @ Vt)


def _check(
    A: FloatArray, y: FloatArray, shape: tuple[int, int], weight: float, name: str
) -> tuple[FloatArray, FloatArray]:
    matrix = as_points(A, shape[0] * shape[1], "A")
    values = as_values(y, len(matrix), "y")
    if not np.all(np.isfinite(values)):
        raise InvalidInputError("y must be finite; leave rows without a value out.")
    if not as_real(weight, name) > 0.0:
        raise InvalidInputError(f"{name} must be positive; received {weight!r}.")
    return matrix, values


def nuclear_norm_least_squares(
    A: FloatArray,
    y: FloatArray,
    shape: tuple[int, int],
    penalty: float,
    *,
    max_iterations: int = MAX_ITERATIONS,
    tolerance: float = TOLERANCE,
) -> LowRankResult:
    """Minimise .5 |y - A vec(X)|^2 + penalty |X|_* by FISTA.

    Parameters
    ----------
    A : ndarray, shape (r, D m)
        Row i holds measurement i, entries in the row-major order of X.
    y : ndarray, shape (r,)
    shape : (int, int)
        (D, m).
    penalty : float
        From |A'y|_op on, X = 0.
    max_iterations : int, default 5000
    tolerance : float, default 1e-4
        Duality gap relative to .5 |y|^2.

    Returns
    -------
    LowRankResult

    Raises
    ------
    InvalidInputError
        If shapes disagree, values are not finite or the penalty is not positive.

    Notes
    -----
    With momentum restarted where it leads uphill (O'Donoghue & Candes 2015).
    """
    A, y = _check(A, y, shape, penalty, "penalty")
    as_positive_int(max_iterations, "max_iterations")
    step = 1.0 / max(float(np.linalg.norm(A, 2)) ** 2, 1e-300)
    scale = max(0.5 * float(y @ y), 1e-300)
    X: FloatArray = np.zeros(shape)
    ahead, momentum = X, 1.0
    value, gap = 0.5 * float(y @ y), np.inf
    iteration = 0
    for iteration in range(1, max_iterations + 1):
        slope = (A.T @ (A @ ahead.ravel() - y)).reshape(shape)
        moved = shrink_singular_values(ahead - step * slope, step * penalty)
        change = moved - X
        if float(np.vdot(ahead - moved, change)) > 0.0:
            momentum = 1.0
        following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
        ahead = moved + ((momentum - 1.0) / following) * change
        X, momentum = moved, float(following)
        if iteration % _CHECK_EVERY and iteration < max_iterations:
            continue
        residual = y - A @ X.ravel()
        value = 0.5 * float(residual @ residual) + penalty * nuclear_norm(X)
        # Dual: max .5 |y|^2 - .5 |y - t|^2 over |A't|_op <= penalty; t is the residual, shrunk.
        bound = max(_operator_norm((A.T @ residual).reshape(shape)), 1e-300)
        feasible = residual * min(1.0, penalty / bound)
        gap = value - 0.5 * float(y @ y - (y - feasible) @ (y - feasible))
        if gap <= tolerance * scale:
            break
    return LowRankResult(X, value, gap, 0.0, iteration, gap <= tolerance * scale)


def dantzig_selector(
    A: FloatArray,
    y: FloatArray,
    shape: tuple[int, int],
    radius: float,
    *,
    max_iterations: int = MAX_ITERATIONS,
    tolerance: float = TOLERANCE,
) -> LowRankResult:
    """Minimise |X|_* subject to |A'(y - A vec(X))|_op <= radius.

    Parameters
    ----------
    A : ndarray, shape (r, D m)
        Row i holds measurement i, entries in the row-major order of X.
    y : ndarray, shape (r,)
    shape : (int, int)
        (D, m).
    radius : float
        From |A'y|_op on, X = 0.
    max_iterations : int, default 5000
    tolerance : float, default 1e-4
        Duality gap relative to the value, and infeasibility relative to |A'y|_op.

    Returns
    -------
    LowRankResult

    Raises
    ------
    InvalidInputError
        If shapes disagree, values are not finite or the radius is not positive.

    Notes
    -----
    Split as X = Z and A'A X = R, each constraint with its own multiplier; the step in X solves
    (I + c^2 (A'A)^2) x = right side by one eigendecomposition made beforehand. The step size is
    balanced between the residuals (Boyd et al. 2011, section 3.4.1). O((D m)^3) once, then
    O((D m)^2) an iteration.
    """
    A, y = _check(A, y, shape, radius, "radius")
    as_positive_int(max_iterations, "max_iterations")
    target = (A.T @ y).reshape(shape)
    size = _operator_norm(target)
    if radius >= size:
        return LowRankResult(np.zeros(shape), 0.0, 0.0, 0.0, 0, True)
    # Units in which A'A has norm 1 and A'y too: one set of constants then serves all data.
    gram = A.T @ A
    gram_scale = float(np.linalg.norm(gram, 2))
    values, vectors = np.linalg.eigh(gram / gram_scale)
    values = np.maximum(values, 0.0)
    goal, bound = target / size, radius / size

    def apply(weights: FloatArray, X: FloatArray) -> FloatArray:
        return np.asarray((vectors @ (weights * (vectors.T @ X.ravel()))).reshape(shape))

    Z, R = np.zeros(shape), goal
    first, second = np.zeros(shape), np.zeros(shape)
    rho, value, gap, excess = 1.0, 0.0, np.inf, np.inf
    iteration = 0
    for iteration in range(1, max_iterations + 1):
        X = apply(1.0 / (1.0 + values**2), Z - first + apply(values, R - second))
        image = apply(values, X)
        old_Z, old_R = Z, R
        Z = shrink_singular_values(X + first, 1.0 / rho)
        free = goal - image - second
        R = goal - (free - shrink_singular_values(free, bound))
        first = first + X - Z
        second = second + image - R
        if iteration % _CHECK_EVERY and iteration < max_iterations:
            continue
        value = nuclear_norm(Z)
        # Dual: max <goal, Y> - bound |Y|_* over |A'A Y|_op <= 1, Y the second multiplier.
        Y = -rho * second
        Y = Y / max(1.0, _operator_norm(apply(values, Y)))
        gap = value - (float(np.vdot(goal, Y)) - bound * nuclear_norm(Y))
        excess = max(0.0, _operator_norm(goal - apply(values, Z)) - bound)
        if gap <= tolerance * value and excess <= tolerance:
            break
        primal = float(np.hypot(np.linalg.norm(X - Z), np.linalg.norm(image - R)))
        dual = rho * float(np.linalg.norm(Z - old_Z + apply(values, R - old_R)))
        factor = 2.0 if primal > _BALANCE * dual else 0.5 if dual > _BALANCE * primal else 1.0
        rho, first, second = rho * factor, first / factor, second / factor
    converged = gap <= tolerance * value and excess <= tolerance
    unit = size / gram_scale
    return LowRankResult(unit * Z, unit * value, unit * gap, excess, iteration, converged)
