"""Acquisitions asked at offsets u from a center, x = center + unit u, and the way back."""

from __future__ import annotations

from dataclasses import dataclass

from boring.acquisition.base import Acquisition
from boring.typing import FloatArray

__all__ = ["AtOffsets", "AtPoints"]


@dataclass(frozen=True, eq=False)
class AtOffsets:
    """An acquisition of points, asked at offsets.

    Parameters
    ----------
    acquisition : Acquisition
        Of points.
    center : ndarray, shape (D,), scaled units
    unit : float, scaled units
    """

    acquisition: Acquisition
    center: FloatArray
    unit: float

    def value(self, X: FloatArray) -> FloatArray:
        """Return the values (n,) at offsets (n, D)."""
        return self.acquisition.value(self.center + self.unit * X)

    def value_and_gradient(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return values (n,) and gradients (n, D) at offsets (n, D)."""
        values, gradients = self.acquisition.value_and_gradient(self.center + self.unit * X)
        return values, self.unit * gradients


@dataclass(frozen=True, eq=False)
class AtPoints:
    """An acquisition of offsets, asked at points.

    Parameters
    ----------
    acquisition : Acquisition
        Of offsets.
    center : ndarray, shape (D,), scaled units
    unit : float, scaled units
    """

    acquisition: Acquisition
    center: FloatArray
    unit: float

    def value(self, X: FloatArray) -> FloatArray:
        """Return the values (n,) at points (n, D)."""
        return self.acquisition.value((X - self.center) / self.unit)

    def value_and_gradient(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return values (n,) and gradients (n, D) at points (n, D)."""
        values, gradients = self.acquisition.value_and_gradient((X - self.center) / self.unit)
        return values, gradients / self.unit
