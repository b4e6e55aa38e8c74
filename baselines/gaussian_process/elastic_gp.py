r"""Elastic Gaussian process: climb the acquisition through longer lengthscales first.

Rana, Li, Gupta, Nguyen and Venkatesh, "High dimensional Bayesian optimization with elastic
Gaussian process", ICML 2017. With a short lengthscale the posterior is the prior nearly everywhere
in high dimensions: the gradient of the acquisition underflows, and a local search does not leave
its start. With a longer one it has a usable gradient. From each start x0:

1. raise the lengthscale from its target additively until the gradient at x0 exceeds a tolerance,
   or the longest lengthscale is reached;
2. climb to a local maximum;
3. lower the lengthscale by a step and climb from the last maximum, until it is the target; where
   the search does not move, halve the step.

The best end under the target lengthscale, over all starts, is the proposal.

**Deviations**

* The acquisition is the logarithm of the expected improvement. Its gradient vanishes with the
  posterior's just as that of expected improvement does, where the posterior is the prior; the
  logarithm alone does not make elastic steps needless.
* Without a given target the lengthscale is the MAP of the run's data. The paper's is fixed.
* One start is the incumbent. Where a local search finds nothing new at all, a uniform point.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.optimize import minimize

from baselines._options import check_positive
from baselines._starts import shortened
from boring.acquisition import Acquisition, LogExpectedImprovement
from boring.acquisition.maximizer import duplicates
from boring.kernels import SQUARED_EXPONENTIAL, AdditiveKernel, Isotropic, KernelTerm
from boring.models.gp import GaussianProcessModel, prior_mode
from boring.models.posterior import GaussianProcess, with_fantasies
from boring.models.priors import Gaussian, dimension_scaled
from boring.optimizer import Optimizer, Proposal, ProposalContext
from boring.surrogate import ObjectiveProcess
from boring.typing import FloatArray
from boring.validation import as_positive_int
from boring.warping import standardize

__all__ = ["ElasticGPOptimizer", "ElasticGPOptions", "ElasticPath", "climb", "elastic_climb"]

#: Priors of log variance and log noise variance, y standardised (chosen here).
VARIANCE_PRIOR = Gaussian(0.0, 1.5)
NOISE_PRIOR = Gaussian(-7.0, 2.0)
FIT_ITERATIONS = 40
#: Standard deviation of the log lengthscale where it is given: the fit is of the rest.
GIVEN_SD = 1e-3
#: A gradient of log expected improvement below this is flat, per scaled unit (chosen here).
FLAT = 1e-3
#: A search that ends this near to its start has not moved (scaled units).
SAME_PLACE = 1e-6
#: Lengthscales between the target and the longest, and halvings of the step between them.
N_STEPS = 10
MAX_HALVINGS = 4
CLIMB_ITERATIONS = 30


@dataclass(frozen=True)
class ElasticGPOptions:
    """Options of the elastic Gaussian process.

    Parameters
    ----------
    lengthscale : float, optional
        The target, scaled units; None takes the MAP of the data.
    longest : float, optional
        Longest lengthscale, scaled units; None takes sqrt(D), half of the cube's diagonal (chosen
        here).
    n_starts : int, default 10
        Uniform starts, beside the incumbent.
    """

    lengthscale: float | None = None
    longest: float | None = None
    n_starts: int = 10

    def __post_init__(self) -> None:
        """Check the options."""
        for name in ("lengthscale", "longest"):
            if getattr(self, name) is not None:
                check_positive(getattr(self, name), name)
        as_positive_int(self.n_starts, "n_starts")


@dataclass(frozen=True, eq=False)
class ElasticPath:
    """Where one elastic climb led.

    Parameters
    ----------
    x : ndarray, shape (D,)
    value : float
        Of the target acquisition.
    lengthscales : tuple of float
        At which there was a climb, in order; the last is the target.
    """

    x: FloatArray
    value: float
    lengthscales: tuple[float, ...]


def climb(acquisition: Acquisition, x: FloatArray) -> FloatArray:
    """Return a local maximum in the cube, by L-BFGS-B from a point (D,)."""

    def objective(point: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = acquisition.value_and_gradient(np.clip(point, -1.0, 1.0)[None, :])
        return -float(value[0]), -gradient[0]

    outcome = minimize(
        objective,
        x,
        jac=True,
        method="L-BFGS-B",
        bounds=[(-1.0, 1.0)] * x.size,
        options={"maxiter": CLIMB_ITERATIONS, "gtol": 1e-9, "ftol": 1e-12},
    )
    return np.asarray(np.clip(outcome.x, -1.0, 1.0))


def elastic_climb(
    acquisition_at: Callable[[float], Acquisition], x: FloatArray, target: float, longest: float
) -> ElasticPath:
    """Climb from a point through falling lengthscales (Rana et al. 2017, algorithms 1 and 2).

    Parameters
    ----------
    acquisition_at : callable
        Takes a lengthscale and returns the acquisition with it.
    x : ndarray, shape (D,)
    target, longest : float
        Lengthscales; with ``longest <= target`` this is a plain climb.

    Returns
    -------
    ElasticPath
    """
    step = max(longest - target, 0.0) / N_STEPS
    lengthscale = target
    while step > 0.0 and lengthscale < longest and _is_flat(acquisition_at(lengthscale), x):
        lengthscale = min(lengthscale + step, longest)
    x = climb(acquisition_at(lengthscale), x)
    climbed = [lengthscale]
    while lengthscale > target:
        for halvings in range(MAX_HALVINGS + 1):
            following = max(target, lengthscale - 0.5**halvings * step)
            reached = climb(acquisition_at(following), x)
            climbed.append(following)
            if np.abs(reached - x).max() > SAME_PLACE:
                break
        x, lengthscale = reached, following
    value = float(acquisition_at(target).value(x[None, :])[0])
    return ElasticPath(x, value, tuple(climbed))


def _is_flat(acquisition: Acquisition, x: FloatArray) -> bool:
    gradient = acquisition.value_and_gradient(x[None, :])[1]
    return not float(np.linalg.norm(gradient)) > FLAT


class ElasticGPOptimizer(Optimizer):
    """Bayesian optimisation with the elastic Gaussian process.

    Parameters are those of :class:`boring.optimizer.Optimizer`; options those of
    :class:`ElasticGPOptions`.

    Examples
    --------
    >>> optimizer = ElasticGPOptimizer([(-1, 1)] * 3, direction="minimize", seed=0)
    >>> result = optimizer.run(lambda x: ((x - 0.3) ** 2).sum(), 15, progress=False)
    >>> result.y_best < 0.05
    True
    """

    name: ClassVar[str] = "elastic-gp"
    options_type: ClassVar[type] = ElasticGPOptions

    @property
    def longest(self) -> float:
        """Longest lengthscale, scaled units."""
        given: float | None = self.options.longest
        return float(np.sqrt(self.space.dim)) if given is None else given

    @property
    def surrogate(self) -> ObjectiveProcess | None:
        """The GP of the objective with the target lengthscale, fitted anew to all data."""
        return ObjectiveProcess.of(self, self._fit)

    def _resolved_options(self) -> dict[str, object]:
        return {**self.option_values(), "longest": self.longest}

    def _propose(self, context: ProposalContext) -> Proposal:
        X, y = context.data.finite_X, standardize(context.data.finite_y)
        posterior = self._fit(X, y)
        target, incumbent = float(np.exp(posterior.theta[1])), float(y.max())
        acquisitions: dict[float, Acquisition] = {}

        def acquisition_at(lengthscale: float) -> Acquisition:
            if lengthscale not in acquisitions:
                theta = posterior.theta.copy()
                theta[1] = np.log(lengthscale)
                elastic = posterior.model.condition(theta, X, y)
                elastic = with_fantasies(elastic, context.pending, context.data.failing_X)
                acquisitions[lengthscale] = LogExpectedImprovement(elastic, incumbent)
            return acquisitions[lengthscale]

        starts = context.rng.uniform(-1.0, 1.0, (self.options.n_starts, self.space.dim))
        starts = np.vstack([X[int(np.argmax(y))], starts])
        paths = [elastic_climb(acquisition_at, x, target, self.longest) for x in starts]
        paths.sort(key=lambda path: -path.value)
        old = np.vstack([context.data.X, context.pending])
        best = next((path for path in paths if not duplicates(path.x, old)), None)
        info: dict[str, float | int | str | bool | None] = {
            "log_likelihood": posterior.log_marginal_likelihood,
            "lengthscale": target,
            "n_stretched": sum(path.lengthscales[0] > target for path in paths),
            "replaced": best is None,
        }
        if best is None:
            return Proposal(context.rng.uniform(-1.0, 1.0, self.space.dim), {}, info)
        return Proposal(best.x, {}, info | {"acquisition": best.value})

    def _fit(self, X: FloatArray, y: FloatArray) -> GaussianProcess:
        """Return the posterior with the target lengthscale at the best of two MAP fits."""
        given = self.options.lengthscale
        prior = (
            dimension_scaled(self.space.dim)
            if given is None
            else Gaussian(float(np.log(given)), GIVEN_SD)
        )
        term = KernelTerm(SQUARED_EXPONENTIAL, Isotropic(), "f", VARIANCE_PRIOR, prior)
        model = GaussianProcessModel(AdditiveKernel([term], 1.0), NOISE_PRIOR)
        start = prior_mode(model)
        starts = [start] if given else [start, shortened(start)]
        theta = model.fit_best(X, y, starts, max_iterations=FIT_ITERATIONS).theta
        if given is not None:
            theta[1] = np.log(given)
        return model.condition(theta, X, y)
