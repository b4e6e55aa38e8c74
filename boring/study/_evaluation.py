"""One evaluation, wherever it runs: what workers are given to call."""

from __future__ import annotations

import math
import numbers
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from boring.evaluation import in_words

__all__ = ["Outcome", "evaluate"]


@dataclass(frozen=True)
class Outcome:
    """What came of an evaluation; it can be pickled whatever the objective raised.

    Parameters
    ----------
    value : float
        NaN if there is none.
    constraints : tuple of float or None
    error : str or None
        The exception in words.
    defect : str or None
        What was returned instead of numbers.
    seconds : float
    """

    value: float
    constraints: tuple[float, ...] | None
    error: str | None
    defect: str | None
    seconds: float


def evaluate(
    fun: Callable[[dict[str, Any]], Any],
    parameters: Mapping[str, Any],
    n_constraints: int,
    timeout: float | None,
) -> Outcome:
    """Call the objective; its exceptions become part of the outcome.

    Parameters
    ----------
    fun : callable
    parameters : mapping
    n_constraints : int
    timeout : float or None
        Seconds after which the call is interrupted, where the system can do that.

    Returns
    -------
    Outcome
    """
    start = time.perf_counter()
    value, constraints, error, defect = float("nan"), None, None, None
    try:
        with _alarm(timeout):
            returned = fun(dict(parameters))
    except (Exception, SystemExit) as raised:
        error = in_words(raised)
    else:
        try:
            value, constraints = _numbers(returned, n_constraints)
        except (TypeError, ValueError) as wrong:
            defect = str(wrong)
    return Outcome(value, constraints, error, defect, time.perf_counter() - start)


def _numbers(returned: Any, n_constraints: int) -> tuple[float, tuple[float, ...] | None]:
    if not n_constraints:
        return _number(returned), None
    if not isinstance(returned, tuple) or len(returned) != 2:
        raise TypeError(
            f"with {n_constraints} constraints it must return (value, [c_1, ...]), not "
            f"{type(returned).__name__} {str(returned)[:60]!r}"
        )
    values = tuple(_number(item) for item in np.ravel(np.asarray(returned[1], dtype=object)))
    if len(values) != n_constraints:
        raise ValueError(f"it must return {n_constraints} constraints, not {len(values)}")
    return _number(returned[0]), values


def _number(value: Any) -> float:
    if isinstance(value, np.ndarray) and value.size == 1 and value.dtype.kind in "iufb":
        return float(value.reshape(()))
    if isinstance(value, (numbers.Real, np.bool_)):
        number: Any = value
        try:
            return float(number)
        except OverflowError:
            return math.inf if number > 0 else -math.inf
    raise TypeError(f"it must return a number, not {type(value).__name__} {str(value)[:60]!r}")


@contextmanager
def _alarm(timeout: float | None) -> Iterator[None]:
    """Interrupt the block after some seconds; only the main thread of a process can."""
    in_main = threading.current_thread() is threading.main_thread()
    if timeout is None or not in_main or not hasattr(signal, "setitimer"):
        yield
        return

    def ring(number: int, frame: Any) -> None:
        raise TimeoutError(f"the evaluation took longer than {timeout:g} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, timeout)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
