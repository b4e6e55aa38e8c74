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
from typing import ClassVar

import numpy as np

from baselines.embeddings.features import EmbeddedPosterior, SearchFeatures
from boring.acquisition import (
    Acquisition,
    GpUcbBeta,
    LogExpectedImprovement,
    UpperConfidenceBound,
    maximize_acquisition,
)
from boring.exceptions import InvalidInputError
from boring.models.posterior import GaussianProcess, with_fantasies
from boring.models.priors import Gaussian
from boring.optimizer import Optimizer, Proposal, ProposalContext
from boring.typing import FloatArray
from boring.warping import standardize

__all__ = ["ACQUISITIONS", "INITIAL_DESIGNS", "EmbeddedOptimizer"]

#: Values of the options of the same names.
ACQUISITIONS = ("log-ei", "ucb")
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


class EmbeddedOptimizer(Optimizer):
    """The base of optimisers that search embeddings.

    Options must hold ``effective_dim``, ``acquisition`` and ``initial``.

    Raises
    ------
    InvalidInputError
        If ``effective_dim`` exceeds the dimension of the space.
    """

    default_effective_dim: ClassVar[int]

    def _check_effective_dim(self) -> None:
        if self.effective_dim > self.space.dim:
            raise InvalidInputError(
                f"effective_dim must not exceed the dimension of the space; received "
                f"{self.effective_dim} in {self.space.dim} dimensions. Lower effective_dim."
            )

    @property
    def effective_dim(self) -> int:
        """Dimension d of the embeddings."""
        given: int | None = self.options.effective_dim
        return min(self.default_effective_dim, self.space.dim) if given is None else given

    @property
    @abstractmethod
    def features(self) -> tuple[SearchFeatures, ...]:
        """What each run searches."""

    @property
    def shares_features(self) -> bool:
        """Whether foreign points may have the features of quite other points."""
        return True

    @abstractmethod
    def _fit(self, features: SearchFeatures, X: FloatArray, y: FloatArray) -> GaussianProcess:
        """Return the posterior over the features of points X (n, D) with values y (n,)."""

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
        run = (len(context.data) + len(context.pending)) % len(self.features)
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
            self._acquisition(EmbeddedPosterior(features, posterior), float(y.max()), len(rows)),
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
        errors = np.stack([features.down(X)[1] for features in self.features])
        owned = errors <= OWN_TOLERANCE
        usable = owned[run] | ~owned.any(axis=0)
        if self.shares_features:
            close = usable & (errors[run] <= FOREIGN_TOLERANCE)
            usable = close if close.any() else usable
        return np.flatnonzero(usable)

    def _acquisition(
        self, posterior: EmbeddedPosterior, incumbent: float, n_run: int
    ) -> Acquisition:
        if self.options.acquisition == "ucb":
            return UpperConfidenceBound(posterior, GpUcbBeta(self.effective_dim)(n_run))
        return LogExpectedImprovement(posterior, incumbent)
