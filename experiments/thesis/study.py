"""What a study of section 5.3 consists of, and how its records are made and kept.

A study has cells, such as a function with a number of points, and methods. One record is one (cell,
seed, method), one JSON line; what the file holds is not run again.
"""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from boring.exceptions import SubspaceWarning

from ..lines import append_line, read_cells
from ..processes import run_all
from ..tables import Spread

__all__ = [
    "Key",
    "Record",
    "Study",
    "StudyOutcome",
    "by_cell",
    "count_failed",
    "format_spread",
    "run_study",
    "study_keys",
    "succeeded",
]

Record = Mapping[str, Any]
Key = tuple[str, int, str]
"""Cell, seed, method."""


@dataclass(frozen=True)
class Study:
    """A study of section 5.3.

    Parameters
    ----------
    name : str
        For the command line and the file.
    title : str
        With the section of the thesis.
    about : str
        What is done, for the report.
    cells : tuple of str
    methods : tuple of str
    run : callable
        ``run(cell, seed, method)`` returns the figures of a record; module-level.
    table : callable
        Markdown from records.
    draw : callable
        Writes pictures of records into a folder and returns their paths.
    quick : tuple of str
        Cells of the quick version.
    """

    name: str
    title: str
    about: str
    cells: tuple[str, ...]
    methods: tuple[str, ...]
    run: Callable[[str, int, str], dict[str, Any]]
    table: Callable[[Sequence[Record]], str]
    draw: Callable[[Sequence[Record], Path], list[Path]]
    quick: tuple[str, ...]


@dataclass(frozen=True)
class StudyOutcome:
    """What a call of :func:`run_study` has done."""

    n_made: int
    n_held: int
    left: tuple[Key, ...] = field(default=())


@dataclass(frozen=True)
class _Task:
    run: Callable[[str, int, str], dict[str, Any]]
    key: Key


def _run_task(task: _Task) -> dict[str, Any]:
    cell, seed, method = task.key
    record: dict[str, Any] = {"cell": cell, "seed": seed, "method": method, "status": "ok"}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SubspaceWarning)  # the angle is measured here
            record |= task.run(cell, seed, method)
    except Exception:
        record |= {"status": "failed", "error": traceback.format_exc()}
    return record


def study_keys(study: Study, seeds: Sequence[int], quick: bool = False) -> tuple[Key, ...]:
    """Return the runs of a study, seed by seed."""
    cells = study.quick if quick else study.cells
    return tuple((cell, seed, m) for seed in seeds for cell in cells for m in study.methods)


def run_study(
    study: Study,
    path: Path,
    seeds: Sequence[int],
    *,
    quick: bool = False,
    jobs: int = 1,
    deadline: float | None = None,
    retry_failed: bool = False,
    progress: Callable[[Record, int, int], None] | None = None,
) -> StudyOutcome:
    """Make the runs that the file does not hold, and append each when it is finished.

    Parameters
    ----------
    study : Study
    path : Path
        JSON lines; made if it does not exist.
    seeds : sequence of int
    quick : bool, default False
        Only the cells of the quick version.
    jobs : int, default 1
        Runs at the same time; with two or more each in a process of its own.
    deadline : float, optional
        By ``time.monotonic``; no run starts after it.
    retry_failed : bool, default False
        Repeat runs that are on file as failed.
    progress : callable, optional
        Called as ``progress(record, number finished now, number to do)``.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    held = read_cells(path)
    keys = study_keys(study, seeds, quick)
    left = [
        key
        for key in keys
        if key not in held or (retry_failed and held[key].get("status") == "failed")
    ]
    made: set[Key] = set()
    tasks = [_Task(study.run, key) for key in left]
    for record in run_all(_run_task, tasks, min(jobs, max(len(tasks), 1)), deadline=deadline):
        append_line(path, record)
        made.add((record["cell"], record["seed"], record["method"]))
        if progress is not None:
            progress(record, len(made), len(left))
    return StudyOutcome(
        len(made), len(keys) - len(left), tuple(key for key in left if key not in made)
    )


def succeeded(records: Iterable[Record]) -> list[Record]:
    """Return the records that did not fail."""
    return [record for record in records if record.get("status", "ok") == "ok"]


def count_failed(records: Sequence[Record]) -> str:
    """Return the number of runs, and of those that failed."""
    failed = len(records) - len(succeeded(records))
    return f"{len(records)}, {failed} failed" if failed else str(len(records))


def by_cell(records: Iterable[Record], order: Sequence[str]) -> dict[tuple[str, str], list[Record]]:
    """Group records by (cell, method), cells in the given order, others after them."""
    groups: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        groups.setdefault((record["cell"], record["method"]), []).append(record)
    place = {cell: position for position, cell in enumerate(order)}
    keys = sorted(groups, key=lambda key: (place.get(key[0], len(place)), *key))
    return {key: sorted(groups[key], key=lambda record: record["seed"]) for key in keys}


def format_spread(values: Iterable[float], digits: int = 2) -> str:
    """Return median and quartiles.

    Examples
    --------
    >>> format_spread([1.0, 2.0, 3.0], 1)
    '2.0 (1.5, 2.5)'
    """
    spread = Spread.of(values)
    if spread is None:
        return "–"
    return f"{spread.median:.{digits}f} ({spread.lower:.{digits}f}, {spread.upper:.{digits}f})"
