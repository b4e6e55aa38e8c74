"""Bayesian optimisation inside embeddings that take turns: what REMBO and its kin share.

Each of k runs has its own embedding and its own data; evaluations go round the runs. A model over
the features of a run (:class:`baselines.embeddings.features.SearchFeatures`) is fitted, and the
acquisition is maximised over the run's search box.

A point that a run's embedding cannot reproduce (it was told from outside, or stems from another
run) is foreign. Points foreign to all runs serve every run through their features; where distant
points share a feature, those that are reproduced badly are left out as long as there are others,
because their values belong elsewhere.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from baselines._acquisition import ACQUISITIONS, acquisition_of
from baselines._options import check_choice, check_fits, check_optional_int
from baselines._starts import shortened
from baselines.embeddings.features import EmbeddedPosterior, SearchFeatures
from boring.acquisition import maximize_acquisition
from boring.kernels import MATERN52, AdditiveKernel, FeatureMap, Isotropic, KernelTerm
from boring.models.gp import GaussianProcessModel, prior_mode
from boring.models.posterior import GaussianProcess, with_fantasies
from boring.models.priors import Gaussian, dimension_scaled
from boring.optimizer import Optimizer, Proposal, ProposalContext
from boring.surrogate import ObjectivePosterior
from boring.typing import BoolArray, FloatArray
from boring.validation import as_positive_int
from boring.warping import Units, standardize, standardized

__all__ = ["INITIAL_DESIGNS", "EmbeddedOptimizer", "EmbeddedOptions", "two_start_fit"]

#: Values of the option ``initial``.
INITIAL_DESIGNS = ("embedded", "sobol")
#: A run owns the points that its embedding reproduces this well (scaled units).
OWN_TOLERANCE = 1e-6
#: Points that are reproduced worse than this may be left out (chosen here).
FOREIGN_TOLERANCE = 0.1
#: Priors of log variance and log noise variance, y standardised (chosen here).
VARIANCE_PRIOR = Gaussian(0.0, 1.5)
NOISE_PRIOR = Gaussian(-7.0, 2.0)
#: Iterations of one fit.
FIT_ITERATIONS = 40


@dataclass(frozen=True)
class EmbeddedOptions:
    """Options that all of these optimisers have.

    Parameters
    ----------
    effective_dim : int, optional
        d, at most D; None takes the optimiser's own, or D if that is less.
    n_embeddings : int, default 1
        Interleaved runs.
    acquisition : {"log-ei", "ucb"}, default "log-ei"
        UCB with GP-UCB's beta in d dimensions, delta = 0.1.
    initial : {"embedded", "sobol"}, default "embedded"
        Initial design: drawn in the embeddings in turn, or Sobol points of the cube.
    """

    effective_dim: int | None = None
    n_embeddings: int = 1
    acquisition: Literal["log-ei", "ucb"] = "log-ei"
    initial: Literal["embedded", "sobol"] = "embedded"

    def __post_init__(self) -> None:
        """Check every option that does not depend on the space."""
        check_optional_int(self.effective_dim, "effective_dim")
        as_positive_int(self.n_embeddings, "n_embeddings")
        check_choice(self.acquisition, "acquisition", ACQUISITIONS)
        check_choice(self.initial, "initial", INITIAL_DESIGNS)


class EmbeddedOptimizer(Optimizer):
    """The base of optimisers that search embeddings.

    Options are :class:`EmbeddedOptions`, or a class derived from them.

    Raises
    ------
    InvalidInputError
        If ``effective_dim`` exceeds the dimension of the space.
    """

    default_effective_dim: ClassVar[int]

    def __init__(self, space: Any, **arguments: Any) -> None:
        super().__init__(space, **arguments)
        check_fits(self.effective_dim, self.space.dim)
        self._features = self._draw_features()

    @abstractmethod
    def _draw_features(self) -> tuple[SearchFeatures, ...]:
        """Return the embedding of each run, drawn from the optimiser's entropy."""

    @property
    def effective_dim(self) -> int:
        """Dimension d of the embeddings."""
        given: int | None = self.options.effective_dim
        return min(self.default_effective_dim, self.space.dim) if given is None else given

    @property
    def features(self) -> tuple[SearchFeatures, ...]:
        """What each run searches."""
        return self._features

    @property
    def shares_features(self) -> bool:
        """Whether foreign points may have the features of quite other points."""
        return True

    @property
    def surrogate(self) -> ObjectivePosterior[RunsPosterior] | None:
        """The models of all runs, fitted anew, each over the features of x in its embedding.

        A feature is a function of x, so that every point of the box has one. Where a run's
        embedding reproduces a point, the run's model speaks; of a point that none reproduces, all
        of them, with equal weights: a model of one run then speaks of x as of the points with the
        same features, as it does for told points that are foreign to it.
        """
        return ObjectivePosterior.of(self, self._runs_posterior)

    def _runs_posterior(self, X: FloatArray, y: FloatArray) -> RunsPosterior:
        models = []
        for run, features in enumerate(self.features):
            rows = self._rows_of_run(run, X)
            if len(rows):
                values, units = standardized(y[rows])
                models.append((features, self._fit(features, X[rows], values), units))
        return RunsPosterior(models)

    def _fit(self, features: SearchFeatures, X: FloatArray, y: FloatArray) -> GaussianProcess:
        """Return the posterior over the features of points X (n, D) with standardised y (n,).

        By default with one lengthscale over all features.
        """
        return two_start_fit(Isotropic(), features.prior_dim, features.of_points(X), y)

    def _resolved_options(self) -> dict[str, object]:
        return {**self.option_values(), "effective_dim": self.effective_dim}

    def _initial_points(self, n: int, rng: np.random.Generator) -> FloatArray:
        if self.options.initial == "sobol":
            return super()._initial_points(n, rng)
        runs = self.features
        U = runs[0].sample(n, rng)
        rows = [runs[i % len(runs)].up(U[[i]]) for i in range(n)]
        return np.vstack([np.empty((0, self.space.dim)), *rows])

    def _propose(self, context: ProposalContext) -> Proposal:
        run = context.n_points % len(self.features)
        features = self.features[run]
        rows = self._rows_of_run(run, context.data.finite_X)
        info: dict[str, float | int | str | bool | None] = {"run": run, "n_run": len(rows)}
        if not len(rows):
            u = features.sample(1, context.rng)
            return Proposal(features.up(u)[0], {}, {**info, "acquisition": None})

        X, y = context.data.finite_X[rows], standardize(context.data.finite_y[rows])
        posterior = self._fit(features, X, y)
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
            acquisition_of(
                self.options.acquisition,
                EmbeddedPosterior(features, posterior),
                float(y.max()),
                self.effective_dim,
                len(rows),
            ),
            features.search_dim,
            incumbent=np.clip(preimages[int(np.argmax(y))], -1.0, 1.0),
            rng=context.rng,
            avoid=preimages,
            given=features.candidates(context.rng),
        )
        info |= {"acquisition": found.value, "replaced": found.replaced}
        return Proposal(features.up(found.x[None, :])[0], {}, info)

    def _rows_of_run(self, run: int, X: FloatArray) -> np.ndarray:
        """Return indices of the points that a run uses: its own, and those that no run owns."""
        errors, owned = ownership(self.features, X)
        usable = owned[run] | ~owned.any(axis=0)
        if self.shares_features:
            close = usable & (errors[run] <= FOREIGN_TOLERANCE)
            usable = close if close.any() else usable
        return np.flatnonzero(usable)


