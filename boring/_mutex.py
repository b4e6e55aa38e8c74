"""A lock that an object can hold and still be pickled and copied."""

from __future__ import annotations

import threading
from types import TracebackType

__all__ = ["Mutex"]


class Mutex:
    """A re-entrant lock; what is made from it by pickling or copying is a fresh one."""

    def __init__(self) -> None:
        self._lock = threading.RLock()

    def __reduce__(self) -> tuple[type[Mutex], tuple[()]]:
        """Return how pickle and copy make another one: locks are not passed on."""
        return type(self), ()

    def __enter__(self) -> Mutex:
        """Wait for the lock, and take it."""
        self._lock.acquire()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Give the lock back."""
        self._lock.release()
