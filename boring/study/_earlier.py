"""Earlier evaluations, from tables, files and other studies, as entries of a study."""

from __future__ import annotations

import csv
import difflib
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from boring._brief import in_brief
from boring._warn import warn
from boring.exceptions import BoringWarning, InvalidInputError, JournalError, OutsideSpaceError
from boring.journal import begins_as_journal
from boring.parameters import ParameterSpace
from boring.validation import as_values, from_text, suggest

from ._tables import labels, named_constraints, texts_of
from .recorded import RecordedStudy

__all__ = ["Row", "entries", "is_study_file", "rows_of"]

Entry = tuple[dict[str, Any], float, tuple[float, ...] | None, str | None]
"""Configuration, value, constraints, reason of a failure."""

OF_RESULTS = ("best so far",)
"""Columns that a result exports beside those of a study."""

OUTSIDE = ("refuse", "skip")
"""What may be done with rows that lie outside the space."""


@dataclass(frozen=True)
class Row:
    """One earlier evaluation.

    Parameters
    ----------
    place : str
        Where it stands, for messages.
    cells : mapping
        From the names of columns to what they hold.
    outcome : mapping, optional
        ``value``, ``constraint_1``, ... and ``error``, where they are told apart from parameters,
        as a study does; None if they are among the cells.
    """

    place: str
    cells: Mapping[str, Any]
    outcome: Mapping[str, Any] | None = None


def is_study_file(data: Any) -> bool:
    """Say whether data are the path of a study: JSON where a table has the names of columns."""
    if not isinstance(data, (str, os.PathLike)) or not os.path.isfile(data):
        return False
    if begins_as_journal(data):
        return True
    with Path(data).open("rb") as file:
        if file.read(1) == b"{":
            raise JournalError(
                f"Earlier values are read from a CSV file or a study; {data} is JSON of another "
                "kind. Export it as .csv, or pass its rows as a list of dictionaries."
            )
    return False


def rows_of(data: Any, space: ParameterSpace) -> list[Row]:
    """Return the rows of a CSV file, a study, a list of dictionaries or a DataFrame."""
    if isinstance(data, (str, os.PathLike)):
        return _rows_of_csv(Path(data), space)
    if isinstance(data, RecordedStudy):
        _check_units(data.space, space)
        return _rows_of_study(data)
    if hasattr(data, "to_dict") and hasattr(data, "columns"):
        _check_columns([str(name) for name in data.columns], "the data")
        records: Any = [
            {str(name): cell for name, cell in row.items()} for row in data.to_dict("records")
        ]
    elif isinstance(data, Mapping) or not isinstance(data, Iterable):
        remedy = " Pass pandas.DataFrame(data)." if isinstance(data, Mapping) else ""
        raise InvalidInputError(
            "Data must be a list of dictionaries, a DataFrame, a Study, or the path of a CSV file "
            f"or of a study; received {type(data).__name__}.{remedy}"
        )
    else:
        records = list(data)
    for row in records:
        if not isinstance(row, Mapping):
            raise InvalidInputError(
                f"Each row of data must be a dictionary; received {type(row).__name__} "
                f"{str(row)[:60]!r}."
            )
    return [Row(f"Row {index} of the data", row) for index, row in enumerate(records)]


def _check_units(theirs: ParameterSpace, ours: ParameterSpace) -> None:
    """Refuse a study that gives a parameter another unit: its numbers mean something else."""
    for name, parameter in ours.parameters.items():
        unit = theirs.parameters[name].unit if name in theirs.parameters else ""
        if unit and parameter.unit and unit != parameter.unit:
            raise InvalidInputError(
                f"A parameter must have one unit in both studies; {name!r} is in "
                f"{parameter.unit!r} here and in {unit!r} there. Convert its column in a table "
                "(to_dataframe, in a shell 'boring export'), and add the table."
            )


def _rows_of_study(study: RecordedStudy) -> list[Row]:
    rows = []
    for index, (told, parameters) in enumerate(study.told()):
        constraints = named_constraints(told, study.n_constraints)
        outcome = {"value": told.y, **constraints, "error": told.error}
        rows.append(Row(f"Row {index} of the study", parameters, outcome))
    return rows


def _rows_of_csv(path: Path, space: ParameterSpace) -> list[Row]:
    """Return the rows of a CSV file, with the cells of parameters as their values."""
    rows = []
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.reader(file)
            names = _header(next(reader, []), path, space)
            for cells in reader:
                if cells:
                    rows.append(
                        Row(f"Line {reader.line_num} of {path}", dict(_named(names, cells)))
                    )
                if len(cells) > len(names):
                    raise InvalidInputError(
                        f"Line {reader.line_num} of {path} has more cells than the first line has "
                        "names. Put text with commas between quotation marks."
                    )
    except OSError as error:
        raise InvalidInputError(f"The file {path} cannot be read: {error}.") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise InvalidInputError(
            f"Earlier values must be CSV in UTF-8; {path} is not: {error}. Save it so (a "
            "spreadsheet as 'CSV UTF-8'), or pass pandas.read_csv(path, encoding=...)."
        ) from error
    if not rows:
        warn(
            f"A file of earlier values should have rows; {path} has none below its first line. "
            "Take another file, or write the evaluations into it.",
            BoringWarning,
        )
    known = set(space.names)
    return [
        Row(
            row.place,
            {
                name: _cell(space, name, text) if name in known else text
                for name, text in row.cells.items()
                if text != "" or name not in known
            },
        )
        for row in rows
    ]


