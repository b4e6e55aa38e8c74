"""What an acquisition function needs from a model, and what it offers to the maximiser.

Everything here is maximised: a larger acquisition value is better, and the posterior is
that of the (internally maximised) objective. Inputs are in scaled units, ``[-1, 1]^D``.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np

from boring.exceptions import InvalidInputError
from boring.typing import FloatArray

__all__ = [
    "Acquisition",
    "ComponentPosterior",
    "GradientComponentPosterior",
    "Posterior",
    "sd_gradient",
    "standard_deviation",
]

#: Variances below this are raised to it, so that no standard deviation is exactly zero:
#: a noise-free posterior at an observed point keeps a finite log acquisition.
MINIMUM_VARIANCE = 1e-200


@runtime_checkable
class Posterior(Protocol):
    """A model that predicts the latent function with gradients in the inputs."""

    def predict(self, X: FloatArray, /) -> tuple[FloatArray, FloatArray]:
        """Return mean ``(n,)`` and variance ``(n,)`` of the latent function at `X`."""
        ...

    def predict_with_gradient(
        self, X: FloatArray, /
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return mean ``(n,)``, variance ``(n,)`` and their gradients ``(n, D)`` at `X`."""
        ...


@runtime_checkable
class ComponentPosterior(Protocol):
    """A model of a sum of functions that predicts each summand apart."""

    def components(self, X: FloatArray, /) -> tuple[FloatArray, FloatArray]:
        """Return means ``(n, J)`` and variances ``(n, J)`` of the J summands at `X`."""
        ...


@runtime_checkable
class GradientComponentPosterior(ComponentPosterior, Protocol):
    """A model of a sum of functions that differentiates each summand's prediction."""

    def components_with_gradient(
        self, X: FloatArray, /
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return means, variances ``(n, J)`` and their gradients ``(n, J, D)`` at `X`."""
        ...


@runtime_checkable
class Acquisition(Protocol):
    """A function of the input whose maximiser is the next point to evaluate."""

    def value(self, X: FloatArray, /) -> FloatArray:
        """Return the acquisition values ``(n,)`` at the rows of `X` ``(n, D)``."""
        ...

    def value_and_gradient(self, X: FloatArray, /) -> tuple[FloatArray, FloatArray]:
        """Return values ``(n,)`` and gradients ``(n, D)`` at the rows of `X`."""
        ...


def standard_deviation(variance: FloatArray) -> FloatArray:
    """Return the square root of `variance`, floored at a tiny positive number.

    Parameters
    ----------
    variance : ndarray, any shape
        Posterior variances; negative round-off counts as zero, NaN stays NaN.

    Returns
    -------
    ndarray, same shape
        Strictly positive standard deviations.
    """
    return np.sqrt(np.maximum(variance, MINIMUM_VARIANCE))


def sd_gradient(variance: FloatArray, variance_gradient: FloatArray) -> FloatArray:
    """Return the gradient of the standard deviation from that of the variance.

    Parameters
    ----------
    variance : ndarray, shape (...,)
    variance_gradient : ndarray, shape (..., D)

    Returns
    -------
    ndarray, shape (..., D)
        Zero where the variance is at its floor: what is left of the gradient there is
        round-off, which the division would blow up.
    """
    floored = variance <= MINIMUM_VARIANCE
    scale = np.where(floored, 0.0, 0.5 / standard_deviation(variance))
    return np.asarray(scale[..., None] * variance_gradient, dtype=np.float64)


def finite_scalar(value: float, name: str) -> float:
    """Return `value` as a float.

    Raises
    ------
    InvalidInputError
        If it is NaN or infinite.
    """
    number = float(value)
    if not np.isfinite(number):
        raise InvalidInputError(f"{name} must be a finite number, received {value!r}")
    return number
