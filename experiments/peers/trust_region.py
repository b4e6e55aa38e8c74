"""Trust-region Bayesian optimisation of the package ``trust-bo`` (after Eriksson et al. 2019).

A stand-in for TuRBO that needs no torch: trust regions as in TuRBO, with an ensemble of small
networks in place of the Gaussian process. Trust regions and network weights live in the engine,
so it is replayed.

**Deviation**: one point at a time, where its authors ask for ten; the shared initial design takes
the place of its own.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from boring.typing import FloatArray

from .base import Requirement
from .replayed import Engine, ReplayedPeer

__all__ = ["TrustRegionPeer"]


class _TrustRegion(Engine):
    """An engine of trust-bo."""

    def __init__(self, points: FloatArray, costs: FloatArray, seed: int) -> None:
        import trust_bo

        self._names = [f"x{k}" for k in range(points.shape[1])]
        self._engine = trust_bo.TRustBOEngine(
            space=[trust_bo.Float(name, -1.0, 1.0) for name in self._names],
            direction="minimize",
            seed=seed,
            config={"n_init": len(points)},
        )
        self._asked: list[dict[str, float]] = []
        for x, cost in zip(points, costs, strict=True):
            self.tell_other(x, float(cost))

    def ask(self) -> FloatArray:
        """Return the engine's next point."""
        candidate = self._engine.ask(batch_size=1)[0]
        self._asked.append(candidate)
        return np.array([candidate[name] for name in self._names], dtype=np.float64)

    def tell(self, number: int, cost: float) -> None:
        """Tell the cost of a candidate."""
        self._engine.tell([self._asked[number]], [cost])

    def tell_other(self, x: FloatArray, cost: float) -> None:
        """Tell a point of the caller's."""
        self._engine.tell([dict(zip(self._names, x.tolist(), strict=True))], [cost])


class TrustRegionPeer(ReplayedPeer):
    """Trust regions of the package ``trust-bo``; no options."""

    name: ClassVar[str] = "peer-trust-bo"
    requirement: ClassVar[Requirement] = Requirement("trust-bo", ("trust_bo",))

    def _load(self) -> None:
        import trust_bo  # noqa: F401

    def _start(self, points: FloatArray, costs: FloatArray, seed: int) -> Engine:
        return _TrustRegion(points, costs, seed)
