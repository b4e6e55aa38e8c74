r"""The tree-structured Parzen estimator on a box, where its tree has one node for each input.

Bergstra, Bardenet, Bengio and Kegl, "Algorithms for hyper-parameter optimization", NIPS 2011,
section 4. Each input has two one-dimensional densities, :math:`\ell` of the good points and g of
the others: the uniform prior and a Gaussian at each point, all of equal weight. A Gaussian's
standard deviation is the greater of the distances to its two neighbours, within limits. Candidates
are drawn from :math:`\ell`, and that with the largest :math:`\ell / g` is the next point.

**Deviations**

* Gaussians are cut off at the box, whose ends count as neighbours of the outermost points.
* The limits, which the paper calls reasonable and does not print, are side / min(100, n + 2) and
  the side itself [chosen here].
* On a learned subspace a candidate z is the incumbent moved by W (z - z of the incumbent), clipped.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import ndtr, ndtri

from baselines.density_ratio.ratio_loop import (
    DensityRatioOptimizer,
    Labelled,
    Projected,
    RatioOptions,
    WithoutGradient,
)
from boring.acquisition import Acquisition, MaximizerResult
from boring.acquisition.maximizer import duplicates
from boring.optimizer import ProposalContext
from boring.typing import FloatArray
from boring.validation import as_positive_int

__all__ = ["ParzenScore", "ParzenWindows", "TpeOptimizer", "TpeOptions", "parzen_windows"]

MOST_PER_SIDE = 100.0
"""A Gaussian is never narrower than this part of the side."""


@dataclass(frozen=True, kw_only=True)
class TpeOptions(RatioOptions):
    """Options of TPE, beside those of :class:`RatioOptions`.

    Parameters
    ----------
    good_share : float in (0, 1), default 0.15
        [Bergstra et al. 2011, section 6]
    random_share : float in [0, 1), default 0
        The prior in the mixtures is TPE's own way of exploring.
    n_candidates : int, default 24
        [hyperopt's default; the paper says "many"]
    """

    good_share: float = 0.15
    random_share: float = 0.0
    n_candidates: int = 24

    def __post_init__(self) -> None:
        """Check the options."""
        super().__post_init__()
        as_positive_int(self.n_candidates, "n_candidates")


@dataclass(frozen=True, eq=False)
class ParzenWindows:
    """A product over inputs of mixtures on [-reach, reach].

    Parameters
    ----------
    centers : ndarray, shape (n, k)
    widths : ndarray, shape (n, k)
    reach : ndarray, shape (k,)
    """

    centers: FloatArray
    widths: FloatArray
    reach: FloatArray

    def log_density(self, Z: FloatArray) -> FloatArray:
        """Return the log density, shape (m,), at Z (m, k) in the box."""
        scaled = (Z[:, None, :] - self.centers) / self.widths
        low, high = self._ends()
        heights = np.exp(-0.5 * scaled**2) / (np.sqrt(2.0 * np.pi) * self.widths * (high - low))
        density = (heights.sum(axis=1) + 0.5 / self.reach) / (len(self.centers) + 1)
        return np.asarray(np.log(density).sum(axis=1))

    def draw(self, count: int, rng: np.random.Generator) -> FloatArray:
        """Draw from the product, shape (count, k).

        Parameters
        ----------
        count : int
        rng : numpy.random.Generator
            Consumed.
        """
        n, k = self.centers.shape
        member = rng.integers(n + 1, size=(count, k))
        u = rng.random((count, k))
        column = np.arange(k)
        chosen = np.minimum(member, n - 1)
        low, high = (ends[chosen, column] for ends in self._ends())
        step = ndtri(low + u * (high - low))
        drawn = self.centers[chosen, column] + self.widths[chosen, column] * step
        uniform = (2.0 * u - 1.0) * self.reach
        return np.clip(np.where(member == n, uniform, drawn), -self.reach, self.reach)

    def _ends(self) -> tuple[FloatArray, FloatArray]:
        """Return each Gaussian's distribution function at the two ends, shape (n, k)."""
        return (
            np.asarray(ndtr((-self.reach - self.centers) / self.widths)),
            np.asarray(ndtr((self.reach - self.centers) / self.widths)),
        )


def parzen_windows(points: FloatArray, reach: FloatArray) -> ParzenWindows:
    """Return the mixtures of some points.

    Parameters
    ----------
    points : ndarray, shape (n, k)
    reach : ndarray, shape (k,)
    """
    n = len(points)
    order = np.argsort(points, axis=0, kind="stable")
    ordered = np.take_along_axis(points, order, axis=0)
    gaps = np.diff(np.vstack([-reach, ordered, reach]), axis=0)
    side = 2.0 * reach
    widths = np.clip(np.maximum(gaps[:-1], gaps[1:]), side / min(MOST_PER_SIDE, n + 2.0), side)
    unsorted = np.empty_like(widths)
    np.put_along_axis(unsorted, order, widths, axis=0)
    return ParzenWindows(points, unsorted, reach)


@dataclass(frozen=True, eq=False)
class ParzenScore(WithoutGradient):
    """Log ratio of two products of mixtures.

    Parameters
    ----------
    good, bad : ParzenWindows
    """

    good: ParzenWindows
    bad: ParzenWindows

    def value(self, Z: FloatArray) -> FloatArray:
        """Return the log ratio, shape (m,), at Z (m, k)."""
        return self.good.log_density(Z) - self.bad.log_density(Z)


class TpeOptimizer(DensityRatioOptimizer):
    """Bayesian optimisation by Parzen windows of good and bad points, input by input.

    Parameters are those of :class:`boring.optimizer.Optimizer`; options those of
    :class:`TpeOptions`.

    Examples
    --------
    >>> optimizer = TpeOptimizer([(-1, 1)] * 2, direction="minimize", seed=0)
    >>> result = optimizer.run(lambda x: ((x - 0.3) ** 2).sum(), 40, progress=False)
    >>> result.y_best < 0.05
    True
    """

    name: ClassVar[str] = "tpe"
    options_type: ClassVar[type] = TpeOptions

    def scored(self, labelled: Labelled, rng: np.random.Generator) -> Acquisition:
        """Return a score of Z; see `DensityRatioOptimizer.scored`."""
        Z, good, reach = labelled.Z, labelled.good, labelled.reach
        return ParzenScore(parzen_windows(Z[good], reach), parzen_windows(Z[~good], reach))

    def _search(
        self,
        score: Acquisition,
        incumbent: FloatArray,
        basis: FloatArray | None,
        context: ProposalContext,
    ) -> MaximizerResult:
        assert isinstance(score, ParzenScore)
        drawn = score.good.draw(self.options.n_candidates, context.rng)
        acquisition: Acquisition = score
        if basis is not None:
            drawn = np.clip(incumbent + (drawn - incumbent @ basis) @ basis.T, -1.0, 1.0)
            acquisition = Projected(score, basis)
        old = np.vstack([context.data.X, context.pending])
        fresh = drawn[[not duplicates(x, old) for x in drawn]]
        replaced = not len(fresh)
        if replaced:
            fresh = context.rng.uniform(-1.0, 1.0, (1, len(incumbent)))
        values = acquisition.value(fresh)
        best = int(np.argmax(values))
        value = float(values[best])
        family = "replacement" if replaced else "drawn"
        return MaximizerResult(fresh[best], value, value, family, replaced, len(fresh), 0)
