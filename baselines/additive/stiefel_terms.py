"""Terms of additive Stiefel projections: a stage's search, the stages, and backfitting.

See :mod:`baselines.additive.additive_stiefel` for the model and its source.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from boring.kernels import AdditiveKernel, FeatureMap, Free, KernelTerm, get_profile
from boring.models.gp import FitResult, GaussianProcessModel
from boring.models.posterior import GaussianProcess
from boring.models.priors import FLAT, Gaussian, ParameterPrior
from boring.subspace.dimension import default_max_effective_dim, n_free_parameters
from boring.subspace.factor_fit import (
    FULL_PRIOR,
    LOG_VARIANCE_BOUNDS,
    NOISE_CEILING,
    NOISE_PRIOR,
    SMOOTH_SCALE,
    FactorSettings,
    basis_of,
    square_start,
    thin_prior,
)
from boring.subspace.full_rank import SearchSettings, learn_factor
from boring.typing import FloatArray

__all__ = ["ITERATIONS", "ProjectedTerm", "TermsFit", "backfit", "condition", "fit_stagewise"]

#: Noise floors, in units of var(y): while subspaces are sought (as `boring.subspace`), and in
#: backfitting (chosen here).
SEARCH_NOISE_FLOOR = 1e-2
BACKFIT_NOISE_FLOOR = 1e-4
ITERATIONS = 60
#: Prior sd of a follow-up term's log variance, around what the earlier terms take for noise; and
#: its bound (chosen here).
FOLLOW_UP_VARIANCE_SD = 2.0
LEAST_LOG_VARIANCE = -14.0
#: Start of a stage's square factor, relative to lengthscale sqrt(D). With 1, 2, or 1 and 4 the
#: same terms were found in 6 of 7 data sets (camelback with ripples in 5-D, 150 points).
START_SCALE = 2.0
LEADING_VARIANCE_PRIOR = Gaussian(0.0, 1.0)


@dataclass(frozen=True, eq=False)
class ProjectedTerm:
    """One term of the sum.

    Attributes
    ----------
    factor : ndarray, shape (D, d)
        M = W diag(1/l).
    log_variance : float
        Of y standardised.
    """

    factor: FloatArray
    log_variance: float

    @property
    def basis(self) -> FloatArray:
        """W, shape (D, d), orthonormal."""
        return basis_of(self.factor)


@dataclass(frozen=True, eq=False)
class TermsFit:
    """A fitted sum of terms.

    Attributes
    ----------
    terms : tuple of ProjectedTerm
        The leading term first.
    log_noise : float
        Log noise variance, y standardised.
    bic : tuple of float
        After each accepted stage, in nats; lower is better.
    """

    terms: tuple[ProjectedTerm, ...]
    log_noise: float
    bic: tuple[float, ...] = ()


@dataclass(frozen=True, eq=False)
class _FixedFactor(FeatureMap):
    """Z = X M with M held fixed: a term of an earlier stage."""

    factor: FloatArray

    @property
    def n_parameters(self) -> int:
        """None."""
        return 0

    def inputs(self, X: FloatArray) -> FloatArray:
        """Return X M."""
        return np.asarray(X @ self.factor)

    def features(self, inputs: FloatArray, parameters: FloatArray) -> FloatArray:
        """Return X M."""
        return inputs

    def pullback(
        self, inputs: FloatArray, Z: FloatArray, dZ: FloatArray, parameters: FloatArray
    ) -> FloatArray:
        """Return nothing."""
        return np.empty(0)

    def input_gradient(self, dZ: FloatArray, parameters: FloatArray) -> FloatArray:
        """Return dZ M'."""
        return np.asarray(dZ @ self.factor.T)


@dataclass(frozen=True)
class _ComplementFactor(Free):
    """A free factor on fixed coordinates, Z = X B M; B is (D, k) with orthonormal columns."""

    basis: FloatArray

    def inputs(self, X: FloatArray) -> FloatArray:
        """Return X B."""
        return np.asarray(X @ self.basis)

    def input_gradient(self, dZ: FloatArray, parameters: FloatArray) -> FloatArray:
        """Return dZ M' B'."""
        return super().input_gradient(dZ, parameters) @ self.basis.T


