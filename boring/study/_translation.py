"""Between the configurations of a caller and the events of a history."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from typing import Any, TypeAlias

import numpy as np

from boring._brief import in_brief
from boring._json import canonical, dumps
from boring.exceptions import InvalidInputError
from boring.history import History, Tell, frozen_point
from boring.parameters import ParameterSpace
from boring.typing import FloatArray
from boring.validation import as_constraints, as_real, as_values, is_whole

from .status import Suggestion

__all__ = [
    "Entry",
    "all_parameters_of",
    "notes_of",
    "number_of",
    "parameters_of",
    "suggestions",
    "tells",
]

Entry: TypeAlias = tuple[Any, Any, Any, str | None, dict[str, Any]]
"""What was evaluated, its value, its constraints, the reason of a failure, and notes."""


def suggestions(
    space: ParameterSpace, history: History, numbers: Iterable[int]
) -> list[Suggestion]:
    """Return the suggestions of the asks with these numbers."""
    asks = [history.asks[number] for number in numbers]
    if not asks:
        return []
    configurations = space.decode(np.array([ask.x for ask in asks]))
    return [
        Suggestion(ask.number, dict(configuration))
        for ask, configuration in zip(asks, configurations, strict=True)
    ]


def parameters_of(told: Tell, space: ParameterSpace) -> dict[str, Any]:
    """Return the configuration of a value: as it was told, or as it was suggested."""
    return all_parameters_of([told], space)[0]


def all_parameters_of(told: Sequence[Tell], space: ParameterSpace) -> list[dict[str, Any]]:
    """Return the configurations of values, as copies; points are decoded together: quicker."""
    stored = [tell.info.get("parameters") for tell in told]
    points = [tell.x for tell, known in zip(told, stored, strict=True) if known is None]
    decoded = iter(space.decode(points) if points else ())
    return [next(decoded) if known is None else deepcopy(known) for known in stored]


def number_of(what: Any, space: ParameterSpace, history: History) -> Any:
    """Return the number of a suggestion of this study; anything else as it is."""
    if not isinstance(what, Suggestion):
        return what
    is_known = what.number in range(len(history.asks))
    asked = suggestions(space, history, [what.number]) if is_known else []
    if not asked or _text_of(asked[0].parameters) != _text_of(what.parameters):
        raise InvalidInputError(
            f"A suggestion belongs to the study that made it; this one has asked for no number "
            f"{what.number} with {in_brief(what.parameters)}. Tell its parameters as a dictionary."
        )
    return what.number


def notes_of(*, seconds: float | None) -> dict[str, Any]:
    """Return what is noted of an evaluation: when it was told, and how long it took."""
    notes: dict[str, Any] = {"time": time.time()}
    return notes if seconds is None else {**notes, "seconds": as_real(seconds, "seconds")}


def tells(
    entries: Sequence[Entry], space: ParameterSpace, history: History, n_constraints: int
) -> list[Tell]:
    """Check what a caller told, and return its events.

    Parameters
    ----------
    entries : sequence of Entry
    space : ParameterSpace
    history : History
        That the events will follow.
    n_constraints : int

    Raises
    ------
    InvalidInputError
        If an entry is not of the space, or answers no suggestion that could have a value.
    """
    free = list(history.pending)
    wanted = [number_of(what, space, history) for what, *_ in entries]
    named = {i: space.check(what) for i, what in enumerate(wanted) if isinstance(what, Mapping)}
    points = dict(zip(named, space.encode_checked(list(named.values())), strict=True))
    outstanding = suggestions(space, history, free) if named else []
    texts = {suggestion.number: _text_of(suggestion.parameters) for suggestion in outstanding}
    found = []
    for position, (_, value, constraints, error, notes) in enumerate(entries):
        if position in named:
            number = _number_asked(named[position], free, texts)
            x = frozen_point(points[position]) if number is None else history.asks[number].x
            more = {"parameters": named[position]} if number is None else {}
        else:
            x, number, more = _place(wanted[position], history, free)
        if number is not None:
            free.remove(number)
        y = float(as_values(value, 1, "value")[0])
        found.append(
            Tell(
                index=history.n_told + position,
                x=x,
                y=y,
                ask=number,
                error=error,
                constraints=_checked_constraints(constraints, y, n_constraints),
                info=canonical({**notes, **more}, "notes"),
            )
        )
    return found


def _number_asked(
    configuration: Mapping[str, Any], free: Sequence[int], texts: Mapping[int, str]
) -> int | None:
    """Return the first free number under which a configuration was asked, if any."""
    told = _text_of(configuration) if free else ""
    return next((number for number in free if texts[number] == told), None)


def _place(
    what: Any, history: History, free: Sequence[int]
) -> tuple[FloatArray, int | None, dict[str, Any]]:
    """Return the point of a number, the number if it is to be answered, and notes."""
    asks = history.asks
    if not is_whole(what):
        raise InvalidInputError(
            "A value belongs to a suggestion, its number, or a dictionary of parameters; "
            f"received {type(what).__name__} {str(what)[:60]!r}. Pass the number as an int, and of "
            "a row of a table its to_dict()."
        )
    number = int(what)
    if number in free:
        return asks[number].x, number, {}
    if not 0 <= number < len(asks):
        raise InvalidInputError(
            f"No suggestion has the number {number}; outstanding are {in_brief(list(free))}. Ask "
            "first, or tell the parameters as a dictionary (in a shell, --parameters)."
        )
    if any(tell.ask == number for tell in history.tells):
        raise InvalidInputError(
            f"The number {number} has its value already; outstanding are {in_brief(list(free))}. "
            "Tell the parameters as a dictionary (in a shell, --parameters) to record a "
            "repetition. To correct a value, export the study, mend the table, and add it to a "
            "new study."
        )
    return asks[number].x, None, {"withdrawn": number}


def _checked_constraints(constraints: Any, y: float, n: int) -> tuple[float, ...] | None:
    if constraints is None and n and np.isfinite(y):
        raise InvalidInputError(
            f"A value must come with those of the {n} constraints; constraints is None. Pass "
            "constraints=[...], NaN where one is not known."
        )
    given = None if constraints is None else np.ravel(constraints)
    return tuple(as_constraints(given, 1, n)[0].tolist()) or None


def _text_of(configuration: Mapping[str, Any]) -> str:
    """Return a configuration as text, by which 1 and True differ."""
    return dumps(canonical(configuration, "parameters"))
