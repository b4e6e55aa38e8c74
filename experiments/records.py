"""Records of runs: one JSON line for each (experiment, method, seed).

A record holds everything that a table or a plot needs, so that both can be rebuilt without running
anything again. Files are only ever appended to. A last line torn by a killed process is
recognised, left out, and cut off before the next line is written. Non-finite numbers are written
as the strings "NaN", "Infinity" and "-Infinity", because JSON has none.
"""

from __future__ import annotations

import dataclasses
import gzip
import json
import math
import os
import warnings
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from boring.exceptions import BoringError, JournalWarning
from boring.typing import Direction, FloatArray

from .metrics import simple_regret

__all__ = [
    "SCHEMA_VERSION",
    "RecordError",
    "RunKey",
    "RunRecord",
    "append_record",
    "as_matrix",
    "latest",
    "open_for_append",
    "read_folders",
    "read_records",
    "regrets_of",
    "to_jsonable",
]

SCHEMA_VERSION = 3
"""Raised whenever a field is added or changes its meaning; a reader refuses unknown versions."""

ADDED_FIELDS: Mapping[int, tuple[str, ...]] = {
    1: (),
    2: ("peak_memory_mib",),
    3: ("learned_dim", "trust", "importance_interval", "importance_coverage"),
}
"""What each version brought; lines of an older one are read with None in its place. Since version 3
the points may be left out, and what follows from the observed values is (`RunRecord.to_line`)."""

DERIVED_SINCE = 3

Status = Literal["ok", "failed", "missing"]
"""See `RunRecord.status`."""

RunKey = tuple[str, str, int]


class RecordError(BoringError, ValueError):
    """A file of records cannot be read, or belongs to other settings."""