def _complement(terms: Sequence[ProjectedTerm], dim: int) -> FloatArray:
    """Return an orthonormal basis (D, k) of what no term looks at."""
    stacked = np.hstack([term.basis for term in terms])
    U, singular, _ = np.linalg.svd(stacked, full_matrices=True)
    rank = int(np.sum(singular > 1e-10))
    return np.asarray(U[:, rank:])


class _Stage:
    """The search for one more term, the earlier ones held fixed."""

    def __init__(self, X: FloatArray, y: FloatArray, fit: TermsFit, kernel: str) -> None:
        self.X, self.y, self.fit = X, y, fit
        self.profile = get_profile(kernel)
        free = _complement(fit.terms, X.shape[1])
        self.free_dim = free.shape[1]
        # With fewer points than inputs the likelihood sees the row span alone.
        _, singular, Vt = np.linalg.svd(X @ free, full_matrices=False)
        kept = singular > 1e-10 * max(1.0, float(singular.max(initial=0.0)))
        self.basis = free @ Vt[kept].T
        self.fixed = [
            KernelTerm(
                self.profile,
                _FixedFactor(term.factor),
                f"term {number}",
                variance_bounds=(term.log_variance, term.log_variance),
            )
            for number, term in enumerate(fit.terms, start=1)
        ]

    def run(self, max_effective_dim: int) -> tuple[TermsFit, float]:
        """Return the sum with one more term, of the dimension of lowest BIC, and that BIC."""
        size = self.basis.shape[1]
        start = START_SCALE * square_start(size, len(self.basis))
        M = self._factor(self._solve(size, FULL_PRIOR, start), size)
        U, singular, _ = np.linalg.svd(M, full_matrices=False)
        found = []
        for rank in range(1, min(max_effective_dim, size) + 1):
            scales = np.maximum(singular[:rank], 1e-3 * max(float(singular[0]), 1e-3))
            starts = (U[:, :rank] * scales, SMOOTH_SCALE * U[:, :rank])
            fits = [self._solve(rank, thin_prior(rank), thin) for thin in starts]
            found.append(self._scored(min(fits, key=lambda fit: fit.value), rank))
        return min(found, key=lambda pair: pair[1])

    def _model(self, rank: int, prior: ParameterPrior) -> GaussianProcessModel:
        term = KernelTerm(
            self.profile,
            _ComplementFactor(self.basis.shape[1], rank, self.basis),
            f"term {len(self.fixed) + 1}",
            Gaussian(self.fit.log_noise, FOLLOW_UP_VARIANCE_SD),
            prior,
            (LEAST_LOG_VARIANCE, LOG_VARIANCE_BOUNDS[1]),
        )
        floor = max(BACKFIT_NOISE_FLOOR, SEARCH_NOISE_FLOOR * float(np.exp(self.fit.log_noise)))
        return GaussianProcessModel(
            AdditiveKernel([*self.fixed, term]), NOISE_PRIOR, (floor, NOISE_CEILING)
        )

    def _solve(self, rank: int, prior: ParameterPrior, start: FloatArray) -> FitResult:
        # What the terms so far take for noise is the new term's to explain, half of it at first.
        fixed = [term.log_variance for term in self.fit.terms]
        half = self.fit.log_noise - np.log(2.0)
        theta = np.array([*fixed, half, *start.ravel(), half])
        model = self._model(rank, prior)
        return model.fit(self.X, self.y, theta, max_iterations=ITERATIONS)

    def _factor(self, fit: FitResult, rank: int) -> FloatArray:
        return fit.theta[len(self.fixed) + 1 : -1].reshape(-1, rank)

    def _scored(self, fit: FitResult, rank: int) -> tuple[TermsFit, float]:
        penalty, _ = self._model(rank, thin_prior(rank)).penalty(fit.theta)
        count = _n_parameters(self.fit.terms, self.X.shape[1])
        count += n_free_parameters(self.free_dim, rank) + 1
        bic = fit.value - penalty + 0.5 * count * np.log(len(self.y))
        term = ProjectedTerm(
            self.basis @ self._factor(fit, rank), float(fit.theta[len(self.fixed)])
        )
        return TermsFit((*self.fit.terms, term), float(fit.theta[-1])), float(bic)


def _n_parameters(terms: Sequence[ProjectedTerm], dim: int) -> int:
    """Return how many parameters of a stagewise sum are identifiable, the noise included."""
    count, free = 1, dim
    for term in terms:
        rank = term.factor.shape[1]
        count += n_free_parameters(free, rank) + 1
        free -= rank
    return count


