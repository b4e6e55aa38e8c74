"""Rankings by number of variables and by kind of BBOB function (Aryan 2020, ch. 3)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ..ranking import ranking_table
from ..records import RunRecord

__all__ = ["KINDS", "group_tables"]

KINDS: Mapping[str, tuple[int, int]] = {
    "f1 to f5: separable": (1, 5),
    "f6 to f9: low or moderate conditioning": (6, 9),
    "f10 to f14: high conditioning, one well": (10, 14),
    "f15 to f19: many wells, a global structure": (15, 19),
    "f20 to f24: many wells, a weak structure": (20, 24),
}

_NAME = re.compile(r"bbob-f(\d+)-(\d+)-trials")


def group_tables(records: Sequence[RunRecord]) -> str:
    """Return one ranking for each number of variables, for each kind of function, and for all."""
    placed = [(*_place(record.experiment), record) for record in records]
    groups = {
        f"{variables} variables": [record for _, dim, record in placed if dim == variables]
        for variables in sorted({dim for _, dim, _ in placed})
    }
    for kind, (low, high) in KINDS.items():
        groups[kind] = [record for number, _, record in placed if low <= number <= high]
    groups["All"] = list(records)
    return "\n".join(
        f"### {title}\n\n{ranking_table(group)}\n" for title, group in groups.items() if group
    )


def _place(experiment: str) -> tuple[int, int]:
    match = _NAME.fullmatch(experiment)
    if match is None:
        raise ValueError(f"{experiment!r} is not an experiment of BBOB.")
    return int(match[1]), int(match[2])
