"""Runs in this process, or each in a process of its own, with one BLAS thread."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import TypeVar

from boring.exceptions import BoringError

__all__ = ["BLAS_VARIABLES", "WorkerError", "one_blas_thread_for_children", "run_all"]

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


def _run_alone(run: Callable[[TaskT], ResultT], task: TaskT) -> ResultT:
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(run, task).result()


def run_all(
    run: Callable[[TaskT], ResultT], tasks: Sequence[TaskT], jobs: int
) -> Iterator[ResultT]:
    """Yield the result of each task as it comes.

    Parameters
    ----------
    run : callable
        A module-level function, so that it can be sent to another process.
    tasks : sequence
    jobs : int
        Tasks at the same time. One stays in this process; with more, every task has a fresh
        process, so that its memory is its own.

    Raises
    ------
    WorkerError
        If a process was killed.
    """
    if jobs == 1:
        for task in tasks:
            yield run(task)
        return
    with one_blas_thread_for_children(), ThreadPoolExecutor(jobs) as pool:
        futures: list[Future[ResultT]] = [pool.submit(_run_alone, run, task) for task in tasks]
        try:
            for future in as_completed(futures):
                yield future.result()
        except BrokenProcessPool as error:
            raise WorkerError(
                "a worker process was killed, often for want of memory. The finished runs are "
                "kept; repeat the command to go on, with fewer --jobs if it happens again."
            ) from error
        finally:
            for future in futures:
                future.cancel()
