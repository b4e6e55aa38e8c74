"""How far values lie apart, also where their squares are beyond the floats."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["mean_and_spread", "root_mean_square"]


def root_mean_square(values: ArrayLike) -> float:
    """Return the root of the mean square of finite values.

    Examples
    --------
    >>> root_mean_square([3e200, -3e200])
    3e+200
    """
    array = np.asarray(values, dtype=np.float64)
    largest = float(np.max(np.abs(array), initial=0.0))
    if not largest:
        return 0.0
    return largest * float(np.sqrt(np.mean((array / largest) ** 2)))


def mean_and_spread(values: ArrayLike) -> tuple[float, float]:
    """Return mean and standard deviation of finite values.

    Examples
    --------
    >>> mean_and_spread([-1e300, 1e300])
    (0.0, 1e+300)
    """
    array = np.asarray(values, dtype=np.float64)
    largest = float(np.max(np.abs(array), initial=0.0)) or 1.0
    center = float(np.mean(array / largest))
    return center * largest, root_mean_square(array / largest - center) * largest
