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
from typing import Protocol

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit, ndtr, roots_hermitenorm, roots_legendre

from baselines.density_ratio.network import Network
from boring.models.linalg import cholesky, inverse, log_determinant, solve
from boring.typing import BoolArray, FloatArray

__all__ = [
    "COVARIANCES",
    "Covariance",
    "LaplaceClassifier",
    "fit_network",
    "laplace",
    "log_posterior",
    "mean_probability",
]

N_QUADRATURE = 48
WIDE = 2.0


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


COVARIANCES = ("full", "kronecker", "diagonal")


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
