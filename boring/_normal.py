"""The standard normal distribution in logarithms, where its values are no floats."""

from __future__ import annotations

import numpy as np
from scipy.special import erfcx, log_ndtr, ndtr

from boring.typing import FloatArray

LOG_SQRT_TWO_PI = 0.5 * np.log(2.0 * np.pi)


def log_probability(z: FloatArray) -> tuple[FloatArray, FloatArray]:
    r"""Return :math:`\log\Phi(z)` and its derivative :math:`\phi(z)/\Phi(z)`.

    Parameters
    ----------
    z : ndarray, any shape

    Returns
    -------
    log_value, slope : ndarray, same shape
        Finite for magnitudes from 1e-100 to 1e100.
    """
    z = np.asarray(z, dtype=np.float64)
    log_value = np.asarray(log_ndtr(z), dtype=np.float64)
    slope = np.full_like(z, np.nan)
    below = z < 0.0
    slope[below] = np.sqrt(2.0 / np.pi) / erfcx(-z[below] / np.sqrt(2.0))
    above = z >= 0.0
    a = np.minimum(z[above], 1e3)
    slope[above] = np.exp(-0.5 * a * a - LOG_SQRT_TWO_PI) / ndtr(a)
    return log_value, slope
