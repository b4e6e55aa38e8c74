"""Spaces as JSON data, and as JSON or TOML files."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from boring._brief import in_brief
from boring.exceptions import InvalidInputError, UnknownNameError
from boring.parameters.base import Parameter
from boring.parameters.choices import Categorical, Fixed
from boring.parameters.real import Real
from boring.parameters.space import ParameterSpace
from boring.parameters.whole import Integer, Ordinal
from boring.validation import suggest

__all__ = [
    "KINDS",
    "parameter_from_dict",
    "read_space",
    "read_spec",
    "space_from_dict",
    "without_repetition",
]

KINDS: dict[str, type[Parameter]] = {
    kind.kind: kind for kind in (Real, Integer, Ordinal, Categorical, Fixed)
}


def parameter_from_dict(name: str, spec: Any) -> Parameter:
    """Return a parameter from its form, such as ``{"type": "real", "low": 0, "high": 1}``."""
    if not isinstance(spec, Mapping) or "type" not in spec:
        raise InvalidInputError(
            f"Parameter {name!r} must be an object with a 'type' ({', '.join(KINDS)}); received "
            f"{in_brief(spec)}. An example: "
            "{'type': 'real', 'low': 0.1, 'high': 10, 'log': true}."
        )
    if not isinstance(spec["type"], str) or spec["type"] not in KINDS:
        raise UnknownNameError(
            f"Parameter {name!r} has no known type: received {spec['type']!r}. "
            f"{suggest(str(spec['type']), KINDS)}"
        )
    kind = KINDS[spec["type"]]
    known = {item.name: item for item in fields(kind) if item.name != "name"}
    given = {key: value for key, value in spec.items() if key != "type"}
    for key in given:
        if key not in known:
            raise UnknownNameError(
                f"Parameter {name!r}: {spec['type']!r} has no {key!r}. {suggest(str(key), known)}"
            )
    absent = [key for key, item in known.items() if item.default is MISSING and key not in given]
    if absent:
        raise InvalidInputError(
            f"Parameter {name!r} of type {spec['type']!r} needs {' and '.join(map(repr, absent))}."
        )
    return kind(name, **given)


def space_from_dict(
    spec: Mapping[str, Any], callables: Sequence[Callable[[dict[str, Any]], Any]] = ()
) -> ParameterSpace:
    """Return a space from JSON data; see `ParameterSpace.from_dict`."""
    if not isinstance(spec, Mapping):
        raise InvalidInputError(
            f"A space must be an object of name to parameter; received {in_brief(spec)}."
        )
    parameters: Any = spec
    constraints: list[Any] = []
    inner = spec.get("parameters")
    if isinstance(inner, Mapping) and not isinstance(inner.get("type"), str):
        unknown = set(spec) - {"parameters", "constraints"}
        if unknown:
            raise UnknownNameError(
                "A space holds 'parameters' and 'constraints'; received "
                f"{in_brief(sorted(unknown))}, too. Move further parameters into 'parameters'."
            )
        parameters, constraints = inner, _as_list(spec.get("constraints", []))
    given = list(callables)
    wanted = [c["callable"] for c in constraints if isinstance(c, Mapping) and "callable" in c]
    if len(wanted) != len(given):
        raise InvalidInputError(
            f"This space has {len(wanted)} constraints that are functions ({wanted}), which JSON "
            f"cannot hold; received {len(given)}. Give them again, in that order: to from_dict "
            "callables=[...], to Study.open space=... The command boring cannot."
        )
    filled = [
        given.pop(0) if isinstance(c, Mapping) and "callable" in c else c for c in constraints
    ]
    return ParameterSpace(
        [parameter_from_dict(name, form) for name, form in parameters.items()], filled
    )


def read_space(path: str | Path) -> ParameterSpace:
    """Return the space that a file describes, TOML if its name ends so, else JSON."""
    return space_from_dict(read_spec(path))


def read_spec(path: str | Path) -> Any:
    """Return what a file holds, TOML if its name ends so, else JSON."""
    path = Path(path)
    kind = "TOML" if path.suffix.lower() == ".toml" else "JSON"
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InvalidInputError(f"The file {str(path)!r} cannot be read: {error}.") from error
    except UnicodeDecodeError as error:
        raise InvalidInputError(
            f"The file {str(path)!r} must be {kind} in UTF-8: {error}. Save it so."
        ) from error
    try:
        if kind == "TOML":
            return tomllib.loads(text)
        return json.loads(text, object_pairs_hook=without_repetition)
    except InvalidInputError as error:
        raise InvalidInputError(f"The file {str(path)!r}: {error}") from error
    except (ValueError, RecursionError) as error:
        begins = f"it begins with {text[:40]!r}" if text.strip() else "it is empty"
        remedy = "Mend it" + (", or name a TOML file .toml" if kind == "JSON" else "")
        raise InvalidInputError(
            f"The file {str(path)!r} cannot be parsed as {kind}: {error}; {begins}. {remedy}."
        ) from error


def _as_list(constraints: Any) -> list[Any]:
    if not isinstance(constraints, list | tuple):
        raise InvalidInputError(f"'constraints' must be a list; received {in_brief(constraints)}.")
    return list(constraints)


def without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON, of which Python would keep the last of equal names alone."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = sorted({name for name in names if names.count(name) > 1})
        raise InvalidInputError(f"Names must differ; {twice} come twice. Rename one of each.")
    return found
