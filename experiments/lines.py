"""Files of JSON lines, one record each, that are only appended to and survive a killed process.

The arena's records have a form of their own (:mod:`experiments.records`); these are the plain ones
of the smaller studies: what is on file is not made again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

from experiments.processes import run_all

__all__ = ["Keyed", "append_line", "read_cells", "read_lines", "run_missing"]


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Return the records of a file, none if there is no file; a torn line is left out."""
    records: list[dict[str, Any]] = []
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                records.append(json.loads(line))
            except json.JSONDecodeError:
                continue
    return records


def read_cells(path: Path) -> dict[tuple[str, int, str], dict[str, Any]]:
    """Return records by (cell, seed, method); a torn last line is left out."""
    return {
        (record["cell"], record["seed"], record["method"]): record for record in read_lines(path)
    }


def append_line(path: Path, record: dict[str, Any]) -> None:
    """Append one record; a torn last line is closed first."""
    with path.open("ab+") as file:
        if file.tell():
            file.seek(-1, 2)
            if file.read(1) != b"\n":
                file.write(b"\n")
        file.write(json.dumps(record).encode() + b"\n")


class Keyed(Protocol):
    """A run that is known again by its key, which its record holds as ``"run"``."""

    @property
    def key(self) -> tuple[Any, ...]:
        """What tells it from other runs, JSON-able."""
        ...


RunT = TypeVar("RunT", bound=Keyed)


def run_missing(
    make: Callable[[RunT], dict[str, Any]], wanted: Sequence[RunT], jobs: int, path: Path
) -> list[dict[str, Any]]:
    """Make the runs that a file lacks, append their records, and return all records.

    Parameters
    ----------
    make : callable
        A module-level function from a run to its record.
    wanted : sequence
    jobs : int
        Processes.
    path : Path
        Its folder is made where there is none.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    records = {tuple(record["run"]): record for record in read_lines(path)}
    missing = [run for run in wanted if run.key not in records]
    for record in run_all(make, missing, jobs):
        records[tuple(record["run"])] = record
        append_line(path, record)
    return list(records.values())
