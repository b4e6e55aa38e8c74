"""TuRBO-1 (Eriksson et al. 2019) on a Gaussian process of BoTorch.

A Matern-5/2 process with a lengthscale for each input, fitted to the points of the present trust
region alone; Thompson sampling from perturbed Sobol candidates about the best point; a side that
doubles after three improvements in a row, halves after max(4, D) evaluations without one, and when
it falls below 2^-7 a new trust region with a design of its own. Where the region stands follows
from the told values in their order; the memory holds only how many were told before the first
proposal. Points out for evaluation do not enter the model: draws differ of themselves.

**Deviations**: one point at a time; 2000 candidates at most where the paper has 5000, which makes
the joint draw more than ten times as fast; a value that is not finite is a failure, and the worst
one to the model; the centre is the best value told, also under noise, where the paper takes the
least posterior mean. The first design is the shared one, later ones have its length.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from boring.initial_design import sobol_design
from boring.optimizer import Proposal, ProposalContext
from boring.rng import keyed_generator
from boring.validation import as_positive_int

from . import _ladder
from ._torch import TORCH, load_torch, thompson_point
from .base import SEED_BOUND, PeerOptimizer, Requirement, costs_of, unit_of

__all__ = ["TurboOptions", "TurboPeer"]

MAX_CANDIDATES = 2000
"""Candidates of a Thompson draw (chosen here for speed; the paper has 5000)."""

CANDIDATES_PER_DIM = 100
"""Candidates for each input, as long as they are fewer (appendix D)."""


@dataclass(frozen=True)
class TurboOptions:
    """Options of TuRBO-1.

    Parameters
    ----------
    success_tolerance : int, default 3
        Improvements in a row after which the side is doubled (appendix D).
    max_candidates : int, default 2000
        Candidates of a draw are 100 D, but at most these (the paper: 5000).
    """

    success_tolerance: int = _ladder.SUCCESS_TOLERANCE
    max_candidates: int = MAX_CANDIDATES

    def __post_init__(self) -> None:
        """Check the options."""
        as_positive_int(self.success_tolerance, "success_tolerance")
        as_positive_int(self.max_candidates, "max_candidates")


class TurboPeer(PeerOptimizer):
    """One trust region at a time; options are those of :class:`TurboOptions`."""

    name: ClassVar[str] = "peer-turbo"
    options_type: ClassVar[type] = TurboOptions
    requirement: ClassVar[Requirement] = TORCH

    def _load(self) -> None:
        load_torch()

    def _propose_contained(self, context: ProposalContext) -> Proposal:
        data, dim = context.data, self.space.dim
        start = int(context.memory.get("start", len(data)))
        costs = costs_of(data.y, unit_of(data.y))
        run = _ladder.local_run(
            np.where(np.isfinite(data.y), costs, np.inf),
            start,
            self.n_initial,
            _ladder.failure_tolerance_of(dim),
            self.options.success_tolerance,
        )
        n_run = len(data) - run.first
        if run.n_restarts and n_run < self.n_initial:
            rng = keyed_generator(context.entropy, "turbo", run.n_restarts)
            x = sobol_design(n_run + len(context.pending) + 1, dim, rng)[-1]
        else:
            x = thompson_point(
                data.X[run.first :],
                costs[run.first :],
                run.ladder.length,
                min(CANDIDATES_PER_DIM * dim, self.options.max_candidates),
                context.rng,
                int(context.rng.integers(SEED_BOUND)),
            )
        info = {"length": run.ladder.length, "n_restarts": run.n_restarts}
        return Proposal(x, memory={"start": start}, info=info)