@dataclass(frozen=True)
class RunRecord:
    """One run of one method on one problem instance.

    Parameters
    ----------
    experiment, problem, method : str
        Names of the experiment, of the problem instance and of the optimiser.
    seed : int
        Fixes the problem instance and the optimiser.
    budget, n_initial : int
        Evaluations allowed, and how many of them form the initial design.
    direction : {"minimize", "maximize"}
        What "best" means.
    status : {"ok", "failed", "missing"}
        A failed run keeps the evaluations made before the failure. A missing one could not be
        made because the method's package is not installed; it has no evaluations.
    optimum : float or None
        Declared optimum of the problem.
    X : tuple of tuples of float, shape (n, D), or None
        Evaluated points, raw units; None where they were not kept. Seed and method tell them.
    y : tuple of float
        Observed values in the order of evaluation (with noise, if the problem has any).
    value : tuple of float
        Noiseless values at the same points.
    simple_regret : tuple of float or None
        Gap between the best noiseless value so far and the optimum; None if that is unknown.
    x_best : tuple of float or None
        Point with the best noiseless value, raw units.
    y_best : float or None
        That value.
    seconds_per_ask : tuple of float
        Wall seconds of each suggestion.
    optimizer_seconds, objective_seconds : float
        Wall seconds spent in the optimiser (ask, tell and the final estimate) and in the objective.
    basis, true_basis : tuple of tuples of float, shape (D, d), or None
        Final learned active basis, and the true one (None also where points were not kept).
    largest_angle_degrees : float or None
        Largest principal angle between the two; None when either is missing.
    trusted : bool or None
        Whether the optimiser trusts its own subspace.
    importance : tuple of float, shape (D,), or None
        Share of each parameter in the learned subspace.
    options : mapping
        What the optimiser was given, and what it resolved by default.
    versions : mapping of str to str
        Versions of the packages and of Python.
    warnings : mapping of str to int
        How many warnings of each category were raised.
    error : str or None
        Traceback of a failed run; of a missing one, what to install.
    peak_memory_mib : float or None
        Largest resident memory of the process during the run, MiB; None where the system does not
        tell it. With one process for each run (two ``jobs`` or more) it is the run's own.
    learned_dim : int or None
        Number of directions d of the learned subspace.
    trust : mapping of str to float, or None
        Figures behind ``trusted``.
    importance_interval : tuple of tuples of float, shape (D, 2), or None
        Nominally 90 per cent, of each importance.
    importance_coverage : float or None
        Share of the parameters whose true importance lies in its interval; None without interval,
        or where the problem has no gradient.
    """

    experiment: str
    problem: str
    method: str
    seed: int
    budget: int
    n_initial: int
    direction: Direction
    status: Status
    optimum: float | None
    X: tuple[tuple[float, ...], ...] | None
    y: tuple[float, ...]
    value: tuple[float, ...]
    simple_regret: tuple[float, ...] | None
    x_best: tuple[float, ...] | None
    y_best: float | None
    seconds_per_ask: tuple[float, ...]
    optimizer_seconds: float
    objective_seconds: float
    basis: tuple[tuple[float, ...], ...] | None = None
    true_basis: tuple[tuple[float, ...], ...] | None = None
    largest_angle_degrees: float | None = None
    trusted: bool | None = None
    importance: tuple[float, ...] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    warnings: Mapping[str, int] = field(default_factory=dict)
    error: str | None = None
    peak_memory_mib: float | None = None
    learned_dim: int | None = None
    trust: Mapping[str, float] | None = None
    importance_interval: tuple[tuple[float, ...], ...] | None = None
    importance_coverage: float | None = None

    @property
    def key(self) -> RunKey:
        """What makes a run unique within a file: experiment, method, seed."""
        return (self.experiment, self.method, self.seed)

    def to_line(self) -> str:
        """Return the record as one line of JSON, without the line break.

        Noiseless values equal to the observed ones, and regrets that follow from them and the
        optimum, are left out: :meth:`from_line` puts them back.
        """
        content = {"schema": SCHEMA_VERSION, **dataclasses.asdict(self)}
        if self.value == self.y:
            del content["value"]
        if self.simple_regret == regrets_of(self.value, self.optimum, self.direction):
            del content["simple_regret"]
        return json.dumps(to_jsonable(content), allow_nan=False, separators=(",", ":"))

    @classmethod
    def from_line(cls, line: str) -> RunRecord:
        """Return the record that a line of JSON holds.

        Raises
        ------
        RecordError
            If the line is not such a record, or is of an unknown schema version.
        """
        try:
            content = json.loads(line)
        except json.JSONDecodeError as error:
            raise RecordError(f"a record must be one line of JSON; {error}.") from error
        if not isinstance(content, dict) or "schema" not in content:
            raise RecordError("a record must be a JSON object with a field 'schema'.")
        version = content.pop("schema")
        if version not in ADDED_FIELDS:
            raise RecordError(
                f"schema version {version!r} is not readable here, which knows "
                f"{list(ADDED_FIELDS)}; use the version of the project that wrote the file."
            )
        later = (names for number, names in ADDED_FIELDS.items() if number > version)
        content |= {name: None for names in later for name in names if name not in content}
        names = {entry.name for entry in dataclasses.fields(cls)}
        derived = set()
        if version >= DERIVED_SINCE:
            derived = {"value", "simple_regret"} - set(content)
            content |= dict.fromkeys(derived)
        if set(content) != names:
            different = sorted(set(content) ^ names)
            raise RecordError(
                f"a record must hold exactly the known fields; it differs in {different}."
            )
        for name, decode in _DECODERS.items():
            content[name] = decode(content[name])
        if "value" in derived:
            content["value"] = content["y"]
        if "simple_regret" in derived:
            content["simple_regret"] = regrets_of(
                content["value"], content["optimum"], content["direction"]
            )
        return cls(**content)


def regrets_of(
    values: tuple[float, ...], optimum: float | None, direction: Direction
) -> tuple[float, ...] | None:
    """Return the regrets that follow from values and optimum."""
    if optimum is None:
        return None
    return tuple(float(gap) for gap in simple_regret(values, optimum, direction))


