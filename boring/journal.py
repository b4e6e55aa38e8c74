"""The journal: an append-only file of JSON lines from which a killed run resumes exactly.

The first line is a header (format, schema version, optimiser, space, direction, entropy, options);
each further line is one event, an ask or a tell. Lines reach the disk (flush and fsync) before the
next evaluation starts. A torn last line, which a kill can leave, is removed and reported; anything
else that does not fit is an error that names the line and leaves the file as it is.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ._brief import fields_in_brief, in_brief
from ._json import dumps, loads
from ._warn import warn
from .exceptions import InvalidInputError, JournalError, JournalWarning
from .history import Event, History, check_constraints
from .space import Box

__all__ = [
    "Journal",
    "JournalContents",
    "begins_as_journal",
    "journal_exists",
    "journal_path",
    "read_journal",
]

JOURNAL_FORMAT = "boring-journal"
JOURNAL_SCHEMA = 1
JOURNAL_SCHEMA_OF_OUTCOMES = 2
"""Written where the header holds ``n_constraints`` or ``noise_std``, which readers of schema 1
would pass over; all else is the same, and both are read."""
OUTCOME_FIELDS = ("n_constraints", "noise_std")
_BEGINNING = f'{{"format":"{JOURNAL_FORMAT}"'.encode()
HEAD = 200
"""Bytes in which a journal says what it is."""
_HEADER_FIELDS = ("optimizer", "space", "direction", "entropy", "n_initial", "options")


@dataclass(frozen=True)
class JournalContents:
    """What a journal holds.

    Parameters
    ----------
    path : Path
    header : mapping
        Configuration of the run.
    space : Box
    history : History
        The events, replayed.
    size : int
        Bytes up to the end of the last whole line.
    torn : bytes
        What follows it: nothing, or the beginning of a line.
    is_unfinished_line : bool
        Whether the last whole line lacks its line end.
    """

    path: Path
    header: Mapping[str, Any]
    space: Box
    history: History
    size: int
    torn: bytes
    is_unfinished_line: bool

    __repr__ = fields_in_brief


def journal_path(path: str | os.PathLike[str]) -> Path:
    """Return the path of a journal, such as a study's, whether there is a file or not.

    Parameters
    ----------
    path : path-like

    Raises
    ------
    InvalidInputError
        If it is no path.
    JournalError
        If the system does not take it, as a name that is too long.
    """
    if not isinstance(path, str | os.PathLike):
        raise InvalidInputError(
            f"The path of a journal must be a text or a Path; received {in_brief(path)}. Pass for "
            "example 'run.jsonl'."
        )
    try:
        with suppress(FileNotFoundError, NotADirectoryError):
            os.stat(path)
    except (OSError, ValueError) as error:
        raise JournalError(
            f"The path of a journal must be one that the system takes: {error}; received "
            f"{in_brief(str(path))}. Pass another path, or check its permissions."
        ) from error
    return Path(path)


def journal_exists(path: str | os.PathLike[str]) -> bool:
    """Say whether there is a journal to resume.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    bool
        False if the file is absent, empty, or holds only the torn beginning of a header, which
        is a run that was killed before it had anything to remember.

    Raises
    ------
    InvalidInputError, JournalError
        As of `journal_path`, and if the path is not a file.
    """
    target = journal_path(path)
    if not target.exists():
        return False
    if not target.is_file():
        raise JournalError(
            f"A journal must be a file; {target} is not one. Pass the path of a file."
        )
    with target.open("rb") as file:
        line = file.readline()
    return not _is_torn_header(line)


def begins_as_journal(path: str | os.PathLike[str]) -> bool:
    """Say whether an existing file begins with the header of a journal, such as a study's.

    Parameters
    ----------
    path : path-like
    """
    with Path(path).open("rb") as file:
        head = file.read(HEAD)
    return head.startswith(b"{") and JOURNAL_FORMAT.encode() in head


def _is_torn_header(line: bytes) -> bool:
    if line.endswith(b"\n"):
        return False
    short = min(len(line), len(_BEGINNING))
    return line[:short] == _BEGINNING[:short] and _parse(line) is None


def _parse(line: bytes) -> Any:
    """Return the decoded line, or None if it is not strict JSON."""
    try:
        return loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        return None


def read_journal(path: str | os.PathLike[str]) -> JournalContents:
    """Read and check a journal; the file is only read.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    JournalContents

    Raises
    ------
    JournalError
        If the file is absent, foreign, of another schema, or corrupt before its last line.
    """
    target = journal_path(path)
    try:
        content = target.read_bytes()
    except OSError as error:
        raise JournalError(
            f"The journal {target} cannot be read: {error}. Check the path."
        ) from error
    lines = content.split(b"\n")
    whole, torn = lines[:-1], lines[-1]
    unfinished = bool(torn) and _parse(torn) is not None
    if unfinished:
        whole, torn = lines, b""
    if not whole and _is_torn_header(content):
        raise JournalError(
            f"A journal must begin with a whole line; {target} "
            f"{'holds only the beginning of one' if content else 'is empty'}. The run that made "
            "it ended before it asked for anything: start again with the same path."
        )
    if not whole:
        raise _foreign(target, content[:60])
    header = _read_header(target, whole[0])
    try:
        space = Box(**header["space"])
    except (TypeError, ValueError) as error:
        raise JournalError(
            f"Line 1 of the journal {target} must hold valid bounds: {error} "
            "Restore the file from a copy, or start a new journal."
        ) from error
    history = History(space.dim)
    n_constraints = header.get("n_constraints", 0)
    for number, line in enumerate(whole[1:], start=2):
        history = _replay(history, space, n_constraints, target, number, line)
    return JournalContents(
        target, header, space, history, len(content) - len(torn), torn, unfinished
    )


def _foreign(path: Path, beginning: bytes) -> JournalError:
    return JournalError(
        f"Line 1 of a journal must be a header of format {JOURNAL_FORMAT!r}; {path} begins with "
        f"{beginning!r}. The file is not a journal and was left as it is: pass another path."
    )


def _read_header(path: Path, line: bytes) -> Mapping[str, Any]:
    header = _parse(line)
    if not isinstance(header, dict) or header.get("format") != JOURNAL_FORMAT:
        raise _foreign(path, line[:60])
    if header.get("schema") not in {JOURNAL_SCHEMA, JOURNAL_SCHEMA_OF_OUTCOMES}:
        raise JournalError(
            f"Line 1 of the journal {path} must have schema {JOURNAL_SCHEMA} or "
            f"{JOURNAL_SCHEMA_OF_OUTCOMES}; it has "
            f"{header.get('schema')!r}. Resume it with the version that wrote it: "
            f"{header.get('versions')!r}."
        )
    missing = [name for name in _HEADER_FIELDS if name not in header]
    if missing:
        raise JournalError(
            f"Line 1 of the journal {path} must hold {', '.join(_HEADER_FIELDS)}; it lacks "
            f"{', '.join(missing)}. Restore the file from a copy, or start a new journal."
        )
    return header


def _replay(
    history: History, space: Box, n_constraints: int, path: Path, number: int, line: bytes
) -> History:
    remedy = (
        "Nothing was changed. Restore the file from a copy, or keep the lines before this one in a "
        "new file and resume that."
    )
    values = _parse(line)
    if not isinstance(values, dict):
        raise JournalError(
            f"Line {number} of the journal {path} must be a JSON object; it is {line[:60]!r}. "
            f"{remedy}"
        )
    try:
        following = history.with_event(values)
        if not space.contains(following.events[-1].x):
            raise ValueError("a point outside the box")
        check_constraints(following.events[-1], n_constraints)
    except (KeyError, TypeError, ValueError) as error:
        reason = f"the field {error} is missing" if isinstance(error, KeyError) else str(error)
        raise JournalError(
            f"Line {number} of the journal {path} must be the next ask or tell; {reason}. {remedy}"
        ) from error
    return following


class Journal:
    """The writing end of a journal.

    Parameters
    ----------
    path : path-like
    header : mapping, optional
        Configuration of the run, for a new journal.
    contents : JournalContents, optional
        What was read, for a journal to carry on.

    Raises
    ------
    JournalError
        If a new journal would overwrite something, or the file cannot be written.

    Warns
    -----
    JournalWarning
        If a torn last line was removed.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        header: Mapping[str, Any] | None = None,
        contents: JournalContents | None = None,
    ) -> None:
        self.path = journal_path(path).absolute()
        self._size = 0
        self._n_written = 0
        self._pid = os.getpid()
        if contents is not None:
            self._carry_on(contents)
        else:
            self._start({} if header is None else header)

    def write(self, events: Sequence[Event]) -> None:
        """Bring every event that is not yet on disk there, and wait until it is.

        Parameters
        ----------
        events : sequence of Ask or Tell
            All events of the run. Those already written are passed over, so that a write that was
            interrupted is completed by the next one.

        Raises
        ------
        JournalError
            If the file cannot be written, or something else has changed it, or this is a process
            forked from the one that opened it.
        """
        fresh = events[self._n_written :]
        if fresh and os.getpid() != self._pid:
            raise JournalError(
                f"Only the process that opened a journal may write it: {self.path} belongs to "
                f"process {self._pid}, and this is {os.getpid()}, made from it. Send values back, "
                "and tell them there; or open the file here, once that process has closed it."
            )
        if fresh:
            lines = [dumps(event.to_dict()) + "\n" for event in fresh]
            self._append("".join(lines).encode("utf-8"))
            self._n_written = len(events)

    def _start(self, header: Mapping[str, Any]) -> None:
        if journal_exists(self.path):
            raise JournalError(
                f"A new journal must not overwrite a file; {self.path} holds something. "
                "Resume it, or pass another path."
            )
        outcomes = any(name in header for name in OUTCOME_FIELDS)
        schema = JOURNAL_SCHEMA_OF_OUTCOMES if outcomes else JOURNAL_SCHEMA
        line = dumps({"format": JOURNAL_FORMAT, "schema": schema, **header}) + "\n"
        try:
            if self.path.exists() and self.path.stat().st_size:
                self._warn_torn(self.path.read_bytes())
                os.truncate(self.path, 0)
            else:
                self.path.touch()
            self._append(line.encode("utf-8"))
            _sync_directory(self.path.parent)
        except OSError as error:
            raise self._unwritable(error) from error

    def _carry_on(self, contents: JournalContents) -> None:
        self._size = contents.size
        self._n_written = len(contents.history.events)
        if contents.torn:
            os.truncate(self.path, contents.size)
            self._warn_torn(contents.torn)
        if contents.is_unfinished_line:
            self._append(b"\n")

    def _append(self, data: bytes) -> None:
        try:
            with self.path.open("r+b", buffering=0) as file:
                self._remove_own_fragment(file.fileno(), data)
                os.lseek(file.fileno(), self._size, os.SEEK_SET)
                remaining = memoryview(data)
                while remaining:
                    remaining = remaining[os.write(file.fileno(), remaining) :]
                os.fsync(file.fileno())
        except OSError as error:
            raise self._unwritable(error) from error
        self._size += len(data)

    def _remove_own_fragment(self, descriptor: int, data: bytes) -> None:
        """Remove what an interrupted write left; refuse a file that something else changed."""
        size = os.fstat(descriptor).st_size
        if size == self._size:
            return
        os.lseek(descriptor, self._size, os.SEEK_SET)
        fragment = os.read(descriptor, len(data) + 1) if size > self._size else b""
        if not fragment or not data.startswith(fragment):
            raise JournalError(
                f"Only one run may write a journal; {self.path} has {size} bytes where this run "
                f"left {self._size}. Stop the other run, or give each its own journal. Every "
                "value told to this one is still in its result."
            )
        os.ftruncate(descriptor, self._size)

    def _warn_torn(self, torn: bytes) -> None:
        warn(
            f"The last line of the journal {self.path} was torn ({len(torn)} bytes, "
            f"{torn[:40]!r}); it was removed. What it described will be done again.",
            JournalWarning,
        )

    def _unwritable(self, error: OSError) -> JournalError:
        return JournalError(
            f"The journal {self.path} cannot be written: {error}. Check the path and the space on "
            "the disk. Every value told so far is still in the result."
        )


def _sync_directory(path: Path) -> None:
    """Bring a new file's entry to disk, where the system can open directories."""
    if os.name == "posix":
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
