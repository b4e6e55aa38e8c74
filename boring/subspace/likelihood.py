"""Marginal likelihood of a projected GP as a function on the Stiefel manifold.

The model of Tripathy, Bilionis & Gonzalez (2016): y = g(W'x) + noise, g a zero-mean GP
with one lengthscale for each feature, W a frame. With z = W'x, k the radial profile and
s its slope,

    k_AS(x, x') = s2 k(r),     r^2 = sum_i (z_i - z'_i)^2 / l_i^2,
    L(W, l, s2, n2) = log N(y; 0, A),   A = K + n2 I.

Gradients, for G = dL/dA = .5 (a a' - A^-1), a = A^-1 y, and B = -s2 G o s:

    dL/dW        = 2 X'(diag(B 1) - B) X W diag(1/l^2)
    dL/dlog l_i  = -(W o dL/dW)' 1, entry i
    dL/dlog s2   = sum(G o K)
    dL/dlog n2   = n2 tr G.

For Matern-3/2, s = 3 exp(-sqrt3 r) and B is the matrix of Tripathy et al., section 3.3.
**Deviation** from the thesis (eq. 2.14), whose printed derivative repeats the kernel.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..exceptions import FitError, InvalidInputError
from ..kernels.additive import squared_distances
from ..kernels.profiles import MATERN32, RadialProfile
from ..models.evidence import LOG_TWO_PI
from ..models.linalg import cholesky, inverse, log_determinant, solve
from ..typing import FloatArray


@dataclass(frozen=True, slots=True)
class Hyperparameters:
    """Kernel parameters of the projected GP, all on the log scale.

    Attributes
    ----------
    log_lengthscales : ndarray, shape (d,)
        In units of z = W'x.
    log_signal : float
        Log of the signal variance s2, in units of y squared.
    log_noise : float
        Log of the noise variance n2, in units of y squared.
    """

    log_lengthscales: FloatArray
    log_signal: float
    log_noise: float

    def as_vector(self) -> FloatArray:
        """Return (log l_1, .., log l_d, log s2, log n2)."""
        return np.append(self.log_lengthscales, [self.log_signal, self.log_noise])

    @classmethod
    def from_vector(cls, vector: FloatArray) -> Hyperparameters:
        """Return the parameters whose `as_vector` is ``vector``, shape (d + 2,)."""
        return cls(np.array(vector[:-2]), float(vector[-2]), float(vector[-1]))


@dataclass(frozen=True, slots=True)
class LikelihoodEvaluation:
    """Log likelihood and its gradients at one point.

    Attributes
    ----------
    value : float
        L, in nats.
    basis_gradient : ndarray, shape (D, d)
        Euclidean gradient dL/dW: not projected onto the tangent space.
    hyperparameter_gradient : ndarray, shape (d + 2,)
        In the order of `Hyperparameters.as_vector`.
    """

    value: float
    basis_gradient: FloatArray
    hyperparameter_gradient: FloatArray


class StiefelLikelihood:
    """L(W, l, s2, n2; X, y) with all gradients, in O(N^3 + N^2 d + N D d).

    Parameters
    ----------
    X : ndarray, shape (n, D)
        Inputs, scaled units.
    y : ndarray, shape (n,)
        Values, centred by the caller: the prior mean is zero.
    profile : RadialProfile, default Matern-3/2 [thesis section 2.4]

    Raises
    ------
    InvalidInputError
        If shapes disagree or an entry is not finite.
    """

    def __init__(self, X: FloatArray, y: FloatArray, profile: RadialProfile = MATERN32) -> None:
        if X.ndim != 2 or y.shape != (len(X),) or len(X) == 0:
            raise InvalidInputError(
                f"X must have shape (n, D) and y (n,) with n >= 1, got {X.shape} and {y.shape}."
            )
        if not (np.all(np.isfinite(X)) and np.all(np.isfinite(y))):
            raise InvalidInputError(
                "X and y must be finite; leave points with NaN or infinite values out."
            )
        self.X = X
        self.y = y
        self.profile = profile

    def evaluate(self, W: FloatArray, parameters: Hyperparameters) -> LikelihoodEvaluation:
        """Return the log likelihood and its gradients.

        Parameters
        ----------
        W : ndarray, shape (D, d)
            Need not be orthonormal: the formula holds in the ambient space, which is
            what finite differences and pymanopt's Hessian rely on.
        parameters : Hyperparameters

        Raises
        ------
        FitError
            If the covariance matrix is singular beyond the jitter ladder.
        """
        n = len(self.y)
        inverse_lengthscales = np.exp(-parameters.log_lengthscales)
        signal, noise = np.exp(parameters.log_signal), np.exp(parameters.log_noise)
        Z = self.X @ (W * inverse_lengthscales)
        kernel, slope = self.profile.value_and_slope(squared_distances(Z))
        K = signal * kernel
        A = K.copy()
        A.flat[:: n + 1] += noise
        L, _ = cholesky(A)
        weights = solve(L, self.y)
        value = -0.5 * (float(self.y @ weights) + log_determinant(L) + n * LOG_TWO_PI)
        if not np.isfinite(value):
            raise FitError("the log likelihood is not finite; check the kernel parameters.")

        G = np.multiply.outer(weights, weights)
        G -= inverse(L)
        G *= 0.5
        B = G * slope
        B *= -signal
        spread = B.sum(axis=1)[:, None] * Z
        spread -= B @ Z
        basis_gradient = 2.0 * (self.X.T @ spread) * inverse_lengthscales
        gradient = np.append(
            -np.sum(W * basis_gradient, axis=0),
            [float(np.vdot(G, K)), noise * float(np.trace(G))],
        )
        return LikelihoodEvaluation(value, basis_gradient, gradient)

    def value(self, W: FloatArray, parameters: Hyperparameters) -> float:
        """Return the log likelihood alone, in nats."""
        return self.evaluate(W, parameters).value