def _sum_model(
    ranks: Sequence[int], dim: int, kernel: str, noise_floor: float
) -> GaussianProcessModel:
    """Return the GP on a sum of free factors."""
    terms = [
        KernelTerm(
            get_profile(kernel),
            Free(dim, rank),
            f"term {number}",
            LEADING_VARIANCE_PRIOR if number == 1 else FLAT,
            thin_prior(rank),
            (LEAST_LOG_VARIANCE, LOG_VARIANCE_BOUNDS[1]),
        )
        for number, rank in enumerate(ranks, start=1)
    ]
    return GaussianProcessModel(AdditiveKernel(terms), NOISE_PRIOR, (noise_floor, NOISE_CEILING))


def _theta(fit: TermsFit) -> FloatArray:
    blocks = [np.append(term.log_variance, term.factor.ravel()) for term in fit.terms]
    return np.concatenate([*blocks, [fit.log_noise]])


def _ranks(fit: TermsFit) -> list[int]:
    return [term.factor.shape[1] for term in fit.terms]


def backfit(
    X: FloatArray,
    y: FloatArray,
    fit: TermsFit,
    *,
    kernel: str = "matern52",
    noise_floor: float = BACKFIT_NOISE_FLOOR,
    iterations: int = ITERATIONS,
) -> TermsFit:
    """Fit all factors, variances and the noise jointly, from where they are.

    Parameters
    ----------
    X : ndarray, shape (n, D), scaled units
    y : ndarray, shape (n,), standardised
    fit : TermsFit
    kernel : str, default "matern52"
    noise_floor : float, default 1e-4
        In units of var(y).
    iterations : int, default 60
        Of L-BFGS.
    """
    ranks, dim = _ranks(fit), X.shape[1]
    model = _sum_model(ranks, dim, kernel, noise_floor)
    theta = model.fit(X, y, _theta(fit), max_iterations=iterations).theta
    terms = [
        ProjectedTerm(
            theta[part.start + 1 : part.stop].reshape(dim, rank), float(theta[part.start])
        )
        for part, rank in zip(model.kernel.slices, ranks, strict=True)
    ]
    return TermsFit(tuple(terms), float(theta[-1]), fit.bic)


def fit_stagewise(
    X: FloatArray,
    y: FloatArray,
    *,
    max_terms: int,
    max_effective_dim: int,
    kernel: str = "matern52",
    rng: np.random.Generator,
) -> TermsFit:
    """Learn terms one at a time, without backfitting.

    Parameters
    ----------
    X : ndarray, shape (n, D), scaled units
    y : ndarray, shape (n,), standardised
    max_terms : int
        Most terms, the leading one included.
    max_effective_dim : int
        Largest dimension of a term.
    kernel : str, default "matern52"
    rng : numpy.random.Generator
        Consumed by the search for the first subspace.

    Returns
    -------
    TermsFit
        Bases W_j are orthogonal to each other.
    """
    n, dim = X.shape
    settings = SearchSettings(
        FactorSettings(get_profile(kernel), SEARCH_NOISE_FLOOR),
        axes=False,
        lower_floor=False,
        final_profiles=(),
    )
    top = min(max_effective_dim, default_max_effective_dim(dim, n))
    first = learn_factor(X, y, None, rng=rng, max_effective_dim=top, settings=settings).fit
    term = ProjectedTerm(first.factor, float(np.log(first.variance)))
    bic = first.nll + 0.5 * _n_parameters([term], dim) * np.log(n)
    fit, scores = TermsFit((term,), float(np.log(first.noise))), [float(bic)]
    while len(fit.terms) < max_terms and sum(_ranks(fit)) < dim:
        candidate, bic = _Stage(X, y, fit, kernel).run(max_effective_dim)
        if bic >= scores[-1]:
            break
        fit, scores = candidate, [*scores, bic]
    return TermsFit(fit.terms, fit.log_noise, tuple(scores))


def condition(
    X: FloatArray, y: FloatArray, fit: TermsFit, kernel: str = "matern52"
) -> GaussianProcess:
    """Return the posterior of a fitted sum, y standardised."""
    model = _sum_model(_ranks(fit), X.shape[1], kernel, BACKFIT_NOISE_FLOOR)
    return model.condition(_theta(fit), X, y)
