"""Checks of the points and options that a subspace is estimated from."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from boring import warping
from boring._warn import warn
from boring.exceptions import InvalidInputError, NonFiniteWarning, SubspaceWarning
from boring.space import Box
from boring.subspace.stiefel import orthonormalize
from boring.typing import FloatArray
from boring.validation import as_points, as_positive_int, as_values
from boring.warping import moderate, restore

MIN_POINTS = 3
# A singular value of centred X below this share of the one before it, in the first half of
# the spectrum, is a cliff, if there are enough points to tell [chosen here: one clipped
# Gaussian embedding of two dimensions gives .14 to .34 after the second; uniform points .58
# and more, points that cluster around an optimum .45 and more, five embeddings .5 and more
# where there are more points than dimensions].
CLIFF_RATIO = 0.4
CLIFF_MIN_POINTS = 15
CLIFF_MIN_DIM = 4
# Scaled inputs may leave [-1, 1] by rounding only.
BOX_TOLERANCE = 1e-6


def checked_data(X: ArrayLike, y: ArrayLike, space: Box | None) -> tuple[FloatArray, FloatArray]:
    """Return scaled inputs and finite values, or raise what is wrong with them."""
    shape = np.shape(X)
    if len(shape) != 2 or shape[1] == 0:
        raise InvalidInputError(
            f"X must have shape (n, D), one point a row; received shape {shape}."
        )
    dim = space.dim if space is not None else shape[1]
    inputs = as_points(X, dim, "X")
    values = as_values(y, len(inputs), "y")
    if space is not None:
        inputs = space.scale(inputs)
    elif len(inputs) and float(np.abs(inputs).max()) > 1.0 + BOX_TOLERANCE:
        raise InvalidInputError(
            "X must be scaled to [-1, 1]; its largest entry is "
            f"{float(np.abs(inputs).max()):.4g}. Pass space= for points in raw units."
        )
    finite = np.isfinite(values)
    if not finite.all():
        warn(
            f"{int((~finite).sum())} of {len(values)} values are not finite and are left out.",
            NonFiniteWarning,
        )
        inputs, values = inputs[finite], values[finite]
    if len(values) < MIN_POINTS:
        raise InvalidInputError(
            f"a subspace takes at least {MIN_POINTS} points with finite values; received "
            f"{len(values)}. Evaluate more points."
        )
    refuse_constant(values)
    return inputs, values


def refuse_constant(values: FloatArray) -> None:
    """Raise InvalidInputError if finite values (n,) do not vary."""
    moderated, _ = moderate(values)
    if not float(np.ptp(moderated)) > 1e-12 * float(np.abs(moderated).max()):
        raise InvalidInputError(
            f"y must vary; all {len(values)} finite values are {values[0]:.6g}. A constant "
            "function has no active subspace."
        )


def checked_points(X: ArrayLike, dim: int) -> FloatArray:
    """Return the points (m, D), m >= 1, that a model is asked about."""
    points = as_points(X, dim, "X")
    if not len(points):
        raise InvalidInputError("X must hold at least one point.")
    return points


def standardized(y: FloatArray) -> tuple[FloatArray, float, float]:
    """Return values with mean 0 and standard deviation 1, and both in the units of y."""
    values, units = warping.standardized(y)
    center, spread = np.asarray(units.center), np.asarray(units.spread)
    return values, float(restore(center, units.exponent)), float(restore(spread, units.exponent))


def checked_dim(value: int | None, name: str, n: int, dim: int) -> int | None:
    """Return a dimension that n points in D dimensions can support; None passes."""
    if value is None:
        return None
    checked = as_positive_int(value, name)
    if checked > dim:
        raise InvalidInputError(f"{name} must be at most D = {dim}; received {checked}.")
    if checked >= n:
        raise InvalidInputError(
            f"{name} must be less than the number of points; received {checked} and {n} "
            "points. Lower it or evaluate more points."
        )
    return checked


def checked_matrix(value: ArrayLike, dim: int) -> FloatArray:
    """Return a finite (D, k) matrix as a fresh array."""
    matrix = np.array(value, dtype=np.float64)
    if matrix.ndim != 2 or len(matrix) != dim or not np.all(np.isfinite(matrix)):
        raise InvalidInputError(
            f"starts and previous_basis must be finite, shape ({dim}, k); received shape "
            f"{matrix.shape}."
        )
    return matrix


def checked_frame(value: ArrayLike, dim: int) -> FloatArray:
    """Return an orthonormal basis of the columns of a (D, k) matrix."""
    return orthonormalize(checked_matrix(value, dim))


def warn_of_cliff(X: FloatArray) -> None:
    """Warn if the points hardly leave the span of a few directions."""
    n, dim = X.shape
    singular = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)[: min(n - 1, dim)]
    half = len(singular) // 2
    if dim < CLIFF_MIN_DIM or n < CLIFF_MIN_POINTS or not singular[0] > 0.0:
        return
    ratios = singular[1 : half + 1] / np.maximum(singular[:half], 1e-300)
    position = int(np.argmin(ratios))
    if ratios[position] < CLIFF_RATIO:
        warn(
            f"the points hardly leave {position + 1} of {dim} directions (singular values of "
            f"centred X fall by a factor {1.0 / max(ratios[position], 1e-12):.3g} there), so "
            "that the subspace cannot be told from its shadow in them. Use several random "
            "embeddings, or points that fill the box.",
            SubspaceWarning,
        )
