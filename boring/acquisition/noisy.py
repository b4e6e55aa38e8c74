r"""Improvement under noise: augmented EI and expected quantile improvement, in log space.

Both know the variance :math:`\tau^2` of the noise of the next observation, and with
:math:`\tau = 0` both are expected improvement. Larger is better, so that the signs of the sources
are turned round. With :math:`h(z) = \phi(z) + z\,\Phi(z)` as in `boring.acquisition.improvement`:

* augmented EI [Huang, Allen, Notz and Zeng, "Global optimization of stochastic black-box systems
  via sequential kriging meta-models", J. Global Optim. 2006, eq. 10 to 12]:
  :math:`\sigma h((\mu - \mu_*)/\sigma)\,(1 - \tau/\sqrt{\sigma^2 + \tau^2})`, with
  :math:`\mu_*` the mean at the *effective best* point, that with the largest
  :math:`\mu - \kappa\sigma` of all that were observed;
* expected quantile improvement [Picheny, Ginsbourger, Richet and Caplin, "Quantile-based
  optimization of noisy computer experiments with tunable precision", Technometrics 2013]: of the
  quantile :math:`q = \mu - \Phi^{-1}(\beta)\,\sigma` after one more observation, which before it is
  normal with

  .. math:: m_Q = \mu - \Phi^{-1}(\beta)\sqrt{\frac{\tau^2\sigma^2}{\sigma^2 + \tau^2}}, \qquad
     s_Q = \frac{\sigma^2}{\sqrt{\sigma^2 + \tau^2}},

  over the largest q of the observed points: :math:`s_Q\,h((m_Q - q_*)/s_Q)`.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from boring.acquisition.base import (
    MINIMUM_VARIANCE,
    Posterior,
    finite_scalar,
    standard_deviation,
)
from boring.acquisition.improvement import LogExpectedImprovement, log_improvement
from boring.exceptions import InvalidInputError
from boring.typing import FloatArray

__all__ = ["LogAugmentedExpectedImprovement", "LogExpectedQuantileImprovement"]

#: kappa of the effective best point [Huang et al. 2006: 1].
DEFAULT_CAUTION = 1.0
#: beta of the quantile [Picheny et al. 2013 try .5 to .9; the larger, the less noise is trusted].
DEFAULT_QUANTILE = 0.9


class LogAugmentedExpectedImprovement:
    r"""Logarithm of the augmented expected improvement.

    Parameters
    ----------
    posterior : Posterior
        Of the latent function being maximised.
    X : ndarray, shape (n, D)
        The observed points, out of which the effective best is taken.
    noise_variance : float, >= 0
        :math:`\tau^2`, in squared units of the posterior's mean.
    caution : float, >= 0, default 1
        :math:`\kappa`.

    Raises
    ------
    InvalidInputError
        If a number is negative or not finite, or there is no observed point.
    """

    def __init__(
        self,
        posterior: Posterior,
        X: FloatArray,
        noise_variance: float,
        caution: float = DEFAULT_CAUTION,
    ) -> None:
        self.noise_variance = _not_negative(noise_variance, "noise_variance")
        mean, lower = _at_observed(posterior, X, _not_negative(caution, "caution"))
        self._improvement = LogExpectedImprovement(posterior, float(mean[np.argmax(lower)]))

    @property
    def incumbent(self) -> float:
        """Mean at the effective best point."""
        return self._improvement.incumbent

    def value(self, X: FloatArray) -> FloatArray:
        """Return log-AEI ``(n,)`` at the rows of `X` ``(n, D)``."""
        _, variance = self._improvement.posterior.predict(X)
        return self._improvement.value(X) + self._log_factor(variance)[0]

    def value_and_gradient(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return log-AEI ``(n,)`` and its gradient ``(n, D)``."""
        value, gradient = self._improvement.value_and_gradient(X)
        _, variance, _, variance_slope = self._improvement.posterior.predict_with_gradient(X)
        factor, slope = self._log_factor(variance)
        return value + factor, gradient + slope[:, None] * variance_slope

    def _log_factor(self, variance: FloatArray) -> tuple[FloatArray, FloatArray]:
        r"""Return log(1 - tau/q), :math:`q^2 = \sigma^2 + \tau^2`, and its slope in the variance.

        Written as log sigma^2 - log q - log(q + tau), in which nothing cancels.
        """
        if self.noise_variance == 0.0:
            return np.zeros_like(variance), np.zeros_like(variance)
        floored = np.maximum(variance, MINIMUM_VARIANCE)
        noise = np.sqrt(self.noise_variance)
        q = np.sqrt(floored + self.noise_variance)
        value = np.log(floored) - np.log(q) - np.log(q + noise)
        slope = 1.0 / floored - 0.5 / q**2 - 0.5 / (q * (q + noise))
        return value, np.where(variance <= MINIMUM_VARIANCE, 0.0, slope)


