"""Observations: the data that models are fitted to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .typing import BoolArray, FloatArray
from .validation import as_points, as_values

__all__ = ["Observations"]


@dataclass(frozen=True, eq=False)
class Observations:
    """Points and values; immutable, and extended by making a new object.

    Parameters
    ----------
    X : ndarray, shape (n, D), scaled units
        Evaluated points.
    y : ndarray, shape (n,), units of the objective, larger is better
        Values; NaN and infinities are kept and masked.

    Raises
    ------
    InvalidInputError
        If the shapes disagree, or a coordinate is not finite.

    Examples
    --------
    >>> data = Observations.empty(2).append([0.0, 0.5], 1.0).append([0.1, 0.2], float("nan"))
    >>> len(data), data.finite_y
    (2, array([1.]))
    """

    X: FloatArray
    y: FloatArray

    def __post_init__(self) -> None:
        """Copy, check and freeze the arrays."""
        shape = np.shape(self.X)
        points = as_points(self.X, shape[-1] if len(shape) == 2 else 1, "X")
        values = as_values(self.y, points.shape[0], "y")
        points.flags.writeable = False
        values.flags.writeable = False
        object.__setattr__(self, "X", points)
        object.__setattr__(self, "y", values)

    @classmethod
    def empty(cls, dim: int) -> Observations:
        """Return no observations of a D-dimensional space."""
        return cls(np.empty((0, dim)), np.empty(0))

    @property
    def dim(self) -> int:
        """Number of coordinates D."""
        return int(self.X.shape[1])

    @property
    def finite(self) -> BoolArray:
        """Mask of the finite values, shape (n,)."""
        return np.isfinite(self.y)

    @property
    def finite_X(self) -> FloatArray:
        """Points whose value is finite, shape (m, D)."""
        return self.X[self.finite]

    @property
    def finite_y(self) -> FloatArray:
        """The finite values, shape (m,)."""
        return self.y[self.finite]

    @property
    def failed_X(self) -> FloatArray:
        """Points without a finite value, shape (n - m, D)."""
        return self.X[~self.finite]

    @property
    def failing_X(self) -> FloatArray:
        """Failed points whose nearest other point failed too, shape (k, D).

        One failure may be an accident, and the model's best point deserves a second try next
        to it; two neighbours show a region in which to look for nothing. A later success
        nearby takes it back.
        """
        bad = np.flatnonzero(~self.finite)
        if len(self) < 2 or not bad.size:
            return self.X[:0]
        distances = np.linalg.norm(self.X[bad, None, :] - self.X, axis=2)
        distances[np.arange(bad.size), bad] = np.inf
        failing = bad[~self.finite[distances.argmin(axis=1)]]
        return np.asarray(self.X[failing], dtype=np.float64)

    @property
    def is_informative(self) -> bool:
        """Whether there are two different finite values, hence something to fit."""
        values = self.finite_y
        return bool(values.size >= 2 and values.max() > values.min())

    def append(self, X: ArrayLike, y: ArrayLike) -> Observations:
        """Return these observations and more.

        Parameters
        ----------
        X : array_like, shape (m, D) or (D,), scaled units
        y : array_like, shape (m,), or scalar for one point

        Returns
        -------
        Observations
            A new object; this one is unchanged.
        """
        points = as_points(X, self.dim, "X")
        values = as_values(y, points.shape[0], "y")
        return Observations(np.vstack([self.X, points]), np.concatenate([self.y, values]))

    def __len__(self) -> int:
        """Return the number of observations n, the masked ones included."""
        return int(self.y.size)
