"""Fresh starts: a search that has settled in one basin looks for another, without prejudice.

Half-rank warp, ten points and log-EI together trust one basin: once most points lie in it,
the warp measures everything by its small differences. That is what polishes so well, and what
never leaves. No model fitted to those data helps much (plain and thinned values, wider warps
and added noise were tried); forgetting them does. A fresh start is the loop in small: a few
points of the space-filling sequence, then by turns a portfolio and a local model on the points of
this start *alone*. When its own trust region has shrunk, the next start begins.

Every second start measures values by its initial points only (`half_rank_warp` with
``reference``), which zooms less and suits functions with steep walls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from boring.box_search import is_taken, search_info
from boring.feasibility import Told
from boring.loop.local_turn import local_step
from boring.loop.portfolio import Portfolio, fit_portfolio
from boring.loop.portfolio_search import portfolio_info, search_by_portfolio
from boring.loop.schedule import sees_noise
from boring.loop.trust_region import is_awaited, same_rows
from boring.proposal import Proposal, ProposalContext
from boring.result import InfoValue
from boring.typing import FloatArray
from boring.warping import half_rank_warp, warped_noise

# Points of a start's own before its local model may speak, beyond the initial ones.
LOCAL_AFTER = 5


@dataclass(frozen=True, eq=False)
class FreshStart:
    """The points of a start, and what it remembers.

    Attributes
    ----------
    number : int
        1 for the first.
    told : tuple of int
        Rows of the run's data that belong to it.
    awaited : tuple of tuple of float
        Its points that have not been told yet, as they will come back from raw units.
    seen : int
        Rows of the run's data that have been searched for awaited points.
    portfolio, local : mapping
        Memories of its portfolio and its local model.
    """

    number: int
    told: tuple[int, ...] = ()
    awaited: tuple[tuple[float, ...], ...] = ()
    seen: int = 0
    portfolio: Mapping[str, Any] | None = None
    local: Mapping[str, Any] | None = None

    @property
    def size(self) -> int:
        """Number of its points, awaited ones included."""
        return len(self.told) + len(self.awaited)

    def memory(self) -> dict[str, Any]:
        """Return it as JSON-able values."""
        return {
            "number": self.number,
            "told": list(self.told),
            "awaited": [list(x) for x in self.awaited],
            "seen": self.seen,
            "portfolio": dict(self.portfolio or {}),
            "local": dict(self.local or {}),
        }


def recall(memory: Mapping[str, Any], X: FloatArray, pending: FloatArray) -> FreshStart | None:
    """Return the start that is under way, its awaited points looked up; None if there is none.

    A point that is neither told nor out any more was withdrawn, and is forgotten.

    Parameters
    ----------
    memory : mapping
        What `FreshStart.memory` was.
    X : ndarray, shape (n, D), scaled units
        All points told so far; only ever appended to.
    pending : ndarray, shape (m, D), scaled units
        Points that are out for evaluation.
    """
    if not memory:
        return None
    told, awaited = list(memory["told"]), []
    seen = int(memory["seen"])
    for x in memory["awaited"]:
        rows = np.flatnonzero(same_rows(X[seen:], x))
        if rows.size:
            told.append(seen + int(rows[0]))
        elif same_rows(pending, x).any():
            awaited.append(tuple(x))
    return FreshStart(
        int(memory["number"]),
        tuple(told),
        tuple(awaited),
        seen if awaited else len(X),
        memory["portfolio"],
        memory["local"],
    )


def with_point(start: FreshStart, x: FloatArray, n: int) -> FreshStart:
    """Return the start with one more awaited point, proposed when n points had been told."""
    return replace(
        start,
        awaited=(*start.awaited, tuple(float(v) for v in x)),
        seen=start.seen if start.awaited else n,
    )


def wants_local(start: FreshStart, n_initial: int) -> bool:
    """Tell whether the next point is the local model's: every second one, after a while."""
    return start.size >= n_initial + LOCAL_AFTER and start.size % 2 == 1


def start_portfolio(
    start: FreshStart,
    X: FloatArray,
    y: FloatArray,
    effective_dim: int,
    entropy: int,
    n_initial: int,
    noise_variance: float | None = None,
) -> Portfolio:
    """Return the portfolio on the start's own points X (k, D), y (k,), larger is better."""
    reference = np.arange(min(n_initial, len(y))) if start.number % 2 else None
    warped = half_rank_warp(y, reference=reference)
    return fit_portfolio(
        X,
        warped,
        effective_dim,
        start.portfolio or {},
        entropy,
        noise_variance=warped_noise(noise_variance, y, warped),
    )


def fresh_point(
    start: FreshStart,
    context: ProposalContext,
    n_initial: int,
    effective_dim: int,
    design_point: Callable[[int], FloatArray],
    effective_dims: Sequence[int] = (),
) -> Proposal:
    """Return the next point of a start; the memory holds the start alone.

    Parameters
    ----------
    start : FreshStart
    context : ProposalContext
    n_initial : int
        Points of the start's own space-filling design.
    effective_dim : int
        Number of leading directions of the portfolio.
    design_point : callable
        From a number to the point (D,) of the space-filling sequence, scaled units.
    effective_dims : sequence of int, optional
        Numbers of directions that the start's local model may learn.
    """
    data, n = context.data, len(context.data)

    def proposal(after: FreshStart, x: FloatArray, info: dict[str, InfoValue]) -> Proposal:
        awaited = with_point(after, context.space.returned(x), n)
        return Proposal(x, {"fresh start": awaited.memory()}, info)

    own = np.array([row for row in start.told if data.finite[row]], dtype=int)
    known = Told.of(data, own)
    X, y = known.X, known.y
    noise_variance = known.noise_variance(context.noise_std)
    informative = len(y) >= 2 and y.max() > y.min()
    if start.size < n_initial or not informative:
        return proposal(start, design_point(context.position), {"phase": "fresh design"})
    may_polish = wants_local(start, n_initial) and known.has_incumbent
    if may_polish and not is_awaited(start.local, context.pending):
        step = local_step(
            X,
            y,
            start.local or {},
            context.rng,
            eligible=known.eligible,
            judged=known.judged,
            feasibility=context.feasibility,
            noise_variance=noise_variance,
            domain=context.domain,
            taken=np.vstack([data.X, context.pending]),
            sees_noise=sees_noise(start.portfolio, context.noise_std),
            effective_dims=effective_dims,
            space=context.space,
        )
        start = replace(start, local=step.memory)
        if step.x is not None and not is_taken(step.x, context):
            info: dict[str, InfoValue] = {
                "phase": "fresh local",
                "expected gain": step.gain,
                "trust region": step.radius,
                "directions": step.directions,
            }
            return proposal(start, step.x, info)
    portfolio = start_portfolio(
        start, X, y, effective_dim, context.entropy, n_initial, noise_variance
    )
    found = search_by_portfolio(
        portfolio, known.incumbent, effective_dim, context, eligible=known.eligible
    )
    start = replace(start, portfolio=portfolio.memory)
    info = {"phase": "fresh portfolio", **search_info(found), **portfolio_info(portfolio)}
    return proposal(start, found.x, info)
