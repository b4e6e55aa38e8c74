"""Real parameters, linear or logarithmic, continuous or in steps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from boring.parameters.base import IntArray, Parameter, as_number
from boring.parameters.steps import Steps
from boring.typing import FloatArray
from boring.validation import as_float

__all__ = ["Real"]

LOG_DIGITS = (10, 14)  # least and most significant decimal digits of a logarithmic value
LINEAR_DIGITS = 12  # decimal digits of a linear value, counted from the width of the range
MIN_DECADES = 3  # a continuous range must have at least 10^3 values that can be told apart
NEAR = 0.51  # of the spacing: what is as near as this to an end is the end
ON_A_STEP = 1e-6  # of a step: how far a given value may lie from the next step
ROUNDINGS = 4  # spacings of the largest bound by which a value may be off for rounding alone
LEAST_STEP = 4  # of these spacings: of shorter steps rounding leaves little


@dataclass(frozen=True, eq=False)
class Real(Parameter):
    """A real number between two bounds, one column.

    Values are decimal numbers of a fixed resolution (1e-11 to 1e-12 of a linear range, 10 to 14
    significant digits on a logarithmic scale), and the bounds themselves: that is what makes
    encoding and decoding exact inverses, in spite of rounding.

    Parameters
    ----------
    name : str
    low, high : float
        Both may be taken.
    log : bool, default False
        Whether equal ratios, not differences, are equal distances; needs ``low > 0``.
    step : float, optional
        Only ``low``, ``low + step``, ... up to ``high`` may be taken; not with ``log``.
    unit : str
    when : str, optional
        See `boring.parameters.base.Parameter`.

    Raises
    ------
    InvalidInputError
        If the bounds are not finite with ``low < high``, too near each other for double
        precision, or do not suit ``log`` or ``step``; if a step is shorter than four spacings of
        float64 at the bounds.

    Examples
    --------
    >>> gain = Real("gain", 0.1, 10, log=True, unit="dB")
    >>> gain.encode([0.1, 1.0, 10.0]).ravel().tolist()
    [-1.0, 0.0, 1.0]
    """

    low: float
    high: float
    log: bool = False
    step: float | None = None

    kind: ClassVar[str] = "real"

    def __post_init__(self) -> None:
        """Check bounds and set the resolution."""
        super().__post_init__()
        low, high = (as_float(as_number(getattr(self, end), self, end)) for end in ("low", "high"))
        object.__setattr__(self, "low", low + 0.0)
        object.__setattr__(self, "high", high + 0.0)
        if not isinstance(self.log, bool):
            self._refuse(f"log must be true or false; received {self.log!r}.")
        if not low < high or not math.isfinite(high - low):
            self._refuse(
                f"low must be less than high by a finite amount; received {low!r} and {high!r}. "
                "Swap them, use Fixed for a value that does not vary, or take a larger unit."
            )
        if self.log and low < np.finfo(float).tiny:
            self._refuse(
                f"a logarithmic scale needs low > 0 (at least 2.3e-308); received {low!r}. "
                "Raise low, or leave log out."
            )
        if self.step is not None:
            self._check_step()
        elif math.log10(high - low) + self._places_of(high) < MIN_DECADES:
            self._refuse(
                f"low = {low!r} and high = {high!r} are too near each other to be told apart "
                "after rounding. Shift or rescale the parameter so that its range is not tiny "
                "beside its bounds."
            )

    @property
    def n_columns(self) -> int:
        """One."""
        return 1

    @property
    def n_values(self) -> int | None:
        """None, or the number of steps."""
        return None if self.step is None else self._steps.count

    @property
    def rate(self) -> float:
        """Scaled units for one unit, or for one unit of the natural logarithm."""
        return 2.0 / self._length

    @property
    def resolution(self) -> float:
        """Largest distance of neighbouring values, scaled units."""
        if self.step is not None:
            return 0.0
        return float(self.rate * 10.0 ** -float(self._places - self.log))

    def check(self, value: Any) -> float:
        """Return the value at the parameter's resolution."""
        number = as_float(as_number(value, self, "the value"))
        slack = self._spacing * ROUNDINGS
        if isinstance(value, np.float32 | np.float16):  # a bound that was rounded to fewer digits
            slack = float(np.finfo(type(value)).eps) * max(abs(self.low), abs(self.high))
        if not self.low - slack <= number <= self.high + slack:
            self._refuse_value(
                f"the value must lie between {self.low!r} and {self.high!r}; received {number!r}."
            )
        if self.step is not None:
            index = (number - self.low) / self.step
            nearest = min(max(round(index), 0), self._steps.count - 1)
            if abs(index - nearest) > self._off_a_step:
                self._refuse_value(
                    f"the value must be {self.low!r} plus a multiple of {self.step!r}; received "
                    f"{number!r}. The nearest is {self._stepped(nearest)!r}."
                )
            return self._stepped(nearest)
        number = min(max(number, self.low), self.high)
        # Python's rounding ends on the same decimals as `rounded_to`, faster for one number.
        rounded = round(number, self._places if not self.log else self._places_of(number))
        for end, near in self._near_ends:
            if abs(rounded - end) <= near:
                return end
        return rounded + 0.0

    def encode(self, values: Sequence[Any]) -> FloatArray:
        """Return the columns of checked values, shape (n, 1)."""
        if self.step is not None:
            return self._steps.place([round((value - self.low) / self.step) for value in values])
        return self._place(np.array(values, dtype=np.float64))

    def decode(self, U: FloatArray) -> list[Any]:
        """Return the nearest values."""
        found: list[Any] = self.values(U).tolist()
        return found

    def values(self, U: FloatArray) -> FloatArray:
        """Return the nearest values, shape (n,)."""
        if self.step is not None:
            return np.array([self._stepped(int(k)) for k in self._steps.index(U)])
        fraction = 0.5 * (np.clip(U[:, 0], -1.0, 1.0) + 1.0)
        if self.log:
            start = math.log(self.low / self._origin)
            return self._canonical(self._origin * np.exp(start + self._length * fraction))
        return self._canonical(self.low * (1.0 - fraction) + self.high * fraction)

    def snap(self, U: FloatArray) -> FloatArray:
        """Return the nearest columns that stand for a value, shape (n, 1)."""
        return self._steps.snap(U) if self.step is not None else self._place(self.values(U))

    def neighbours(self, u: FloatArray) -> FloatArray:
        """Return the neighbouring steps; a continuous parameter has none."""
        return super().neighbours(u) if self.step is None else self._steps.neighbours(u)

    @property
    def _steps(self) -> Steps:
        return Steps(round((self.high - self.low) / (self.step or 1.0)) + 1)

    def _check_step(self) -> None:
        """Check the step and move ``high`` to the last value it reaches, as Optuna does."""
        step = as_float(as_number(self.step, self, "step"))
        object.__setattr__(self, "step", step)
        if self.log or not 0 < step * (1.0 - self._off_a_step) <= self.high - self.low:
            self._refuse(
                "step must be positive, at most high - low, and not be joined with log; received "
                f"step = {step!r}, log = {self.log}."
            )
        if step < LEAST_STEP * self._spacing:
            self._refuse(
                f"step = {step!r} is too short beside the bounds {self.low!r} and {self.high!r}, "
                f"where float64 has a number every {self._spacing:.2g}. Count from another "
                "origin, or take a longer step."
            )
        object.__setattr__(self, "low", self._stepped(0))
        count = math.floor((self.high - self.low) / step + self._off_a_step)
        Steps.check(count + 1, self)
        object.__setattr__(self, "high", self._stepped(count))

    @property
    def _spacing(self) -> float:
        """Distance of the float64 numbers beside the larger bound."""
        return float(np.spacing(max(abs(self.low), abs(self.high))))

    @property
    def _off_a_step(self) -> float:
        """How far a given value may lie from the next step, in steps: far from zero, further."""
        step = self.step or 1.0
        return ON_A_STEP + min(ROUNDINGS * self._spacing / step, 0.25)

    def _stepped(self, index: int) -> float:
        step = self.step or 1.0
        return round(self.low + index * step, LINEAR_DIGITS - math.floor(math.log10(step))) + 0.0

    @cached_property
    def _origin(self) -> float:
        """What a logarithmic scale counts ratios from: low, unless the ratios overflow."""
        return self.low if math.isfinite(self.high / self.low) else 1.0

    @cached_property
    def _length(self) -> float:
        if not self.log:
            return self.high - self.low
        return math.log(self.high / self._origin) - math.log(self.low / self._origin)

    @cached_property
    def _places(self) -> int:
        """Decimals of a linear value; significant digits of a logarithmic one."""
        if self.log:
            digits = math.ceil(12 + math.log10(self.rate))
            return min(max(digits, LOG_DIGITS[0]), LOG_DIGITS[1])
        width = LINEAR_DIGITS - math.ceil(math.log10(self.high - self.low))
        precision = 16.0 * float(np.spacing(max(abs(self.low), abs(self.high))))
        return min(width, -math.ceil(math.log10(precision)))

    def _places_of(self, value: float) -> int:
        return self._places - 1 - math.floor(math.log10(value)) if self.log else self._places

    @cached_property
    def _near_ends(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Either end, and how near to it a value is the end."""
        low, high = (
            (end, NEAR * 10.0 ** -float(self._places_of(end))) for end in (self.low, self.high)
        )
        return low, high

    def _place(self, values: FloatArray) -> FloatArray:
        if self.log:
            start = math.log(self.low / self._origin)
            fraction = (np.log(values / self._origin) - start) / self._length
        else:
            fraction = (values - self.low) / self._length
        U = 2.0 * fraction - 1.0
        # The ends must be exact.
        U = np.where(values <= self.low, -1.0, np.where(values >= self.high, 1.0, U))
        return np.asarray(U)[:, None] + 0.0

    def _canonical(self, values: FloatArray) -> FloatArray:
        inside = np.clip(values, self.low, self.high)
        places = np.full(len(inside), self._places, dtype=np.int64)
        if self.log:
            places -= 1 + np.floor(np.log10(inside)).astype(np.int64)
        rounded = rounded_to(inside, places)
        for end, near in self._near_ends:
            rounded = np.where(np.abs(rounded - end) <= near, end, rounded)
        return np.clip(rounded, self.low, self.high) + 0.0


def rounded_to(values: FloatArray, decimals: IntArray) -> FloatArray:
    """Return values rounded to so many decimals, each the double next to that decimal number.

    Powers of ten up to 1e22 are exact in double precision, hence one multiplication and one
    division give the correctly rounded decimal; beyond that Python's own rounding does.
    """
    power = 10.0 ** np.clip(np.abs(decimals), 0, 22).astype(np.float64)
    down = decimals < 0
    with np.errstate(over="ignore"):
        scaled = np.rint(np.where(down, values / power, values * power))
        rounded = np.where(down, scaled * power, scaled / power)
    hard = np.flatnonzero((np.abs(decimals) > 22) | (np.abs(scaled) >= 2.0**53))
    for i in hard:
        rounded[i] = round(float(values[i]), int(decimals[i]))
    return np.asarray(rounded)
