"""Frames W (D, d) with orthonormal columns: points of the Stiefel manifold St(D, d).

A frame stands for an active subspace, and is identified by data only up to a rotation
(isotropic kernel) or a signed permutation of its columns (kernel with a lengthscale for
each feature). Compare subspaces through their principal angles, never entry by entry.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..exceptions import InvalidInputError
from ..typing import FloatArray

ORTHONORMAL_TOLERANCE = 1e-10
"""Largest entry of |W'W - I| of a frame that the library returns."""

_RANK_TOLERANCE = 1e-12
"""Columns count as dependent below this ratio of smallest to largest singular value."""


def _as_matrix(A: ArrayLike, name: str) -> FloatArray:
    matrix = np.asarray(A, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[1] == 0 or matrix.shape[0] < matrix.shape[1]:
        raise InvalidInputError(
            f"{name} must have shape (D, d) with 1 <= d <= D, got shape {matrix.shape}."
        )
    if not np.all(np.isfinite(matrix)):
        raise InvalidInputError(f"{name} must be finite, got NaN or infinite entries.")
    return matrix


def random_frame(dim: int, effective_dim: int, rng: np.random.Generator) -> FloatArray:
    """Draw a frame from the uniform (Haar) distribution on St(D, d).

    Parameters
    ----------
    dim : int
        Number of rows D.
    effective_dim : int, 1 <= d <= D
        Number of columns d.
    rng : numpy.random.Generator
        Consumed.

    Returns
    -------
    ndarray, shape (D, d)
        Orthonormal columns.

    Raises
    ------
    InvalidInputError
        If not 1 <= d <= D.

    Notes
    -----
    QR of a Gaussian matrix; the signs of R's diagonal are moved into Q, without which
    the distribution would not be uniform (Mezzadri 2007).
    """
    if not 1 <= effective_dim <= dim:
        raise InvalidInputError(
            f"effective_dim must lie between 1 and dim, got effective_dim={effective_dim} "
            f"and dim={dim}."
        )
    Q, R = np.linalg.qr(rng.standard_normal((dim, effective_dim)))
    return np.ascontiguousarray(Q * np.where(np.diag(R) < 0.0, -1.0, 1.0))


def orthonormalize(A: ArrayLike) -> FloatArray:
    """Return the frame nearest to A in Frobenius norm (polar factor).

    Parameters
    ----------
    A : array_like, shape (D, d)
        Linearly independent columns.

    Returns
    -------
    ndarray, shape (D, d)
        Orthonormal columns that span the columns of A; A itself if it is a frame.

    Raises
    ------
    InvalidInputError
        If A is not a finite (D, d) matrix with d <= D and independent columns.
    """
    U, singular, Vt = np.linalg.svd(_as_matrix(A, "A"), full_matrices=False)
    if singular[-1] <= _RANK_TOLERANCE * singular[0]:
        raise InvalidInputError(
            "A must have linearly independent columns, got singular values from "
            f"{singular[0]:.3g} down to {singular[-1]:.3g}; drop the dependent columns."
        )
    return np.ascontiguousarray(U @ Vt)


def is_orthonormal(W: ArrayLike, tol: float = ORTHONORMAL_TOLERANCE) -> bool:
    """Return whether no entry of |W'W - I| exceeds ``tol``."""
    matrix = np.asarray(W, dtype=np.float64)
    if matrix.ndim != 2:
        return False
    error = np.abs(matrix.T @ matrix - np.eye(matrix.shape[1]))
    return bool(np.all(error <= tol))


def principal_angles(A: ArrayLike, B: ArrayLike) -> FloatArray:
    """Return the principal angles between the column spans of A and B.

    Parameters
    ----------
    A : array_like, shape (D, a)
        Independent columns, not necessarily orthonormal.
    B : array_like, shape (D, b)
        The same.

    Returns
    -------
    ndarray, shape (min(a, b),), radians in [0, pi/2], ascending

    Raises
    ------
    InvalidInputError
        If the numbers of rows differ or a matrix lacks full column rank.

    Notes
    -----
    Cosines lose small angles to rounding and sines lose angles near pi/2, so each angle
    is taken from whichever is the smaller (Bjorck & Golub 1973; Knyazev & Argentati 2002).
    """
    first, second = orthonormalize(A), orthonormalize(B)
    if first.shape[0] != second.shape[0]:
        raise InvalidInputError(
            "A and B must have the same number of rows, got shapes "
            f"{first.shape} and {second.shape}."
        )
    if first.shape[1] < second.shape[1]:
        first, second = second, first
    overlap = first.T @ second
    cosines = np.clip(np.linalg.svd(overlap, compute_uv=False), 0.0, 1.0)
    residual = second - first @ overlap
    sines = np.clip(np.linalg.svd(residual, compute_uv=False)[::-1], 0.0, 1.0)
    from_sines = cosines**2 >= 0.5
    angles = np.where(from_sines, np.arcsin(sines), np.arccos(cosines))
    return np.asarray(np.sort(angles), dtype=np.float64)


def largest_angle(A: ArrayLike, B: ArrayLike) -> float:
    """Return the largest principal angle between two column spans, in radians."""
    return float(principal_angles(A, B)[-1])


def sign_fix(W: ArrayLike) -> FloatArray:
    """Return W with each column's entry of largest magnitude made positive.

    A convention for display and for comparing frames of one mode; it changes neither
    the subspace nor the likelihood of any kernel of the library.
    """
    matrix = np.array(W, dtype=np.float64)
    rows = np.argmax(np.abs(matrix), axis=0)
    signs = np.where(matrix[rows, np.arange(matrix.shape[1])] < 0.0, -1.0, 1.0)
    return matrix * signs


def tangent_projection(W: FloatArray, ambient: FloatArray) -> FloatArray:
    """Project a (D, d) matrix onto the tangent space of St(D, d) at W.

    Notes
    -----
    G - W sym(W'G). Applied to a Euclidean gradient it gives the Riemannian gradient of
    the embedded metric (Edelman, Arias & Smith 1998, section 2.2).
    """
    inner = W.T @ ambient
    return ambient - W @ (0.5 * (inner + inner.T))


def cayley_step(W: FloatArray, gradient: FloatArray, step: float) -> FloatArray:
    """Move from W along the Cayley curve that starts against ``gradient``.

    Parameters
    ----------
    W : ndarray, shape (D, d)
        A frame.
    gradient : ndarray, shape (D, d)
        Euclidean gradient G of the function to descend. Pass -G to ascend.
    step : float
        Length tau along the curve.

    Returns
    -------
    ndarray, shape (D, d)
        A frame, orthonormal to rounding however many steps are chained.

    Notes
    -----
    Y(tau) = (I + tau/2 S)^-1 (I - tau/2 S) W with the skew S = G W' - W G' [Wen & Yin
    2013, eq. 7; Tripathy et al. 2016, section 3.3], evaluated through the 2d x 2d system
    Y = W - tau U (I + tau/2 V'U)^-1 V'W, U = [G, W], V = [W, -G] [Wen & Yin, lemma 4].

    **Deviation**: one Newton-Schulz step W (3 I - W'W)/2 follows, which squares the
    rounding error that would otherwise build up over a long run.
    """
    U = np.hstack([gradient, W])
    V = np.hstack([W, -gradient])
    system = np.eye(U.shape[1]) + (0.5 * step) * (V.T @ U)
    moved = W - step * (U @ np.linalg.solve(system, V.T @ W))
    result = moved @ (1.5 * np.eye(W.shape[1]) - 0.5 * (moved.T @ moved))
    return np.asarray(result, dtype=np.float64)
