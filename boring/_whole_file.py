"""Text files that are written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO


@contextmanager
def whole_file(
    path: str | os.PathLike[str], *, newline: str | None = None, errors: str = "strict"
) -> Iterator[TextIO]:
    """Open a file for writing that takes its name in one step, once all of it is on disk.

    A reader sees the old file or the whole new one, and an error leaves the old one. The folder is
    made first.

    Parameters
    ----------
    path : path-like
    newline, errors
        As of `open`; the encoding is UTF-8.

    Yields
    ------
    text file
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(target.name + ".partial")
    try:
        with partial.open("w", newline=newline, encoding="utf-8", errors=errors) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    partial.replace(target)
