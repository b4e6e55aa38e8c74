"""What a study answers: a suggestion, and where it stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from boring._brief import fields_in_brief
from boring.typing import Direction

__all__ = ["StudyStatus", "Suggestion"]


@dataclass(frozen=True)
class Suggestion:
    """A configuration to evaluate.

    Parameters
    ----------
    number : int
        By which its value is told; from 0, never given twice.
    parameters : dict
        From the names of the parameters to their values.
    """

    number: int
    parameters: dict[str, Any]

    __repr__ = fields_in_brief

    def to_dict(self) -> dict[str, Any]:
        """Return the suggestion as JSON-able values."""
        return {"number": self.number, "parameters": dict(self.parameters)}


@dataclass(frozen=True)
class StudyStatus:
    """Where a study stands.

    Parameters
    ----------
    n_told, n_failed, n_infeasible : int
        Values in all; those that are not finite; those that break a constraint.
    outstanding : tuple of int
        Numbers that were asked and have no value yet.
    n_withdrawn : int
    best : dict or None
        ``parameters``, ``value`` and ``number`` (None of a point that was not asked for).
    stop_reason : dict
        Why the last run ended; empty if there was none since the last value was told.
    direction, optimizer : str
    path : str or None
    writer : dict or None
        ``pid``, ``host`` and ``since`` of the process that has the study open for writing.
    """

    n_told: int
    n_failed: int
    n_infeasible: int
    outstanding: tuple[int, ...]
    n_withdrawn: int
    best: dict[str, Any] | None
    stop_reason: dict[str, float]
    direction: Direction
    optimizer: str
    path: str | None
    writer: dict[str, Any] | None = None

    __repr__ = fields_in_brief

    def to_dict(self) -> dict[str, Any]:
        """Return the status as JSON-able values."""
        return {**vars(self), "outstanding": list(self.outstanding)}
