"""Axes of encoded parameters, in the words and units of their user."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from boring.parameters import Categorical, Integer, Ordinal, ParameterSpace, Real
from boring.parameters.base import Parameter
from boring.parameters.choices import MARK

from ._text import plain

__all__ = ["label_of", "plain_names", "ticks_of"]

MOST_TICKS = 4
"""On one small panel."""


def plain_names(space: ParameterSpace) -> list[str]:
    """Return the label of each column, such that matplotlib takes no part of it for a formula."""
    return [plain(label) for label in space.column_names]


def label_of(space: ParameterSpace, column: int) -> str:
    """Return the label of a column with its unit."""
    name, label = space.columns[column]
    unit = space.parameters[name].unit
    return plain(f"{label} ({unit})" if unit else label)


def ticks_of(
    parameter: Parameter, label: str, most: int = MOST_TICKS
) -> tuple[list[float], list[str]]:
    """Return where on [-1, 1] the ticks of a column lie, and what is written there.

    Parameters
    ----------
    parameter : Parameter
    label : str
        Of the column.
    most : int
        Ticks.

    Returns
    -------
    positions : list of float, scaled units
    texts : list of str
        Values of the parameter in its own unit; of a category that takes several columns, whether
        it is this choice.
    """
    if isinstance(parameter, Categorical) and parameter.n_columns > 1:
        return [-MARK, MARK], ["other", _shown(label.removeprefix(f"{parameter.name}="))]
    if isinstance(parameter, (Categorical, Ordinal)):
        count = len(parameter.choices)
        places = np.linspace(-1.0, 1.0, count)
        chosen = np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(int))
        return (
            [float(places[i]) for i in chosen],
            [_shown(str(parameter.choices[i])) for i in chosen],
        )
    assert isinstance(parameter, (Real, Integer))
    if parameter.log:
        values = _ratio_ticks(parameter.low, parameter.high, most)
        start, end = math.log(parameter.low), math.log(parameter.high)
        at = [2.0 * (math.log(v) - start) / (end - start) - 1.0 for v in values]
    else:
        values = _linear_ticks(parameter.low, parameter.high, most, isinstance(parameter, Integer))
        width = parameter.high - parameter.low
        at = [2.0 * (v - parameter.low) / width - 1.0 for v in values]
    return at, [f"{value:.6g}".replace("-", "−") for value in values]


def _shown(text: str, width: int = 10) -> str:
    return plain(text if len(text) <= width else text[: width - 1] + "…")


def _linear_ticks(low: float, high: float, most: int, whole: bool) -> list[float]:
    """Return multiples of 1, 2 or 5 times a power of ten: as many as fit."""
    width = (high - low) / most
    power = 10.0 ** math.floor(math.log10(width))
    steps = [factor * power for factor in (1.0, 2.0, 5.0, 10.0, 20.0)]
    if whole:
        steps = [max(1.0, float(round(step))) for step in steps]
    for step in steps:
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        if last - first + 1 <= most:
            found = [index * step for index in range(first, last + 1)]
            return found if len(found) > 1 else [low, high]
    return [low, high]


def _ratio_ticks(low: float, high: float, most: int) -> list[float]:
    """Return powers of ten, or of few of them also 2 and 5 times those."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))

    def within(factors: Sequence[float], stride: int) -> list[float]:
        at = range(first, last + 1, stride)
        values = [factor * 10.0**power for power in at for factor in factors]
        return [v for v in values if low * (1 - 1e-9) <= v <= high * (1 + 1e-9)]

    candidates: list[Any] = [within((1.0, 2.0, 5.0), 1), within((1.0, 3.0), 1)]
    candidates += [within((1.0,), stride) for stride in range(1, max(2, last - first + 1))]
    fitting = [values for values in candidates if 2 <= len(values) <= most]
    return fitting[0] if fitting else [low, high]
