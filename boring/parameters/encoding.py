"""Configurations as points of the cube [-1, 1]^D: columns, activity, lattice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from boring.domain import Constraint, Domain, Lattice
from boring.exceptions import InvalidInputError
from boring.parameters.base import Parameter
from boring.parameters.constraints import KnownConstraint
from boring.parameters.expressions import Expression, parse
from boring.parameters.margins import INACTIVE
from boring.typing import BoolArray, FloatArray

if TYPE_CHECKING:
    from boring.parameters.space import ParameterSpace

__all__ = ["EncodedDomain", "Encoding"]


class Encoding(Lattice):
    """Where each parameter sits, and when it is active.

    Parameters
    ----------
    parameters : mapping of name to Parameter
        In the order of their columns.
    """

    def __init__(self, parameters: Mapping[str, Parameter]) -> None:
        self.parameters = parameters
        ends = np.cumsum([0, *(p.n_columns for p in parameters.values())])
        self.slices = {
            name: slice(int(a), int(b))
            for name, a, b in zip(parameters, ends[:-1], ends[1:], strict=True)
        }
        self.dim = int(ends[-1])
        self.conditions: dict[str, Expression] = {
            name: parse(p.when, parameters) for name, p in parameters.items() if p.when is not None
        }
        graph = {name: condition.names for name, condition in self.conditions.items()}
        try:
            order = list(TopologicalSorter(graph).static_order())
        except CycleError as error:
            raise InvalidInputError(
                "Conditions must not depend on each other in a circle; received "
                f"{' -> '.join(map(repr, error.args[1]))}. Drop one of these conditions."
            ) from error
        self.conditional = [name for name in order if name in self.conditions]

    @property
    def is_continuous(self) -> bool:
        """Whether every parameter is real, without steps or conditions."""
        return not self.conditions and all(
            p.n_values is None or p.n_columns == 0 for p in self.parameters.values()
        )

    def activity(self, columns: Mapping[str, NDArray[Any]], n: int) -> dict[str, BoolArray]:
        """Return where each parameter is active, given the values of those that decide it."""
        active = {name: np.ones(n, dtype=np.bool_) for name in self.parameters}
        seen = dict(columns)
        for name in self.conditional:
            active[name] = self.conditions[name].margin(seen) <= 0.0
            if name in seen:
                seen[name] = self.masked(name, seen[name], active[name])
        return active

    def masked(self, name: str, values: NDArray[Any], active: BoolArray) -> NDArray[Any]:
        """Return the values of a parameter with those where it is inactive marked as such."""
        mark = np.nan if self.parameters[name].is_numeric else INACTIVE
        marked = values.copy()
        marked[~active] = mark
        return marked

    def columns(self, U: FloatArray, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        """Return the values of some parameters, as if all were active."""
        return {name: self.parameters[name].values(U[:, self.slices[name]]) for name in names}

    def column_of(self, name: str, value: Any) -> NDArray[Any]:
        """Return one value, perhaps `INACTIVE`, as an array of shape (1,)."""
        if self.parameters[name].is_numeric:
            return np.array([np.nan if value is INACTIVE else float(value)])
        column = np.empty(1, dtype=object)
        column[0] = value
        return column

    def deciders(self) -> list[str]:
        """Return the names of the parameters that conditions depend on."""
        used = {parent for condition in self.conditions.values() for parent in condition.names}
        return [name for name in self.parameters if name in used]

    def active(self, U: FloatArray) -> dict[str, BoolArray]:
        """Return where each parameter is active, for points of shape (n, D)."""
        return self.activity(self.columns(U, self.deciders()), len(U))

    def margins(self, constraint: KnownConstraint, U: FloatArray) -> FloatArray:
        """Return how far each point is from satisfying a constraint, at most zero where it does."""
        if constraint.names is None:
            return constraint.margin({}, self.decode(U))
        columns = self.columns(U, constraint.names)
        skip = np.zeros(len(U), dtype=np.bool_)
        conditional = [name for name in constraint.names if name in self.conditions]
        active = self.active(U) if conditional else {}
        for name in conditional:
            columns[name] = self.masked(name, columns[name], active[name])
            skip |= ~active[name]
        value = constraint.margin(columns, ())
        return np.where(skip & constraint.holds_where_inactive, 0.0, value)

    def snap(self, U: FloatArray) -> FloatArray:
        """Return the nearest points of the lattice, shape (n, D).

        Discrete values go to the nearest one and columns of inactive parameters to zero; those of
        active reals stay as they are.
        """
        return self._snapped(U, [p for p in self.parameters if not self._is_continuous(p)])

    def round(self, U: FloatArray) -> FloatArray:
        """Return the same with reals at their resolution: ``encode(decode(U))``."""
        return self._snapped(U, list(self.parameters))

    def _snapped(self, U: FloatArray, names: Sequence[str]) -> FloatArray:
        points = np.array(U, dtype=np.float64)
        for name in names:
            part, parameter = self.slices[name], self.parameters[name]
            if parameter.n_columns:
                points[:, part] = parameter.snap(points[:, part])
        if self.conditional:
            active = self.active(points)
            for name in self.conditional:
                points[~active[name], self.slices[name]] = 0.0
        return points

    @property
    def discrete(self) -> BoolArray:
        """Mask of the columns that are not those of continuous reals, shape (D,)."""
        mask = np.ones(self.dim, dtype=np.bool_)
        for name in self.parameters:
            mask[self.slices[name]] = not self._is_continuous(name)
        return mask

    def _is_continuous(self, name: str) -> bool:
        return self.parameters[name].n_values is None

    def neighbours(self, u: FloatArray) -> FloatArray:
        """Return the lattice points one step away from the snapped ``u``, shape (k, D).

        An integer, ordinal or stepped real goes up or down by one, and by a hundredth and a tenth
        of a wide range; a category goes to each other choice. A step that activates a parameter
        puts it into the middle of its range.
        """
        active = self.active(u[None, :])
        found = [np.empty((0, self.dim))]
        for name, parameter in self.parameters.items():
            part = self.slices[name]
            if active[name][0] and parameter.n_columns:
                moved = parameter.neighbours(u[part])
                points = np.repeat(u[None, :], len(moved), axis=0)
                points[:, part] = moved
                found.append(points)
        points = np.concatenate(found)
        return points if not self.conditional else self.snap(points)

    def encode(self, configurations: Sequence[Mapping[str, Any]]) -> FloatArray:
        """Return the points of checked configurations, shape (n, D)."""
        U = np.zeros((len(configurations), self.dim))
        for name, parameter in self.parameters.items():
            rows = [i for i, configuration in enumerate(configurations) if name in configuration]
            if rows and parameter.n_columns:
                values = [configurations[i][name] for i in rows]
                U[rows, self.slices[name]] = parameter.encode(values)
        return U

    def decode(self, U: FloatArray) -> list[dict[str, Any]]:
        """Return the configurations nearest to points of shape (n, D)."""
        active = self.active(U)
        found: list[dict[str, Any]] = [{} for _ in range(len(U))]
        for name, parameter in self.parameters.items():
            values = parameter.decode(U[:, self.slices[name]])
            for configuration, value, there in zip(found, values, active[name], strict=True):
                if there:
                    configuration[name] = value
        return found


class EncodedDomain(Domain):
    """The domain of a space: knows which columns are continuous, conditional ones included."""

    def __init__(
        self, encoding: Encoding, constraints: Sequence[Constraint], space: ParameterSpace
    ) -> None:
        self._space = space
        lattice = None if encoding.is_continuous else encoding
        super().__init__(encoding.dim, lattice=lattice, constraints=constraints)
        self._is_discrete = encoding.discrete
        self._is_discrete.flags.writeable = False
        columns = [np.full(p.n_columns, p.resolution) for p in encoding.parameters.values()]
        self._resolution: FloatArray = np.maximum(super().resolution, np.concatenate(columns))
        self._resolution.flags.writeable = False

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how pickle makes the domain again: from its space, whose parts it cannot hold."""
        return _domain_of, (self._space,)

    @property
    def resolution(self) -> FloatArray:
        """Reals closer than this may be rounded to one value, shape (D,)."""
        return self._resolution

    @property
    def discrete(self) -> BoolArray:
        """Mask of the columns that hold discrete values, shape (D,)."""
        return self._is_discrete


def _domain_of(space: ParameterSpace) -> Domain:
    return space.domain
