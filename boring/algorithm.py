"""BoringOptimizer: name the few directions that matter, and optimise along them.

The default loop: a short space-filling design, then at every step the portfolio of
`boring.portfolio` on half-rank warped values, and at every second step, once its gate is
open, the surrogate of the subspace (`boring.subspace_turn`) on log-warped values. Either
way the next point maximises log-EI jointly over x in the box.

`BoringOptimizer.thesis` is the other preset: the algorithm as the thesis prints it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from boring.acquisition.base import Acquisition
from boring.acquisition.improvement import LogExpectedImprovement, LogImprovementMixture
from boring.acquisition.maximizer import maximize_acquisition
from boring.embedding import RandomEmbedding
from boring.exceptions import InvalidInputError
from boring.models.posterior import GaussianProcess, with_fantasies
from boring.optimizer import Optimizer, Proposal, ProposalContext
from boring.portfolio import Portfolio, fit_portfolio
from boring.result import InfoValue
from boring.rng import keyed_generator, single_blas_thread
from boring.space import Box
from boring.subspace_turn import SubspaceMember, keep_score, take_turn
from boring.surrogate import ObjectiveModel, fit_objective_model
from boring.thesis import ThesisOptions, boring_step, burn_in_step
from boring.typing import Direction, FloatArray, SeedLike
from boring.validation import as_positive_int
from boring.warping import half_rank_warp, log_warp

if TYPE_CHECKING:
    from boring.subspace.estimate import SubspaceEstimate

# Leading directions assumed while no subspace has been learned yet [chosen here].
DEFAULT_EFFECTIVE_DIM = 2
# Noise variance (standardised) from which the incumbent is the best posterior mean.
NOISY = 1e-3


@dataclass(frozen=True)
class BoringOptions:
    """Options of the default loop.

    Attributes
    ----------
    effective_dim : int, optional
        d, where it is known; None lets the BIC choose.
    max_effective_dim : int, default 5
        Largest d that the BIC may choose.
    subspace_from : int, default 15
        Evaluations from which on the subspace may take turns.
    subspace_every : int, default 2
        The subspace's turn comes at every so many evaluations; 0 switches it off.
    """

    effective_dim: int | None = None
    max_effective_dim: int = 5
    subspace_from: int = 15
    subspace_every: int = 2

    def __post_init__(self) -> None:
        """Check the ranges."""
        if self.effective_dim is not None:
            as_positive_int(self.effective_dim, "effective_dim")
        as_positive_int(self.max_effective_dim, "max_effective_dim")
        as_positive_int(self.subspace_from, "subspace_from")
        as_positive_int(self.subspace_every, "subspace_every", minimum=0)


class BoringOptimizer(Optimizer):
    """Bayesian optimisation that learns, uses and names the active subspace.

    Parameters
    ----------
    space : Box or array_like of shape (D, 2)
    direction : {"minimize", "maximize"}
    n_initial : int, optional
        Space-filling points before the first proposal; default D + 3, between 5 and 10.
    seed : int, SeedSequence or None
    **options
        See `BoringOptions`.

    Examples
    --------
    >>> optimizer = BoringOptimizer([[-1, 1]] * 3, direction="minimize", seed=0)
    >>> x = optimizer.ask()[0]
    >>> _ = optimizer.tell(x, float((x**2).sum()))
    """

    name: ClassVar[str] = "boring"
    options_type: ClassVar[type] = BoringOptions

    def __init__(
        self,
        space: Box | ArrayLike,
        *,
        direction: Direction,
        n_initial: int | None = None,
        seed: SeedLike = None,
        **options: Any,
    ) -> None:
        super().__init__(space, direction=direction, n_initial=n_initial, seed=seed, **options)
        given = self.options.effective_dim
        if given is not None and given > self.space.dim:
            raise InvalidInputError(
                f"effective_dim must not exceed the number of parameters; received "
                f"effective_dim = {given} in {self.space.dim} dimensions. Lower it, or leave it "
                "out to let the data choose."
            )
        self._estimates: tuple[int, SubspaceEstimate | None] | None = None
        self._models: tuple[int, ObjectiveModel | None] | None = None

    @classmethod
    def thesis(
        cls,
        space: Box | ArrayLike,
        *,
        direction: Direction,
        n_initial: int | None = None,
        seed: SeedLike = None,
        **options: Any,
    ) -> ThesisOptimizer:
        """Return the preset that follows the thesis; see `ThesisOptimizer`."""
        return ThesisOptimizer(
            space, direction=direction, n_initial=n_initial, seed=seed, **options
        )

    def _propose(self, context: ProposalContext) -> Proposal:
        X, y = context.data.finite_X, context.data.finite_y
        member = self._subspace_step(X, y, context.memory.get("subspace", {}), context.rng)
        rank = self._leading_directions(member.memory)
        portfolio = fit_portfolio(
            X, half_rank_warp(y), rank, context.memory.get("portfolio", {}), context.entropy
        )
        subspace = member.posterior if member.gate > 0 else None
        acquisition, basis = (
            (_mixture(portfolio, context), portfolio.directions[:, :rank])
            if subspace is None
            else (_improvement(subspace, context), member.basis)
        )
        found = maximize_acquisition(
            acquisition,
            context.data.dim,
            incumbent=X[int(np.argmax(y))],
            rng=context.rng,
            basis=basis,
            avoid=np.vstack([context.data.X, context.pending]),
        )
        info: dict[str, InfoValue] = {
            "phase": "portfolio" if subspace is None else "subspace",
            "acquisition": found.value,
            "start": found.family,
            "gate": member.gate if member.memory else None,
            "effective_dim": member.memory.get("effective_dim"),
            "angle to previous": member.angle_to_previous,
        }
        for one, weight in zip(portfolio.members, portfolio.weights, strict=True):
            info[f"weight {one.name}"] = float(weight)
        return Proposal(found.x, {"portfolio": portfolio.memory, "subspace": member.memory}, info)

    def _subspace_step(
        self, X: FloatArray, y: FloatArray, memory: Mapping[str, Any], rng: np.random.Generator
    ) -> SubspaceMember:
        """Score the subspace's surrogate, and refit it if this is its turn."""
        options = self.options
        values = log_warp(y)
        if (
            options.subspace_every == 0
            or len(y) < options.subspace_from
            or len(y) % options.subspace_every
            or self.space.dim == 1
        ):
            return keep_score(X, values, memory)
        limit = min(options.max_effective_dim, self.space.dim)
        return take_turn(X, values, options.effective_dim, limit, memory, rng)

    def _leading_directions(self, memory: Mapping[str, Any]) -> int:
        known = self.options.effective_dim or memory.get("effective_dim", DEFAULT_EFFECTIVE_DIM)
        return int(min(known, self.space.dim))

    @property
    def subspace(self) -> SubspaceEstimate | None:
        """The active subspace as the data so far show it; None before there is enough data.

        Estimated on log-warped values, with the loop's own factor among the starts, and
        cached until the next point is told.
        """
        n = self.n_told
        if self._estimates is None or self._estimates[0] != n:
            self._estimates = (n, self._estimate())
        return self._estimates[1]

    def _estimate(self) -> SubspaceEstimate | None:
        from boring.account import account_of_subspace

        data = self.data
        if not data.is_informative or len(data.finite_y) < 2 + min(self.space.dim, 3):
            return None
        rng = keyed_generator(self.entropy, "subspace", self.n_told)
        with single_blas_thread():
            return account_of_subspace(
                data.finite_X,
                data.finite_y,
                self.options.effective_dim,
                min(self.options.max_effective_dim, self.space.dim),
                self.memory.get("subspace", {}),
                rng,
            )

    @property
    def surrogate(self) -> ObjectiveModel | None:
        """A GP of the objective in the caller's units and sign; None before there is data."""
        n = self.n_told
        if self._models is None or self._models[0] != n:
            model = None
            if self.data.is_informative:
                with single_blas_thread():
                    model = fit_objective_model(
                        self.space, self._sign, self.data, self.memory.get("subspace", {})
                    )
            self._models = (n, model)
        return self._models[1]


