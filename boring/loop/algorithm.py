"""BoringOptimizer: name the few directions that matter, and optimise along them.

The default loop: a short space-filling design, then by turns (`boring.loop.schedule`)

- the portfolio of `boring.loop.portfolio` on half-rank warped values or, while its gate is open,
  the surrogate of the subspace (`boring.loop.subspace_turn`) on log-warped values, log-EI being
  maximised jointly over x in the box; of many inputs, and where the portfolio sees noise or (of
  fifteen inputs or more) has seen it, half of its turns are the plain Gaussian process's
  (`boring.models.plain`); in noise whoever gains most has two turns of three;
- the local model of the incumbent's neighbourhood (`boring.loop.local_turn`);
- when that has settled, a fresh start (`boring.loop.fresh_start`), or a draw that tells whether
  the other directions matter (`boring.loop.passive_draw`).

`BoringOptimizer.thesis` is the other preset: the algorithm as the thesis prints it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from boring.box_search import improvement, is_taken, search_box, search_info
from boring.data import Observations
from boring.effort import Effort, Kind, effort_of
from boring.feasibility import LogSum, Told, can_seek
from boring.loop.credit import credit_after, leader
from boring.loop.fresh_start import FreshStart, fresh_point, recall
from boring.loop.local_metric import nearby_factors
from boring.loop.local_turn import LocalStep, local_step
from boring.loop.naming import NamingOptimizer
from boring.loop.options import BoringOptions
from boring.loop.passive_draw import DRAW_EVERY, PHASE, passive_draw
from boring.loop.plain_turn import posterior_of_trend
from boring.loop.portfolio import SURE_UNTIL, Portfolio, fit_portfolio
from boring.loop.portfolio_search import portfolio_info, search_by_portfolio
from boring.loop.schedule import (
    FEWEST_FIRST,
    has_settled,
    is_rugged,
    kind_before_local,
    kind_of_turn,
    sees_noise,
    speaker,
    spread_of_first,
)
from boring.loop.subspace_turn import SubspaceMember, keep_score, take_turn, without_score
from boring.loop.trust_region import is_awaited
from boring.loop.units import in_units
from boring.optimizer import Proposal, ProposalContext
from boring.result import InfoValue
from boring.space import Box
from boring.subspace.factor_fit import basis_of
from boring.typing import Direction, FloatArray, SeedLike
from boring.warping import half_rank_warp, log_warp, warped_noise

if TYPE_CHECKING:
    from boring.loop.thesis_optimizer import ThesisOptimizer

# Leading directions assumed while no subspace has been learned yet [chosen here].
DEFAULT_EFFECTIVE_DIM = 2


class BoringOptimizer(NamingOptimizer):
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

    Notes
    -----
    Predictions take all points, n^3 a model, but hyperparameters and directions are learned from
    500 at most: the best, some others, and for the local model the nearest (`boring.sample`). With
    1,000 or 2,000 points told, the asks that learn take 10 to 15 seconds, with ``ask_seconds=2``
    2 to 5, and the others up to 3. From some thousand on take another method.

    Examples
    --------
    >>> optimizer = BoringOptimizer([[-1, 1]] * 3, direction="minimize", seed=0)
    >>> x = optimizer.ask()[0]
    >>> _ = optimizer.tell(x, float((x**2).sum()))
    """

    name: ClassVar[str] = "boring"
    options_type: ClassVar[type] = BoringOptions
    weighs_feasibility: ClassVar[bool] = True
    uses_noise_std: ClassVar[bool] = True

    _last_portfolio: tuple[Observations, int, Portfolio] | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy gets: all but what another fit of the same values gives again."""
        return {**super().__getstate__(), "_last_portfolio": None}

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
        """Return the preset that follows the thesis; see `boring.loop.thesis_optimizer`."""
        from boring.loop.thesis_optimizer import ThesisOptimizer

        return ThesisOptimizer(
            space, direction=direction, n_initial=n_initial, seed=seed, **options
        )

    def _has_nothing_to_model(self) -> bool:
        return super()._has_nothing_to_model() and not can_seek(self.data)

    def _propose(self, context: ProposalContext) -> Proposal:
        told = Told.of(context.data)
        y = told.judged
        if not told.has_incumbent or not context.data.is_informative:
            return self._feasibility_turn(context)
        memory = in_units(context.memory, told.exponent)
        remembered = dict(memory)
        number = context.n_points
        noisy = sees_noise(memory.get("portfolio"), context.noise_std)
        if noisy and number > SURE_UNTIL:
            remembered["has looked noisy"] = True
        local_from = self.options.local_from
        if not local_from or len(y) < max(local_from, self.space.dim // 2):
            return self._portfolio_turn(kind_before_local(number, noisy), remembered, context, told)
        spread = spread_of_first(y, max(FEWEST_FIRST, self.n_initial))
        X, local = told.X, memory.get("local", {})
        noise_std = told.noise_std(context.noise_std)
        if noise_std is None:
            noise_std = local.get("noise_std", 0.0)
        credit = credit_after(memory.get("credit", {}), y, noise_std)
        leads = leader(credit, spread) if noisy else None
        kind = kind_of_turn(number, X, y, local, spread, noisy, leads)
        if kind == "local" and is_awaited(local, context.pending):
            kind = "portfolio"
        remembered["credit"] = {**credit, "kind": kind}
        if kind == "local":
            effort = self._effort("local", context)
            known = np.vstack([context.data.X, context.pending])
            step = local_step(
                X,
                told.y,
                local,
                context.rng,
                effort,
                eligible=told.eligible,
                judged=y,
                feasibility=context.feasibility,
                noise_variance=told.noise_variance(context.noise_std),
                domain=context.domain,
                taken=known,
                sees_noise=noisy,
                effective_dims=self._effective_dims,
                space=self.space,
            )
            remembered["local"] = step.memory
            if step.x is not None and not is_taken(step.x, context):
                return self._local_proposal(step, remembered, context, told, effort)
            kind = "fresh start"
        if kind == "fresh start":
            if self.options.fresh_starts:
                remembered["credit"]["kind"] = kind
                return self._fresh_turn(context, told, remembered, spread, noisy)
            kind = "portfolio"
        looks_noisy = noisy or "has looked noisy" in memory
        rugged = is_rugged(looks_noisy, self.space.dim, context.noise_std)
        return self._portfolio_turn(kind, remembered, context, told, leads, rugged)

    def _feasibility_turn(self, context: ProposalContext) -> Proposal:
        """Look for a feasible point, values aside, as long as there is none to improve on."""
        incumbent = context.data.X[int(np.argmin(context.data.violation))]
        found = search_box(LogSum([]), incumbent, None, context, self._effort("whole box", context))
        return Proposal(found.x, context.memory, {"phase": "feasibility", **search_info(found)})

    def _local_proposal(
        self,
        step: LocalStep,
        memory: dict[str, Any],
        context: ProposalContext,
        told: Told,
        effort: Effort,
    ) -> Proposal:
        assert step.x is not None
        member = keep_score(told.X, log_warp(told.y), memory.get("subspace", {}), context.pending)
        memory["subspace"] = without_score(member.memory, self.space.returned(step.x))
        info: dict[str, InfoValue] = {
            "phase": "local",
            "expected gain": step.gain,
            "trust region": step.radius,
            "directions": step.directions,
            **member.info,
            **self._effort_info(effort, context, step.left_out, learned=step.learned),
        }
        return Proposal(step.x, memory, info)

    def _portfolio_turn(
        self,
        kind: str,
        memory: dict[str, Any],
        context: ProposalContext,
        told: Told,
        leads: str | None = None,
        rugged: bool = False,
    ) -> Proposal:
        """Let the portfolio choose, or the plain process, or the subspace if its gate is open.

        An open gate takes the plain process's turns too, but not where that leads. What it gains is
        the portfolio's credit.
        """
        turn = int(memory.get("turn", 0))
        shared = int(memory.get("shared turn", 0))
        if rugged and kind == "portfolio":
            memory["shared turn"] = shared + 1
        kind = speaker(kind, shared if rugged else turn, len(told.y), self.space.dim, rugged)
        effort = self._effort("whole box", context)
        member = self._subspace_step(told, turn, memory.get("subspace", {}), context, effort)
        rank = self._leading_directions(member.memory)
        portfolio = self._portfolio(rank, memory.get("portfolio", {}), context, told, effort)
        not_refitted = tuple(f"refitting {name}" for name in portfolio.not_refitted)
        extra_info = {
            **portfolio_info(portfolio),
            **self._effort_info(effort, context, (*member.left_out, *not_refitted), member),
        }
        memory |= {"turn": turn + 1, "portfolio": portfolio.memory, "subspace": member.memory}
        by_subspace = member.posterior is not None and member.gate > 0 and leads != "plain"
        if "credit" in memory:
            credited = "portfolio" if by_subspace else kind
            memory["credit"] = {**memory["credit"], "kind": credited}
        if by_subspace:
            return self._subspace_proposal(member, memory, context, told, extra_info, effort)
        extra_info = {**member.info, **extra_info}
        if kind == "plain":
            return self._plain_proposal(memory, context, told, extra_info, effort, rugged)
        found = search_by_portfolio(portfolio, told.incumbent, rank, context, effort, told.eligible)
        info = {"phase": "portfolio", **search_info(found), **extra_info}
        return Proposal(found.x, memory, info)

    def _portfolio(
        self,
        rank: int,
        memory: Mapping[str, Any],
        context: ProposalContext,
        told: Told,
        effort: Effort,
    ) -> Portfolio:
        """Return the members: where nothing is refitted, the points of a batch share them."""
        last, is_fixed = self._last_portfolio, effort.refits == "none"
        if is_fixed and last is not None and last[:2] == (context.data, rank):
            if last[2].memory == memory:
                return last[2]
        warped = half_rank_warp(told.y)
        noise = warped_noise(told.noise_variance(context.noise_std), told.y, warped)
        found = fit_portfolio(told.X, warped, rank, memory, context.entropy, effort, noise)
        if is_fixed:
            self._last_portfolio = context.data, rank, found
        return found

    def _plain_proposal(
        self,
        memory: Mapping[str, Any],
        context: ProposalContext,
        told: Told,
        extra_info: Mapping[str, InfoValue],
        effort: Effort,
        rugged: bool,
    ) -> Proposal:
        """Let the plain Gaussian process choose, which keeps to the trend."""
        posterior, plain = posterior_of_trend(
            told.X,
            told.y,
            memory.get("plain", {}),
            told.noise_variance(context.noise_std),
            effort,
        )
        acquisition = improvement(posterior, context, told.eligible, trusts_values=rugged)
        found = search_box(acquisition, told.incumbent, None, context, effort)
        info = {"phase": "plain", **search_info(found), **extra_info}
        return Proposal(found.x, {**memory, "plain": plain}, info)

    def _subspace_proposal(
        self,
        member: SubspaceMember,
        memory: Mapping[str, Any],
        context: ProposalContext,
        told: Told,
        extra_info: Mapping[str, InfoValue],
        effort: Effort,
    ) -> Proposal:
        assert member.posterior is not None
        acquisition = improvement(member.posterior, context, told.eligible)
        found = search_box(acquisition, told.incumbent, member.basis, context, effort)
        info = {"phase": "subspace", **search_info(found), **member.info, **extra_info}
        return Proposal(found.x, memory, info)

    def _fresh_turn(
        self,
        context: ProposalContext,
        told: Told,
        memory: dict[str, Any],
        spread: float,
        noisy: bool,
    ) -> Proposal:
        """Let a passive draw, a fresh start and the subspace look for another basin, by turns."""
        turn = int(memory.get("fresh turn", 0))
        memory["fresh turn"] = turn + 1
        may_draw = not noisy and context.feasibility is None and context.domain.is_plain
        if may_draw and turn % DRAW_EVERY == 0:
            nearby = nearby_factors(memory.get("local", {}).get("directions", {}))
            if nearby is not None and nearby.effective_dim < self.space.dim:
                return self._passive_proposal(basis_of(nearby.factor), memory, context, told)
        extra_info: dict[str, InfoValue] = {}
        if turn % 2:
            effort = self._effort("whole box", context)
            member = self._subspace_step(told, 0, memory.get("subspace", {}), context, effort)
            memory["subspace"] = member.memory
            extra_info = self._effort_info(effort, context, member.left_out, member)
            if member.posterior is not None and member.gate > 0:
                return self._subspace_proposal(member, memory, context, told, extra_info, effort)
        else:
            member = keep_score(
                told.X, log_warp(told.y), memory.get("subspace", {}), context.pending
            )
            memory["subspace"] = member.memory
        start = recall(memory.get("fresh start", {}), context.data.X, context.pending)
        if start is None or has_settled(start.local, spread, self.space.dim):
            start = FreshStart(1 if start is None else start.number + 1, seen=len(context.data))
        proposal = fresh_point(
            start,
            context,
            self._n_initial,
            self._leading_directions({}),
            self._sequence_point,
            self._effective_dims if self._effort("local", context).may_learn else (),
        )
        info = {
            **proposal.info,
            "start number": start.number,
            "points of the start": start.size,
            **member.info,
            **extra_info,
        }
        if proposal.info["phase"] == "fresh local":
            returned = self.space.returned(proposal.x)
            memory["subspace"] = without_score(memory["subspace"], returned)
        return Proposal(proposal.x, {**memory, "fresh start": proposal.memory["fresh start"]}, info)

    def _passive_proposal(
        self, W: FloatArray, memory: dict[str, Any], context: ProposalContext, told: Told
    ) -> Proposal:
        """Draw anew what seems not to matter; the subspace's surrogate is judged by the value."""
        member = keep_score(told.X, log_warp(told.y), memory.get("subspace", {}), context.pending)
        x = passive_draw(told.incumbent, W, context.rng)
        info = {"phase": PHASE, "directions": W.shape[1], **member.info}
        return Proposal(x, {**memory, "subspace": member.memory}, info)

    def _subspace_step(
        self,
        told: Told,
        turn: int,
        memory: Mapping[str, Any],
        context: ProposalContext,
        effort: Effort,
    ) -> SubspaceMember:
        """Score the subspace's surrogate, and refit it if this is its turn."""
        options = self.options
        X, y, values = told.X, told.y, log_warp(told.y)
        if (
            options.subspace_every == 0
            or len(y) < options.subspace_from
            or turn % options.subspace_every
            or self.space.dim == 1
        ):
            return keep_score(X, values, memory, context.pending)
        limit = min(options.max_effective_dim, self.space.dim)
        noise = warped_noise(told.noise_variance(context.noise_std), y, values)
        known = options.effective_dim
        return take_turn(
            X, values, known, limit, memory, context.pending, context.rng, effort, noise
        )

    def _effort(self, kind: Kind, context: ProposalContext) -> Effort:
        return effort_of(kind, context.asks, self.options.ask_seconds, context.n_points)

    def _effort_info(
        self,
        effort: Effort,
        context: ProposalContext,
        left_out: tuple[str, ...],
        member: SubspaceMember | None = None,
        *,
        learned: bool = False,
    ) -> dict[str, InfoValue]:
        """Return what to record of the effort; nothing without a budget."""
        if self.options.ask_seconds is None:
            return {}
        if member is not None:
            learned = member.learned
            left_out = (*left_out, "starts of the search") if effort.search else left_out
        return effort.info(context.n_points, left_out, learned=learned)

    @property
    def _effective_dims(self) -> Sequence[int]:
        """The d that local models may learn."""
        known = self.options.effective_dim
        if self.options.subspace_every == 0 or self.space.dim == 1:
            return ()
        limit = min(self.options.max_effective_dim, self.space.dim)
        return range(1, limit + 1) if known is None else (known,)

    def _leading_directions(self, memory: Mapping[str, Any]) -> int:
        known = self.options.effective_dim or memory.get("effective_dim", DEFAULT_EFFECTIVE_DIM)
        return int(min(known, self.space.dim))
