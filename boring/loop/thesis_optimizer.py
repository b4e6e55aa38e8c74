"""The thesis preset as an optimiser; its steps are in `boring.loop.thesis`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from boring.embedding import RandomEmbedding
from boring.loop.algorithm import DEFAULT_EFFECTIVE_DIM, BoringOptimizer
from boring.loop.thesis import ThesisOptions, boring_step, burn_in_step, thesis_model
from boring.proposal import Proposal, ProposalContext
from boring.rng import keyed_generator, single_blas_thread
from boring.surrogate import ObjectiveModel
from boring.typing import FloatArray

if TYPE_CHECKING:
    from boring.subspace.estimate import SubspaceEstimate


class ThesisOptimizer(BoringOptimizer):
    """BORING as the thesis prints it, errata corrected; see `boring.loop.thesis`.

    Parameters
    ----------
    space, direction, seed
        As for `BoringOptimizer`.
    n_initial : int, optional
        Random points of the embedding before REMBO's own model starts, which count as burn-in;
        default ``embedding_dim`` + 1. With ``burn_in_design="sobol"`` space-filling points;
        default ``burn_in``.
    **options
        See `ThesisOptions`.
    """

    name: ClassVar[str] = "boring-thesis"
    options_type: ClassVar[type] = ThesisOptions
    weighs_feasibility: ClassVar[bool] = False
    uses_noise_std: ClassVar[bool] = False

    def _has_nothing_to_model(self) -> bool:
        return not self.data.is_informative

    @property
    def embedding(self) -> RandomEmbedding:
        """REMBO's random embedding of the burn-in, fixed by the seed."""
        options = self.options
        wanted = options.embedding_dim or options.effective_dim or DEFAULT_EFFECTIVE_DIM
        rng = keyed_generator(self.entropy, "embedding")
        return RandomEmbedding.gaussian(self.space.dim, min(wanted, self.space.dim), rng)

    def _default_n_initial(self) -> int:
        if self.options.burn_in_design == "sobol":
            return int(self.options.burn_in)
        return self.embedding.effective_dim + 1

    def _initial_points(self, n: int, rng: np.random.Generator) -> FloatArray:
        if self.options.burn_in_design == "sobol":
            return super()._initial_points(n, rng)
        embedding = self.embedding
        return embedding.up(embedding.sample(n, rng))

    def _estimate(self) -> SubspaceEstimate | None:
        """Estimate the subspace as the preset does: Tripathy's alternation, plain values.

        None during burn-in, in which the preset looks for no subspace.
        """
        from boring.loop.account import account_by_alternation

        if "W" not in self.memory or not self.observed.is_informative:
            return None
        rng = keyed_generator(self.entropy, "subspace", self.n_told)
        with single_blas_thread():
            return account_by_alternation(self.observed, self.options.n_restarts, self.memory, rng)

    def _fit_surrogate(self) -> ObjectiveModel:
        """Fit the additive model on [W V] that the preset searches by, to plain values."""
        memory = self.memory
        if "W" not in memory:
            return super()._fit_surrogate()
        W, V = np.array(memory["W"]), np.array(memory["V"]).reshape(self.space.dim, -1)
        theta = np.array(memory["theta"])
        model = ObjectiveModel(self.space, thesis_model(W, V), [theta], sign=self._sign)
        data = self.observed
        return model.fit(self.space.unscale(data.finite_X), self._sign * data.finite_y)

    def _propose(self, context: ProposalContext) -> Proposal:
        if len(context.data) < self.options.burn_in:
            return burn_in_step(self.embedding, self.options.beta, context)
        return boring_step(self.options, context)
