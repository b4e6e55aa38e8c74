"""Which sums of whole numbers float64 holds: constraints are computed in it."""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = ["Wholes"]


@dataclass(frozen=True)
class Wholes:
    """Whole numbers up to a size, multiples of one that divides all of them.

    Parameters
    ----------
    largest : int
        Regardless of the sign.
    divisor : int

    Examples
    --------
    >>> (Wholes.of(0, 2**52) + Wholes.of(1)).is_exact, (Wholes.of(3) * Wholes.of(2**52)).is_exact
    (True, True)
    >>> (Wholes.of(0, 3) * Wholes.of(2**52 + 1)).is_exact
    False
    """

    largest: int
    divisor: int

    @classmethod
    def of(cls, *values: int) -> Wholes:
        """Return what these values are."""
        return cls(max(map(abs, values)), math.gcd(*values))

    @property
    def is_exact(self) -> bool:
        """Whether float64 holds them all: up to 2**53 times a power of two that divides all."""
        return self.largest <= 2**53 * (self.divisor & -self.divisor)

    def __add__(self, other: Wholes) -> Wholes:
        """Return what sums and differences are."""
        return Wholes(self.largest + other.largest, math.gcd(self.divisor, other.divisor))

    def __mul__(self, other: Wholes) -> Wholes:
        """Return what products are."""
        return Wholes(self.largest * other.largest, self.divisor * other.divisor)
