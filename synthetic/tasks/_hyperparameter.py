"""Sides of a box that stand for the settings of a program."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from boring.typing import FloatArray

__all__ = ["Hyperparameter", "settings"]


@dataclass(frozen=True)
class Hyperparameter:
    """One side of the box.

    Parameters
    ----------
    name : str
        Keyword of the constructor that takes it.
    lower, upper : float
        Range of the hyperparameter itself.
    logarithmic : bool, default False
        The coordinate is the logarithm to base 10 of the hyperparameter.
    integer : bool, default False
        The hyperparameter is rounded to the nearest integer before it is used.
    """

    name: str
    lower: float
    upper: float
    logarithmic: bool = False
    integer: bool = False

    @property
    def bounds(self) -> tuple[float, float]:
        """Range of the coordinate."""
        if not self.logarithmic:
            return self.lower, self.upper
        return float(np.log10(self.lower)), float(np.log10(self.upper))

    def at(self, coordinate: float) -> float | int:
        """Return the hyperparameter that a coordinate stands for; beyond the box, the nearest."""
        plain = 10.0**coordinate if self.logarithmic else coordinate
        value = float(np.clip(plain, self.lower, self.upper))
        return round(value) if self.integer else value


def settings(parameters: Iterable[Hyperparameter], x: FloatArray) -> dict[str, float | int]:
    """Return the settings, by name, that a point of shape (D,) stands for."""
    pairs = zip(parameters, x, strict=True)
    return {parameter.name: parameter.at(float(u)) for parameter, u in pairs}
