"""Values as text of bounded length: a point of 300 coordinates would bury what a message says."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import fields
from itertools import islice
from typing import Any

import numpy as np

__all__ = ["fields_in_brief", "in_brief", "listed", "shortened"]

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
        return f"[{listed(value)}]"
    if isinstance(value, tuple):
        return f"({listed(value)}{',' if len(value) == 1 else ''})"
    if isinstance(value, Mapping):
        return f"{{{listed(value.items(), _pair)}}}"
    return shortened(repr(value))


def listed(items: Collection[Any], show: Callable[[Any], str] = in_brief, most: int = MOST) -> str:
    """Return items side by side; of more than so many, the first and how many there are."""
    n = len(items)
    first, more = (n, "") if n <= most else (FIRST, f", ... {n} in all")
    return ", ".join(map(show, islice(items, first))) + more


def fields_in_brief(self: Any) -> str:
    """Return the fields of a dataclass, each in brief: what its ``__repr__`` can be."""
    names = (item.name for item in fields(self) if item.repr)
    shown = (f"{name}={in_brief(getattr(self, name))}" for name in names)
    return f"{type(self).__name__}({', '.join(shown)})"


def shortened(text: str, longest: int = LONGEST) -> str:
    """Return a text, cut behind so many characters."""
    return text if len(text) <= longest else text[: longest - 3] + "..."


def _pair(item: tuple[Any, Any]) -> str:
    return f"{in_brief(item[0])}: {in_brief(item[1])}"
