"""Random restarts in rounds, the hopeless ones dropped by extrapolating their losses.

A restart is anything that can be advanced a little and asked for its loss. In each round
every running restart advances once; one whose last ten losses, extrapolated, cannot reach
the best loss so far is dropped [thesis section 4.2.1, item 4].
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, Literal, Protocol, TypeVar

import numpy as np

from ..exceptions import FitError, InvalidInputError
from ..typing import FloatArray
from ..validation import as_real

EXTRAPOLATION_WINDOW = 10
"""Losses that are extrapolated [thesis section 4.2.1, item 4]."""

Outcome = Literal["finished", "dropped", "failed", "unfinished"]


class ResumableRestart(Protocol):
    """A local search that can be interrupted after every round."""

    @property
    def loss(self) -> float:
        """Loss of the best point so far, before the first round that of the start."""
        ...

    @property
    def finished(self) -> bool:
        """Whether further rounds would change nothing."""
        ...

    @property
    def rounds_left(self) -> int:
        """Most rounds that can follow."""
        ...

    def advance(self) -> None:
        """Run one round; a `FitError` ends this restart alone."""
        ...


R = TypeVar("R", bound=ResumableRestart)


@dataclass(frozen=True, slots=True)
class RestartHistory:
    """What became of one restart.

    Attributes
    ----------
    losses : tuple of float
        Loss at the start and after each round.
    outcome : {"finished", "dropped", "failed", "unfinished"}
        "unfinished" when the budget ended first.
    seconds : float
        Processor time spent on it.
    message : str
        Why it failed; empty otherwise.
    """

    losses: tuple[float, ...]
    outcome: Outcome
    seconds: float
    message: str = ""

    @property
    def dropped(self) -> bool:
        """Whether extrapolation ended it."""
        return self.outcome == "dropped"


@dataclass(frozen=True, slots=True)
class MultistartResult(Generic[R]):
    """The restart with the lowest loss, and the history of all.

    Attributes
    ----------
    best : ResumableRestart
    best_index : int
        Its place in the order of the restarts.
    histories : tuple of RestartHistory
        One for each restart that was begun.
    """

    best: R
    best_index: int
    histories: tuple[RestartHistory, ...]


def extrapolated_loss(losses: FloatArray, rounds_left: int) -> float:
    """Return the loss that a decreasing series can be expected to reach.

    Parameters
    ----------
    losses : ndarray, shape (k,), k >= 3
        The last losses, one a round.
    rounds_left : int
        Most rounds that can follow.

    Returns
    -------
    float
        Never above the last loss.

    Notes
    -----
    The gains of the window's two halves, g1 then g2, give the ratio q = g2/g1. If gains
    shrink (q < 1) they are continued as a geometric series, whose sum from here is
    g2 q/(1 - q); else the second half's rate is continued for the rounds left. The smaller
    of the two gains counts.
    """
    if len(losses) < 3:
        raise InvalidInputError(f"extrapolation needs three losses, got {len(losses)}.")
    half = (len(losses) - 1) // 2
    last = float(losses[-1])
    recent = float(losses[-1 - half] - losses[-1])
    earlier = float(losses[-1 - 2 * half] - losses[-1 - half])
    if recent <= 0.0:
        return last
    linear = recent / half * rounds_left
    if earlier <= recent:
        return last - linear
    ratio = recent / earlier
    return last - min(linear, recent * ratio / (1.0 - ratio))


class _Runner(Generic[R]):
    def __init__(self, index: int, restart: R) -> None:
        self.index = index
        self.restart = restart
        self.losses = [restart.loss]
        self.outcome: Outcome = "finished" if restart.finished else "unfinished"
        self.seconds = 0.0
        self.message = ""

    def advance(self) -> None:
        start = time.process_time()
        try:
            self.restart.advance()
        except FitError as error:
            self.outcome, self.message = "failed", str(error)
        else:
            self.losses.append(self.restart.loss)
            if self.restart.finished:
                self.outcome = "finished"
        self.seconds += time.process_time() - start

    def hopeless(self, best: float, window: int, optimism: float) -> bool:
        if len(self.losses) < window + 1 or self.losses[-1] <= best:
            return False
        recent = np.array(self.losses[-window:])
        gain = self.losses[-1] - extrapolated_loss(recent, self.restart.rounds_left)
        return self.losses[-1] - optimism * gain > best

    def history(self) -> RestartHistory:
        return RestartHistory(tuple(self.losses), self.outcome, self.seconds, self.message)


class _Budget:
    def __init__(self, time_budget: float | None, cpu_budget: float | None) -> None:
        for name, value in (("time_budget", time_budget), ("cpu_budget", cpu_budget)):
            if value is not None and not as_real(value, name, "positive seconds or None") > 0.0:
                raise InvalidInputError(f"{name} must be positive seconds or None, got {value}.")
        self._wall_end = np.inf if time_budget is None else time.perf_counter() + time_budget
        self._cpu_end = np.inf if cpu_budget is None else time.process_time() + cpu_budget

    @property
    def spent(self) -> bool:
        return time.perf_counter() >= self._wall_end or time.process_time() >= self._cpu_end


def _begin(source: Iterator[R], runners: list[_Runner[R]]) -> _Runner[R] | None:
    """Take the next restart; None when there are no more."""
    for restart in source:
        runner = _Runner(len(runners), restart)
        runners.append(runner)
        return runner
    return None


def run_restarts(
    restarts: Iterable[R],
    *,
    concurrent: int | None = None,
    window: int = EXTRAPOLATION_WINDOW,
    optimism: float = 1.0,
    time_budget: float | None = None,
    cpu_budget: float | None = None,
) -> MultistartResult[R]:
    """Advance restarts in rounds until each has finished, failed or been dropped.

    Parameters
    ----------
    restarts : iterable of ResumableRestart
        Taken one by one, so a generator may build them lazily.
    concurrent : int, optional
        How many run at once; all by default. With 1 they run one after another, which
        makes the most of a short budget.
    window : int, default 10
        Losses that are extrapolated; no restart is dropped before it has as many rounds.
    optimism : float, default 1
        Factor on the extrapolated gain; infinity never drops.
    time_budget, cpu_budget : float, optional
        Seconds by the wall clock, and of processor time. When either is spent, running
        restarts stop where they are; the first round of the first restart always runs.

    Returns
    -------
    MultistartResult

    Raises
    ------
    InvalidInputError
        If an argument is out of range or there is no restart.
    FitError
        If every restart failed; ``.history`` holds their histories.
    """
    if window < 3 or (concurrent is not None and concurrent < 1) or not optimism > 0.0:
        raise InvalidInputError(
            "run_restarts needs window >= 3, concurrent >= 1 and optimism > 0, got "
            f"window={window}, concurrent={concurrent}, optimism={optimism}."
        )
    budget = _Budget(time_budget, cpu_budget)
    source = iter(restarts)
    runners: list[_Runner[R]] = []
    running: list[_Runner[R]] = []
    more, advanced = True, False
    while True:
        while more and (concurrent is None or len(running) < concurrent):
            if advanced and budget.spent:
                break
            runner = _begin(source, runners)
            more = runner is not None
            if runner is not None and runner.outcome == "unfinished":
                running.append(runner)
        for runner in running:
            if advanced and budget.spent:
                break
            runner.advance()
            advanced = True
        best = min((r.losses[-1] for r in runners if r.outcome != "failed"), default=np.inf)
        for runner in running:
            if runner.outcome == "unfinished" and runner.hopeless(best, window, optimism):
                runner.outcome = "dropped"
        running = [runner for runner in running if runner.outcome == "unfinished"]
        if (advanced and budget.spent) or not (running or more):
            break
    return _select(runners)


def _select(runners: list[_Runner[R]]) -> MultistartResult[R]:
    if not runners:
        raise InvalidInputError("run_restarts needs at least one restart.")
    histories = tuple(runner.history() for runner in runners)
    usable = [
        runner
        for runner in runners
        if runner.outcome != "failed" and np.isfinite(runner.losses[-1])
    ]
    if not usable:
        raise FitError(
            f"all {len(runners)} restarts failed; the last one said: "
            f"{runners[-1].message or 'loss not finite'}",
            history=histories,
        )
    winner = min(usable, key=lambda runner: runner.losses[-1])
    return MultistartResult(winner.restart, winner.index, histories)
