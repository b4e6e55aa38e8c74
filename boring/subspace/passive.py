"""Passive bases V: orthonormal directions orthogonal to an active basis W.

`gram_schmidt_complement` is Algorithm 4 of the thesis, `qr_complement` the direct way
when all D - d directions are wanted.
"""

from __future__ import annotations

import numpy as np

from ..exceptions import InvalidInputError
from ..typing import FloatArray
from .stiefel import is_orthonormal, random_frame

MINIMUM_RELATIVE_NORM = 1e-6
"""A draw is rejected when projecting W out leaves less than this share of its length
[chosen here: far above rounding, and met with probability about 1e-6 or less]."""

MAXIMUM_DRAWS = 100
"""Draws for each direction before giving up [chosen here; a second is never expected]."""

_INPUT_TOLERANCE = 1e-8
"""Entries of |W'W - I| that are accepted as rounding of the caller's."""


def _check(W: FloatArray, n_passive: int | None) -> int:
    if W.ndim != 2 or not 1 <= W.shape[1] <= W.shape[0]:
        raise InvalidInputError(f"W must have shape (D, d) with 1 <= d <= D, got {W.shape}.")
    if not is_orthonormal(W, _INPUT_TOLERANCE):
        raise InvalidInputError(
            "W must have orthonormal columns; pass it through "
            "boring.subspace.stiefel.orthonormalize first."
        )
    available = W.shape[0] - W.shape[1]
    wanted = available if n_passive is None else n_passive
    if not 0 <= wanted <= available:
        raise InvalidInputError(
            f"n_passive must lie between 0 and D - d = {available}, got {n_passive}."
        )
    return wanted


def gram_schmidt_complement(W: FloatArray, n_passive: int, rng: np.random.Generator) -> FloatArray:
    """Draw a random passive basis by Gram-Schmidt orthogonalisation.

    Parameters
    ----------
    W : ndarray, shape (D, d)
        Active basis, orthonormal columns.
    n_passive : int, 0 <= q <= D - d
        Number of directions.
    rng : numpy.random.Generator
        Consumed.

    Returns
    -------
    ndarray, shape (D, q)
        V with V'V = I and W'V = 0 to 1e-12.

    Raises
    ------
    InvalidInputError
        If W is not a frame or q is out of range.

    Notes
    -----
    Source: [thesis, Alg. 4]. **Deviation**: (1) vectors are Gaussian, not uniform on
    [0, 1]^D, so that the span is uniform among the complements of W; (2) each vector
    goes through two orthogonalisation passes, since one pass loses orthogonality when
    little of the vector is left; (3) its norm is tested before it is normalised: after
    that the test of the text always passes; (4) q may be at most D - d.
    """
    n_passive = _check(W, n_passive)
    dim, effective_dim = W.shape
    basis = np.empty((dim, effective_dim + n_passive))
    basis[:, :effective_dim] = W
    for column in range(effective_dim, effective_dim + n_passive):
        found = basis[:, :column]
        for _ in range(MAXIMUM_DRAWS):
            draw = rng.standard_normal(dim)
            vector = draw - found @ (found.T @ draw)
            vector -= found @ (found.T @ vector)
            norm = float(np.linalg.norm(vector))
            if norm > MINIMUM_RELATIVE_NORM * float(np.linalg.norm(draw)):
                basis[:, column] = vector / norm
                break
        else:
            raise InvalidInputError(
                f"no direction orthogonal to W was found in {MAXIMUM_DRAWS} draws; "
                "W must be orthonormal."
            )
    return basis[:, effective_dim:].copy()


def qr_complement(
    W: FloatArray, n_passive: int | None = None, rng: np.random.Generator | None = None
) -> FloatArray:
    """Return a passive basis from the complete QR factorisation of W.

    Parameters
    ----------
    W : ndarray, shape (D, d)
        Active basis, orthonormal columns.
    n_passive : int, optional
        Number of directions q; D - d when None.
    rng : numpy.random.Generator, optional
        Rotates the complement at random, which makes its span uniform for q < D - d.
        Without it the result is a deterministic function of W.

    Returns
    -------
    ndarray, shape (D, q)
        V with V'V = I and W'V = 0 to 1e-12.

    Raises
    ------
    InvalidInputError
        If W is not a frame or q is out of range.
    """
    n_passive = _check(W, n_passive)
    effective_dim = W.shape[1]
    Q, _ = np.linalg.qr(W, mode="complete")
    complement = Q[:, effective_dim:]
    if n_passive == 0:
        return np.empty((len(W), 0))
    if rng is None:
        return complement[:, :n_passive].copy()
    return np.asarray(complement @ random_frame(complement.shape[1], n_passive, rng))
