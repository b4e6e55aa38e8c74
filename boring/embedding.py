"""The random embedding of REMBO: a low-dimensional search box inside the cube."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .exceptions import InvalidInputError
from .typing import FloatArray
from .validation import as_points, as_positive_int

__all__ = ["RandomEmbedding"]


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
        gaussian = rng.standard_normal(_shape(dim, effective_dim))
        orthonormal, triangular = np.linalg.qr(gaussian)
        return cls(orthonormal * np.where(np.diag(triangular) < 0.0, -1.0, 1.0))

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
