"""A neuron that answers to an edge: find the picture that it likes best."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from boring.space import Box
from boring.typing import FloatArray, SeedLike

from .base import TestProblem

__all__ = ["SIDE", "GaborResponse", "gabor", "gabor_filter"]

SIDE = 17
"""Pixels to a side of the picture (Djolonga et al. 2013): D = 289."""

WAVELENGTH = (4.0, 8.0)
"""Range of the wavelength, pixels (chosen here)."""

ENVELOPE = 0.56
"""Standard deviation of the envelope across the wave, in wavelengths: one octave of bandwidth, as
measured in cells of the visual cortex (Daugman 1985)."""

ASPECT = 0.5
"""Width of the envelope across the wave by its length along it (chosen here)."""


@dataclass(frozen=True, eq=False)
class GaborResponse:
    """``exp(-(theta'x - 1)^2)``.

    Parameters
    ----------
    filter : ndarray, shape (D,)
        theta, of norm 1.
    """

    filter: FloatArray

    def value(self, X: FloatArray) -> FloatArray:
        """Return the values, shape (n,)."""
        values: FloatArray = np.exp(-((X @ self.filter - 1.0) ** 2))
        return values

    def gradient(self, X: FloatArray) -> FloatArray:
        """Return the gradients, shape (n, D)."""
        excess = X @ self.filter - 1.0
        gradients: FloatArray = np.outer(-2.0 * excess * np.exp(-(excess**2)), self.filter)
        return gradients


def gabor_filter(orientation: float, wavelength: float, phase: float) -> FloatArray:
    """Return a Gabor filter of norm 1, shape (17, 17): a plane wave under a normal envelope.

    Parameters
    ----------
    orientation : float
        Of the direction in which the wave runs, radians from the second axis to the first.
    wavelength : float
        Pixels.
    phase : float
        Radians, in the middle.
    """
    offset = np.arange(SIDE) - 0.5 * (SIDE - 1)
    down, across = np.meshgrid(offset, offset, indexing="ij")
    along_wave = across * np.cos(orientation) + down * np.sin(orientation)
    along_edge = down * np.cos(orientation) - across * np.sin(orientation)
    width = ENVELOPE * wavelength
    envelope = np.exp(-0.5 * (along_wave**2 + (ASPECT * along_edge) ** 2) / width**2)
    wave = envelope * np.cos(2.0 * np.pi * along_wave / wavelength + phase)
    unit: FloatArray = wave / np.linalg.norm(wave)
    return unit


def gabor(seed: SeedLike = None) -> TestProblem:
    """Return the response of a neuron to a picture of 17 x 17 pixels, D = 289, maximised.

    The optimum is 1, on the hyperplane ``theta'x = 1``; its nearest point to the origin is the
    filter theta itself, the picture declared as optimiser. One direction matters. An evaluation
    takes microseconds.

    Parameters
    ----------
    seed : int, SeedSequence or None
        Draws orientation, wavelength and phase of the filter.

    Notes
    -----
    Source: Djolonga, Krause and Cevher (2013), ``f(x) = exp(-(theta'x - 1)^2)`` for a Gabor filter
    theta of 17 x 17.

    Deviation: pixels range over [-1, 1] each, in place of the source's set of signals, and the
    filter has norm 1; its shape is of this library.
    """
    rng = np.random.default_rng(seed)
    theta = gabor_filter(
        orientation=rng.uniform(0.0, np.pi),
        wavelength=rng.uniform(*WAVELENGTH),
        phase=rng.uniform(0.0, 2.0 * np.pi),
    ).ravel()
    dim = theta.size
    return TestProblem(
        name=f"gabor-{dim}",
        space=Box(-np.ones(dim), np.ones(dim)),
        formula=GaborResponse(theta),
        direction="maximize",
        optimum=float(GaborResponse(theta).value(theta[np.newaxis])[0]),
        optimizers=theta[np.newaxis],
        holds_outside=True,
        true_basis=theta[:, np.newaxis],
        effective_dim=1,
    )
