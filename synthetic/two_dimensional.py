"""More functions of two variables, those of the companion papers; all are minimised."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from boring.space import Box
from boring.typing import FloatArray

from ._formulas import minimize_on_grid
from .base import TestProblem, cube_problem

__all__ = [
    "Bohachevsky",
    "GoldsteinPrice",
    "McCormick",
    "SineProduct",
    "bohachevsky",
    "goldstein_price",
    "mccormick",
    "sine_product",
]


@dataclass(frozen=True)
class McCormick:
    """``sin(a + b) + (a - b)^2 - 1.5 a + 2.5 b + 1``."""

    def value(self, X: FloatArray) -> FloatArray:
        """Return the values, shape (n,)."""
        a, b = X.T
        values: FloatArray = np.sin(a + b) + (a - b) ** 2 - 1.5 * a + 2.5 * b + 1.0
        return values

    def gradient(self, X: FloatArray) -> FloatArray:
        """Return the gradients, shape (n, 2)."""
        a, b = X.T
        wave, bend = np.cos(a + b), 2.0 * (a - b)
        return np.column_stack((wave + bend - 1.5, wave - bend + 2.5))


@dataclass(frozen=True)
class GoldsteinPrice:
    """``(1 + (s + 1)^2 (3 s^2 - 14 s + 19)) (30 + t^2 (3 t^2 - 16 t + 18))``.

    ``s = a + b`` and ``t = 2 a - 3 b``: the published polynomial, written in the two directions
    that its factors depend on.
    """

    def value(self, X: FloatArray) -> FloatArray:
        """Return the values, shape (n,)."""
        first, second, _, _ = self._factors(X)
        values: FloatArray = first * second
        return values

    def gradient(self, X: FloatArray) -> FloatArray:
        """Return the gradients, shape (n, 2)."""
        first, second, by_s, by_t = self._factors(X)
        by_s, by_t = by_s * second, first * by_t
        return np.column_stack((by_s + 2.0 * by_t, by_s - 3.0 * by_t))

    @staticmethod
    def _factors(X: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return the two factors and their derivatives."""
        a, b = X.T
        s, t = a + b, 2.0 * a - 3.0 * b
        q = 3.0 * s * s - 14.0 * s + 19.0
        first = 1.0 + (s + 1.0) ** 2 * q
        second = 30.0 + t * t * (3.0 * t * t - 16.0 * t + 18.0)
        by_s = (s + 1.0) * (2.0 * q + (s + 1.0) * (6.0 * s - 14.0))
        return first, second, by_s, 12.0 * t * (t - 1.0) * (t - 3.0)


@dataclass(frozen=True)
class Bohachevsky:
    """``0.7 + a^2 + 2 b^2 - 0.3 cos(3 pi a) - 0.4 cos(4 pi b)``."""

    def value(self, X: FloatArray) -> FloatArray:
        """Return the values, shape (n,)."""
        a, b = X.T
        # 1 - cos is 2 sin^2 of half the angle, which does not cancel near the optimum.
        waves = 0.6 * np.sin(1.5 * np.pi * a) ** 2 + 0.8 * np.sin(2.0 * np.pi * b) ** 2
        values: FloatArray = a * a + 2.0 * b * b + waves
        return values

    def gradient(self, X: FloatArray) -> FloatArray:
        """Return the gradients, shape (n, 2)."""
        a, b = X.T
        return np.column_stack(
            (
                2.0 * a + 0.9 * np.pi * np.sin(3.0 * np.pi * a),
                4.0 * b + 1.6 * np.pi * np.sin(4.0 * np.pi * b),
            )
        )


@dataclass(frozen=True)
class SineProduct:
    """``g(a) g(b)`` with ``g(t) = sin(13 t) sin(27 t) / 2 + 1/2``, which is never negative."""

    def value(self, X: FloatArray) -> FloatArray:
        """Return the values, shape (n,)."""
        values: FloatArray = self.factor(X).prod(axis=1)
        return values

    def gradient(self, X: FloatArray) -> FloatArray:
        """Return the gradients, shape (n, 2)."""
        gradients: FloatArray = self.slope(X) * self.factor(X)[:, ::-1]
        return gradients

    @staticmethod
    def factor(t: FloatArray) -> FloatArray:
        """Return g."""
        g: FloatArray = 0.5 * np.sin(13.0 * t) * np.sin(27.0 * t) + 0.5
        return g

    @staticmethod
    def slope(t: FloatArray) -> FloatArray:
        """Return the derivative of g."""
        slope: FloatArray = 6.5 * np.cos(13.0 * t) * np.sin(27.0 * t)
        slope += 13.5 * np.sin(13.0 * t) * np.cos(27.0 * t)
        return slope


def mccormick() -> TestProblem:
    """Return McCormick's function on [-1.5, 4] x [-3, 4]; -1.9132 at (-0.5472, -1.5472).

    A second well, 1.2284, is near (2.594, 1.594). Source: McCormick (1976). Stationary points
    have ``a - b = 1`` and ``cos(a + b) = -1/2``, so the optimum is ``-sqrt(3)/2 - pi/3``.
    """
    best = np.array([[0.5 - np.pi / 3.0, -0.5 - np.pi / 3.0]])
    return TestProblem(
        name="mccormick-2",
        space=Box.from_bounds([(-1.5, 4.0), (-3.0, 4.0)]),
        formula=McCormick(),
        optimum=-np.sqrt(0.75) - np.pi / 3.0,
        optimizers=best,
        true_basis=np.eye(2),
        effective_dim=2,
    )


def goldstein_price() -> TestProblem:
    """Return the function of Goldstein and Price on [-2, 2]^2; 3 at (0, -1).

    Source: Goldstein and Price (1971). The first factor is at least 1 and the second at least 3,
    its value at t = 3, everywhere: the optimum is that of the whole plane.
    """
    best = np.array([0.0, -1.0])
    return cube_problem("goldstein-price", GoldsteinPrice(), (-2.0, 2.0), 3.0, best)


def bohachevsky() -> TestProblem:
    """Return Bohachevsky's first function on [-100, 100]^2; 0 at the origin, positive elsewhere.

    Source: Bohachevsky, Johnson and Stein (1986).
    """
    return cube_problem("bohachevsky", Bohachevsky(), (-100.0, 100.0), 0.0, np.zeros(2))


def sine_product() -> TestProblem:
    """Return the product of sine waves on [0, 1]^2, called SinTwo; 0.0018427, once.

    Source: HPOlib, in Aryan (PhD thesis, Victoria University of Wellington 2020), ch. 4.
    """
    best = np.full(2, _lowest_factor())
    value = float(SineProduct().value(best[np.newaxis])[0])
    formula = SineProduct()
    return cube_problem("sine-product", formula, (0.0, 1.0), value, best, holds_outside=False)


@lru_cache(maxsize=1)
def _lowest_factor() -> float:
    return minimize_on_grid(SineProduct.factor, SineProduct.slope, np.linspace(0.0, 1.0, 2001))
