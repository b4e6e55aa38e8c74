r"""Laplace approximation of a network's posterior by the generalised Gauss-Newton matrix.

Labels z in {0, 1} with logit f(x; theta), prior N(0, I/delta), and at the maximum theta* of

.. math:: \log p(z, \theta) = \sum_n [z_n f_n - \log(1 + e^{f_n})]
   + \tfrac P2 \log\tfrac{\delta}{2\pi} - \tfrac\delta2 |\theta|^2,

the posterior is N(theta*, H^-1) with H = J' Lambda J + delta I, Lambda = pi (1 - pi) and
J = df/dtheta [Hassen and Rish, arXiv 2108.12461, sections 3.2 and 3.3, appendix C]. For the network
that is *linearised* at theta* the logit at x is then Gaussian with mean m = f(x; theta*) and
variance s^2 = J(x) H^-1 J(x)'. The same variance is that of a GP with kernel J(x) J(x')'/delta
(their section 7.5): whichever of n and P is the smaller decides what is factored.

**Deviations**: the printed loss (eq. 3.4) holds no labels and drives every probability to 0 where
gamma < 1/2; the Bernoulli likelihood above is what the rest of that paper needs. The network that
was sampled but not linearised is not offered: its predictions underfit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit, ndtr, roots_hermitenorm, roots_legendre

from baselines.density_ratio.covariances import (
    Covariance,
    DiagonalCovariance,
    FunctionSpaceCovariance,
    KroneckerCovariance,
    WeightSpaceCovariance,
)
from baselines.density_ratio.network import Network
from boring.typing import BoolArray, FloatArray

__all__ = [
    "LaplaceClassifier",
    "fit_network",
    "laplace",
    "log_posterior",
    "mean_probability",
]

N_QUADRATURE = 48
WIDE = 2.0


def log_posterior(
    network: Network, theta: FloatArray, X: FloatArray, good: BoolArray, precision: float
) -> tuple[float, FloatArray]:
    """Return log p(z | theta) - delta/2 |theta|^2 and its gradient in theta.

    Parameters
    ----------
    network : Network
    theta : ndarray, shape (P,)
    X : ndarray, shape (n, k)
    good : ndarray of bool, shape (n,)
    precision : float
        delta.
    """
    inputs, slopes, f = network.factors(theta, X)
    residual = good - expit(f)
    value = float(good @ f - np.logaddexp(0.0, f).sum()) - 0.5 * precision * float(theta @ theta)
    pulled = [(a.T @ (residual[:, None] * s)).ravel() for a, s in zip(inputs, slopes, strict=True)]
    return value, np.concatenate(pulled) - precision * theta


def fit_network(
    network: Network,
    X: FloatArray,
    good: BoolArray,
    precision: float,
    start: FloatArray,
    max_iterations: int,
) -> FloatArray:
    """Return theta* by L-BFGS from a start, shape (P,); other parameters as in `log_posterior`."""

    def loss(theta: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = log_posterior(network, theta, X, good, precision)
        return -value, -gradient

    outcome = minimize(
        loss, start, jac=True, method="L-BFGS-B", options={"maxiter": max_iterations}
    )
    return np.asarray(outcome.x, dtype=np.float64)


def mean_probability(mean: FloatArray, variance: FloatArray) -> FloatArray:
    """Return E[1/(1 + exp(-f))] for f normal, shape (m,), by quadrature to 1e-4.

    Over f by Gauss-Hermite where its standard deviation is below 2. Above, where the sigmoid is a
    step to those nodes, over the logistic variable L in P(L < f) by Gauss-Legendre in its
    distribution function.
    """
    sd = np.sqrt(variance)[:, None]
    nodes, weights = roots_hermitenorm(N_QUADRATURE)
    narrow = expit(mean[:, None] + np.minimum(sd, WIDE) * nodes) @ weights / np.sqrt(2.0 * np.pi)
    nodes, weights = roots_legendre(N_QUADRATURE)
    gaps = (mean[:, None] - logit(0.5 + 0.5 * nodes)) / np.maximum(sd, WIDE)
    return np.asarray(np.where(sd[:, 0] < WIDE, narrow, 0.5 * ndtr(gaps) @ weights))


@dataclass(frozen=True, eq=False)
class LaplaceClassifier:
    """The posterior of a classifier; as an acquisition its value grows with E[pi].

    Attributes
    ----------
    network : Network
    theta : ndarray, shape (P,)
    precision : float
        delta.
    covariance : Covariance
    log_evidence : float
        log p(z | delta), with the correction for a theta that is not quite stationary.
    """

    network: Network
    theta: FloatArray
    precision: float
    covariance: Covariance
    log_evidence: float

    def predict(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of the linearised logit, each (m,), at X (m, k)."""
        J, mean = self.network.jacobian(self.theta, X)
        return mean, self._variance(J, self.covariance.apply(J))

    def predict_with_gradient(
        self, X: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return mean and variance, each (m,), and their gradients in x, each (m, k)."""
        J, _ = self.network.jacobian(self.theta, X)
        V = self.covariance.apply(J)
        mean, mean_gradient = self.network.input_gradient(self.theta, X)
        _, half = self.network.tangent_gradient(self.theta, X, V)
        return mean, self._variance(J, V), mean_gradient, 2.0 * half

    def probability(self, X: FloatArray) -> FloatArray:
        """Return E[pi], shape (m,), at X (m, k)."""
        return mean_probability(*self.predict(X))

    def value(self, X: FloatArray) -> FloatArray:
        r"""Return :math:`m/\sqrt{1 + \pi s^2/8}`, whose sigmoid is E[pi] to .02 [MacKay 1992]."""
        mean, variance = self.predict(X)
        return np.asarray(mean / np.sqrt(1.0 + np.pi * variance / 8.0))

    def value_and_gradient(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the value, shape (m,), and its gradient in x, shape (m, k)."""
        mean, variance, mean_gradient, variance_gradient = self.predict_with_gradient(X)
        scale = 1.0 / np.sqrt(1.0 + np.pi * variance / 8.0)
        gradient = scale[:, None] * mean_gradient
        gradient -= (mean * scale**3 * np.pi / 16.0)[:, None] * variance_gradient
        return np.asarray(mean * scale), gradient

    @property
    def evidence_slope(self) -> float:
        """Derivative of the log evidence in log delta, theta* and Lambda held fixed."""
        return 0.5 * (
            self.covariance.n_effective() - self.precision * float(self.theta @ self.theta)
        )

    def _variance(self, J: FloatArray, V: FloatArray) -> FloatArray:
        return np.asarray(np.maximum(np.einsum("ij,ij->i", J, V), 0.0))


def laplace(
    network: Network,
    theta: FloatArray,
    X: FloatArray,
    good: BoolArray,
    precision: float,
    covariance: str = "full",
) -> LaplaceClassifier:
    """Return the Laplace approximation at theta.

    Parameters
    ----------
    network : Network
    theta : ndarray, shape (P,)
    X : ndarray, shape (n, k)
    good : ndarray of bool, shape (n,)
    precision : float
        delta.
    covariance : {"full", "kronecker", "diagonal"}
    """
    probability = expit(network.value(theta, X))
    curvature = probability * (1.0 - probability)
    chosen: Covariance
    if covariance == "kronecker":
        inputs, slopes, _ = network.factors(theta, X)
        chosen = KroneckerCovariance(inputs, slopes, curvature, precision)
    else:
        J, _ = network.jacobian(theta, X)
        if covariance == "diagonal":
            chosen = DiagonalCovariance(J, curvature, precision)
        elif len(X) <= network.n_parameters:
            chosen = FunctionSpaceCovariance(J, curvature, precision)
        else:
            chosen = WeightSpaceCovariance(J, curvature, precision)
    value, gradient = log_posterior(network, theta, X, good, precision)
    # Their eq. 3.3: log p(D, theta*) - log det(H / 2 pi) / 2, + g'H^-1 g / 2 off the maximum.
    evidence = value + 0.5 * network.n_parameters * float(np.log(precision))
    evidence -= 0.5 * chosen.log_determinant()
    evidence += 0.5 * float(gradient @ chosen.apply(gradient[None, :])[0])
    return LaplaceClassifier(network, theta, precision, chosen, evidence)
