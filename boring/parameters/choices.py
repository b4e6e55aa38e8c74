"""Choices, parameters without an order among them, and values that do not vary."""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from boring._brief import fields_in_brief
from boring.parameters.base import IntArray, Parameter, choice_text, fits_float64, is_number
from boring.parameters.values import check_choices, check_json, position, with_tuples
from boring.parameters.wholes import Wholes
from boring.typing import FloatArray

__all__ = ["Categorical", "Choice", "Fixed"]

# Columns at +-1/sqrt(2): any two choices lie 2 apart, as the ends of any other parameter do.
MARK = math.sqrt(0.5)


@dataclass(frozen=True, eq=False)
class Choice(Parameter):
    """What parameters have in common that take one of some values of any JSON type.

    Parameters
    ----------
    name : str
    choices : sequence of JSON values
        At least two, all different; 1 and true differ, 1 and 1.0 do not.
    unit : str
    when : str, optional
        See `boring.parameters.base.Parameter`.
    """

    choices: Sequence[Any]

    _given: ClassVar[tuple[Any, ...]]

    def __post_init__(self) -> None:
        """Check the choices."""
        super().__post_init__()
        given, checked = self.choices, check_choices(self, self.choices)
        object.__setattr__(self, "choices", checked)
        object.__setattr__(self, "_given", tuple(map(with_tuples, checked, given)))

    @property
    def n_values(self) -> int:
        """Number of choices."""
        return len(self.choices)

    @property
    def is_numeric(self) -> bool:
        """Whether every choice is a number."""
        return all(map(is_number, self.choices))

    @property
    def wholes(self) -> Wholes | None:
        """Size and divisor of the choices, if all of them are whole numbers."""
        is_whole = all(type(choice) is int for choice in self.choices)
        return Wholes.of(*self.choices) if is_whole else None

    @property
    def is_exact(self) -> bool:
        """Whether float64 holds every number among the choices."""
        return all(map(fits_float64, self.choices))

    def check(self, value: Any) -> Any:
        """Return the choice as it was declared."""
        return deepcopy(self.choices[self._position(value)])

    def as_given(self, value: Any) -> Any:
        """Return the choice with the tuples that it was declared with."""
        return deepcopy(self._given[self._position(value)])

    def _position(self, value: Any) -> int:
        return position(self, self.choices, value)


@dataclass(frozen=True, eq=False)
class Categorical(Choice):
    """One of some values without an order.

    Two choices take one column, at -1 and 1. More take one column each, 1/sqrt(2) for the choice
    taken and -1/sqrt(2) for the others, so that any two choices are 2 apart; a point between them
    stands for the choice of its largest column.

    Parameters
    ----------
    name : str
    choices : sequence of JSON values
        At least two, all different; 1 and true differ, 1 and 1.0 do not.
    unit : str
    when : str, optional
        See `boring.parameters.base.Parameter`.

    Raises
    ------
    InvalidInputError
        If there are fewer than two choices, a choice twice, or one that JSON does not know.

    Examples
    --------
    >>> Categorical("kind", ["a", "b", None]).decode(np.array([[0.1, -0.3, 0.2]]))
    [None]
    """

    kind: ClassVar[str] = "categorical"

    __repr__ = fields_in_brief

    @property
    def n_columns(self) -> int:
        """One for two choices, else one for each choice."""
        return 1 if len(self.choices) == 2 else len(self.choices)

    @property
    def labels(self) -> tuple[str, ...]:
        """Name and choice; of two choices the second, which sits at 1."""
        shown = self.choices[1:] if len(self.choices) == 2 else self.choices
        return tuple(f"{self.name}={choice_text(value)}" for value in shown)

    def encode(self, values: Sequence[Any]) -> FloatArray:
        """Return the columns of checked values, shape (n, n_columns)."""
        indices = [self._position(value) for value in values]
        return self._place(np.array(indices, dtype=np.int64))

    def decode(self, U: FloatArray) -> list[Any]:
        """Return the nearest choices."""
        return [deepcopy(self.choices[int(k)]) for k in self._index(U)]

    def snap(self, U: FloatArray) -> FloatArray:
        """Return the columns of the nearest choices, shape (n, n_columns)."""
        return self._place(self._index(U))

    def neighbours(self, u: FloatArray) -> FloatArray:
        """Return the columns of all other choices."""
        taken = self._index(u[None, :])[0]
        return self._place(np.delete(np.arange(len(self.choices)), taken))

    def _index(self, U: FloatArray) -> IntArray:
        if self.n_columns == 1:
            return np.asarray(U[:, 0] > 0.0, dtype=np.int64)
        return np.asarray(np.argmax(U, axis=1), dtype=np.int64)

    def _place(self, index: IntArray) -> FloatArray:
        if self.n_columns == 1:
            return np.asarray(2.0 * index - 1.0)[:, None]
        return np.asarray(np.where(np.arange(self.n_columns) == index[:, None], MARK, -MARK))


@dataclass(frozen=True, eq=False)
class Fixed(Parameter):
    """A value of any JSON type that does not vary: part of every configuration, of no column.

    Parameters
    ----------
    name : str
    value : JSON value
    unit : str
    when : str, optional
        See `boring.parameters.base.Parameter`.
    """

    value: Any

    kind: ClassVar[str] = "fixed"
    _given: ClassVar[Any]

    __repr__ = fields_in_brief

    def __post_init__(self) -> None:
        """Check the value."""
        super().__post_init__()
        given, checked = self.value, check_json(self, self.value)
        object.__setattr__(self, "value", checked)
        object.__setattr__(self, "_given", with_tuples(checked, given))

    @property
    def n_columns(self) -> int:
        """None at all."""
        return 0

    @property
    def n_values(self) -> int:
        """One."""
        return 1

    @property
    def is_numeric(self) -> bool:
        """Whether the value is a number."""
        return is_number(self.value)

    @property
    def wholes(self) -> Wholes | None:
        """Size and divisor of the value, if it is a whole number."""
        return Wholes.of(self.value) if type(self.value) is int else None

    @property
    def is_exact(self) -> bool:
        """Whether float64 holds the value, if it is a number."""
        return fits_float64(self.value)

    def check(self, value: Any) -> Any:
        """Return the fixed value if this is it."""
        position(self, [self.value], value)
        return deepcopy(self.value)

    def as_given(self, value: Any) -> Any:
        """Return the value with the tuples that it was declared with."""
        position(self, [self.value], value)
        return deepcopy(self._given)

    def encode(self, values: Sequence[Any]) -> FloatArray:
        """Return no column, shape (n, 0)."""
        return np.empty((len(values), 0))

    def decode(self, U: FloatArray) -> list[Any]:
        """Return the value n times."""
        return [deepcopy(self.value) for _ in range(len(U))]
