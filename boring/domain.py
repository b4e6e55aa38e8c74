"""Where an optimiser may evaluate: the box, its lattice of admissible points, known constraints.

Scaled units throughout: points lie in [-1, 1]^D.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

import numpy as np

from .typing import BoolArray, FloatArray

__all__ = ["Constraint", "Domain", "Lattice"]

Constraint = Callable[[FloatArray], FloatArray]


class Lattice(ABC):
    """The admissible points of a box some of whose coordinates are not continuous."""

    @abstractmethod
    def snap(self, U: FloatArray) -> FloatArray:
        """Return the nearest admissible points, shape (n, D); snapping twice changes nothing."""

    @abstractmethod
    def neighbours(self, u: FloatArray) -> FloatArray:
        """Return the lattice points one step away from the snapped ``u``, shape (k, D)."""


class Domain:
    """The part of the box [-1, 1]^D in which an optimiser may evaluate.

    Parameters
    ----------
    dim : int
        D.
    lattice : Lattice, optional
        None: every point of the box is admissible.
    constraints : sequence of callable, (n, D) -> (n,)
        Cheap and known; each satisfied where its value is <= 0.
    """

    def __init__(
        self, dim: int, lattice: Lattice | None = None, constraints: Sequence[Constraint] = ()
    ) -> None:
        self.dim = dim
        self.lattice = lattice
        self.constraints = tuple(constraints)

    @property
    def is_continuous(self) -> bool:
        """Whether snapping is the identity."""
        return self.lattice is None

    @property
    def is_constrained(self) -> bool:
        """Whether there are known constraints."""
        return bool(self.constraints)

    def snap(self, U: FloatArray) -> FloatArray:
        """Return the nearest admissible points, shape (n, D)."""
        return U if self.lattice is None else self.lattice.snap(U)

    def allowed(self, U: FloatArray) -> BoolArray:
        """Say which snapped points satisfy the known constraints, shape (n,)."""
        points = self.snap(U)
        allowed = np.ones(len(points), dtype=np.bool_)
        for constraint in self.constraints:
            allowed &= constraint(points) <= 0.0
        return allowed

    def neighbours(self, u: FloatArray) -> FloatArray:
        """Return the lattice points one step away from the snapped ``u``, shape (k, D)."""
        return np.empty((0, self.dim)) if self.lattice is None else self.lattice.neighbours(u)
