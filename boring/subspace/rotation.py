"""The most readable basis of a subspace, and how well its entries are known.

Data identify the span of W, not its columns, so the basis may be chosen for the reader: the
one whose columns have few large entries, which varimax finds.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from boring.exceptions import InvalidInputError
from boring.subspace.importance import jackknife_error, students_factor
from boring.typing import FloatArray

__all__ = ["loading_errors", "readable_basis", "varimax"]

MAX_SWEEPS = 200
"""Passes over all pairs of columns; a handful is the rule [chosen here]."""

ANGLE_TOLERANCE = 1e-10
"""A sweep whose largest rotation is below this many radians is the last [chosen here]."""


def varimax(A: ArrayLike) -> FloatArray:
    """Return the rotation R after which the columns of A R have few large entries.

    Parameters
    ----------
    A : array_like, shape (D, d), finite

    Returns
    -------
    ndarray, shape (d, d)
        A proper rotation to rounding, at a maximum over rotations of every pair of columns of the
        sum over columns of the variance of their squared entries; the global one for d = 2.

    Raises
    ------
    InvalidInputError
        If A is not a finite matrix.

    Notes
    -----
    Raw varimax, rows not normalised: rows of a frame that are small do not matter, and should not
    count as much as the others. Each pair of columns is turned by the angle that is best for it,
    in closed form, until no pair moves (Kaiser 1958, Psychometrika 23, 187-200).
    """
    loadings = np.array(A, dtype=np.float64)
    if loadings.ndim != 2 or 0 in loadings.shape or not np.all(np.isfinite(loadings)):
        raise InvalidInputError(
            f"A must be a finite matrix of shape (D, d); received shape {loadings.shape}. "
            "Pass a basis, one column a direction."
        )
    rows, columns = loadings.shape
    rotation = np.eye(columns)
    for _ in range(MAX_SWEEPS):
        largest = 0.0
        for i, j in combinations(range(columns), 2):
            u = loadings[:, i] ** 2 - loadings[:, j] ** 2
            v = 2.0 * loadings[:, i] * loadings[:, j]
            sine = 2.0 * float(u @ v) - 2.0 * float(u.sum() * v.sum()) / rows
            cosine = float(u @ u - v @ v) - float(u.sum() ** 2 - v.sum() ** 2) / rows
            if np.hypot(sine, cosine) <= np.finfo(float).eps * float(u @ u + v @ v):
                continue  # every angle is as good: leave the pair
            angle = 0.25 * float(np.arctan2(sine, cosine))
            turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
            for matrix in (loadings, rotation):
                matrix[:, [i, j]] = matrix[:, [i, j]] @ turn
            largest = max(largest, abs(angle))
        if largest < ANGLE_TOLERANCE:
            break
    return rotation


def readable_basis(
    basis: ArrayLike, lengthscales: ArrayLike | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return the varimax basis of a span, strongest column first, signs fixed.

    Parameters
    ----------
    basis : array_like, shape (D, d)
        W, orthonormal columns.
    lengthscales : array_like, shape (d,), optional
        Of the columns of W. A direction W r counts with sum_j (r_j / l_j)^2, the squared slope of
        the model along it; without them the columns are in the order of their largest entry.

    Returns
    -------
    readable : ndarray, shape (D, d)
        ``basis @ rotation``; the cubes of each column sum to a positive number, so that the large
        entries are positive on the whole and near ties do not decide.
    rotation : ndarray, shape (d, d)
        Orthogonal.
    """
    W = np.asarray(basis, dtype=np.float64)
    rotation = varimax(W)
    readable = W @ rotation
    if lengthscales is None:
        strength = np.abs(readable).max(axis=0)
    else:
        strength = ((rotation / np.asarray(lengthscales)[:, None]) ** 2).sum(axis=0)
    rotation = rotation[:, np.argsort(-strength, kind="stable")]
    readable = W @ rotation
    rotation = rotation * np.where((readable**3).sum(axis=0) < 0.0, -1.0, 1.0)
    return W @ rotation, rotation


def loading_errors(basis: ArrayLike, replicates: Sequence[FloatArray]) -> FloatArray:
    """Return half the widths of nominal 90 percent intervals of the entries of a basis.

    Parameters
    ----------
    basis : array_like, shape (D, d)
        From all points.
    replicates : sequence of ndarray, each (D, d)
        From all points but those of one group, such as ``fold_bases`` of an estimate. Each is
        first turned within its span to lie nearest to ``basis``.

    Returns
    -------
    ndarray, shape (D, d)
        NaN with fewer than two replicates.

    Notes
    -----
    The delete-a-group jackknife of `boring.subspace.importance`, bias included. Where groups end
    in other subspaces the errors grow to the order of the entries.
    """
    W = np.asarray(basis, dtype=np.float64)
    if len(replicates) < 2:
        return np.full(W.shape, np.nan)
    aligned = []
    for replicate in replicates:
        U, _, Vt = np.linalg.svd(replicate.T @ W, full_matrices=False)
        aligned.append(replicate @ (U @ Vt))
    return students_factor(len(aligned)) * jackknife_error(W, np.array(aligned))
