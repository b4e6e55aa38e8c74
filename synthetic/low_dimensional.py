"""Functions of a fixed, small number of variables: the ones that get embedded.

All of them are minimised, as in their sources.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from boring.space import Box
from boring.typing import FloatArray

from .base import TestProblem

__all__ = [
    "Branin",
    "Camelback",
    "Hartmann3",
    "Hartmann6",
    "Parabola",
    "SinusoidalExponential",
    "branin",
    "camelback",
    "hartmann3",
    "hartmann6",
    "parabola",
    "sinusoidal_exponential",
]

PARABOLA_COEFFICIENTS = (0.99, 0.43, 0.06)
"""Quadratic ridge of the demonstration in the code of Tripathy, Bilionis and Gonzalez (2016)."""

CAMELBACK_HALF_SIDES = (2.0, 1.0)

CAMELBACK_OPTIMIZER = (0.08984201310031807, -0.7126564030207396)
"""Root of the gradient by Newton's method; published as (0.0898, -0.7126)."""

HARTMANN6_OPTIMIZER = (
    0.20168951100670543,
    0.15001069182345797,
    0.47687397422189703,
    0.2753324304940561,
    0.31165161660011326,
    0.6573005340656204,
)
"""Root of the gradient by Newton's method; published to six digits (Dixon and Szego 1978)."""

HARTMANN3_OPTIMIZER = (0.11458887665506896, 0.5556488946169301, 0.8525469846866774)
"""Root of the gradient by Newton's method; published to six digits."""

_HARTMANN_WEIGHTS = np.array([1.0, 1.2, 3.0, 3.2])
_HARTMANN3_SCALES = np.array([[3.0, 10.0, 30.0], [0.1, 10.0, 35.0]] * 2)
_HARTMANN3_CENTERS = 1e-4 * np.array(
    [
        [3689.0, 1170.0, 2673.0],
        [4699.0, 4387.0, 7470.0],
        [1091.0, 8732.0, 5547.0],
        [381.0, 5743.0, 8828.0],
    ]
)
_HARTMANN6_SCALES = np.array(
    [
        [10.0, 3.0, 17.0, 3.5, 1.7, 8.0],
        [0.05, 10.0, 17.0, 0.1, 8.0, 14.0],
        [3.0, 3.5, 1.7, 10.0, 17.0, 8.0],
        [17.0, 8.0, 0.05, 10.0, 0.1, 14.0],
    ]
)
_HARTMANN6_CENTERS = 1e-4 * np.array(
    [
        [1312.0, 1696.0, 5569.0, 124.0, 8283.0, 5886.0],
        [2329.0, 4135.0, 8307.0, 3736.0, 1004.0, 9991.0],
        [2348.0, 1451.0, 3522.0, 2883.0, 3047.0, 6650.0],
        [4047.0, 8828.0, 8732.0, 5743.0, 1091.0, 381.0],
    ]
)


@dataclass(frozen=True)
class Parabola:
    """``a u^2 + b u + c`` of one variable."""

    a: float = PARABOLA_COEFFICIENTS[0]
    b: float = PARABOLA_COEFFICIENTS[1]
    c: float = PARABOLA_COEFFICIENTS[2]

    def value(self, X: FloatArray) -> FloatArray:
        """Return the values, shape (n,)."""
        u = X[:, 0]
        values: FloatArray = (self.a * u + self.b) * u + self.c
        return values

    def gradient(self, X: FloatArray) -> FloatArray:
        """Return the gradients, shape (n, 1)."""
        return 2.0 * self.a * X + self.b


@dataclass(frozen=True)
class Camelback:
    """Six-hump camelback ``(4 - 2.1 a^2 + a^4/3) a^2 + a b + (4 b^2 - 4) b^2``."""

    def value(self, X: FloatArray) -> FloatArray:
        """Return the values, shape (n,)."""
        a, b = X.T
        a2, b2 = a * a, b * b
        values: FloatArray = (4.0 - 2.1 * a2 + a2 * a2 / 3.0) * a2 + a * b + (4.0 * b2 - 4.0) * b2
        return values

    def gradient(self, X: FloatArray) -> FloatArray:
        """Return the gradients, shape (n, 2)."""
        a, b = X.T
        a2 = a * a
        return np.column_stack(
            (
                (8.0 - 8.4 * a2 + 2.0 * a2 * a2) * a + b,
                a + (16.0 * b * b - 8.0) * b,
            )
        )


