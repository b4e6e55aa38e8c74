"""CMA-ES through pycma (Hansen, Akimoto and Baudis, "CMA-ES/pycma").

The engine starts at the best point of the initial design with a step of a quarter of the box, as
its authors advise, and samples whole generations; points that it did not ask for are not used.
When it stops for convergence it starts again from a uniform point with twice the population
(Auger and Hansen 2005). Its state cannot be built from data, so it is replayed.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from boring.typing import FloatArray

from .base import Requirement
from .replayed import Engine, ReplayedPeer

__all__ = ["CmaOptions", "CmaPeer"]

STEP = 0.5
"""Initial standard deviation, scaled units: a quarter of the side of the box (pycma's advice)."""

QUIET = {"verbose": -9, "verb_log": 0, "seed": float("nan")}  # nan: the global state as it is


@dataclass(frozen=True)
class CmaOptions:
    """Options of CMA-ES.

    Parameters
    ----------
    step : float, default 0.5
        Initial standard deviation, scaled units.
    """

    step: float = STEP


class _Cma(Engine):
    """Generations of pycma, one point at a time."""

    def __init__(self, start: FloatArray, step: float) -> None:
        self._step = step
        self._n_asked = 0
        self._strategy = self._fresh(start, {})
        self._open_generation()

    def _fresh(self, start: FloatArray, more: dict[str, Any]) -> Any:
        import cma

        settings = {"bounds": [-1.0, 1.0], **QUIET, **more}
        return cma.CMAEvolutionStrategy(start, self._step, settings)

    def _open_generation(self) -> None:
        self._generation: list[FloatArray] = self._strategy.ask()
        self._number_of: list[int] = []
        self._costs: dict[int, float] = {}

    def ask(self) -> FloatArray:
        """Return the next member of the generation, or one more from the same distribution."""
        number, self._n_asked = self._n_asked, self._n_asked + 1
        if len(self._number_of) < len(self._generation):
            self._number_of.append(number)
            return self._generation[len(self._number_of) - 1]
        extra: FloatArray = copy.deepcopy(self._strategy).ask(1)[0]
        return extra

    def tell(self, number: int, cost: float) -> None:
        """Take a cost; with the last one of a generation the distribution moves."""
        if number not in self._number_of:
            return
        self._costs[number] = cost
        if len(self._costs) < len(self._generation):
            return
        costs = [self._costs[number] for number in self._number_of]
        self._strategy.tell(self._generation, costs)
        if self._strategy.stop():
            start = np.random.uniform(-1.0, 1.0, size=self._strategy.N)  # noqa: NPY002 (contained)
            self._strategy = self._fresh(start, {"popsize": 2 * self._strategy.popsize})
        self._open_generation()

    def tell_other(self, x: FloatArray, cost: float) -> None:
        """Leave a point that was not asked for."""


class CmaPeer(ReplayedPeer):
    """CMA-ES of the package ``cma``; options are those of :class:`CmaOptions`."""

    name: ClassVar[str] = "peer-cma"
    options_type: ClassVar[type] = CmaOptions
    requirement: ClassVar[Requirement] = Requirement("cma", ("cma",))

    def _load(self) -> None:
        import cma  # noqa: F401

    def _start(self, points: FloatArray, costs: FloatArray, seed: int) -> Engine:
        return _Cma(points[int(np.argmin(costs))], float(self.options.step))
