"""The learner on data of an optimisation, which cluster around the optimum.

The search is that of `boring.subspace.full_rank`; its noise floors are other ones.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from boring.subspace.dimension import DimensionRow, lowest_bic
from boring.subspace.factor_fit import FactorSettings
from boring.subspace.full_rank import SearchSettings, learn_factor, score_dimensions
from boring.typing import FloatArray
from boring.warping import standardize

# Floor under which M is learned.
CLUSTERED_NOISE_FLOOR = 1e-6
# Floor under which d is chosen there. BIC on data of the default loop, n = 30 to 100, four
# runs each of camelback 2-in-5, 2-in-10 and sine-exponential 2-in-5: right in 43 of 44
# under 1e-3 (Matern-3/2), 33 under .01 (too few) and 38 under 1e-6 (too many).
CLUSTERED_CHOICE_FLOOR = 1e-3


def score_clustered_dimensions(
    X: FloatArray, y: FloatArray, max_effective_dim: int | None
) -> tuple[DimensionRow, ...]:
    """Return the BIC table over d under `CLUSTERED_CHOICE_FLOOR`, y standardised."""
    floor = FactorSettings(noise_floor=CLUSTERED_CHOICE_FLOOR)
    return score_dimensions(X, y, max_effective_dim, floor)


def choose_and_learn(
    X: FloatArray,
    y: FloatArray,
    effective_dim: int | None,
    max_effective_dim: int | None = None,
    *,
    rng: np.random.Generator,
    noise_floor: float = CLUSTERED_NOISE_FLOOR,
    starts: Iterable[FloatArray] = (),
) -> FloatArray:
    """Return a factor M (D, d) for data that cluster, as those of an optimisation do.

    Parameters
    ----------
    X : ndarray, shape (n, D), scaled units
    y : ndarray, shape (n,)
        Any units.
    effective_dim : int or None
        None chooses d by BIC, under `CLUSTERED_CHOICE_FLOOR`.
    max_effective_dim : int, optional
    rng : numpy.random.Generator
    noise_floor : float, default 1e-6
        Under which M is learned, in units of var(y). The usual .01 hides the few nats
        that tell directions apart near an optimum.
    starts : iterable of ndarray, shape (D, k)
        Warm starts.

    Returns
    -------
    ndarray, shape (D, d)
        Orthogonal columns with norms 1/l, largest first.
    """
    values = standardize(y)
    settings = SearchSettings(
        FactorSettings(noise_floor=noise_floor), n_hops=0, lower_floor=False, final_profiles=()
    )
    if effective_dim is None:
        table = score_clustered_dimensions(X, values, max_effective_dim)
        effective_dim = lowest_bic(table).effective_dim
    learned = learn_factor(X, values, effective_dim, rng=rng, settings=settings, starts=starts)
    return learned.fit.factor
