"""Cholesky factors with a bounded, reported jitter ladder, and the solves built on them."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from boring.exceptions import FitError
from boring.typing import FloatArray

# Rungs of the jitter ladder, relative to the mean diagonal: none, then up to 1e-4.
JITTER_LADDER = (0.0, 1e-10, 1e-8, 1e-6, 1e-4)


def cholesky(A: FloatArray, out: FloatArray | None = None) -> tuple[FloatArray, float]:
    """Factor a symmetric matrix, climbing the jitter ladder where it must.

    Parameters
    ----------
    A : ndarray, shape (n, n)
        Symmetric and, but for rounding, positive definite. Left unchanged.
    out : ndarray, shape (n, n), Fortran order, optional
        Takes L.

    Returns
    -------
    L : ndarray, shape (n, n), Fortran order
        Lower triangular, L L' = A + jitter I, zeros above the diagonal.
    jitter : float
        What was added to the diagonal; 0 when nothing was needed.

    Raises
    ------
    FitError
        If A holds non-finite entries or the last rung fails too.
    """
    scale = float(np.mean(A.diagonal()))
    for rung in JITTER_LADDER:
        attempt = np.empty_like(A, order="F") if out is None else out
        attempt.T[...] = A  # symmetric, so that a copy in the order of memory will do
        jitter = rung * scale
        if jitter > 0:
            attempt.flat[:: len(A) + 1] += jitter
        factor, info = lapack.dpotrf(attempt, lower=1, clean=1, overwrite_a=1)
        if info == 0 and np.isfinite(factor[-1, -1]):
            return factor, jitter
    raise FitError(
        f"the kernel matrix ({len(A)} x {len(A)}) is not positive definite even with a relative "
        f"jitter of {JITTER_LADDER[-1]:g}; check the inputs and kernel parameters for "
        "non-finite values"
    )


def solve(L: FloatArray, B: FloatArray) -> FloatArray:
    """Return (L L')^-1 B for a lower factor L."""
    solution, info = lapack.dpotrs(L, B, lower=1)
    assert info == 0
    return np.asarray(solution)


def solve_lower(L: FloatArray, B: FloatArray) -> FloatArray:
    """Return L^-1 B for a lower factor L."""
    solution, info = lapack.dtrtrs(L, B, lower=1)
    assert info == 0
    return np.asarray(solution)


def inverse(L: FloatArray) -> FloatArray:
    """Return (L L')^-1, symmetric, from a lower factor L with zeros above the diagonal."""
    half, info = lapack.dpotri(L, lower=1)
    assert info == 0
    full: FloatArray = half + half.T
    full.flat[:: len(L) + 1] *= 0.5
    return full


def inverse_triangle(L: FloatArray) -> FloatArray:
    """Return the lower triangle of (L L')^-1, Fortran order, zeros above; L is overwritten."""
    half, info = lapack.dpotri(L, lower=1, overwrite_c=1)
    assert info == 0
    return np.asarray(half)


def log_determinant(L: FloatArray) -> float:
    """Return log |L L'|."""
    return 2.0 * float(np.log(L.diagonal()).sum())


def append_row(L: FloatArray, cross: FloatArray, diagonal: float) -> FloatArray:
    """Extend a Cholesky factor by one row and column in O(n^2).

    Parameters
    ----------
    L : ndarray, shape (n, n)
        Lower factor of A.
    cross : ndarray, shape (n,)
        New column of A.
    diagonal : float
        New diagonal entry.

    Returns
    -------
    ndarray, shape (n + 1, n + 1)
        Lower factor of the bordered matrix.

    Raises
    ------
    FitError
        If the bordered matrix is not positive definite.
    """
    n = len(L)
    row = solve_lower(L, cross[:, None])[:, 0] if n else np.empty(0)
    pivot = diagonal - float(row @ row)
    if not pivot > 0:
        raise FitError(
            f"appending a point leaves the kernel matrix singular (pivot {pivot:.3g}); refit "
            "with a larger noise variance"
        )
    extended = np.zeros((n + 1, n + 1), order="F")
    extended[:n, :n] = L
    extended[n, :n] = row
    extended[n, n] = np.sqrt(pivot)
    return extended
