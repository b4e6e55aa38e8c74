"""Learn an active subspace by fitting the metric at full rank, then truncating.

The library's default learner. At the true W the log posterior is often hundreds of nats
above anything that searches over thin frames find from random starts (embedded camelback
2-in-25 with 200 points: 0 of 8 data sets); a square factor M started isotropic, truncated
by SVD and refitted, finds it (8 of 8) in the time of a few such starts. The steps are in
`boring.subspace.factor_fit`; here they are put in order:

1. M0 = I/sqrt(D). For r = 0, 1, 2: fit M in full, truncate to d, take the next M0 from
   the gradients of the posterior mean with floor .1 * .7^r.
2. One more start from the gradients of a quadratic model; one from each warm start.
3. Hops, while no two searches agree: fit in full from a random metric, or from the best
   factor inflated by noise (sometimes without one of its columns), and truncate.
4. A diagonal factor for subspaces spanned by coordinate axes, compared by BIC. If it
   wins, its top d axes are W, and rotations are not refitted: a free refit turned an
   exact W into one 9.5 degrees off.
5. The best is refitted for 100 iterations under Matern-3/2, -5/2 and the squared
   exponential, and the largest evidence wins; where the data are plainly free of noise
   the noise floor is then lowered in steps. So is a warm start of another subspace, as it is:
   under the search's high floor and rough profile a sharper W may lose.

Everything but the hops is deterministic. If n < D the search runs on the row span of X.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from boring.exceptions import InvalidInputError
from boring.kernels.profiles import RadialProfile
from boring.subspace.dimension import (
    DimensionRow,
    axes_row,
    dimension_candidates,
    lowest_bic,
    n_free_parameters,
    rotated_row,
)
from boring.subspace.factor_fit import (
    RESET_NORM,
    FactorFit,
    FactorSettings,
    basis_of,
    fit_axes,
    fit_full,
    fit_thin,
    gradient_reset,
    row_span,
    square_start,
    truncate,
    truncate_axes,
)
from boring.subspace.finish import (
    FINAL_PROFILES,
    FinishedFit,
    Refit,
    axes_refit,
    finish,
    thin_refit,
)
from boring.subspace.stiefel import largest_angle
from boring.typing import FloatArray

# Full fits in the first chain, and the floor of the r-th gradient reset [measured].
N_ROUNDS = 3
RESET_FLOOR = 0.1
RESET_DECAY = 0.7
# Hops that are made while no two searches have ended within this angle. A full fit whose
# top directions lie as near the best truncation is not truncated again.
N_HOPS = 6
AGREEMENT_ANGLE = float(np.deg2rad(4.0))
# Below this many points per free parameter evidence misleads, and hops find only worse
# subspaces with better evidence.
HOP_POINTS_PER_PARAMETER = 1.2
# Noise added by a hop, relative to the largest singular value over sqrt(D). On parabolas
# 1-in-25 and 1-in-50 that six other starts missed, hops with noise 1 found W in 15 of 48
# tries and random metrics in 13; noise .3, bootstrapped points, smoother kernels in 9, 8, 10.
HOP_NOISE = 1.0


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """Effort of one search.

    Attributes
    ----------
    fits : FactorSettings
    n_rounds : int, default 3
        Full fits in the first chain.
    n_hops : int, default 6
        Most hops; made only while truncations disagree.
    quadratic_start : bool, default True
    axes : bool, default True
        Whether axis-aligned subspaces compete.
    lower_floor : bool, default True
        Whether the last fits may lower the noise floor.
    final_profiles : tuple of RadialProfile
        Candidates of the last fit, by evidence; empty keeps the search's.
    """

    fits: FactorSettings = field(default_factory=FactorSettings)
    n_rounds: int = N_ROUNDS
    n_hops: int = N_HOPS
    quadratic_start: bool = True
    axes: bool = True
    lower_floor: bool = True
    final_profiles: tuple[RadialProfile, ...] = FINAL_PROFILES

    def finish(self, refit: Refit, fit: FactorFit, n: int, n_parameters: int) -> FinishedFit:
        """Make the last fits; see `boring.subspace.finish.finish`."""
        return finish(
            refit,
            fit,
            n,
            n_parameters,
            self.fits,
            profiles=self.final_profiles,
            lower_floor=self.lower_floor,
        )


@dataclass(frozen=True, eq=False, slots=True)
class LearnedFactor:
    """Outcome of a search.

    Attributes
    ----------
    fit : FactorFit
        Thin factor (D, d), columns orthogonal, largest first.
    axis_aligned : bool
        Whether its columns are coordinate axes.
    settings : FactorSettings
        Profile and noise floor of the last fit.
    full_singular_values : ndarray, shape (min(n, D),)
        Of the best square factor: the gap after the d-th tells how far the data support
        a subspace.
    pool : tuple of float
        Negative log posterior of each truncation, in the order of the search.
    dimension_table : tuple of DimensionRow
        Candidates scored by BIC.
    """

    fit: FactorFit
    axis_aligned: bool
    settings: FactorSettings
    full_singular_values: FloatArray
    pool: tuple[float, ...]
    dimension_table: tuple[DimensionRow, ...]


def quadratic_reset(X: FloatArray, y: FloatArray, ambient: int) -> FloatArray:
    """Return a square start from the gradients of a quadratic model.

    Parameters
    ----------
    X : ndarray, shape (n, m)
    y : ndarray, shape (n,)
        Standardised.
    ambient : int
        D.

    Returns
    -------
    ndarray, shape (m, m)

    Notes
    -----
    The posterior mean under the kernel (1 + c x'x')^2, c = 3/D so that constant, linear
    and quadratic parts weigh alike on the box, has gradient g at the centre and Hessian
    H; over the box E[grad grad'] = gg' + HH/3. Alone it finds little; as one more start
    for a full fit it found parabolas 1-in-50 that the isotropic start missed.
    """
    c = 3.0 / ambient
    K = (1.0 + c * (X @ X.T)) ** 2
    K.flat[:: len(K) + 1] += 0.01 * float(np.trace(K)) / len(K)
    weights = np.linalg.solve(K, y)
    gradient = 2.0 * c * (X.T @ weights)
    hessian = 2.0 * c**2 * (X.T * weights) @ X
    values, vectors = np.linalg.eigh(np.outer(gradient, gradient) + hessian @ hessian / 3.0)
    scales = np.sqrt(np.maximum(values, 0.0) / max(float(values[-1]), np.finfo(float).tiny))
    return np.asarray(vectors * np.maximum(scales, RESET_FLOOR) * RESET_NORM)


def _close(A: FloatArray, B: FloatArray) -> bool:
    """Return whether two column spans agree; a factor that lost a column agrees with none."""
    try:
        return largest_angle(A, B) < AGREEMENT_ANGLE
    except InvalidInputError:
        return False


class _Search:
    """The pool of truncations of one data set at one rank."""

    def __init__(
        self, X: FloatArray, y: FloatArray, ambient: int, settings: SearchSettings
    ) -> None:
        self.X, self.y, self.ambient, self.settings = X, y, ambient, settings
        self.full_fits: list[FactorFit] = []
        self.pool: list[FactorFit] = []
        self.confirmed: FactorFit | None = None

    @property
    def best(self) -> FactorFit:
        return min(self.pool, key=lambda fit: fit.value)

    @property
    def best_full(self) -> FactorFit:
        return min(self.full_fits, key=lambda fit: fit.value)

    def full(self, start: FloatArray) -> FactorFit:
        fit = fit_full(self.X, self.y, start, self.settings.fits)
        self.full_fits.append(fit)
        return fit

    def reset(self, fit: FactorFit, floor: float) -> FloatArray:
        return gradient_reset(self.X, self.y, fit, floor, self.settings.fits)

    def chain(self) -> None:
        """Full fits before any truncation: they do not depend on d."""
        fit = self.full(square_start(self.X.shape[1], self.ambient))
        for r in range(1, self.settings.n_rounds):
            fit = self.full(self.reset(fit, RESET_FLOOR * RESET_DECAY ** (r - 1)))
        if self.settings.quadratic_start:
            self.full(quadratic_reset(self.X, self.y, self.ambient))

    def truncate(self, fit: FactorFit, rank: int) -> None:
        """Add a truncation, unless its subspace is the best one's already."""
        if self.pool:
            best = self.best
            U = basis_of(fit.factor)
            if _close(U[:, :rank], best.factor):
                self.confirmed = best
                return
        self.pool.append(truncate(self.X, self.y, fit, rank, self.settings.fits))

    def warm(self, factor: FloatArray, rank: int, rng: np.random.Generator) -> None:
        """Add what a former factor leads to, as it is and inflated."""
        if factor.shape[1] == rank:
            self.pool.append(fit_thin(self.X, self.y, self.given(factor), self.settings.fits))
        self.truncate(self.full(self.inflated(factor, rng)), rank)

    def given(self, factor: FloatArray) -> FactorFit:
        """Return a former factor as the start of a fit."""
        return FactorFit(factor, 1.0, self.settings.fits.noise_floor, np.inf, np.inf)

    def is_other(self, factor: FloatArray, rank: int) -> bool:
        """Tell whether a former factor is of the rank, and of another subspace than the best."""
        return factor.shape[1] == rank and not _close(factor, self.best.factor)

    def inflated(self, factor: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Return a square factor: the given one, and noise in all directions."""
        rows = self.X.shape[1]
        if factor.shape[1] > rows:
            # The likelihood knows M M' alone, which so many columns give as well.
            U, singular, _ = np.linalg.svd(factor, full_matrices=False)
            factor = U * singular
        start = np.zeros((rows, rows))
        start[:, : factor.shape[1]] = factor
        scale = HOP_NOISE * float(np.linalg.norm(factor, 2)) / np.sqrt(rows)
        return np.asarray(start + scale * rng.standard_normal((rows, rows)))

    @property
    def agreed(self) -> bool:
        """Whether two searches ended in the best subspace."""
        ordered = sorted(self.pool, key=lambda fit: fit.value)
        if self.confirmed is ordered[0]:
            return True
        return len(ordered) > 1 and _close(ordered[0].factor, ordered[1].factor)

    def hop(self, index: int, rng: np.random.Generator) -> None:
        """Search once more: from a random metric, or from the best factor inflated."""
        rank, rows = self.best.rank, self.X.shape[1]
        if index == 0 and rank + 1 < rows:
            wider = truncate(self.X, self.y, self.best_full, rank + 1, self.settings.fits)
            self.truncate(wider, rank)
        if index % 2 == 0:
            start = rng.standard_normal((rows, rows)) / np.sqrt(rows * self.ambient)
        else:
            U, singular, _ = np.linalg.svd(self.best.factor, full_matrices=False)
            columns = U * singular
            if index % 4 == 3 and rank > 1:
                columns = np.delete(columns, int(rng.integers(rank)), axis=1)
            start = self.inflated(columns, rng)
        self.truncate(self.full(start), rank)


def learn_factor(
    X: FloatArray,
    y: FloatArray,
    effective_dim: int | None,
    *,
    rng: np.random.Generator,
    max_effective_dim: int | None = None,
    settings: SearchSettings | None = None,
    starts: Iterable[FloatArray] = (),
) -> LearnedFactor:
    """Learn the factor M = W diag(1/l) of a projected GP.

    Parameters
    ----------
    X : ndarray, shape (n, D), scaled units
    y : ndarray, shape (n,)
        Finite; standardised to mean 0 and sd 1 by the caller.
    effective_dim : int or None
        d; None chooses it by BIC up to ``max_effective_dim``.
    rng : numpy.random.Generator
        Consumed by hops and warm starts alone.
    max_effective_dim : int, optional
        Default min(6, D, n - 2).
    settings : SearchSettings, optional
    starts : iterable of ndarray, shape (D, k)
        Warm starts: factors of former fits.

    Returns
    -------
    LearnedFactor

    Raises
    ------
    FitError
        If a likelihood is not finite at its start.

    Notes
    -----
    Cost O(r n^3 + r n^2 D), r about 500 calls of the likelihood without hops.
    """
    settings = settings or SearchSettings()
    n, dim = X.shape
    coordinates, lift = row_span(X)
    search = _Search(coordinates, y, dim, settings)
    search.chain()
    axes = fit_axes(X, y, settings.fits) if settings.axes else None
    candidates: list[tuple[DimensionRow, FactorFit]] = []
    if effective_dim is None:
        candidates = dimension_candidates(
            X, y, search.best_full, axes, max_effective_dim, coordinates, settings.fits
        )
        rank = lowest_bic([row for row, _ in candidates]).effective_dim
        search.pool += [
            fit for row, fit in candidates if row.effective_dim == rank and not row.axis_aligned
        ]
        done = search.best_full
    else:
        rank, done = effective_dim, None
    for fit in tuple(search.full_fits):
        if fit is not done:
            search.truncate(fit, rank)
    warm = [start if lift is None else lift.T @ start for start in starts]
    for start in warm:
        search.warm(start, rank, rng)
    _hop(search, rank, dim, rng)

    table = {(row.effective_dim, row.axis_aligned): row for row, _ in candidates}
    table[rank, False] = rotated_row(dim, n, rank, search.best.nll)
    axis_aligned = False
    if axes is not None:
        aligned = truncate_axes(X, y, axes, rank, settings.fits)
        table[rank, True] = axes_row(dim, n, aligned)
        axis_aligned = table[rank, True].bic < table[rank, False].bic
    if axis_aligned:
        assert axes is not None
        choice = settings.finish(axes_refit(X, y, rank), axes, n, rank)
    else:
        count = n_free_parameters(dim, rank)
        refit = thin_refit(coordinates, y)
        ends = [search.best, *(search.given(one) for one in warm if search.is_other(one, rank))]
        choice = min(
            (settings.finish(refit, fit, n, count) for fit in ends),
            key=lambda finished: finished.fit.value,
        )
        factor = choice.fit.factor if lift is None else lift @ choice.fit.factor
        U, singular, _ = np.linalg.svd(factor, full_matrices=False)
        choice = replace(choice, fit=replace(choice.fit, factor=np.asarray(U * singular)))
    return LearnedFactor(
        choice.fit,
        axis_aligned,
        choice.settings,
        np.asarray(np.linalg.svd(search.best_full.factor, compute_uv=False)),
        tuple(fit.value for fit in search.pool),
        tuple(table[key] for key in sorted(table)),
    )


def _hop(search: _Search, rank: int, dim: int, rng: np.random.Generator) -> None:
    n, rows = search.X.shape
    if rank == rows or n < HOP_POINTS_PER_PARAMETER * n_free_parameters(dim, rank):
        return
    for index in range(search.settings.n_hops):
        if search.agreed:
            return
        search.hop(index, rng)
