"""Gradients of analytic formulas by complex steps: exact to rounding, without a derivation."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from boring.typing import FloatArray

__all__ = ["ComplexArray", "complex_step_gradient"]

ComplexArray = NDArray[np.complex128]

STEP = 1e-30
"""Imaginary step: its square is lost to rounding, and no difference is taken that could cancel."""


def complex_step_gradient(
    formula: Callable[[ComplexArray], ComplexArray], X: FloatArray
) -> FloatArray:
    """Return ``Im f(x + i h e_j) / h`` for every coordinate j (Squire and Trapp 1998).

    Parameters
    ----------
    formula : callable
        Takes points of shape (m, D), complex, and returns values of shape (m,); analytic in every
        coordinate.
    X : ndarray, shape (n, D)

    Returns
    -------
    ndarray, shape (n, D)
    """
    steps = 1j * STEP * np.eye(X.shape[1])
    gradients = [formula(x + steps).imag / STEP for x in X]
    return np.array(gradients, dtype=np.float64).reshape(X.shape)
