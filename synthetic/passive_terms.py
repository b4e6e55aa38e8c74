"""Functions of one variable for the passive directions of a problem.

Each has its only global minimum value, 0, at ``offset``, on the whole line, so that a sum of an
active term and passive terms is best where each of them is best.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from boring.typing import FloatArray

from .base import Formula

__all__ = ["Bowl", "PassiveTerm", "Ripple", "Well", "decreasing_ripples", "mixed_terms"]

RIPPLE_AMPLITUDE = 0.3
RIPPLE_DECAY = 0.5
RIPPLE_FREQUENCY = 5.0
RIPPLE_OFFSET = 0.2
"""Amplitudes 0.3, 0.15, 0.075, ...; thesis 3.2.1 wants decreasing ones and gives no numbers."""


class PassiveTerm(Formula, Protocol):
    """A formula of one variable whose minimum is 0, at ``offset``."""

    @property
    def offset(self) -> float:
        """Where the minimum is, scaled units."""
        ...


@dataclass(frozen=True)
class Ripple:
    """``amplitude (1 - cos(frequency (p - offset)))``."""

    amplitude: float
    frequency: float = RIPPLE_FREQUENCY
    offset: float = RIPPLE_OFFSET

    def value(self, X: FloatArray) -> FloatArray:
        """Return the values, shape (n,)."""
        phase = self.frequency * (X[:, 0] - self.offset)
        values: FloatArray = self.amplitude * (1.0 - np.cos(phase))
        return values

    def gradient(self, X: FloatArray) -> FloatArray:
        """Return the gradients, shape (n, 1)."""
        phase = self.frequency * (X - self.offset)
        gradients: FloatArray = self.amplitude * self.frequency * np.sin(phase)
        return gradients


@dataclass(frozen=True)
class Bowl:
    """``curvature (p - offset)^2``."""

    curvature: float
    offset: float

    def value(self, X: FloatArray) -> FloatArray:
        """Return the values, shape (n,)."""
        values: FloatArray = self.curvature * (X[:, 0] - self.offset) ** 2
        return values

    def gradient(self, X: FloatArray) -> FloatArray:
        """Return the gradients, shape (n, 1)."""
        return 2.0 * self.curvature * (X - self.offset)


@dataclass(frozen=True)
class Well:
    """``depth (1 - exp(-(p - offset)^2 / (2 width^2)))``."""

    depth: float
    width: float
    offset: float

    def value(self, X: FloatArray) -> FloatArray:
        """Return the values, shape (n,)."""
        t = (X[:, 0] - self.offset) / self.width
        values: FloatArray = -self.depth * np.expm1(-0.5 * t * t)
        return values

    def gradient(self, X: FloatArray) -> FloatArray:
        """Return the gradients, shape (n, 1)."""
        t = (X - self.offset) / self.width
        gradients: FloatArray = self.depth / self.width * t * np.exp(-0.5 * t * t)
        return gradients


def decreasing_ripples(n: int) -> tuple[PassiveTerm, ...]:
    """Return n ripples, each of half the amplitude of the one before."""
    return tuple(Ripple(RIPPLE_AMPLITUDE * RIPPLE_DECAY**j) for j in range(n))


def mixed_terms(n: int) -> tuple[PassiveTerm, ...]:
    """Return n terms of different kinds and scales: ripple, bowl, well, and again at half height.

    They give the model of thesis ch. 4 its exact structure, a term on the active subspace and terms
    of one variable with a variance and a length scale each. Numbers chosen here.
    """
    terms: list[PassiveTerm] = []
    height = 1.0
    while len(terms) < n:
        terms.append(Ripple(0.3 * height))
        terms.append(Bowl(0.2 * height, offset=-0.1))
        terms.append(Well(0.25 * height, width=0.3, offset=0.15))
        height *= RIPPLE_DECAY
    return tuple(terms[:n])
