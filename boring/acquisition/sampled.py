r"""Expected improvement over draws of the function, for models whose prediction is not normal.

.. math:: \frac1K \sum_k \max(f_k(x) - f^+, 0)

The draws may be the members of an ensemble, the trees of a forest or the networks of a Markov chain
[Aryan, thesis, Victoria University of Wellington 2020, eq. 3.5, there called empirical]. It is zero
where no draw improves, and its gradient with it: the search for its maximum lives on candidates
there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from boring.acquisition.base import (
    Posterior,
    finite_scalar,
    sd_gradient,
    standard_deviation,
)
from boring.typing import FloatArray

__all__ = ["NormalDraws", "SampledExpectedImprovement", "SampledPosterior"]


@runtime_checkable
class SampledPosterior(Protocol):
    """A model that gives K draws of the function, the same ones at every call."""

    def draws(self, X: FloatArray, /) -> FloatArray:
        """Return the draws at the rows of `X` ``(n, D)``, shape ``(K, n)``."""
        ...

    def draws_with_gradient(self, X: FloatArray, /) -> tuple[FloatArray, FloatArray]:
        """Return the draws ``(K, n)`` and their gradients ``(K, n, D)``."""
        ...


@dataclass(frozen=True, eq=False)
class NormalDraws:
    r"""Draws :math:`\mu(x) + \epsilon_k \sigma(x)` of a normal prediction, point by point.

    Parameters
    ----------
    posterior : Posterior
    normals : ndarray, shape (K,)
        :math:`\epsilon_k`, standard normal or their quantiles; kept fixed, so that the average over
        them is a continuous function of x.
    """

    posterior: Posterior
    normals: FloatArray

    def draws(self, X: FloatArray) -> FloatArray:
        """Return the draws at the rows of `X` ``(n, D)``, shape ``(K, n)``."""
        mean, variance = self.posterior.predict(X)
        return mean + self.normals[:, None] * standard_deviation(variance)

    def draws_with_gradient(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the draws ``(K, n)`` and their gradients ``(K, n, D)``."""
        mean, variance, mean_slope, variance_slope = self.posterior.predict_with_gradient(X)
        values = mean + self.normals[:, None] * standard_deviation(variance)
        slope = sd_gradient(variance, variance_slope)
        return values, mean_slope + self.normals[:, None, None] * slope


class SampledExpectedImprovement:
    r"""Improvement over the incumbent, averaged over draws.

    Parameters
    ----------
    posterior : SampledPosterior
    incumbent : float
        :math:`f^+`, in the units of the draws.

    Raises
    ------
    InvalidInputError
        If `incumbent` is not finite.
    """

    def __init__(self, posterior: SampledPosterior, incumbent: float) -> None:
        self.posterior = posterior
        self.incumbent = finite_scalar(incumbent, "incumbent")

    def value(self, X: FloatArray) -> FloatArray:
        """Return the mean improvement ``(n,)`` at the rows of `X` ``(n, D)``."""
        gains = np.maximum(self.posterior.draws(X) - self.incumbent, 0.0)
        return np.asarray(gains.mean(axis=0))

    def value_and_gradient(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the mean improvement ``(n,)`` and its gradient ``(n, D)``."""
        draws, slopes = self.posterior.draws_with_gradient(X)
        gains = draws - self.incumbent
        gradient = np.where((gains > 0.0)[..., None], slopes, 0.0).mean(axis=0)
        return np.asarray(np.maximum(gains, 0.0).mean(axis=0)), np.asarray(gradient)