class LogExpectedQuantileImprovement:
    r"""Logarithm of the expected quantile improvement.

    Parameters
    ----------
    posterior : Posterior
        Of the latent function being maximised.
    X : ndarray, shape (n, D)
        The observed points, over whose largest quantile improvement is counted.
    noise_variance : float, >= 0
        :math:`\tau^2`, in squared units of the posterior's mean.
    quantile : float in [0.5, 1), default 0.9
        :math:`\beta`; larger is more cautious, .5 looks at the mean.

    Raises
    ------
    InvalidInputError
        If a number is out of range, or there is no observed point.
    """

    def __init__(
        self,
        posterior: Posterior,
        X: FloatArray,
        noise_variance: float,
        quantile: float = DEFAULT_QUANTILE,
    ) -> None:
        if not 0.5 <= finite_scalar(quantile, "quantile") < 1.0:
            raise InvalidInputError(f"quantile must lie in [0.5, 1), received {quantile!r}")
        self.posterior = posterior
        self.noise_variance = _not_negative(noise_variance, "noise_variance")
        self._score = float(ndtri(quantile))
        self.incumbent = float(_at_observed(posterior, X, self._score)[1].max())

    def value(self, X: FloatArray) -> FloatArray:
        """Return log-EQI ``(n,)`` at the rows of `X` ``(n, D)``."""
        mean, variance = self.posterior.predict(X)
        shift, spread, _, _ = self._update(variance)
        return np.log(spread) + log_improvement((mean - shift - self.incumbent) / spread)[0]

    def value_and_gradient(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return log-EQI ``(n,)`` and its gradient ``(n, D)``."""
        mean, variance, mean_slope, variance_slope = self.posterior.predict_with_gradient(X)
        shift, spread, shift_slope, spread_slope = self._update(variance)
        log_value, slope, share = log_improvement((mean - shift - self.incumbent) / spread)
        by_variance = (share * spread_slope - slope * shift_slope) / spread
        gradient = (slope / spread)[:, None] * mean_slope + by_variance[:, None] * variance_slope
        return np.log(spread) + log_value, gradient

    def _update(
        self, variance: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return mu - m_Q and s_Q, and the slopes of both in the variance, each (n,)."""
        noise = self.noise_variance
        floored = np.maximum(variance, MINIMUM_VARIANCE)
        total = floored + noise
        shift = self._score * np.sqrt(noise) * np.sqrt(floored / total)
        shift_slope = 0.5 * shift * noise / (floored * total)
        spread = floored / np.sqrt(total)
        spread_slope = (0.5 * floored + noise) / total**1.5
        flat = variance <= MINIMUM_VARIANCE
        return (
            shift,
            standard_deviation(spread**2),
            np.where(flat, 0.0, shift_slope),
            np.where(flat, 0.0, spread_slope),
        )


def _at_observed(
    posterior: Posterior, X: FloatArray, caution: float
) -> tuple[FloatArray, FloatArray]:
    """Return the mean at the observed points, and the mean less some standard deviations."""
    if len(X) == 0:
        raise InvalidInputError("X must hold the observed points, received none")
    mean, variance = posterior.predict(X)
    return mean, mean - caution * standard_deviation(variance)


def _not_negative(value: float, name: str) -> float:
    number = finite_scalar(value, name)
    if number < 0.0:
        raise InvalidInputError(f"{name} must not be negative, received {value!r}")
    return number
