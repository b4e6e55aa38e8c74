"""How many digits of a number are to be shown beside others."""

from __future__ import annotations

import math

__all__ = ["digits_among"]

MOST = 17
"""Digits that tell any two float64 apart."""


def digits_among(value: float, spread: float | None, least: int) -> int:
    """Return how many digits a number needs among others.

    Parameters
    ----------
    value : float
    spread : float, optional
        How far the others lie apart, such as the width of their range; None if it is not known.
    least : int
        Digits that do for numbers as large as their spread.

    Returns
    -------
    int
        More where the numbers are larger than their spread: as many as their first digits, which
        tell nothing apart, take.

    Examples
    --------
    >>> digits_among(499.6543e6, 1e3, 6), digits_among(3.2, 10.0, 6)
    (12, 6)
    """
    if spread is None or not 0.0 < spread < math.inf or not 0.0 < abs(value) < math.inf:
        return least
    common = round(math.log10(abs(value)) - math.log10(spread))
    return min(least + max(0, common), MOST)
