"""The loop of `Study.run`: keep all workers busy, lose no value, count none twice."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Future, wait
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from boring._brief import in_brief
from boring._run import Clock, check_callables
from boring._warn import warn
from boring.evaluation import check_on_error
from boring.exceptions import (
    EvaluationError,
    InvalidInputError,
    JournalError,
    NonFiniteWarning,
    SpaceExhaustedError,
)
from boring.progress import ProgressBar
from boring.stopping import StoppingCondition
from boring.validation import as_real

from ._evaluation import Outcome
from ._pool import Pool

if TYPE_CHECKING:
    from .study import Study, StudyStatus, Suggestion

__all__ = ["StudyCallback", "run"]

StudyCallback: TypeAlias = "Callable[[Study, int], Any]"
"""Called with the study and the number of each value; a true value ends the run."""

GRACE_SECONDS = 1.0
"""How long after its time an evaluation is waited for before its worker is given up.

Its own clock judges it, in the worker; here the way there counts, too, and the start of a process.
"""

LONGEST_SECONDS = 1e9
"""A timer can be set to so many, some thirty years."""

MANY_FAILURES = 3
"""A run of at least so many evaluations, all of which failed, is worth a warning."""


def run(
    study: Study,
    fun: Any,
    n_evaluations: int,
    *,
    executor: Any,
    workers: int | None,
    on_error: str,
    retries: int,
    timeout: float | None,
    stopping: StoppingCondition | None,
    callback: StudyCallback | None,
    progress: bool | None,
) -> StudyStatus:
    """Evaluate until there is reason to stop; the arguments are those of `Study.run`."""
    check_on_error(on_error)
    check_callables(fun, callback, stopping, ("study", "number"))
    rule = "a positive number of seconds, or None"
    if timeout is not None:
        seconds = as_real(timeout, "timeout", rule)
        if not seconds > 0:
            raise InvalidInputError(
                f"timeout must be {rule}; received {timeout!r}. Leave it out for no limit."
            )
        timeout = min(seconds, LONGEST_SECONDS)
    pool = Pool(executor, workers, fun)
    n_told = study.optimizer.n_told
    with ProgressBar(n_told + n_evaluations, n_told, study.optimizer.name, progress) as bar:
        runner = _Runner(study, pool, n_evaluations, on_error, retries, timeout, stopping)
        runner.callback = callback
        runner.bar = bar
        runner.run()
    return study.status()


@dataclass
class _Task:
    suggestion: Suggestion
    attempts: int = 0
    is_suspect: bool = False
    was_refused: bool = False
    deadline: float = math.inf


class _Runner:
    def __init__(
        self,
        study: Study,
        pool: Pool,
        n_evaluations: int,
        on_error: str,
        retries: int,
        timeout: float | None,
        stopping: StoppingCondition | None,
    ) -> None:
        self.study = study
        self.pool = pool
        self.n_evaluations = n_evaluations
        self.clock = Clock(study.optimizer, n_evaluations, stopping)
        self.on_error = on_error
        self.retries = retries
        self.timeout = timeout
        self.callback: StudyCallback | None = None
        self.bar: Any = None
        self.queue = deque(_Task(suggestion) for suggestion in study.outstanding)
        self.running: dict[Future[Outcome], _Task] = {}
        self.abandoned: set[Future[Outcome]] = set()
        self.n_started = 0
        self.failures: list[str] = []
        self.reasons: dict[str, float] = {}
        self.trouble: BaseException | None = None

    def run(self) -> None:
        """Run to the end; see `Study.run` for what is raised."""
        interrupted = True
        try:
            self.reasons = self.clock.reasons()
            while True:
                self._refill()
                if self.running:
                    self._collect()
                elif not self._try_disk_again():
                    break
            interrupted = False
        finally:
            if interrupted:
                self._save_what_is_there()
            is_busy = interrupted or bool(self.abandoned)
            self.pool.close(wait=not is_busy)
        if self.trouble is not None:
            raise self.trouble
        if len(self.failures) == self.clock.n_done >= MANY_FAILURES:
            warn(
                f"Evaluations should give values; all {len(self.failures)} of this run failed, the "
                f"last with {self.failures[-1]}. They are recorded as failures. Mend the function; "
                "with on_error='raise' a run ends at the first that raises.",
                NonFiniteWarning,
            )
        self.study.optimizer.note_stop(self.reasons)

    @property
    def _is_over(self) -> bool:
        return bool(self.reasons) or self.trouble is not None

    # Out.

    def _refill(self) -> None:
        """Start evaluations until every worker has one, or nothing is to be started."""
        self.abandoned = {future for future in self.abandoned if not future.done()}
        slots = 1 if self._is_over else self.pool.slots
        while not self._is_over and len(self.running) + len(self.abandoned) < slots:
            if any(task.is_suspect for task in self.running.values()):
                return
            task = self._next_task()
            if task is None or not self._submit(task):
                return
        if not self._is_over and not self.running and self.abandoned:
            self.reasons = {"hanging_evaluations": float(len(self.abandoned))}

    def _next_task(self) -> _Task | None:
        if self.queue:
            if self.queue[0].is_suspect and self.running:
                return None
            first = self.queue[0]
            if first.attempts or first.is_suspect or first.was_refused:
                return self.queue.popleft()
            if self.n_started >= self.n_evaluations:
                return None
            self.n_started += 1
            return self.queue.popleft()
        if self.n_started >= self.n_evaluations:
            return None
        try:
            suggestion = self.study.ask()[0]
        except SpaceExhaustedError:
            self.reasons = {"space_exhausted": float(self.study.optimizer.n_told)}
            return None
        except Exception as error:
            self.trouble = error
            return None
        self.n_started += 1
        return _Task(suggestion)

    def _submit(self, task: _Task) -> bool:
        """Begin an evaluation; False if the pool is broken and what broke it is to be found first.

        What a broken pool refuses has not run, and did not break it.
        """
        try:
            self._begin(task)
        except BrokenExecutor as error:
            if self.running or not self.pool.rebuild():
                if not self.running:
                    self.trouble = self.trouble or error
                task.was_refused = True
                self.queue.appendleft(task)
                return False
            try:
                self._begin(task)
            except BrokenExecutor as again:
                self._died([task], again)
        return True

    def _begin(self, task: _Task) -> None:
        parameters = dict(task.suggestion.parameters)
        future = self.pool.submit(parameters, self.study.n_constraints, self.timeout)
        if self.timeout is not None:
            task.deadline = time.perf_counter() + self.timeout + GRACE_SECONDS
        self.running[future] = task

    # Back.

    def _collect(self) -> None:
        """Wait for some evaluation to end, and take what has ended."""
        nearest = min(task.deadline for task in self.running.values())
        patience = None if nearest == math.inf else max(0.0, nearest - time.perf_counter())
        done, _ = wait(self.running, timeout=patience, return_when=FIRST_COMPLETED)
        broken: list[_Task] = []
        cause: BaseException | None = None
        for future in sorted(done, key=self._number):
            cause = self._take(future, broken) or cause
        if broken:
            # The others of a broken pool end at once, with a value or without.
            for future in sorted(wait(self.running).done, key=self._number):
                self._take(future, broken)
            assert cause is not None
            self._died(broken, cause)
        self._give_up()

    def _number(self, future: Future[Outcome]) -> int:
        return self.running[future].suggestion.number

    def _take(self, future: Future[Outcome], broken: list[_Task]) -> BaseException | None:
        """Take one ended evaluation; return the error of a broken pool."""
        task = self.running.pop(future)
        try:
            self._tell(task, future.result())
        except BrokenExecutor as error:
            broken.append(task)
            return error
        except CancelledError:
            self.trouble = self.trouble or EvaluationError(
                f"Workers must not be taken away in a run; evaluation {task.suggestion.number} "
                "was cancelled from elsewhere. It is outstanding still: run again."
            )
        except Exception as error:
            # Not from the objective, whose exceptions are part of the outcome.
            if _is_killed_worker(error):
                self._blame(task, error)
            else:
                self.trouble = self.trouble or error
        return None

    def _tell(self, task: _Task, outcome: Outcome) -> None:
        number = task.suggestion.number
        if outcome.exit_code is not None:
            raise SystemExit(*outcome.exit_code)
        if self._is_late(outcome):
            self._record(number, partial(self._failed, number, self._late, outcome.seconds))
        elif outcome.defect is not None:
            self.trouble = self.trouble or EvaluationError(
                f"The objective must return numbers; of evaluation {number}, "
                f"{in_brief(task.suggestion.parameters)}, {outcome.defect}. Mend it; the number is "
                "outstanding still."
            )
        elif outcome.error is not None and self.on_error == "raise":
            self.trouble = self.trouble or EvaluationError(
                f"The objective must return a value; of evaluation {number}, "
                f"{in_brief(task.suggestion.parameters)}, it raised {outcome.error}. Mend it, or "
                "pass on_error='record'; the number is outstanding still."
            )
        elif outcome.error is not None:
            self._record(number, partial(self._failed, number, outcome.error, outcome.seconds))
        else:
            if not math.isfinite(outcome.value):
                self.failures.append(f"the value {outcome.value}")
            self._record(
                number,
                partial(
                    self.study.tell,
                    number,
                    outcome.value,
                    outcome.constraints,
                    seconds=outcome.seconds,
                ),
            )

    def _is_late(self, outcome: Outcome) -> bool:
        """Say whether an evaluation took too long, interrupted or not, whatever came of it."""
        return self.timeout is not None and outcome.seconds > self.timeout

    @property
    def _late(self) -> str:
        return f"TimeoutError: the evaluation took longer than {self.timeout:g} s"

    def _failed(self, number: int, reason: str, seconds: float | None = None) -> None:
        self.failures.append(reason)
        self.study.tell_failed(number, reason, seconds=seconds)

    def _record(self, number: int, tell: Callable[[], None]) -> None:
        """Tell; what a full disk refuses is in memory, and no more is started."""
        try:
            tell()
        except JournalError as error:
            self.trouble = self.trouble or error
        self.bar.update(self.clock.count())
        stopped = self.callback is not None and bool(self.callback(self.study, number))
        if not self.reasons:
            self.reasons = self.clock.reasons()
        if stopped:
            self.reasons = {**self.reasons, "callback": float(number)}

    def _try_disk_again(self) -> bool:
        """Write what a full disk refused; say whether the run can go on after it."""
        if not isinstance(self.trouble, JournalError):
            return False
        try:
            self.study.flush()
        except JournalError as error:
            self.trouble = error
            return False
        self.trouble = None
        # An ask that could not be written was never handed out.
        known = {task.suggestion.number for task in self.queue}
        self.queue.extend(_Task(s) for s in self.study.outstanding if s.number not in known)
        return True

    # Workers that die or hang.

    def _died(self, tasks: list[_Task], cause: BaseException) -> None:
        """Blame the one that was alone in a pool that broke, or find out which of them it was."""
        if not self.pool.rebuild():
            self.trouble = self.trouble or cause
        if len(tasks) == 1:
            self._blame(tasks[0], cause)
            return
        for task in reversed(tasks):
            task.is_suspect = True
            self.queue.appendleft(task)

    def _blame(self, task: _Task, cause: BaseException) -> None:
        task.attempts += 1
        number = task.suggestion.number
        if task.attempts > self.retries:
            times = "" if task.attempts == 1 else f", {task.attempts} times"
            reason = f"the worker died{times} ({type(cause).__name__})"
            self._record(number, partial(self._failed, number, reason))
        else:
            task.is_suspect = isinstance(cause, BrokenExecutor)
            self.queue.appendleft(task)

    def _give_up(self) -> None:
        """Record evaluations that are over their time and cannot be interrupted."""
        now = time.perf_counter()
        late = [future for future, task in self.running.items() if now >= task.deadline]
        for future in late:
            task = self.running.pop(future)
            if not future.cancel():
                self.abandoned.add(future)
            number = task.suggestion.number
            self._record(number, partial(self._failed, number, self._late))

    def _save_what_is_there(self) -> None:
        """After an interruption, tell the values that have come back; the rest is outstanding."""
        for future in list(self.running):
            task = self.running.pop(future)
            if future.cancel() or not future.done() or future.exception() is not None:
                continue
            outcome = future.result()
            failures = (outcome.error, outcome.defect, outcome.exit_code, self._is_late(outcome))
            if not any(failures):
                number, seconds = task.suggestion.number, outcome.seconds
                with suppress(JournalError):  # It is in memory then, for close to write.
                    self.study.tell(number, outcome.value, outcome.constraints, seconds=seconds)


def _is_killed_worker(error: BaseException) -> bool:
    """Say whether an error is Dask's of a task whose workers died, without importing Dask."""
    return any(kind.__name__ == "KilledWorker" for kind in type(error).__mro__)
