"""Functions of one variable, on which the surrogates of the companion papers are told apart.

T1 to T4 are those of Kruse (MSc thesis, DTU 2022), on [-100, 100]; all are minimised.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from boring.space import Box
from boring.typing import FloatArray

from ._formulas import minimize_on_grid
from .base import Formula, TestProblem, WithoutGradient

__all__ = [
    "Branches",
    "BranchingProblem",
    "anisotropic_t4",
    "branches_t3",
    "forrester",
    "smooth_t1",
    "steps_t2",
    "two_waves",
    "wavy_parabola",
]

T_BOX = (-100.0, 100.0)

_EDGES = np.array([-100, -83, -71, -60, -49, -31, -9, 3, 14, 26, 37, 60, 83, 100], dtype=np.float64)
_HEIGHTS = np.array([181, 162, 144, 69, 106, 88, 200, 125, 144, 162, 181, 88, 181, 200.0])
"""Of T2: 14 heights for 13 intervals; the last is that of everything outside them."""

T3_CENTER = 11.0 * np.pi
"""Middle of the bowl that makes one of T3's equal minima the only one (chosen here: the paper's
own variant is known by name alone)."""
T3_BOWL = 1.0 / 200.0

T4_EDGE, T4_WALL = 70.0, 0.1
"""Where and how steeply the ends of T4 rise, so that its minimum is inside (chosen here, as T3)."""


@dataclass(frozen=True)
class SmoothT1:
    """``x sin(pi x / 50) + 150 + x / 10 + sin x``."""

    def value(self, X: FloatArray) -> FloatArray:
        """Return the values, shape (n,)."""
        x = X[:, 0]
        values: FloatArray = x * np.sin(np.pi * x / 50.0) + 150.0 + x / 10.0 + np.sin(x)
        return values

    def gradient(self, X: FloatArray) -> FloatArray:
        """Return the gradients, shape (n, 1)."""
        wave = np.pi * X / 50.0
        gradients: FloatArray = np.sin(wave) + wave * np.cos(wave) + 0.1 + np.cos(X)
        return gradients


@dataclass(frozen=True)
class StepsT2(WithoutGradient):
    """``u_i + sin x`` on the i-th of 13 intervals, 200 + sin x outside them."""

    def value(self, X: FloatArray) -> FloatArray:
        """Return the values, shape (n,)."""
        x = X[:, 0]
        place = np.searchsorted(_EDGES, x, side="right") - 1
        values: FloatArray = _HEIGHTS[place] + np.sin(x)  # -1, before the first, is the last height
        return values


@dataclass(frozen=True)
class Branches(WithoutGradient):
    """The lower of T3's two branches: ``50 g + 100 + min(0, 30 - 90 g) + 10 sin(x / 2)``.

    g is 0, 1 or 2 for a negative, zero or positive x.

    Parameters
    ----------
    bowl : float, default 0
        Factor of ``(x - 11 pi)^2``, added to both branches.
    """

    bowl: float = 0.0

    def value(self, X: FloatArray) -> FloatArray:
        """Return the values of the lower branch, shape (n,)."""
        x = X[:, 0]
        g = np.sign(x) + 1.0
        values: FloatArray = 50.0 * g + 100.0 + 10.0 * np.sin(x / 2.0)
        return values + np.minimum(30.0 - 90.0 * g, 0.0) + self.bowl * (x - T3_CENTER) ** 2

    @staticmethod
    def gap(X: FloatArray) -> FloatArray:
        """Return how far the upper branch is above the lower, shape (n,)."""
        g = np.sign(X[:, 0]) + 1.0
        gaps: FloatArray = np.abs(30.0 - 90.0 * g)
        return gaps


@dataclass(frozen=True)
class AnisotropicT4:
    """``200 - x^2 / 200 + max(10, |x| / 2) sin(x / 2 min(3, (1 + x / 100)^2))``.

    Parameters
    ----------
    wall : float, default 0
        Factor of ``max(0, |x| - 70)^2``, added to it.
    """

    wall: float = 0.0

    def value(self, X: FloatArray) -> FloatArray:
        """Return the values, shape (n,)."""
        x = X[:, 0]
        height, phase = np.maximum(10.0, np.abs(x) / 2.0), x / 2.0 * self._pace(x)
        values: FloatArray = 200.0 - x * x / 200.0 + height * np.sin(phase)
        return values + self.wall * np.maximum(np.abs(x) - T4_EDGE, 0.0) ** 2

    def gradient(self, X: FloatArray) -> FloatArray:
        """Return the gradients, shape (n, 1); at a kink, that of one side."""
        pace = self._pace(X)
        height, phase = np.maximum(10.0, np.abs(X) / 2.0), X / 2.0 * pace
        height_slope = np.where(np.abs(X) > 20.0, np.sign(X) / 2.0, 0.0)
        quickening = np.where(pace < 3.0, (1.0 + X / 100.0) / 50.0, 0.0)
        gradients: FloatArray = -X / 100.0 + height_slope * np.sin(phase)
        gradients += height * np.cos(phase) * (0.5 * pace + 0.5 * X * quickening)
        beyond = np.maximum(np.abs(X) - T4_EDGE, 0.0)
        return gradients + 2.0 * self.wall * np.sign(X) * beyond

    @staticmethod
    def _pace(x: FloatArray) -> FloatArray:
        pace: FloatArray = np.minimum(3.0, (1.0 + x / 100.0) ** 2)
        return pace


@dataclass(frozen=True)
class TwoWaves:
    """``sin 7x + cos 17x``."""

    def value(self, X: FloatArray) -> FloatArray:
        """Return the values, shape (n,)."""
        values: FloatArray = np.sin(7.0 * X[:, 0]) + np.cos(17.0 * X[:, 0])
        return values

    def gradient(self, X: FloatArray) -> FloatArray:
        """Return the gradients, shape (n, 1)."""
        gradients: FloatArray = 7.0 * np.cos(7.0 * X) - 17.0 * np.sin(17.0 * X)
        return gradients


@dataclass(frozen=True)
class Forrester:
    """``(6 x - 2)^2 sin(12 x - 4)``."""

    def value(self, X: FloatArray) -> FloatArray:
        """Return the values, shape (n,)."""
        u = 6.0 * X[:, 0] - 2.0
        values: FloatArray = u * u * np.sin(2.0 * u)
        return values

    def gradient(self, X: FloatArray) -> FloatArray:
        """Return the gradients, shape (n, 1)."""
        u = 6.0 * X - 2.0
        gradients: FloatArray = 12.0 * u * (np.sin(2.0 * u) + u * np.cos(2.0 * u))
        return gradients


@dataclass(frozen=True)
class WavyParabola:
    """``sin 3x + x^2 - 0.7 x``."""

    def value(self, X: FloatArray) -> FloatArray:
        """Return the values, shape (n,)."""
        x = X[:, 0]
        values: FloatArray = np.sin(3.0 * x) + x * x - 0.7 * x
        return values

    def gradient(self, X: FloatArray) -> FloatArray:
        """Return the gradients, shape (n, 1)."""
        gradients: FloatArray = 3.0 * np.cos(3.0 * X) + 2.0 * X - 0.7
        return gradients


class BranchingProblem(TestProblem):
    """A problem whose observations lie on the upper of two branches half of the time.

    The noiseless value is the lower branch, which is the best that can be observed at a point: the
    optimum is that of the observations. Their mean is half the gap above it, so the noise, unlike
    that of every other problem, has neither mean zero nor the same law everywhere.
    """

    formula: Branches

    def noise_at(self, X: ArrayLike, rng: np.random.Generator) -> FloatArray:
        """Return 0 or the gap, with probability 1/2 each, shape (n,); n uniform numbers."""
        points, _ = self._points(X, "X")
        upper = rng.random(len(points)) < 0.5
        return np.where(upper, self.formula.gap(points), 0.0)


def smooth_t1() -> TestProblem:
    """Return T1, smooth: a slow wave of growing height under a quick one; 64.828 at -77.352."""
    formula = SmoothT1()
    return _on_interval("smooth-t1", formula, T_BOX, _lowest(formula, T_BOX))


def steps_t2() -> TestProblem:
    """Return T2, thirteen steps under a sine; 68, at -18.5 pi and -16.5 pi.

    **Deviation.** The paper's text has 200 at the ends of the interval, its formula 181 at the
    left one; the formula is taken.
    """
    return _on_interval("steps-t2", StepsT2(), T_BOX, -np.pi * np.array([18.5, 16.5]))


def branches_t3(bowl: float = 0.0) -> TestProblem:
    """Return T3: each observation on one of two branches, by chance; 40 on the lower.

    Parameters
    ----------
    bowl : float, default 0
        With 0, eight points share the minimum; otherwise the one at 11 pi has it alone (T3').
    """
    wells = np.pi * (3.0 + 4.0 * np.arange(8)) if bowl == 0.0 else np.array([T3_CENTER])
    name = "branches-t3" if bowl == 0.0 else "branches-t3-unique"
    return _on_interval(name, Branches(bowl), T_BOX, wells, BranchingProblem)


def anisotropic_t4(wall: float = 0.0) -> TestProblem:
    """Return T4, a wave that quickens and grows; 100.763 at 99.497, at the end of the box.

    Parameters
    ----------
    wall : float, default 0
        T4' has 0.1: 137.076 at 74.356, inside.
    """
    formula = AnisotropicT4(wall)
    name = "anisotropic-t4" if wall == 0.0 else "anisotropic-t4-inner"
    return _on_interval(name, formula, T_BOX, _lowest(formula, T_BOX))


def two_waves() -> TestProblem:
    """Return ``sin 7x + cos 17x`` on [-1, 1]; -1.9673 at -0.1905.

    Source: Agrawal, project report, Cambridge 2016, who only fits it.
    """
    return _on_interval("two-waves", TwoWaves(), (-1.0, 1.0), _lowest(TwoWaves(), (-1.0, 1.0)))


def forrester() -> TestProblem:
    """Return Forrester's function on [0, 1]; -6.02074 at 0.75725.

    Source: Forrester, Sobester and Keane (2008).
    """
    return _on_interval("forrester", Forrester(), (0.0, 1.0), _lowest(Forrester(), (0.0, 1.0)))


def wavy_parabola() -> TestProblem:
    """Return ``sin 3x + x^2 - 0.7 x`` on [-1, 2]; -0.50036 at -0.3594.

    Source: Tiao et al. (2021), figure 1.
    """
    formula = WavyParabola()
    return _on_interval("wavy-parabola", formula, (-1.0, 2.0), _lowest(formula, (-1.0, 2.0)))


@lru_cache(maxsize=16)
def _lowest(formula: SmoothT1 | AnisotropicT4 | TwoWaves, sides: tuple[float, float]) -> float:
    return minimize_on_grid(
        lambda t: formula.value(t[:, np.newaxis]),
        lambda t: formula.gradient(t[:, np.newaxis])[:, 0],
        np.linspace(*sides, 4001),
    )


def _on_interval(
    family: str,
    formula: Formula,
    sides: tuple[float, float],
    wells: ArrayLike,
    kind: Callable[..., TestProblem] = TestProblem,
) -> TestProblem:
    """Return the problem; nothing is claimed of what is outside the interval."""
    optimizers = np.atleast_1d(np.asarray(wells, dtype=np.float64))[:, np.newaxis]
    return kind(
        name=f"{family}-1",
        space=Box.from_bounds([sides]),
        formula=formula,
        optimum=float(formula.value(optimizers).min()),
        optimizers=optimizers,
        true_basis=np.eye(1),
        effective_dim=1,
    )
