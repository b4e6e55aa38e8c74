"""Climb to the maximum of an acquisition among the points of a domain.

In turns over the neighbours on the lattice and, the discrete columns held, over the continuous
ones, within the known constraints. `boring.acquisition.domain_maximizer` says where climbs start in
the whole box, `boring.acquisition.local_domain` where near the incumbent.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from boring.acquisition.base import Acquisition
from boring.acquisition.maximizer import DUPLICATE_TOLERANCE, JointSearch
from boring.admissible import minimize_allowed, pull_back, two_steps
from boring.domain import Domain
from boring.typing import BoolArray, FloatArray

__all__ = ["DomainSearch"]

# Steps over the lattice, in one turn.
N_STEPS = 100
# Turns of neighbours and continuous columns.
N_TURNS = 6
# Steps of SLSQP along the constraints.
CONSTRAINED_ITERATIONS = 20
# Random moves where slopes lead nowhere: so many at a time, of which the best is taken, and how
# their size (a share of the box's half-width) changes.
N_MOVES = 32
N_WANDERS = 40
LARGEST_MOVE, LEAST_MOVE = 0.2, 1e-3
GROW, SHRINK = 1.5, 0.6
# A turn that gains less than this share ends the climb. [chosen here: the acquisitions are
# logarithms, mostly]
NEGLIGIBLE = 1e-3
# How far beyond its box a lattice point still counts as inside.
ROUNDING = 1e-9


@dataclass(eq=False)
class DomainSearch:
    """A climb in a domain, or in a box of it, that remembers the best new point.

    Attributes
    ----------
    acquisition : Acquisition
    domain : Domain
    avoid : ndarray, shape (m, D), scaled units
        Points that are not to be found again; snapped.
    rng : numpy.random.Generator
        Consumed where there are constraints.
    low, high : ndarray, shape (D,)
        The box.
    tolerance : float, default 1e-6
        Closer than this (Euclidean) to an avoided point is not new.
    families : ndarray of str, shape (m,), optional
        Kind of each start of the climb; None where nobody asks.
    x : ndarray, shape (D,), or None
        Best point that is snapped, allowed and new.
    value : float
    family : str
        Kind of the start that led to it.
    n_evaluations, n_non_finite : int
        Points at which the acquisition was evaluated; how many of them gave NaN or infinity.
    """

    acquisition: Acquisition
    domain: Domain
    avoid: FloatArray
    rng: np.random.Generator
    low: FloatArray
    high: FloatArray
    tolerance: float = DUPLICATE_TOLERANCE
    families: np.ndarray | None = None
    x: FloatArray | None = None
    value: float = -np.inf
    family: str = ""
    n_evaluations: int = 0
    n_non_finite: int = 0

    def evaluate(self, points: FloatArray, starts: np.ndarray) -> FloatArray:
        """Return the acquisition of snapped points (k, D); -inf where it may not be asked.

        A point that is not new keeps its value, so that a climb can pass over it. ``starts`` (k,)
        are the rows of the starts that led to them.
        """
        values = np.full(len(points), -np.inf)
        good = self.domain.allowed(points) if len(points) else np.zeros(0, dtype=bool)
        if good.any():
            values[good] = self.values_of(points[good])
            self._remember(points, values, starts)
        return values

    def values_of(self, points: FloatArray) -> FloatArray:
        """Return the acquisition of any points (k, D); -inf where it is not finite."""
        values = np.asarray(self.acquisition.value(points), dtype=np.float64)
        finite = np.isfinite(values)
        self.n_evaluations += len(points)
        self.n_non_finite += int(np.sum(~finite))
        return np.where(finite, values, -np.inf)

    def is_new(self, points: FloatArray) -> BoolArray:
        """Tell which points (k, D) are not among those to avoid."""
        if not len(self.avoid) or not len(points):
            return np.ones(len(points), dtype=bool)
        return np.asarray(cdist(points, self.avoid).min(axis=1) > self.tolerance)

    def _remember(self, points: FloatArray, values: FloatArray, starts: np.ndarray) -> None:
        better = np.flatnonzero(values > self.value)
        better = better[self.is_new(points[better])]
        if better.size:
            best = better[int(np.argmax(values[better]))]
            self.x, self.value = points[best].copy(), float(values[best])
            if self.families is not None:
                self.family = str(self.families[starts[best]])

    def climb(self, points: FloatArray, values: FloatArray, max_iterations: int) -> None:
        """Climb from allowed points (k, D) with their values, all at once, until none gains.

        `x` is the best new point that was met.
        """
        points, values = points.copy(), values.copy()
        active = np.arange(len(points))
        for _ in range(N_TURNS):
            if not active.size:
                break
            before = values[active]
            self._step_to_neighbours(points, values, active)
            if max_iterations and not self.domain.discrete.all():
                self._refine(points, values, active, max_iterations)
            gained = values[active] > before + NEGLIGIBLE * (1.0 + np.abs(before))
            active = active[gained] if not self.domain.is_continuous else active[:0]

    def _step_to_neighbours(
        self, points: FloatArray, values: FloatArray, active: np.ndarray
    ) -> None:
        """Take each point to the best of its neighbours in the box, while that is better."""
        for _ in range(N_STEPS):
            if not active.size or self.domain.is_continuous:
                break
            around = [self.neighbours(points[row]) for row in active]
            counts = [len(rows) for rows in around]
            found = self.evaluate(np.concatenate(around), np.repeat(active, counts))
            splits = np.split(found, np.cumsum(counts)[:-1])
            moved = []
            for row, rows, theirs in zip(active, around, splits, strict=True):
                if len(theirs) and theirs.max() > values[row]:
                    best = int(np.argmax(theirs))
                    points[row], values[row] = rows[best], theirs[best]
                    moved.append(row)
            active = np.array(moved, dtype=int)

    def neighbours(self, u: FloatArray) -> FloatArray:
        """Return the neighbours of a snapped point that lie in the box, shape (k, D).

        Where the constraints allow none of them, as equality does, what is two steps off.
        """
        around = self._inside(self.domain.neighbours(u))
        if self.domain.is_constrained and not self.domain.allowed(around).any():
            return self._inside(two_steps(self.domain, u))
        return around

    def _inside(self, points: FloatArray) -> FloatArray:
        inside = (points >= self.low - ROUNDING) & (points <= self.high + ROUNDING)
        return points[inside.all(axis=1)]

    def _refine(
        self, points: FloatArray, values: FloatArray, active: np.ndarray, max_iterations: int
    ) -> None:
        """Ascend in the continuous columns, the discrete ones held."""
        ascent = _HeldAscent(self, points[active], values[active])
        ascent.run(max_iterations)
        self._take(points, values, active, ascent.best_points, ascent.best_values)
        if not self.domain.is_constrained:
            return
        self.offer(points, values, active, self._pulled(points[active], ascent.ends))
        beyond = ~self.domain.allowed(ascent.ends)
        for row in active[beyond]:
            one, before = np.array([row]), values[row]
            end = self._along_constraints(points[row])
            if end is not None:
                self.offer(points, values, one, self._pulled(points[one], end))
            if not values[row] > before:
                self._wander(points, values, one)

    def _pulled(self, inside: FloatArray, outside: FloatArray) -> FloatArray:
        return pull_back(self.domain, inside, np.clip(outside, self.low, self.high))

    def offer(
        self, points: FloatArray, values: FloatArray, rows: np.ndarray, theirs: FloatArray
    ) -> None:
        """Replace points by allowed ones that are better, one for each of the rows."""
        self._take(points, values, rows, theirs, self.evaluate(theirs, rows))

    def _take(
        self,
        points: FloatArray,
        values: FloatArray,
        rows: np.ndarray,
        theirs: FloatArray,
        their_values: FloatArray,
    ) -> None:
        """Replace points by better ones, one for each row."""
        better = their_values > values[rows]
        points[rows[better]], values[rows[better]] = theirs[better], their_values[better]
        self._remember(theirs, their_values, rows)

    def _along_constraints(self, u: FloatArray) -> FloatArray | None:
        """Ascend by SLSQP, which follows constraints that are smooth; shape (1, D)."""
        free = self.domain.free(u)
        if not free.size:
            return None

        def objective(v: FloatArray) -> tuple[float, FloatArray]:
            point = u.copy()
            point[free] = np.clip(v, self.low[free], self.high[free])
            value, gradient = self.acquisition.value_and_gradient(point[None, :])
            self.n_evaluations += 1
            if not (np.isfinite(value[0]) and np.all(np.isfinite(gradient))):
                return 1e10, np.zeros(len(free))
            return -float(value[0]), -gradient[0, free]

        margin = np.zeros(self.domain.values(u).shape[1])
        x = minimize_allowed(
            self.domain,
            u,
            free,
            objective,
            margin,
            CONSTRAINED_ITERATIONS,
            self.low[free],
            self.high[free],
        )
        return None if x is None else x[None, :]

    def _wander(self, points: FloatArray, values: FloatArray, one: np.ndarray) -> None:
        """Climb by random moves: where constraints are steps, there are no slopes to follow.

        The size of the moves grows while they gain and shrinks when they do not.
        """
        free = self.domain.free(points[one[0]])
        half_width = 0.5 * (self.high - self.low)[free]
        scale = LARGEST_MOVE if free.size else 0.0
        for _ in range(N_WANDERS):
            if scale < LEAST_MOVE:
                break
            moves = np.tile(points[one], (N_MOVES, 1))
            steps = self.rng.standard_normal((N_MOVES, free.size))
            moves[:, free] += scale * half_width * steps
            moves = np.clip(moves, self.low, self.high)
            theirs = self.evaluate(moves, np.repeat(one, N_MOVES))
            best, before = int(np.argmax(theirs)), values[one].copy()
            self._take(points, values, one, moves[[best]], theirs[[best]])
            scale *= GROW if values[one] > before else SHRINK


class _HeldAscent(JointSearch):
    """L-BFGS-B in the continuous columns that remembers points of the domain only."""

    def __init__(self, search: DomainSearch, starts: FloatArray, values: FloatArray) -> None:
        self._search = search
        low, high = starts.copy(), starts.copy()
        for row, start in enumerate(starts):
            free = search.domain.free(start)
            low[row, free] = np.minimum(search.low, start)[free]
            high[row, free] = np.maximum(search.high, start)[free]
        self._box = list(zip(low.ravel().tolist(), high.ravel().tolist(), strict=True))
        super().__init__(search.acquisition, starts, values, float(values.min()))

    def _bounds(self) -> list[tuple[float, float]]:
        return self._box

    def _admits(self, X: FloatArray) -> BoolArray:
        admitted = self._search.is_new(X)
        if self._search.domain.is_constrained and admitted.any():
            admitted[admitted] = self._search.domain.allowed(X[admitted])
        return admitted
