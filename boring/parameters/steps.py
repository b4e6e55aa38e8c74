"""A number of evenly spaced places on one column, ends included.

The first value sits at -1, the last at 1: so equal steps are equal distances for a kernel, both
ends can be reached, and an integer has the same distances as a real parameter with its bounds.
Snapping goes to the nearest place; a uniform draw therefore gives either end half the share of a
value between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from boring.typing import FloatArray

if TYPE_CHECKING:
    from boring.parameters.base import Parameter

__all__ = ["MAX_COUNT", "SHARES", "WIDE", "Steps", "strides"]

MAX_COUNT = 2**45  # beyond, neighbouring places are hardly apart in double precision
WIDE = 20  # with more values than this, neighbours also lie further off
SHARES = (100, 10)  # long strides: the range divided by these


@dataclass(frozen=True)
class Steps:
    """``count`` places from -1 to 1."""

    count: int

    @staticmethod
    def check(count: int, parameter: Parameter) -> None:
        """Refuse more places than double precision tells apart."""
        if count > MAX_COUNT:
            parameter._refuse(
                f"it has {count} values; at most 2**45 can be told apart. Use Real and round "
                "its value."
            )

    def place(self, index: Sequence[int]) -> FloatArray:
        """Return the columns of indices 0 to count - 1, shape (n, 1)."""
        k = np.array(index, dtype=np.float64)
        return np.asarray(2.0 * (k / max(self.count - 1, 1)) - 1.0)[:, None] + 0.0

    def index(self, U: FloatArray) -> FloatArray:
        """Return the nearest indices, whole numbers of shape (n,)."""
        fraction = 0.5 * (np.clip(U[:, 0], -1.0, 1.0) + 1.0)
        return np.asarray(np.rint(fraction * (self.count - 1)))

    def snap(self, U: FloatArray) -> FloatArray:
        """Return the nearest places, shape (n, 1)."""
        return self.place(self.index(U))  # type: ignore[arg-type]

    def neighbours(self, u: FloatArray) -> FloatArray:
        """Return the places one step away, and further off if there are many, shape (k, 1)."""
        k = int(self.index(u[None, :])[0])
        near = {k + sign * stride for stride in strides(self.count) for sign in (-1, 1)}
        return self.place(sorted(i for i in near if 0 <= i < self.count))


def strides(count: int) -> list[int]:
    """Return how far neighbours lie off: one, and shares of a wide range."""
    wide = [round((count - 1) / share) for share in SHARES] if count > WIDE else []
    return sorted({1, *(stride for stride in wide if stride > 1)})
