r"""Information about the optimum, as acquisitions for a Gaussian process.

The next point is the one whose noisy value tells most about the optimum: about where it is, which
is *entropy search*, :math:`I(y; x^*)` [Hennig and Schuler, "Entropy search for
information-efficient global optimization", JMLR 2012; *predictive* entropy search is the same
information with its arguments exchanged, Hernandez-Lobato, Hoffman and Ghahramani, NeurIPS 2014],
or about how large it is, :math:`I(y; f^*)`, *max-value entropy search* [Wang and Jegelka,
"Max-value entropy search for efficient Bayesian optimization", ICML 2017].

Max-value entropy search has a closed form for each draw :math:`f^*_k` of the largest value, with
:math:`\gamma_k = (f^*_k - \mu)/\sigma` [eq. 6]:

.. math:: \frac1K\sum_k \frac{\gamma_k\phi(\gamma_k)}{2\Phi(\gamma_k)} - \log\Phi(\gamma_k).

Entropy search lets the optimum be one of m representer points. With draws :math:`F_s` of the
function there, and innovations :math:`w_s` of the value y at x that belong to them, an observation
:math:`y = \mu + \tau u` turns every draw into :math:`F_s + v(x)(u - w_s)`,
:math:`v(x) = \mathrm{cov}(f_C, f(x))/\tau` (Matheron's rule), and the distribution of the best
representer into p(c | u), the share of the draws that are best at c. With nodes and weights of
Gauss-Hermite quadrature, the acquisition is
:math:`H[\sum_k a_k p(\cdot|u_k)] - \sum_k a_k H[p(\cdot|u_k)]`: a mutual information, never
negative.

**Deviations**

* Both are returned as logarithms: they fall by many powers of ten near the data.
* Draws of the largest value are exact draws of the posterior at candidates and observed points,
  where the paper has random features or a Gumbel distribution fitted to independent ones.
* In entropy search the best of a draw is a softmax over representers with a temperature, so that
  a gradient exists; the paper propagates expectations instead.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import erfcx, log_ndtr, logsumexp, ndtr, softmax

from boring._normal import LOG_SQRT_TWO_PI
from boring.acquisition.base import MINIMUM_VARIANCE, Posterior, sd_gradient, standard_deviation
from boring.exceptions import InvalidInputError
from boring.models.linalg import cholesky, solve_lower
from boring.typing import FloatArray

__all__ = [
    "JointDraws",
    "JointPosterior",
    "LogEntropySearch",
    "LogMaxValueEntropy",
    "draw_jointly",
    "gaussian_mutual_information",
    "log_max_value_gain",
]

#: Beyond these, series in 1/gamma lose less than the subtraction or the quotient.
_SERIES_BELOW = -300.0
_TAIL_ABOVE = 6.0
#: Nodes of the quadrature over the next value (chosen here: 7 and 15 agree to 1 %).
N_NODES = 7
#: Temperature of the softmax, in median standard deviations of a draw over the representers
#: (chosen here; the bias it leaves is in the tests).
TEMPERATURE = 0.05
#: Least gain, nats: the logarithm of a rounding error would be a cliff.
_SMALLEST = 1e-300
#: Points handled at a time in entropy search: temporaries of draws x nodes x representers each.
_CHUNK = 16


@runtime_checkable
class JointPosterior(Posterior, Protocol):
    """A Gaussian posterior that knows how values at two sets of points vary together."""

    def covariance(self, X: FloatArray, others: FloatArray, /) -> FloatArray:
        """Return the covariance (m, k) of f at X (m, D) and at others (k, D)."""
        ...

    def covariance_with_pullback(
        self, X: FloatArray, others: FloatArray, /
    ) -> tuple[FloatArray, Callable[[FloatArray], FloatArray]]:
        """Return it, and a function from weights (m, k) to the gradient (m, D) of its sums."""
        ...


def gaussian_mutual_information(correlation: FloatArray) -> FloatArray:
    r"""Return the mutual information of two normal variables, :math:`-\frac12\log(1-\rho^2)`.

    Parameters
    ----------
    correlation : ndarray, any shape
        In [-1, 1]; at its ends the information is infinite.

    Returns
    -------
    ndarray, same shape
        Nats.

    Raises
    ------
    InvalidInputError
        If a correlation is not in [-1, 1].
    """
    rho = np.asarray(correlation, dtype=np.float64)
    if not np.all(np.abs(rho) <= 1.0):
        raise InvalidInputError(f"correlation must lie in [-1, 1], received {correlation!r}")
    with np.errstate(divide="ignore"):
        return np.asarray(-0.5 * np.log1p(-(rho**2)))


class JointDraws:
    """Draws of a function at points, all together.

    Attributes
    ----------
    points : ndarray, shape (m, D)
    mean : ndarray, shape (m,)
    L : ndarray, shape (m, m)
        Lower factor of the covariance.
    normals : ndarray, shape (S, m)
    values : ndarray, shape (S, m)
        ``mean + normals L'``.
    """

    def __init__(self, posterior: JointPosterior, points: FloatArray, normals: FloatArray) -> None:
        self.points = np.array(points, dtype=np.float64)
        self.mean = posterior.predict(self.points)[0]
        covariance = posterior.covariance(self.points, self.points)
        # Rounding leaves it neither symmetric nor, at observed points, positive.
        covariance = 0.5 * (covariance + covariance.T)
        floor = MINIMUM_VARIANCE + 1e-12 * max(float(covariance.diagonal().max()), 0.0)
        covariance.flat[:: len(covariance) + 1] += floor
        self.L, _ = cholesky(covariance)
        self.normals = normals
        self.values = self.mean + normals @ self.L.T


def draw_jointly(
    posterior: JointPosterior, points: FloatArray, n_draws: int, rng: np.random.Generator
) -> JointDraws:
    """Draw a posterior's function at points.

    Parameters
    ----------
    posterior : JointPosterior
    points : ndarray, shape (m, D)
        Cost grows with the cube of m.
    n_draws : int
    rng : numpy.random.Generator
        Consumed.
    """
    if len(points) == 0 or n_draws < 1:
        raise InvalidInputError(
            f"drawing needs points and at least one draw, received {len(points)} and {n_draws}"
        )
    return JointDraws(posterior, points, rng.standard_normal((n_draws, len(points))))


def log_max_value_gain(gamma: FloatArray) -> tuple[FloatArray, FloatArray]:
    r"""Return log g and its slope, :math:`g = \gamma\phi/(2\Phi) - \log\Phi`.

    Parameters
    ----------
    gamma : ndarray, any shape

    Returns
    -------
    log_value, slope : ndarray, same shape
        Finite for magnitudes up to 1e100.
    """
    gamma = np.asarray(gamma, dtype=np.float64)
    log_value, slope = np.empty_like(gamma), np.empty_like(gamma)
    low, high = gamma < _SERIES_BELOW, gamma > _TAIL_ABOVE
    middle = ~(low | high)

    # g = log(a sqrt(2 pi)) - 1/2 + 2/a^2 - ..., a = -gamma: squares of a cancel.
    a = -gamma[low]
    square = (1.0 / a) ** 2
    value = np.log(a) + LOG_SQRT_TWO_PI - 0.5 + 2.0 * square
    log_value[low] = np.log(value)
    slope[low] = (-1.0 + 4.0 * square) / a / value

    g = gamma[middle]
    scaled = erfcx(-g / np.sqrt(2.0))
    ratio = np.sqrt(2.0 / np.pi) / scaled
    value = 0.5 * g * ratio - log_ndtr(g)
    log_value[middle] = np.log(value)
    slope[middle] = -0.5 * ratio * (1.0 + g * (g + ratio)) / value

    # Both parts are tiny: phi / Phi is taken out of them, and -log Phi = t + t^2 / 2, t = 1 - Phi.
    g = np.minimum(gamma[high], 1e100)
    log_ratio = -0.5 * g * g - LOG_SQRT_TWO_PI - log_ndtr(g)
    mills = np.sqrt(0.5 * np.pi) * erfcx(g / np.sqrt(2.0))
    share = 0.5 * g + ndtr(g) * mills * (1.0 + 0.5 * ndtr(-g))
    log_value[high] = log_ratio + np.log(share)
    slope[high] = -0.5 * (1.0 + g * (g + np.exp(log_ratio))) / share
    return log_value, slope


class LogMaxValueEntropy:
    r"""Logarithm of the information about the largest value, max-value entropy search.

    Parameters
    ----------
    posterior : Posterior
        Of the latent function being maximised.
    maxima : ndarray, shape (K,)
        Draws of the largest value, in the units of the posterior's mean. The next value counts as
        free of noise, as in the paper's closed form.

    Raises
    ------
    InvalidInputError
        If there is no draw, or one is not finite.
    """

    def __init__(self, posterior: Posterior, maxima: FloatArray) -> None:
        self.posterior = posterior
        self.maxima = np.array(maxima, dtype=np.float64).ravel()
        if self.maxima.size == 0 or not np.all(np.isfinite(self.maxima)):
            raise InvalidInputError(
                f"maxima must be finite draws of the largest value, received {maxima!r}"
            )

    def value(self, X: FloatArray) -> FloatArray:
        """Return the log information ``(n,)``, log nats, at the rows of `X` ``(n, D)``."""
        mean, variance = self.posterior.predict(X)
        gamma = (self.maxima - mean[:, None]) / standard_deviation(variance)[:, None]
        return self._averaged(log_max_value_gain(gamma)[0])

    def value_and_gradient(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the log information ``(n,)`` and its gradient ``(n, D)``."""
        mean, variance, mean_slope, variance_slope = self.posterior.predict_with_gradient(X)
        sd = standard_deviation(variance)[:, None]
        gamma = (self.maxima - mean[:, None]) / sd
        logs, slopes = log_max_value_gain(gamma)
        total = self._averaged(logs)
        shares = softmax(logs, axis=1) * slopes
        gradient = -(shares / sd).sum(axis=1)[:, None] * mean_slope
        by_sd = -(shares * gamma / sd).sum(axis=1)[:, None]
        return total, gradient + by_sd * sd_gradient(variance, variance_slope)

    def _averaged(self, logs: FloatArray) -> FloatArray:
        return np.asarray(logsumexp(logs, axis=1) - np.log(len(self.maxima)), dtype=np.float64)


