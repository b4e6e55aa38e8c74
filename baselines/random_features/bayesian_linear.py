r"""Bayesian linear regression on features: :math:`y = \psi(x)'w + e`.

Prior :math:`w \sim N(0, \alpha^{-1} I)`, noise :math:`e \sim N(0, \beta^{-1})`. The primal form
decomposes the p x p matrix :math:`\Psi'\Psi`, the dual the n x n matrix :math:`\Psi\Psi'`; they
agree, and the smaller one is taken. [Bishop, "Pattern recognition and machine learning" 2006,
sections 3.3 and 3.5]
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy.linalg import eigh

from boring.typing import FloatArray

__all__ = ["WeightPosterior", "condition_weights", "evidence_precision", "fixed_precision"]

Form = Literal["primal", "dual", "smaller"]

#: Iterations of the evidence approximation, and the change of log alpha at which it has settled.
MAX_ITERATIONS = 500
TOLERANCE = 1e-8
#: Range of alpha. Values that look like noise alone would carry it to infinity (chosen here).
ALPHA_RANGE = (1e-8, 1e8)


@dataclass(frozen=True, eq=False)
class WeightPosterior:
    """Weights given the data: N(mean, (alpha I + beta Psi'Psi)^-1).

    Attributes
    ----------
    features : ndarray, shape (n, p)
        Psi.
    y : ndarray, shape (n,)
    alpha, beta : float
        Prior and noise precision.
    eigenvalues : ndarray, shape (k,)
        g, of Psi'Psi (primal, k = p) or of Psi Psi' (dual, k = n).
    vectors : ndarray, shape (p, p) or (n, n)
        Their eigenvectors.
    dual : bool
    """

    features: FloatArray
    y: FloatArray
    alpha: float
    beta: float
    eigenvalues: FloatArray
    vectors: FloatArray
    dual: bool

    @property
    def mean(self) -> FloatArray:
        """Posterior mean of the weights, shape (p,): (alpha/beta I + Psi'Psi)^-1 Psi'y."""
        damped = self.alpha / self.beta + self.eigenvalues
        if self.dual:
            return self.features.T @ (self.vectors @ ((self.vectors.T @ self.y) / damped))
        projected = self.vectors.T @ (self.features.T @ self.y)
        return np.asarray(self.vectors @ (projected / damped), dtype=np.float64)

    def covariance_times(self, features: FloatArray) -> FloatArray:
        """Return the weights' covariance times each row of features, shape (m, p)."""
        if self.dual:
            damped = self.alpha / self.beta + self.eigenvalues
            reduced = (features @ self.features.T) @ self.vectors / damped
            return (features - (reduced @ self.vectors.T) @ self.features) / self.alpha
        damped = self.alpha + self.beta * self.eigenvalues
        return np.asarray(((features @ self.vectors) / damped) @ self.vectors.T, dtype=np.float64)

    @property
    def effective_parameters(self) -> float:
        """Gamma, the number of weights that the data determine, sum of l_i / (alpha + l_i)."""
        determined = self.beta * self.eigenvalues
        return float(np.sum(determined / (self.alpha + determined)))

    @property
    def log_evidence(self) -> float:
        """Log density of y under the model [Bishop 2006, eq. 3.86]."""
        n = len(self.y)
        mean = self.mean
        residual = self.y - self.features @ mean
        error = 0.5 * self.beta * float(residual @ residual) + 0.5 * self.alpha * float(mean @ mean)
        # Eigenvalues that the decomposition lacks or has beside the rank are zero and drop out.
        log_determinant = float(np.log1p(self.beta / self.alpha * self.eigenvalues).sum())
        return 0.5 * (n * float(np.log(self.beta / (2.0 * np.pi))) - log_determinant) - error

    @property
    def _numerators(self) -> FloatArray:
        """Return squared coordinates of Psi'y along the eigenvectors of Psi'Psi."""
        if self.dual:
            return np.asarray(self.eigenvalues * (self.vectors.T @ self.y) ** 2, dtype=np.float64)
        return np.asarray((self.vectors.T @ (self.features.T @ self.y)) ** 2, dtype=np.float64)


def condition_weights(
    features: FloatArray, y: FloatArray, alpha: float, beta: float, form: Form = "smaller"
) -> WeightPosterior:
    """Return the posterior of the weights.

    Parameters
    ----------
    features : ndarray, shape (n, p)
    y : ndarray, shape (n,)
    alpha, beta : float
        Prior and noise precision, positive.
    form : {"smaller", "primal", "dual"}
        Which matrix to decompose.
    """
    dual = form == "dual" or (form == "smaller" and len(features) < features.shape[1])
    values, vectors = eigh(features @ features.T if dual else features.T @ features)
    # What is below the accuracy of the decomposition is zero.
    values[values < len(values) * np.finfo(np.float64).eps * values[-1]] = 0.0
    return WeightPosterior(features, y, alpha, beta, values, vectors, dual)


def evidence_precision(posterior: WeightPosterior) -> WeightPosterior:
    """Return the posterior with alpha at a stationary point of the evidence, beta kept.

    Iterates alpha = gamma / m'm [Bishop 2006, eq. 3.92] from the alpha that is given, within
    `ALPHA_RANGE`.
    """
    g, numerators, beta = posterior.eigenvalues, posterior._numerators, posterior.beta
    alpha = posterior.alpha
    for _ in range(MAX_ITERATIONS):
        gamma = float(np.sum(beta * g / (alpha + beta * g)))
        norm = _squared_norm(g, numerators, alpha / beta)
        new = float(np.clip(gamma / norm, *ALPHA_RANGE)) if norm > 0 else ALPHA_RANGE[1]
        settled = abs(np.log(new / alpha)) < TOLERANCE
        alpha = new
        if settled:
            break
    return replace(posterior, alpha=alpha)


def fixed_precision(activation: str, n_weights: int) -> float:
    """Return the alpha that is not learned: alpha^-1/2 = s / sqrt(p), s .02 (relu), .001 (tanh).

    Source: Aryan 2020, ch. 4. The prior standard deviation of f is then about s, of values with
    standard deviation 1.
    """
    spread = 0.02 if activation == "relu" else 0.001
    return n_weights / spread**2


def _squared_norm(g: FloatArray, numerators: FloatArray, ratio: float) -> float:
    return float(np.sum(numerators / (ratio + g) ** 2))
