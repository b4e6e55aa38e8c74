"""Linear feature maps X -> Z = X L: where a kernel term looks, and at what scale.

Every kernel of the library is a radial profile of the distance between linear features.
The full-dimensional kernels, the active term on Z = X W, the one-dimensional passive
terms and the free metric M differ in the map alone, so each writes three short methods
and one likelihood serves them all.

A map's parameters are log lengthscales, except for `Free`, whose parameters are the
entries of M = W diag(1/l) itself, row by row: for any kernel of the ARD distance the
pair (W, l) and the factor M describe the same model (W, l are its singular vectors and
inverse singular values), and M needs no manifold.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from boring.typing import FloatArray

# Bounds on a log lengthscale, inputs in [-1, 1]^D [chosen here: l from 0.05 to 1100].
LOG_LENGTHSCALE_BOUNDS = (-3.0, 7.0)


class FeatureMap(ABC):
    """A linear map of scaled inputs, in two steps: fixed inputs, then scaled features."""

    @property
    @abstractmethod
    def n_parameters(self) -> int:
        """Length of the map's parameter vector."""

    def inputs(self, X: FloatArray) -> FloatArray:
        """Return the part of the map that no parameter changes, shape (n, m)."""
        return X

    @abstractmethod
    def features(self, inputs: FloatArray, parameters: FloatArray) -> FloatArray:
        """Return Z, shape (n, k), from `inputs` and the map's parameters."""

    @abstractmethod
    def pullback(
        self, inputs: FloatArray, Z: FloatArray, dZ: FloatArray, parameters: FloatArray
    ) -> FloatArray:
        """Return d/d(parameters) of a scalar whose derivative in Z is ``dZ`` (n, k)."""

    @abstractmethod
    def input_gradient(self, dZ: FloatArray, parameters: FloatArray) -> FloatArray:
        """Return d/dX, shape (n, D), of a scalar whose derivative in Z is ``dZ`` (n, k)."""

    @property
    def bounds(self) -> list[tuple[float | None, float | None]]:
        """Bounds of each parameter for the optimiser of the likelihood."""
        return [LOG_LENGTHSCALE_BOUNDS] * self.n_parameters


@dataclass(frozen=True)
class Isotropic(FeatureMap):
    """One lengthscale shared by all inputs, Z = X / l."""

    @property
    def n_parameters(self) -> int:
        """Length of the map's parameter vector."""
        return 1

    def features(self, inputs: FloatArray, parameters: FloatArray) -> FloatArray:
        """Return X / l."""
        return np.asarray(inputs * np.exp(-parameters[0]))

    def pullback(
        self, inputs: FloatArray, Z: FloatArray, dZ: FloatArray, parameters: FloatArray
    ) -> FloatArray:
        """Return the derivative in log l."""
        return np.array([-np.vdot(dZ, Z)])

    def input_gradient(self, dZ: FloatArray, parameters: FloatArray) -> FloatArray:
        """Return dZ / l."""
        return np.asarray(dZ * np.exp(-parameters[0]))


@dataclass(frozen=True)
class Ard(FeatureMap):
    """One lengthscale per input, Z = X diag(1/l)."""

    dim: int

    @property
    def n_parameters(self) -> int:
        """Length of the map's parameter vector."""
        return self.dim

    def features(self, inputs: FloatArray, parameters: FloatArray) -> FloatArray:
        """Return X diag(1/l)."""
        return np.asarray(inputs * np.exp(-parameters))

    def pullback(
        self, inputs: FloatArray, Z: FloatArray, dZ: FloatArray, parameters: FloatArray
    ) -> FloatArray:
        """Return the derivative in each log l."""
        return np.asarray(-np.einsum("ij,ij->j", dZ, Z))

    def input_gradient(self, dZ: FloatArray, parameters: FloatArray) -> FloatArray:
        """Return dZ diag(1/l)."""
        return np.asarray(dZ * np.exp(-parameters))


@dataclass(frozen=True, eq=False)
class Projected(Isotropic):
    """One lengthscale on a fixed basis, Z = X B / l; B is (D, k), e.g. W or one v_i."""

    basis: FloatArray

    def inputs(self, X: FloatArray) -> FloatArray:
        """Return X B."""
        return np.asarray(X @ self.basis)

    def input_gradient(self, dZ: FloatArray, parameters: FloatArray) -> FloatArray:
        """Return dZ B' / l."""
        return np.asarray((dZ * np.exp(-parameters[0])) @ self.basis.T)


@dataclass(frozen=True, eq=False)
class Stretched(Isotropic):
    """One lengthscale on inputs that are stretched within a subspace, Z = X R / l.

    R = rest (I - U U') + U diag(scales) U' is symmetric, and given by its parts: with few
    columns in U (D, k), it costs D k where the matrix would cost D^2.
    """

    frame: FloatArray
    scales: FloatArray
    rest: float

    def inputs(self, X: FloatArray) -> FloatArray:
        """Return X R."""
        within = (X @ self.frame) * (self.scales - self.rest)
        return np.asarray(self.rest * X + within @ self.frame.T)

    def input_gradient(self, dZ: FloatArray, parameters: FloatArray) -> FloatArray:
        """Return dZ R / l."""
        return self.inputs(dZ * np.exp(-parameters[0]))


@dataclass(frozen=True, eq=False)
class ProjectedArd(FeatureMap):
    """One lengthscale per column of a fixed basis, Z = X B diag(1/l)."""

    basis: FloatArray

    @property
    def n_parameters(self) -> int:
        """Length of the map's parameter vector."""
        return int(self.basis.shape[1])

    def inputs(self, X: FloatArray) -> FloatArray:
        """Return X B."""
        return np.asarray(X @ self.basis)

    def features(self, inputs: FloatArray, parameters: FloatArray) -> FloatArray:
        """Return X B diag(1/l)."""
        return np.asarray(inputs * np.exp(-parameters))

    def pullback(
        self, inputs: FloatArray, Z: FloatArray, dZ: FloatArray, parameters: FloatArray
    ) -> FloatArray:
        """Return the derivative in each log l."""
        return np.asarray(-np.einsum("ij,ij->j", dZ, Z))

    def input_gradient(self, dZ: FloatArray, parameters: FloatArray) -> FloatArray:
        """Return dZ diag(1/l) B'."""
        return np.asarray((dZ * np.exp(-parameters)) @ self.basis.T)


@dataclass(frozen=True)
class Free(FeatureMap):
    """A free factor M (D, k), Z = X M; the parameters are M's entries, row by row."""

    dim: int
    rank: int

    @property
    def n_parameters(self) -> int:
        """Length of the map's parameter vector."""
        return self.dim * self.rank

    def factor(self, parameters: FloatArray) -> FloatArray:
        """Return M, shape (D, k)."""
        return parameters.reshape(self.dim, self.rank)

    def features(self, inputs: FloatArray, parameters: FloatArray) -> FloatArray:
        """Return X M."""
        return np.asarray(inputs @ self.factor(parameters))

    def pullback(
        self, inputs: FloatArray, Z: FloatArray, dZ: FloatArray, parameters: FloatArray
    ) -> FloatArray:
        """Return X' dZ, row by row."""
        return np.asarray((inputs.T @ dZ).ravel())

    def input_gradient(self, dZ: FloatArray, parameters: FloatArray) -> FloatArray:
        """Return dZ M'."""
        return np.asarray(dZ @ self.factor(parameters).T)

    @property
    def bounds(self) -> list[tuple[float | None, float | None]]:
        """Entries of M are unbounded."""
        return [(None, None)] * self.n_parameters
