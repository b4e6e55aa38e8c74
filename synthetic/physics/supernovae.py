"""Cosmology from supernovae: nine parameters that explain each other away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from boring.space import Box
from boring.typing import FloatArray

from ..base import TestProblem
from ._complex_step import complex_step_gradient

__all__ = [
    "PARAMETERS",
    "SupernovaLikelihood",
    "Supernovae",
    "draw_supernovae",
    "luminosity_distance",
    "supernovae",
]

LIGHT = 299792.458
"""Speed of light, km/s."""

PARAMETERS = (
    ("hubble", 60.0, 85.0, 73.04),
    ("matter", 0.1, 0.6, 0.334),
    ("curvature", -0.2, 0.2, 0.0),
    ("w_now", -1.6, -0.4, -1.0),
    ("w_slope", -1.0, 1.0, 0.0),
    ("magnitude", -19.6, -18.9, -19.253),
    ("stretch_weight", 0.0, 0.3, 0.148),
    ("color_weight", 1.5, 4.5, 3.09),
    ("scatter", 0.02, 0.4, 0.1),
)
"""Name, lower and upper side, and the value from which the data are drawn.

Hubble constant in km/s/Mpc and absolute magnitude: Riess et al. (2022); matter density and the
weights of stretch and colour: Brout et al. (2022); flat space with a cosmological constant; the
scatter and the sides are chosen here.
"""

MAGNITUDE_STD = 0.027
"""Uncertainty of the absolute magnitude from nearby distances (Riess et al. 2022): without it the
magnitude and the Hubble constant could not be told apart."""

N_SUPERNOVAE = 300
REDSHIFTS = (0.01, 1.5)
MEASUREMENT_STD = 0.12
"""Their number, redshifts (evenly spread in the logarithm) and error in magnitude (chosen here)."""

STRETCH_STD = 1.0
COLOR_STD = 0.1
"""Spread of the shape and colour of light curves over supernovae (chosen here)."""

DATA_SEED = 2022

N_NODES = 24
"""Of the Gauss-Legendre quadrature of the distances, whose error is below 1e-12 (measured)."""

_FLAT = 1e-2
"""Below this ``|curvature| * distance^2`` its power series is used."""


@dataclass(frozen=True, eq=False)
class Supernovae:
    """What is observed of each supernova: arrays of shape (n,).

    Parameters
    ----------
    redshift : ndarray
    magnitude : ndarray
        Apparent, at the peak.
    stretch, color : ndarray
        Of the light curve.
    """

    redshift: FloatArray
    magnitude: FloatArray
    stretch: FloatArray
    color: FloatArray


@dataclass(frozen=True, eq=False)
class SupernovaLikelihood:
    """Minus twice the logarithm of the posterior density by supernova, up to a constant.

    ``m - (mu(z) + M - alpha x_1 + beta c)`` is normal with variance
    ``0.12^2 + scatter^2``, and M is normal around its published value.

    Parameters
    ----------
    data : Supernovae
    """

    data: Supernovae

    def value(self, X: FloatArray) -> FloatArray:
        """Return the values, shape (n,)."""
        values: FloatArray = self._value(X)
        return values

    def gradient(self, X: FloatArray) -> FloatArray:
        """Return the gradients, shape (n, 9), exact to rounding."""
        return complex_step_gradient(self._value, X)

    def _value(self, X: Any) -> Any:
        hubble, matter, curvature, w_now, w_slope, magnitude, alpha, beta, scatter = X.T[..., None]
        data = self.data
        distance = luminosity_distance(data.redshift, hubble, matter, curvature, w_now, w_slope)
        modulus = 5.0 * np.log(distance) / np.log(10.0) + 25.0
        predicted = modulus + magnitude - alpha * data.stretch + beta * data.color
        variance = MEASUREMENT_STD**2 + scatter**2
        terms = (data.magnitude - predicted) ** 2 / variance + np.log(variance)
        published = PARAMETERS[5][3]
        prior = ((magnitude[:, 0] - published) / MAGNITUDE_STD) ** 2
        return terms.mean(axis=1) + prior / len(data.redshift)


def luminosity_distance(
    redshift: Any, hubble: Any, matter: Any, curvature: Any, w_now: Any, w_slope: Any
) -> Any:
    """Return luminosity distances, Mpc.

    Parameters
    ----------
    redshift : ndarray, shape (n,)
    hubble, matter, curvature, w_now, w_slope : number or ndarray of shape (m, 1)
        H_0 in km/s/Mpc, Omega_m, Omega_k, and the equation of state of the dark energy,
        ``w = w_now + w_slope z / (1 + z)``; the density of the dark energy is
        ``1 - matter - curvature``. Real or complex.

    Returns
    -------
    ndarray, shape (m, n) or (n,)

    Notes
    -----
    Hogg (1999), eq. 14 to 16 and 21: ``d_L = (1 + z) (c / H_0) S(int_0^z dz' / E(z'))``, where S
    is the sine, the identity or the hyperbolic sine by the sign of the curvature; dark energy as
    Linder (2003), ``(1 + z)^(3 (1 + w_now + w_slope)) exp(-3 w_slope z / (1 + z))``. Radiation
    is left out.
    """
    nodes, weights = np.polynomial.legendre.leggauss(N_NODES)
    # In s = log(1 + z) the integrand is smooth over the whole range.
    end = np.log1p(redshift)
    inverse = 0.0
    for node, weight in zip(nodes, weights, strict=True):
        s = 0.5 * end * (1.0 + node)
        dark = np.exp(3.0 * (1.0 + w_now + w_slope) * s + 3.0 * w_slope * np.expm1(-s))
        square = matter * np.exp(3.0 * s) + curvature * np.exp(2.0 * s)
        square = square + (1.0 - matter - curvature) * dark
        inverse = inverse + 0.5 * end * weight * np.exp(s) / np.sqrt(square)
    q = curvature * inverse**2
    root = np.sqrt(np.where(abs(q) < _FLAT, 1.0, q) + 0j)
    curved = np.sinh(root) / root
    series = 1.0 + q / 6.0 * (1.0 + q / 20.0 * (1.0 + q / 42.0 * (1.0 + q / 72.0)))
    factor = np.where(abs(q) < _FLAT, series, curved if np.iscomplexobj(q) else curved.real)
    return (1.0 + redshift) * LIGHT / hubble * inverse * factor


def draw_supernovae() -> Supernovae:
    """Draw the synthetic data, always the same, from the values in :data:`PARAMETERS`."""
    rng = np.random.default_rng(DATA_SEED)
    hubble, matter, curvature, w_now, w_slope, absolute, alpha, beta, scatter = (
        true for _, _, _, true in PARAMETERS
    )
    low, high = np.log(REDSHIFTS)
    redshift = np.exp(rng.uniform(low, high, N_SUPERNOVAE))
    stretch = STRETCH_STD * rng.standard_normal(N_SUPERNOVAE)
    color = COLOR_STD * rng.standard_normal(N_SUPERNOVAE)
    noise = np.hypot(MEASUREMENT_STD, scatter) * rng.standard_normal(N_SUPERNOVAE)
    distance = luminosity_distance(redshift, hubble, matter, curvature, w_now, w_slope)
    modulus = 5.0 * np.log10(distance) + 25.0
    magnitude = modulus + absolute - alpha * stretch + beta * color + noise
    return Supernovae(redshift, magnitude, stretch, color)


def supernovae() -> TestProblem:
    """Return the likelihood of nine parameters given 300 supernovae, D = 9, minimised.

    Raw units: those of :data:`PARAMETERS`. Units of y: minus twice the log density by supernova, in
    which a difference of 1/300 is one unit of chi squared. Some 1 ms an evaluation on one core.

    Notes
    -----
    The data are synthetic: redshifts, light curves and errors are drawn here, from parameters that
    were published for real ones. The formulas are those of the literature: distances of Hogg
    (1999), dark energy of Linder (2003), light-curve standardisation of Tripp (1998). The optimum
    is near the values that the data are drawn from and not exactly known. Only
    ``M - 5 log10 H_0`` is seen by the data; the rest of the pair is held by a prior.

    Deviation: the nine parameters of Gardner et al. (2017) belong to a code for the clustering of
    galaxies, which is not reproduced.
    """
    sides = [(lower, upper) for _, lower, upper, _ in PARAMETERS]
    return TestProblem(
        name=f"supernovae-{len(sides)}",
        space=Box.from_bounds(sides),
        formula=SupernovaLikelihood(draw_supernovae()),
    )
