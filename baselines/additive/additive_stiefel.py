"""Additive Stiefel projections: a sum of functions of learned projections.

Thesis, section 4.2: f(x) ~ g_1(W_1'x) + g_2(W_2'x) + ... A first subspace W_1 is learned and its
dimension chosen by BIC; then terms are added one at a time, the earlier ones held fixed, such that
the W_j do not span the same space, until nothing is gained. It is projection pursuit regression
with Gaussian processes, and with free follow-up terms where BORING's are one-dimensional and fixed.

Each stage maximises the likelihood of the *sum* kernel over the factor M_j = W_j diag(1/l_j), its
variance and the noise: a square factor on the orthogonal complement of all earlier W first,
truncated by singular values and refitted at every dimension, as `boring.subspace` learns a single
subspace. Backfitting then frees all terms and fits them jointly.

**Deviations**

* A fit to the residuals of the posterior mean would take the earlier terms for certain; the
  likelihood of the sum does not.
* Factors M instead of steps on the Stiefel manifold: the same models, and no manifold
  (`boring.subspace.factor_fit`). W_j are orthogonal to each other by construction before
  backfitting, and free in it.
* The thesis names no rule for the number of terms; here BIC, with the identifiable parameters of
  every factor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from baselines.additive.improvement_loop import FittedModels, ImprovementOptimizer
from baselines.additive.scaled_surrogate import ScaledSurrogate
from boring.kernels import AdditiveKernel, FeatureMap, Free, KernelTerm, get_profile
from boring.models.gp import FitResult, GaussianProcessModel
from boring.models.posterior import GaussianProcess
from boring.models.priors import Gaussian, ParameterPrior
from boring.optimizer import ProposalContext
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
from boring.validation import as_positive_int
from boring.warping import standardize

__all__ = [
    "AdditiveStiefelGP",
    "AdditiveStiefelOptimizer",
    "AdditiveStiefelOptions",
    "ProjectedTerm",
    "TermsFit",
    "backfit",
    "fit_stagewise",
]

#: Noise floors, in units of var(y): while subspaces are sought (as `boring.subspace`), and in
#: backfitting (chosen here).
SEARCH_NOISE_FLOOR = 1e-2
BACKFIT_NOISE_FLOOR = 1e-4
ITERATIONS = 60
#: Prior of a follow-up term's log variance: smaller than the leading term's (chosen here).
FOLLOW_UP_VARIANCE_PRIOR = Gaussian(-1.5, 1.5)
LEADING_VARIANCE_PRIOR = Gaussian(0.0, 1.0)


@dataclass(frozen=True)
class AdditiveStiefelOptions:
    """Options of additive Stiefel projections (all chosen here; the thesis gives none).

    Parameters
    ----------
    max_terms : int, default 4
        Most terms, the leading one included.
    max_effective_dim : int, default 3
        Largest dimension of a term.
    backfit : bool, default True
        Whether all terms are fitted jointly in the end.
    kernel : {"matern52", "matern32", "squared-exponential"}, default "matern52"
    refit_every : int, default 10
        Observations of the optimiser between two searches for terms.
    """

    max_terms: int = 4
    max_effective_dim: int = 3
    backfit: bool = True
    kernel: str = "matern52"
    refit_every: int = 10

    def __post_init__(self) -> None:
        """Check the options."""
        for name in ("max_terms", "max_effective_dim", "refit_every"):
            as_positive_int(getattr(self, name), name)
        get_profile(self.kernel)


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

    def __init__(
        self, X: FloatArray, y: FloatArray, fit: TermsFit, options: AdditiveStiefelOptions
    ) -> None:
        self.X, self.y, self.fit = X, y, fit
        self.profile = get_profile(options.kernel)
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
        full = self._solve(size, FULL_PRIOR, square_start(size, len(self.basis)), -2.0)
        M = self._factor(full, size)
        U, singular, _ = np.linalg.svd(M, full_matrices=False)
        found = []
        for rank in range(1, min(max_effective_dim, size) + 1):
            scales = np.maximum(singular[:rank], 1e-3 * max(float(singular[0]), 1e-3))
            starts = (U[:, :rank] * scales, SMOOTH_SCALE * U[:, :rank])
            prior = thin_prior(rank)
            fits = [self._solve(rank, prior, start, -1.5) for start in starts]
            found.append(self._scored(min(fits, key=lambda fit: fit.value), rank))
        return min(found, key=lambda pair: pair[1])

    def _model(self, rank: int, prior: ParameterPrior) -> GaussianProcessModel:
        term = KernelTerm(
            self.profile,
            _ComplementFactor(self.basis.shape[1], rank, self.basis),
            f"term {len(self.fixed) + 1}",
            FOLLOW_UP_VARIANCE_PRIOR,
            prior,
            LOG_VARIANCE_BOUNDS,
        )
        return GaussianProcessModel(
            AdditiveKernel([*self.fixed, term]), NOISE_PRIOR, (SEARCH_NOISE_FLOOR, NOISE_CEILING)
        )

    def _solve(
        self, rank: int, prior: ParameterPrior, start: FloatArray, log_variance: float
    ) -> FitResult:
        fixed = [term.log_variance for term in self.fit.terms]
        theta = np.array([*fixed, log_variance, *start.ravel(), self.fit.log_noise])
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
            LEADING_VARIANCE_PRIOR if number == 1 else FOLLOW_UP_VARIANCE_PRIOR,
            thin_prior(rank),
            LOG_VARIANCE_BOUNDS,
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
    options: AdditiveStiefelOptions | None = None,
    *,
    rng: np.random.Generator,
) -> TermsFit:
    """Learn terms one at a time, without backfitting.

    Parameters
    ----------
    X : ndarray, shape (n, D), scaled units
    y : ndarray, shape (n,), standardised
    options : AdditiveStiefelOptions, optional
    rng : numpy.random.Generator
        Consumed by the search for the first subspace.

    Returns
    -------
    TermsFit
        Bases W_j are orthogonal to each other.
    """
    options = options or AdditiveStiefelOptions()
    n, dim = X.shape
    settings = SearchSettings(
        FactorSettings(get_profile(options.kernel), SEARCH_NOISE_FLOOR),
        axes=False,
        lower_floor=False,
        final_profiles=(),
    )
    top = min(options.max_effective_dim, default_max_effective_dim(dim, n))
    first = learn_factor(X, y, None, rng=rng, max_effective_dim=top, settings=settings).fit
    term = ProjectedTerm(first.factor, float(np.log(first.variance)))
    bic = first.nll + 0.5 * _n_parameters([term], dim) * np.log(n)
    fit, scores = TermsFit((term,), float(np.log(first.noise))), [float(bic)]
    while len(fit.terms) < options.max_terms and sum(_ranks(fit)) < dim:
        candidate, bic = _Stage(X, y, fit, options).run(options.max_effective_dim)
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


class AdditiveStiefelGP(ScaledSurrogate):
    """A surrogate on a sum of learned projections.

    Parameters
    ----------
    options : AdditiveStiefelOptions, optional

    Attributes
    ----------
    terms_fit : TermsFit
        After :meth:`fit`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (80, 4))
    >>> y = np.sin(4 * X[:, 0]) + (X[:, 1] + X[:, 2]) ** 2
    >>> model = AdditiveStiefelGP().fit(X, y, rng=rng)
    >>> model.predict(X[:5])[0].shape
    (5,)
    """

    terms_fit: TermsFit

    def __init__(self, options: AdditiveStiefelOptions | None = None) -> None:
        self.options = options or AdditiveStiefelOptions()

    def _fit(self, X: FloatArray, y: FloatArray, rng: np.random.Generator) -> GaussianProcess:
        fit = fit_stagewise(X, y, self.options, rng=rng)
        if self.options.backfit:
            fit = backfit(X, y, fit, kernel=self.options.kernel)
        self.terms_fit = fit
        return condition(X, y, fit, self.options.kernel)


#: Noise floor and iterations between two searches: points of a run crowd around the optimum,
#: where a floor blurs what is left to gain.
RUN_NOISE_FLOOR = 1e-6
WARM_ITERATIONS = 12


class AdditiveStiefelOptimizer(ImprovementOptimizer):
    """Expected improvement on a sum of learned projections.

    Parameters are those of :class:`boring.optimizer.Optimizer`; options those of
    :class:`AdditiveStiefelOptions`. Terms are sought anew every ``refit_every`` observations and
    backfitted at each proposal (or, with ``backfit=False``, kept as the stages left them).

    Examples
    --------
    >>> optimizer = AdditiveStiefelOptimizer([(-1, 1)] * 3, direction="minimize", seed=0)
    >>> result = optimizer.run(lambda x: ((x - 0.3) ** 2).sum(), 12, progress=False)
    >>> result.X.shape
    (12, 3)
    """

    name: ClassVar[str] = "additive-stiefel"
    options_type: ClassVar[type] = AdditiveStiefelOptions

    @property
    def terms(self) -> tuple[ProjectedTerm, ...] | None:
        """Terms of the last proposal; None before the first."""
        return _from_memory(self.memory).terms if self.memory else None

    @property
    def surrogate(self) -> GaussianProcess | None:
        """Posterior at the last proposal's terms, in standardised values."""
        if not self.memory or not self.data.is_informative:
            return None
        X, y = self.data.finite_X, standardize(self.data.finite_y)
        return condition(X, y, _from_memory(self.memory), self.options.kernel)

    def _fit_models(self, X: FloatArray, y: FloatArray, context: ProposalContext) -> FittedModels:
        options, memory = self.options, context.memory
        sought_at = int(memory.get("sought_at", -options.refit_every))
        if not memory or len(X) - sought_at >= options.refit_every:
            fit, sought_at = fit_stagewise(X, y, options, rng=context.rng), len(X)
            iterations = ITERATIONS
        else:
            fit, iterations = _from_memory(memory), WARM_ITERATIONS
        if options.backfit:
            fit = backfit(
                X,
                y,
                fit,
                kernel=options.kernel,
                noise_floor=RUN_NOISE_FLOOR,
                iterations=iterations,
            )
        posterior = condition(X, y, fit, options.kernel)
        return FittedModels(
            [posterior],
            [1.0],
            memory={
                "sought_at": sought_at,
                "log_noise": fit.log_noise,
                "terms": [[term.log_variance, term.factor.tolist()] for term in fit.terms],
            },
            info={
                "log_likelihood": posterior.log_marginal_likelihood,
                "noise_variance": posterior.noise_variance,
                "n_terms": len(fit.terms),
            },
            basis=np.hstack([term.basis for term in fit.terms]),
        )


def _from_memory(memory: Mapping[str, Any]) -> TermsFit:
    terms = (ProjectedTerm(np.array(factor), float(v)) for v, factor in memory["terms"])
    return TermsFit(tuple(terms), float(memory["log_noise"]))
