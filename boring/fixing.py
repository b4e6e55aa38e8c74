"""The part of a domain in which some columns have one value."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from .domain import SAME, Domain, Lattice
from .typing import BoolArray, FloatArray

__all__ = ["FixedDomain"]


class _FixedLattice(Lattice):
    """Puts columns to their values, then does as the lattice of the whole domain does."""

    def __init__(self, whole: Domain, columns: Mapping[int, float]) -> None:
        self._whole = whole
        self._columns = np.array(list(columns), dtype=np.intp)
        self._values = np.array(list(columns.values()), dtype=np.float64)

    def snap(self, U: FloatArray) -> FloatArray:
        """Return the nearest points of the part, shape (n, D)."""
        points = np.array(U, dtype=np.float64)
        points[:, self._columns] = self._values
        return self._whole.snap(points)

    def neighbours(self, u: FloatArray) -> FloatArray:
        """Return the steps of the whole domain that stay in the part, shape (k, D)."""
        points = self._whole.neighbours(u)
        stays = np.all(self.snap(points) == points, axis=1) if len(points) else np.empty(0, bool)
        return points[stays]


class FixedDomain(Domain):
    """A domain with some columns fixed.

    Parameters
    ----------
    whole : Domain
    columns : mapping of int to float
        From the numbers of columns to their values, scaled units and on the lattice. Where the
        whole domain takes a column for inactive, it stays so.

    Examples
    --------
    >>> FixedDomain(Domain(3), {1: 0.5}).snap([[0.0, 0.0, 1.0]])
    array([[0. , 0.5, 1. ]])
    """

    def __init__(self, whole: Domain, columns: Mapping[int, float]) -> None:
        super().__init__(whole.dim, _FixedLattice(whole, columns), whole.constraints)
        fixed = list(columns)
        self._resolution = whole.resolution.copy()
        # A fixed value is a rounded one: what is rounded to another is more than half a step off.
        self._resolution[fixed] = np.maximum(SAME, 0.5 * self._resolution[fixed])
        self._resolution.flags.writeable = False
        self._mask: BoolArray = whole.discrete.copy()
        self._mask[fixed] = True
        self._mask.flags.writeable = False

    @property
    def resolution(self) -> FloatArray:
        """How far coordinates may differ that are the same, shape (D,)."""
        return self._resolution

    @property
    def discrete(self) -> BoolArray:
        """Mask of the columns that cannot vary continuously, shape (D,)."""
        return self._mask
