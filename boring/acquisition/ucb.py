r"""Upper confidence bounds :math:`\mu(x) + \beta\sigma(x)` and schedules for beta.

Here ``beta`` multiplies the standard deviation itself [thesis eq. 1.7]; the literature on
GP-UCB writes :math:`\sqrt{\beta_t}` for the same factor, so every schedule below returns
the square root of that paper's :math:`\beta_t`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from boring.acquisition.base import (
    ComponentPosterior,
    GradientComponentPosterior,
    Posterior,
    sd_gradient,
    standard_deviation,
)
from boring.exceptions import InvalidInputError
from boring.typing import FloatArray

__all__ = [
    "AdditiveUpperConfidenceBound",
    "BetaSchedule",
    "ConstantBeta",
    "FiniteGpUcbBeta",
    "GpUcbBeta",
    "GroupBeta",
    "LowerConfidenceBound",
    "UpperConfidenceBound",
]

#: The thesis asks for a constant beta > 0 and prints no value; 2 spans the 95 % band of a
#: normal posterior (chosen here).
DEFAULT_BETA = 2.0
#: Probability that a GP-UCB bound may fail; the value in REMBO's published code.
DEFAULT_DELTA = 0.1
#: Step of central differences in scaled units, near the cube root of the round-off.
DIFFERENCE_STEP = 1e-5


class BetaSchedule(Protocol):
    """A factor on the posterior standard deviation for each round."""

    def __call__(self, t: int, /) -> float:
        """Return beta in round `t` (1 for the first)."""
        ...


@dataclass(frozen=True, slots=True)
class ConstantBeta:
    """The same beta in every round [thesis eq. 1.7].

    Parameters
    ----------
    beta : float, >= 0, default 2
    """

    beta: float = DEFAULT_BETA

    def __post_init__(self) -> None:
        _check_beta(self.beta)

    def __call__(self, t: int) -> float:
        """Return beta, whatever `t`."""
        _check_round(t)
        return self.beta


@dataclass(frozen=True, slots=True)
class FiniteGpUcbBeta:
    r"""GP-UCB over finitely many candidates.

    :math:`\beta_t = 2\log(|\mathcal{X}|\,t^2\pi^2 / (6\delta))`, of which the square root is
    returned [Srinivas et al., "Gaussian process optimization in the bandit setting",
    ICML 2010, theorem 1].

    Parameters
    ----------
    n_candidates : int, >= 1
    delta : float in (0, 1), default 0.1
        Probability with which some bound in some round may fail.
    """

    n_candidates: int
    delta: float = DEFAULT_DELTA

    def __post_init__(self) -> None:
        _check_positive(self.n_candidates, "n_candidates")
        _check_delta(self.delta)

    def __call__(self, t: int) -> float:
        """Return the factor on the standard deviation in round `t`."""
        _check_round(t)
        logarithm = np.log(self.n_candidates) + 2.0 * np.log(t)
        return float(np.sqrt(2.0 * (logarithm + np.log(np.pi**2 / (6.0 * self.delta)))))


@dataclass(frozen=True, slots=True)
class GpUcbBeta:
    r"""GP-UCB over a box, growing with the dimension.

    :math:`\beta_t = 2\log(t^{d/2+2}\pi^2 / (3\delta))`, of which the square root is returned
    [Brochu, Cora and de Freitas, arXiv 1012.2599, section 2.3; REMBO's published code].

    Parameters
    ----------
    dim : int, >= 1
        Dimension d of the space that is searched.
    delta : float in (0, 1), default 0.1
    """

    dim: int
    delta: float = DEFAULT_DELTA

    def __post_init__(self) -> None:
        _check_positive(self.dim, "dim")
        _check_delta(self.delta)

    def __call__(self, t: int) -> float:
        """Return the factor on the standard deviation in round `t`."""
        _check_round(t)
        logarithm = (0.5 * self.dim + 2.0) * np.log(t) + np.log(np.pi**2 / (3.0 * self.delta))
        return float(np.sqrt(2.0 * logarithm))


@dataclass(frozen=True, slots=True)
class GroupBeta:
    r"""The milder schedule of additive GP-UCB.

    :math:`\beta_t = d_j\log(2t)/5` for a group of :math:`d_j` coordinates, of which the
    square root is returned [Kandasamy et al., "High dimensional Bayesian optimisation and
    bandits via additive models", ICML 2015, section 4].

    Parameters
    ----------
    dim : int, >= 1
        Dimension of the (largest) group.
    """

    dim: int

    def __post_init__(self) -> None:
        _check_positive(self.dim, "dim")

    def __call__(self, t: int) -> float:
        """Return the factor on the standard deviation in round `t`."""
        _check_round(t)
        return float(np.sqrt(0.2 * self.dim * np.log(2.0 * t)))


class _ConfidenceBound:
    """The mean plus or minus beta standard deviations; `sign` says which."""

    sign: ClassVar[float]

    def __init__(self, posterior: Posterior, beta: float = DEFAULT_BETA) -> None:
        self.posterior = posterior
        self.beta = _check_beta(beta)

    def value(self, X: FloatArray) -> FloatArray:
        """Return the bound ``(n,)`` at the rows of `X` ``(n, D)``."""
        mean, variance = self.posterior.predict(X)
        return mean + self.sign * self.beta * standard_deviation(variance)

    def value_and_gradient(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the bound ``(n,)`` and its gradient ``(n, D)``."""
        mean, variance, mean_slope, variance_slope = self.posterior.predict_with_gradient(X)
        sd, factor = standard_deviation(variance), self.sign * self.beta
        return mean + factor * sd, mean_slope + factor * sd_gradient(variance, variance_slope)


class UpperConfidenceBound(_ConfidenceBound):
    r"""The bound :math:`\mu(x) + \beta\sigma(x)`, with the exact posterior of the sum.

    Parameters
    ----------
    posterior : Posterior
    beta : float, >= 0, default 2
        Factor on the standard deviation (not its square).

    Raises
    ------
    InvalidInputError
        If `beta` is negative or not finite.
    """

    sign = 1.0


class LowerConfidenceBound(_ConfidenceBound):
    r"""The bound :math:`\mu(x) - \beta\sigma(x)`: what a point is worth at least.

    Its maximum is a cautious step, along directions in which the model knows the function.

    Parameters
    ----------
    posterior : Posterior
    beta : float, >= 0, default 2
        Factor on the standard deviation (not its square).

    Raises
    ------
    InvalidInputError
        If `beta` is negative or not finite.
    """

    sign = -1.0


class AdditiveUpperConfidenceBound:
    r"""The bound :math:`\sum_j \mu_j(x) + \beta\sum_j\sigma_j(x)` over an additive model.

    An **upper bound** on :class:`UpperConfidenceBound`, not equal to it: standard deviations
    of the summands are added as if the summands were perfectly correlated, while the exact
    standard deviation of their sum is never larger. It explores more, and by how much
    depends on how the model splits the function [thesis eq. 4.4, 4.5].

    Parameters
    ----------
    posterior : ComponentPosterior
    beta : float, >= 0, default 2

    Raises
    ------
    InvalidInputError
        If `beta` is negative or not finite.

    Notes
    -----
    **Deviation**: the thesis maximises each summand over its own coordinates. In rotated
    coordinates the box is a polytope, and the group-wise maximisers rarely meet inside it;
    maximise this function over all of x at once.
    """

    def __init__(self, posterior: ComponentPosterior, beta: float = DEFAULT_BETA) -> None:
        self.posterior = posterior
        self.beta = _check_beta(beta)

    def value(self, X: FloatArray) -> FloatArray:
        """Return the bound ``(n,)`` at the rows of `X` ``(n, D)``."""
        means, variances = self.posterior.components(X)
        return np.asarray(
            means.sum(axis=1) + self.beta * standard_deviation(variances).sum(axis=1),
            dtype=np.float64,
        )

    def value_and_gradient(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the bound ``(n,)`` and its gradient ``(n, D)``.

        Analytic if the posterior offers ``components_with_gradient``, otherwise by central
        differences of ``components`` (2 D predictions, relative accuracy about 1e-7).
        """
        if not isinstance(self.posterior, GradientComponentPosterior):
            return self.value(X), _central_differences(self.value, X)
        means, variances, mean_slopes, variance_slopes = self.posterior.components_with_gradient(X)
        value = means.sum(axis=1) + self.beta * standard_deviation(variances).sum(axis=1)
        slopes = mean_slopes + self.beta * sd_gradient(variances, variance_slopes)
        return value, np.asarray(slopes.sum(axis=1), dtype=np.float64)


def _central_differences(
    function: Callable[[FloatArray], FloatArray], X: FloatArray, step: float = DIFFERENCE_STEP
) -> FloatArray:
    """Return the gradient ``(n, D)`` of a vectorised function at the rows of `X`."""
    n, dim = X.shape
    shifts = step * np.eye(dim)
    ahead = function((X[:, None, :] + shifts).reshape(-1, dim)).reshape(n, dim)
    behind = function((X[:, None, :] - shifts).reshape(-1, dim)).reshape(n, dim)
    return (ahead - behind) / (2.0 * step)


def _check_beta(beta: float) -> float:
    if not (np.isfinite(beta) and beta >= 0.0):
        raise InvalidInputError(f"beta must be finite and not negative, received {beta!r}")
    return float(beta)


def _check_delta(delta: float) -> None:
    if not 0.0 < delta < 1.0:
        raise InvalidInputError(f"delta is a probability in (0, 1), received {delta!r}")


def _check_positive(value: int, name: str) -> None:
    if value < 1:
        raise InvalidInputError(f"{name} must be at least 1, received {value!r}")


def _check_round(t: int) -> None:
    if t < 1:
        raise InvalidInputError(f"rounds are counted from 1, received t = {t!r}")
