"""Type aliases shared by every module of the library."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["BoolArray", "Direction", "FloatArray", "OnError", "SeedLike"]

FloatArray: TypeAlias = NDArray[np.float64]
"""Array of float64; every docstring states its shape."""

BoolArray: TypeAlias = NDArray[np.bool_]
"""Array of booleans, used for masks."""

Direction: TypeAlias = Literal["minimize", "maximize"]
"""What the caller wants done with the objective."""

SeedLike: TypeAlias = int | np.random.SeedSequence | None
"""A seed: an integer, a seed sequence, or None for fresh entropy of the operating system."""

OnError: TypeAlias = Literal["raise", "record"]
"""What a run does when the objective raises."""
