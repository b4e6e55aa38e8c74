"""Records by experiment and by method, in fixed orders."""

from __future__ import annotations

from collections.abc import Iterable

from .config import DEFAULT_METHODS
from .records import RunRecord

__all__ = ["group_by_experiment", "group_by_method", "present"]


def group_by_experiment(records: Iterable[RunRecord]) -> dict[str, tuple[RunRecord, ...]]:
    """Return the records of each experiment, in order of first appearance."""
    groups: dict[str, list[RunRecord]] = {}
    for record in records:
        groups.setdefault(record.experiment, []).append(record)
    return {name: tuple(group) for name, group in groups.items()}


def group_by_method(records: Iterable[RunRecord]) -> dict[str, tuple[RunRecord, ...]]:
    """Return the records of each method sorted by seed.

    The methods of :data:`experiments.config.DEFAULT_METHODS` come first and in that order,
    whatever order parallel runs finished in; others follow in order of first appearance.
    """
    groups: dict[str, list[RunRecord]] = {}
    for record in records:
        groups.setdefault(record.method, []).append(record)
    known = [method for method in DEFAULT_METHODS if method in groups]
    others = [method for method in groups if method not in known]
    return {
        method: tuple(sorted(groups[method], key=lambda record: record.seed))
        for method in (*known, *others)
    }


def present(records: Iterable[RunRecord]) -> tuple[RunRecord, ...]:
    """Return the records of runs that were made, leaving out those of what is not installed."""
    return tuple(record for record in records if record.status != "missing")