@dataclass(frozen=True)
class SinusoidalExponential:
    """``sin(5 a + 1/2) exp(-3 (b - 0.3)^2)``: a wave under a ridge."""

    def value(self, X: FloatArray) -> FloatArray:
        """Return the values, shape (n,)."""
        a, b = X.T
        values: FloatArray = np.sin(5.0 * a + 0.5) * np.exp(-3.0 * (b - 0.3) ** 2)
        return values

    def gradient(self, X: FloatArray) -> FloatArray:
        """Return the gradients, shape (n, 2)."""
        a, b = X.T
        ridge = np.exp(-3.0 * (b - 0.3) ** 2)
        return np.column_stack(
            (
                5.0 * np.cos(5.0 * a + 0.5) * ridge,
                -6.0 * (b - 0.3) * np.sin(5.0 * a + 0.5) * ridge,
            )
        )


@dataclass(frozen=True)
class Branin:
    """``(b - 5.1 a^2/(4 pi^2) + 5 a/pi - 6)^2 + 10 (1 - 1/(8 pi)) cos a + 10``."""

    def value(self, X: FloatArray) -> FloatArray:
        """Return the values, shape (n,)."""
        a, b = X.T
        values: FloatArray = self._bend(a, b) ** 2 + 10.0 * (1.0 - 0.125 / np.pi) * np.cos(a) + 10.0
        return values

    def gradient(self, X: FloatArray) -> FloatArray:
        """Return the gradients, shape (n, 2)."""
        a, b = X.T
        bend = self._bend(a, b)
        slope = -10.2 * a / (4.0 * np.pi**2) + 5.0 / np.pi
        return np.column_stack(
            (2.0 * bend * slope - 10.0 * (1.0 - 0.125 / np.pi) * np.sin(a), 2.0 * bend)
        )

    @staticmethod
    def _bend(a: FloatArray, b: FloatArray) -> FloatArray:
        bend: FloatArray = b - 5.1 * a * a / (4.0 * np.pi**2) + 5.0 * a / np.pi - 6.0
        return bend


