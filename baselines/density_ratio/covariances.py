r"""The inverse of the Gauss-Newton matrix H = J' Lambda J + delta I, whole or approximate.

Of n points and P parameters the smaller number decides in which space the whole inverse is
worked out; both give the same. The paper [Hassen and Rish, arXiv 2108.12461] names full, diagonal
and Kronecker-factored matrices, and does not say which of them its experiments used.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from boring.models.linalg import cholesky, inverse, log_determinant, solve
from boring.typing import FloatArray

__all__ = [
    "COVARIANCES",
    "Covariance",
    "DiagonalCovariance",
    "FunctionSpaceCovariance",
    "KroneckerCovariance",
    "WeightSpaceCovariance",
]

COVARIANCES = ("full", "kronecker", "diagonal")


class Covariance(Protocol):
    """H^-1, whole or approximate."""

    def apply(self, rows: FloatArray, /) -> FloatArray:
        """Return rows times H^-1, shape (m, P)."""
        ...

    def log_determinant(self) -> float:
        """Return log det H."""
        ...

    def n_effective(self) -> float:
        """Return P - delta tr H^-1: how many parameters the data determine."""
        ...


class FunctionSpaceCovariance:
    r"""H^-1 by Woodbury, in O(n^2 P): the Gaussian process of the linearised network.

    .. math:: H^{-1} = \delta^{-1}(I - \delta^{-1} R' B^{-1} R), \quad
       R = \Lambda^{1/2} J, \quad B = I + \delta^{-1} R R'.

    Parameters
    ----------
    J : ndarray, shape (n, P)
    curvature : ndarray, shape (n,)
        The diagonal of Lambda.
    precision : float
        delta.
    """

    def __init__(self, J: FloatArray, curvature: FloatArray, precision: float) -> None:
        self.precision = precision
        self.R = np.sqrt(curvature)[:, None] * J
        self.L = cholesky(np.eye(len(J)) + self.R @ self.R.T / precision)[0]

    def apply(self, rows: FloatArray) -> FloatArray:
        """Return rows times H^-1, shape (m, P)."""
        inner = solve(self.L, np.asfortranarray(self.R @ rows.T))
        return (rows - (inner.T @ self.R) / self.precision) / self.precision

    def log_determinant(self) -> float:
        """Return log det H."""
        return float(self.R.shape[1] * np.log(self.precision)) + log_determinant(self.L)

    def n_effective(self) -> float:
        """Return n - tr B^-1."""
        return len(self.L) - float(np.trace(inverse(self.L)))


class WeightSpaceCovariance:
    """H^-1 from the Cholesky factor of H itself, in O(P^3); parameters as in the class above."""

    def __init__(self, J: FloatArray, curvature: FloatArray, precision: float) -> None:
        self.precision = precision
        H = (J.T * curvature) @ J
        H.flat[:: len(H) + 1] += precision
        self.L = cholesky(H)[0]

    def apply(self, rows: FloatArray) -> FloatArray:
        """Return rows times H^-1, shape (m, P)."""
        return np.ascontiguousarray(solve(self.L, np.asfortranarray(rows.T)).T)

    def log_determinant(self) -> float:
        """Return log det H."""
        return log_determinant(self.L)

    def n_effective(self) -> float:
        """Return P - delta tr H^-1."""
        return len(self.L) - self.precision * float(np.trace(inverse(self.L)))


class DiagonalCovariance:
    """The inverse of H's diagonal; parameters as in the classes above."""

    def __init__(self, J: FloatArray, curvature: FloatArray, precision: float) -> None:
        self.precision = precision
        self.diagonal = curvature @ J**2 + precision

    def apply(self, rows: FloatArray) -> FloatArray:
        """Return rows times H^-1, shape (m, P)."""
        return rows / self.diagonal

    def log_determinant(self) -> float:
        """Return log det H."""
        return float(np.log(self.diagonal).sum())

    def n_effective(self) -> float:
        """Return P - delta tr H^-1."""
        return float((1.0 - self.precision / self.diagonal).sum())


class KroneckerCovariance:
    """H layer by layer as (mean of a a') x (sum of Lambda g g') + delta I.

    Of each layer a is what it takes in and g the derivative of f in what it puts out, so that
    J = a x g; the two averages are taken apart [Martens and Grosse 2015; Ritter et al. 2018].
    Exact for a single point.

    Parameters
    ----------
    inputs, slopes : sequences of ndarray
        As :meth:`Network.factors` returns them.
    curvature : ndarray, shape (n,)
    precision : float
    """

    def __init__(
        self,
        inputs: list[FloatArray],
        slopes: list[FloatArray],
        curvature: FloatArray,
        precision: float,
    ) -> None:
        self.precision = precision
        self.bases: list[tuple[FloatArray, FloatArray]] = []
        self.spectra: list[FloatArray] = []
        for a, g in zip(inputs, slopes, strict=True):
            left, Q = np.linalg.eigh(a.T @ a / len(a))
            right, S = np.linalg.eigh((g.T * curvature) @ g)
            self.bases.append((Q, S))
            eigenvalues = np.outer(np.maximum(left, 0.0), np.maximum(right, 0.0))
            self.spectra.append(eigenvalues + precision)

    def apply(self, rows: FloatArray) -> FloatArray:
        """Return rows times H^-1, shape (m, P)."""
        ends = np.cumsum([spectrum.size for spectrum in self.spectra])[:-1]
        parts = []
        pairs = zip(np.split(rows, ends, axis=1), self.bases, self.spectra, strict=True)
        for part, (Q, S), spectrum in pairs:
            turned = Q.T @ part.reshape(-1, *spectrum.shape) @ S
            parts.append((Q @ (turned / spectrum) @ S.T).reshape(len(rows), -1))
        return np.hstack(parts)

    def log_determinant(self) -> float:
        """Return log det H."""
        return float(sum(np.log(spectrum).sum() for spectrum in self.spectra))

    def n_effective(self) -> float:
        """Return P - delta tr H^-1."""
        return float(sum((1.0 - self.precision / spectrum).sum() for spectrum in self.spectra))
