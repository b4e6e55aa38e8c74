"""Where an optimiser may evaluate, beside the box: lattices and constraints that are known.

A lattice holds the values that some columns of a point can take: integers, ordinals, categories
as groups of columns. A known constraint is a cheap function of the point. All is in scaled units,
[-1, 1]^D.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ._brief import in_brief
from .evaluation import in_words
from .exceptions import InvalidInputError
from .typing import BoolArray, FloatArray
from .validation import as_points, as_positive_int, as_real_array

__all__ = ["Constraint", "Domain", "GridLattice", "Lattice"]

Constraint: TypeAlias = "Callable[[FloatArray], FloatArray]"
"""From points (n, D), scaled units, to values (n,); a point is allowed where its value is <= 0."""

N_PROBES = 64
SAME_COLUMN = 1e-9
"""A column that no snap moves by more than this, at so many fixed points, is continuous."""

NUDGE = 1e-3
"""How far columns are moved to see whether they are free."""

SAME = 1e-12
"""Coordinates that differ by no more are the same."""

ROUNDING = 1e-9
"""How far outside the cube a lattice may return a point."""


class Lattice(ABC):
    """The points that the discrete columns of a space can hold.

    Subclasses leave continuous columns as they are. Both methods are deterministic.
    """

    @abstractmethod
    def snap(self, U: FloatArray) -> FloatArray:
        """Return the nearest lattice points of U, both of shape (n, D), scaled units.

        Snapping a snapped point must not change it.
        """

    @abstractmethod
    def neighbours(self, u: FloatArray) -> FloatArray:
        """Return the lattice points one step away from the snapped point u, shape (k, D).

        Integers and ordinals go one up and one down, a category changes into every other.
        """


class GridLattice(Lattice):
    """Columns that hold given numbers; the other columns are continuous.

    Parameters
    ----------
    columns : mapping of int to array_like
        From the number of a column to the values that it can take, in [-1, 1].

    Raises
    ------
    InvalidInputError
        If a column's number is negative, or it has no values, or one outside the cube.

    Examples
    --------
    >>> lattice = GridLattice({0: [-1.0, 0.0, 1.0]})
    >>> lattice.snap(np.array([[0.4, 0.4]]))
    array([[0. , 0.4]])
    >>> lattice.neighbours(np.array([0.0, 0.4]))
    array([[-1. ,  0.4],
           [ 1. ,  0.4]])
    """

    def __init__(self, columns: Mapping[int, ArrayLike]) -> None:
        self._columns = {
            as_positive_int(column, "The number of a column", minimum=0): _levels(values, column)
            for column, values in columns.items()
        }

    def check_fits(self, dim: int) -> None:
        """Raise InvalidInputError if a column is not one of D = dim."""
        beyond = max(self._columns, default=0)
        if beyond >= dim:
            raise InvalidInputError(
                f"The columns of a lattice are numbered from 0 to D - 1 = {dim - 1}; received "
                f"{beyond}. Leave that column out, or number from 0."
            )

    def snap(self, U: FloatArray) -> FloatArray:
        """Return the nearest lattice points, shape (n, D); of two equally near the lower one."""
        snapped = np.array(U, dtype=np.float64)
        for column, levels in self._columns.items():
            middles = 0.5 * (levels[1:] + levels[:-1])
            snapped[:, column] = levels[np.searchsorted(middles, snapped[:, column])]
        return snapped

    def neighbours(self, u: FloatArray) -> FloatArray:
        """Return the points with one column a level higher or lower, shape (k, D)."""
        found = []
        for column, levels in self._columns.items():
            level = int(np.argmin(np.abs(levels - u[column])))
            for other in (level - 1, level + 1):
                if 0 <= other < len(levels):
                    point = np.array(u, dtype=np.float64)
                    point[column] = levels[other]
                    found.append(point)
        return np.array(found).reshape(-1, len(u))


class Domain:
    """The part of the cube in which an optimiser may evaluate; immutable.

    Parameters
    ----------
    dim : int
        D.
    lattice : Lattice, optional
        None where every column is continuous.
    constraints : sequence of callables
        Each maps points (n, D), scaled units and on the lattice, to values (n,), and is satisfied
        where the value is at most 0. A NaN is not; True and False are refused, since True
        counts as 1. They should be cheap, and smooth if possible: values that fall towards 0 lead
        to the allowed region, a mere 1 and 0 does not.

    Raises
    ------
    InvalidInputError
        If an argument breaks these rules; by its methods, if the lattice or a constraint returns
        a wrong shape, or a constraint no numbers.

    Examples
    --------
    >>> domain = Domain(2, GridLattice({0: [-1, 0, 1]}), [lambda U: U.sum(axis=1)])
    >>> domain.snap([[0.8, 0.3], [-0.2, -0.3]])
    array([[ 1. ,  0.3],
           [ 0. , -0.3]])
    >>> domain.allowed([[0.8, 0.3], [-0.2, -0.3]])
    array([False,  True])
    """

    def __init__(
        self, dim: int, lattice: Lattice | None = None, constraints: Sequence[Constraint] = ()
    ) -> None:
        self._dim = as_positive_int(dim, "dim")
        if lattice is not None and not isinstance(lattice, Lattice):
            raise InvalidInputError(
                f"lattice must be a Lattice or None; received {type(lattice).__name__}. "
                "Pass for example GridLattice({0: [-1, 0, 1]})."
            )
        if isinstance(lattice, GridLattice):
            lattice.check_fits(self._dim)
        for constraint in constraints:
            if not callable(constraint):
                raise InvalidInputError(
                    f"A constraint must be callable; received {type(constraint).__name__}. "
                    "Pass a function of points (n, D) that returns values (n,)."
                )
        self._lattice = lattice
        self._constraints = tuple(constraints)

    @property
    def dim(self) -> int:
        """Number of coordinates D."""
        return self._dim

    @property
    def lattice(self) -> Lattice | None:
        """The lattice; None where every column is continuous."""
        return self._lattice

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """The constraints."""
        return self._constraints

    @property
    def is_continuous(self) -> bool:
        """Whether there is no lattice: snapping changes nothing, and nothing has neighbours."""
        return self._lattice is None

    @property
    def is_constrained(self) -> bool:
        """Whether there are constraints."""
        return bool(self._constraints)

    @property
    def is_plain(self) -> bool:
        """Whether this is the cube and no more."""
        return self.is_continuous and not self.is_constrained

    @property
    def resolution(self) -> FloatArray:
        """How far coordinates may differ that are the same, shape (D,), scaled units.

        There and back between raw and scaled units costs a few digits; a subclass whose points
        stand for rounded values says more.
        """
        return np.full(self._dim, SAME)

    @property
    def discrete(self) -> BoolArray:
        """Mask of the columns that the lattice moves, shape (D,).

        Found by snapping a fixed sample of the cube; a subclass that knows may say.
        """
        return self._probed

    @cached_property
    def _probed(self) -> BoolArray:
        probes = np.random.default_rng(0).uniform(-1.0, 1.0, (N_PROBES, self._dim))
        mask: BoolArray = np.any(np.abs(self.snap(probes) - probes) > SAME_COLUMN, axis=0)
        mask.flags.writeable = False
        return mask

    def snap(self, U: ArrayLike) -> FloatArray:
        """Return the nearest points of the lattice.

        Parameters
        ----------
        U : array_like, shape (n, D) or (D,), scaled units

        Returns
        -------
        ndarray, shape (n, D), scaled units
        """
        points = as_points(U, self._dim, "U")
        if self._lattice is None:
            return points
        return self._checked(self._lattice.snap(points), len(points), "snap")

    def free(self, u: FloatArray) -> np.ndarray:
        """Return the numbers of the continuous columns that snapping leaves alone near u, (k,).

        Where a lattice holds some of them fast at some of its points, as those of parameters that
        are not active there, fewer than elsewhere.
        """
        loose = ~self.discrete
        if self._lattice is not None:
            moved = u + np.where(loose, np.where(u > 0.0, -NUDGE, NUDGE), 0.0)
            loose = loose & (np.abs(self.snap(moved)[0] - moved) <= SAME_COLUMN)
        return np.flatnonzero(loose)

    def allowed(self, U: ArrayLike) -> BoolArray:
        """Say which points satisfy every constraint once they are snapped, shape (n,).

        Parameters
        ----------
        U : array_like, shape (n, D) or (D,), scaled units
        """
        return np.asarray(np.all(self.values(self.snap(U)) <= 0.0, axis=1))

    def values(self, U: ArrayLike) -> FloatArray:
        """Return the values of the m constraints, shape (n, m), without snapping first.

        Parameters
        ----------
        U : array_like, shape (n, D) or (D,), scaled units
        """
        points = as_points(U, self._dim, "U")
        found = np.empty((len(points), len(self._constraints)))
        for column, constraint in enumerate(self._constraints if len(points) else ()):
            try:
                given = np.asarray(constraint(points.copy()))
                values = np.asarray(given, dtype=np.float64)
            except InvalidInputError:  # it has said in its user's words what is wrong
                raise
            except Exception as error:
                raise InvalidInputError(
                    f"A constraint must return one value for each point; number {column} raised "
                    f"{in_words(error)}. It takes points of shape (n, D), scaled "
                    "units; return NaN where there is no value."
                ) from error
            if given.dtype == np.bool_:
                raise InvalidInputError(
                    "A constraint must return numbers, and a point is allowed where its number is "
                    f"at most 0; number {column} returned True and False, of which True counts as "
                    "1 and would forbid. Return x - limit for x <= limit; for a mere yes or no, -1 "
                    "where a point is allowed and 1 where it is not."
                )
            if values.shape != (len(points),):
                raise InvalidInputError(
                    f"A constraint must return one value for each point; number {column} returned "
                    f"shape {values.shape} for {len(points)} points. Compute over axis 1 of its "
                    "argument (n, D)."
                )
            found[:, column] = values
        return found

    def violation(self, U: ArrayLike) -> FloatArray:
        """Return the summed positive parts of the constraints at snapped points, shape (n,).

        0 where a point is allowed; infinite where a value is not a number.
        """
        values = self.values(self.snap(U))
        values = np.where(np.isnan(values), np.inf, values)
        return np.asarray(np.maximum(values, 0.0).sum(axis=1))

    def neighbours(self, u: ArrayLike) -> FloatArray:
        """Return the lattice points one step away from a snapped point, constraints aside.

        Parameters
        ----------
        u : array_like, shape (D,), scaled units

        Returns
        -------
        ndarray, shape (k, D), scaled units
            None in a continuous domain.
        """
        point = as_points(u, self._dim, "u")[0]
        if self._lattice is None:
            return np.empty((0, self._dim))
        return self._checked(self._lattice.neighbours(point), None, "neighbours")

    def _checked(self, points: FloatArray, n: int | None, method: str) -> FloatArray:
        points = np.asarray(points, dtype=np.float64)
        wanted = (len(points) if n is None else n, self._dim)
        if points.shape != wanted or not np.all(np.abs(points) <= 1.0 + ROUNDING):
            raise InvalidInputError(
                f"{method} of a lattice must return points of the cube of shape {wanted}; "
                f"{type(self._lattice).__name__} returned shape {points.shape}"
                f"{'' if points.shape != wanted else ' with a coordinate outside [-1, 1]'}. "
                "Mend the lattice."
            )
        return np.clip(points, -1.0, 1.0)


def _levels(values: ArrayLike, column: int) -> FloatArray:
    """Return the sorted values of one column."""
    levels = np.unique(as_real_array(values, f"The values of column {column}"))
    if not levels.size or not np.all(np.abs(levels) <= 1.0):
        raise InvalidInputError(
            f"A column of a lattice must have values in [-1, 1]; column {column} has "
            f"{in_brief(levels)}. Scale them to the cube."
        )
    return levels
