"""What a test problem is: a formula, a box, and what is known about both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike

from boring.exceptions import InvalidInputError
from boring.space import Box
from boring.typing import Direction, FloatArray

__all__ = ["Formula", "Sign", "TestProblem", "WithoutGradient", "check_problem", "cube_problem"]

Sign = Literal[1, -1]

BOX_TOLERANCE = 1e-9
"""How far outside the box a point may lie through rounding, relative to the side lengths."""


class Formula(Protocol):
    """A smooth function of R^d with its gradient, both for many points at a time."""

    def value(self, X: FloatArray) -> FloatArray:
        """Return the values, shape (n,), at points of shape (n, d)."""
        ...

    def gradient(self, X: FloatArray) -> FloatArray:
        """Return the gradients, shape (n, d), at points of shape (n, d)."""
        ...


class WithoutGradient:
    """Base of formulas that have no gradient, such as step functions.

    Attributes
    ----------
    without_gradient_because : str
        For the message of the refusal.
    """

    without_gradient_because: ClassVar[str] = "it jumps"

    def gradient(self, X: FloatArray) -> FloatArray:
        """Refuse.

        Raises
        ------
        InvalidInputError
            Always.
        """
        raise InvalidInputError(
            f"{type(self).__name__} has no gradient: {self.without_gradient_because}. Compare "
            "values instead."
        )


@dataclass(frozen=True, eq=False)
class TestProblem:
    """An objective on a box, with everything that is known about it.

    Parameters
    ----------
    name : str
    space : Box or array_like of shape (D, 2)
        Where the objective may be evaluated, raw units; D coordinates.
    formula : Formula
        Noiseless value and gradient, raw units. It continues outside the box; the problem refuses
        to be evaluated there.
    direction : {"minimize", "maximize"}
        Which end is the good one.
    optimum : float or None
        Best noiseless value over the box, exact to rounding; None if it is not known.
    optimizers : ndarray of shape (k, D), or None
        Points of the box where the optimum is attained: for an embedded problem one of each affine
        set of them.
    holds_outside : bool, default False
        Whether the formula is nowhere better outside the box than ``optimum`` either, so that the
        optimum survives a placement in which points beyond the box become reachable.
    true_basis : ndarray of shape (D, d), or None
        Orthonormal basis W, in scaled units, of the active subspace. The objective is exactly
        ``g(W'x)`` if ``passive_basis`` is None, and ``g(W'x) + sum_j h_j(v_j'x)`` otherwise.
        None if there is no such subspace.
    effective_dim : int or None
        Number of columns d of ``true_basis``.
    passive_basis : ndarray of shape (D, q), or None
        Orthonormal directions v_j, in scaled units, of the one-dimensional passive terms.
    noise_std : float, default 0
        Standard deviation, units of y, of the noise that :meth:`observe` adds.

    Raises
    ------
    InvalidInputError
        If shapes disagree or an optimiser lies outside the box.

    Examples
    --------
    >>> from synthetic import camelback
    >>> problem = camelback()
    >>> problem([0.0, 0.5])
    -0.75
    >>> problem([[0.0, 0.0], [0.0, 0.5]])
    array([ 0.  , -0.75])
    """

    __test__: ClassVar[bool] = False  # not a test case of pytest

    name: str
    space: Box
    formula: Formula
    direction: Direction = "minimize"
    optimum: float | None = None
    optimizers: FloatArray | None = None
    holds_outside: bool = False
    true_basis: FloatArray | None = None
    effective_dim: int | None = None
    passive_basis: FloatArray | None = None
    noise_std: float = 0.0

    def __repr__(self) -> str:
        """Return name, dimensions and optimum; the attributes have the rest."""
        hidden = "" if self.effective_dim is None else f"{self.effective_dim} in "
        optimum = "unknown" if self.optimum is None else f"{self.optimum:.6g}"
        return (
            f"<{type(self).__name__} {self.name!r}: {self.direction} over {hidden}{self.dim} "
            f"inputs, optimum {optimum}>"
        )

    def __post_init__(self) -> None:
        """Copy, check and freeze the arrays."""
        object.__setattr__(self, "space", Box.from_bounds(self.space))
        for name in ("optimizers", "true_basis", "passive_basis"):
            object.__setattr__(self, name, _frozen(getattr(self, name)))
        if (self.optimum is None) != (self.optimizers is None):
            raise InvalidInputError("optimum and optimizers must be given together, or neither.")
        if self.optimizers is not None:
            self._points(self.optimizers, "optimizers")
        columns = None if self.true_basis is None else self.true_basis.shape[1]
        if columns != self.effective_dim:
            raise InvalidInputError(
                "effective_dim must be the number of columns of true_basis; received "
                f"{self.effective_dim} and {columns} columns."
            )
        for basis in (self.true_basis, self.passive_basis):
            if basis is not None and basis.shape[0] != self.dim:
                raise InvalidInputError(
                    f"A basis must have {self.dim} rows; received shape {basis.shape}."
                )
        if not (np.isfinite(self.noise_std) and self.noise_std >= 0.0):
            raise InvalidInputError(
                f"noise_std must be finite and not negative; received {self.noise_std!r}."
            )

    @property
    def dim(self) -> int:
        """Number of coordinates D."""
        return self.space.dim

    @property
    def sign(self) -> Sign:
        """+1 if larger is better, -1 if smaller is."""
        return 1 if self.direction == "maximize" else -1

    # Whether a number or an array comes back depends on the shape, which types do not carry.
    def __call__(self, X: ArrayLike) -> Any:
        """Evaluate without noise.

        Parameters
        ----------
        X : array_like, shape (n, D) or (D,), raw units

        Returns
        -------
        ndarray of shape (n,), or float for one point

        Raises
        ------
        InvalidInputError
            If the shape is wrong or a point lies outside the box.
        """
        points, single = self._points(X, "X")
        values = self.formula.value(points)
        return float(values[0]) if single else values

    def gradient(self, X: ArrayLike) -> FloatArray:
        """Return the gradient of the noiseless objective.

        Parameters
        ----------
        X : array_like, shape (n, D) or (D,), raw units

        Returns
        -------
        ndarray, same shape, units of y by raw units

        Raises
        ------
        InvalidInputError
            If the shape is wrong, a point lies outside the box, or the objective has no gradient.
        """
        points, single = self._points(X, "X")
        gradients = self.formula.gradient(points)
        return gradients[0] if single else gradients

    def observe(self, X: ArrayLike, rng: np.random.Generator) -> Any:
        """Evaluate with the problem's noise, if it has any.

        Parameters
        ----------
        X : array_like, shape (n, D) or (D,), raw units
        rng : numpy.random.Generator
            Consumed, one number a point, also when there is no noise.

        Returns
        -------
        ndarray of shape (n,), or float for one point

        Raises
        ------
        InvalidInputError
            If the shape is wrong or a point lies outside the box.
        """
        points, single = self._points(X, "X")
        values: FloatArray = self.formula.value(points) + self.noise_at(points, rng)
        return float(values[0]) if single else values

    def noise(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Return what `observe` adds to n values, shape (n,); n normal numbers are drawn."""
        return self.noise_std * rng.standard_normal(n)

    def noise_at(self, X: ArrayLike, rng: np.random.Generator) -> FloatArray:
        """Return what `observe` adds at points of shape (n, D), raw units; shape (n,).

        Of most problems it is :meth:`noise` and does not depend on where the points are. A problem
        that overrides this cannot be wrapped.
        """
        return self.noise(len(np.atleast_2d(X)), rng)

    def regret(self, y: ArrayLike) -> FloatArray:
        """Return how far values fall short of the optimum.

        Parameters
        ----------
        y : array_like, any shape, units of y

        Returns
        -------
        ndarray, same shape
            Not negative for noiseless values, up to rounding.

        Raises
        ------
        InvalidInputError
            If the optimum is not known.
        """
        if self.optimum is None:
            raise InvalidInputError(
                f"Regret needs the optimum, which is not known for {self.name}."
            )
        shortfall: FloatArray = self.sign * (self.optimum - np.asarray(y, dtype=np.float64))
        return shortfall

    def _points(self, X: ArrayLike, name: str) -> tuple[FloatArray, bool]:
        points = np.array(X, dtype=np.float64)
        single = points.ndim == 1
        if single:
            points = points[np.newaxis]
        if points.ndim != 2 or points.shape[1] != self.dim:
            raise InvalidInputError(
                f"{name} must have shape (n, {self.dim}), or ({self.dim},) for one point; "
                f"received {np.shape(X)}."
            )
        outside = np.flatnonzero(~self.space.contains(points, BOX_TOLERANCE))
        if outside.size:
            row = int(outside[0])
            with np.printoptions(threshold=20):
                raise InvalidInputError(
                    f"{name} must lie in the box of {self.name}; row {row} does not: "
                    f"{points[row]}. Clip it with problem.space.clip."
                )
        return points, single


def check_problem(given: object) -> None:
    """Raise for what is no problem, such as a plain function."""
    if not isinstance(given, TestProblem):
        raise InvalidInputError(
            f"A TestProblem is needed; received {type(given).__name__}. A function becomes one "
            "with its box: TestProblem(name, space, formula), its formula with value and gradient."
        )


def cube_problem(
    family: str,
    formula: Formula,
    sides: tuple[float, float],
    optimum: float,
    best: FloatArray,
    *,
    direction: Direction = "minimize",
    holds_outside: bool = True,
    minimum_dim: int = 1,
) -> TestProblem:
    """Assemble a problem on a cube with one optimiser and every direction active.

    Parameters
    ----------
    family : str
        The name is ``<family>-<d>``.
    formula : Formula
    sides : tuple of float
        Ends of the box, the same for every coordinate, raw units.
    optimum : float
    best : ndarray, shape (d,)
        The optimiser, raw units.
    direction, holds_outside
        As for :class:`TestProblem`.
    minimum_dim : int, default 1
        Fewest variables that the formula makes sense with.

    Returns
    -------
    TestProblem

    Raises
    ------
    InvalidInputError
        If there are too few variables.
    """
    dim = best.size
    if dim < minimum_dim:
        raise InvalidInputError(f"{family} needs at least {minimum_dim} variables; received {dim}.")
    return TestProblem(
        name=f"{family}-{dim}",
        space=Box(np.full(dim, sides[0]), np.full(dim, sides[1])),
        formula=formula,
        direction=direction,
        optimum=optimum,
        optimizers=best[np.newaxis],
        holds_outside=holds_outside,
        true_basis=np.eye(dim),
        effective_dim=dim,
    )


def _frozen(array: FloatArray | None) -> FloatArray | None:
    """Return a read-only float64 copy; None stays None."""
    if array is None:
        return None
    copy = np.array(array, dtype=np.float64)
    copy.flags.writeable = False
    return copy
