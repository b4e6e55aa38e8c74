"""Margins: numbers that are at most zero where a condition holds, and what joins them.

Of ``a <= b`` the margin is ``a - b``, of ``and`` it is the largest and of ``or`` the least of the
parts'.

Inactive parameters are NaN, or `INACTIVE` among objects: a comparison with one of them is unknown,
a margin of NaN. Unknown parts are joined by Kleene's logic (Introduction to Metamathematics, 1952,
section 64): ``or`` holds where a part holds, ``and`` does not where a part does not, and what is
still unknown holds no more than its negation does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from boring.parameters.base import identity
from boring.typing import FloatArray

__all__ = ["INACTIVE", "Columns", "Margin", "both", "either", "equals", "negated", "strict"]

Columns: TypeAlias = Mapping[str, NDArray[Any]]
"""From names of parameters to their values: floats where they are numbers, else objects."""

Margin: TypeAlias = Callable[[Columns], FloatArray]
"""From values of parameters to margins, one a configuration."""

INACTIVE = object()
LEAST = float(np.finfo(float).tiny)  # the margin of a strict inequality that holds with equality


def strict(difference: FloatArray) -> FloatArray:
    """Return the margin of ``a < b`` from that of ``a <= b``."""
    return np.where(difference == 0.0, LEAST, difference)


def both(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the margin of ``and``."""
    known = np.fmax(first, second)
    return np.where(known > 0.0, known, np.maximum(first, second))


def either(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the margin of ``or``."""
    known = np.fmin(first, second)
    return np.where(known <= 0.0, known, np.minimum(first, second))


def negated(function: Margin) -> Margin:
    """Return the margin of ``not``."""
    return lambda columns: _flip(function(columns))


def _flip(margin: FloatArray) -> FloatArray:
    return np.where(margin > 0.0, -margin, np.maximum(-margin, LEAST))


def equals(name: str, choice: Any) -> Margin:
    """Return the margin of a parameter's being a choice: 0 or 1."""
    is_nested = isinstance(choice, list | dict)  # Python takes [1] and [true] for equal

    def is_same(value: Any) -> bool:
        is_equal = type(value) is type(choice) and value == choice
        return is_equal and not (is_nested and identity(value) != identity(choice))

    def margin(columns: Columns) -> FloatArray:
        same = [is_same(value) for value in columns[name]]
        absent = [value is INACTIVE for value in columns[name]]
        return np.where(absent, np.nan, np.where(same, 0.0, 1.0))

    return margin
