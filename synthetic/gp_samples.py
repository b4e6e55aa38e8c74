"""Functions drawn from a Gaussian process: in-model data for the learners of this library."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import minimum_filter
from scipy.optimize import minimize

from boring.exceptions import InvalidInputError
from boring.space import Box
from boring.typing import FloatArray, SeedLike

from .base import TestProblem

__all__ = ["LENGTHSCALE", "GaussianProcessSample", "matern_sample"]

LENGTHSCALE = 0.5
"""Of the prior, on the box [-1, 1]^d: four lengthscales to a side (chosen here)."""

SMOOTHNESS = 2.5
"""Matern's nu: twice differentiable samples (chosen here; the source says Matern and no more)."""

N_FEATURES = 1000
"""Cosines in a sample: the covariance of samples is Matern's whatever their number, and their joint
distribution is normal up to terms of order 1 / N_FEATURES (chosen here)."""

GRID_POINTS = {1: 401, 2: 101, 3: 41}
"""To a side, of the grid from whose lowest points the optimum is searched: a tenth of a lengthscale
apart or less. With more variables the optimum cannot be found for certain."""

N_STARTS = 32
"""Local minima of the grid that are followed to the bottom."""

MARGIN = 0.95
"""Largest coordinate of the optimum: a sample whose optimum is nearer to a side is drawn again."""

MAX_DRAWS = 500

BATCH = 4096
"""Points evaluated at a time, to bound the memory."""


@dataclass(frozen=True, eq=False)
class GaussianProcessSample:
    """``sum_k a_k cos(omega_k'z + b_k)``, a sample of a stationary Gaussian process.

    Parameters
    ----------
    frequencies : ndarray, shape (m, d)
    phases, amplitudes : ndarray, shape (m,)
    clipped : bool, default False
        Whether the function goes on beyond the box [-1, 1]^d as it is at the nearest point of it.
    """

    frequencies: FloatArray
    phases: FloatArray
    amplitudes: FloatArray
    clipped: bool = False

    def value(self, X: FloatArray) -> FloatArray:
        """Return the values, shape (n,)."""
        Z = np.clip(X, -1.0, 1.0) if self.clipped else X
        parts = [
            np.cos(Z[start : start + BATCH] @ self.frequencies.T + self.phases) @ self.amplitudes
            for start in range(0, len(Z), BATCH)
        ]
        return np.concatenate([np.empty(0), *parts])

    def gradient(self, X: FloatArray) -> FloatArray:
        """Return the gradients, shape (n, d)."""
        Z = np.clip(X, -1.0, 1.0) if self.clipped else X
        waves = -np.sin(Z @ self.frequencies.T + self.phases) * self.amplitudes
        gradients: FloatArray = waves @ self.frequencies
        if self.clipped:
            gradients[np.abs(X) > 1.0] = 0.0
        return gradients

    def hessian(self, z: FloatArray) -> FloatArray:
        """Return the second derivatives, shape (d, d), at one point of the box."""
        waves = -np.cos(self.frequencies @ z + self.phases) * self.amplitudes
        curvature: FloatArray = (self.frequencies.T * waves) @ self.frequencies
        return curvature

    def on_grid(self, axis: FloatArray) -> FloatArray:
        """Return the values on the grid ``axis x ... x axis``, shape (n, ..., n).

        A cosine of a sum is a product of complex exponentials, one for each coordinate, so the grid
        takes matrix products and few exponentials.
        """
        waves = (self.amplitudes * np.exp(1j * self.phases))[np.newaxis]
        *first, last = (np.exp(1j * np.outer(axis, omega)) for omega in self.frequencies.T)
        for factor in first:
            waves = (waves[:, np.newaxis] * factor).reshape(-1, waves.shape[1])
        values: FloatArray = (waves @ last.T).real
        return values.reshape((len(axis),) * self.frequencies.shape[1])


