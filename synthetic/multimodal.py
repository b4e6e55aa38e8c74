"""Functions on which an optimiser gets stuck: many wells, a needle, plateaus, cliffs.

All are minimised, as in their sources, and none is lower outside its box than inside it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from boring.typing import FloatArray

from .base import TestProblem, WithoutGradient, cube_problem

__all__ = [
    "Easom",
    "Griewank",
    "NoncontinuousRastrigin",
    "Rastrigin",
    "Shekel",
    "Terraces",
    "easom",
    "griewank",
    "noncontinuous_rastrigin",
    "rastrigin",
    "shekel",
    "terraces",
]

GRIEWANK_BOX = (-10.0, 10.0)
"""Published: [-600, 600], where the bowl is 90 high for each variable and hides the ripples, 190
to the first axis and 2 high in all. Here the ripples, two or three to an axis in few variables,
hide the bowl, 0.025 high for each variable (chosen here)."""

EASOM_BOX = (-10.0, 10.0)
"""Published: [-100, 100], where the needle, 2.3 wide at a tenth of its depth, takes up 0.01 per
cent of the box and no search of some hundred evaluations meets it. Here it takes up 1 per cent
(chosen here)."""

RASTRIGIN_BOX = (-5.12, 5.12)
"""Sides of Rastrigin's function and of its non-continuous form (Liang et al. 2006)."""

TERRACES_BOX = (-5.12, 5.12)
"""Sides of De Jong's step function (De Jong 1975)."""

SHEKEL_BOX = (0.0, 10.0)

SHEKEL_CENTERS = np.array(
    [
        [4.0, 4.0, 4.0, 4.0],
        [1.0, 1.0, 1.0, 1.0],
        [8.0, 8.0, 8.0, 8.0],
        [6.0, 6.0, 6.0, 6.0],
        [3.0, 7.0, 3.0, 7.0],
        [2.0, 9.0, 2.0, 9.0],
        [5.0, 5.0, 3.0, 3.0],
        [8.0, 1.0, 8.0, 1.0],
        [6.0, 2.0, 6.0, 2.0],
        [7.0, 3.6, 7.0, 3.6],
    ]
)
"""Centres of the ten wells, raw units (Dixon and Szego 1978)."""

SHEKEL_WIDTHS = np.array([0.1, 0.2, 0.2, 0.4, 0.4, 0.6, 0.3, 0.7, 0.5, 0.5])
"""Squared half widths of the wells, raw units: one alone is ``1 / width`` deep (ibid.)."""

SHEKEL_DEPTHS = (10.5364, 5.1285, 5.1756, 2.8711, 2.8066, 1.8595, 3.8354, 1.6766, 2.4217, 2.4273)
"""Minus the local minima, by Newton's method from the centres, in the order of the centres: every
well keeps a minimum of its own, within 0.014 of its centre."""

SHEKEL_OPTIMIZER = (
    4.000746531592046,
    4.000592934138532,
    3.9996633980403224,
    3.9995098005868077,
)
"""Root of the gradient by Newton's method; published as (4, 4, 4, 4) (Dixon and Szego 1978)."""

for _table in (SHEKEL_CENTERS, SHEKEL_WIDTHS):
    _table.flags.writeable = False


@dataclass(frozen=True)
class Griewank:
    """``|x|^2 / 4000 + 1 - prod_i cos(x_i / sqrt(i))``."""

    def value(self, X: FloatArray) -> FloatArray:
        """Return the values, shape (n,)."""
        root = np.sqrt(np.arange(1, X.shape[1] + 1))
        values: FloatArray = (X * X).sum(axis=1) / 4000.0 + 1.0 - np.cos(X / root).prod(axis=1)
        return values

    def gradient(self, X: FloatArray) -> FloatArray:
        """Return the gradients, shape (n, d)."""
        root = np.sqrt(np.arange(1, X.shape[1] + 1))
        cosines = np.cos(X / root)
        gradients = X / 2000.0
        for i in range(X.shape[1]):  # no division by a cosine, which may be zero
            others = np.delete(cosines, i, axis=1).prod(axis=1)
            gradients[:, i] += np.sin(X[:, i] / root[i]) / root[i] * others
        return gradients


@dataclass(frozen=True)
class Rastrigin:
    """``sum_i x_i^2 + 10 (1 - cos(2 pi x_i))``."""

    def value(self, X: FloatArray) -> FloatArray:
        """Return the values, shape (n,)."""
        values: FloatArray = (X * X + 20.0 * np.sin(np.pi * X) ** 2).sum(axis=1)
        return values

    def gradient(self, X: FloatArray) -> FloatArray:
        """Return the gradients, shape (n, d)."""
        gradients: FloatArray = 2.0 * X + 20.0 * np.pi * np.sin(2.0 * np.pi * X)
        return gradients


@dataclass(frozen=True)
class NoncontinuousRastrigin(WithoutGradient):
    """Rastrigin's function of ``y_i = x_i`` if ``|x_i| < 1/2``, else ``round(2 x_i) / 2``.

    In the middle it is smooth; elsewhere it is constant between cliffs of about 20, at the odd
    multiples of a quarter.
    """

    def value(self, X: FloatArray) -> FloatArray:
        """Return the values, shape (n,)."""
        return Rastrigin().value(np.where(np.abs(X) < 0.5, X, np.round(2.0 * X) / 2.0))


