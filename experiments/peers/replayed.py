"""Peers whose state cannot be rebuilt from the data: their asks and tells are played again.

The memory of a proposal holds the transcript: how many points were told when the engine was
started, and how many when each ask was made. Together with the data this is the whole sequence of
asks and tells, and with generators keyed by the step it always leads to the same engine. A proposal
is therefore a function of the options and the context. The engine of the last proposal is kept and
carried on where the transcript allows it, which saves time and changes nothing.

No point is evaluated twice in a run. An engine that asks for a point it has been told, as those do
that begin at the best one so far, is told its value again and asked once more, at no cost.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod

import numpy as np

from boring.data import Observations
from boring.domain import Domain
from boring.optimizer import Proposal, ProposalContext
from boring.rng import keyed_generator
from boring.typing import FloatArray

from ._containment import reseed
from .base import SEED_BOUND, PeerOptimizer, costs_of, unit_of

__all__ = ["Engine", "ReplayedPeer"]

SAME_POINT = 1e-8
"""A told point this near to an asked one, in scaled units, is that one (rounding)."""

MOST_REPEATS = 50
"""Known points in a row that an engine may ask for; the next one is moved."""


class Engine(ABC):
    """A running engine that minimises over [-1, 1]^D.

    The global generators of Python and of numpy are seeded anew before every call.
    """

    @abstractmethod
    def ask(self) -> FloatArray:
        """Return the next point, shape (D,), scaled units; the k-th call makes ask number k."""

    @abstractmethod
    def tell(self, number: int, cost: float) -> None:
        """Take the finite cost of the point of ask ``number``, counted from 0."""

    @abstractmethod
    def tell_other(self, x: FloatArray, cost: float) -> None:
        """Take the finite cost of a point, shape (D,), that was not asked for."""


class _Session:
    """An engine with the part of the transcript that it has lived through."""

    def __init__(self, peer: ReplayedPeer, data: Observations, start: int, entropy: int) -> None:
        self.start = start
        self.asked_at: list[int] = []
        self._entropy = entropy
        self._steps = 0
        self._asked: list[FloatArray] = []
        self._open: list[int] = []
        self._unit = unit_of(data.y[:start])
        self._seen_X, self._seen_y = data.X[:start], data.y[:start]
        seed = self._next_step()
        self._engine = peer._start(self._seen_X, costs_of(self._seen_y, self._unit), seed)

    def _next_step(self) -> int:
        """Seed the global generators by the number of the step, and return that seed."""
        seed = int(keyed_generator(self._entropy, "peer", self._steps).integers(SEED_BOUND))
        self._steps += 1
        reseed(seed)
        return seed

    def leads_to(self, data: Observations, start: int, asked_at: list[int]) -> bool:
        """Whether this session is the beginning of the asked-for one, its asks all made."""
        n = len(self._seen_y)
        return (
            self.start == start
            and self.asked_at == asked_at
            and n <= len(data)
            and np.array_equal(self._seen_X, data.X[:n])
            and np.array_equal(self._seen_y, data.y[:n], equal_nan=True)
        )

    def tell_up_to(self, data: Observations, n: int) -> None:
        """Tell the engine every point before the n-th that it does not know."""
        for row in range(len(self._seen_y), n):
            x = data.X[row]
            cost = float(costs_of(data.y[: row + 1], self._unit)[row])
            number = next(
                (k for k in self._open if np.abs(self._asked[k] - x).max() <= SAME_POINT), None
            )
            self._next_step()
            if number is None:
                self._engine.tell_other(x, cost)
            else:
                self._open.remove(number)
                self._engine.tell(number, cost)
        self._seen_X, self._seen_y = data.X[:n], data.y[:n]

    def ask(self, domain: Domain) -> FloatArray:
        """Let the engine ask until it asks for a point of the domain that is not known."""
        for repeats in itertools.count():
            self._next_step()
            x = np.clip(np.asarray(self._engine.ask(), dtype=np.float64), -1.0, 1.0)
            x = domain.snap(x)[0]
            number = len(self._asked)
            self._asked.append(x)
            known = np.flatnonzero(np.abs(self._seen_X - x).max(axis=1) <= SAME_POINT)
            if not known.size or repeats == MOST_REPEATS:
                break
            self._next_step()
            self._engine.tell(number, float(costs_of(self._seen_y, self._unit)[known[0]]))
        self._open.append(number)
        self.asked_at.append(len(self._seen_y))
        return x


class ReplayedPeer(PeerOptimizer):
    """A peer that is carried on by asks and tells, and played again after a resumption."""

    _session: _Session | None = None

    @abstractmethod
    def _start(self, points: FloatArray, costs: FloatArray, seed: int) -> Engine:
        """Return a fresh engine that has been told the initial design.

        Parameters
        ----------
        points : ndarray, shape (n, D), scaled units
        costs : ndarray, shape (n,)
            Smaller is better; finite, with at least two different ones.
        seed : int
            For the engine's own generator, below ``2**31 - 1``.
        """

    def _propose_contained(self, context: ProposalContext) -> Proposal:
        data = context.data
        start = int(context.memory.get("start", len(data)))
        asked_at = [int(n) for n in context.memory.get("asked_at", [])]
        session = self._session
        if session is None or not session.leads_to(data, start, asked_at):
            session = _Session(self, data, start, context.entropy)
            for n in asked_at:
                session.tell_up_to(data, n)
                session.ask(context.domain)
        self._session = None  # an engine that fails on the way is not carried on
        session.tell_up_to(data, len(data))
        x = session.ask(context.domain)
        self._session = session
        return Proposal(x, memory={"start": start, "asked_at": list(session.asked_at)}, info={})
