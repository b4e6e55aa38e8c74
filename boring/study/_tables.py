"""Evaluations as rows, CSV files and data frames."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from boring._whole_file import whole_file
from boring.extras import require
from boring.history import History, Tell
from boring.parameters import ParameterSpace
from boring.parameters.values import found_at

__all__ = ["dataframe", "labels", "named_constraints", "rows_of_history", "texts_of", "write_csv"]


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


def named_constraints(tell: Tell, n_constraints: int) -> dict[str, float]:
    """Return the constraints of a value by the names that `labels` knows; NaN is not known."""
    values = tell.constraints or (float("nan"),) * n_constraints
    return {f"constraint_{index}": value for index, value in enumerate(values, start=1)}


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
        constraints = named_constraints(tell, n_constraints)
        ask = None if tell.ask is None else history.asks[tell.ask]
        status = "ok" if all(c <= 0 for c in constraints.values()) else "infeasible"
        row = {
            label["number"]: tell.ask,
            **parameters,
            label["value"]: tell.y,
            **{label[name]: c for name, c in constraints.items()},
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
    names = space.names
    texts = {name: texts_of(space, name) for name in names}
    # What cannot be encoded, as of an error that names a path of another encoding, is escaped.
    with whole_file(path, newline="", errors="backslashreplace") as file:
        writer = csv.DictWriter(file, columns(names, n_constraints), restval="")
        writer.writeheader()
        writer.writerows(
            {name: _text(cell, texts.get(name, ())) for name, cell in row.items()} for row in rows
        )


Texts = Sequence[tuple[Any, str]]
"""The choices of a parameter, each with its text."""


def texts_of(space: ParameterSpace, name: str) -> Texts:
    """Return how choices are written: as Python does, or as JSON if that leaves a doubt."""
    parameter = space.parameters[name]
    known = list(getattr(parameter, "choices", ()))
    if hasattr(parameter, "value"):
        known.append(parameter.value)
    texts = [str(value) for value in known]
    if "" in texts or len(set(texts)) < len(texts):
        texts = [json.dumps(value) for value in known]
    return list(zip(known, texts, strict=True))


def _text(cell: Any, texts: Texts) -> Any:
    """Return a cell as it is written."""
    found = found_at([value for value, _ in texts], cell)
    return cell if found is None else texts[found][1]
