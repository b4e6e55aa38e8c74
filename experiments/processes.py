"""Runs in this process, or each in a process of its own, with one BLAS thread."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Any, TypeVar

from boring.exceptions import BoringError

__all__ = ["BLAS_VARIABLES", "WorkerError", "is_late", "one_blas_thread_for_children", "run_all"]

TaskT = TypeVar("TaskT")
ResultT = TypeVar("ResultT")

BLAS_VARIABLES = (
    "OPENBLAS_NUM_THREADS",
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
"""What tells a BLAS, before it is loaded, how many threads to use."""


class WorkerError(BoringError, RuntimeError):
    """A worker process ended without an answer."""


@contextlib.contextmanager
def one_blas_thread_for_children() -> Iterator[None]:
    """Let processes started inside load a BLAS with one thread; restore the environment."""
    saved = {name: os.environ.get(name) for name in BLAS_VARIABLES}
    os.environ.update(dict.fromkeys(BLAS_VARIABLES, "1"))
    try:
        yield
    finally:
        for name, value in saved.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@dataclass(frozen=True)
class _Alone:
    """Runs one task in a fresh process; returns None where it was too late to start."""

    run: Callable[[Any], Any]
    deadline: float | None
    on_death: Callable[[Any], Any] | None

    def __call__(self, task: Any) -> Any:
        if is_late(self.deadline):
            return None
        context = multiprocessing.get_context("spawn")
        try:
            with ProcessPoolExecutor(1, context) as pool:
                return pool.submit(self.run, task).result()
        except BrokenProcessPool:
            if self.on_death is None:
                raise
            return self.on_death(task)


def is_late(deadline: float | None) -> bool:
    """Whether a deadline by ``time.monotonic`` has passed; None never does."""
    return deadline is not None and time.monotonic() >= deadline


def run_all(
    run: Callable[[TaskT], ResultT],
    tasks: Sequence[TaskT],
    jobs: int,
    *,
    deadline: float | None = None,
    on_death: Callable[[TaskT], ResultT] | None = None,
) -> Iterator[ResultT]:
    """Yield the result of each task as it comes.

    Parameters
    ----------
    run : callable
        A module-level function, so that it can be sent to another process.
    tasks : sequence
        Started in this order.
    jobs : int
        Tasks at the same time. One stays in this process; with more, every task has a fresh
        process, so that its memory is its own.
    deadline : float, optional
        By ``time.monotonic``. Tasks not started by then are left out; those running finish.
    on_death : callable, optional
        Makes the result of a task whose process was killed.

    Raises
    ------
    WorkerError
        If a process was killed, and ``on_death`` is not given.
    """
    if jobs == 1:
        for task in tasks:
            if is_late(deadline):
                return
            yield run(task)
        return
    alone = _Alone(run, deadline, on_death)
    with one_blas_thread_for_children(), ThreadPoolExecutor(jobs) as pool:
        futures: list[Future[ResultT | None]] = [pool.submit(alone, task) for task in tasks]
        try:
            for future in as_completed(futures):
                result = future.result()
                if result is not None:
                    yield result
        except BrokenProcessPool as error:
            raise WorkerError(
                "a worker process was killed, often for want of memory. The finished runs are "
                "kept; repeat the command to go on, with fewer --jobs if it happens again."
            ) from error
        finally:
            for future in futures:
                future.cancel()
