"""Formulas made from formulas, for the wrappers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from boring.space import Box
from boring.typing import FloatArray

from .base import Formula
from .passive_terms import PassiveTerm


@dataclass(frozen=True, eq=False)
class AffineInput:
    """``inner(origin + stretch * (W'x))``."""

    inner: Formula
    basis: FloatArray  # W (D, d)
    origin: FloatArray  # (d,)
    stretch: FloatArray  # (d,)

    def value(self, X: FloatArray) -> FloatArray:
        """Return the values, shape (n,)."""
        return self.inner.value(self.lift(X @ self.basis))

    def gradient(self, X: FloatArray) -> FloatArray:
        """Return the gradients, shape (n, D)."""
        slopes = self.inner.gradient(self.lift(X @ self.basis)) * self.stretch
        gradients: FloatArray = slopes @ self.basis.T
        return gradients

    def lift(self, Z: FloatArray) -> FloatArray:
        """Return u, shape (n, d), of reduced inputs z."""
        lifted: FloatArray = self.origin + self.stretch * Z
        return lifted


@dataclass(frozen=True, eq=False)
class WithPassiveTerms:
    """``inner(x) + weight * sum_j term_j(v_j's)`` with s the scaled x."""

    inner: Formula
    space: Box
    basis: FloatArray  # V (D, q)
    terms: tuple[PassiveTerm, ...]
    weight: float

    def value(self, X: FloatArray) -> FloatArray:
        """Return the values, shape (n,)."""
        P = self.space.scale(X) @ self.basis
        extra = [term.value(P[:, [j]]) for j, term in enumerate(self.terms)]
        values: FloatArray = self.inner.value(X) + self.weight * np.sum(extra, axis=0)
        return values

    def gradient(self, X: FloatArray) -> FloatArray:
        """Return the gradients, shape (n, D)."""
        P = self.space.scale(X) @ self.basis
        slopes = np.hstack([term.gradient(P[:, [j]]) for j, term in enumerate(self.terms)])
        chain = 2.0 / self.space.width
        gradients: FloatArray = (
            self.inner.gradient(X) + self.weight * (slopes @ self.basis.T) * chain
        )
        return gradients


@dataclass(frozen=True, eq=False)
class ShiftedInput:
    """``inner(x - shift)``."""

    inner: Formula
    shift: FloatArray  # (D,)

    def value(self, X: FloatArray) -> FloatArray:
        """Return the values, shape (n,)."""
        return self.inner.value(X - self.shift)

    def gradient(self, X: FloatArray) -> FloatArray:
        """Return the gradients, shape (n, D)."""
        return self.inner.gradient(X - self.shift)


@dataclass(frozen=True, eq=False)
class Negative:
    """``-inner(x)``."""

    inner: Formula

    def value(self, X: FloatArray) -> FloatArray:
        """Return the values, shape (n,)."""
        return -self.inner.value(X)

    def gradient(self, X: FloatArray) -> FloatArray:
        """Return the gradients, shape (n, D)."""
        return -self.inner.gradient(X)


def minimize_on_grid(
    value: Callable[[FloatArray], FloatArray],
    slope: Callable[[FloatArray], FloatArray],
    grid: FloatArray,
) -> float:
    """Return the minimiser of a function of one variable: root of the slope at the best cell."""
    best = int(np.argmin(value(grid)))
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, grid.size - 1)]
    return float(brentq(lambda t: float(slope(np.array([t]))[0]), low, high, xtol=1e-15))
