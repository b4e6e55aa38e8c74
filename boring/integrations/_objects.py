"""Choices of any objects: for the optimiser they are texts, for the estimator themselves."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

from boring._brief import in_brief
from boring.exceptions import InvalidInputError
from boring.parameters import Categorical, Fixed

__all__ = ["with_objects"]

ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def with_objects(parameters: Any) -> Any:
    """Return parameters in which lists of a dict may hold what JSON does not know.

    Such a choice stands in the space as its text; `ParameterSpace.as_given` returns the object.
    """
    if not isinstance(parameters, Mapping):
        return parameters
    return {name: _choices(name, form) for name, form in parameters.items()}


class _Objects(Categorical):
    """A category of texts that stand for objects."""

    objects: tuple[Any, ...]

    def as_given(self, value: Any) -> Any:
        """Return a copy of the object that a text stands for."""
        return deepcopy(self.objects[self._position(value)])


def _choices(name: str, form: Any) -> Any:
    if not isinstance(form, list) or all(_is_json(name, item) for item in form):
        return form
    choices: list[Any] = []
    for item in form:
        choices.append(item if _is_json(name, item) else _text(item, [*form, *choices]))
    found = _Objects(name, choices)
    object.__setattr__(found, "objects", tuple(form))  # as frozen dataclasses are completed
    return found


def _is_json(name: str, item: Any) -> bool:
    try:
        Fixed(name, item)
    except InvalidInputError:
        return False
    return True


def _text(item: Any, taken: Sequence[Any]) -> str:
    """Return the text of an object, unlike all texts that are taken."""
    text = ADDRESS.sub("", " ".join(in_brief(item).split()))
    texts = {other for other in taken if isinstance(other, str)}
    number, found = 1, text
    while found in texts:
        number += 1
        found = f"{text} ({number})"
    return found
