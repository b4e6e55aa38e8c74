"""NGOpt, the algorithm selector of nevergrad (Meunier et al. 2022).

It chooses by dimension and budget, hence the option. The initial design enters as suggestions,
which every algorithm of nevergrad takes. Some of them cannot be asked twice without an answer, so
further points of a batch are uniform and their values not used. Its state cannot be built from
data, so it is replayed.

Some of its algorithms wait for values in a thread of their own. Every call is therefore made from
a daemon thread: threads that it starts inherit that, and cannot keep the process from ending.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from boring.typing import FloatArray
from boring.validation import as_positive_int

from .base import Requirement
from .replayed import Engine, ReplayedPeer

__all__ = ["NevergradOptions", "NevergradPeer"]

DEFAULT_BUDGET = 100


@dataclass(frozen=True)
class NevergradOptions:
    """Options of NGOpt.

    Parameters
    ----------
    budget : int, default 100
        Evaluations of the whole run, the initial design included. The experiments fill in their
        own; NGOpt needs one (default chosen here).
    """

    budget: int = DEFAULT_BUDGET

    def __post_init__(self) -> None:
        """Check the options."""
        as_positive_int(self.budget, "budget")


def _as_float(value: Any) -> float:
    """Return the one number of an array of any shape.

    The metamodel of nevergrad 1.0.12 calls ``float`` on arrays of shape (1,), which numpy has
    refused since 2.4; without this in its place NGOpt fails wherever its metamodel fits.
    """
    return float(np.asarray(value).item())


def _in_daemon_thread(call: Callable[[], Any]) -> Any:
    """Return what the call returns, or raise what it raises, made from a daemon thread."""
    outcome: dict[str, Any] = {}

    def target() -> None:
        try:
            outcome["value"] = call()
        except Exception as error:
            outcome["error"] = error

    thread = threading.Thread(target=target, daemon=True)
    thread.start()
    thread.join()
    if "error" in outcome:
        raise outcome["error"]
    return outcome["value"]


class _Nevergrad(Engine):
    """An optimiser of nevergrad."""

    def __init__(self, points: FloatArray, costs: FloatArray, seed: int, budget: int):
        import nevergrad

        self._dim = points.shape[1]
        space = nevergrad.p.Array(init=np.zeros(self._dim), lower=-1.0, upper=1.0)
        space.random_state = np.random.RandomState(seed)
        self._optimizer: Any = nevergrad.optimizers.NGOpt(space, budget=budget, num_workers=1)
        self._asked: list[Any] = []  # None for a point that is not nevergrad's
        self._is_waiting = False
        for x, cost in zip(points, costs, strict=True):
            self.tell_other(x, float(cost))

    def ask(self) -> FloatArray:
        """Return the optimiser's next point; while that is out, uniform ones."""
        if self._is_waiting:
            self._asked.append(None)
            other = np.random.uniform(-1.0, 1.0, size=(self._dim,))  # noqa: NPY002 (contained)
            return np.asarray(other, dtype=np.float64)
        self._is_waiting = True
        candidate = _in_daemon_thread(self._optimizer.ask)
        self._asked.append(candidate)
        return np.asarray(candidate.value, dtype=np.float64)

    def tell(self, number: int, cost: float) -> None:
        """Tell the cost of a candidate; that of another point is left."""
        if self._asked[number] is None:
            return
        self._is_waiting = False
        _in_daemon_thread(lambda: self._optimizer.tell(self._asked[number], cost))

    def tell_other(self, x: FloatArray, cost: float) -> None:
        """Suggest a point, take it, and tell its cost."""
        _in_daemon_thread(lambda: self._take(x, cost))

    def _take(self, x: FloatArray, cost: float) -> None:
        self._optimizer.suggest(x)
        self._optimizer.tell(self._optimizer.ask(), cost)


class NevergradPeer(ReplayedPeer):
    """NGOpt of the package ``nevergrad``; options are those of :class:`NevergradOptions`."""

    name: ClassVar[str] = "peer-nevergrad"
    options_type: ClassVar[type] = NevergradOptions
    requirement: ClassVar[Requirement] = Requirement("nevergrad", ("nevergrad",))

    def _load(self) -> None:
        import nevergrad
        from nevergrad.optimization import metamodel

        nevergrad.optimizers  # noqa: B018 (loaded now, not at the first ask)
        metamodel.float = _as_float

    def _start(self, points: FloatArray, costs: FloatArray, seed: int) -> Engine:
        return _Nevergrad(points, costs, seed, self.options.budget)
