"""Radial profiles k(r): the shape of a stationary kernel along the scaled distance r.

A profile knows nothing of inputs or lengthscales. It returns, for squared distances
r^2, the kernel value k(r) with k(0) = 1 and the *slope* s(r) = -k'(r)/r, which is finite
at r = 0 and gives every derivative that the library needs:

    dk(|z - z'|)/dz = -s(r) (z - z').

Formulas: Rasmussen & Williams (2006), ch. 4. **Deviation** from the thesis (eq. 2.13,
2.14): the printed Matern-3/2 has the squared distance where the distance belongs, which
is not positive definite, and its "derivative" repeats the kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from boring.exceptions import InvalidInputError, UnknownNameError
from boring.typing import FloatArray
from boring.validation import suggest

AT_ZERO = 1e-9
"""How far k(0) may be from 1."""

_ROOT3 = float(np.sqrt(3.0))
_ROOT5 = float(np.sqrt(5.0))


def _matern32(squared_distance: FloatArray) -> tuple[FloatArray, FloatArray]:
    scaled = np.sqrt(squared_distance)
    scaled *= _ROOT3
    slope = np.exp(-scaled)
    scaled += 1.0
    scaled *= slope
    slope *= 3.0
    return scaled, slope


def _matern52(squared_distance: FloatArray) -> tuple[FloatArray, FloatArray]:
    scaled = np.sqrt(squared_distance)
    scaled *= _ROOT5
    decay = np.exp(-scaled)
    scaled += 1.0
    slope = scaled * decay
    slope *= 5.0 / 3.0
    value = squared_distance * (5.0 / 3.0)
    value += scaled
    value *= decay
    return value, slope


def _squared_exponential(squared_distance: FloatArray) -> tuple[FloatArray, FloatArray]:
    value = np.exp(-0.5 * squared_distance)
    return value, value


@dataclass(frozen=True, slots=True)
class RadialProfile:
    """One stationary kernel shape.

    Attributes
    ----------
    name : str
    value_and_slope : callable
        Maps squared scaled distances r^2 (any shape, >= 0) to ``(k, s)`` of the same
        shape, k(0) = 1 and s = -k'(r)/r. The input is left unchanged.

    Raises
    ------
    InvalidInputError
        If it is not such a function.
    """

    name: str
    value_and_slope: Callable[[FloatArray], tuple[FloatArray, FloatArray]] = field(repr=False)

    def __post_init__(self) -> None:
        """Try the function at two distances: an error here is nearer to its cause than in a fit."""
        if not callable(self.value_and_slope):
            raise InvalidInputError(
                f"value_and_slope must be callable; received {type(self.value_and_slope).__name__}."
            )
        found: Any = self.value_and_slope(np.array([0.0, 1.0]))
        is_pair = isinstance(found, tuple) and [np.shape(part) for part in found] == [(2,), (2,)]
        if not is_pair or not np.all(np.isfinite(found)) or abs(found[0][0] - 1.0) > AT_ZERO:
            raise InvalidInputError(
                f"The profile {self.name!r} must map squared distances to a pair of finite arrays "
                f"of their shape, k with k(0) = 1 and s = -k'(r)/r; of [0, 1] it made {found!r}."
            )

    def value(self, squared_distance: FloatArray) -> FloatArray:
        """Return k(r) for squared distances r^2."""
        return self.value_and_slope(squared_distance)[0]


MATERN32 = RadialProfile("matern32", _matern32)
MATERN52 = RadialProfile("matern52", _matern52)
SQUARED_EXPONENTIAL = RadialProfile("squared-exponential", _squared_exponential)

_PROFILES = {profile.name: profile for profile in (MATERN32, MATERN52, SQUARED_EXPONENTIAL)}


def get_profile(name: str | RadialProfile) -> RadialProfile:
    """Return the profile called ``name``; a profile is returned as it is.

    Parameters
    ----------
    name : {"matern32", "matern52", "squared-exponential"} or RadialProfile

    Raises
    ------
    UnknownNameError
        If no profile has that name.
    """
    if isinstance(name, RadialProfile):
        return name
    try:
        return _PROFILES[name]
    except KeyError:
        raise UnknownNameError(
            f"kernel must be one of {sorted(_PROFILES)}, received {name!r}. "
            f"{suggest(name, _PROFILES)}"
        ) from None
