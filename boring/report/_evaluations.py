"""The table of all evaluations."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from boring.study.study import Study

from ._text import escape, shown, tag

__all__ = ["evaluations_table"]

DIGITS = 6
MOST_ON_PAPER = 14
"""Columns that fit the width of a sheet; a browser would shrink the whole page for more."""

EXTRA = {"number": "number", "error": "error", "phase": "origin", "seconds": "seconds"}
"""Columns that are left out where they are empty, and their headings."""


def evaluations_table(study: Study, label: str) -> str:
    """Return all evaluations as an HTML table, in the order of telling; the best one is marked.

    Parameters
    ----------
    study : Study
    label : str
        Of the values, with their unit; text.
    """
    rows = study.rows()
    names = study.space.names
    keys = _keys(rows, names)
    best = _best_row(study, rows, keys)
    columns = ["value", "status"]
    columns += [f"constraint_{i}" for i in range(1, study.n_constraints + 1)]
    left = [c for c in EXTRA if any(row[keys[c]] not in (None, "") for row in rows)]
    heads = [
        "#",
        label,
        *(_heading(c) for c in columns[1:]),
        *(_unit_name(study, n) for n in names),
    ]
    heads += [EXTRA[c] for c in left]
    order = [*(keys[c] for c in columns), *names, *(keys[c] for c in left)]
    texts = {keys["status"], *(keys[c] for c in ("error", "phase") if c in left)}
    spreads = {key: _spread(row.get(key) for row in rows) for key in order}
    lines = []
    for i, row in enumerate(rows):
        cells = []
        for key in order:
            value = row.get(key)
            # A parameter that is inactive is not in the row; None is one of its choices.
            is_blank = value is None and not (key in row and key in names)
            text = "" if is_blank else shown(value, DIGITS, spread=spreads[key])
            if key == keys["status"] and i == best:
                text = "best"
            is_text = key in texts or isinstance(value, (str, bool)) or text == "None"
            cells.append(f"<td class=t>{escape(text)}" if is_text else f"<td>{escape(text)}")
        kind = "best" if i == best else row[keys["status"]]
        opening = "<tr>" if kind == "ok" else f"<tr class={kind}>"
        lines.append(f"{opening}<th scope=row>{i + 1}{''.join(cells)}")
    head = "".join(tag("th", escape(text), scope="col") for text in heads)
    caption = (
        f"All {len(rows)} evaluations, in the order in which they were told; numbers have "
        f"{DIGITS} digits, or as many as tell them apart."
    )
    body = "\n".join(lines)
    inner = (
        f"<table class=data>{tag('caption', escape(caption))}<thead><tr>{head}</tr></thead>\n"
        f"<tbody>\n{body}\n</tbody></table>"
    )
    kind, note = "scroll tall", ""
    if len(heads) > MOST_ON_PAPER:
        kind += " too-wide"
        text = (
            f"The {len(heads)} columns of this table do not fit on paper: see the page on a screen."
        )
        note = tag("p", text, class_="on-paper")
    region = tag("div", inner, class_=kind, role="region", aria_label=caption, tabindex="0")
    return note + region


def _spread(values: Iterable[Any]) -> float:
    """Return how far the finite numbers of a column lie apart, 0 where there are none."""
    finite = [v for v in values if isinstance(v, (int, float)) and math.isfinite(v)]
    return float(max(finite) - min(finite)) if finite else 0.0


def _keys(rows: list[dict[str, Any]], names: list[str]) -> dict[str, str]:
    """Return the keys of the columns beside the parameters, which get underscores at a clash."""
    own = [key for key in rows[0] if key not in names] if rows else []
    return {key.rstrip("_"): key for key in own}


def _best_row(study: Study, rows: list[dict[str, Any]], keys: dict[str, str]) -> int | None:
    best = study.best
    if best is None:
        return None
    return next(
        i
        for i, row in enumerate(rows)
        if row[keys["status"]] == "ok"
        and row[keys["value"]] == best["value"]
        and row[keys["number"]] == best["number"]
    )


def _heading(key: str) -> str:
    return key.replace("_", " ")


def _unit_name(study: Study, name: str) -> str:
    unit = study.space.parameters[name].unit
    return f"{name} ({unit})" if unit else name
