"""Values as text of bounded length: a point of 300 coordinates would bury what a message says."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from itertools import islice
from typing import Any

import numpy as np

__all__ = ["fields_in_brief", "in_brief", "shortened"]

MOST = 20
"""Entries up to which all are shown: the settings of a small study are read in full."""

FIRST = 6
"""Entries shown of more."""

LONGEST = 200
"""Characters shown of anything else."""


def in_brief(value: Any) -> str:
    """Return the text of a value, of long ones the beginning and how many entries there are.

    Parameters
    ----------
    value : object
        An array, a list, a tuple or a mapping, whose entries are shortened likewise; of anything
        else its ``repr`` is cut.

    Returns
    -------
    str

    Examples
    --------
    >>> in_brief([0.5] * 300)
    '[0.5, 0.5, 0.5, 0.5, 0.5, 0.5, ... 300 in all]'
    >>> in_brief(np.array([1.0, 2.0])), in_brief(np.zeros((60, 300)))
    ('[1.0, 2.0]', 'array of shape (60, 300)')
    """
    if isinstance(value, np.ndarray):
        if value.ndim > 1 and not 0 < value.size <= MOST:
            return f"array of shape {value.shape}"
        value = value.tolist()
    if isinstance(value, list):
        return f"[{_listed(value, len(value), in_brief)}]"
    if isinstance(value, tuple):
        return f"({_listed(value, len(value), in_brief)}{',' if len(value) == 1 else ''})"
    if isinstance(value, Mapping):
        return f"{{{_listed(value.items(), len(value), _pair)}}}"
    return shortened(repr(value))


def fields_in_brief(self: Any) -> str:
    """Return the fields of a dataclass, each in brief: what its ``__repr__`` can be."""
    names = (item.name for item in fields(self) if item.repr)
    shown = (f"{name}={in_brief(getattr(self, name))}" for name in names)
    return f"{type(self).__name__}({', '.join(shown)})"


def shortened(text: str, longest: int = LONGEST) -> str:
    """Return a text, cut behind so many characters."""
    return text if len(text) <= longest else text[: longest - 3] + "..."


def _listed(items: Iterable[Any], n: int, show: Callable[[Any], str]) -> str:
    more = "" if n <= MOST else f", ... {n} in all"
    return ", ".join(map(show, islice(items, n if n <= MOST else FIRST))) + more


def _pair(item: tuple[Any, Any]) -> str:
    return f"{in_brief(item[0])}: {in_brief(item[1])}"
