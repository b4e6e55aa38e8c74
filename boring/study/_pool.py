"""Workers behind one interface: here, threads, processes, Dask."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from concurrent.futures import (
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from typing import Any

from boring.exceptions import InvalidInputError
from boring.validation import as_positive_int

from ._evaluation import Outcome, evaluate

__all__ = ["Pool"]


class Pool:
    """Where evaluations run.

    Parameters
    ----------
    executor : Executor, Dask client, callable or None
    workers : int or None
    fun : callable
        The objective.

    Raises
    ------
    InvalidInputError
        If the executor is none, or the objective cannot reach its processes.
    """

    def __init__(self, executor: Any, workers: int | None, fun: Callable[..., Any]) -> None:
        self._workers = None if workers is None else as_positive_int(workers, "workers")
        self._fun = fun
        self._client: Any = None
        self._make: Callable[[], Executor] | None = None
        self._is_ours = False
        self._executor: Executor | None = None
        if executor is None:
            if self._workers is not None and self._workers > 1:
                self._adopt(lambda: ThreadPoolExecutor(self._workers, "boring"))
        elif isinstance(executor, Executor):
            self._executor = executor
            if isinstance(executor, ProcessPoolExecutor):
                self._make = lambda: _like(executor)
        elif hasattr(executor, "get_executor"):
            self._client = executor
            # Not pure: Dask must not take a value from its memory in place of an evaluation.
            self._executor = executor.get_executor(pure=False)
        elif callable(executor):
            self._adopt(executor)
        else:
            raise InvalidInputError(
                "executor must be a concurrent.futures.Executor, a dask.distributed.Client or a "
                f"function that makes an executor; received {type(executor).__name__}."
            )
        if isinstance(self._executor, ProcessPoolExecutor):
            _check_picklable(fun)

    @property
    def slots(self) -> int:
        """Evaluations to keep under way at a time."""
        if self._workers is not None:
            return self._workers
        if self._executor is None:
            return 1
        client = self._client or getattr(self._executor, "_client", None)
        if client is not None:
            return max(1, int(sum(client.ncores().values())))
        return int(getattr(self._executor, "_max_workers", 1))

    def submit(
        self, parameters: dict[str, Any], n_constraints: int, timeout: float | None
    ) -> Future[Outcome]:
        """Begin an evaluation; without workers, make it."""
        if self._executor is None:
            future: Future[Outcome] = Future()
            future.set_result(evaluate(self._fun, parameters, n_constraints, timeout))
            return future
        return self._executor.submit(evaluate, self._fun, parameters, n_constraints, timeout)

    def rebuild(self) -> bool:
        """Replace a broken executor by a fresh one; say whether that is possible."""
        if self._make is None:
            return False
        if self._is_ours and self._executor is not None:
            self._executor.shutdown(wait=False, cancel_futures=True)
        self._adopt(self._make)
        return True

    def close(self, *, wait: bool) -> None:
        """End the executor if it was made here."""
        if self._is_ours and self._executor is not None:
            self._executor.shutdown(wait=wait, cancel_futures=True)

    def _adopt(self, make: Callable[[], Executor]) -> None:
        made = make()
        if not isinstance(made, Executor):
            raise InvalidInputError(
                f"A function that makes an executor must return one; received "
                f"{type(made).__name__}."
            )
        self._make, self._executor, self._is_ours = make, made, True


def _like(pool: ProcessPoolExecutor) -> ProcessPoolExecutor:
    """Return a fresh process pool with the arguments of another, which cannot be asked for them."""
    theirs: Any = pool
    return ProcessPoolExecutor(
        theirs._max_workers,
        mp_context=theirs._mp_context,
        initializer=theirs._initializer,
        initargs=theirs._initargs,
    )


def _check_picklable(fun: Callable[..., Any]) -> None:
    try:
        pickle.dumps(fun)
    except Exception as error:
        raise InvalidInputError(
            f"A function for other processes must be one that pickle can send; {fun!r} is not: "
            f"{error}. Define it at the top level of a module, or use threads."
        ) from error