def ownership(features: Sequence[SearchFeatures], X: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Return how badly each of k embeddings reproduces points X (n, D), and whether it owns them.

    Both of shape (k, n).
    """
    errors = np.stack([each.down(X)[1] for each in features])
    return errors, errors <= OWN_TOLERANCE


class RunsPosterior:
    """The models of interleaved runs as one: that of the run that owns a point, or all of them.

    Parameters
    ----------
    models : sequence of (SearchFeatures, GaussianProcess, Units)
        Of each run that has data: its embedding, its posterior over features, and the way from
        the run's standardised values to those of all data.
    """

    def __init__(self, models: Sequence[tuple[SearchFeatures, GaussianProcess, Units]]) -> None:
        self.models = tuple(models)

    def predict(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance (m,) at X (m, D), scaled: those of the mixture."""
        weights = ownership([features for features, _, _ in self.models], X)[1].astype(float)
        weights[:, ~weights.any(axis=0)] = 1.0
        weights /= weights.sum(axis=0)
        means, variances = np.empty_like(weights), np.empty_like(weights)
        for row, (features, posterior, units) in enumerate(self.models):
            mean, variance = posterior.predict(features.of_points(X))
            means[row], variances[row] = units.values(mean), units.variances(variance)
        mean = np.sum(weights * means, axis=0)
        return mean, np.sum(weights * (variances + (means - mean) ** 2), axis=0)


def two_start_fit(
    feature_map: FeatureMap, prior_dim: int, F: FloatArray, y: FloatArray
) -> GaussianProcess:
    """Return the posterior over features at the best of two MAP fits.

    Parameters
    ----------
    feature_map : FeatureMap
        Its parameters are log lengthscales.
    prior_dim : int
        Dimension by which the prior of the lengthscales is scaled.
    F : ndarray, shape (n, f)
    y : ndarray, shape (n,), standardised
    """
    prior = dimension_scaled(prior_dim)
    term = KernelTerm(MATERN52, feature_map, "embedded", VARIANCE_PRIOR, prior)
    model = GaussianProcessModel(AdditiveKernel([term], 1.0), NOISE_PRIOR)
    start = prior_mode(model)
    fit = model.fit_best(F, y, [start, shortened(start)], max_iterations=FIT_ITERATIONS)
    return model.condition(fit.theta, F, y)
