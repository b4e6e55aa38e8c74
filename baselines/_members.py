"""Surrogates that predict by many members or by a mixture, and their expected improvement.

An *ensemble* gives N equally likely outputs at each x; a *mixture* gives K normal densities
whose log weights, means and variances depend on x. Both have moments, so that acquisitions made
for Gaussian processes apply, and both have an improvement of their own that needs no Gaussian
approximation.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy.special import logsumexp

from boring.acquisition.base import finite_scalar
from boring.acquisition.improvement import log_improvement
from boring.typing import FloatArray

__all__ = [
    "ComponentPredictor",
    "EmpiricalExpectedImprovement",
    "EnsemblePosterior",
    "LogMixtureImprovement",
    "MemberPosterior",
    "MixturePosterior",
    "ProjectedPosterior",
]


class MemberPosterior(Protocol):
    """A model with N equally likely outputs."""

    def members(self, X: FloatArray, /) -> FloatArray:
        """Return the outputs (n, N) at X (n, D)."""
        ...

    def members_with_gradient(self, X: FloatArray, /) -> tuple[FloatArray, FloatArray]:
        """Return the outputs (n, N) and their gradients (n, N, D)."""
        ...


class ComponentPredictor(Protocol):
    """A model that predicts a mixture of normal densities."""

    def components(self, X: FloatArray, /) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return log weights, means and variances, each (n, K), at X (n, D)."""
        ...

    def components_with_gradient(
        self, X: FloatArray, /
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return the components, and gradients (n, K, D) of log weights and of means."""
        ...


class EnsemblePosterior(ABC):
    """Moments of N equally likely outputs: their mean and their variance (divided by N)."""

    @abstractmethod
    def members(self, X: FloatArray) -> FloatArray:
        """Return the outputs (n, N) at X (n, D)."""

    @abstractmethod
    def members_with_gradient(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the outputs (n, N) and their gradients (n, N, D)."""

    def predict(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of the members, each (n,), at X (n, D)."""
        outputs = self.members(X)
        return outputs.mean(axis=1), outputs.var(axis=1)

    def predict_with_gradient(
        self, X: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return mean, variance and their gradients (n, D)."""
        outputs, slopes = self.members_with_gradient(X)
        centred = outputs - outputs.mean(axis=1, keepdims=True)
        variance_slope = 2.0 / outputs.shape[1] * np.einsum("nm,nmd->nd", centred, slopes)
        return outputs.mean(axis=1), outputs.var(axis=1), slopes.mean(axis=1), variance_slope


class MixturePosterior(ABC):
    """Moments of a mixture of normal densities whose weights and means depend on x.

    Variances of components are constants of x; those of the mixture are not.
    """

    @abstractmethod
    def components(self, X: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return log weights, means and variances, each (n, K); weights sum to 1."""

    @abstractmethod
    def components_with_gradient(
        self, X: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return the components, and gradients (n, K, D) of log weights and of means."""

    def predict(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of the mixture, each (n,), at X (n, D)."""
        log_weights, means, variances = self.components(X)
        weights = np.exp(log_weights)
        mean = (weights * means).sum(axis=1)
        return mean, (weights * (variances + (means - mean[:, None]) ** 2)).sum(axis=1)

    def predict_with_gradient(
        self, X: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return mean, variance and their gradients (n, D)."""
        log_weights, means, variances, weight_slopes, mean_slopes = self.components_with_gradient(X)
        weights = np.exp(log_weights)
        mean = (weights * means).sum(axis=1)
        centred = means - mean[:, None]
        spread = variances + centred**2
        mean_slope = np.einsum("nk,nkd->nd", weights * means, weight_slopes)
        mean_slope += np.einsum("nk,nkd->nd", weights, mean_slopes)
        # The mean's own slope drops out of the variance's, since weighted deviations sum to 0.
        variance_slope = np.einsum("nk,nkd->nd", weights * spread, weight_slopes)
        variance_slope += 2.0 * np.einsum("nk,nkd->nd", weights * centred, mean_slopes)
        return mean, (weights * spread).sum(axis=1), mean_slope, variance_slope

    def log_density(self, X: FloatArray, y: FloatArray) -> FloatArray:
        """Return log p(y_i | x_i), shape (n,)."""
        log_weights, means, variances = self.components(X)
        residual = y[:, None] - means
        logs = log_weights - 0.5 * (residual**2 / variances + np.log(2.0 * np.pi * variances))
        return np.asarray(logsumexp(logs, axis=1), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class ProjectedPosterior:
    """A posterior over z = x W, as one over x.

    Parameters
    ----------
    inner : Posterior
        Over z; its members or components are passed on if it has any.
    W : ndarray, shape (D, d)
    """

    inner: Any
    W: FloatArray

    def predict(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance, each (n,), at X (n, D)."""
        mean, variance = self.inner.predict(X @ self.W)
        return mean, variance

    def predict_with_gradient(
        self, X: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return mean, variance and their gradients (n, D) in x."""
        mean, variance, mean_slope, variance_slope = self.inner.predict_with_gradient(X @ self.W)
        return mean, variance, mean_slope @ self.W.T, variance_slope @ self.W.T

    def members(self, X: FloatArray) -> FloatArray:
        """Return the members' outputs (n, N)."""
        outputs: FloatArray = self.inner.members(X @ self.W)
        return outputs

    def members_with_gradient(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the members' outputs (n, N) and gradients (n, N, D)."""
        outputs, slopes = self.inner.members_with_gradient(X @ self.W)
        return outputs, slopes @ self.W.T

    def components(self, X: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return log weights, means and variances of the components, each (n, K)."""
        log_weights, means, variances = self.inner.components(X @ self.W)
        return log_weights, means, variances

    def components_with_gradient(
        self, X: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return the components, and gradients (n, K, D) of log weights and means."""
        *parts, weight_slopes, mean_slopes = self.inner.components_with_gradient(X @ self.W)
        log_weights, means, variances = parts
        return log_weights, means, variances, weight_slopes @ self.W.T, mean_slopes @ self.W.T


class EmpiricalExpectedImprovement:
    """Mean improvement of an ensemble's members over the incumbent.

    Parameters
    ----------
    posterior : MemberPosterior
    incumbent : float
        In the units of the members.

    Notes
    -----
    Exactly 0, without a direction, where no member improves [Aryan, PhD thesis, Victoria
    University of Wellington 2020, ch. 3]; elsewhere smooth but for a kink wherever a member
    reaches the incumbent.
    """

    def __init__(self, posterior: MemberPosterior, incumbent: float) -> None:
        self.posterior = posterior
        self.incumbent = finite_scalar(incumbent, "incumbent")

    def value(self, X: FloatArray) -> FloatArray:
        """Return the mean improvement (n,) at X (n, D)."""
        gain = np.maximum(self.posterior.members(X) - self.incumbent, 0.0)
        return np.asarray(gain.mean(axis=1), dtype=np.float64)

    def value_and_gradient(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the mean improvement (n,) and its gradient (n, D)."""
        outputs, slopes = self.posterior.members_with_gradient(X)
        gain = np.maximum(outputs - self.incumbent, 0.0)
        slope = np.einsum("nm,nmd->nd", (gain > 0).astype(np.float64), slopes)
        return gain.mean(axis=1), slope / outputs.shape[1]


class LogMixtureImprovement:
    r"""Exact log-EI of a mixture, :math:`\log\sum_k w_k(x)\,\mathrm{EI}(\mu_k(x), s_k)`.

    EI is linear in the predictive density, so no Gaussian approximation is needed.

    Parameters
    ----------
    posterior : ComponentPredictor
    incumbent : float
        In the units of the means.
    """

    def __init__(self, posterior: ComponentPredictor, incumbent: float) -> None:
        self.posterior = posterior
        self.incumbent = finite_scalar(incumbent, "incumbent")

    def value(self, X: FloatArray) -> FloatArray:
        """Return log-EI (n,) at X (n, D)."""
        log_weights, means, variances = self.posterior.components(X)
        sd = np.sqrt(variances)
        logs = log_weights + np.log(sd) + log_improvement((means - self.incumbent) / sd)[0]
        return np.asarray(logsumexp(logs, axis=1), dtype=np.float64)

    def value_and_gradient(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return log-EI (n,) and its gradient (n, D)."""
        log_weights, means, variances, weight_slopes, mean_slopes = (
            self.posterior.components_with_gradient(X)
        )
        sd = np.sqrt(variances)
        log_value, slope, _ = log_improvement((means - self.incumbent) / sd)
        logs = log_weights + np.log(sd) + log_value
        total = np.asarray(logsumexp(logs, axis=1), dtype=np.float64)
        shares = np.exp(logs - total[:, None])
        gradient = np.einsum("nk,nkd->nd", shares, weight_slopes)
        gradient += np.einsum("nk,nkd->nd", shares * slope / sd, mean_slopes)
        return total, gradient
