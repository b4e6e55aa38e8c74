r"""The ratio of two kernel density estimates, one of good points and one of bad.

Named as the weak comparator by Hassen and Rish, arXiv 2108.12461, section 5.1, without settings.
Each density is a mixture of Gaussians of one width, Scott's :math:`s\,n^{-1/(k+4)}` with s the root
mean square of the columns' standard deviations, and of a uniform share as large as one point's.
What is maximised is :math:`\log\ell - \log g`, a monotone map of every relative ratio.

**Deviation**: the uniform share, taken from TPE. Without it the ratio of the tails has no bound
and sends the search to corners that lie far from all data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import logsumexp

from baselines.density_ratio.ratio_loop import DensityRatioOptimizer, Labelled, RatioOptions
from boring.acquisition import Acquisition
from boring.typing import FloatArray

__all__ = ["KdeRatioOptimizer", "KdeRatioScore", "KernelDensity", "density_of"]

LEAST_WIDTH = 1e-3
"""Of a kernel, relative to the mean half-width of the box."""


@dataclass(frozen=True, eq=False)
class KernelDensity:
    """A mixture of Gaussians of one width and a constant.

    Parameters
    ----------
    points : ndarray, shape (n, k)
    width : float
        Standard deviation of each Gaussian.
    log_uniform : float
        Log density of the uniform part; minus infinity leaves it out.
    """

    points: FloatArray
    width: float
    log_uniform: float

    def log_density(self, Z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the log density, shape (m,), and its gradient, shape (m, k), at Z (m, k)."""
        n, k = self.points.shape
        squares = np.sum(Z**2, axis=1)[:, None] + np.sum(self.points**2, axis=1)
        squares = np.maximum(squares - 2.0 * Z @ self.points.T, 0.0)
        logs = -0.5 * squares / self.width**2 - k * np.log(np.sqrt(2.0 * np.pi) * self.width)
        logs = np.hstack([logs, np.full((len(Z), 1), self.log_uniform)])
        count = n + np.isfinite(self.log_uniform)
        total = np.asarray(logsumexp(logs, axis=1), dtype=np.float64)
        shares = np.exp(logs[:, :-1] - total[:, None])
        gradient = (shares @ self.points - shares.sum(axis=1)[:, None] * Z) / self.width**2
        return total - np.log(count), gradient


@dataclass(frozen=True, eq=False)
class KdeRatioScore:
    """Log ratio of two densities.

    Parameters
    ----------
    good, bad : KernelDensity
    """

    good: KernelDensity
    bad: KernelDensity

    def value(self, Z: FloatArray) -> FloatArray:
        """Return the log ratio, shape (m,), at Z (m, k)."""
        return self.value_and_gradient(Z)[0]

    def value_and_gradient(self, Z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the log ratio, shape (m,), and its gradient, shape (m, k)."""
        good, good_slope = self.good.log_density(Z)
        bad, bad_slope = self.bad.log_density(Z)
        return good - bad, good_slope - bad_slope


def density_of(points: FloatArray, everything: FloatArray, reach: FloatArray) -> KernelDensity:
    """Return the density estimate of some points.

    Parameters
    ----------
    points : ndarray, shape (n, k)
    everything : ndarray, shape (N, k)
        Whose spread stands in for that of a single point.
    reach : ndarray, shape (k,)
        Half-widths of the box.
    """
    n, k = points.shape
    spread = float(np.sqrt(np.mean((points if n > 1 else everything).var(axis=0))))
    width = max(spread, LEAST_WIDTH * float(reach.mean())) * n ** (-1.0 / (k + 4))
    return KernelDensity(points, width, -float(np.log(2.0 * reach).sum()))


class KdeRatioOptimizer(DensityRatioOptimizer):
    """Bayesian optimisation by the ratio of two kernel density estimates.

    Parameters are those of :class:`boring.optimizer.Optimizer`; options those of
    :class:`RatioOptions`.
    """

    name: ClassVar[str] = "kde-ratio"
    options_type: ClassVar[type] = RatioOptions

    def scored(self, labelled: Labelled, rng: np.random.Generator) -> Acquisition:
        """Return a score of Z; see `DensityRatioOptimizer.scored`."""
        Z, good, reach = labelled.Z, labelled.good, labelled.reach
        return KdeRatioScore(density_of(Z[good], Z, reach), density_of(Z[~good], Z, reach))
