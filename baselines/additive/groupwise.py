"""The loop of upper confidence bounds over groups: what these optimisers share.

Every so many observations an algorithm learns a structure and its hyperparameters; in between
they stay. The bound of each group is maximised, and the maximisers are joined.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np

from baselines.additive.groups import (
    Structure,
    as_structure,
    distinct,
    group_posteriors,
    maximize_by_groups,
    prior_mode,
    singletons,
    tied_model,
)
from boring.acquisition import UpperConfidenceBound
from boring.models.posterior import GaussianProcess, with_fantasies
from boring.optimizer import Optimizer, Proposal, ProposalContext
from boring.surrogate import ObjectiveProcess
from boring.typing import FloatArray
from boring.warping import standardize

__all__ = ["GroupwiseOptimizer"]

#: Iterations of L-BFGS for the hyperparameters (chosen here).
FIT_ITERATIONS = 30


class GroupwiseOptimizer(Optimizer):
    """An optimiser by additive upper confidence bounds on a learned structure.

    Subclasses say how they learn the structure, whether lengthscales are per input
    (``per_input``), which bound a group has, and, if groups overlap, how the sum is maximised.
    Their options have ``update_every``.
    """

    per_input: bool = False

    @abstractmethod
    def _learn(
        self,
        X: FloatArray,
        y: FloatArray,
        tied: FloatArray,
        memory: Mapping[str, Any],
        rng: np.random.Generator,
    ) -> dict[str, Any]:
        """Return what to remember, with the new structure under ``"structure"``."""

    @abstractmethod
    def _beta(self, group_size: int, t: int) -> float:
        """Return the factor on a group's standard deviation after t observations."""

    def _maximize(
        self,
        acquisitions: list[UpperConfidenceBound],
        structure: Structure,
        incumbent: FloatArray,
        rng: np.random.Generator,
    ) -> tuple[FloatArray, float]:
        """Return the maximiser of the sum of the groups' bounds, and the sum."""
        return maximize_by_groups(acquisitions, structure, incumbent=incumbent, rng=rng)

    @property
    def structure(self) -> Structure | None:
        """Groups of inputs (indices from 0) in use; None before the first proposal."""
        found = self.memory.get("structure")
        return None if found is None else as_structure(found)

    @property
    def surrogate(self) -> ObjectiveProcess | None:
        """The GP of the objective at the last proposal's structure; None before the first."""
        if (structure := self.structure) is None:
            return None
        tied = np.array(self.memory["tied"])
        return ObjectiveProcess.of(self, lambda X, y: self._condition(X, y, structure, tied))

    def _propose(self, context: ProposalContext) -> Proposal:
        X, y = context.data.finite_X, standardize(context.data.finite_y)
        memory = dict(context.memory)
        if not memory or len(X) - int(memory["updated_at"]) >= self.options.update_every:
            memory = self._update(X, y, memory, context.rng)
        structure = as_structure(memory["structure"])
        posterior = self._condition(X, y, structure, np.array(memory["tied"]))
        info: dict[str, float | int | str | bool | None] = {
            "log_likelihood": posterior.log_marginal_likelihood,
            "noise_variance": posterior.noise_variance,
            "n_groups": len(structure),
        }
        posterior = with_fantasies(posterior, context.pending, context.data.failing_X)
        bounds = [
            UpperConfidenceBound(part, self._beta(len(group), len(context.data)))
            for part, group in zip(group_posteriors(posterior, structure), structure, strict=True)
        ]
        x, value = self._maximize(bounds, structure, X[int(np.argmax(y))], context.rng)
        avoid = np.vstack([context.data.X, context.pending])
        x, replaced = distinct(x, structure, avoid, context.rng)
        return Proposal(x, memory, info | {"acquisition": value, "replaced": replaced})

    def _update(
        self, X: FloatArray, y: FloatArray, memory: Mapping[str, Any], rng: np.random.Generator
    ) -> dict[str, Any]:
        """Fit hyperparameters, learn the structure at them, and fit once more."""
        start = as_structure(memory.get("structure", singletons(self.space.dim)))
        tied = self._fit(X, y, start, memory.get("tied"))
        learned = self._learn(X, y, tied, memory, rng)
        structure = as_structure(learned["structure"])
        if structure != start:
            tied = self._fit(X, y, structure, tied)
        return {**learned, "tied": np.asarray(tied).tolist(), "updated_at": len(X)}

    def _fit(
        self, X: FloatArray, y: FloatArray, structure: Structure, last: Any | None
    ) -> FloatArray:
        dim = self.space.dim
        starts = [prior_mode(dim, per_input=self.per_input)]
        if last is not None:
            starts.append(np.array(last))
        model = tied_model(structure, dim, per_input=self.per_input)
        return model.fit_best(X, y, starts, max_iterations=FIT_ITERATIONS).theta

    def _condition(
        self, X: FloatArray, y: FloatArray, structure: Structure, tied: FloatArray
    ) -> GaussianProcess:
        model = tied_model(structure, self.space.dim, per_input=self.per_input)
        return model.condition(tied, X, y)