@dataclass(frozen=True)
class Hartmann6:
    """Negative sum of four anisotropic Gaussian bumps of six variables.

    Parameters
    ----------
    clipped : bool, default False
        Evaluate at the nearest point of the unit cube, so that the function is constant beyond it.
    """

    clipped: bool = False

    scales: ClassVar[FloatArray] = _HARTMANN6_SCALES
    centers: ClassVar[FloatArray] = _HARTMANN6_CENTERS

    def value(self, X: FloatArray) -> FloatArray:
        """Return the values, shape (n,)."""
        _, bumps = self._bumps(X)
        values: FloatArray = -bumps.sum(axis=1)
        return values

    def gradient(self, X: FloatArray) -> FloatArray:
        """Return the gradients, shape (n, d)."""
        offsets, bumps = self._bumps(X)
        gradients: FloatArray = 2.0 * np.einsum("nk,ki,nki->ni", bumps, self.scales, offsets)
        if self.clipped:
            gradients[(X < 0.0) | (X > 1.0)] = 0.0
        return gradients

    def _bumps(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        inside = np.clip(X, 0.0, 1.0) if self.clipped else X
        offsets = inside[:, np.newaxis] - self.centers
        exponents = np.einsum("ki,nki->nk", self.scales, offsets**2)
        return offsets, _HARTMANN_WEIGHTS * np.exp(-exponents)


@dataclass(frozen=True)
class Hartmann3(Hartmann6):
    """The same of three variables."""

    scales: ClassVar[FloatArray] = _HARTMANN3_SCALES
    centers: ClassVar[FloatArray] = _HARTMANN3_CENTERS


def parabola() -> TestProblem:
    """Return the parabola of one variable on [-1, 1].

    Source: thesis 5.3.2; coefficients of the quadratic ridge of Tripathy et al. (2016).
    """
    a, b, c = PARABOLA_COEFFICIENTS
    return TestProblem(
        name="parabola-1",
        space=Box.from_bounds([(-1.0, 1.0)]),
        formula=Parabola(),
        optimum=c - b * b / (4.0 * a),
        optimizers=np.array([[-b / (2.0 * a)]]),
        holds_outside=True,
        true_basis=np.eye(1),
        effective_dim=1,
    )


def camelback(half_sides: tuple[float, float] = CAMELBACK_HALF_SIDES) -> TestProblem:
    """Return the six-hump camelback on [-2, 2] x [-1, 1], with its two equal optima.

    Parameters
    ----------
    half_sides : tuple of float, default (2, 1)
        The companion papers have (3, 2), where values reach 160.

    Notes
    -----
    Source: thesis 5.3.2; Dixon and Szego (1978). Its sixth and fourth powers dominate far out, so
    its optimum is that of the whole plane.
    """
    best = np.array(CAMELBACK_OPTIMIZER)
    return TestProblem(
        name="camelback-2",
        space=Box.from_bounds([(-half, half) for half in half_sides]),
        formula=Camelback(),
        optimum=float(Camelback().value(best[np.newaxis])[0]),
        optimizers=np.array([best, -best]),
        holds_outside=True,
        true_basis=np.eye(2),
        effective_dim=2,
    )


def sinusoidal_exponential() -> TestProblem:
    """Return the sinusoidal-exponential function on [-1, 1]^2.

    Source: thesis 5.3.2, which gives no formula; this one is chosen here. The value -1 is attained
    twice inside the box, where the sine is -1 on the ridge, and again outside it.
    """
    return TestProblem(
        name="sinexp-2",
        space=Box.from_bounds([(-1.0, 1.0), (-1.0, 1.0)]),
        formula=SinusoidalExponential(),
        optimum=-1.0,
        optimizers=np.array([[(-0.5 * np.pi - 0.5) / 5.0, 0.3], [(1.5 * np.pi - 0.5) / 5.0, 0.3]]),
        holds_outside=True,
        true_basis=np.eye(2),
        effective_dim=2,
    )


def branin() -> TestProblem:
    """Return Branin's function on [-5, 10] x [0, 15], with its three equal optima.

    Source: thesis App. A; Dixon and Szego (1978). A square, plus a cosine that is at least -1,
    gives the bound 10/(8 pi); it is attained where the square vanishes and ``a`` is an odd multiple
    of pi, so the optimum is that of the whole plane.
    """
    a = np.pi * np.array([-1.0, 1.0, 3.0])
    b = 5.1 * a * a / (4.0 * np.pi**2) - 5.0 * a / np.pi + 6.0
    return TestProblem(
        name="branin-2",
        space=Box.from_bounds([(-5.0, 10.0), (0.0, 15.0)]),
        formula=Branin(),
        optimum=1.25 / np.pi,
        optimizers=np.column_stack((a, b)),
        holds_outside=True,
        true_basis=np.eye(2),
        effective_dim=2,
    )


def hartmann6(clipped: bool = False) -> TestProblem:
    """Return Hartmann's function of six variables on [0, 1]^6.

    Parameters
    ----------
    clipped : bool, default False
        Continue it beyond the box as a constant instead of by its formula.

    Notes
    -----
    Source: thesis App. A; Dixon and Szego (1978). All bumps have their centres in the box, so
    clipping a point to the box brings it nearer to every centre in every coordinate: the optimum
    over the box is that of the whole space.
    """
    best = np.array([HARTMANN6_OPTIMIZER])
    return TestProblem(
        name="hartmann6-6",
        space=Box(np.zeros(6), np.ones(6)),
        formula=Hartmann6(clipped),
        optimum=float(Hartmann6().value(best)[0]),
        optimizers=best,
        holds_outside=True,
        true_basis=np.eye(6),
        effective_dim=6,
    )


def hartmann3() -> TestProblem:
    """Return Hartmann's function of three variables on [0, 1]^3; -3.86278.

    Source: Dixon and Szego (1978). As for :func:`hartmann6`, the optimum is that of the whole
    space.
    """
    best = np.array([HARTMANN3_OPTIMIZER])
    return TestProblem(
        name="hartmann3-3",
        space=Box(np.zeros(3), np.ones(3)),
        formula=Hartmann3(),
        optimum=float(Hartmann3().value(best)[0]),
        optimizers=best,
        holds_outside=True,
        true_basis=np.eye(3),
        effective_dim=3,
    )
