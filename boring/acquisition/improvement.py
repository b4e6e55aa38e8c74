r"""Improvement over the incumbent, in log space so that nothing underflows.

With :math:`z = (\mu - f^+) / \sigma`, density :math:`\phi` and distribution :math:`\Phi`,

* probability of improvement: :math:`\Phi(z)`;
* expected improvement: :math:`\sigma\,h(z)` with :math:`h(z) = \phi(z) + z\,\Phi(z)`
  [thesis eq. 1.8-1.10, where the plus sign is missing].

Plain EI is exactly zero in double precision for z < -38, which leaves a gradient method
without a direction nearly everywhere once the optimum is known well. The logarithm is
smooth there [Ament et al., "Unexpected improvements to expected improvement for Bayesian
optimization", NeurIPS 2023].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import erfcx, logsumexp, ndtr

from boring._normal import LOG_SQRT_TWO_PI, log_probability
from boring.acquisition.base import (
    Acquisition,
    Posterior,
    finite_scalar,
    sd_gradient,
    standard_deviation,
)
from boring.exceptions import InvalidInputError
from boring.typing import FloatArray

__all__ = [
    "LogExpectedImprovement",
    "LogImprovementMixture",
    "LogProbabilityAbove",
    "LogProbabilityOfImprovement",
    "log_improvement",
    "log_probability",
]

#: Below this z the subtraction 1 - |z| m(|z|) loses more digits than the asymptotic series
#: of the Mills ratio m truncates: both errors are about 2e-13 (relative) at z = -30.
_ASYMPTOTIC_BELOW = -30.0
#: Above this z the sum phi(z) + z Phi(z) is computed as it stands.
_DIRECT_ABOVE = -1.0
#: z^2 (1 - |z| m(|z|)) = 1 - 3/z^2 + 15/z^4 - 105/z^6 + 945/z^8 - 10395/z^10 + ...
_SERIES = (1.0, -3.0, 15.0, -105.0, 945.0, -10395.0)


def log_improvement(z: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    r"""Return log h(z), its slope, and the share of the density in h(z).

    Parameters
    ----------
    z : ndarray, any shape
        Standardised improvement; magnitudes from 1e-100 to 1e100 are served.

    Returns
    -------
    log_value : ndarray
        :math:`\log h(z)`, with :math:`h(z) = \phi(z) + z\Phi(z)`.
    slope : ndarray
        :math:`\Phi(z)/h(z)`, the derivative of ``log_value``.
    density_share : ndarray
        :math:`\phi(z)/h(z) = 1 - z\,\Phi(z)/h(z)`, the derivative of
        :math:`\log(\sigma h(d/\sigma))` in :math:`\log\sigma`.
    """
    z = np.asarray(z, dtype=np.float64)
    log_value, slope, share = np.full_like(z, np.nan), np.full_like(z, np.nan), np.zeros_like(z)
    share[np.isnan(z)] = np.nan

    for inside, formula in (
        (z > _DIRECT_ABOVE, _direct),
        ((z <= _DIRECT_ABOVE) & (z > _ASYMPTOTIC_BELOW), _by_mills_ratio),
        (z <= _ASYMPTOTIC_BELOW, _by_series),
    ):
        if inside.any():
            log_value[inside], slope[inside], share[inside] = formula(z[inside])
    return log_value, slope, share


def _direct(z: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return what :func:`log_improvement` does, from phi(z) + z Phi(z) as it stands."""
    density = np.exp(-0.5 * np.minimum(np.abs(z), 1e3) ** 2 - LOG_SQRT_TWO_PI)
    cumulative = ndtr(z)
    h = density + z * cumulative
    return np.log(h), cumulative / h, density / h


