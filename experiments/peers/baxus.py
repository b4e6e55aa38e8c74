"""BAxUS (Papenmeier, Nardi and Poloczek 2022) on a Gaussian process of BoTorch.

Inputs are dealt out to a few target coordinates, which they follow up to a random sign. TuRBO's
trust region and model work on these; when the region collapses, every target coordinate is split
into up to four, and all points are carried over, for the new embedding holds those of the old one.
Which embedding is due follows from the told values in their order; the memory holds only how many
were told before the first proposal. Target coordinates of a point are recomputed from its inputs.

Its initial design is as long as the shared one but lies in the first embedding: the shared points
do not, and no later embedding short of all inputs holds them. Told points outside the present
embedding are likewise left out.

**Deviations**: one point at a time; 2000 candidates at most instead of 5000; the bounds of the
hyperparameters are TuRBO's; in all D inputs a collapsed region starts anew at its first length with
all data, as in BoTorch's tutorial. Values that are not finite are as for TuRBO.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from boring.initial_design import sobol_design
from boring.optimizer import Proposal, ProposalContext
from boring.rng import keyed_generator
from boring.typing import FloatArray
from boring.validation import as_positive_int

from ._ladder import SUCCESS_TOLERANCE
from ._nested import NestedEmbedding, NestedRun, SplitPlan, nested_run
from ._torch import TORCH, load_torch, thompson_point
from .base import SEED_BOUND, PeerOptimizer, Requirement, costs_of, unit_of
from .turbo import CANDIDATES_PER_DIM, MAX_CANDIDATES

__all__ = ["BaxusOptions", "BaxusPeer"]

DEFAULT_BUDGET = 200
"""Evaluations, if nothing is said (chosen here: what most of the experiments have)."""

NEW_BINS = 3
"""New target coordinates for each old one (section 4)."""


@dataclass(frozen=True)
class BaxusOptions:
    """Options of BAxUS.

    Parameters
    ----------
    budget : int, optional
        Evaluations by which all inputs are to be reached, initial design included; the runner
        tells that of the experiment. None takes 200.
    n_new_bins : int, default 3
        New target coordinates for each old one at a split.
    success_tolerance : int, default 3
        Improvements in a row after which the side of the trust region is doubled.
    max_candidates : int, default 2000
        Candidates of a Thompson draw are 100 d, but at most these.
    """

    budget: int | None = None
    n_new_bins: int = NEW_BINS
    success_tolerance: int = SUCCESS_TOLERANCE
    max_candidates: int = MAX_CANDIDATES

    def __post_init__(self) -> None:
        """Check the options."""
        if self.budget is not None:
            as_positive_int(self.budget, "budget")
        as_positive_int(self.n_new_bins, "n_new_bins")
        as_positive_int(self.success_tolerance, "success_tolerance")
        as_positive_int(self.max_candidates, "max_candidates")


class BaxusPeer(PeerOptimizer):
    """Trust regions in growing embeddings; options are those of :class:`BaxusOptions`."""

    name: ClassVar[str] = "peer-baxus"
    options_type: ClassVar[type] = BaxusOptions
    requirement: ClassVar[Requirement] = TORCH

    def _load(self) -> None:
        load_torch()

    @property
    def plan(self) -> SplitPlan:
        """How the budget is shared out over the target dimensions."""
        given: int | None = self.options.budget
        budget = DEFAULT_BUDGET if given is None else given
        return SplitPlan(
            self.space.dim, max(1, budget - self.n_initial), int(self.options.n_new_bins)
        )

    @property
    def first_embedding(self) -> NestedEmbedding:
        """The embedding of the initial design."""
        rng = keyed_generator(self.entropy, "baxus", "embedding")
        return NestedEmbedding.draw(self.space.dim, self.plan.first_dim, rng)

    def _resolved_options(self) -> Mapping[str, object]:
        resolved = {"budget": self.plan.budget + self.n_initial, "first_dim": self.plan.first_dim}
        return {**self.option_values(), **resolved}

    def _initial_points(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Return the initial design, which begins the same sequence whatever its length."""
        embedding = self.first_embedding
        own = keyed_generator(self.entropy, "baxus", "design")
        return embedding.up(sobol_design(n, embedding.target_dim, own))

    def _propose_contained(self, context: ProposalContext) -> Proposal:
        data = context.data
        start = int(context.memory.get("start", len(data)))
        costs = costs_of(data.y, unit_of(data.y))
        run = nested_run(
            data.X,
            np.where(np.isfinite(data.y), costs, np.inf),
            self.first_embedding,
            self.plan,
            lambda number: keyed_generator(context.entropy, "baxus", "split", number),
            n_told=start,
            n_design=self.n_initial,
            success_tolerance=self.options.success_tolerance,
        )
        held = run.embedding.holds(data.X)
        n_held = int(held.sum())
        if n_held < self.n_initial:
            n_pending = int(run.embedding.holds(context.pending).sum())
            x = self._initial_points(n_held + n_pending + 1, context.rng)[-1]
        else:
            x = self._embedded_point(run, data.X[held], costs[held], context.rng)
        info = {
            "target_dim": run.embedding.target_dim,
            "length": run.ladder.length,
            "n_splits": run.n_splits,
        }
        return Proposal(x, memory={"start": start}, info=info)

    def _embedded_point(
        self, run: NestedRun, X: FloatArray, costs: FloatArray, rng: np.random.Generator
    ) -> FloatArray:
        n_candidates = CANDIDATES_PER_DIM * run.embedding.target_dim
        z = thompson_point(
            np.clip(run.embedding.down(X), -1.0, 1.0),
            costs,
            run.ladder.length,
            min(n_candidates, self.options.max_candidates),
            rng,
            int(rng.integers(SEED_BOUND)),
        )
        x: FloatArray = run.embedding.up(z[None, :])[0]
        return x
