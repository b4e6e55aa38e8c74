"""Observations: the data that models are fitted to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist

from ._brief import fields_in_brief
from .typing import BoolArray, FloatArray
from .validation import as_constraints, as_points, as_values

__all__ = ["Observations", "total_violation"]


def total_violation(constraints: FloatArray) -> FloatArray:
    """Return how far points are from satisfying their constraints.

    Parameters
    ----------
    constraints : ndarray, shape (n, m)
        Each satisfied where it is <= 0.

    Returns
    -------
    ndarray, shape (n,)
        Sum of the positive parts, each in units of its constraint's median positive value, so
        that the units of the constraints do not matter; 0 where all hold, infinite where a value
        is NaN or infinite.
    """
    total = np.zeros(len(constraints))
    for column in constraints.T:
        excess = np.where(np.isnan(column), np.inf, np.maximum(column, 0.0))
        positive = excess[np.isfinite(excess) & (excess > 0)]
        unit = float(np.median(positive * 0.5)) * 2.0 if positive.size else 1.0
        with np.errstate(over="ignore"):
            total += excess / (unit if np.isfinite(unit) and unit > 0 else 1.0)
    return total


@dataclass(frozen=True, eq=False)
class Observations:
    """Points and values; immutable, and extended by making a new object.

    Parameters
    ----------
    X : ndarray, shape (n, D), scaled units
        Evaluated points.
    y : ndarray, shape (n,), units of the objective, larger is better
        Values; NaN and infinities are kept and masked.
    constraints : ndarray, shape (n, m), optional
        Values of m black-box constraints, each satisfied where it is <= 0; NaN where a value is
        not known. None stands for no constraints, m = 0.

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
    constraints: FloatArray = None  # type: ignore[assignment]

    __repr__ = fields_in_brief

    def __post_init__(self) -> None:
        """Copy, check and freeze the arrays."""
        shape = np.shape(self.X)
        points = as_points(self.X, shape[-1] if len(shape) == 2 else 1, "X")
        values = as_values(self.y, points.shape[0], "y")
        given: Any = self.constraints
        n_constraints = 0 if given is None else int((np.shape(given) or (1,))[-1])
        constraints = as_constraints(given, points.shape[0], n_constraints)
        constraints.flags.writeable = False
        object.__setattr__(self, "constraints", constraints)
        points.flags.writeable = False
        values.flags.writeable = False
        object.__setattr__(self, "X", points)
        object.__setattr__(self, "y", values)

    @classmethod
    def empty(cls, dim: int, n_constraints: int = 0) -> Observations:
        """Return no observations of a D-dimensional space with m constraints."""
        return cls(np.empty((0, dim)), np.empty(0), np.empty((0, n_constraints)))

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
    def n_constraints(self) -> int:
        """Number of black-box constraints m."""
        return int(self.constraints.shape[1])

    @property
    def feasible(self) -> BoolArray:
        """Mask of points with a finite value at which every constraint is satisfied, (n,)."""
        return np.asarray(self.finite & np.all(self.constraints <= 0, axis=1))

    @property
    def violation(self) -> FloatArray:
        """How far each point is from satisfying its constraints; see `total_violation`."""
        return total_violation(self.constraints)

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
        distances = cdist(self.X[bad], self.X)
        distances[np.arange(bad.size), bad] = np.inf
        failing = bad[~self.finite[distances.argmin(axis=1)]]
        return np.asarray(self.X[failing], dtype=np.float64)

    @property
    def is_informative(self) -> bool:
        """Whether there are two different finite values, hence something to fit."""
        values = self.finite_y
        return bool(values.size >= 2 and values.max() > values.min())

    def penalized(self) -> Observations:
        """Return the same points with values that no infeasible point can win by.

        For optimisers that do not weigh the probability of feasibility. A point that violates a
        constraint gets the worst value of the feasible ones, unless its own is worse still; as
        long as none is feasible, every point with known constraints gets minus its violation
        (`total_violation`), so that the search goes where constraints may come to hold.

        Returns
        -------
        Observations
            These very observations where there are no constraints.
        """
        if not self.n_constraints:
            return self
        feasible = self.feasible
        if feasible.any():
            values = np.where(feasible, self.y, np.minimum(self.y, self.y[feasible].min()))
        else:
            values = np.where(np.isfinite(self.violation), -self.violation, np.nan)
        return Observations(self.X, values, self.constraints)

    def append(
        self, X: ArrayLike, y: ArrayLike, constraints: ArrayLike | None = None
    ) -> Observations:
        """Return these observations and more.

        Parameters
        ----------
        X : array_like, shape (m, D) or (D,), scaled units
        y : array_like, shape (m,), or scalar for one point
        constraints : array_like, shape (m, n_constraints), optional
            NaN, not known, if left out.

        Returns
        -------
        Observations
            A new object; this one is unchanged.
        """
        points = as_points(X, self.dim, "X")
        values = as_values(y, points.shape[0], "y")
        more = as_constraints(constraints, points.shape[0], self.n_constraints)
        return Observations(
            np.vstack([self.X, points]),
            np.concatenate([self.y, values]),
            np.vstack([self.constraints, more]),
        )

    def __len__(self) -> int:
        """Return the number of observations n, the masked ones included."""
        return int(self.y.size)
