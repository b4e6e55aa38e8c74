"""The history of a run: what was asked and told, as an immutable sequence of events.

The history is all that changes in an optimiser. Each change makes a new object, so that an
interruption at any instant leaves either the old history or the new one. States and journals hold
the same events.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from ._brief import fields_in_brief
from ._json import float_from_json, float_to_json
from .typing import FloatArray

__all__ = ["Ask", "Event", "History", "Tell", "Withdrawal"]

DESIGN_PHASES = frozenset({"initial", "space-filling"})
"""Phases whose points come from the space-filling sequence."""


@dataclass(frozen=True, eq=False)
class Ask:
    """A point that went out for evaluation.

    Parameters
    ----------
    number : int
        Position among the asked points, from 0.
    x : ndarray, shape (D,), raw units
    phase : str
    info : mapping
        What the optimiser says about the point.
    memory : mapping or None
        What the algorithm remembers from now on; None leaves the former memory.
    seconds : float
        Time the optimiser took.
    """

    number: int
    x: FloatArray
    phase: str
    info: Mapping[str, Any]
    memory: Mapping[str, Any] | None
    seconds: float

    __repr__ = fields_in_brief

    def to_dict(self, *, with_seconds: bool = True) -> dict[str, Any]:
        """Return the event as JSON-able values."""
        values = {
            "event": "ask",
            "number": self.number,
            "x": self.x.tolist(),
            "phase": self.phase,
            "info": dict(self.info),
            "memory": None if self.memory is None else dict(self.memory),
        }
        if with_seconds:
            values["seconds"] = self.seconds
        return values


@dataclass(frozen=True, eq=False)
class Tell:
    """A value that came back.

    Parameters
    ----------
    index : int
        Position among the told points, from 0.
    x : ndarray, shape (D,), raw units
    y : float, caller's sign
    ask : int or None
        Number of the ask that this answers; None if the point was not asked for.
    error : str or None
        Text of the exception, or the reason of the failure, that stands in place of a value.
    constraints : tuple of float or None
        Values of the black-box constraints; None in a run that has none.
    info : mapping
        What whoever told it noted, such as the time of the evaluation; like times it is no part
        of equality.
    """

    index: int
    x: FloatArray
    y: float
    ask: int | None
    error: str | None
    constraints: tuple[float, ...] | None = None
    info: Mapping[str, Any] = field(default_factory=dict)

    __repr__ = fields_in_brief

    def to_dict(self, *, with_seconds: bool = True) -> dict[str, Any]:
        """Return the event as JSON-able values; without times, the notes are left out too."""
        values: dict[str, Any] = {
            "event": "tell",
            "index": self.index,
            "x": self.x.tolist(),
            "y": float_to_json(self.y),
            "ask": self.ask,
            "error": self.error,
        }
        if self.constraints is not None:
            values["constraints"] = [float_to_json(value) for value in self.constraints]
        if with_seconds and self.info:
            values["info"] = dict(self.info)
        return values


@dataclass(frozen=True, eq=False)
class Withdrawal:
    """An ask that will have no answer.

    Parameters
    ----------
    ask : int
        Its number.
    x : ndarray, shape (D,), raw units
    """

    ask: int
    x: FloatArray

    __repr__ = fields_in_brief

    def to_dict(self, *, with_seconds: bool = True) -> dict[str, Any]:
        """Return the event as JSON-able values; a withdrawal has no time."""
        return {"event": "withdraw", "ask": self.ask, "x": self.x.tolist()}


Event: TypeAlias = Ask | Tell | Withdrawal


@dataclass(frozen=True, eq=False)
class History:
    """An immutable sequence of asks and tells, with what follows from it.

    Parameters
    ----------
    dim : int
        Number of coordinates D.
    events : tuple of Ask, Tell or Withdrawal
        In the order in which they happened.
    asks : tuple of Ask
    tells : tuple of Tell
    pending : tuple of int
        Numbers of the asks that have no answer, oldest first.
    memory : mapping
        What the algorithm left at its last proposal.
    """

    dim: int
    events: tuple[Event, ...] = ()
    asks: tuple[Ask, ...] = ()
    tells: tuple[Tell, ...] = ()
    pending: tuple[int, ...] = ()
    memory: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        """Return what it counts; the events have the rest."""
        return (
            f"<History: {self.dim} inputs, {len(self.events)} events; {self.n_told} told, "
            f"{len(self.pending)} pending>"
        )

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields: arrays made from them are made again, and read-only again."""
        return {item.name: getattr(self, item.name) for item in fields(self)}

    @property
    def n_told(self) -> int:
        """Number of told points."""
        return len(self.tells)

    @property
    def n_withdrawn(self) -> int:
        """Number of asks that were withdrawn."""
        answered = sum(tell.ask is not None for tell in self.tells)
        return len(self.asks) - len(self.pending) - answered

    @property
    def n_design(self) -> int:
        """Number of points taken from the space-filling sequence."""
        return sum(ask.phase in DESIGN_PHASES for ask in self.asks)

    @cached_property
    def X(self) -> FloatArray:
        """Told points, shape (n, D), raw units; read-only."""
        return _frozen(np.array([tell.x for tell in self.tells]).reshape(-1, self.dim))

    @cached_property
    def y(self) -> FloatArray:
        """Told values, shape (n,), caller's sign; read-only."""
        return _frozen(np.array([tell.y for tell in self.tells], dtype=np.float64))

    def constraints(self, n_constraints: int) -> FloatArray:
        """Return the told values of the constraints, shape (n, m); NaN where not known."""
        if not n_constraints:
            return np.empty((len(self.tells), 0))
        rows = [tell.constraints or (np.nan,) * n_constraints for tell in self.tells]
        return np.array(rows, dtype=np.float64).reshape(len(rows), n_constraints)

    @property
    def pending_X(self) -> FloatArray:
        """Points out for evaluation, shape (m, D), raw units, oldest first."""
        return np.array([self.asks[number].x for number in self.pending]).reshape(-1, self.dim)

    def with_ask(self, ask: Ask) -> History:
        """Return the history with one more ask; the memory of former asks is dropped."""
        if ask.number != len(self.asks):
            raise ValueError(f"ask {ask.number} where ask {len(self.asks)} is due")
        _check_point(ask.x, self.dim)
        events, asks, memory = self.events, self.asks, self.memory
        if ask.memory is not None:
            events = tuple(_forget(event) for event in events)
            asks = tuple(event for event in events if isinstance(event, Ask))
            memory = ask.memory
        return self._followed(
            events=(*events, ask),
            asks=(*asks, ask),
            pending=(*self.pending, ask.number),
            memory=memory,
        )

    def with_tells(self, tells: Sequence[Tell]) -> History:
        """Return the history with more tells; each clears the ask that it answers."""
        pending = list(self.pending)
        for position, tell in enumerate(tells, start=len(self.tells)):
            if tell.index != position:
                raise ValueError(f"tell {tell.index} where tell {position} is due")
            _check_point(tell.x, self.dim)
            if tell.ask is not None:
                if tell.ask not in pending:
                    raise ValueError(f"a tell of ask {tell.ask}, which is not pending")
                if not np.array_equal(tell.x, self.asks[tell.ask].x):
                    raise ValueError(f"a tell of ask {tell.ask} at another point")
                pending.remove(tell.ask)
        return self._followed(
            events=(*self.events, *tells),
            tells=(*self.tells, *tells),
            pending=tuple(pending),
        )

    def with_withdrawal(self, number: int) -> History:
        """Return the history with one pending ask withdrawn."""
        if number not in self.pending:
            raise ValueError(f"a withdrawal of ask {number}, which is not pending")
        return self._followed(
            events=(*self.events, Withdrawal(number, self.asks[number].x)),
            pending=tuple(other for other in self.pending if other != number),
        )

    def _followed(self, **changes: Any) -> History:
        """Return the history with changed fields; arrays that were made of it are lengthened."""
        following = replace(self, **changes)
        fresh = following.tells[len(self.tells) :]
        made, kept = vars(self), vars(following)
        if "X" in made:
            rows = (tell.x for tell in fresh)
            kept["X"] = _frozen(np.vstack([self.X, *rows])) if fresh else self.X
        if "y" in made:
            values = [tell.y for tell in fresh]
            kept["y"] = _frozen(np.append(self.y, values)) if fresh else self.y
        return following

    def with_event(self, values: Mapping[str, Any]) -> History:
        """Return the history with an event in the form of its ``to_dict``.

        Parameters
        ----------
        values : mapping
            Decoded JSON.

        Returns
        -------
        History

        Raises
        ------
        ValueError, KeyError, TypeError
            If the values are not an event that can come next.
        """
        kind = values["event"]
        if kind == "ask":
            return self.with_ask(
                Ask(
                    number=_integer(values["number"]),
                    x=_point(values["x"]),
                    phase=_text(values["phase"]),
                    info=_mapping(values["info"]),
                    memory=None if values["memory"] is None else _mapping(values["memory"]),
                    seconds=float_from_json(values["seconds"]),
                )
            )
        if kind == "tell":
            tell = Tell(
                index=_integer(values["index"]),
                x=_point(values["x"]),
                y=float_from_json(values["y"]),
                ask=None if values["ask"] is None else _integer(values["ask"]),
                error=None if values["error"] is None else _text(values["error"]),
                constraints=_constraints(values.get("constraints")),
                info=_mapping(values.get("info", {})),
            )
            return self.with_tells([tell])
        if kind == "withdraw":
            return self.with_withdrawal(_integer(values["ask"]))
        raise ValueError(f"an event of the unknown kind {kind!r}")

    @classmethod
    def from_events(cls, dim: int, events: Sequence[Mapping[str, Any]]) -> History:
        """Rebuild a history from the dictionaries of its events."""
        history = cls(dim)
        for values in events:
            history = history.with_event(values)
        return history