def to_jsonable(value: object) -> Any:
    """Return the value in terms of JSON's types, non-finite numbers as strings.

    Mappings, sequences, numpy arrays and scalars are converted; anything else becomes its text.

    Examples
    --------
    >>> to_jsonable({"a": (1, float("nan"))})
    {'a': [1, 'NaN']}
    """
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        number = float(value)
        if math.isfinite(number):
            return number
        return "NaN" if math.isnan(number) else ("Infinity" if number > 0 else "-Infinity")
    if isinstance(value, np.ndarray):
        return to_jsonable(value.tolist())
    if isinstance(value, Mapping):
        return {str(name): to_jsonable(entry) for name, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_jsonable(entry) for entry in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return to_jsonable(
            {entry.name: getattr(value, entry.name) for entry in dataclasses.fields(value)}
        )
    return str(value)


def _number(value: Any) -> float | None:
    return None if value is None else float(value)


def _numbers(value: Any) -> tuple[float, ...] | None:
    return None if value is None else tuple(float(entry) for entry in value)


def _matrix(value: Any) -> tuple[tuple[float, ...], ...] | None:
    return None if value is None else tuple(tuple(float(entry) for entry in row) for row in value)


def _figures(value: Any) -> dict[str, float] | None:
    return None if value is None else {name: float(number) for name, number in value.items()}


_DECODERS: Mapping[str, Callable[[Any], Any]] = {
    "optimum": _number,
    "X": _matrix,
    "y": _numbers,
    "value": _numbers,
    "simple_regret": _numbers,
    "x_best": _numbers,
    "y_best": _number,
    "seconds_per_ask": _numbers,
    "optimizer_seconds": _number,
    "objective_seconds": _number,
    "basis": _matrix,
    "true_basis": _matrix,
    "largest_angle_degrees": _number,
    "importance": _numbers,
    "peak_memory_mib": _number,
    "trust": _figures,
    "importance_interval": _matrix,
    "importance_coverage": _number,
}


def as_matrix(rows: tuple[tuple[float, ...], ...] | None) -> FloatArray | None:
    """Return a stored matrix as an array, or None."""
    return None if rows is None else np.array(rows, dtype=np.float64)


def _split(content: bytes) -> tuple[list[bytes], int]:
    """Return the whole lines, and how many bytes a torn last line takes."""
    end = content.rfind(b"\n") + 1
    lines, tail = content[:end].split(b"\n")[:-1], content[end:]
    return lines, len(tail)


def read_records(path: str | os.PathLike[str]) -> tuple[RunRecord, ...]:
    """Return every record of a file, in the order written.

    Parameters
    ----------
    path : path-like
        A file of JSON lines, compressed if its name ends in ".gz".

    Returns
    -------
    tuple of RunRecord

    Raises
    ------
    RecordError
        If a whole line is not a record, or the file does not exist.

    Warns
    -----
    JournalWarning
        If the last line has no end: the process writing it was stopped. The line is left out.
    """
    path = Path(path)
    try:
        content = path.read_bytes()
        lines, torn = _split(gzip.decompress(content) if path.suffix == ".gz" else content)
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise RecordError(f"{path} cannot be read: {reason}. Check the path.") from error
    if torn:
        warnings.warn(
            f"{path}: the last line is torn ({torn} bytes without a line break) and left out; "
            "that run will be repeated when the experiment is run again.",
            JournalWarning,
            stacklevel=2,
        )
    records = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            records.append(RunRecord.from_line(line.decode("utf-8")))
        except (RecordError, UnicodeDecodeError, TypeError, ValueError) as error:
            raise RecordError(
                f"{path}, line {number}: {error} Move the file away or repair that line."
            ) from error
    return tuple(records)


def open_for_append(path: str | os.PathLike[str]) -> tuple[RunRecord, ...]:
    """Prepare a file for appending: make its folder, cut a torn last line, return its records.

    Raises
    ------
    RecordError
        If the file holds something else than records.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        path.touch()
        return ()
    records = read_records(path)
    _, torn = _split(path.read_bytes())
    if torn:
        os.truncate(path, path.stat().st_size - torn)
    return records


def append_record(path: str | os.PathLike[str], record: RunRecord) -> None:
    """Write one record at the end of a file and force it to the disk."""
    with open(path, "ab") as stream:
        stream.write(record.to_line().encode("utf-8") + b"\n")
        stream.flush()
        os.fsync(stream.fileno())


def read_folders(folders: Iterable[str | os.PathLike[str]]) -> tuple[RunRecord, ...]:
    """Return the records of all files of some folders, a repeated run once (the later folder's).

    Raises
    ------
    RecordError
        If a folder holds no records, or a file cannot be read.
    """
    records: list[RunRecord] = []
    for folder in folders:
        files = sorted([*Path(folder).glob("*.jsonl"), *Path(folder).glob("*.jsonl.gz")])
        if not files:
            raise RecordError(
                f"{folder} holds no *.jsonl or *.jsonl.gz. Pass folders of the arena's records."
            )
        for file in files:
            records += read_records(file)
    return latest(records)


def latest(records: Iterable[RunRecord]) -> tuple[RunRecord, ...]:
    """Return the last record of every (experiment, method, seed), in order of first appearance.

    A failed run that was repeated has two lines; the later one counts.
    """
    by_key: dict[RunKey, RunRecord] = {}
    for record in records:
        by_key[record.key] = record
    return tuple(by_key.values())
