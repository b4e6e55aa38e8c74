"""Text files that are written whole or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from .exceptions import JournalError
from .journal import begins_as_journal


@contextmanager
def whole_file(
    path: str | os.PathLike[str], *, newline: str | None = None, errors: str = "strict"
) -> Iterator[TextIO]:
    """Open a file for writing that takes its name in one step, once all of it is on disk.

    A reader sees the old file or the whole new one, and an error leaves the old one. Of several
    writers each writes a file of its own, and the last to finish is read. The folder is made first;
    permissions are the old file's, or those that `open` gives to a new one.

    Parameters
    ----------
    path : path-like
    newline, errors
        As of `open`; the encoding is UTF-8.

    Yields
    ------
    text file

    Raises
    ------
    JournalError
        If the file is a journal.
    """
    target = Path(path)
    check_is_no_journal(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f"{target.name}.{secrets.token_hex(8)}.partial")
    try:
        file = partial.open("x", newline=newline, encoding="utf-8", errors=errors)
    except OSError as error:  # of the name that the caller knows
        raise type(error)(error.errno, error.strerror, str(target)) from None
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileNotFoundError):
            shutil.copymode(target, partial)
        partial.replace(target)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def check_is_no_journal(path: Path) -> None:
    """Refuse to write over a journal: its values are nowhere else."""
    if path.is_file() and begins_as_journal(path):
        raise JournalError(
            f"What is written must not take the place of a journal; {path} is the journal of a "
            "study or run, and was left as it is. Choose another name."
        )
