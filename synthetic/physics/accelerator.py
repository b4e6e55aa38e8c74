"""Tuning of an electron accelerator: focus and steer a beam into a narrow channel of light.

Linear beam optics by transfer matrices, as in textbooks (Wiedemann 2015, chapters 5 to 8). Written
here rather than taken from a simulator: in November 2026 cheetah-accelerator needs torch, and those
that do not, xtrack and accelerator-toolbox, need several more packages or a compiled tracker with
h5py; a page of matrices needs none of it, and has exact gradients. Its matrices agree with those of
accelerator-toolbox 0.9 to 1e-10 (measured once).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from boring.exceptions import InvalidInputError
from boring.space import Box
from boring.typing import FloatArray, SeedLike

from ..base import TestProblem
from ._complex_step import complex_step_gradient

__all__ = ["DIMENSIONS", "BeamLine", "accelerator", "drift", "quadrupole"]

DIMENSIONS = (5, 40)
"""Fewest and most knobs."""

DRIFT = 1.0
QUADRUPOLE = 0.2
"""Lengths, m (chosen here)."""

STRENGTH = 2.0
"""Middle of the range of the quadrupoles, 1/m^2, signs in turn: some 45 degrees of phase a cell."""

STRENGTH_SHARE = 0.3
"""The range of a quadrupole, as a share of the middle to either side (chosen here)."""

KICK = 0.1
"""Range of a corrector to either side, mrad, divided by the root of the number of cells: random
knobs then make as wide an orbit in a long line as in a short one (chosen here)."""

MISALIGNMENT_STD = 0.15
"""Of the hidden offsets of the quadrupoles, mm, divided by the same root (chosen here)."""

INCOMING_STD = (0.1, 0.02)
"""Of the hidden position and angle of the incoming beam, mm and mrad (chosen here)."""

EMITTANCE = 1e-3
"""Of the beam in either plane, mm mrad: 0.5 mm mrad normalised at some 250 MeV (chosen here)."""

BETA = (6.0, 4.0)
"""Beta functions of the incoming beam, m; its waist is there (chosen here)."""

N_CELLS_OF_CHANNEL = 4
"""Focusing cells of the channel in which the beam gives its light; these have no knobs."""

LIGHT_WIDTH = 0.1
"""Standard deviation of the light's profile, mm (chosen here)."""

SHARED_SUPPLY = 0.6
"""Share of a corrector's kick that its neighbour's knob makes: the knobs are not those that the
hidden magnets would have chosen, and their effects are correlated."""

NOISE_STD = 0.01
"""Of the signal from shot to shot; the signal lies between 0 and 1 (chosen here)."""


@dataclass(frozen=True, eq=False)
class BeamLine:
    """Signal of the light: how well the beam overlaps with it along the channel, from 0 to 1.

    The knobs are (quadrupole, horizontal corrector, vertical corrector) of each cell in turn, as
    many as there are coordinates; what has no knob stands in the middle of its range.

    Parameters
    ----------
    offsets : ndarray, shape (n_cells, 2)
        Of the quadrupoles, horizontal and vertical, mm.
    incoming : ndarray, shape (2, 2)
        Position (mm) and angle (mrad) of the incoming beam, by plane.
    """

    offsets: FloatArray
    incoming: FloatArray

    def value(self, X: FloatArray) -> FloatArray:
        """Return the signals, shape (n,)."""
        signals: FloatArray = self._value(X)
        return signals

    def gradient(self, X: FloatArray) -> FloatArray:
        """Return the gradients, shape (n, D), exact to rounding."""
        return complex_step_gradient(self._value, X)

    def _value(self, X: Any) -> Any:
        strengths, kicks = self._settings(X)
        logarithm = 0.0
        for plane in range(2):
            center, covariance = self._enter_channel(strengths, kicks[..., plane], plane)
            cell = self._channel_cell(plane)
            for _ in range(N_CELLS_OF_CHANNEL):
                center = center @ cell.T
                covariance = cell @ covariance @ cell.T
                # Overlap of two normal profiles, relative to equal ones on the same axis.
                size = covariance[:, 0, 0]
                spread = LIGHT_WIDTH**2 + size
                logarithm = logarithm + 0.5 * np.log(4.0 * LIGHT_WIDTH**2 * size / spread**2)
                logarithm = logarithm - center[:, 0] ** 2 / (2.0 * spread)
        return np.exp(logarithm / (2 * N_CELLS_OF_CHANNEL))

    def _settings(self, X: Any) -> tuple[Any, Any]:
        """Return quadrupole strengths (n, n_cells) and kicks (n, n_cells, 2)."""
        n_cells = len(self.offsets)
        knobs = np.zeros((len(X), 3 * n_cells), dtype=X.dtype)
        knobs[:, : X.shape[1]] = X
        knobs = knobs.reshape(len(X), n_cells, 3)
        signs = np.where(np.arange(n_cells) % 2 == 0, 1.0, -1.0)
        strengths = STRENGTH * signs * (1.0 + STRENGTH_SHARE * knobs[..., 0])
        own = KICK / np.sqrt(n_cells) * knobs[..., 1:]
        neighbour = np.roll(own, 1, axis=1)
        kicks = (1.0 - SHARED_SUPPLY) * own + SHARED_SUPPLY * neighbour
        return strengths, kicks

    def _enter_channel(self, strengths: Any, kicks: Any, plane: int) -> tuple[Any, Any]:
        """Return the beam's center (n, 2) and covariance (n, 2, 2) where the channel begins."""
        n = len(strengths)
        center = np.tile(self.incoming[plane], (n, 1)).astype(strengths.dtype)
        beta = BETA[plane]
        covariance = np.tile(EMITTANCE * np.diag([beta, 1.0 / beta]), (n, 1, 1))
        free = drift(DRIFT)
        for j, offset in enumerate(self.offsets[:, plane]):
            center[:, 1] += kicks[:, j]
            center = center @ free.T
            covariance = free @ covariance @ free.T
            # A quadrupole bends around its own axis, which is off the line by its offset.
            lens = quadrupole(strengths[:, j] if plane == 0 else -strengths[:, j], QUADRUPOLE)
            axis = np.array([offset, 0.0])
            center = np.einsum("nij,nj->ni", lens, center - axis) + axis
            covariance = lens @ covariance @ lens.transpose(0, 2, 1)
        return center, covariance

    @staticmethod
    def _channel_cell(plane: int) -> FloatArray:
        sign = 1.0 if plane == 0 else -1.0
        focus, defocus = quadrupole(np.array([sign * STRENGTH, -sign * STRENGTH]), QUADRUPOLE)
        cell: FloatArray = defocus @ drift(DRIFT) @ focus @ drift(DRIFT)
        return cell