def matern_sample(dim: int, seed: SeedLike = None, *, clipped: bool = False) -> TestProblem:
    """Return a sample of a Matern-5/2 process on [-1, 1]^d, minimised; variance 1.

    Parameters
    ----------
    dim : int
        d, from 1 to 3.
    seed : int, SeedSequence or None
        Draws the function.
    clipped : bool, default False
        Let the function be, beyond the box, what it is at the nearest point of the box. The optimum
        then survives an embedding.

    Returns
    -------
    TestProblem
        A thousand evaluations take some 30 ms on one core.

    Raises
    ------
    InvalidInputError
        If d is not 1, 2 or 3.

    Notes
    -----
    Source: Djolonga, Krause and Cevher (2013) evaluate on samples of a Matern kernel in 2 of 100
    dimensions, Garnett, Osborne and Hennig (2014) on samples of their model with 2 or 3 of 10 or
    20. The sample is a sum of random Fourier features (Rahimi and Recht 2007): frequencies from
    the spectral density of the kernel, a multivariate t with 5 degrees of freedom divided by the
    lengthscale, uniform phases, normal amplitudes.

    The optimum is found by Newton's method from the lowest local minima of a grid, whose spacing is
    at most a tenth of the lengthscale; it is exact to rounding unless a well narrower than
    that escaped it.

    Deviation: draws are repeated until the optimum lies inside the box, no coordinate beyond
    0.95, which the prior does not ask for; the smoothness and the lengthscale are chosen here.
    """
    if dim not in GRID_POINTS:
        raise InvalidInputError(
            f"The optimum of a sample is known for 1, 2 or 3 variables; received {dim}. Embed one "
            "of these in more variables."
        )
    rng = np.random.default_rng(seed)
    for _ in range(MAX_DRAWS):
        sample = _draw(dim, rng, clipped)
        best = _minimizer(sample)
        if np.abs(best).max() <= MARGIN:
            break
    else:
        raise AssertionError("no sample has its optimum inside the box")
    return TestProblem(
        name=f"matern-{dim}",
        space=Box(-np.ones(dim), np.ones(dim)),
        formula=sample,
        optimum=float(sample.value(best[np.newaxis])[0]),
        optimizers=best[np.newaxis],
        holds_outside=clipped,
        true_basis=np.eye(dim),
        effective_dim=dim,
    )


def _draw(dim: int, rng: np.random.Generator, clipped: bool) -> GaussianProcessSample:
    gamma = rng.chisquare(2.0 * SMOOTHNESS, N_FEATURES) / (2.0 * SMOOTHNESS)
    normal = rng.standard_normal((N_FEATURES, dim))
    return GaussianProcessSample(
        frequencies=normal / (np.sqrt(gamma)[:, np.newaxis] * LENGTHSCALE),
        phases=rng.uniform(0.0, 2.0 * np.pi, N_FEATURES),
        amplitudes=np.sqrt(2.0 / N_FEATURES) * rng.standard_normal(N_FEATURES),
        clipped=clipped,
    )


def _minimizer(sample: GaussianProcessSample) -> FloatArray:
    """Return the global minimiser over the box, shape (d,)."""
    dim = sample.frequencies.shape[1]
    axis = np.linspace(-1.0, 1.0, GRID_POINTS[dim])
    values = sample.on_grid(axis)
    bottoms = np.argwhere(values == minimum_filter(values, size=3))
    order = np.argsort(values[tuple(bottoms.T)])[:N_STARTS]
    found = [_descend(sample, axis[bottom]) for bottom in bottoms[order]]
    return found[int(np.argmin(sample.value(np.array(found))))]


def _descend(sample: GaussianProcessSample, start: FloatArray) -> FloatArray:
    """Return the local minimiser over the box that a descent from a point leads to."""
    searched = minimize(
        lambda z: float(sample.value(z[np.newaxis])[0]),
        start,
        jac=lambda z: sample.gradient(z[np.newaxis])[0],
        method="L-BFGS-B",
        bounds=[(-1.0, 1.0)] * len(start),
    )
    z: FloatArray = searched.x
    if np.abs(z).max() < 1.0:
        for _ in range(4):  # Newton, from what L-BFGS-B leaves to rounding
            step = np.linalg.solve(sample.hessian(z), sample.gradient(z[np.newaxis])[0])
            z = np.clip(z - step, -1.0, 1.0)
    return z
