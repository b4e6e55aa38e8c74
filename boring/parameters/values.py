"""Values of any JSON type as choices: checked, told apart, and found again."""

from __future__ import annotations

import difflib
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from boring._brief import in_brief
from boring.parameters.base import Parameter, alike, identity, is_missing, is_number, plain
from boring.validation import as_float

__all__ = ["check_choices", "check_json", "found_at", "position", "with_tuples"]

SHOWN = 8  # choices listed in a message


def check_json(parameter: Parameter, value: Any) -> Any:
    """Return a value as plain JSON data (tuples become lists), or refuse it."""
    value = plain(value)
    if isinstance(value, tuple | list):
        return [check_json(parameter, item) for item in value]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: check_json(parameter, item) for key, item in value.items()}
    if is_missing(value) or (is_number(value) and not math.isfinite(as_float(value))):
        parameter._refuse(
            f"{in_brief(value)} cannot be a value. Use None, or a text such as 'none'."
        )
    if value is None or isinstance(value, str | bool | int | float):
        return value
    parameter._refuse(
        f"values must be of a JSON type (text, number, true/false, null, list, object); received "
        f"{in_brief(value)} of type {type(value).__name__}. Use its name as a text, and look the "
        "object up where it is needed; BoringSearchCV takes objects in a dict of lists, "
        f"{{{parameter.name!r}: [...]}}."
    )


def with_tuples(checked: Any, given: Any) -> Any:
    """Return a checked value with tuples where the given one has them, in place of lists."""
    given = plain(given)
    if isinstance(given, tuple | list):
        items = [with_tuples(*pair) for pair in zip(checked, given, strict=True)]
        return tuple(items) if isinstance(given, tuple) else items
    if isinstance(given, dict):
        return {key: with_tuples(item, given[key]) for key, item in checked.items()}
    return checked


def check_choices(parameter: Parameter, choices: Any) -> tuple[Any, ...]:
    """Return the choices as a tuple of plain JSON data; at least two, all different."""
    if isinstance(choices, str) or not isinstance(choices, Sequence | np.ndarray):
        parameter._refuse(f"choices must be a list; received {in_brief(choices)}.")
    checked = tuple(check_json(parameter, value) for value in choices)
    if len(checked) < 2:
        parameter._refuse(
            f"at least two choices are needed; received {in_brief(list(checked))}. Use Fixed for "
            "one."
        )
    seen: dict[Any, Any] = {}
    for value in checked:
        key = value if is_number(value) else identity(value)
        if key in seen:
            parameter._refuse(f"choices must differ; {value!r} repeats {seen[key]!r}.")
        seen[key] = value
    return checked


def found_at(choices: Sequence[Any], value: Any) -> int | None:
    """Return the index of a JSON value, None if it is no choice.

    Numbers match by value, since data frames turn 1 into 1.0; of the choices [1] and [1.0] the very
    one is taken.
    """
    found = None
    for index, choice in enumerate(choices):
        if alike(choice, value):
            if not isinstance(choice, list | dict) or identity(choice) == identity(value):
                return index
            found = index if found is None else found
    return found


def position(parameter: Parameter, choices: Sequence[Any], value: Any) -> int:
    """Return the index of a value, or refuse it in the parameter's name."""
    value = plain(value)
    if is_missing(value):
        hint = " (a data frame may have turned None into NaN)" if None in choices else ""
        parameter._refuse(f"the value is NaN, which stands for no choice{hint}.")
    found = found_at(choices, _as_lists(value))
    if found is not None:
        return found
    names = [choice for choice in choices if isinstance(choice, str)]
    near = difflib.get_close_matches(value, names, n=1) if isinstance(value, str) else []
    hint = f" Did you mean {near[0]!r}?" if near else ""
    shown = ", ".join(map(repr, choices[:SHOWN])) + (", ..." if len(choices) > SHOWN else "")
    rule = f"be one of {shown}" if len(choices) > 1 else f"be {shown}"
    parameter._refuse_value(f"the value must {rule}; received {in_brief(value)}.{hint}")


def _as_lists(value: Any) -> Any:
    """Return a value with lists for tuples and arrays, and Python's scalars for numpy's."""
    value = plain(value)
    if isinstance(value, tuple | list):
        return [_as_lists(item) for item in value]
    if isinstance(value, dict):
        return {key: _as_lists(item) for key, item in value.items()}
    return value
