"""From any point to one that may be asked: on the lattice, allowed, and new.

What a design or an algorithm wants is snapped. If that is not allowed, or was told or asked
before, the nearest point that will do takes its place; then the next of the run's sequence;
then, where constraints leave hardly anything, what a search for allowed points finds. Everything
follows from the point, the taken points and a keyed generator.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from .admissible import pull_back, reach, repair, two_steps
from .domain import Domain
from .exceptions import InvalidInputError, SpaceExhaustedError
from .space import Box
from .typing import BoolArray, FloatArray

__all__ = ["Placing", "is_new"]

# Moves of the continuous columns, and how many of each [chosen here].
MOVE_SCALES = (0.01, 0.03, 0.1, 0.3)
N_MOVES = 16
# From so many allowed points among the taken ones, the nearest, ways to a point are tried.
N_ANCHORS = 4
# Neighbours of neighbours are looked at together while there are no more of them than this.
MANY_NEIGHBOURS = 512
# Lattice points that are gone through, nearest first: of lattices without and with continuous
# columns; and how many of them at a time, once as many have been gone through in vain.
N_VISITS = 20000
N_VISITS_MIXED = 300
MOST_VISITED = 128
# Points of the sequence that are gone through, and how many are looked at together.
N_SEQUENCE = 4096
BLOCK_SIZE = 128
# Starts of the search for allowed points.
N_REPAIRS = 8


def is_new(points: FloatArray, taken: FloatArray, resolution: FloatArray) -> BoolArray:
    """Tell which points (n, D) differ from every taken one (m, D); both snapped.

    Points are the same if no coordinate differs by more than its resolution (D,).
    """
    if not len(taken) or not len(points):
        return np.ones(len(points), dtype=bool)
    return np.array([bool(np.all(np.any(np.abs(taken - x) > resolution, axis=1))) for x in points])


@dataclass(frozen=True, eq=False)
class Placing:
    """How one run finds points that may be asked.

    Parameters
    ----------
    space : Box
        A point is judged as it comes back from raw units.
    domain : Domain
    sequence : callable
        ``sequence(start, stop)`` returns points of the run's space-filling sequence, shape
        (stop - start, D).
    repeats : bool
        Whether taken points may be asked again.
    asked : Domain, optional
        Of the taken points, where the domain is a part of it; None for the domain itself.
    """

    space: Box
    domain: Domain
    sequence: Callable[[int, int], FloatArray]
    repeats: bool = False
    asked: Domain | None = None
    _blocks: dict[int, tuple[np.ndarray, FloatArray]] = field(
        default_factory=dict, init=False, repr=False
    )

    def proposal(self, x: FloatArray, known: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Return the point to ask in place of a proposal.

        Parameters
        ----------
        x : ndarray, shape (D,), scaled units
        known : ndarray, shape (m, D), scaled units
            Told and pending points.
        rng : numpy.random.Generator
            Consumed.

        Raises
        ------
        SpaceExhaustedError
            If no new point is left.
        InvalidInputError
            If no point was found that the constraints allow.
        """
        taken = (self.asked or self.domain).snap(known)
        u = self._snapped(x[None, :])
        if self._fits(u, taken)[0]:
            return np.asarray(u[0])
        near = self._nearest(x, u[0], taken, rng)
        if near is None:
            near = self._from_lattice(x, u[0], taken)
        if near is None:
            near = self._from_sequence(0, taken)
        return self._hard_to_find(u[0], taken, rng) if near is None else near

    def design_point(
        self, x: FloatArray, first: int, known: FloatArray, rng: np.random.Generator
    ) -> FloatArray:
        """Return the point to ask in place of one of a design.

        As :meth:`proposal`, but the sequence comes before what is near: designs are to fill
        the allowed region, and not its edges.

        Parameters
        ----------
        x, known, rng
            As in :meth:`proposal`.
        first : int
            Where to begin in the sequence.
        """
        taken = (self.asked or self.domain).snap(known)
        u = self._snapped(x[None, :])
        if self._fits(u, taken)[0]:
            return np.asarray(u[0])
        following = self._from_sequence(first, taken)
        return self.proposal(x, known, rng) if following is None else following

    def _snapped(self, U: FloatArray) -> FloatArray:
        return self.domain.snap(np.clip(U, -1.0, 1.0))

    def _fits(self, U: FloatArray, taken: FloatArray) -> BoolArray:
        """Tell which snapped points may be asked."""
        fits = self.domain.allowed(self._returned(U))
        fits[fits] = self._is_free(U[fits], taken)
        return fits

    def _is_free(self, U: FloatArray, taken: FloatArray) -> BoolArray:
        if self.repeats:
            return np.ones(len(U), dtype=bool)
        return is_new(self._returned(U), taken, self.domain.resolution)

    def _returned(self, U: FloatArray) -> FloatArray:
        """Return snapped points as they come back from raw units."""
        return self.domain.snap(self.space.returned(U))

    def _nearest(
        self, x: FloatArray, u: FloatArray, taken: FloatArray, rng: np.random.Generator
    ) -> FloatArray | None:
        """Return the nearest to x of what lies around u; None if none of it will do."""
        domain = self.domain
        around = [domain.neighbours(u)]
        is_allowed = bool(domain.allowed(u)[0])
        allowed = u[None, :] if is_allowed and domain.is_constrained else np.empty((0, domain.dim))
        if 0 < len(around[0]) ** 2 <= MANY_NEIGHBOURS:
            around += [domain.neighbours(v) for v in around[0]]
        around.append(_moves(u, domain, rng))
        if not is_allowed:
            reached = reach(domain, u)
            if reached is not None:
                around.append(reached[None, :])
                allowed = domain.snap(reached)
            anchors = taken[domain.allowed(taken)]
            anchors = anchors[np.argsort(np.linalg.norm(anchors - x, axis=1), kind="stable")]
            if len(anchors):
                anchors = anchors[:N_ANCHORS]
                around.append(pull_back(domain, anchors, np.tile(u, (len(anchors), 1))))
                around += [_moves(anchor, domain, rng) for anchor in anchors]
                allowed = np.vstack([allowed, domain.snap(anchors)])
        near = self._first(self._snapped(np.vstack(around)), x, taken)
        if near is None and len(allowed):
            around = [two_steps(domain, point) for point in allowed]
            near = self._first(self._snapped(np.vstack(around)), x, taken)
        return near

    def _first(self, points: FloatArray, x: FloatArray, taken: FloatArray) -> FloatArray | None:
        points = points[self._fits(points, taken)]
        if not len(points):
            return None
        nearest: FloatArray = points[int(np.argmin(np.linalg.norm(points - x, axis=1)))]
        return nearest

    def _from_lattice(self, x: FloatArray, u: FloatArray, taken: FloatArray) -> FloatArray | None:
        """Go through the lattice from neighbour to neighbour, those nearest to x first.

        Raises
        ------
        SpaceExhaustedError, InvalidInputError
            If all of a finite lattice was gone through in vain.
        """
        domain = self.domain
        if domain.is_continuous:
            return None
        is_finite = bool(domain.discrete.all())
        seen: set[bytes] = set()
        queue: list[tuple[float, int, FloatArray]] = []

        def enter(points: FloatArray) -> FloatArray | None:
            fresh = []
            for point in points:
                key = (np.round(point, 9) + 0.0).tobytes()
                if key not in seen:
                    seen.add(key)
                    distance = float(np.linalg.norm(point - x))
                    heapq.heappush(queue, (distance, len(seen), point))
                    fresh.append(point)
            return self._first(np.array(fresh), x, taken) if fresh else None

        found = enter(self._snapped(np.vstack([u, taken]) if is_finite else u[None, :]))
        n_visited, n_most = 0, N_VISITS if is_finite else N_VISITS_MIXED
        while found is None and queue and n_visited < n_most:
            n = min(len(queue), max(1, n_visited), MOST_VISITED)
            visited = domain.snap(np.array([heapq.heappop(queue)[2] for _ in range(n)]))
            found = enter(self._snapped(np.vstack([domain.neighbours(point) for point in visited])))
            n_visited += n
        if found is None and is_finite and not queue:
            raise self._nothing_left(taken, f"all {len(seen)} points of the lattice")
        return found

    def _from_sequence(self, first: int, taken: FloatArray) -> FloatArray | None:
        """Return the first point of the sequence, from number ``first`` on, that will do."""
        block = first // BLOCK_SIZE
        for number in range(block, block + N_SEQUENCE // BLOCK_SIZE):
            indices, points = self._allowed_block(number)
            points = points[indices >= first]
            rows = np.flatnonzero(self._is_free(points, taken))
            if rows.size:
                return np.asarray(points[rows[0]])
        return None

    def _allowed_block(self, number: int) -> tuple[np.ndarray, FloatArray]:
        """Return numbers and snapped points of what is allowed in a block of the sequence."""
        if number not in self._blocks:
            start = number * BLOCK_SIZE
            points = self._snapped(self.sequence(start, start + BLOCK_SIZE))
            rows = np.flatnonzero(self.domain.allowed(self._returned(points)))
            self._blocks[number] = start + rows, points[rows]
        return self._blocks[number]

    def _hard_to_find(
        self, u: FloatArray, taken: FloatArray, rng: np.random.Generator
    ) -> FloatArray:
        """Search for allowed points by their violation."""
        if self.domain.is_constrained:
            starts = self.sequence(0, N_SEQUENCE)
            order = np.argsort(self.domain.violation(starts), kind="stable")
            x = repair(self.domain, np.vstack([u, starts[order[:N_REPAIRS]]]), rng)
            if x is not None:
                near = self._first(self._snapped(x[None, :]), x, taken)
                near = self._nearest(x, x, taken, rng) if near is None else near
                if near is not None:
                    return near
        raise self._nothing_left(taken, f"{N_SEQUENCE} points of a space-filling sequence")

    def _nothing_left(self, taken: FloatArray, searched: str) -> Exception:
        n_allowed = int(self.domain.allowed(taken).sum())
        if n_allowed or not self.domain.is_constrained:
            is_part = self.asked is not None
            remedy = "Fix fewer parameters, or other values" if is_part else "End the run"
            return SpaceExhaustedError(
                f"Every point should be asked once; among {searched} none is left that is allowed, "
                f"and neither told nor out for evaluation, as {len(taken)} points are. {remedy}, "
                "widen the space, or pass repeats=True to ask points again."
            )
        if self.asked is not None:
            return InvalidInputError(
                f"Some point with the fixed values must satisfy the constraints; among {searched}, "
                "and by searches for less violation, none was found. Fix fewer parameters, or "
                "other values, or tell a point that satisfies them."
            )
        return InvalidInputError(
            f"Some point must satisfy the constraints; among {searched}, and by searches for less "
            "violation, none was found. Check their signs and units (those of a Domain take scaled "
            "units, and hold where their value is <= 0), or tell a point that satisfies them."
        )


def _moves(u: FloatArray, domain: Domain, rng: np.random.Generator) -> FloatArray:
    """Return points around u that differ in the continuous columns, shape (k, D)."""
    free = ~domain.discrete
    if not free.any():
        return np.empty((0, domain.dim))
    scales = np.repeat(MOVE_SCALES, N_MOVES)[:, None]
    steps = scales * rng.standard_normal((len(scales), domain.dim))
    return np.clip(u + np.where(free, steps, 0.0), -1.0, 1.0)