def _named(names: Sequence[str], cells: Sequence[str]) -> Iterable[tuple[str, str]]:
    """Pair cells with their columns; those missing at the end are empty."""
    return zip(names, [*cells, *[""] * (len(names) - len(cells))], strict=False)


def _header(cells: Sequence[str], path: Path, space: ParameterSpace) -> list[str]:
    """Return the names of the columns, without spaces around them unless parameters have some."""
    if len(cells) == 1 and (found := next((c for c in ";\t|" if c in cells[0]), None)):
        raise InvalidInputError(
            f"A CSV file has commas between its cells and points in its numbers; line 1 of {path} "
            f"has {found!r} between them. Write it anew, or pass "
            f"pandas.read_csv(path, sep={found!r}, decimal=...)."
        )
    names = [cell if cell in space.names else cell.strip() for cell in cells]
    _check_columns(names, f"line 1 of {path}")
    return names


def _check_columns(names: Sequence[str], place: str) -> None:
    repeated = [name for name, count in Counter(names).items() if count > 1 and name]
    if repeated:
        raise InvalidInputError(
            f"Names of columns must differ; {place} has {repeated[0]!r} twice. Rename one."
        )


def entries(
    rows: Sequence[Row],
    space: ParameterSpace,
    n_constraints: int,
    *,
    value: str = "value",
    fill: Mapping[str, Any] | None = None,
    outside: str = "refuse",
) -> list[Entry]:
    """Return checked entries; the arguments are those of `Study.add`.

    Raises
    ------
    InvalidInputError
        Naming the first row that is wrong.
    """
    if outside not in OUTSIDE:
        raise InvalidInputError(
            f"outside must be 'refuse' or 'skip'; received {outside!r}. Pass 'skip' to leave out "
            "rows outside the space."
        )
    given = _checked_fill({} if fill is None else fill, space)
    for row in rows:
        _check_has_value(row, space, value)
    left_out = _left_out(rows, space, n_constraints, value, given)
    found, skipped = [], []
    for row in rows:
        try:
            # What the space refuses is refused before anything is recorded.
            found.append(_entry(row, space, n_constraints, value, given))
        except OutsideSpaceError as error:
            if outside == "refuse":
                raise OutsideSpaceError(
                    f"{row.place}: {error} Pass outside='skip', in a shell --skip-outside, to "
                    "leave such rows out."
                ) from error
            skipped.append(f"{row.place}: {error}")
        except InvalidInputError as error:
            raise InvalidInputError(f"{row.place}: {error}") from error
    if skipped:
        warn(
            f"{len(skipped)} of {len(rows)} rows lie outside the space and were left out. The "
            f"first: {skipped[0]}",
            BoringWarning,
        )
    if left_out:
        warn(
            f"No parameter is called like the columns {in_brief(left_out)}, which were left out.",
            BoringWarning,
        )
    return found


def _left_out(
    rows: Sequence[Row],
    space: ParameterSpace,
    n_constraints: int,
    value: str,
    fill: Mapping[str, Any],
) -> list[str]:
    """Return the columns that mean nothing here; refuse one that seems to be a parameter's."""
    outcomes = {name for row in rows for name in row.outcome or ()}
    of_no_use = sorted(outcomes - set(labels((), n_constraints)))  # constraints unknown here
    named = {str(name) for row in rows for name in row.cells}
    exported = {*labels(space.names, n_constraints).values(), *OF_RESULTS}
    known = {*space.names, *exported, value, ""}
    left_out = sorted(named - known)
    for name, parameter in space.parameters.items():
        if name in named or name in fill or not parameter.n_columns or parameter.when:
            continue
        near = [column for column in left_out if _letters(column) == _letters(name)]
        near = near or difflib.get_close_matches(name, left_out, n=1)
        if near:
            raise InvalidInputError(
                f"The column of a parameter must be called like it; there is none {name!r}, but "
                f"{near[0]!r} is there. Rename one of the two."
            )
    return left_out + of_no_use


def _letters(name: str) -> str:
    """Return a name without case, unit in brackets, spaces and signs."""
    return re.sub(r"\(.*?\)|\[.*?\]|[\W_]", "", name).casefold()


