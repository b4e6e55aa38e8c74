"""The path of a rover between obstacles."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.interpolate import BSpline

from boring.space import Box
from boring.typing import FloatArray

from .base import TestProblem, WithoutGradient

__all__ = ["Rover", "rover"]

N_POINTS = 30
"""Points of the plane that shape the path (Wang et al. 2018): D = 60."""

START = (0.05, 0.05)
GOAL = (0.95, 0.95)

OFFSET = 5.0
DEVIATION_COST = 10.0
"""Reward of a path that costs nothing, and cost by unit of distance from start and goal, in the sum
norm (Wang et al. 2018)."""

COLLISION_COST = 20.0
"""By unit of length inside an obstacle (Wang et al. 2018)."""

TRAVEL_COST = 0.05
"""By unit of length anywhere (chosen here): of two free paths the shorter is better."""

OBSTACLE_SIDE = 0.12
OBSTACLES = (
    (0.20, 0.14),
    (0.08, 0.28),
    (0.30, 0.30),
    (0.44, 0.12),
    (0.24, 0.48),
    (0.42, 0.44),
    (0.58, 0.28),
    (0.70, 0.08),
    (0.06, 0.62),
    (0.34, 0.66),
    (0.54, 0.58),
    (0.72, 0.46),
    (0.84, 0.26),
    (0.70, 0.74),
    (0.50, 0.82),
)
"""Lower left corners of 15 squares (chosen here; the source gives a picture only)."""

N_SEGMENTS = 1000
"""Straight pieces along which the cost is added up (chosen here)."""

BATCH = 256
"""Paths evaluated at a time, to bound the memory."""

_DEGREE = 3


@dataclass(frozen=True)
class Rover(WithoutGradient):
    """Reward of a path: ``5 - integral of the cost - 10 (|p_1 - s|_1 + |p_30 - g|_1)``.

    The argument is (p_1, ..., p_30), each a point of the unit square. The cost is a step function
    of the place, so the reward has jumps where a path touches an obstacle.
    """

    def value(self, X: FloatArray) -> FloatArray:
        """Return the rewards, shape (n,)."""
        starts = range(0, len(X), BATCH)
        parts = [self._value(X[start : start + BATCH]) for start in starts]
        return np.concatenate([np.empty(0), *parts])

    @staticmethod
    def path(X: FloatArray) -> FloatArray:
        """Return points along the paths, shape (n, 1001, 2), start and end included."""
        points = X.reshape(len(X), N_POINTS, 2)
        # One product a path, so that its value does not depend on its company.
        return np.array([_spline_weights() @ p for p in points]).reshape(len(X), -1, 2)

    def _value(self, X: FloatArray) -> FloatArray:
        path = self.path(X)
        lengths = np.sqrt((np.diff(path, axis=1) ** 2).sum(axis=2))
        middles = 0.5 * (path[:, 1:] + path[:, :-1])
        blocked = np.zeros(lengths.shape, dtype=np.bool_)
        for corner in OBSTACLES:
            offsets = middles - np.array(corner)
            blocked |= ((offsets >= 0.0) & (offsets <= OBSTACLE_SIDE)).all(axis=2)
        cost = ((TRAVEL_COST + COLLISION_COST * blocked) * lengths).sum(axis=1)
        missed = np.abs(X[:, :2] - START).sum(axis=1) + np.abs(X[:, -2:] - GOAL).sum(axis=1)
        values: FloatArray = OFFSET - cost - DEVIATION_COST * missed
        return values


def rover() -> TestProblem:
    """Return the path of a rover from one corner of a square to the other, D = 60, maximised.

    Notes
    -----
    Source: the description in Wang, Gehring, Kohli and Jegelka (2018): thirty points of the plane
    to which a B-spline is fitted, a cost integrated along it, a reward for starting and ending in
    the right places. No path has more than ``5 - 0.05 |g - s| = 4.936``, which the obstacles
    put out of reach; the optimum is not known.

    Deviation: the obstacles are this library's, as are the cost of travel and the way of fitting:
    the points are the control points of a clamped uniform cubic spline, so that the path is a
    linear function of them, stays in the square, and starts and ends at the first and the last.
    """
    dim = 2 * N_POINTS
    return TestProblem(
        name=f"rover-{dim}",
        space=Box(np.zeros(dim), np.ones(dim)),
        formula=Rover(),
        direction="maximize",
    )


@lru_cache(maxsize=1)
def _spline_weights() -> FloatArray:
    """Return the matrix (1001, 30) that takes control points to points of the spline."""
    inner = np.linspace(0.0, 1.0, N_POINTS - _DEGREE + 1)
    knots = np.concatenate((np.zeros(_DEGREE), inner, np.ones(_DEGREE)))
    times = np.linspace(0.0, 1.0, N_SEGMENTS + 1)
    weights: FloatArray = BSpline(knots, np.eye(N_POINTS), _DEGREE)(times)
    return weights
