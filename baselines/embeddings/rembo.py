"""REMBO: Bayesian optimisation in random low-dimensional embeddings.

Wang, Hutter, Zoghi, Matheson and de Freitas, "Bayesian optimization in a billion dimensions
via random embeddings", JAIR 55 (2016), with the kernels of that paper and the warped one of
Binois, Ginsbourger and Roustant, "A warped kernel improving robustness in Bayesian
optimization via random embeddings", LION 2015.

Each of k runs has its own embedding A (D, d) with standard normal entries and its own data;
evaluations go round the runs. One run's box of half-width sqrt(d) holds an optimum of a
function of two axis-aligned variables with three optima in 71 % of draws (d = 2), four runs'
boxes in 99.3 %.

**Deviations**

* Preimages are recomputed from the evaluated points
  (:func:`boring.embedding.back_project`), not remembered: a told point needs
  no history, and of the many z with one image the same one is always taken.
* A point that a run's embedding cannot reproduce (it was told from outside, or stems from
  another run) is foreign. Points foreign to all runs serve every run through their
  least-squares preimage ("y"), as they are ("x") or by their warped projection ("psi");
  "y" leaves out those that are reproduced badly, because their values belong elsewhere.
* Matern-5/2 with one lengthscale and MAP hyperparameters instead of a squared exponential
  whose lengthscale bound shrinks; the joint multi-start maximiser instead of DIRECT.
* The initial design lies in the search boxes, as in the paper, and so differs from that of
  the other optimisers; ``initial="sobol"`` takes theirs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from baselines.embeddings.features import (
    EmbeddedFeatures,
    EmbeddedPosterior,
    get_features,
)
from boring.acquisition import (
    Acquisition,
    GpUcbBeta,
    LogExpectedImprovement,
    UpperConfidenceBound,
    maximize_acquisition,
)
from boring.embedding import RandomEmbedding, back_project
from boring.exceptions import InvalidInputError
from boring.kernels import MATERN52, AdditiveKernel, Isotropic, KernelTerm
from boring.models.gp import GaussianProcessModel
from boring.models.posterior import GaussianProcess, with_fantasies
from boring.models.priors import Gaussian, dimension_scaled
from boring.optimizer import Optimizer, Proposal, ProposalContext
from boring.rng import keyed_generator
from boring.typing import FloatArray
from boring.validation import as_positive_int, as_real
from boring.warping import standardize

__all__ = ["RemboOptimizer", "RemboOptions", "draw_embeddings"]

#: d = 2 with four runs is the best setting of Wang et al. (2016), table 1, for a function
#: of two variables in 25 dimensions.
DEFAULT_EFFECTIVE_DIM = 2
DEFAULT_N_EMBEDDINGS = 4
#: A run owns the points that its embedding reproduces this well (scaled units).
OWN_TOLERANCE = 1e-6
#: Kernel "y" leaves out points that are reproduced worse than this (chosen here).
FOREIGN_TOLERANCE = 0.1
#: Priors of log variance and log noise variance, y standardised (chosen here).
VARIANCE_PRIOR = Gaussian(0.0, 1.5)
NOISE_PRIOR = Gaussian(-7.0, 2.0)
FIT_ITERATIONS = 40
#: Lengthscale of the second start of the fit, relative to the first (the prior's mode).
SHORT_START = 0.3


@dataclass(frozen=True)
class RemboOptions:
    """Options of REMBO.

    Parameters
    ----------
    effective_dim : int, optional
        d, at most D; None takes min(2, D).
    n_embeddings : int, default 4
        Interleaved runs k.
    kernel : {"psi", "x", "y"}, default "psi"
        What distances are measured between: warped projections, points or preimages.
    acquisition : {"log-ei", "ucb"}, default "log-ei"
        UCB with GP-UCB's beta in d dimensions, delta = 0.1.
    half_width : float, optional
        Of the search box; None takes sqrt(d).
    initial : {"embedded", "sobol"}, default "embedded"
        Initial design: uniform in the search boxes in turn, or Sobol points of the cube.
    """

    effective_dim: int | None = None
    n_embeddings: int = DEFAULT_N_EMBEDDINGS
    kernel: Literal["psi", "x", "y"] = "psi"
    acquisition: Literal["log-ei", "ucb"] = "log-ei"
    half_width: float | None = None
    initial: Literal["embedded", "sobol"] = "embedded"

    def __post_init__(self) -> None:
        """Check every option that does not depend on the space."""
        if self.effective_dim is not None:
            as_positive_int(self.effective_dim, "effective_dim")
        as_positive_int(self.n_embeddings, "n_embeddings")
        choices = {
            "kernel": ("psi", "x", "y"),
            "acquisition": ("log-ei", "ucb"),
            "initial": ("embedded", "sobol"),
        }
        for name, allowed in choices.items():
            if getattr(self, name) not in allowed:
                raise InvalidInputError(
                    f"{name} must be one of {', '.join(allowed)}; received {getattr(self, name)!r}"
                )
        width = self.half_width
        if width is not None and not as_real(width, "half_width", "positive") > 0:
            raise InvalidInputError(f"half_width must be positive; received {width!r}")


def draw_embeddings(
    entropy: int, dim: int, effective_dim: int, n_embeddings: int
) -> tuple[RandomEmbedding, ...]:
    """Return the embeddings of a run, the same whenever they are asked for.

    Parameters
    ----------
    entropy : int
        Of the optimiser.
    dim, effective_dim, n_embeddings : int
        D, d and k.
    """
    return tuple(
        RandomEmbedding.gaussian(dim, effective_dim, keyed_generator(entropy, "rembo", run))
        for run in range(n_embeddings)
    )


class RemboOptimizer(Optimizer):
    """Bayesian optimisation in interleaved random embeddings.

    Parameters are those of :class:`boring.optimizer.Optimizer`; options those of
    :class:`RemboOptions`.

    Raises
    ------
    InvalidInputError
        If ``effective_dim`` exceeds the dimension of the space.

    Examples
    --------
    >>> optimizer = RemboOptimizer([(-1, 1)] * 10, direction="minimize", seed=0)
    >>> result = optimizer.run(lambda x: (x[0] - 0.3) ** 2, 12, progress=False)
    >>> result.X.shape
    (12, 10)
    """

    name: ClassVar[str] = "rembo"
    options_type: ClassVar[type] = RemboOptions

    def __init__(self, space: Any, **arguments: Any) -> None:
        super().__init__(space, **arguments)
        if self.effective_dim > self.space.dim:
            raise InvalidInputError(
                f"effective_dim must not exceed the dimension of the space; received "
                f"{self.effective_dim} in {self.space.dim} dimensions. Lower effective_dim."
            )
        self._embeddings = draw_embeddings(
            self.entropy, self.space.dim, self.effective_dim, self.options.n_embeddings
        )

    @property
    def effective_dim(self) -> int:
        """Dimension d of the search boxes."""
        given: int | None = self.options.effective_dim
        return min(DEFAULT_EFFECTIVE_DIM, self.space.dim) if given is None else given

    @property
    def half_width(self) -> float:
        """Half-width of the search boxes."""
        given: float | None = self.options.half_width
        return self._embeddings[0].half_width if given is None else given

    @property
    def embeddings(self) -> tuple[RandomEmbedding, ...]:
        """The embedding of each run."""
        return self._embeddings

    def _resolved_options(self) -> dict[str, object]:
        resolved = {"effective_dim": self.effective_dim, "half_width": self.half_width}
        return {**self.option_values(), **resolved}

    def _initial_points(self, n: int, rng: np.random.Generator) -> FloatArray:
        if self.options.initial == "sobol":
            return super()._initial_points(n, rng)
        U = rng.uniform(-1.0, 1.0, (n, self.effective_dim))
        rows = [
            self._embeddings[i % len(self._embeddings)].up(self.half_width * U[[i]])
            for i in range(n)
        ]
        return np.vstack([np.empty((0, self.space.dim)), *rows])

    def _propose(self, context: ProposalContext) -> Proposal:
        n_runs = len(self._embeddings)
        run = (len(context.data) + len(context.pending)) % n_runs
        features = get_features(self.options.kernel, self._embeddings[run], self.half_width)
        rows = self._rows_of_run(run, context.data.finite_X)
        info: dict[str, float | int | str | bool | None] = {"run": run, "n_run": len(rows)}
        if not len(rows):
            u = context.rng.uniform(-1.0, 1.0, self.effective_dim)
            return Proposal(features.up(u[None, :])[0], {}, {**info, "acquisition": None})

        X, y = context.data.finite_X[rows], standardize(context.data.finite_y[rows])
        posterior = _fit(features, X, y)
        info["log_likelihood"] = posterior.log_marginal_likelihood
        pending, failing, failed = (
            points[self._rows_of_run(run, points)]
            for points in (context.pending, context.data.failing_X, context.data.failed_X)
        )
        posterior = with_fantasies(
            posterior, features.of_points(pending), features.of_points(failing)
        )
        preimages = features.down(np.vstack([X, pending, failed]))[0]
        found = maximize_acquisition(
            self._acquisition(EmbeddedPosterior(features, posterior), float(y.max()), len(rows)),
            self.effective_dim,
            incumbent=np.clip(preimages[int(np.argmax(y))], -1.0, 1.0),
            rng=context.rng,
            avoid=preimages,
        )
        info |= {"acquisition": found.value, "replaced": found.replaced}
        return Proposal(features.up(found.x[None, :])[0], {}, info)

    def _rows_of_run(self, run: int, X: FloatArray) -> np.ndarray:
        """Return indices of the points that a run uses: its own, and those that no run owns."""
        errors = np.stack([_errors(embedding, X) for embedding in self._embeddings])
        owned = errors <= OWN_TOLERANCE
        usable = owned[run] | ~owned.any(axis=0)
        if self.options.kernel == "y":
            close = usable & (errors[run] <= FOREIGN_TOLERANCE)
            usable = close if close.any() else usable
        return np.flatnonzero(usable)

    def _acquisition(
        self, posterior: EmbeddedPosterior, incumbent: float, n_run: int
    ) -> Acquisition:
        if self.options.acquisition == "ucb":
            return UpperConfidenceBound(posterior, GpUcbBeta(self.effective_dim)(n_run))
        return LogExpectedImprovement(posterior, incumbent)


def _errors(embedding: RandomEmbedding, X: FloatArray) -> FloatArray:
    """Return how badly an embedding reproduces each point, shape (n,)."""
    return back_project(embedding, X)[1]


def _fit(features: EmbeddedFeatures, X: FloatArray, y: FloatArray) -> GaussianProcess:
    """Return the posterior over features at the best of two MAP fits."""
    F = features.of_points(X)
    prior = dimension_scaled(features.prior_dim)
    term = KernelTerm(MATERN52, Isotropic(), "embedded", VARIANCE_PRIOR, prior)
    model = GaussianProcessModel(AdditiveKernel([term], 1.0), NOISE_PRIOR)
    start = np.array([VARIANCE_PRIOR.mean, prior.mean, NOISE_PRIOR.mean])
    short = start + np.array([0.0, np.log(SHORT_START), 0.0])
    fit = model.fit_best(F, y, [start, short], max_iterations=FIT_ITERATIONS)
    return model.condition(fit.theta, F, y)
