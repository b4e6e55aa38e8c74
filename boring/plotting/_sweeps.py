"""What slices run along: each parameter of a box or of a study, on an axis in its own units."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from boring.parameters import Categorical, Ordinal, ParameterSpace
from boring.parameters.base import Parameter, choice_text, identity
from boring.space import Box
from boring.typing import FloatArray

from . import _furniture as furniture
from ._labels import brief, literal, short_names
from ._surfaces import LINE_POINTS

__all__ = [
    "Sweep",
    "label_of",
    "parameter_sweeps",
    "range_of",
    "ratio_ticks",
    "set_ticks",
    "sweeps_of_box",
    "varying_of",
]

MOST_MARKS = 12
"""A parameter of at most so many values has a mark for each of them, of more a curve."""

FINE = 2001
"""Places of the cube among which the values of a parameter are looked for."""

TICK_INCHES, LETTER_INCHES, LINE_INCHES = 0.5, 0.066, 0.14
"""Room that a number, a letter and a line take at an axis."""

FEWEST_LETTERS, MOST_LETTERS = 4, 9
"""Of a name beside others, and of one that stands upright."""

MOST_RANGE = 18
"""Letters of the choices of a parameter, which are counted if there are more."""

Scale = Literal["linear", "whole", "log", "names"]


@dataclass(frozen=True, eq=False)
class Sweep:
    """One parameter, and the points in which it runs through its values.

    Attributes
    ----------
    label : str
        Name and unit.
    at : ndarray, shape (k,)
        Places on the axis, in the parameter's own units; of names, their numbers.
    X : ndarray, shape (k, D), raw units of the model
    columns : slice
        Of X that the parameter has.
    here : float
        Place of the centre.
    scale : {"linear", "whole", "log", "names"}
    is_marked : bool
        Whether the values are few, and stand apart.
    texts : tuple of str
        Names of the places.
    """

    label: str
    at: FloatArray
    X: FloatArray
    columns: slice
    here: float
    scale: Scale = "linear"
    is_marked: bool = False
    texts: tuple[str, ...] = ()

    @property
    def limits(self) -> tuple[float, float]:
        """Ends of the axis, such that marks do not touch them."""
        low, high = float(self.at[0]), float(self.at[-1])
        if not self.is_marked:
            return low, high
        if self.scale == "log":
            margin = (high / low) ** (0.5 / (len(self.at) - 1))
            return low / margin, high * margin
        margin = 0.5 * (high - low) / (len(self.at) - 1)
        return low - margin, high + margin


def sweeps_of_box(space: Box, center: FloatArray, labels: Sequence[str]) -> list[Sweep]:
    """Return one sweep for each coordinate of a box."""
    found = []
    for index, label in enumerate(labels):
        X = np.repeat(center[None, :], LINE_POINTS, axis=0)
        X[:, index] = np.linspace(space.lower[index], space.upper[index], LINE_POINTS)
        columns = slice(index, index + 1)
        found.append(Sweep(label, X[:, index], X, columns, float(center[index])))
    return found


def varying_of(space: ParameterSpace) -> list[Parameter]:
    """Return the parameters of a space that are not fixed."""
    return [p for p in space.parameters.values() if p.n_columns]


def label_of(parameter: Parameter) -> str:
    """Return name and unit, such that matplotlib takes no part of it for a formula."""
    unit = f" ({parameter.unit})" if parameter.unit else ""
    return literal(f"{parameter.name}{unit}")


def range_of(parameter: Parameter) -> str:
    """Return what a parameter runs through, from its lower end to its upper one, in few letters.

    Examples
    --------
    >>> from boring.parameters import Categorical, Real
    >>> range_of(Real("gain", 0.1, 10, log=True, unit="dB"))
    '0.1 … 10 dB, log'
    >>> range_of(Categorical("optics", ["old", "new"]))
    'old, new'
    """
    if isinstance(parameter, (Categorical, Ordinal)):
        text = ", ".join(choice_text(value) for value in parameter.choices)
        return literal(text if len(text) <= MOST_RANGE else f"{len(parameter.choices)} choices")
    ends: Any = parameter
    unit = f" {parameter.unit}" if parameter.unit else ""
    scale = ", log" if ends.log else ""
    low, high = (brief(end, spread=ends.high - ends.low) for end in (ends.low, ends.high))
    return literal(f"{low} … {high}{unit}{scale}")


def parameter_sweeps(
    space: ParameterSpace, center: FloatArray, labels: Sequence[str] | None = None
) -> list[Sweep]:
    """Return one sweep for each parameter that is active in a point of the cube, and varies.

    Parameters
    ----------
    space : ParameterSpace
    center : ndarray, shape (D,), scaled units
    labels : sequence of str, optional
        Of the parameters that vary, in place of their names and units.
    """
    varying = varying_of(space)
    labels = [label_of(p) for p in varying] if labels is None else labels
    active = space.decode(center[None, :])[0]
    return [
        _sweep(space, parameter, label, center)
        for parameter, label in zip(varying, labels, strict=True)
        if parameter.name in active
    ]


def _sweep(space: ParameterSpace, parameter: Parameter, label: str, center: FloatArray) -> Sweep:
    values = _values(parameter)
    columns = space.slice_of(parameter.name)
    X = np.repeat(center[None, :], len(values), axis=0)
    X[:, columns] = parameter.encode(values)
    X = space.domain.snap(X)  # parameters that become active, or cease to be, have their place
    value = parameter.decode(center[None, columns])[0]
    is_marked = len(values) <= MOST_MARKS and parameter.n_values is not None
    # Integers that float64 does not tell apart stand side by side, as names do.
    if isinstance(parameter, (Categorical, Ordinal)) or len(set(map(float, values))) < len(values):
        keys = [identity(v) for v in values]
        texts = tuple(choice_text(v) for v in values)
        here = float(keys.index(identity(value)))
        places = np.arange(len(values), dtype=float)
        return Sweep(label, places, X, columns, here, "names", True, texts)
    scale: Scale = "linear"
    if getattr(parameter, "log", False):
        scale = "log"
    elif parameter.kind == "integer":
        scale = "whole"
    return Sweep(label, np.array(values, dtype=float), X, columns, float(value), scale, is_marked)


def _values(parameter: Parameter) -> list[Any]:
    """Return the values of a parameter in their order: all, or as many as a curve needs."""
    if isinstance(parameter, (Categorical, Ordinal)):
        return list(parameter.choices)
    count = parameter.n_values
    places = LINE_POINTS if count is None or count > MOST_MARKS else FINE
    return list(dict.fromkeys(parameter.decode(np.linspace(-1.0, 1.0, places)[:, None])))


def set_ticks(panel: Any, sweep: Sweep) -> None:
    """Give an axis the scale of a parameter, and only as many ticks as its width allows."""
    width, _ = furniture.inches(panel)
    panel.set_xlim(*sweep.limits)
    if sweep.scale == "names":
        _set_names(panel, sweep.texts, width)
    elif sweep.scale == "log":
        low, high = float(sweep.at[0]), float(sweep.at[-1])
        ticks = ratio_ticks(low, high, int(np.clip(width / TICK_INCHES, 2, 5)))
        panel.set_xscale("log")
        panel.set_xlim(*sweep.limits)
        panel.set_xticks(ticks, [brief(tick, spread=high - low) for tick in ticks])
        panel.set_xticks([], minor=True)
    else:
        furniture.few_ticks(panel)
        if sweep.scale == "whole":
            panel.locator_params(axis="x", integer=True)


def _set_names(panel: Any, texts: Sequence[str], width: float) -> None:
    """Write names side by side, cut if they must be; where there are too many, upright."""
    letters = int(width / (LETTER_INCHES * len(texts))) - 1
    shown = short_names(texts, max(letters, FEWEST_LETTERS))
    fit = max(map(len, shown)) <= letters
    if not fit:
        shown = short_names(texts, MOST_LETTERS)
    stride = 1 if fit else -(-len(texts) // max(2, int(width / LINE_INCHES)))
    places = np.arange(len(texts))[::stride]
    panel.set_xticks(places, [literal(shown[i]) for i in places], rotation=0 if fit else 90)


def ratio_ticks(low: float, high: float, most: int) -> list[float]:
    """Return powers of ten, or of few of them also 2 and 5 times those.

    Examples
    --------
    >>> ratio_ticks(0.1, 10.0, 4), ratio_ticks(1.0, 8.0, 4)
    ([0.1, 1.0, 10.0], [1.0, 2.0, 5.0])
    """
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))

    def within(factors: Sequence[float], stride: int) -> list[float]:
        at = range(first, last + 1, stride)
        values = [factor * 10.0**power for power in at for factor in factors]
        return [v for v in values if low * (1 - 1e-9) <= v <= high * (1 + 1e-9)]

    candidates = [within((1.0, 2.0, 5.0), 1), within((1.0, 3.0), 1)]
    candidates += [within((1.0,), stride) for stride in range(1, max(2, last - first + 1))]
    fitting = [values for values in candidates if 2 <= len(values) <= most]
    return fitting[0] if fitting else [low, high]
