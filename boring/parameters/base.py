"""What every kind of parameter has in common."""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, ClassVar, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from boring._brief import in_brief
from boring._json import built_in
from boring.exceptions import InvalidInputError, OutsideSpaceError
from boring.parameters.wholes import Wholes
from boring.typing import FloatArray
from boring.validation import as_float

IntArray: TypeAlias = NDArray[np.int64]
"""Array of int64, used for indices."""

Configuration: TypeAlias = dict[str, Any]
"""Name to value of the active parameters."""

__all__ = [
    "Configuration",
    "IntArray",
    "Parameter",
    "alike",
    "as_number",
    "choice_text",
    "fits_float64",
    "identity",
    "is_missing",
    "is_number",
    "plain",
]


@dataclass(frozen=True, eq=False)
class Parameter(ABC):
    """A named quantity to be chosen, and its place in the cube.

    ``name`` is any non-empty text, ``unit`` is for reports alone. ``when`` makes the parameter
    conditional: a text such as ``"kind == 'sgd'"`` over other parameters; where it does not hold,
    the parameter is inactive, missing in the configuration, and its columns are zero.
    """

    name: str
    unit: str = field(default="", kw_only=True)
    when: str | None = field(default=None, kw_only=True)

    kind: ClassVar[str]

    def __post_init__(self) -> None:
        """Check what all kinds share."""
        name: Any = self.name
        if not isinstance(name, str) or not self.name.strip() or "`" in self.name:
            raise InvalidInputError(
                "The name of a parameter must be a text that is not empty and has no backtick; "
                f"received {self.name!r}. Name it as your reports shall."
            )
        for attribute in ("unit", "when"):
            value = getattr(self, attribute)
            if not (isinstance(value, str) or (value is None and attribute == "when")):
                self._refuse(f"{attribute} must be a text; received {in_brief(value)}.")

    def __eq__(self, other: object) -> bool:
        """Parameters are equal if their forms are: the choices 1 and true differ."""
        if type(self) is not type(other) or not isinstance(other, Parameter):
            return NotImplemented
        return self.name == other.name and alike(self.to_dict(), other.to_dict())

    def __hash__(self) -> int:
        """Return what is the same for equal parameters."""
        return hash((self.kind, self.name))

    @property
    @abstractmethod
    def n_columns(self) -> int:
        """Number of coordinates of the cube that the parameter takes."""

    @property
    @abstractmethod
    def n_values(self) -> int | None:
        """Number of values; None if they are continuous."""

    @property
    def is_numeric(self) -> bool:
        """Whether every value is a number, so that arithmetic may use it."""
        return True

    @property
    def wholes(self) -> Wholes | None:
        """Size and divisor of its values, if all of them are whole numbers."""
        return None

    @property
    def is_exact(self) -> bool:
        """Whether float64 holds every number among the values: conditions are computed in it."""
        return True

    @property
    def resolution(self) -> float:
        """Largest difference of scaled units that rounding makes no difference of."""
        return 0.0

    @property
    def labels(self) -> tuple[str, ...]:
        """One label for each column."""
        return (self.name,) * self.n_columns

    @abstractmethod
    def check(self, value: Any) -> Any:
        """Return the value as the parameter holds it, or raise `InvalidInputError`."""

    def as_given(self, value: Any) -> Any:
        """Return a value of the parameter as its maker wrote it: with tuples for JSON's lists."""
        return value

    @abstractmethod
    def encode(self, values: Sequence[Any]) -> FloatArray:
        """Return the columns of checked values, shape (n, n_columns)."""

    @abstractmethod
    def decode(self, U: FloatArray) -> list[Any]:
        """Return the values nearest to columns of shape (n, n_columns)."""

    def snap(self, U: FloatArray) -> FloatArray:
        """Return the nearest columns that stand for a value, shape (n, n_columns)."""
        return self.encode(self.decode(U))

    def values(self, U: FloatArray) -> NDArray[Any]:
        """Return the values as an array, of floats if they are numbers, else of objects."""
        found = self.decode(U)
        if self.is_numeric:
            return np.array(found, dtype=np.float64)
        array = np.empty(len(found), dtype=object)
        array[:] = found
        return array

    def neighbours(self, u: FloatArray) -> FloatArray:
        """Return the columns one step away from snapped ``u``, shape (k, n_columns)."""
        return np.empty((0, self.n_columns))

    def to_dict(self) -> dict[str, Any]:
        """Return the readable form without the name; defaults are left out."""
        spec: dict[str, Any] = {"type": self.kind}
        for item in sorted(fields(self), key=lambda item: item.name in ("unit", "when")):
            value = getattr(self, item.name)
            if item.name != "name" and (item.default is MISSING or value != item.default):
                spec[item.name] = list(value) if isinstance(value, tuple) else value
        return spec

    def _refuse(self, problem: str) -> NoReturn:
        raise InvalidInputError(f"Parameter {self.name!r}: {problem}")

    def _refuse_value(self, problem: str) -> NoReturn:
        """Refuse a value of the right type that the parameter does not take."""
        raise OutsideSpaceError(f"Parameter {self.name!r}: {problem}")


def plain(value: Any) -> Any:
    """Return a Python object for a numpy scalar or array, or a member of a text enumeration."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    return built_in(value)


def is_missing(value: Any) -> bool:
    """Say whether a value is NaN or pandas' NA or NaT; None is not missing."""
    if isinstance(value, float | np.floating):
        return math.isnan(value)
    return type(value).__name__ in ("NAType", "NaTType")


def fits_float64(value: Any) -> bool:
    """Say whether a value is no integer that float64 rounds."""
    return not (is_number(value) and isinstance(value, int)) or as_float(value) == value


def is_number(value: Any) -> bool:
    """Say whether a value is an integer or float, and no bool."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def as_number(value: Any, parameter: Parameter, what: str) -> float | int:
    """Return a finite Python number or refuse it in the parameter's name."""
    number = plain(value)
    if is_missing(value):
        parameter._refuse(
            f"{what} is NaN, which stands for no value. Give a number, or leave the row out."
        )
    if not is_number(number):
        parameter._refuse(f"{what} must be a number; received {in_brief(value)}.")
    finite: float | int = number
    if not (isinstance(finite, int) or math.isfinite(finite)):
        parameter._refuse(f"{what} must be finite; received {in_brief(value)}.")
    return finite


def identity(value: Any) -> str:
    """Return a text that is the same for the same JSON value: 1, 1.0 and true differ."""
    return json.dumps(value, sort_keys=True, allow_nan=False)


def alike(one: Any, other: Any) -> bool:
    """Say whether two JSON values are the same one; 1 and true differ, 1 and 1.0 do not."""
    if is_number(one) and is_number(other):
        return bool(one == other)
    if type(one) is not type(other):
        return False
    if isinstance(one, list):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(alike(one[key], other[key]) for key in one)
    return bool(one == other)


def choice_text(value: Any) -> str:
    """Return a choice as reports and pictures show it: text as it is, None, True, False, or JSON.

    Examples
    --------
    >>> choice_text("old"), choice_text(None), choice_text([1, 2])
    ('old', 'None', '[1, 2]')
    """
    if isinstance(value, str | bool) or value is None:
        return str(value)
    return json.dumps(value, ensure_ascii=False)
