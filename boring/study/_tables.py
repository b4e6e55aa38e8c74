"""Evaluations as rows, CSV files and data frames."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from boring.exceptions import InvalidInputError
from boring.extras import require
from boring.history import History, Tell
from boring.parameters import ParameterSpace
from boring.validation import suggest

__all__ = ["dataframe", "entries", "read_csv", "rows_of", "rows_of_history", "write_csv"]

Entry = tuple[dict[str, Any], float, tuple[float, ...] | None, str | None]
"""Configuration, value, constraints, reason of a failure."""


def labels(names: Sequence[str], n_constraints: int) -> dict[str, str]:
    """Return the names of the columns beside the parameters, with underscores where they clash."""
    more = (f"constraint_{i}" for i in range(1, n_constraints + 1))
    found = {}
    for key in ("number", "value", *more, "status", "error", "phase", "seconds"):
        name = key
        while name in names:
            name += "_"
        found[key] = name
    return found


def columns(names: Sequence[str], n_constraints: int) -> list[str]:
    """Return the columns in order."""
    number, *others = labels(names, n_constraints).values()
    return [number, *names, *others]


def rows_of_history(
    history: History,
    told: Iterable[tuple[Tell, dict[str, Any]]],
    names: Sequence[str],
    n_constraints: int,
) -> list[dict[str, Any]]:
    """Return one row for each value; see `Study.rows`."""
    label = labels(names, n_constraints)
    rows = []
    for tell, parameters in told:
        constraints = tell.constraints or (float("nan"),) * n_constraints
        ask = None if tell.ask is None else history.asks[tell.ask]
        status = "ok" if all(c <= 0 for c in constraints) else "infeasible"
        row = {
            label["number"]: tell.ask,
            **parameters,
            label["value"]: tell.y,
            **{label[f"constraint_{i}"]: c for i, c in enumerate(constraints, start=1)},
            label["status"]: status if np.isfinite(tell.y) else "failed",
            label["error"]: tell.error,
            label["phase"]: "told" if ask is None else ask.phase,
            label["seconds"]: tell.info.get("seconds"),
        }
        rows.append(row)
    return rows


def dataframe(rows: list[dict[str, Any]], space: ParameterSpace, n_constraints: int) -> Any:
    """Return rows as a pandas DataFrame, with its columns in order even if there is no row.

    Parameters have the types of `ParameterSpace.to_frame`, by which the choice None is no gap.
    """
    pandas = require("pandas", "study", "A data frame")
    label = labels(space.names, n_constraints)
    frame = pandas.DataFrame(rows, columns=columns(space.names, n_constraints))
    typed = space.to_frame([{k: row[k] for k in space.names if k in row} for row in rows])
    for name in space.names:
        frame[name] = typed[name]
    return frame.astype({label["number"]: "Int64", label["seconds"]: "float64"})


def write_csv(
    path: Path, rows: list[dict[str, Any]], space: ParameterSpace, n_constraints: int
) -> None:
    """Write rows to a file, in one step: a reader sees the old file or the whole new one."""
    partial = path.with_name(path.name + ".partial")
    names = space.names
    texts = {name: _texts(space, name) for name in names}
    # What cannot be encoded, as of an error that names a path of another encoding, is escaped.
    with partial.open("w", newline="", encoding="utf-8", errors="backslashreplace") as file:
        writer = csv.DictWriter(file, columns(names, n_constraints), restval="")
        writer.writeheader()
        writer.writerows(
            {name: _text(cell, texts.get(name, ())) for name, cell in row.items()} for row in rows
        )
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)


def read_csv(path: Path, space: ParameterSpace) -> list[dict[str, Any]]:
    """Return the rows of a CSV file, with the cells of parameters as their values."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file)
            rows = list(reader)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InvalidInputError(f"The file {path} cannot be read as CSV: {error}.") from error
    names = set(space.names)
    for position, row in enumerate(rows, start=2):
        if None in row:
            raise InvalidInputError(
                f"Line {position} of {path} has more cells than the first line has names. "
                "Put text with commas between quotation marks."
            )
    return [
        {
            name: _cell(space, name, text) if name in names else text
            for name, text in row.items()
            if text not in ("", None) or name not in names
        }
        for row in rows
    ]


