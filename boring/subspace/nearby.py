"""The learner on the points around an incumbent, free of noise, its values hardly warped.

Where many points of the box tell little of W, those around the incumbent tell it sharply: there a
smooth function is nearly a polynomial of its few directions, and a squared-exponential GP of long
lengthscales and next to no noise (`boring.models.neighbourhood`) fits it to many digits with the
right W and to few with any other. The search is the one of `boring.subspace.full_rank`, made short:
a square factor fitted in full is truncated to d columns and refitted; then hops, from the best
factor inflated by noise of a random size. BIC chooses among the d. Each d is searched from what the
last call found for it, so that the search goes on while the points become more. Once a search ends
at the last one's directions they are settled: from then on what the last call found is refitted,
and only if d or the directions change by it is there a search again.

On data of runs (four to five each, the nearest three quarters of n points, 4 hops) the share of the
metric that lies outside of the true W, .5 and .8 if nothing is known: Rosenbrock 5-in-10 n = 80
.2 to .4, n = 100 .08 to .12 in four of five, n = 120 at most .04, with d = 5 in four of five;
camelback 2-in-10 n = 60 0 with d = 2 in three of five. The priors of
`boring.subspace.factor_fit` leave .1 to .3 of Rosenbrock's at n = 120.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from boring.kernels import Free
from boring.models.neighbourhood import NOISE_PRIOR, VARIANCE_PRIOR, neighbourhood_model
from boring.models.priors import LogSingularValues, ParameterPrior
from boring.subspace.dimension import (
    DimensionRow,
    lowest_bic,
    n_free_parameters,
    rotated_row,
)
from boring.subspace.factor_fit import FULL_PRIOR, basis_of
from boring.typing import FloatArray
from boring.warping import stretched

# Share of the points that are near, and the fewest.
NEAR_SHARE, FEWEST_NEAR = 0.75, 50
# Share of the near values in the linear part of the log warp.
STRETCH = 0.8
# Singular values of a thin factor: log-normal around 1/2, offsets being of length 1.
THIN_SCALE_CENTER, THIN_SCALE_SD = 0.5, 1.5
# Noise variance from which a square factor starts.
FULL_NOISE = 1e-6
FULL_ITERATIONS, THIN_ITERATIONS = 60, 80
# Share of a metric outside of the last one's span below which the directions are the same.
SETTLED_SHARE = 1e-3
# Hops of each d. A hop's noise is 10^u times the largest singular value over sqrt(D), u uniform.
N_HOPS = 4
HOP_SIZES = (-1.0, 0.2)


@dataclass(frozen=True, eq=False)
class NearbyFactors:
    """What the points around an incumbent show of the subspace.

    Attributes
    ----------
    effective_dim : int
        d of the lowest BIC.
    factors : mapping of int to ndarray, shape (D, d)
        The best factor of each d that competed, scaled units.
    table : tuple of DimensionRow
        Their BIC. ``nll`` is the negative log posterior of the near values, priors included.
    is_settled : bool
        Whether the call before had found the same d and directions.
    """

    effective_dim: int
    factors: Mapping[int, FloatArray]
    table: tuple[DimensionRow, ...] = ()
    is_settled: bool = False

    @property
    def factor(self) -> FloatArray:
        """M of the chosen d, shape (D, d)."""
        return self.factors[self.effective_dim]

    def agrees_with(self, other: NearbyFactors) -> bool:
        """Tell whether d and the directions are those of another."""
        if self.effective_dim != other.effective_dim:
            return False
        basis = basis_of(other.factor)
        within = float(np.sum((basis.T @ self.factor) ** 2) / np.sum(self.factor**2))
        return 1.0 - within < SETTLED_SHARE


def nearest(X: FloatArray, best: int, most: int | None = None) -> np.ndarray:
    """Return the indices of the points from which factors around X[best] are learned."""
    n = len(X) if most is None else min(len(X), most)
    count = max(int(NEAR_SHARE * n), min(n, FEWEST_NEAR))
    distances = np.linalg.norm(X - X[best], axis=1)
    return np.argsort(distances, kind="stable")[:count]


def learn_nearby_factors(
    X: FloatArray,
    y: FloatArray,
    dimensions: Iterable[int],
    *,
    rng: np.random.Generator,
    last: NearbyFactors | None = None,
    n_hops: int = N_HOPS,
    best: int | None = None,
    most: int | None = None,
) -> NearbyFactors | None:
    """Learn factors M (D, d) from the points around the incumbent.

    Parameters
    ----------
    X : ndarray, shape (n, D), scaled units
    y : ndarray, shape (n,)
        Larger is better, any units.
    dimensions : iterable of int
        The d that compete. Those with more free parameters than there are near points do not.
    rng : numpy.random.Generator
    last : NearbyFactors, optional
        What the last call found, from fewer points.
    n_hops : int, default 4
        Of each d below D.
    best : int, optional
        Row of the incumbent; default that of the largest value.
    most : int, optional
        Where there are more points, as many are near as if there were so many.

    Returns
    -------
    NearbyFactors or None
        None if no d can compete, if half of the near points are the best one again, or if all of
        their values are equal.

    Raises
    ------
    FitError
        If the likelihood is not finite at the start of a fit, as where most points lie so near to
        the best one that squares of the other distances, in units of theirs, are no floats.
    """
    best = int(np.argmax(y)) if best is None else best
    near = nearest(X, best, most)
    dim = X.shape[1]
    ranks = [d for d in dimensions if n_free_parameters(dim, d) <= len(near)]
    if not ranks or len(near) < 2:
        return None
    offsets = X[near] - X[best]
    unit = float(np.median(np.linalg.norm(offsets, axis=1)[1:]))
    values, _ = stretched(y[near], STRETCH)
    if not unit > 0 or not values.any():
        return None
    search = _Search(offsets / unit, values)

    def outcome(found: Mapping[int, tuple[float, FloatArray]]) -> NearbyFactors:
        table = tuple(rotated_row(dim, len(near), rank, found[rank][0]) for rank in found)
        factors = {rank: M / unit for rank, (_, M) in found.items()}
        learned = NearbyFactors(lowest_bic(table).effective_dim, factors, table)
        return replace(learned, is_settled=last is not None and learned.agrees_with(last))

    known = {} if last is None else last.factors
    refitted = {rank: search.thin(known[rank] * unit) for rank in ranks if rank in known}
    if refitted and last is not None and last.is_settled:
        learned = outcome(refitted)
        if learned.is_settled:
            return learned
    square = search.full(np.eye(dim) / np.sqrt(dim))
    found = {}
    for rank in ranks:
        ends = [search.truncated(square, rank), *([refitted[rank]] if rank in refitted else [])]
        for _ in range(n_hops if rank < dim else 0):
            ends.append(search.hop(min(ends, key=_value)[1], rng))
        found[rank] = min(ends, key=_value)
    return outcome(found)


def _value(end: tuple[float, FloatArray]) -> float:
    return end[0]


class _Search:
    """Fits of factors to one set of offsets U (k, D) and warped values."""

    def __init__(self, U: FloatArray, values: FloatArray) -> None:
        self.U, self.values = U, values

    def full(self, start: FloatArray) -> FloatArray:
        """Return a square factor (D, D) fitted from a start."""
        return self._fit(start, FULL_PRIOR, FULL_NOISE, FULL_ITERATIONS)[1]

    def thin(self, start: FloatArray) -> tuple[float, FloatArray]:
        """Return a thin factor (D, d) fitted from a start, after its negative log posterior."""
        prior = LogSingularValues(start.shape[1], THIN_SCALE_CENTER, THIN_SCALE_SD)
        return self._fit(start, prior, float(np.exp(NOISE_PRIOR.mean)), THIN_ITERATIONS)

    def truncated(self, square: FloatArray, rank: int) -> tuple[float, FloatArray]:
        """Return what the leading directions of a square factor lead to."""
        directions, scales, _ = np.linalg.svd(square)
        return self.thin(directions[:, :rank] * scales[:rank])

    def hop(self, thin: FloatArray, rng: np.random.Generator) -> tuple[float, FloatArray]:
        """Return what a thin factor leads to if noise inflates it to a square one."""
        dim, rank = thin.shape
        size = 10.0 ** rng.uniform(*HOP_SIZES) * float(np.linalg.norm(thin, 2)) / np.sqrt(dim)
        start = size * rng.standard_normal((dim, dim))
        start[:, :rank] += thin
        return self.truncated(self.full(start), rank)

    def _fit(
        self, start: FloatArray, prior: ParameterPrior, noise: float, iterations: int
    ) -> tuple[float, FloatArray]:
        model = neighbourhood_model(Free(*start.shape), prior)
        theta = np.concatenate([[VARIANCE_PRIOR.mean], start.ravel(), [np.log(noise)]])
        fit = model.fit(self.U, self.values, theta, max_iterations=iterations)
        return fit.value, fit.theta[1:-1].reshape(start.shape)