class LogEntropySearch:
    r"""Logarithm of the information about which representer point is best.

    Parameters
    ----------
    posterior : JointPosterior
        Of the latent function being maximised.
    draws : JointDraws
        At the m representers; S draws.
    extra : ndarray, shape (S,)
        Standard normals, one a draw: the part of the next value that the representers leave open.
    noise_variance : float, >= 0
        Of the next value.
    temperature : float, > 0, default 0.05
        Of the softmax, in median standard deviations of a draw over the representers.

    Raises
    ------
    InvalidInputError
        If shapes disagree or a number is out of range.
    """

    def __init__(
        self,
        posterior: JointPosterior,
        draws: JointDraws,
        extra: FloatArray,
        noise_variance: float,
        temperature: float = TEMPERATURE,
    ) -> None:
        if np.shape(extra) != (len(draws.values),):
            raise InvalidInputError(
                f"extra must hold one number a draw, {len(draws.values)}; received shape "
                f"{np.shape(extra)}"
            )
        if not (noise_variance >= 0 and temperature > 0):
            raise InvalidInputError(
                "noise_variance must be at least 0 and temperature positive; received "
                f"{noise_variance!r} and {temperature!r}"
            )
        self.posterior = posterior
        self.draws = draws
        self.extra = np.asarray(extra, dtype=np.float64)
        self.noise_variance = float(noise_variance)
        spread = float(np.median(np.std(draws.values, axis=0)))
        self.temperature = float(temperature) * max(spread, np.sqrt(MINIMUM_VARIANCE))
        nodes, weights = np.polynomial.hermite_e.hermegauss(N_NODES)
        self._nodes, self._weights = nodes, weights / weights.sum()

    def value(self, X: FloatArray) -> FloatArray:
        """Return the log information ``(n,)``, log nats, at the rows of `X` ``(n, D)``."""
        gains = []
        for rows in _chunks(len(X)):
            covariance = self.posterior.covariance(X[rows], self.draws.points)
            variance = self.posterior.predict(X[rows])[1]
            gains.append(self._gain(covariance, variance, slopes=False)[0])
        return np.log(np.maximum(np.concatenate(gains), _SMALLEST))

    def value_and_gradient(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the log information ``(n,)`` and its gradient ``(n, D)``."""
        values, gradients = [], []
        for rows in _chunks(len(X)):
            here = X[rows]
            covariance, pullback = self.posterior.covariance_with_pullback(here, self.draws.points)
            _, variance, _, variance_slope = self.posterior.predict_with_gradient(here)
            gain, by_covariance, by_variance = self._gain(covariance, variance, slopes=True)
            floored = np.maximum(gain, _SMALLEST)
            gradient = pullback(by_covariance) + by_variance[:, None] * variance_slope
            gradient = np.where((gain > _SMALLEST)[:, None], gradient / floored[:, None], 0.0)
            values.append(np.log(floored))
            gradients.append(gradient)
        return np.concatenate(values), np.concatenate(gradients)

    def _gain(
        self, covariance: FloatArray, variance: FloatArray, *, slopes: bool
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the information (n,), and its slopes in the covariance (n, m) and variance."""
        L, normals = self.draws.L, self.draws.normals
        tau2 = np.maximum(variance + self.noise_variance, MINIMUM_VARIANCE)
        tau = np.sqrt(tau2)[:, None]
        v = covariance / tau  # (n, m)
        b = solve_lower(L, np.asfortranarray(v.T)).T  # of the innovation on the normals
        left = np.maximum(1.0 - np.einsum("nm,nm->n", b, b), 0.0)
        rest = np.sqrt(left)
        innovation = b @ normals.T + rest[:, None] * self.extra  # (n, S)
        move = self._nodes - innovation[:, :, None]  # (n, S, k)
        after = self.draws.values[:, None, :] + move[..., None] * v[:, None, None, :]
        after /= self.temperature
        after -= after.max(axis=-1, keepdims=True)
        share = np.exp(after, out=after)  # (n, S, k, m)
        share /= share.sum(axis=-1, keepdims=True)
        p = share.mean(axis=1)  # (n, k, m)
        mean = np.einsum("k,nkm->nm", self._weights, p)
        log_p, log_mean = _safe_log(p), _safe_log(mean)
        gain = np.einsum("k,nkm->n", self._weights, p * (log_p - log_mean[:, None, :]))
        if not slopes:
            return gain, covariance, variance
        # d gain / d p is a_k (log p - log mean); the terms of the normalisation sum to zero.
        dp = self._weights[:, None] * (log_p - log_mean[:, None, :])
        inner = np.einsum("nskm,nkm->nsk", share, dp)
        ds = share
        ds *= dp[:, None] - inner[..., None]
        ds /= self.temperature * len(normals)  # with respect to `after`, in the units of f
        dv = np.einsum("nskm,nsk->nm", ds, move)
        dw = -np.einsum("nskm,nm->ns", ds, v)
        usable = left > 1e-12
        to_rest = np.where(usable, -(dw @ self.extra) / np.where(usable, rest, 1.0), 0.0)
        db = dw @ normals + to_rest[:, None] * b
        dv += solve_triangular(L, db.T, lower=True, trans="T").T
        by_tau2 = -0.5 * np.einsum("nm,nm->n", dv, v) / tau2
        by_tau2 = np.where(tau2 > MINIMUM_VARIANCE, by_tau2, 0.0)
        return gain, dv / tau, by_tau2


def _safe_log(p: FloatArray) -> FloatArray:
    return np.log(np.maximum(p, _SMALLEST))


def _chunks(n: int) -> list[slice]:
    return [slice(first, first + _CHUNK) for first in range(0, n, _CHUNK)]
