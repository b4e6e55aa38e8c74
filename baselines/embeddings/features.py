r"""What a search in an embedding must know, and REMBO's three answers: y, x, psi.

A point of the search box is u in ``[-1, 1]^d``; it stands for z = w u with the half-width
w, and is evaluated at x = clip(A z). The three kernels of the literature are one radial
kernel on three different features of that point:

* ``"y"``: z itself (in box units, u) [Wang et al. 2016, k_Y]. Many z share one x.
* ``"x"``: x [Wang et al. 2016, k_X]. Distances live in D dimensions.
* ``"psi"``: x projected onto the range of A and stretched by what the projection lost
  [Binois, Ginsbourger and Roustant 2015, k_Psi]. One feature a point, in d dimensions.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from boring.acquisition.base import Posterior
from boring.embedding import RandomEmbedding, back_project
from boring.exceptions import InvalidInputError
from boring.typing import FloatArray
from boring.validation import suggest

__all__ = ["EmbeddedFeatures", "EmbeddedPosterior", "SearchFeatures", "get_features"]


class SearchFeatures(ABC):
    """One embedding: its search box ``[-1, 1]^m``, its points, and what a model sees of them."""

    @property
    @abstractmethod
    def search_dim(self) -> int:
        """Dimension m of the search box."""

    @property
    @abstractmethod
    def prior_dim(self) -> int:
        """Dimension in which distances between features live, for lengthscale priors."""

    @abstractmethod
    def of_points(self, X: FloatArray) -> FloatArray:
        """Return features (n, f) of evaluated points X (n, D), from wherever they came."""

    @abstractmethod
    def of_search(self, U: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return features (m, f) and their Jacobians (m, f, d) at U (m, d), box units."""

    @abstractmethod
    def up(self, U: FloatArray) -> FloatArray:
        """Return the points (m, D) that U (m, d), in box units, stands for."""

    @abstractmethod
    def down(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return preimages (n, d) in box units, and how badly (n,) they reproduce X (n, D)."""

    def sample(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Draw n places of the search box, shape (n, d), for an initial design."""
        return rng.uniform(-1.0, 1.0, (n, self.search_dim))

    def candidates(self, rng: np.random.Generator) -> FloatArray | None:
        """Draw places (m, d) that the maximiser of an acquisition would miss; None of them."""
        return None


@dataclass(frozen=True)
class EmbeddedFeatures(SearchFeatures):
    """Features of the points of one clipped linear embedding.

    Parameters
    ----------
    embedding : RandomEmbedding
    half_width : float
        w, of the search box.
    """

    embedding: RandomEmbedding
    half_width: float

    @property
    def search_dim(self) -> int:
        """Dimension d of the search box."""
        return self.embedding.effective_dim

    def up(self, U: FloatArray) -> FloatArray:
        """Return the points (m, D) that U (m, d), in box units, stands for."""
        return self.embedding.up(self.half_width * U)

    def down(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return least-squares preimages (n, d) in box units and errors (n,) of X."""
        Z, error = back_project(self.embedding, X)
        return Z / self.half_width, error

    def _image(self, U: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return clip(A z) (m, D) and its Jacobian (m, D, d) in box units."""
        linear = self.half_width * U @ self.embedding.A.T
        inside = np.abs(linear) < 1.0
        jacobian = inside[:, :, None] * (self.half_width * self.embedding.A)
        return np.clip(linear, -1.0, 1.0), jacobian


class PreimageFeatures(EmbeddedFeatures):
    """Kernel k_Y: the search coordinates, in box units."""

    @property
    def prior_dim(self) -> int:
        return self.embedding.effective_dim

    def of_points(self, X: FloatArray) -> FloatArray:
        return self.down(X)[0]

    def of_search(self, U: FloatArray) -> tuple[FloatArray, FloatArray]:
        identity = np.eye(U.shape[1])
        return U, np.broadcast_to(identity, (len(U), *identity.shape))


class AmbientFeatures(EmbeddedFeatures):
    """Kernel k_X: the evaluated point."""

    @property
    def prior_dim(self) -> int:
        return self.embedding.dim

    def of_points(self, X: FloatArray) -> FloatArray:
        return X

    def of_search(self, U: FloatArray) -> tuple[FloatArray, FloatArray]:
        return self._image(U)


class WarpedFeatures(EmbeddedFeatures):
    r"""Kernel k_Psi: the warped projection, in coordinates of the range of A.

    With p = clip(A z), h its orthogonal projection onto Ran(A) and m = max |h_i|: psi = h if
    m <= 1; else h' = h/m lies on the cube's surface and
    :math:`\psi = h'(1 + |p - h'|_2 / |h'|_2)`, the way from 0 to h' and on to p, laid
    straight. Distances do not change between Ran(A) and its coordinates.
    """

    @property
    def prior_dim(self) -> int:
        return self.embedding.dim

    @cached_property
    def range_basis(self) -> FloatArray:
        """Orthonormal basis (D, d) of the range of A."""
        return np.linalg.qr(self.embedding.A)[0]

    def of_points(self, X: FloatArray) -> FloatArray:
        return self._warp(X, None)[0]

    def of_search(self, U: FloatArray) -> tuple[FloatArray, FloatArray]:
        points, jacobian = self._image(U)
        psi, slope = self._warp(points, jacobian)
        assert slope is not None
        return psi, slope

    def _warp(self, P: FloatArray, JP: FloatArray | None) -> tuple[FloatArray, FloatArray | None]:
        """Return psi (m, d) of points P (m, D) and, given theirs, its Jacobian."""
        Q = self.range_basis
        h = P @ Q
        projected = h @ Q.T
        peak = np.argmax(np.abs(projected), axis=1)
        size = np.abs(projected[np.arange(len(P)), peak])
        outside = size > 1.0
        m = np.where(outside, size, 1.0)[:, None]
        pivot = h / m
        gap = P - pivot @ Q.T
        distance = np.linalg.norm(gap, axis=1)
        norm = np.where(outside, np.linalg.norm(pivot, axis=1), 1.0)
        stretch = np.where(outside, 1.0 + distance / norm, 1.0)
        psi = pivot * stretch[:, None]
        if JP is None:
            return psi, None
        Jh = np.einsum("ij,mik->mjk", Q, JP)
        sign = np.sign(projected[np.arange(len(P)), peak])
        dm = sign[:, None] * np.einsum("mj,mjk->mk", Q[peak], Jh)
        dpivot = Jh / m[:, :, None] - pivot[:, :, None] * (dm / m)[:, None, :]
        dgap = JP - np.einsum("ij,mjk->mik", Q, dpivot)
        safe = np.where(distance > 0.0, distance, 1.0)
        ddistance = np.einsum("mi,mik->mk", gap, dgap) / safe[:, None]
        dnorm = np.einsum("mj,mjk->mk", pivot, dpivot) / norm[:, None]
        dstretch = (ddistance - (distance / norm)[:, None] * dnorm) / norm[:, None]
        warped = dpivot * stretch[:, None, None] + pivot[:, :, None] * dstretch[:, None, :]
        return psi, np.where(outside[:, None, None], warped, Jh)


_KINDS: dict[str, type[EmbeddedFeatures]] = {
    "y": PreimageFeatures,
    "x": AmbientFeatures,
    "psi": WarpedFeatures,
}


def get_features(kernel: str, embedding: RandomEmbedding, half_width: float) -> EmbeddedFeatures:
    """Return the features of one of REMBO's kernels.

    Parameters
    ----------
    kernel : {"y", "x", "psi"}
    embedding : RandomEmbedding
    half_width : float

    Raises
    ------
    InvalidInputError
        If no kernel has that name.
    """
    if kernel not in _KINDS:
        raise InvalidInputError(
            f"kernel must be one of {sorted(_KINDS)}, received {kernel!r}. "
            f"{suggest(str(kernel), _KINDS)}"
        )
    return _KINDS[kernel](embedding, half_width)


@dataclass(frozen=True)
class EmbeddedPosterior:
    """A posterior over features, as a function of the search box.

    Parameters
    ----------
    features : SearchFeatures
    posterior : Posterior
        Over the features.
    """

    features: SearchFeatures
    posterior: Posterior

    def predict(self, U: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance (m,) at U (m, d), box units."""
        return self.posterior.predict(self.features.of_search(U)[0])

    def predict_with_gradient(
        self, U: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return mean, variance (m,) and their gradients (m, d) at U (m, d)."""
        F, jacobian = self.features.of_search(U)
        mean, variance, mean_slope, variance_slope = self.posterior.predict_with_gradient(F)
        return (
            mean,
            variance,
            np.einsum("mf,mfd->md", mean_slope, jacobian),
            np.einsum("mf,mfd->md", variance_slope, jacobian),
        )
