"""Random restarts in rounds, the hopeless ones dropped by extrapolating their losses.

A restart is anything that can be advanced a little and asked for its loss. In each round
every running restart advances once; one whose last ten losses, extrapolated, cannot reach
the best loss so far is dropped [thesis section 4.2.1, item 4].
"""

from __future__ import annotations

import time
from collections.abc import Iterable
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

    def hopeless(self, best: float) -> bool:
        if len(self.losses) < EXTRAPOLATION_WINDOW + 1 or self.losses[-1] <= best:
            return False
        recent = np.array(self.losses[-EXTRAPOLATION_WINDOW:])
        gain = self.losses[-1] - extrapolated_loss(recent, self.restart.rounds_left)
        return self.losses[-1] - gain > best

    def history(self) -> RestartHistory:
        return RestartHistory(tuple(self.losses), self.outcome, self.seconds, self.message)


def run_restarts(
    restarts: Iterable[R], *, drop_hopeless: bool = True, cpu_budget: float | None = None
) -> MultistartResult[R]:
    """Advance restarts in rounds until each has finished, failed or been dropped.

    Parameters
    ----------
    restarts : iterable of ResumableRestart
        Taken one by one, so a generator may build them lazily.
    drop_hopeless : bool, default True
        Drop restarts whose extrapolated loss cannot reach the best so far; none before it has as
        many rounds as losses are extrapolated.
    cpu_budget : float, optional
        Seconds of processor time. All restarts run side by side without one, and one after another
        with it, as a short budget is better spent on few than spread thin. When it is spent, the
        one that runs stops where it is; the first round of the first restart always runs.

    Returns
    -------
    MultistartResult

    Raises
    ------
    InvalidInputError
        If the budget is not positive or there is no restart.
    FitError
        If every restart failed; ``.history`` holds their histories.
    """
    if cpu_budget is not None and not (
        as_real(cpu_budget, "cpu_budget", "positive seconds or None") > 0.0
    ):
        raise InvalidInputError(f"cpu_budget must be positive seconds or None, got {cpu_budget}.")
    end = np.inf if cpu_budget is None else time.process_time() + cpu_budget
    source = iter(restarts)
    runners: list[_Runner[R]] = []
    running: list[_Runner[R]] = []
    more, advanced = True, False

    def is_spent() -> bool:
        return advanced and time.process_time() >= end

    while True:
        while more and (cpu_budget is None or not running) and not is_spent():
            restart = next(source, None)
            more = restart is not None
            if restart is not None:
                runners.append(_Runner(len(runners), restart))
                running += [runner for runner in runners[-1:] if runner.outcome == "unfinished"]
        for runner in running:
            if is_spent():
                break
            runner.advance()
            advanced = True
        best = min((r.losses[-1] for r in runners if r.outcome != "failed"), default=np.inf)
        for runner in running:
            if drop_hopeless and runner.outcome == "unfinished" and runner.hopeless(best):
                runner.outcome = "dropped"
        running = [runner for runner in running if runner.outcome == "unfinished"]
        if is_spent() or not (running or more):
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
