"""The lock of a study's file: one process writes at a time, and others learn who it is."""

from __future__ import annotations

import json
import os
import socket
import time
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from boring.exceptions import InvalidInputError, JournalError
from boring.extras import require
from boring.validation import as_real

__all__ = ["DEFAULT_WAIT", "StudyLock", "StudyLockedError", "holder_of", "writer_of"]

DEFAULT_WAIT = 3.0
"""Seconds to wait for another writer (chosen here)."""


class StudyLockedError(JournalError):
    """Another process has the study open for writing."""


class StudyLock:
    """The exclusive right to write a file, kept by the operating system.

    Parameters
    ----------
    path : Path
        Of the study; the lock is ``<path>.lock``, and ``<path>.holder`` names who has it. The
        system releases the lock when the process ends, however it ends.
    wait : float
        Seconds to wait for it.

    Raises
    ------
    StudyLockedError
        If another holds it still; the message names process, host and time.
    JournalError
        If the lock cannot be made there.
    """

    def __init__(self, path: Path, wait: float) -> None:
        filelock = require("filelock", "study", "A study with a file")
        rule = "a number of seconds, 0 or more"
        if (seconds := as_real(wait, "wait", rule)) < 0:
            raise InvalidInputError(f"wait must be {rule}; received {wait!r}. Pass for example 3.")
        self.path = path
        self._pid = os.getpid()
        if not path.parent.is_dir():
            raise JournalError(
                f"A study needs a folder that exists; there is no {path.parent}. Make it, or check "
                "the path."
            )
        self._lock = filelock.FileLock(f"{path}.lock")
        try:
            self._lock.acquire(timeout=seconds)
        except filelock.Timeout as error:
            raise StudyLockedError(
                f"Only one process may write a study at a time; {path} is open for writing by "
                f"{_in_words(holder_of(path))}. Waited {wait:g} s. End that process or let it "
                "finish, or open the study with read_only=True."
            ) from error
        except OSError as error:
            raise JournalError(
                f"The study {path} cannot be locked: {error}. Check the path and its permissions."
            ) from error
        mine = {"pid": os.getpid(), "host": socket.gethostname(), "since": time.time()}
        with suppress(OSError):  # A full disk must not keep anyone out.
            _holder_path(path).write_text(json.dumps(mine), encoding="utf-8")

    def release(self) -> None:
        """Let others write."""
        if self._lock.is_locked and os.getpid() == self._pid:
            with suppress(OSError):
                _holder_path(self.path).unlink()
            self._lock.release()


def writer_of(path: Path) -> dict[str, Any] | None:
    """Return who has a study open for writing; None if nobody does.

    Parameters
    ----------
    path : Path

    Returns
    -------
    dict or None
        As in `holder_of`. The lock itself is tried, so that a process that was killed is not named.
    """
    filelock = require("filelock", "study", "A study with a file")
    if not Path(f"{path}.lock").exists():
        return None
    try:
        with filelock.FileLock(f"{path}.lock", timeout=0):
            return None
    except (filelock.Timeout, OSError):
        return holder_of(path)


def holder_of(path: Path) -> dict[str, Any] | None:
    """Return who wrote that it holds the lock: ``pid``, ``host``, ``since`` (Unix time, seconds).

    Parameters
    ----------
    path : Path

    Returns
    -------
    dict or None
        None if nobody does, or it cannot be read. A process that was killed may stand there still.
    """
    try:
        found = json.loads(_holder_path(path).read_text(encoding="utf-8"))
        return {
            "pid": int(found["pid"]),
            "host": str(found["host"]),
            "since": float(found["since"]),
        }
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _holder_path(path: Path) -> Path:
    return path.with_name(path.name + ".holder")


def _in_words(holder: dict[str, Any] | None) -> str:
    if holder is None:
        return "another process"
    since = datetime.fromtimestamp(holder["since"]).isoformat(" ", "seconds")
    who = "this very process" if holder["pid"] == os.getpid() else f"process {holder['pid']}"
    return f"{who} on {holder['host']}, since {since}"