def frozen_point(x: FloatArray) -> FloatArray:
    """Return a read-only copy of one point, shape (D,)."""
    return _frozen(np.array(x, dtype=np.float64))


def _frozen(array: FloatArray) -> FloatArray:
    array.flags.writeable = False
    return array


def _forget(event: Event) -> Event:
    return replace(event, memory=None) if isinstance(event, Ask) and event.memory else event


def _check_point(x: FloatArray, dim: int) -> None:
    if x.shape != (dim,) or not np.all(np.isfinite(x)):
        raise ValueError(f"a point that is not {dim} finite numbers")


def _point(values: Any) -> FloatArray:
    if not isinstance(values, list):
        raise ValueError(f"a point must be a list, not {values!r}")
    return frozen_point(np.array([float_from_json(value) for value in values]))


def _constraints(values: Any) -> tuple[float, ...] | None:
    if values is None:
        return None
    if not isinstance(values, list):
        raise ValueError(f"constraints must be a list, not {values!r}")
    return tuple(float_from_json(value) for value in values)


def check_constraints(event: Event, n_constraints: int) -> None:
    """Raise ValueError if a tell does not have as many constraints as its run."""
    if isinstance(event, Tell) and len(event.constraints or ()) != n_constraints:
        raise ValueError(
            f"tell {event.index} has {len(event.constraints or ())} constraints in a run of "
            f"{n_constraints}"
        )


def _integer(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"{value!r} is not an integer")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is not text")
    return value


def _mapping(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{value!r} is not a dictionary")
    return value