def drift(length: float) -> FloatArray:
    """Return the transfer matrix of free flight over a length in m, shape (2, 2)."""
    return np.array([[1.0, length], [0.0, 1.0]])


def quadrupole(strength: Any, length: float) -> Any:
    """Return transfer matrices of quadrupoles for (position, angle) in one plane.

    Parameters
    ----------
    strength : ndarray, shape (n,)
        1/m^2, real or complex; positive focuses in this plane, negative defocuses. Not zero.
    length : float
        m.

    Returns
    -------
    ndarray, shape (n, 2, 2)
        ``[[cos w, l sin(w) / w], [-k l sin(w) / w, cos w]]`` with ``w = l sqrt(k)``, which for
        negative k are hyperbolic functions; the determinant is 1.
    """
    phase = length * np.sqrt(strength + 0j)
    cosine, sine = np.cos(phase), length * np.sin(phase) / phase
    if not np.iscomplexobj(strength):
        cosine, sine = cosine.real, sine.real
    matrices = np.empty((len(strength), 2, 2), dtype=cosine.dtype)
    matrices[:, 0, 0] = matrices[:, 1, 1] = cosine
    matrices[:, 0, 1] = sine
    matrices[:, 1, 0] = -strength * sine
    return matrices


def accelerator(dim: int, seed: SeedLike = None) -> TestProblem:
    """Return the tuning of a beam line with 5 to 40 knobs, maximised, observed with noise.

    Raw units: each knob from -1 to 1, the whole range of its magnet. Units of y: the signal of the
    light, between 0 and 1, with noise of standard deviation 0.01. About 1 ms an evaluation.

    Parameters
    ----------
    dim : int
        D, from 5 to 40.
    seed : int, SeedSequence or None
        Draws the hidden offsets of the quadrupoles and of the incoming beam.

    Returns
    -------
    TestProblem
        No optimum is known. Of each cell two knobs of three steer, and what the channel sees of all
        of them is a position and an angle in either plane.

    Raises
    ------
    InvalidInputError
        If there are too few knobs or too many.

    Notes
    -----
    A stand-in for the tuning of the free-electron laser SwissFEL in the thesis (section 5.2), whose
    data were not published. Everything is of this library except for the optics: quadrupoles that
    are out of line kick the beam, correctors bring it back, a channel of four focusing cells gives
    light as the beam overlaps with it, in place and in size.
    """
    if not DIMENSIONS[0] <= dim <= DIMENSIONS[1]:
        raise InvalidInputError(
            f"A beam line has {DIMENSIONS[0]} to {DIMENSIONS[1]} knobs; received {dim}."
        )
    rng = np.random.default_rng(seed)
    n_cells = -(-dim // 3)
    line = BeamLine(
        offsets=MISALIGNMENT_STD / np.sqrt(n_cells) * rng.standard_normal((n_cells, 2)),
        incoming=np.array(INCOMING_STD) * rng.standard_normal((2, 2)),
    )
    return TestProblem(
        name=f"accelerator-{dim}",
        space=Box(-np.ones(dim), np.ones(dim)),
        formula=line,
        direction="maximize",
        noise_std=NOISE_STD,
    )
