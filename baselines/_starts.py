"""Starts of fits, for the baselines that take two of them."""

from __future__ import annotations

import numpy as np

from boring.typing import FloatArray

__all__ = ["shortened"]

SHORT_START = 0.3
"""Lengthscales of the second start of a fit, relative to those of the first (chosen here)."""


def shortened(start: FloatArray) -> FloatArray:
    """Return a start with shorter lengthscales.

    Parameters
    ----------
    start : ndarray
        Log signal variance, log lengthscales, log noise variance.
    """
    short = start.copy()
    short[1:-1] += np.log(SHORT_START)
    return short
