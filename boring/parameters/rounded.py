"""Numbers, and how far rounding may have moved them: 0.1 + 0.2 is 0.3.

Every number goes with a size: it differs from the one that is meant by half a float64 epsilon of
its size at most. Whole numbers have the size 0, they are exact; of a decimal number it is the
number itself, and arithmetic passes sizes on as it does small changes, and adds the result's own
(running error analysis: Higham 2002, Accuracy and Stability of Numerical Algorithms, section 3.3).
A sum or difference that rounding explains is zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from boring.typing import BoolArray, FloatArray

__all__ = ["Rounded"]

ROUNDING = float(np.finfo(float).eps)  # of the size: twice the bound (chosen here)
LARGEST_WHOLE = 2.0**53  # float64 rounds larger whole numbers


@dataclass(frozen=True)
class Rounded:
    """Numbers and their sizes.

    Parameters
    ----------
    value : ndarray
    size : ndarray
        Of the same shape.

    Examples
    --------
    >>> float((Rounded.of(0.1) + Rounded.of(0.2) - Rounded.of(0.3)).value)
    0.0
    """

    value: FloatArray
    size: FloatArray

    @classmethod
    def of(cls, value: Any) -> Rounded:
        """Return given numbers."""
        value = np.asarray(value, dtype=np.float64)
        return cls(value, np.where(_is_whole(value), 0.0, np.abs(value)))

    @classmethod
    def sums(cls, X: FloatArray, A: FloatArray) -> Rounded:
        """Return ``X @ A.T``, shape (n, m), for X of shape (n, D) and A of shape (m, D)."""
        used = (A != 0.0).astype(np.float64)
        is_rounded = ~_is_whole(A).all(axis=1) | ((~_is_whole(X)) @ used.T > 0.0)
        terms = (1.0 + used.sum(axis=1)) * (np.abs(X) @ np.abs(A).T)
        return cls(X @ A.T, np.where(is_rounded, terms, 0.0))

    def __pos__(self) -> Rounded:
        """Return the same."""
        return self

    def __neg__(self) -> Rounded:
        """Return the numbers with the other sign."""
        return Rounded(-self.value, self.size)

    def __abs__(self) -> Rounded:
        """Return the absolute values."""
        return Rounded(np.abs(self.value), self.size)

    def __add__(self, other: Rounded) -> Rounded:
        """Return the sums; what rounding has left of 0 is 0."""
        value = self.value + other.value
        size = _size(value, self.size + other.size)
        is_nothing = (np.abs(value) <= ROUNDING * size) & np.isfinite(size)
        return Rounded(np.where(is_nothing, 0.0, value), np.where(is_nothing, 0.0, size))

    def __sub__(self, other: Rounded) -> Rounded:
        """Return the differences; what rounding has left of 0 is 0."""
        return self + -other

    def __mul__(self, other: Rounded) -> Rounded:
        """Return the products."""
        value = self.value * other.value
        return _made(value, (self, other.value), (other, self.value))

    def __truediv__(self, other: Rounded) -> Rounded:
        """Return the quotients."""
        value = self.value / other.value
        return _made(value, (self, 1.0 / other.value), (other, value / other.value))

    def __pow__(self, other: Rounded) -> Rounded:
        """Return the powers."""
        value = self.value**other.value
        slope = other.value * self.value ** (other.value - 1.0)
        return _made(value, (self, slope), (other, value * np.log(np.abs(self.value))))

    def exp(self) -> Rounded:
        """Return the exponentials."""
        value = np.exp(self.value)
        return _made(value, (self, value))

    def log(self) -> Rounded:
        """Return the natural logarithms."""
        return _made(np.log(self.value), (self, 1.0 / self.value))

    def sqrt(self) -> Rounded:
        """Return the square roots."""
        value = np.sqrt(self.value)
        return _made(value, (self, 0.5 / value))


def _made(value: FloatArray, *parts: tuple[Rounded, FloatArray]) -> Rounded:
    """Return computed numbers, given what they were made of and their slopes in it."""
    size = np.zeros(())
    for part, slope in parts:
        passed = np.abs(slope) * part.size
        size = size + np.where(np.isnan(passed), 0.0, passed)  # nothing times an infinite slope
    return Rounded(value, _size(value, size))


def _size(value: FloatArray, passed_on: FloatArray) -> FloatArray:
    """Return the size of results; whole ones of exact numbers are exact."""
    is_exact = (passed_on == 0.0) & _is_whole(value) & (np.abs(value) <= LARGEST_WHOLE)
    return np.asarray(np.where(is_exact, 0.0, passed_on + np.abs(value)))


def _is_whole(value: FloatArray) -> BoolArray:
    return np.asarray(value == np.rint(value))
