"""The learner on data of an optimisation, which cluster around the optimum.

The search is that of `boring.subspace.full_rank`, under lower noise floors, and the values should
be log-warped: `choose_and_learn` takes them so. How far the warp stretches the neighbourhood of the
incumbent matters: too much, and the function is no longer smooth there, too little, and the digits
that tell directions apart drown.
`most_evident_stretch` lets the evidence of y decide, as with warped processes (Snelson, Rasmussen &
Ghahramani, "Warped Gaussian processes", NIPS 2003): the log posterior of the warped values plus the
log slopes of the warp.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from boring.subspace.dimension import (
    DimensionRow,
    lowest_bic,
    n_free_parameters,
    score_dimensions,
)
from boring.subspace.factor_fit import FactorFit, FactorSettings
from boring.subspace.finish import axes_refit, thin_refit
from boring.subspace.full_rank import SearchSettings, learn_factor
from boring.subspace.nearby import NearbyFactors
from boring.typing import FloatArray
from boring.warping import standardize, stretched

# Floor under which M is learned.
CLUSTERED_NOISE_FLOOR = 1e-6
# Floor under which d is chosen there. BIC on data of the default loop, n = 30 to 100, four
# runs each of camelback 2-in-5, 2-in-10 and sine-exponential 2-in-5: right in 43 of 44
# under 1e-3 (Matern-3/2), 33 under .01 (too few) and 38 under 1e-6 (too many).
CLUSTERED_CHOICE_FLOOR = 1e-3
# Shares of the values in the warp's linear part that compete, and the one of the first search.
# [chosen here. With .5 always and by evidence, 12 development runs each: camelback 2-in-10 below 2
# degrees in 7 and 11 (median 1.4 and .6), 2-in-5 in 12 and 12 (.27 and .28), sine-exponential in 11
# and 12 (.08 and .05); d right in 34 and 35 of 36. Of 36 other runs, .8 for the loop's own turns,
# too, left the regret as it was]
STRETCHES = (0.5, 0.65, 0.8, 0.9, 1.0)
FIRST_STRETCH = 0.65


@dataclass(frozen=True, eq=False)
class Stretch:
    """A warp of the values from which the subspace is read, and what is known of it.

    Attributes
    ----------
    share : float
        Of the values in the warp's linear part; see `boring.warping.stretched`.
    effective_dim : int
    table : tuple of DimensionRow
        BIC over d, of warped values or of the neighbourhood's; empty if d was given.
    factor : ndarray, shape (D, d')
        Of the first search, whose d' may differ from d, or of the neighbourhood; a warm start.
    """

    share: float
    effective_dim: int
    table: tuple[DimensionRow, ...]
    factor: FloatArray

    def of(self, y: FloatArray) -> FloatArray:
        """Return y (n,) warped and standardised."""
        return stretched(y, self.share)[0]


def score_clustered_dimensions(
    X: FloatArray, y: FloatArray, max_effective_dim: int | None
) -> tuple[DimensionRow, ...]:
    """Return the BIC table over d under `CLUSTERED_CHOICE_FLOOR`, of standardised y."""
    floor = FactorSettings(noise_floor=CLUSTERED_CHOICE_FLOOR)
    return score_dimensions(X, y, max_effective_dim, floor)


def most_evident_stretch(
    X: FloatArray,
    y: FloatArray,
    effective_dim: int | None,
    max_effective_dim: int | None = None,
    *,
    rng: np.random.Generator,
    starts: Iterable[FloatArray] = (),
    nearby: NearbyFactors | None = None,
) -> Stretch:
    """Return the logarithmic warp under which y is the most evident.

    One search under `FIRST_STRETCH`; its factor, and the one of the incumbent's neighbourhood, are
    refitted to each stretch, and the largest log posterior of y, less the free parameters as in
    BIC, decides. Where that is the search's with another stretch, d is chosen again.

    Parameters
    ----------
    X : ndarray, shape (n, D), scaled units
    y : ndarray, shape (n,)
        Larger is better, any units.
    effective_dim : int or None
        None chooses d by BIC, under `CLUSTERED_CHOICE_FLOOR`.
    max_effective_dim : int, optional
    rng : numpy.random.Generator
    starts : iterable of ndarray, shape (D, k)
        Warm starts of the search.
    nearby : NearbyFactors, optional
        What the incumbent's neighbourhood shows. If it wins, its d and its table are taken.
    """
    values, _ = stretched(y, FIRST_STRETCH)
    rank, table = _dimension(X, values, effective_dim, max_effective_dim)
    settings = SearchSettings(FactorSettings(noise_floor=CLUSTERED_NOISE_FLOOR))
    learned = learn_factor(X, values, rank, rng=rng, settings=settings, starts=starts)
    ends = [(learned.fit, learned.axis_aligned)]
    if nearby is not None and effective_dim in (None, nearby.effective_dim):
        ends.append((replace(learned.fit, factor=nearby.factor), False))
    _, best, share = max(
        (
            (_evidence(X, y, end, aligned, settings, share), end, share)
            for end, aligned in ends
            for share in STRETCHES
        ),
        key=lambda one: one[0],
    )
    if nearby is not None and best is not learned.fit:
        table = nearby.table if effective_dim is None else ()
        return Stretch(share, best.rank, table, best.factor)
    if share != FIRST_STRETCH:
        values, _ = stretched(y, share)
        rank, table = _dimension(X, values, effective_dim, max_effective_dim)
    return Stretch(share, rank, table, best.factor)


def _dimension(
    X: FloatArray, values: FloatArray, known: int | None, max_effective_dim: int | None
) -> tuple[int, tuple[DimensionRow, ...]]:
    """Return d, and the table that chose it; none if it is known."""
    if known is not None:
        return known, ()
    table = score_clustered_dimensions(X, values, max_effective_dim)
    return lowest_bic(table).effective_dim, table


def _evidence(
    X: FloatArray,
    y: FloatArray,
    start: FactorFit,
    axis_aligned: bool,
    settings: SearchSettings,
    share: float,
) -> float:
    """Return the log posterior of y, up to a constant, refitted to a stretch, less BIC's price."""
    values, log_slopes = stretched(y, share)
    (n, dim), rank = X.shape, start.rank
    if axis_aligned:
        refit, n_parameters = axes_refit(X, values, rank), rank
    else:
        refit, n_parameters = thin_refit(X, values), n_free_parameters(dim, rank)
    fitted = settings.finish(refit, start, n, n_parameters).fit
    return log_slopes - fitted.value - 0.5 * float(np.log(n)) * n_parameters


def choose_and_learn(
    X: FloatArray,
    y: FloatArray,
    effective_dim: int | None,
    max_effective_dim: int | None = None,
    *,
    rng: np.random.Generator,
    starts: Iterable[FloatArray] = (),
) -> FloatArray:
    """Return a factor M (D, d) for data that cluster, as those of an optimisation do.

    It is learned under a noise floor of 1e-6: the usual .01 hides the few nats that tell
    directions apart near an optimum.

    Parameters
    ----------
    X : ndarray, shape (n, D), scaled units
    y : ndarray, shape (n,)
        Log-warped as a rule, any units.
    effective_dim : int or None
        None chooses d by BIC, under `CLUSTERED_CHOICE_FLOOR`.
    max_effective_dim : int, optional
    rng : numpy.random.Generator
    starts : iterable of ndarray, shape (D, k)
        Warm starts.

    Returns
    -------
    ndarray, shape (D, d)
        Orthogonal columns with norms 1/l, largest first.
    """
    values = standardize(y)
    settings = SearchSettings(
        FactorSettings(noise_floor=CLUSTERED_NOISE_FLOOR),
        n_hops=0,
        lower_floor=False,
        final_profiles=(),
    )
    if effective_dim is None:
        table = score_clustered_dimensions(X, values, max_effective_dim)
        effective_dim = lowest_bic(table).effective_dim
    learned = learn_factor(X, values, effective_dim, rng=rng, settings=settings, starts=starts)
    return learned.fit.factor