def _by_mills_ratio(z: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the same of z < 0, where phi(z) + z Phi(z) would underflow."""
    a = -z
    mills = np.sqrt(0.5 * np.pi) * erfcx(a / np.sqrt(2.0))  # Phi(z) / phi(z)
    rest = 1.0 - a * mills  # h(z) / phi(z)
    return -0.5 * a * a - LOG_SQRT_TWO_PI + np.log(rest), mills / rest, 1.0 / rest


def _by_series(z: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the same of z far below 0, where 1 - |z| m(|z|) loses its digits."""
    a = -z
    mills = np.sqrt(0.5 * np.pi) * erfcx(a / np.sqrt(2.0))
    series = np.polynomial.polynomial.polyval((1.0 / a) ** 2, _SERIES)
    log_value = -0.5 * a * a - LOG_SQRT_TWO_PI - 2.0 * np.log(a) + np.log(series)
    return log_value, a * (a * mills) / series, a * a / series


class LogExpectedImprovement:
    r"""Logarithm of the expected improvement :math:`E[\max(f(x) - f^+, 0)]`.

    Parameters
    ----------
    posterior : Posterior
        Model of the function being maximised.
    incumbent : float
        :math:`f^+`, in the units of the posterior's mean (the model's standardised or
        warped units, if it has any).

    Raises
    ------
    InvalidInputError
        If `incumbent` is not finite.
    """

    def __init__(self, posterior: Posterior, incumbent: float) -> None:
        self.posterior = posterior
        self.incumbent = finite_scalar(incumbent, "incumbent")

    def value(self, X: FloatArray) -> FloatArray:
        """Return log-EI ``(n,)`` at the rows of `X` ``(n, D)``."""
        mean, variance = self.posterior.predict(X)
        sd = standard_deviation(variance)
        return np.log(sd) + log_improvement((mean - self.incumbent) / sd)[0]

    def value_and_gradient(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return log-EI ``(n,)`` and its gradient ``(n, D)``."""
        mean, variance, mean_slope, variance_slope = self.posterior.predict_with_gradient(X)
        sd = standard_deviation(variance)
        log_value, slope, share = log_improvement((mean - self.incumbent) / sd)
        gradient = (slope / sd)[:, None] * mean_slope
        gradient += (share / sd)[:, None] * sd_gradient(variance, variance_slope)
        return np.log(sd) + log_value, gradient


@dataclass(frozen=True, eq=False)
class LogProbabilityAbove:
    """Log probability that a Gaussian latent function, plus noise, exceeds a threshold.

    Attributes
    ----------
    posterior : Posterior
    threshold : float
    extra_variance : float
        Of the noise; 1 makes it the prediction of a probit classifier.
    """

    posterior: Posterior
    threshold: float = 0.0
    extra_variance: float = 0.0

    def value(self, X: FloatArray) -> FloatArray:
        """Return the log probability ``(n,)`` at the rows of `X` ``(n, D)``."""
        mean, variance = self.posterior.predict(X)
        sd = standard_deviation(variance + self.extra_variance)
        return log_probability((mean - self.threshold) / sd)[0]

    def value_and_gradient(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the log probability ``(n,)`` and its gradient ``(n, D)``."""
        mean, variance, mean_slope, variance_slope = self.posterior.predict_with_gradient(X)
        variance = variance + self.extra_variance
        sd = standard_deviation(variance)
        z = (mean - self.threshold) / sd
        log_value, slope = log_probability(z)
        gradient = (slope / sd)[:, None] * mean_slope
        gradient -= (slope * z / sd)[:, None] * sd_gradient(variance, variance_slope)
        return log_value, gradient


class LogProbabilityOfImprovement(LogProbabilityAbove):
    r"""Logarithm of the probability that :math:`f(x) \ge f^+ + \text{margin}`.

    Parameters
    ----------
    posterior : Posterior
    incumbent : float
        In the units of the posterior's mean.
    margin : float, default 0
        Least improvement that counts, same units. Without one the maximiser tends to
        creep around the incumbent [thesis section 1.3.2].

    Raises
    ------
    InvalidInputError
        If `incumbent` or `margin` is not finite.
    """

    def __init__(self, posterior: Posterior, incumbent: float, margin: float = 0.0) -> None:
        threshold = finite_scalar(incumbent, "incumbent") + finite_scalar(margin, "margin")
        super().__init__(posterior, threshold)


class LogImprovementMixture:
    r"""Logarithm of a weighted sum of improvements, :math:`\log\sum_k w_k \exp a_k(x)`.

    Each member is a log acquisition with its own posterior and incumbent. The members must
    share the units of the objective (the same warp and standardisation), otherwise their
    sum has no meaning.

    Parameters
    ----------
    members : sequence of Acquisition
        Log acquisitions, for example :class:`LogExpectedImprovement`.
    weights : sequence of float, optional
        Non-negative with a positive sum, used as given (not normalised); default all one.

    Raises
    ------
    InvalidInputError
        If there is no member, or the weights do not match.
    """

    def __init__(
        self, members: Sequence[Acquisition], weights: Sequence[float] | None = None
    ) -> None:
        if not members:
            raise InvalidInputError("a mixture needs at least one member, received none")
        given = np.ones(len(members)) if weights is None else np.asarray(weights, dtype=float)
        valid = given.shape == (len(members),) and np.all(np.isfinite(given))
        if not valid or np.any(given < 0.0) or given.sum() <= 0.0:
            raise InvalidInputError(
                f"weights must be {len(members)} finite non-negative numbers with a positive "
                f"sum, received {weights!r}"
            )
        kept = np.flatnonzero(given > 0.0)
        self.members = tuple(members[int(k)] for k in kept)
        self.weights = given[kept]

    def value(self, X: FloatArray) -> FloatArray:
        """Return the log of the weighted sum ``(n,)`` at the rows of `X` ``(n, D)``."""
        values = np.stack([member.value(X) for member in self.members])
        return np.asarray(
            logsumexp(values + np.log(self.weights)[:, None], axis=0), dtype=np.float64
        )

    def value_and_gradient(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the log of the weighted sum ``(n,)`` and its gradient ``(n, D)``."""
        pairs = [member.value_and_gradient(X) for member in self.members]
        values = np.stack([value for value, _ in pairs]) + np.log(self.weights)[:, None]
        total = np.asarray(logsumexp(values, axis=0), dtype=np.float64)
        shares = np.exp(values - np.where(np.isfinite(total), total, 0.0))
        gradient = np.zeros_like(pairs[0][1])
        for share, (_, slope) in zip(shares, pairs, strict=True):
            gradient += np.where(share[:, None] == 0.0, 0.0, share[:, None] * slope)
        return total, gradient
