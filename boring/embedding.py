"""The random embedding of REMBO: a low-dimensional search box inside the cube."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ._brief import fields_in_brief
from .exceptions import InvalidInputError
from .subspace.stiefel import random_frame
from .typing import BoolArray, FloatArray
from .validation import as_points, as_positive_int

__all__ = ["RandomEmbedding", "back_project"]

#: A coordinate this close to a face of the cube counts as clipped.
FACE_TOLERANCE = 1e-9
_MAX_NEWTON_STEPS = 50
_MAX_HALVINGS = 30
#: Newton stops at steps this small.
_STEP_TOLERANCE = 1e-13


@dataclass(frozen=True, eq=False)
class RandomEmbedding:
    """A linear map from a low-dimensional box into the cube, clipped to the cube.

    Parameters
    ----------
    A : ndarray, shape (D, d)
        Finite, with d at most D.

    Raises
    ------
    InvalidInputError
        If the shape or the entries break these rules.

    Notes
    -----
    Wang, Hutter, Zoghi, Matheson and de Freitas 2016: x = clip(A z) with z in the box of
    half-width sqrt(d). That half-width belongs to Gaussian A; for orthonormal A it almost never
    contains the optimum at large D.

    Examples
    --------
    >>> embedding = RandomEmbedding.gaussian(5, 2, np.random.default_rng(0))
    >>> embedding.up([[0.1, -0.2]]).shape
    (1, 5)
    """

    A: FloatArray

    __repr__ = fields_in_brief

    def __post_init__(self) -> None:
        """Copy, check and freeze the matrix."""
        shape = np.shape(self.A)
        if len(shape) != 2 or not 1 <= shape[1] <= shape[0]:
            raise InvalidInputError(
                f"A must have shape (D, d) with 1 <= d <= D; received shape {shape}. "
                "Choose d no larger than D."
            )
        matrix = as_points(self.A, shape[1], "A")
        matrix.flags.writeable = False
        object.__setattr__(self, "A", matrix)

    @classmethod
    def gaussian(cls, dim: int, effective_dim: int, rng: np.random.Generator) -> RandomEmbedding:
        """Draw A with independent standard normal entries.

        Parameters
        ----------
        dim : int
            Ambient dimension D.
        effective_dim : int, 1 <= d <= D
        rng : numpy.random.Generator
            Consumed.

        Returns
        -------
        RandomEmbedding
        """
        return cls(rng.standard_normal(_shape(dim, effective_dim)))

    @classmethod
    def orthonormal(cls, dim: int, effective_dim: int, rng: np.random.Generator) -> RandomEmbedding:
        """Draw A with orthonormal columns, uniformly.

        Parameters
        ----------
        dim : int
            Ambient dimension D.
        effective_dim : int, 1 <= d <= D
        rng : numpy.random.Generator
            Consumed.

        Returns
        -------
        RandomEmbedding
        """
        return cls(random_frame(*_shape(dim, effective_dim), rng))

    @property
    def dim(self) -> int:
        """Ambient dimension D."""
        return int(self.A.shape[0])

    @property
    def effective_dim(self) -> int:
        """Dimension d of the search box."""
        return int(self.A.shape[1])

    @property
    def half_width(self) -> float:
        """Half-width sqrt(d) of the search box (Wang et al. 2016, section 3.2)."""
        return float(np.sqrt(self.effective_dim))

    def up(self, Z: ArrayLike) -> FloatArray:
        """Map low-dimensional points into the cube.

        Parameters
        ----------
        Z : array_like, shape (n, d) or (d,)

        Returns
        -------
        ndarray, shape (n, D), scaled units
            ``clip(Z A', -1, 1)``.
        """
        return np.clip(self.unclipped(Z), -1.0, 1.0)

    def unclipped(self, Z: ArrayLike) -> FloatArray:
        """Map low-dimensional points linearly, shape (n, D), possibly outside the cube."""
        image: FloatArray = as_points(Z, self.effective_dim, "Z") @ self.A.T
        return image

    def down(self, X: ArrayLike) -> FloatArray:
        """Return the least-squares preimage of points.

        Parameters
        ----------
        X : array_like, shape (n, D) or (D,), scaled units

        Returns
        -------
        ndarray, shape (n, d)
        """
        points = as_points(X, self.dim, "X")
        preimage = np.linalg.lstsq(self.A, points.T, rcond=None)[0].T
        return np.asarray(preimage, dtype=np.float64)

    def sample(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Draw points uniformly from the search box.

        Parameters
        ----------
        n : int
        rng : numpy.random.Generator
            Consumed.

        Returns
        -------
        ndarray, shape (n, d)
        """
        return rng.uniform(-self.half_width, self.half_width, size=(n, self.effective_dim))


def _shape(dim: int, effective_dim: int) -> tuple[int, int]:
    dim = as_positive_int(dim, "dim")
    effective_dim = as_positive_int(effective_dim, "effective_dim")
    if effective_dim > dim:
        raise InvalidInputError(
            f"effective_dim must not exceed dim; received effective_dim = {effective_dim}, "
            f"dim = {dim}. Lower effective_dim."
        )
    return dim, effective_dim


def back_project(embedding: RandomEmbedding, X: FloatArray) -> tuple[FloatArray, FloatArray]:
    r"""Return preimages under clip(A z), in the sense of least squares.

    Parameters
    ----------
    embedding : RandomEmbedding
    X : ndarray, shape (n, D), scaled units

    Returns
    -------
    Z : ndarray, shape (n, d)
        Minimiser of the squared violations: :math:`a_i'z - x_i` for a coordinate inside
        the cube; for one on a face, only what :math:`a_i'z` lacks to reach that face.
    error : ndarray, shape (n,)
        Largest :math:`|clip(Az) - x|`; zero up to round-off for the image of any z.

    Notes
    -----
    A convex, piecewise quadratic problem: Newton's method on the active rows, with step
    halving. Where several z have the same image, the one next to the plain least-squares
    solution is found, which need not be the one that the point was made from.
    """
    A = embedding.A
    upper, lower = X >= 1.0 - FACE_TOLERANCE, X <= -1.0 + FACE_TOLERANCE
    Z = embedding.down(X)
    rest = _violations(A, Z, X, upper, lower)
    moving = np.arange(len(X))
    for _ in range(_MAX_NEWTON_STEPS):
        steps = _newton_steps(A, rest[moving], (upper | lower)[moving])
        moving = moving[np.abs(steps).max(axis=1) > _STEP_TOLERANCE]
        steps = steps[np.abs(steps).max(axis=1) > _STEP_TOLERANCE]
        improved = np.zeros(len(moving), dtype=bool)
        for halvings in range(_MAX_HALVINGS):
            rows = moving[~improved]
            if not len(rows):
                break
            trial = Z[rows] + 0.5**halvings * steps[~improved]
            trial_rest = _violations(A, trial, X[rows], upper[rows], lower[rows])
            better = np.sum(trial_rest**2, axis=1) < np.sum(rest[rows] ** 2, axis=1)
            Z[rows[better]], rest[rows[better]] = trial[better], trial_rest[better]
            improved[np.flatnonzero(~improved)[better]] = True
        moving = moving[improved]
        if not len(moving):
            break
    return Z, np.abs(embedding.up(Z) - X).max(axis=1, initial=0.0)


def _violations(
    A: FloatArray, Z: FloatArray, X: FloatArray, upper: BoolArray, lower: BoolArray
) -> FloatArray:
    """Return a_i'z - x_i, with what overshoots a face that x lies on counting as zero."""
    rest = Z @ A.T - X
    rest[upper] = np.minimum(rest[upper], 0.0)
    rest[lower] = np.maximum(rest[lower], 0.0)
    return rest


def _newton_steps(A: FloatArray, rest: FloatArray, on_face: BoolArray) -> FloatArray:
    """Return least-norm Newton steps (n, d) on the rows that are violated or inside."""
    d = A.shape[1]
    active = (~on_face | (rest != 0.0)).astype(np.float64)
    products = (A[:, :, None] * A[:, None, :]).reshape(len(A), d * d)
    hessians = (active @ products).reshape(-1, d, d)
    steps: FloatArray = np.einsum(
        "nij,nj->ni", np.linalg.pinv(hessians, hermitian=True), -(rest @ A)
    )
    return steps
