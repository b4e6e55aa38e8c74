"""Parameters whose values have an order: integers and ordinals. One column each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from boring._brief import fields_in_brief, in_brief
from boring.parameters.base import Parameter, as_number
from boring.parameters.choices import Choice
from boring.parameters.steps import SHARES, WIDE, Steps
from boring.parameters.wholes import Wholes
from boring.typing import FloatArray
from boring.validation import as_float

__all__ = ["Integer", "Ordinal"]


@dataclass(frozen=True, eq=False)
class Integer(Parameter):
    """A whole number between two bounds, one column; places as in `boring.parameters.steps`.

    Parameters
    ----------
    name : str
    low, high : int
        Both may be taken.
    log : bool, default False
        Whether equal ratios are equal distances; needs ``low >= 1``.
    step : int, default 1
        Only ``low``, ``low + step``, ... up to ``high`` may be taken; not with ``log``.
    unit : str
    when : str, optional
        See `boring.parameters.base.Parameter`.

    Raises
    ------
    InvalidInputError
        If the bounds are not whole numbers with ``low < high``, leave more than 2**45 values, or
        do not suit ``log`` or ``step``.

    Examples
    --------
    >>> Integer("layers", 1, 8).decode(np.array([[-1.0], [0.2]]))
    [1, 5]
    """

    low: int
    high: int
    log: bool = False
    step: int = 1

    kind: ClassVar[str] = "integer"

    def __post_init__(self) -> None:
        """Check bounds, and move ``high`` to the last value that the steps reach."""
        super().__post_init__()
        for attribute in ("low", "high", "step"):
            object.__setattr__(self, attribute, self._whole(getattr(self, attribute), attribute))
        if not isinstance(self.log, bool):
            self._refuse(f"log must be true or false; received {self.log!r}.")
        if not self.low < self.high:
            self._refuse(
                f"low must be less than high; received {self.low} and {self.high}. Swap them, or "
                "use Fixed for a value that does not vary."
            )
        if not all(math.isfinite(as_float(bound)) for bound in (self.low, self.high)):
            self._refuse(
                f"bounds must lie within float64, 1.8e308; received {in_brief(self.low)} and "
                f"{in_brief(self.high)}. Count from another origin."
            )
        if self.log and self.low < 1:
            self._refuse(
                f"a logarithmic scale needs low >= 1; received {self.low}. Raise low, or leave "
                "log out."
            )
        if not 1 <= self.step <= self.high - self.low or (self.log and self.step != 1):
            self._refuse(
                "step must be at least 1, at most high - low, and not be joined with log; "
                f"received step = {self.step}, log = {self.log}."
            )
        object.__setattr__(self, "high", self.high - (self.high - self.low) % self.step)
        # On a logarithmic scale the largest values lie closest: the bound is on them.
        Steps.check(self.high if self.log else self.n_values, self)

    @property
    def n_columns(self) -> int:
        """One."""
        return 1

    @property
    def n_values(self) -> int:
        """Number of values."""
        return (self.high - self.low) // self.step + 1

    @property
    def wholes(self) -> Wholes:
        """Size and divisor of its values."""
        return Wholes.of(self.low, self.low + self.step, self.high)

    @property
    def is_exact(self) -> bool:
        """Whether float64 holds every value."""
        return self.wholes.is_exact

    def check(self, value: Any) -> int:
        """Return the value as an int; 3.0 is taken for 3."""
        number = self._whole(value, "the value")
        if not self.low <= number <= self.high or (number - self.low) % self.step:
            steps = "" if self.step == 1 else f" in steps of {self.step}"
            self._refuse_value(
                f"the value must lie between {self.low} and {self.high}{steps}; received {number}."
            )
        return number

    def encode(self, values: Sequence[Any]) -> FloatArray:
        """Return the columns of checked values, shape (n, 1)."""
        if not self.log:
            return self._steps.place([(value - self.low) // self.step for value in values])
        return self._place(np.array(values, dtype=np.float64))

    def decode(self, U: FloatArray) -> list[Any]:
        """Return the nearest values."""
        if not self.log:
            return [self.low + self.step * int(k) for k in self._steps.index(U)]
        return [int(value) for value in self._nearest(U)]

    def snap(self, U: FloatArray) -> FloatArray:
        """Return the nearest columns that stand for a value, shape (n, 1)."""
        return self._place(self._nearest(U)) if self.log else self._steps.snap(U)

    def _nearest(self, U: FloatArray) -> FloatArray:
        """Return the values nearest on the logarithmic scale, whole numbers of shape (n,)."""
        u = np.clip(U[:, :1], -1.0, 1.0)
        low, high = math.log(self.low), math.log(self.high)
        raw = np.exp(low + 0.5 * (u[:, 0] + 1.0) * (high - low))
        below = np.clip(np.floor(raw), self.low, self.high)
        pair = np.stack([below, np.minimum(below + 1.0, self.high)], axis=1)
        far = np.abs(np.stack([self._place(column)[:, 0] for column in pair.T], axis=1) - u)
        return np.where(far[:, 0] <= far[:, 1], pair[:, 0], pair[:, 1])

    def neighbours(self, u: FloatArray) -> FloatArray:
        """Return the columns of neighbouring values, shape (k, 1)."""
        if not self.log:
            return self._steps.neighbours(u)
        value = self.decode(u[None, :])[0]
        # Long strides of a logarithmic scale are factors: the shares of its length.
        length = math.log(self.high / self.low)
        factors = [math.exp(length / share) for share in SHARES]
        near = {value - 1, value + 1}
        if self.n_values > WIDE:
            near |= {round(value * f) for f in factors} | {round(value / f) for f in factors}
        return self.encode(sorted(v for v in near if self.low <= v <= self.high and v != value))

    @property
    def _steps(self) -> Steps:
        return Steps(self.n_values)

    def _place(self, values: FloatArray) -> FloatArray:
        low, high = math.log(self.low), math.log(self.high)
        U = 2.0 * ((np.log(values) - low) / (high - low)) - 1.0
        U = np.where(values <= self.low, -1.0, np.where(values >= self.high, 1.0, U))
        return U[:, None] + 0.0

    def _whole(self, value: Any, what: str) -> int:
        number = as_number(value, self, what)
        if number != int(number):
            self._refuse_value(f"{what} must be a whole number; received {value!r}.")
        return int(number)


@dataclass(frozen=True, eq=False)
class Ordinal(Choice):
    """One of some ordered values, evenly spaced on one column whatever they are.

    Parameters
    ----------
    name : str
    choices : sequence of JSON values
        At least two, all different, in their order.
    unit : str
    when : str, optional
        See `boring.parameters.base.Parameter`.

    Raises
    ------
    InvalidInputError
        If there are fewer than two values, a value twice, or one that JSON does not know.

    Examples
    --------
    >>> Ordinal("size", ["small", "medium", "large"]).encode(["large"]).tolist()
    [[1.0]]
    """

    kind: ClassVar[str] = "ordinal"

    __repr__ = fields_in_brief

    @property
    def n_columns(self) -> int:
        """One."""
        return 1

    def encode(self, values: Sequence[Any]) -> FloatArray:
        """Return the columns of checked values, shape (n, 1)."""
        return Steps(self.n_values).place([self._position(value) for value in values])

    def decode(self, U: FloatArray) -> list[Any]:
        """Return the nearest values."""
        return [deepcopy(self.choices[int(k)]) for k in Steps(self.n_values).index(U)]

    def snap(self, U: FloatArray) -> FloatArray:
        """Return the nearest places, shape (n, 1)."""
        return Steps(self.n_values).snap(U)

    def neighbours(self, u: FloatArray) -> FloatArray:
        """Return the places one step away, shape (k, 1)."""
        return Steps(self.n_values).neighbours(u)
