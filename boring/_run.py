"""The loop of :meth:`boring.optimizer.Optimizer.run`: ask, evaluate, tell, stop."""

from __future__ import annotations

import inspect
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _optimizer_support as support
from ._brief import shortened
from ._warn import warn
from .evaluation import Objective, check_on_error, evaluate
from .exceptions import BoringError, BudgetWarning, FitError, InvalidInputError, SpaceExhaustedError
from .progress import ProgressBar
from .result import IterationRecord, OptimizationResult, best_so_far
from .stopping import RunStatus, StoppingCondition
from .typing import FloatArray, OnError

if TYPE_CHECKING:
    from .optimizer import Callback, Optimizer


def run(
    optimizer: Optimizer,
    fun: Objective,
    n_evaluations: int,
    *,
    callback: Callback | None,
    on_error: OnError,
    stopping: StoppingCondition | None,
    progress: bool | None,
) -> OptimizationResult:
    """Evaluate until there is reason to stop; the arguments are those of ``Optimizer.run``."""
    check_on_error(on_error)
    check_callables(fun, callback, stopping, ("optimizer", "record"))
    _warn_budget(optimizer, n_evaluations)
    clock = Clock(optimizer, n_evaluations, stopping)
    total = optimizer.n_told + n_evaluations
    try:
        with ProgressBar(total, optimizer.n_told, optimizer.name, progress) as bar:
            reasons = clock.reasons()
            while not reasons:
                try:
                    record = _evaluate_next(optimizer, fun, on_error)
                except SpaceExhaustedError:
                    reasons = {"space_exhausted": float(optimizer.n_told)}
                    break
                bar.update(clock.count())
                stopped = callback is not None and bool(callback(optimizer, record))
                reasons = clock.reasons()
                if stopped:
                    reasons = {**reasons, "callback": float(record.index)}
        optimizer.note_stop(reasons)
        return optimizer.result()
    except BaseException as error:
        _attach_result(error, optimizer)
        raise


class Clock:
    """Counts the evaluations of one run, and says when to stop.

    Parameters
    ----------
    optimizer : Optimizer
    n_evaluations : int
        Its budget.
    stopping : StoppingCondition or None

    Attributes
    ----------
    n_done : int
        Evaluations counted.
    """

    def __init__(
        self, optimizer: Optimizer, n_evaluations: int, stopping: StoppingCondition | None
    ) -> None:
        self._optimizer = optimizer
        self._budget = n_evaluations
        self._stopping = stopping
        self.n_done = 0
        self._start = time.perf_counter()

    def count(self) -> float:
        """Count one evaluation; return the best value so far."""
        self.n_done += 1
        return float(self._best()[-1])

    def reasons(self) -> dict[str, float]:
        """Return the reasons to stop now."""
        found = dict(self._optimizer._stop_reasons())
        if self._stopping is not None:
            status = RunStatus(
                n_told=self._optimizer.n_told,
                n_evaluations=self.n_done,
                seconds=time.perf_counter() - self._start,
                best_so_far=self._best(),
                direction=self._optimizer.direction,
                remaining_improvement=partial(_remaining_improvement, self._optimizer),
            )
            found.update(self._stopping.check(status))
        if self.n_done >= self._budget:
            found["n_evaluations"] = float(self._optimizer.n_told)
        return found

    def _best(self) -> FloatArray:
        history, optimizer = self._optimizer.history, self._optimizer
        constraints = history.constraints(optimizer.n_constraints)
        return best_so_far(history.y, optimizer.direction, constraints)


def _remaining_improvement(optimizer: Optimizer) -> float | None:
    from .outlook import remaining_improvement

    return remaining_improvement(optimizer)


def _evaluate_next(optimizer: Optimizer, fun: Objective, on_error: OnError) -> IterationRecord:
    x = _ask(optimizer)
    value, constraints, error = evaluate(fun, x, on_error, optimizer.n_constraints)
    optimizer._tell(x[np.newaxis], np.array([value]), error, constraints)
    return support.last_record(optimizer.history)


def _ask(optimizer: Optimizer) -> FloatArray:
    try:
        x: FloatArray = optimizer.ask(1)[0]
    except BoringError:
        raise
    except Exception as error:
        raise FitError(
            f"Optimiser {optimizer.name!r} must propose a point; it raised "
            f"{type(error).__name__}: {error}. Everything evaluated before is in .result of this "
            "exception; please report the defect with it."
        ) from error
    return x


def check_callables(
    fun: object, callback: object, stopping: object, given: tuple[str, ...]
) -> None:
    """Raise before anything is paid for if an argument cannot be used.

    Parameters
    ----------
    fun, callback, stopping : object
    given : tuple of str
        What a callback is called with, in words.
    """
    for name, value in (("fun", fun), ("callback", callback)):
        if not callable(value) and not (name == "callback" and value is None):
            raise InvalidInputError(
                f"{name} must be callable; received {type(value).__name__}. Pass a function."
            )
    if callback is not None and (takes := takes_otherwise(callback, given)):
        form = f"callback({', '.join(given)})"
        raise InvalidInputError(
            f"callback is called as {form}; received one that takes {takes}. Write def {form}: ..."
        )
    if stopping is not None and not isinstance(stopping, StoppingCondition):
        raise InvalidInputError(
            f"stopping must be a StoppingCondition; received {type(stopping).__name__}. "
            "Build one from boring.stopping, such as Target(0.1) | MaxSeconds(60)."
        )


def takes_otherwise(function: Any, given: tuple[str, ...]) -> str | None:
    """Return the parameters of a function that cannot be called with so many arguments.

    None if it can, or does not say what it takes.
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return None
    try:
        signature.bind(*given)
    except TypeError:
        return shortened(str(signature))
    return None


def _warn_budget(optimizer: Optimizer, n_evaluations: int) -> None:
    total, before = optimizer.n_told + n_evaluations, optimizer.n_before_search
    if optimizer.is_model_based and total < before:
        kind, remedy = "a design", "n_initial"
        if before > optimizer.n_initial:
            kind, remedy = "the phase of learning", "what sets its length"
        warn(
            f"The budget should exceed what precedes the search; {total} evaluations end inside "
            f"{kind} of {before}, so that no point will come from the model. Raise "
            f"n_evaluations or lower {remedy}.",
            BudgetWarning,
        )


def _attach_result(error: BaseException, optimizer: Optimizer) -> None:
    """Leave everything evaluated on the exception."""
    if getattr(error, "result", None) is None:
        carrier: Any = error
        carrier.result = support.build_result(optimizer, data_only=True)