def rows_of(data: Any) -> list[dict[str, Any]]:
    """Return the rows of a list of dictionaries or a DataFrame."""
    if hasattr(data, "to_dict") and hasattr(data, "columns"):
        records = data.to_dict("records")
        return [{str(name): cell for name, cell in row.items()} for row in records]
    if isinstance(data, Mapping) or not isinstance(data, Iterable):
        raise InvalidInputError(
            "Data must be a list of dictionaries, a DataFrame or the path of a CSV file; received "
            f"{type(data).__name__}."
        )
    rows = list(data)
    wrong = next((row for row in rows if not isinstance(row, Mapping)), None)
    if wrong is not None:
        raise InvalidInputError(
            f"Each row of data must be a dictionary; received {type(wrong).__name__} "
            f"{str(wrong)[:60]!r}."
        )
    return [dict(row) for row in rows]


def entries(
    rows: Sequence[Mapping[str, Any]], space: ParameterSpace, n_constraints: int, value: str
) -> list[Entry]:
    """Return checked entries; raise InvalidInputError naming the first row that is wrong."""
    names = set(space.names)
    label = labels(space.names, n_constraints)
    if value in names:
        raise InvalidInputError(
            f"The column of the value is called {value!r}, as is a parameter. Rename it, and pass "
            "value='...'."
        )
    found = []
    for position, row in enumerate(rows):
        if value not in row:
            raise InvalidInputError(
                f"Row {position} of the data has no {value!r}. {suggest(value, map(str, row))} "
                "Pass value='...', the name of the column of values."
            )
        configuration = {
            k: cell
            for k, cell in row.items()
            if k in names and not (_is_gap(cell) and not _may_be_none(space, k, cell))
        }
        try:
            # What the space refuses is refused before anything is recorded.
            checked = space.check(configuration)
            y = _number(row[value], value)
            constraints = tuple(
                _number(row.get(name, ""), name)
                for name in (label[f"constraint_{i}"] for i in range(1, n_constraints + 1))
            )
        except InvalidInputError as error:
            raise InvalidInputError(f"Row {position} of the data: {error}") from error
        error_text = row.get(label["error"])
        reason = str(error_text) if isinstance(error_text, str) and error_text else "failed"
        is_failed = not np.isfinite(y)
        found.append(
            (
                checked,
                y,
                constraints or None,
                reason if is_failed else None,
            )
        )
    return found


_Texts = Sequence[tuple[Any, str]]
"""The choices of a parameter, each with its text."""


def _texts(space: ParameterSpace, name: str) -> _Texts:
    """Return how choices are written: as Python does, or as JSON if that leaves a doubt."""
    parameter = space.parameters[name]
    known = list(getattr(parameter, "choices", ()))
    if hasattr(parameter, "value"):
        known.append(parameter.value)
    texts = [str(value) for value in known]
    if "" in texts or len(set(texts)) < len(texts):
        texts = [json.dumps(value) for value in known]
    return list(zip(known, texts, strict=True))


def _text(cell: Any, texts: _Texts) -> Any:
    """Return a cell as it is written."""
    return next((text for value, text in texts if _is_same(value, cell)), cell)


def _is_same(one: Any, other: Any) -> bool:
    """Tell whether two values are one choice: 1 and True are two."""
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def _cell(space: ParameterSpace, name: str, text: str) -> Any:
    """Return what a cell stands for: a value of the parameter written like it, else a number."""
    for value, written in _texts(space, name):
        if written == text:
            return value
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _may_be_none(space: ParameterSpace, name: str, cell: Any) -> bool:
    """Tell whether None is a choice of the parameter, and no gap."""
    choices = getattr(space.parameters[name], "choices", ())
    return cell is None and any(choice is None for choice in choices)


def _is_gap(cell: Any) -> bool:
    """Say whether a cell is empty: None, NaN, or what pandas has for a missing value."""
    is_nan = isinstance(cell, float) and bool(np.isnan(cell))
    return cell is None or is_nan or type(cell).__name__ in {"NAType", "NaTType"}


def _number(cell: Any, name: str) -> float:
    if _is_gap(cell) or (isinstance(cell, str) and not cell.strip()):
        return float("nan")
    try:
        return float(cell)
    except (TypeError, ValueError):
        raise InvalidInputError(f"{name} must be a number; received {cell!r}.") from None
