"""The negative log marginal likelihood of one data set, with its gradient in all parameters.

Notation (one N x N Cholesky a call): K the kernel matrix, A = K + n2 I, a = A^-1 y,
G = A^-1 - a a', and for a term with variance s2, features Z, profile k and slope s
(`boring.kernels.profiles`), P = s2 G o s::

    NLL        = .5 y'a + .5 log|A| + .5 N log 2 pi
    dNLL/dlog s2 = .5 s2 sum(G o k)        dNLL/dlog n2 = .5 n2 tr G
    dNLL/dZ      = P Z - diag(P 1) Z,      pulled back to the map's parameters;
                   for a free factor dNLL/dM = X'(P Z - diag(P 1) Z);
    dNLL/dlog l  = .5 sum(P o r^2)         for one lengthscale, Z = B / l.

The last needs the distances alone: those of B, computed once, serve every lengthscale, and a
call costs nothing that grows with D. All these matrices are symmetric, so that the lower
triangle of G is enough.

Rasmussen & Williams (2006), eq. 2.25, 2.26 and 5.9; the factor form is our own derivation,
checked by finite differences and against GPy in the tests.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import blas

from boring.kernels.additive import AdditiveKernel, KernelTerm, row_blocks, squared_distances
from boring.kernels.maps import Isotropic
from boring.models.linalg import cholesky, inverse_triangle, log_determinant, solve
from boring.typing import FloatArray

LOG_TWO_PI = float(np.log(2.0 * np.pi))


class Evidence:
    """The likelihood as a function of the parameters; it keeps its working space.

    Parameters
    ----------
    kernel : AdditiveKernel
    X : ndarray, shape (n, D)
    y : ndarray, shape (n,)
    """

    def __init__(self, kernel: AdditiveKernel, X: FloatArray, y: FloatArray) -> None:
        n = len(y)
        self._kernel = kernel
        self._y = y
        self._blocks = row_blocks(n)
        self._places: list[_OneScale | _Features] = [
            (_OneScale if isinstance(term.feature_map, Isotropic) else _Features)(term, X)
            for term in kernel.terms
        ]
        # Of each term: squared distances, values and slopes.
        self._spaces = [tuple(np.empty((n, n)) for _ in range(3)) for _ in kernel.terms]
        self._A = np.empty((n, n))
        self._L = np.empty((n, n), order="F")

    def __call__(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """Return the negative log likelihood at theta and its gradient.

        Raises
        ------
        FitError
            If the kernel matrix cannot be factored.
        """
        y, n = self._y, len(self._y)
        noise = float(np.exp(theta[-1]))
        parts = self._kernel.split(theta)
        A = self._A
        A.fill(self._kernel.constant_variance)
        for (term, variance, parameters), place, (squared, value, slope) in zip(
            parts, self._places, self._spaces, strict=True
        ):
            place.squared_distances(parameters, squared)
            for rows in self._blocks:
                value[rows], slope[rows] = term.profile.value_and_slope(squared[rows])
                A[rows] += variance * value[rows]
        A.flat[:: n + 1] += noise
        L, _ = cholesky(A, out=self._L)
        alpha = solve(L, y)
        nll = 0.5 * float(y @ alpha) + 0.5 * log_determinant(L) + 0.5 * n * LOG_TWO_PI
        lower = blas.dsyr(-1.0, alpha, lower=1, a=inverse_triangle(L), overwrite_a=1)
        # In C order the transposed lower triangle meets the symmetric matrices below.
        G, diagonal = lower.T, lower.diagonal()

        gradient = np.empty_like(theta)
        for (_, variance, parameters), part, place, (squared, value, slope) in zip(
            parts, self._kernel.slices, self._places, self._spaces, strict=True
        ):
            total = 2.0 * float(np.vdot(G, value)) - float(diagonal @ value.diagonal())
            gradient[part.start] = 0.5 * variance * total
            P = np.multiply(G, slope, out=slope)
            gradient[part.start + 1 : part.stop] = place.gradient(P, squared, variance, parameters)
        gradient[-1] = 0.5 * noise * float(diagonal.sum())
        return nll, gradient


class _OneScale:
    """A term with one lengthscale: the distances of its inputs serve all its values."""

    def __init__(self, term: KernelTerm, X: FloatArray) -> None:
        self._base = squared_distances(term.feature_map.inputs(X))

    def squared_distances(self, parameters: FloatArray, out: FloatArray) -> None:
        np.multiply(self._base, np.exp(-2.0 * parameters[0]), out=out)

    def gradient(
        self, P: FloatArray, squared: FloatArray, variance: float, parameters: FloatArray
    ) -> FloatArray:
        """Return dNLL/dlog l from the upper triangle of P / s2."""
        return np.array([variance * float(np.vdot(P, squared))])


class _Features:
    """A term of any other map: features anew at every call."""

    def __init__(self, term: KernelTerm, X: FloatArray) -> None:
        self._map = term.feature_map
        self._inputs = term.feature_map.inputs(X)

    def squared_distances(self, parameters: FloatArray, out: FloatArray) -> None:
        self._Z = np.ascontiguousarray(self._map.features(self._inputs, parameters))
        squared_distances(self._Z, out=out)

    def gradient(
        self, P: FloatArray, squared: FloatArray, variance: float, parameters: FloatArray
    ) -> FloatArray:
        """Pull dNLL/dZ back, from the upper triangle of P / s2."""
        Z = self._Z
        dZ = np.asarray(blas.dsymm(variance, P.T, Z.T, side=1, lower=1).T)
        sums = blas.dsymv(variance, P.T, np.ones(len(Z)), lower=1)
        dZ -= sums[:, None] * Z
        return self._map.pullback(self._inputs, Z, dZ, parameters)
