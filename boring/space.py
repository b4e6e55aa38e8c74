"""The box in which an objective lives, and its map to the cube [-1, 1]^D.

Raw units are the caller's; scaled units are those of everything inside the library.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ._brief import fields_in_brief, in_brief
from .exceptions import InvalidInputError
from .typing import BoolArray, FloatArray
from .validation import as_real_array, real_array

__all__ = ["Box"]


@dataclass(frozen=True, slots=True, eq=False, init=False)
class Box:
    """An axis-aligned box of the caller's units.

    Parameters
    ----------
    lower, upper : array_like, shape (D,), raw units
        Finite bounds with ``lower < upper`` in every coordinate.

    Raises
    ------
    InvalidInputError
        If the bounds have different or wrong shapes, are not finite real numbers, or do not
        satisfy ``lower < upper``.

    Examples
    --------
    >>> box = Box([0.0, 10.0], [1.0, 20.0])
    >>> box.scale([0.5, 20.0])
    array([0., 1.])
    >>> box.unscale([0.0, 1.0])
    array([ 0.5, 20. ])
    """

    lower: FloatArray
    upper: FloatArray

    __repr__ = fields_in_brief

    def __init__(self, lower: ArrayLike, upper: ArrayLike) -> None:
        lower = _bound(lower, "lower")
        upper = _bound(upper, "upper")
        if lower.shape != upper.shape:
            raise InvalidInputError(
                "lower and upper must have the same length; received "
                f"{lower.size} and {upper.size}. Give one pair of bounds for each coordinate."
            )
        wrong = np.flatnonzero(~(lower < upper))
        if wrong.size:
            first = int(wrong[0])
            relation = "equal" if lower[first] == upper[first] else "reversed"
            raise InvalidInputError(
                "Bounds must satisfy lower < upper in every coordinate; they are "
                f"{relation} in coordinate {first}: lower = {float(lower[first])!r}, "
                f"upper = {float(upper[first])!r}. Swap them, or drop a coordinate that cannot "
                "vary."
            )
        with np.errstate(over="ignore"):
            width = upper - lower
        if not np.all(np.isfinite(width)):
            raise InvalidInputError(
                "upper - lower must be finite in every coordinate; it overflows in coordinate "
                f"{int(np.flatnonzero(~np.isfinite(width))[0])}. Use smaller bounds."
            )
        object.__setattr__(self, "lower", lower)
        object.__setattr__(self, "upper", upper)

    @classmethod
    def from_bounds(cls, bounds: Box | ArrayLike | Sequence[tuple[float, float]]) -> Box:
        """Build a box from any usual form of bounds.

        Parameters
        ----------
        bounds : Box, array_like of shape (D, 2), or scipy.optimize.Bounds
            A box is returned as it is; otherwise one ``(lower, upper)`` pair a coordinate.

        Returns
        -------
        Box

        Raises
        ------
        InvalidInputError
            If the shape is not (D, 2), or the pairs are not valid bounds.

        Examples
        --------
        >>> Box.from_bounds([(-1, 1), (0, 5)]).dim
        2
        """
        if isinstance(bounds, Box):
            return bounds
        if hasattr(bounds, "lb") and hasattr(bounds, "ub"):
            return cls(*np.broadcast_arrays(np.atleast_1d(bounds.lb), np.atleast_1d(bounds.ub)))
        if isinstance(bounds, Mapping):
            raise InvalidInputError(
                "Bounds have no names: they must be an array of shape (D, 2); received "
                f"{type(bounds).__name__}. Pass list(bounds.values()), or give the parameters to "
                "boring.study.Study."
            )
        remedy = "Pass a Box, or one (lower, upper) pair for each coordinate."
        try:
            pairs = real_array(bounds)
        except (ValueError, TypeError) as error:
            raise InvalidInputError(
                f"Bounds must have shape (D, 2); received a ragged sequence. {remedy}"
            ) from error
        if pairs.ndim == 0:
            raise InvalidInputError(
                f"Bounds must have shape (D, 2); received {type(bounds).__name__}. {remedy}"
            )
        if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.shape[0] == 0:
            raise InvalidInputError(
                f"Bounds must have shape (D, 2); received shape {pairs.shape}. {remedy}"
            )
        return cls(pairs[:, 0], pairs[:, 1])

    @property
    def dim(self) -> int:
        """Number of coordinates D."""
        return int(self.lower.size)

    @property
    def width(self) -> FloatArray:
        """Side lengths ``upper - lower``, shape (D,), raw units."""
        return self.upper - self.lower

    def scale(self, X: ArrayLike) -> FloatArray:
        """Map raw units to scaled ones: ``lower`` to -1 and ``upper`` to 1, exactly.

        Parameters
        ----------
        X : array_like, shape (..., D), raw units

        Returns
        -------
        ndarray, same shape, scaled units
            Points outside the box land outside [-1, 1].
        """
        points = self._check(X)
        scaled: FloatArray = 2.0 * ((points - self.lower) / self.width) - 1.0
        return scaled

    def unscale(self, U: ArrayLike) -> FloatArray:
        """Map scaled units to raw ones; the inverse of :meth:`scale` up to rounding.

        Parameters
        ----------
        U : array_like, shape (..., D), scaled units

        Returns
        -------
        ndarray, same shape, raw units
            A point of the cube lands inside the box, rounding included.
        """
        scaled = self._check(U)
        fraction = 0.5 * (scaled + 1.0)
        raw: FloatArray = self.lower * (1.0 - fraction) + self.upper * fraction
        inside = np.clip(raw, self.lower, self.upper)
        return np.where(np.abs(scaled) <= 1.0, inside, raw)

    def returned(self, U: ArrayLike) -> FloatArray:
        """Return scaled points as they come back from raw units.

        Parameters
        ----------
        U : array_like, shape (..., D), scaled units

        Returns
        -------
        ndarray, same shape, scaled units
            Off by rounding: about 1e-16, and in columns far from zero that times their distance
            from it in widths.
        """
        return self.scale(self.unscale(U))

    def contains(self, X: ArrayLike, tolerance: float = 0.0) -> BoolArray:
        """Say for each point whether it lies in the box.

        Parameters
        ----------
        X : array_like, shape (..., D), raw units
        tolerance : float, default 0
            How far outside is still allowed, relative to the side lengths.

        Returns
        -------
        ndarray of bool, shape (...)
        """
        points = self._check(X)
        slack = tolerance * self.width
        inside = (points >= self.lower - slack) & (points <= self.upper + slack)
        return np.asarray(inside.all(axis=-1), dtype=np.bool_)

    def clip(self, X: ArrayLike) -> FloatArray:
        """Return the nearest points of the box.

        Parameters
        ----------
        X : array_like, shape (..., D), raw units

        Returns
        -------
        ndarray, same shape, raw units
        """
        return np.clip(self._check(X), self.lower, self.upper)

    def sample(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Draw points uniformly from the box.

        Parameters
        ----------
        n : int
        rng : numpy.random.Generator
            Consumed.

        Returns
        -------
        ndarray, shape (n, D), raw units
        """
        return self.unscale(rng.uniform(-1.0, 1.0, size=(n, self.dim)))

    def to_dict(self) -> dict[str, list[float]]:
        """Return the bounds as lists, for JSON."""
        return {"lower": self.lower.tolist(), "upper": self.upper.tolist()}

    def __eq__(self, other: object) -> bool:
        """Boxes are equal when their bounds are, bit for bit."""
        if not isinstance(other, Box):
            return NotImplemented
        return np.array_equal(self.lower, other.lower) and np.array_equal(self.upper, other.upper)

    def __hash__(self) -> int:
        """Hash of the bounds."""
        return hash((self.lower.tobytes(), self.upper.tobytes()))

    def _check(self, X: ArrayLike) -> FloatArray:
        points = as_real_array(X, "Points")
        if points.ndim == 0 or points.shape[-1] != self.dim:
            raise InvalidInputError(
                f"Points must have {self.dim} coordinates in their last axis; received shape "
                f"{points.shape}. Give each point as many coordinates as the box has."
            )
        return points


def _bound(value: Any, name: str) -> FloatArray:
    """Return one bound as a read-only float64 copy."""
    try:
        array = real_array(value)
    except (ValueError, TypeError) as error:
        raise InvalidInputError(
            f"{name} must be a one-dimensional array of real numbers; numpy could not build one "
            f"({error}). Pass a flat list of numbers."
        ) from error
    if array.dtype.kind not in "iuf":
        raise InvalidInputError(
            f"{name} must hold real numbers; received dtype {array.dtype}. Pass numbers."
        )
    if array.ndim != 1 or array.size == 0:
        raise InvalidInputError(
            f"{name} must have shape (D,) with D at least 1; received shape {array.shape}. "
            "Pass one number for each coordinate."
        )
    bound = np.array(array, dtype=np.float64) + 0.0
    if not np.all(np.isfinite(bound)):
        raise InvalidInputError(
            f"{name} must be finite in every coordinate; received {in_brief(bound)}. "
            "Replace NaN and infinite bounds by finite ones."
        )
    bound.flags.writeable = False
    return bound