@dataclass(frozen=True)
class Terraces(WithoutGradient):
    """``sum_i floor(x_i + 1/2)^2``: a bowl in steps, flat everywhere between them."""

    def value(self, X: FloatArray) -> FloatArray:
        """Return the values, shape (n,)."""
        values: FloatArray = (np.floor(X + 0.5) ** 2).sum(axis=1)
        return values


@dataclass(frozen=True)
class Shekel:
    """``-sum_k 1 / (|x - center_k|^2 + width_k)``, ten wells of four variables."""

    def value(self, X: FloatArray) -> FloatArray:
        """Return the values, shape (n,)."""
        _, wells = self._wells(X)
        values: FloatArray = -wells.sum(axis=1)
        return values

    def gradient(self, X: FloatArray) -> FloatArray:
        """Return the gradients, shape (n, 4)."""
        offsets, wells = self._wells(X)
        gradients: FloatArray = 2.0 * np.einsum("nk,nki->ni", wells**2, offsets)
        return gradients

    @staticmethod
    def _wells(X: FloatArray) -> tuple[FloatArray, FloatArray]:
        offsets = X[:, np.newaxis] - SHEKEL_CENTERS
        return offsets, 1.0 / ((offsets**2).sum(axis=2) + SHEKEL_WIDTHS)


@dataclass(frozen=True)
class Easom:
    """``-cos(a) cos(b) exp(-(a - pi)^2 - (b - pi)^2)``: a needle in a plain."""

    def value(self, X: FloatArray) -> FloatArray:
        """Return the values, shape (n,)."""
        values: FloatArray = -np.cos(X).prod(axis=1) * self._bump(X)
        return values

    def gradient(self, X: FloatArray) -> FloatArray:
        """Return the gradients, shape (n, 2)."""
        cosines = np.cos(X)
        slopes = np.sin(X) + 2.0 * (X - np.pi) * cosines
        gradients: FloatArray = slopes * cosines[:, ::-1] * self._bump(X)[:, np.newaxis]
        return gradients

    @staticmethod
    def _bump(X: FloatArray) -> FloatArray:
        bump: FloatArray = np.exp(-((X - np.pi) ** 2).sum(axis=1))
        return bump


def griewank(dim: int, sides: tuple[float, float] = GRIEWANK_BOX) -> TestProblem:
    """Return Griewank's function on [-10, 10]^d; 0 at the origin.

    Source: Griewank (1981). A product of cosines is at most 1, so nothing in the whole space is
    lower than 0, and a square makes everything but the origin positive. In two variables and more
    the best of the other wells are only 0.0074 above it.

    Deviation: the box is a sixtieth of the published one, see :data:`GRIEWANK_BOX`.
    """
    return cube_problem("griewank", Griewank(), sides, 0.0, np.zeros(dim))


def rastrigin(dim: int, sides: tuple[float, float] = RASTRIGIN_BOX) -> TestProblem:
    """Return Rastrigin's function on [-5.12, 5.12]^d; 0 at the origin, positive elsewhere.

    Source: Rastrigin (1974); Muehlenbein, Schomisch and Born (1991) for d variables. It has a well
    near every point of whole numbers.
    """
    return cube_problem("rastrigin", Rastrigin(), sides, 0.0, np.zeros(dim))


def noncontinuous_rastrigin(dim: int, sides: tuple[float, float] = RASTRIGIN_BOX) -> TestProblem:
    """Return the non-continuous Rastrigin function on [-5.12, 5.12]^d; 0 at the origin only.

    Source: Liang, Qin, Suganthan and Baskar (2006). It takes values of Rastrigin's function, and
    the value 0 only where that has it.
    """
    formula = NoncontinuousRastrigin()
    return cube_problem("noncontinuous-rastrigin", formula, sides, 0.0, np.zeros(dim))


def terraces(dim: int, sides: tuple[float, float] = TERRACES_BOX) -> TestProblem:
    """Return the step function on [-5.12, 5.12]^d; 0 on the whole terrace [-1/2, 1/2)^d.

    The optimiser that it declares is the middle of that terrace. A sum of squares.

    Source: formula of Baeck (1996) and of Yao, Liu and Lin (1999, f6), on the box of the step
    function of De Jong (1975), so that there are eleven steps to an axis.
    """
    return cube_problem("terraces", Terraces(), sides, 0.0, np.zeros(dim))


def shekel() -> TestProblem:
    """Return Shekel's function with ten wells on [0, 10]^4; about -10.5364 near (4, 4, 4, 4).

    Source: Dixon and Szego (1978). All wells have their centres in the box, so clipping a point to
    the box brings it nearer to every one: the optimum over the box is that of the whole space. The
    wells are :data:`SHEKEL_CENTERS`, and :data:`SHEKEL_DEPTHS` deep.
    """
    best = np.array(SHEKEL_OPTIMIZER)
    value = float(Shekel().value(best[np.newaxis])[0])
    return cube_problem("shekel", Shekel(), SHEKEL_BOX, value, best)


def easom() -> TestProblem:
    """Return Easom's function on [-10, 10]^2; -1 at (pi, pi), almost 0 almost everywhere else.

    Source: Easom (1990). No factor is larger than 1 in size, and the exponential is 1 at one point
    only, so the optimum is that of the whole plane.

    Deviation: the box is a tenth of the published one, see :data:`EASOM_BOX`.
    """
    return cube_problem("easom", Easom(), EASOM_BOX, -1.0, np.full(2, np.pi))