class ThesisOptimizer(BoringOptimizer):
    """BORING as the thesis prints it, errata corrected; see `boring.thesis`.

    Parameters
    ----------
    space, direction, seed
        As for `BoringOptimizer`.
    n_initial : int, optional
        Random points of the embedding before REMBO's own model starts; default d + 1,
        they count as burn-in.
    **options
        See `ThesisOptions`.
    """

    name: ClassVar[str] = "boring-thesis"
    options_type: ClassVar[type] = ThesisOptions

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
        from boring.account import account_by_alternation

        if "W" not in self.memory:
            return None
        rng = keyed_generator(self.entropy, "subspace", self.n_told)
        with single_blas_thread():
            return account_by_alternation(self.data, self.options.n_restarts, self.memory, rng)

    def _propose(self, context: ProposalContext) -> Proposal:
        if len(context.data) < self.options.burn_in:
            return burn_in_step(self.embedding, self.options.beta, context)
        return boring_step(self.options, context)


def _improvement(posterior: GaussianProcess, context: ProposalContext) -> Acquisition:
    """Return the log-EI of a posterior over its incumbent.

    The incumbent is the best value, or where the model sees noise the best posterior mean
    at a visited point, since the best of many noisy values is too good to be true.
    """
    incumbent = float(posterior.y.max())
    if posterior.noise_variance > NOISY:
        incumbent = min(incumbent, float(posterior.predict(posterior.X)[0].max()))
    posterior = with_fantasies(posterior, context.pending, context.data.failing_X)
    return LogExpectedImprovement(posterior, incumbent)


def _mixture(portfolio: Portfolio, context: ProposalContext) -> Acquisition:
    """Return the log of the summed EI of the members that steer."""
    return LogImprovementMixture(
        [_improvement(member.posterior, context) for member in portfolio.speakers()]
    )
