"""Functions of any number of variables.

All are minimised, as in their sources, except the two Gaussian ones, which are maximised.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from boring.typing import FloatArray

from ._formulas import minimize_on_grid
from .base import TestProblem, cube_problem

__all__ = [
    "Ackley",
    "GaussianMixture",
    "Levy",
    "Michalewicz",
    "Rosenbrock",
    "Schwefel12",
    "StyblinskiTang",
    "UnnormalizedGaussian",
    "ackley",
    "ackley_off_center",
    "gaussian_mixture",
    "levy",
    "michalewicz",
    "rosenbrock",
    "schwefel12",
    "styblinski_tang",
    "unnormalized_gaussian",
]

ROSENBROCK_BOX = (-5.0, 10.0)
"""Sides of the generalised Rosenbrock function (thesis App. A; Rana et al. 2017)."""

LEVY_BOX = (-10.0, 10.0)

GAUSSIAN_SCALE = 0.5
"""Standard deviation, raw units; the sources do not give one (chosen here)."""

ACKLEY_BOX = (-32.768, 32.768)

ACKLEY_OFF_CENTER_BOX = (-5.0, 10.0)
"""Box with the optimum away from its middle (Eriksson et al. 2019)."""

MIXTURE_MEANS = (2.0, 3.0)
MIXTURE_WEIGHTS = (1.0, 0.5)
MIXTURE_BOX = (1.0, 4.0)
"""Two unit Gaussians, the second at half the height (Li et al. 2018)."""

_MICHALEWICZ_POWER = 20


@dataclass(frozen=True)
class Rosenbrock:
    """``sum_i 100 (x_{i+1} - x_i^2)^2 + (1 - x_i)^2``."""

    def value(self, X: FloatArray) -> FloatArray:
        """Return the values, shape (n,)."""
        x, bend = X[:, :-1], X[:, 1:] - X[:, :-1] ** 2
        values: FloatArray = (100.0 * bend**2 + (1.0 - x) ** 2).sum(axis=1)
        return values

    def gradient(self, X: FloatArray) -> FloatArray:
        """Return the gradients, shape (n, d)."""
        x, bend = X[:, :-1], X[:, 1:] - X[:, :-1] ** 2
        gradients = np.zeros_like(X)
        gradients[:, :-1] = -400.0 * bend * x - 2.0 * (1.0 - x)
        gradients[:, 1:] += 200.0 * bend
        return gradients


@dataclass(frozen=True)
class Levy:
    """Levy's function of ``w = 1 + (x - 1)/4``.

    ``sin^2(pi w_1) + sum_{i<d} (w_i - 1)^2 (1 + 10 sin^2(pi w_i + 1))
    + (w_d - 1)^2 (1 + sin^2(2 pi w_d))``.
    """

    def value(self, X: FloatArray) -> FloatArray:
        """Return the values, shape (n,)."""
        w = 1.0 + (X - 1.0) / 4.0
        head, last = w[:, :-1], w[:, -1]
        values: FloatArray = (
            np.sin(np.pi * w[:, 0]) ** 2
            + ((head - 1.0) ** 2 * (1.0 + 10.0 * np.sin(np.pi * head + 1.0) ** 2)).sum(axis=1)
            + (last - 1.0) ** 2 * (1.0 + np.sin(2.0 * np.pi * last) ** 2)
        )
        return values

    def gradient(self, X: FloatArray) -> FloatArray:
        """Return the gradients, shape (n, d)."""
        w = 1.0 + (X - 1.0) / 4.0
        head, last = w[:, :-1], w[:, -1]
        gradients = np.empty_like(X)
        gradients[:, :-1] = 2.0 * (head - 1.0) * (1.0 + 10.0 * np.sin(np.pi * head + 1.0) ** 2)
        gradients[:, :-1] += 10.0 * np.pi * (head - 1.0) ** 2 * np.sin(2.0 * (np.pi * head + 1.0))
        gradients[:, -1] = 2.0 * (last - 1.0) * (1.0 + np.sin(2.0 * np.pi * last) ** 2)
        gradients[:, -1] += 2.0 * np.pi * (last - 1.0) ** 2 * np.sin(4.0 * np.pi * last)
        gradients[:, 0] += np.pi * np.sin(2.0 * np.pi * w[:, 0])
        return gradients / 4.0


@dataclass(frozen=True)
class Ackley:
    """``20 (1 - exp(-rms(x)/5)) + e - exp(mean cos(2 pi x_i))``.

    It has a cusp at its optimum, the origin; there ``gradient`` returns zero, a subgradient.
    """

    def value(self, X: FloatArray) -> FloatArray:
        """Return the values, shape (n,)."""
        rms = np.sqrt((X * X).mean(axis=1))
        waves = np.cos(2.0 * np.pi * X).mean(axis=1)
        values: FloatArray = -20.0 * np.expm1(-0.2 * rms) - np.e * np.expm1(waves - 1.0)
        return values

    def gradient(self, X: FloatArray) -> FloatArray:
        """Return the gradients, shape (n, d)."""
        d = X.shape[1]
        rms = np.sqrt((X * X).mean(axis=1, keepdims=True))
        waves = np.cos(2.0 * np.pi * X).mean(axis=1, keepdims=True)
        direction = np.divide(X, rms, out=np.zeros_like(X), where=rms > 0.0)
        gradients: FloatArray = (
            4.0 * np.exp(-0.2 * rms) * direction
            + 2.0 * np.pi * np.exp(waves) * np.sin(2.0 * np.pi * X)
        ) / d
        return gradients


@dataclass(frozen=True)
class StyblinskiTang:
    """``sum_i (x_i^4 - 16 x_i^2 + 5 x_i) / 2``."""

    def value(self, X: FloatArray) -> FloatArray:
        """Return the values, shape (n,)."""
        values: FloatArray = 0.5 * (((X * X - 16.0) * X + 5.0) * X).sum(axis=1)
        return values

    def gradient(self, X: FloatArray) -> FloatArray:
        """Return the gradients, shape (n, d)."""
        return (2.0 * X * X - 16.0) * X + 2.5


@dataclass(frozen=True)
class Michalewicz:
    """``-sum_i sin(x_i) sin(i x_i^2 / pi)^20``, with the usual steepness m = 10.

    Parameters
    ----------
    clipped : bool, default False
        Evaluate at the nearest point of [0, pi]^d: beyond it every term is zero, and goes there
        without a kink, because at both ends the term and its slope vanish.
    """

    clipped: bool = False

    def value(self, X: FloatArray) -> FloatArray:
        """Return the values, shape (n,)."""
        inside = np.clip(X, 0.0, np.pi) if self.clipped else X
        index = np.arange(1, X.shape[1] + 1)
        steep = np.sin(index * inside * inside / np.pi) ** _MICHALEWICZ_POWER
        values: FloatArray = -(np.sin(inside) * steep).sum(axis=1)
        return values

    def gradient(self, X: FloatArray) -> FloatArray:
        """Return the gradients, shape (n, d)."""
        index = np.arange(1, X.shape[1] + 1)
        inner = np.sin(index * X * X / np.pi)
        slope = 2.0 * index * X / np.pi * np.cos(index * X * X / np.pi)
        gradients: FloatArray = -(inner ** (_MICHALEWICZ_POWER - 1)) * (
            np.cos(X) * inner + _MICHALEWICZ_POWER * np.sin(X) * slope
        )
        if self.clipped:
            gradients[(X < 0.0) | (X > np.pi)] = 0.0
        return gradients


@dataclass(frozen=True)
class Schwefel12:
    """``sum_i (x_1 + ... + x_i)^2``."""

    def value(self, X: FloatArray) -> FloatArray:
        """Return the values, shape (n,)."""
        values: FloatArray = (np.cumsum(X, axis=1) ** 2).sum(axis=1)
        return values

    def gradient(self, X: FloatArray) -> FloatArray:
        """Return the gradients, shape (n, d)."""
        sums = np.cumsum(X, axis=1)
        gradients: FloatArray = 2.0 * np.cumsum(sums[:, ::-1], axis=1)[:, ::-1]
        return gradients


@dataclass(frozen=True)
class GaussianMixture:
    """``sum_k weight_k exp(-|x - mean_k 1|^2 / (2 scale^2))``, not normalised.

    Parameters
    ----------
    means : tuple of float
        Every coordinate of the k-th centre.
    weights : tuple of float
        Heights, positive.
    scale : float
        Standard deviation of every bump, raw units.
    """

    means: tuple[float, ...]
    weights: tuple[float, ...]
    scale: float = 1.0

    def value(self, X: FloatArray) -> FloatArray:
        """Return the values, shape (n,)."""
        _, bumps = self._bumps(X)
        values: FloatArray = bumps.sum(axis=1)
        return values

    def gradient(self, X: FloatArray) -> FloatArray:
        """Return the gradients, shape (n, d)."""
        offsets, bumps = self._bumps(X)
        gradients: FloatArray = -np.einsum("nk,nki->ni", bumps, offsets) / self.scale**2
        return gradients

    def _bumps(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        offsets = X[:, np.newaxis] - np.array(self.means)[:, np.newaxis]
        distances = (offsets**2).sum(axis=2) / self.scale**2
        return offsets, np.array(self.weights) * np.exp(-0.5 * distances)


@dataclass(frozen=True)
class UnnormalizedGaussian:
    """``exp(-|x|^2 / (2 scale^2))``.

    Parameters
    ----------
    scale : float
        Standard deviation, raw units.
    """

    scale: float = GAUSSIAN_SCALE

    def value(self, X: FloatArray) -> FloatArray:
        """Return the values, shape (n,)."""
        values: FloatArray = np.exp(-0.5 * (X * X).sum(axis=1) / self.scale**2)
        return values

    def gradient(self, X: FloatArray) -> FloatArray:
        """Return the gradients, shape (n, d)."""
        return -X / self.scale**2 * self.value(X)[:, np.newaxis]


def rosenbrock(dim: int, sides: tuple[float, float] = ROSENBROCK_BOX) -> TestProblem:
    """Return the generalised Rosenbrock function; 0 at (1, ..., 1), a sum of squares.

    Source: thesis App. A; Rana et al. (2017).
    """
    return cube_problem("rosenbrock", Rosenbrock(), sides, 0.0, np.ones(dim), minimum_dim=2)


def levy(dim: int, sides: tuple[float, float] = LEVY_BOX) -> TestProblem:
    """Return Levy's function on [-10, 10]^d; 0 at (1, ..., 1), a sum of squares.

    Source: Levy and Montalvo (1985). HPOlib has it on [-15, 10]^d.
    """
    return cube_problem("levy", Levy(), sides, 0.0, np.ones(dim))


def ackley(dim: int, sides: tuple[float, float] = ACKLEY_BOX) -> TestProblem:
    """Return Ackley's function on [-32.768, 32.768]^d; 0 at the origin, positive elsewhere.

    Source: Ackley (1987). Not differentiable at the optimum.
    """
    return cube_problem("ackley", Ackley(), sides, 0.0, np.zeros(dim))


def ackley_off_center(dim: int) -> TestProblem:
    """Return Ackley's function on [-5, 10]^d, where the middle of the box is not the optimum.

    Source: Eriksson et al. (2019).
    """
    problem = ackley(dim, ACKLEY_OFF_CENTER_BOX)
    return dataclasses.replace(problem, name=f"ackley-off-center-{dim}")


def styblinski_tang(dim: int) -> TestProblem:
    """Return the Styblinski-Tang function on [-5, 5]^d; about -39.16617 d at about -2.903534.

    Source: thesis App. A; Styblinski and Tang (1990). A sum of quartics: the least root of the
    derivative is the optimum of the whole line.
    """
    root = float(np.min(np.roots([2.0, 0.0, -16.0, 2.5]).real))
    best = np.full(dim, root)
    value = float(StyblinskiTang().value(best[np.newaxis])[0])
    return cube_problem("styblinski-tang", StyblinskiTang(), (-5.0, 5.0), value, best)


def michalewicz(dim: int, clipped: bool = False) -> TestProblem:
    """Return Michalewicz's function on [0, pi]^d.

    Parameters
    ----------
    dim : int
    clipped : bool, default False
        Continue its terms beyond the box as zero instead of by their formula.

    Notes
    -----
    Source: thesis App. A; Michalewicz (1992). A sum of functions of one variable each, whose optima
    are found on a fine grid and polished. From the second period of the sine on, beyond -pi and
    2 pi, the formula can be lower than in the box, so its optimum holds in the box only. Clipped,
    no term is lower outside than inside, and the optimum is that of the whole space.
    """
    best = np.array([_michalewicz_coordinate(i) for i in range(1, dim + 1)])
    formula = Michalewicz(clipped)
    value = float(formula.value(best[np.newaxis])[0])
    return cube_problem("michalewicz", formula, (0.0, np.pi), value, best, holds_outside=clipped)


def schwefel12(dim: int) -> TestProblem:
    """Return Schwefel's function 1.2 on [-100, 100]^d; 0 at the origin, a sum of squares.

    Source: thesis App. A; Schwefel (1981); Li et al. (2018).
    """
    return cube_problem("schwefel12", Schwefel12(), (-100.0, 100.0), 0.0, np.zeros(dim))


def gaussian_mixture(dim: int) -> TestProblem:
    """Return a mixture of two Gaussian bumps on [1, 4]^d, maximised.

    Notes
    -----
    Source: thesis App. A; Li et al. (2018). With equal spherical bumps, projecting a point onto the
    segment between the centres brings it nearer to both, so the optimum lies on the diagonal; it is
    found there on a fine grid and polished.

    Deviation: the bumps have height 1 and 1/2 instead of being normalised densities, which are as
    small as 1e-8 in 20 dimensions.
    """
    formula = GaussianMixture(MIXTURE_MEANS, MIXTURE_WEIGHTS)

    def diagonal(t: FloatArray) -> FloatArray:
        return np.repeat(t[:, np.newaxis], dim, axis=1)

    best = np.full(
        dim,
        minimize_on_grid(
            lambda t: -formula.value(diagonal(t)),
            lambda t: -formula.gradient(diagonal(t)).sum(axis=1),
            np.linspace(*MIXTURE_MEANS, 1001),
        ),
    )
    value = float(formula.value(best[np.newaxis])[0])
    return cube_problem("gaussian-mixture", formula, MIXTURE_BOX, value, best, direction="maximize")


def unnormalized_gaussian(dim: int, scale: float = GAUSSIAN_SCALE) -> TestProblem:
    """Return a Gaussian bump of height 1 at the centre of [-1, 1]^d, maximised.

    Source: thesis App. A; Rana et al. (2017), where far from the bump its gradient is too small to
    follow.
    """
    formula = UnnormalizedGaussian(scale)
    return cube_problem("gaussian", formula, (-1.0, 1.0), 1.0, np.zeros(dim), direction="maximize")


@lru_cache(maxsize=256)
def _michalewicz_coordinate(index: int) -> float:
    """Return the minimiser over [0, pi] of the term of the given index."""
    formula = Michalewicz()

    def embed(t: FloatArray) -> FloatArray:
        X = np.zeros((t.size, index))  # the other terms vanish at zero
        X[:, -1] = t
        return X

    # The term has one narrow well for each half period of its inner sine, index of them in all.
    return minimize_on_grid(
        lambda t: formula.value(embed(t)),
        lambda t: formula.gradient(embed(t))[:, -1],
        np.linspace(0.0, np.pi, 400 * (index + 1) + 1),
    )
