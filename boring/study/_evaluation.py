"""One evaluation, wherever it runs: what workers are given to call."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from boring.evaluation import in_words, numbers_of

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
    exit_code : tuple of one int, str or None, optional
        Of the ``SystemExit`` by which the objective, or a signal's handler in it, ends the program.
    """

    value: float
    constraints: tuple[float, ...] | None
    error: str | None
    defect: str | None
    seconds: float
    exit_code: tuple[int | str | None] | None = None


def evaluate(
    fun: Callable[[dict[str, Any]], Any],
    parameters: Mapping[str, Any],
    n_constraints: int,
    timeout: float | None,
) -> Outcome:
    """Call the objective; what it raises becomes part of the outcome.

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
    value, constraints, error, defect, exit_code = float("nan"), None, None, None, None
    try:
        with _alarm(timeout):
            returned = fun(dict(parameters))
    except Exception as raised:
        error = in_words(raised)
    except SystemExit as raised:
        # Raised from here, it would end a worker instead of the program.
        is_plain = raised.code is None or isinstance(raised.code, (int, str))
        exit_code = (raised.code if is_plain else in_words(raised),)
    else:
        try:
            value, constraints = numbers_of(returned, n_constraints)
        except TypeError as wrong:
            defect = str(wrong)
    seconds = time.perf_counter() - start
    return Outcome(value, constraints or None, error, defect, seconds, exit_code)


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
