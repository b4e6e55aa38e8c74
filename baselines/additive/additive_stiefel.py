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

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from baselines.additive.improvement_loop import FittedModels, ImprovementOptimizer
from baselines.additive.scaled_surrogate import ScaledSurrogate
from baselines.additive.stiefel_terms import (
    ITERATIONS,
    ProjectedTerm,
    TermsFit,
    backfit,
    condition,
    fit_stagewise,
)
from boring.kernels import get_profile
from boring.models.posterior import GaussianProcess
from boring.optimizer import ProposalContext
from boring.surrogate import ObjectiveProcess
from boring.typing import FloatArray
from boring.validation import as_positive_int

__all__ = ["AdditiveStiefelGP", "AdditiveStiefelOptimizer", "AdditiveStiefelOptions"]


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


def _stages(
    X: FloatArray, y: FloatArray, options: AdditiveStiefelOptions, rng: np.random.Generator
) -> TermsFit:
    return fit_stagewise(
        X,
        y,
        max_terms=options.max_terms,
        max_effective_dim=options.max_effective_dim,
        kernel=options.kernel,
        rng=rng,
    )


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
        fit = _stages(X, y, self.options, rng)
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
    def surrogate(self) -> ObjectiveProcess | None:
        """The GP of the objective at the last proposal's terms; None before the first."""
        if not self.memory:
            return None
        fit, kernel = _from_memory(self.memory), self.options.kernel
        return ObjectiveProcess.of(self, lambda X, y: condition(X, y, fit, kernel))

    def _fit_models(self, X: FloatArray, y: FloatArray, context: ProposalContext) -> FittedModels:
        options, memory = self.options, context.memory
        sought_at = int(memory.get("sought_at", -options.refit_every))
        if not memory or len(X) - sought_at >= options.refit_every:
            fit, sought_at = _stages(X, y, options, context.rng), len(X)
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