def _check_has_value(row: Row, space: ParameterSpace, value: str) -> None:
    if row.outcome is not None:
        if value != "value":
            raise InvalidInputError(
                f"value names a column of a table, and a study knows its values itself; received "
                f"{value!r}. Leave it out."
            )
        return
    if value in space.names:
        raise InvalidInputError(
            f"The column of the value is called {value!r}, as is a parameter. Rename it, and pass "
            "value='...'."
        )
    if value not in row.cells:
        raise InvalidInputError(
            f"{row.place} has no {value!r}. {suggest(value, map(str, row.cells))} Name the "
            "column of values: value='...', in a shell --value."
        )


def _checked_fill(fill: Mapping[str, Any], space: ParameterSpace) -> dict[str, Any]:
    if not isinstance(fill, Mapping):
        raise InvalidInputError(f"fill must be a dict of name to value; received {in_brief(fill)}.")
    for name in fill:
        space.slice_of(name)  # Raises for a name that is not known.
    return {name: space.parameters[name].check(value) for name, value in fill.items()}


def _entry(
    row: Row,
    space: ParameterSpace,
    n_constraints: int,
    value: str,
    fill: Mapping[str, Any],
) -> Entry:
    configuration = {
        name: cell
        for name, cell in row.cells.items()
        if name in space.parameters and not (_is_gap(cell) and not _may_be_none(space, name, cell))
    }
    filled = {name: cell for name, cell in fill.items() if name not in configuration}
    if filled:
        active = space.active_names({**filled, **configuration})
        configuration |= {name: cell for name, cell in filled.items() if name in active}
    outcome = row.cells if row.outcome is None else row.outcome
    label = labels(space.names if row.outcome is None else (), n_constraints)
    names = [label[f"constraint_{index}"] for index in range(1, n_constraints + 1)]
    try:
        checked = space.check(configuration)
    except InvalidInputError as error:
        lost = [name for name, cell in row.cells.items() if _is_lost_none(space, name, cell)]
        unknown = [
            name
            for name, parameter in space.parameters.items()
            if not (parameter.when or name in row.cells or name in configuration)
            and parameter.n_columns
        ]
        if not lost and unknown and not isinstance(error, OutsideSpaceError):
            raise type(error)(
                f"{error} If the data do not know it, say what it was: fill={{{unknown[0]!r}: "
                "...}, in a shell --fill."
            ) from error
        if not lost:
            raise
        raise type(error)(
            f"{error} The data have NaN for {in_brief(lost)}, of which None is a choice: pandas "
            "reads None so. Pass the path of the file, or read it with keep_default_na=False."
        ) from error
    y = _number(outcome[value], value)
    missing = next((name for name in names if name not in outcome), None)
    if missing is not None and np.isfinite(y):
        raise InvalidInputError(
            f"{missing!r} is missing. {suggest(missing, map(str, outcome))} Give each constraint a "
            "column, empty where its value is not known."
        )
    constraints = tuple(_number(outcome.get(name, ""), name) for name in names) or None
    reason = outcome.get(label["error"], "failed")
    reason = reason if isinstance(reason, str) and reason else None
    return checked, y, constraints, None if np.isfinite(y) else reason


def _cell(space: ParameterSpace, name: str, text: str) -> Any:
    """Return what a cell stands for: a value of the parameter written like it, else a number."""
    texts = texts_of(space, name)
    for wanted in (text, text.strip()):
        for value, written in texts:
            if written == wanted:
                return value
    for value, written in texts:
        if isinstance(value, bool) and written.casefold() == text.strip().casefold():
            return value  # as spreadsheets (TRUE) and JSON (true) write it
    for kind in (int, float):
        try:
            return from_text(text, kind)
        except ValueError:
            continue
    return text


def _may_be_none(space: ParameterSpace, name: str, cell: Any) -> bool:
    """Tell whether None is a choice of the parameter, and no gap."""
    return cell is None and _has_none(space, name)


def _is_lost_none(space: ParameterSpace, name: str, cell: Any) -> bool:
    """Tell whether a gap may have been the choice None."""
    return cell is not None and _is_gap(cell) and _has_none(space, name)


def _has_none(space: ParameterSpace, name: str) -> bool:
    choices = getattr(space.parameters.get(name), "choices", ())
    return any(choice is None for choice in choices)


def _is_gap(cell: Any) -> bool:
    """Say whether a cell is empty: None, NaN, or what pandas has for a missing value."""
    is_nan = isinstance(cell, float) and bool(np.isnan(cell))
    return cell is None or is_nan or type(cell).__name__ in {"NAType", "NaTType"}


def _number(cell: Any, name: str) -> float:
    if _is_gap(cell) or (isinstance(cell, str) and not cell.strip()):
        return float("nan")
    if not isinstance(cell, str):
        return float(as_values(cell, 1, name)[0])
    try:
        return from_text(cell)
    except ValueError:
        raise InvalidInputError(f"{name} must be a number; received {in_brief(cell)}.") from None
