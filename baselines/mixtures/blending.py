r"""Conditioning a mixture on x, and falling back on a prior where there are no data.

A mixture :math:`p(x, y) = \sum_k \lambda_k p_k(x, y)` predicts
:math:`p(y | x) = \sum_k \gamma_k(x)\,p_k(y | x)`, :math:`\gamma_k = \lambda_k p_k(x) / p(x)`, as
firmly far from the data as among them. Blending repairs that: with n observations and a volume
:math:`\Delta`,

.. math:: \hat p(y | x) = a_x\,p(y | x) + (1 - a_x)\,N(y; 0, v),
   \qquad a_x = S / (S + 1), \quad S = n\,\Delta\,p(x).

Source: Kruse, "Investigation of deep probabilistic surrogate-models in Bayesian optimization",
MSc thesis, DTU 2022, ch. 4 (v = 100 for standardised values).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import logsumexp

from baselines._members import MixturePosterior
from baselines._options import check_positive
from baselines._surrogate_loop import LoopOptions
from boring.exceptions import InvalidInputError
from boring.typing import FloatArray
from boring.validation import as_positive_int, as_real

__all__ = [
    "BlendedMixture",
    "FoldedOptions",
    "JointMixture",
    "MixtureOptions",
    "Standardiser",
    "best_blend",
    "folds_of",
    "is_due",
]

#: Range of log S at a typical held-out point among which Delta is chosen, and the number of
#: values tried: from data that hardly count to a prior that hardly counts (chosen here).
LOG_BLEND_RANGE = (-7.0, 14.0)
N_BLENDS = 43


@dataclass(frozen=True)
class MixtureOptions(LoopOptions):
    """What every mixture can be told, beside :class:`LoopOptions`.

    Parameters
    ----------
    prior_variance : float, default 100
        v, of the prior that takes over far from the data (Kruse's; y standardised).
    reselect_growth : float, default 1.3
        Hyperparameters are chosen anew when the data have grown by this factor; 1 chooses at
        every step, as Kruse does.
    """

    prior_variance: float = 100.0
    reselect_growth: float = 1.3

    allowed: ClassVar[tuple[str, ...]] = ("log-ei", "ucb", "mixture-ei")

    def __post_init__(self) -> None:
        """Check the options."""
        super().__post_init__()
        check_positive(self.prior_variance, "prior_variance")
        if as_real(self.reselect_growth, "reselect_growth") < 1:
            raise InvalidInputError(
                f"reselect_growth must be at least 1; received {self.reselect_growth!r}. "
                "Pass 1 to choose hyperparameters at every step."
            )


@dataclass(frozen=True)
class FoldedOptions(MixtureOptions):
    """Options of mixtures that are chosen by cross-validation, beside :class:`MixtureOptions`.

    Parameters
    ----------
    n_folds : int, default 10
        Of the cross-validation that chooses hyperparameters; as many as observations if
        there are fewer. Kruse takes 30.
    """

    n_folds: int = 10

    def __post_init__(self) -> None:
        """Check the options."""
        super().__post_init__()
        as_positive_int(self.n_folds, "n_folds", minimum=2)


@dataclass(frozen=True, eq=False)
class Standardiser:
    """Inputs to mean 0 and standard deviation 1, by the data of this fit.

    Parameters
    ----------
    center, scale : ndarray, shape (d,)
    """

    center: FloatArray
    scale: FloatArray

    @classmethod
    def of(cls, X: FloatArray) -> Standardiser:
        """Return the one that belongs to data X (n, d); constant columns are only centred."""
        scale = X.std(axis=0)
        return cls(X.mean(axis=0), np.where(scale > 1e-12, scale, 1.0))

    def __call__(self, X: FloatArray) -> FloatArray:
        """Return standardised inputs."""
        return (X - self.center) / self.scale


class JointMixture(ABC):
    """A mixture over (z, y), each component's y normal given z with a constant variance."""

    variances: FloatArray
    """Of y given z and the component, shape (K,)."""

    @abstractmethod
    def joint(self, Z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return log lambda_k p_k(z) and the means of y given z, each (n, K)."""

    @abstractmethod
    def joint_with_gradient(
        self, Z: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return the same, and gradients (n, K, d) of both."""

    def log_density(self, Z: FloatArray) -> FloatArray:
        """Return log p(z), shape (n,)."""
        return np.asarray(logsumexp(self.joint(Z)[0], axis=1), dtype=np.float64)

    def log_joint_density(self, Z: FloatArray, y: FloatArray) -> FloatArray:
        """Return log p(z_i, y_i), shape (n,)."""
        logs, means = self.joint(Z)
        logs = logs + log_normal(y[:, None] - means, self.variances)
        return np.asarray(logsumexp(logs, axis=1), dtype=np.float64)


class BlendedMixture(MixturePosterior):
    """The conditional of a mixture, blended with a prior; over unstandardised inputs.

    Parameters
    ----------
    mixture : JointMixture
    standardiser : Standardiser
    n : int
        Observations that the mixture was fitted to.
    log_delta : float
        Log of Delta, in standardised units of z.
    prior_variance : float
    """

    def __init__(
        self,
        mixture: JointMixture,
        standardiser: Standardiser,
        n: int,
        log_delta: float,
        prior_variance: float,
    ) -> None:
        self.mixture = mixture
        self.standardiser = standardiser
        self.log_scale = float(np.log(n) + log_delta)
        self.prior_variance = prior_variance

    def components(self, X: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return log weights, means and variances (n, K + 1); the prior comes last."""
        logs, means = self.mixture.joint(self.standardiser(X))
        return self._blended(logs, means)

    def components_with_gradient(
        self, X: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return the components, and gradients (n, K + 1, D) of log weights and of means."""
        logs, means, slopes, mean_slopes = self.mixture.joint_with_gradient(self.standardiser(X))
        log_weights, all_means, variances = self._blended(logs, means)
        # d log weight_k = d log joint_k - a_x d log p(x); of the prior it is -a_x d log p(x).
        drift = np.einsum("nk,nkd->nd", np.exp(log_weights[:, :-1]), slopes)[:, None, :]
        slopes = np.concatenate([slopes - drift, -drift], axis=1) / self.standardiser.scale
        mean_slopes = np.concatenate([mean_slopes, np.zeros_like(drift)], axis=1)
        return log_weights, all_means, variances, slopes, mean_slopes / self.standardiser.scale

    def _blended(
        self, logs: FloatArray, means: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        n = len(logs)
        scaled = logs + self.log_scale
        total = np.logaddexp(logsumexp(scaled, axis=1), 0.0)[:, None]  # log (S + 1)
        variances = np.append(self.mixture.variances, self.prior_variance)
        return (
            np.hstack([scaled - total, -total]),
            np.hstack([means, np.zeros((n, 1))]),
            np.broadcast_to(variances, (n, len(variances))),
        )


def best_blend(
    log_density: FloatArray,
    log_joint: FloatArray,
    y: FloatArray,
    n_training: FloatArray,
    prior_variance: float,
) -> tuple[FloatArray, FloatArray]:
    """Return the log Delta with the best mean log predictive density of held-out points.

    Parameters
    ----------
    log_density, log_joint : ndarray, shape (..., n)
        Log p(x_i) and log p(x_i, y_i) under the mixture that was fitted without point i.
    y : ndarray, shape (n,)
    n_training : ndarray, shape (n,)
        Observations in that fit.
    prior_variance : float

    Returns
    -------
    log_delta, score : ndarray, shape (...)
        Delta is a volume in a space whose densities grow and fall with powers of bandwidths, so
        it is sought around 1 / (n p(x)) at a typical held-out point. Fitting does not depend on
        Delta, hence it needs no fits of its own.
    """
    typical = np.median(np.log(n_training) + log_density, axis=-1, keepdims=True)
    log_deltas = np.linspace(*LOG_BLEND_RANGE, N_BLENDS) - typical  # (..., N_BLENDS)
    log_scale = log_deltas[..., None] + np.log(n_training)
    prior = log_normal(y, prior_variance)
    scores = np.logaddexp(log_scale + log_joint[..., None, :], prior)
    scores -= np.logaddexp(log_scale + log_density[..., None, :], 0.0)
    mean = scores.mean(axis=-1)
    best = mean.argmax(axis=-1)[..., None]
    return (
        np.take_along_axis(log_deltas, best, axis=-1)[..., 0],
        np.take_along_axis(mean, best, axis=-1)[..., 0],
    )


def folds_of(n: int, n_folds: int, rng: np.random.Generator) -> np.ndarray:
    """Return the fold of each of n observations: sizes differ by one at most, order random."""
    return rng.permutation(np.arange(n) % min(n, n_folds))


def is_due(memory: Mapping[str, Any], n: int, growth: float) -> bool:
    """Tell whether hyperparameters are to be chosen anew."""
    if not memory:
        return True
    return not memory.get("keep", False) and n >= max(
        growth * memory["selected_at"], memory["selected_at"] + 1
    )


def log_normal(residual: FloatArray, variance: FloatArray | float) -> FloatArray:
    """Return log N(residual; 0, variance)."""
    return np.asarray(-0.5 * (residual**2 / variance + np.log(2.0 * np.pi * variance)))
