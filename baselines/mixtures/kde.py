r"""Kernel density regression: a mixture with one component for each observation.

Kruse, MSc thesis, DTU 2022, section 4.1: :math:`p(x, y) = n^{-1}\sum_i N(x; x_i, s_x^2 I)
N(y; y_i, s_y^2)`, bandwidths for x and y apart, blended with a prior
(:mod:`baselines.mixtures.blending`). Nothing is trained; :math:`s_x`, :math:`s_y` and
:math:`\Delta` maximise the mean log predictive density of left-out observations.

**Deviations**

* Leave-one-out is exact and costs one pass over the n x n kernel here, so it replaces 30 folds;
  64 quasi-random pairs of bandwidths, each with its best Delta, replace 40 steps of an outer
  optimiser.
* The upper bound .3 of s_x is for one input; distances grow with the square root of d, and so do
  both bounds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import logsumexp
from scipy.stats import qmc

from baselines._surrogate_loop import Fit, SurrogateOptimizer
from baselines.mixtures.blending import (
    BlendedMixture,
    JointMixture,
    MixtureOptions,
    Standardiser,
    best_blend,
    is_due,
    log_normal,
)
from boring.typing import FloatArray
from boring.validation import as_positive_int

__all__ = ["KdeMixture", "KdeOptimizer", "KdeOptions", "leave_one_out", "select_bandwidths"]

#: Range of both bandwidths, standard deviations of standardised data (Kruse, table 5.1).
BANDWIDTHS = (1e-3, 0.3)


@dataclass(frozen=True)
class KdeOptions(MixtureOptions):
    """Options of kernel density regression, beside :class:`MixtureOptions`.

    Parameters
    ----------
    n_candidates : int, default 64
        Pairs of bandwidths tried.
    """

    n_candidates: int = 64

    def __post_init__(self) -> None:
        """Check the options."""
        super().__post_init__()
        as_positive_int(self.n_candidates, "n_candidates")


class KdeMixture(JointMixture):
    """The estimate of p(z, y).

    Parameters
    ----------
    Z : ndarray, shape (n, d), standardised
    y : ndarray, shape (n,)
    x_width, y_width : float
        Bandwidths, standard deviations.
    """

    def __init__(self, Z: FloatArray, y: FloatArray, x_width: float, y_width: float) -> None:
        self.Z, self.y = Z, y
        self.x_width = x_width
        self.variances = np.full(len(y), y_width**2)

    def joint(self, Z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return log weights n^-1 N(z; z_i) and the means y_i, each (m, n)."""
        n, d = self.Z.shape
        squares = ((Z[:, None, :] - self.Z) ** 2).sum(axis=2)
        logs = -0.5 * squares / self.x_width**2 - _log_volume(d, self.x_width) - np.log(n)
        return logs, np.broadcast_to(self.y, logs.shape)

    def joint_with_gradient(
        self, Z: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return the same, and gradients (m, n, d); the means' are 0."""
        slopes = -(Z[:, None, :] - self.Z) / self.x_width**2
        return (*self.joint(Z), slopes, np.zeros_like(slopes))


def leave_one_out(
    Z: FloatArray, y: FloatArray, x_widths: FloatArray, y_widths: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return log p(z_i) and log p(z_i, y_i) without observation i, each (m, n), for m bandwidths.

    Parameters
    ----------
    Z : ndarray, shape (n, d)
    y : ndarray, shape (n,)
    x_widths, y_widths : ndarray, shape (m,)
    """
    n, d = Z.shape
    squares = ((Z[:, None, :] - Z) ** 2).sum(axis=2)
    np.fill_diagonal(squares, np.inf)
    residual = y[:, None] - y
    densities, joints = np.empty((len(x_widths), n)), np.empty((len(x_widths), n))
    for index, (x_width, y_width) in enumerate(zip(x_widths, y_widths, strict=True)):
        logs = -0.5 * squares / x_width**2 - _log_volume(d, x_width) - np.log(n - 1)
        densities[index] = logsumexp(logs, axis=1)
        joints[index] = logsumexp(logs + log_normal(residual, y_width**2), axis=1)
    return densities, joints


def select_bandwidths(
    Z: FloatArray,
    y: FloatArray,
    prior_variance: float,
    n_candidates: int,
    rng: np.random.Generator,
) -> dict[str, float]:
    """Return bandwidths and log Delta with the best leave-one-out density, and that density.

    Parameters
    ----------
    Z : ndarray, shape (n, d), standardised
    y : ndarray, shape (n,), standardised
    prior_variance : float
    n_candidates : int
    rng : numpy.random.Generator
        Consumed.
    """
    n, d = Z.shape
    sobol = qmc.Sobol(2, rng=rng).random_base2(int(np.ceil(np.log2(n_candidates))))
    low, high = np.log(BANDWIDTHS)
    widths = np.exp(low + (high - low) * sobol[:n_candidates])
    x_widths, y_widths = widths[:, 0] * np.sqrt(d), widths[:, 1]
    densities, joints = leave_one_out(Z, y, x_widths, y_widths)
    log_deltas, scores = best_blend(densities, joints, y, np.full(n, n - 1.0), prior_variance)
    best = int(scores.argmax())
    return {
        "x_width": float(x_widths[best]),
        "y_width": float(y_widths[best]),
        "log_delta": float(log_deltas[best]),
        "score": float(scores[best]),
    }


class KdeOptimizer(SurrogateOptimizer):
    """Bayesian optimisation with kernel density regression.

    Parameters are those of :class:`boring.optimizer.Optimizer`; options those of
    :class:`KdeOptions`.

    Examples
    --------
    >>> optimizer = KdeOptimizer([(-1, 1)] * 2, direction="minimize", seed=0)
    >>> optimizer.run(lambda x: ((x - 0.3) ** 2).sum(), 8, progress=False).X.shape
    (8, 2)
    """

    name: ClassVar[str] = "kde"
    options_type: ClassVar[type] = KdeOptions

    def _fit(
        self, X: FloatArray, y: FloatArray, memory: Mapping[str, Any], rng: np.random.Generator
    ) -> Fit:
        options: KdeOptions = self.options
        standardiser = Standardiser.of(X)
        Z = standardiser(X)
        chosen = dict(memory)
        if is_due(memory, len(y), options.reselect_growth):
            chosen = {
                **select_bandwidths(Z, y, options.prior_variance, options.n_candidates, rng),
                "selected_at": len(y),
            }
        posterior = BlendedMixture(
            KdeMixture(Z, y, chosen["x_width"], chosen["y_width"]),
            standardiser,
            len(y),
            chosen["log_delta"],
            options.prior_variance,
        )
        return Fit(posterior, chosen, {name: chosen[name] for name in ("x_width", "y_width")})


def _log_volume(dim: int, width: float) -> float:
    """Return the log of a normal density's constant in d dimensions."""
    return dim * float(np.log(width) + 0.5 * np.log(2.0 * np.pi))
