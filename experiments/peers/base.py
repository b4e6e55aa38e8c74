"""The base of the adapters: another project's optimiser behind :class:`boring.Optimizer`.

An adapter receives the same seeds, the same initial design and the same values as our own
methods. Inside, its engine minimises over [-1, 1]^D.

**Deviation** from how an engine would be run by its own users: a value that is not finite is told
as the worst finite one; values come in units of their median magnitude, rounded to a power of two,
which is exact and lets engines with absolute tolerances work on any scale.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from boring.exceptions import BoringError
from boring.optimizer import Optimizer, Proposal, ProposalContext
from boring.space import Box
from boring.typing import Direction, FloatArray, SeedLike
from boring.warping import LARGEST, restore

from ._containment import contained

__all__ = ["MissingPeerError", "PeerOptimizer", "RebuiltPeer", "Requirement", "costs_of", "unit_of"]

SEED_BOUND = 2**31 - 1
"""Engines take seeds below this."""


class MissingPeerError(BoringError, ImportError):
    """The package of a peer is not installed; the message says how to install it."""


@dataclass(frozen=True)
class Requirement:
    """The package that an adapter needs.

    Parameters
    ----------
    distribution : str
        Name for pip.
    modules : tuple of str
        Top-level modules that the adapter imports.
    extra : {"peers", "torch-peers"}
        Extra of this project that installs it.
    """

    distribution: str
    modules: tuple[str, ...]
    extra: str = "peers"

    @property
    def is_installed(self) -> bool:
        """Whether every module can be found; nothing is imported."""
        return all(find_spec(module) is not None for module in self.modules)

    @property
    def command(self) -> str:
        """The command that installs it, to be run from the root of the checkout.

        Of torch, which pip alone would take in a build of several GB, it is the Makefile's.
        """
        return (
            "make torch-peers"
            if self.extra == "torch-peers"
            else f"pip install -e '.[{self.extra}]'"
        )

    @property
    def absence(self) -> str:
        """What to say when it is not installed."""
        return f"{self.distribution} is not installed; to install it: {self.command}"


def unit_of(y: FloatArray) -> int:
    """Return the power of two next to the median magnitude of the finite values other than 0."""
    magnitudes = np.abs(y[np.isfinite(y) & (y != 0)])
    if not magnitudes.size:
        return 0
    return int(np.frexp(np.quantile(magnitudes, 0.5, method="lower"))[1])


def costs_of(y: FloatArray, unit: int) -> FloatArray:
    """Return what an engine is told: smaller is better, all finite.

    Parameters
    ----------
    y : ndarray, shape (n,)
        Values of which larger is better, at least one of them finite.
    unit : int
        Exponent of two by which they are divided.

    Returns
    -------
    ndarray, shape (n,)
        A value that is not finite counts as the worst finite one of the n.
    """
    finite = np.isfinite(y)
    costs = np.where(finite, -y, 0.0)
    costs[~finite] = costs[finite].max()
    return np.clip(restore(costs, -unit), -LARGEST, LARGEST)


class PeerOptimizer(Optimizer):
    """Another project's optimiser.

    Parameters are those of :class:`boring.optimizer.Optimizer`.

    Raises
    ------
    MissingPeerError
        If the engine's package is not installed.
    """

    requirement: ClassVar[Requirement]

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
        if not self.requirement.is_installed:
            raise MissingPeerError(f"{self.name}: {self.requirement.absence}")
        from threadpoolctl import ThreadpoolController

        with contained(0):
            self._load()
            self._threads = ThreadpoolController()

    @abstractmethod
    def _load(self) -> None:
        """Import the engine, so that its loading time is no part of a suggestion's."""

    @abstractmethod
    def _propose_contained(self, context: ProposalContext) -> Proposal:
        """Return the engine's proposal; called inside the containment."""

    def _propose(self, context: ProposalContext) -> Proposal:
        seed = int(context.rng.integers(SEED_BOUND))
        with contained(seed, self._threads):
            return self._propose_contained(context)


class RebuiltPeer(PeerOptimizer):
    """A peer that is built anew from all told points at every proposal.

    A proposal is a function of the data and the proposal's generator alone; there is no memory.
    A point that is out for evaluation counts as told with the mean cost ("constant liar",
    Ginsbourger et al. 2010, section 4.2).
    """

    @abstractmethod
    def _suggest(self, points: FloatArray, costs: FloatArray, seed: int) -> ArrayLike:
        """Return the engine's next point.

        Parameters
        ----------
        points : ndarray, shape (n, D), scaled units
        costs : ndarray, shape (n,)
            Smaller is better; finite, with at least two different ones.
        seed : int
            For the engine's own generator, below ``2**31 - 1``.

        Returns
        -------
        array_like, shape (D,), scaled units
        """

    def _propose_contained(self, context: ProposalContext) -> Proposal:
        costs = costs_of(context.data.y, unit_of(context.data.y))
        points = np.vstack([context.data.X, context.pending])
        costs = np.concatenate([costs, np.full(len(context.pending), costs.mean())])
        seed = int(context.rng.integers(SEED_BOUND))
        x = np.asarray(self._suggest(points, costs, seed), dtype=np.float64)
        return Proposal(x, memory={}, info={})
