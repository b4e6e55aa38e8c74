"""Values from the words of a command line, and values as JSON knows them."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from boring._brief import in_brief
from boring.exceptions import InvalidInputError
from boring.parameters import ParameterSpace
from boring.parameters.files import read_spec, without_repetition
from boring.validation import from_text

__all__ = ["UsageError", "integer", "json_object", "options", "plain", "real", "space_argument"]


class UsageError(Exception):
    """The command line is not understood."""


def space_argument(text: str) -> ParameterSpace:
    """Return the space of a JSON or TOML file, or of JSON on the command line."""
    if text.strip() and not text.lstrip().startswith(("{", "[")):
        try:
            found = read_spec(text)
        except InvalidInputError as error:
            if isinstance(error.__cause__, OSError):
                raise InvalidInputError(
                    f"--space must be JSON, or the path of a JSON or TOML file. {error}"
                ) from error
            raise
        values = _as_object(found, f"The file {text!r}")
    else:
        values = json_object(text, "--space")
    if set(values) <= {"parameters", "constraints"} and isinstance(values.get("parameters"), dict):
        inner = {name: _with_type(value) for name, value in values["parameters"].items()}
        return ParameterSpace.of({**values, "parameters": inner})
    # Neither JSON nor TOML has tuples: two numbers are bounds, any other list holds choices.
    return ParameterSpace.of({name: _bounds_or_more(value) for name, value in values.items()})


def _bounds_or_more(value: Any) -> Any:
    is_pair = isinstance(value, list) and len(value) == 2
    if is_pair and all(type(end) in (int, float) for end in value):
        return tuple(value)
    return value


def _with_type(value: Any) -> Any:
    """Return the form with a type that bounds and choices stand for."""
    short = _bounds_or_more(value)
    if isinstance(short, tuple):
        return {"type": "real", "low": short[0], "high": short[1]}
    return {"type": "categorical", "choices": short} if isinstance(short, list) else value


def json_object(text: str | None, name: str) -> dict[str, Any]:
    if text is None:
        return {}
    try:
        values = json.loads(text, object_pairs_hook=without_repetition)
    except InvalidInputError:
        raise
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(
            f"{name} must be valid JSON; received {text[:60]!r}: {error}. Put names and text "
            "between double quotation marks, and the whole between single ones."
        ) from error
    return _as_object(values, name)


def _as_object(values: Any, name: str) -> dict[str, Any]:
    if not isinstance(values, dict):
        raise InvalidInputError(
            f"{name} must be a JSON object, {{...}}; received {in_brief(values)}."
        )
    return values


def integer(text: str) -> int:
    try:
        return from_text(text, int)
    except ValueError:
        raise UsageError(
            f"NUMBER must be a whole number, as 'boring ask' prints it; received {text!r}."
        ) from None


def real(text: str, name: str) -> float:
    try:
        return from_text(text)
    except ValueError:
        raise UsageError(
            f"{name} must be a number; received {text!r}. Of a failure, say --failed REASON."
        ) from None


def options(text: str | None) -> dict[str, Any]:
    """Return options of the optimiser; those that ``init`` has itself would clash."""
    options = json_object(text, "--options")
    own = ("direction", "optimizer", "seed", "n_initial", "n_constraints", "noise_std", "wait")
    for name in own:
        if name in options:
            raise InvalidInputError(
                f"--options are those of the optimiser alone; received {name!r}. Say "
                f"--{name.replace('_', '-')} instead."
            )
    for name in ("space", "path", "domain"):
        if name in options:
            raise InvalidInputError(
                f"--options are those of the optimiser alone; received {name!r}. Leave it out: "
                "FILE and --space say it."
            )
    return options


def plain(value: Any) -> Any:
    """Return a value as strict JSON knows it."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    return value
