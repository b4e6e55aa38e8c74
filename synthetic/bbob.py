"""The noiseless functions of the Black-Box Optimization Benchmarking suite (BBOB), f1 to f24."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from boring.exceptions import InvalidInputError
from boring.extras import require
from boring.typing import FloatArray

from .base import TestProblem, WithoutGradient, cube_problem

__all__ = ["BbobFunction", "bbob", "parse_bbob"]

BBOB_BOX = (-5.0, 5.0)

N_FUNCTIONS = 24
FEWEST_VARIABLES = 2

MOST_INSTANCES = 10_000
"""The library computes its seeds in 32 bits from ten thousand times the instance (chosen here)."""

_FAMILY = re.compile(r"bbob-f(?P<number>[0-9]+)(?:-i(?P<instance>[0-9]+))?")


@dataclass(frozen=True)
class BbobFunction(WithoutGradient):
    """One function, drawn for one instance and one number of variables.

    Parameters
    ----------
    number : int
        1 to 24.
    instance : int
        Draws the optimum, the rotations and the value at the optimum.
    dim : int
    """

    number: int
    instance: int
    dim: int

    without_gradient_because: ClassVar[str] = "the library that computes it has none"

    def value(self, X: FloatArray) -> FloatArray:
        """Return the values, shape (n,)."""
        function = _function(self.number, self.instance, self.dim)
        return np.array([function(x) for x in X.tolist()], dtype=np.float64)


@lru_cache(maxsize=256)
def _function(number: int, instance: int, dim: int) -> Any:
    ioh = require("ioh", "bbob", "A BBOB function")
    return ioh.get_problem(number, instance, dim, ioh.ProblemClass.BBOB)


def bbob(number: int, dim: int, instance: int = 1) -> TestProblem:
    """Return a noiseless BBOB function on [-5, 5]^d.

    Parameters
    ----------
    number : int
        1 to 24: 1 to 5 separable, 6 to 9 of low or moderate conditioning, 10 to 14 of high
        conditioning and one well, 15 to 19 of many wells with a global structure, 20 to 24 of many
        wells without.
    dim : int
        d, at least 2.
    instance : int, default 1
        Draws optimum, rotations and the value at the optimum.

    Raises
    ------
    InvalidInputError
        If there is no such function, instance or number of variables.
    MissingExtraError
        If the library ``ioh`` is not installed.

    Notes
    -----
    Source: Hansen, Finck, Ros and Auger (2009), computed by the library ``ioh``, which also knows
    the optimum. No function is anywhere lower than there. The linear slope, f5, has it in a corner
    of the box and is constant beyond.
    """
    _check("number", number, 1, N_FUNCTIONS, "BBOB has 24 noiseless functions")
    _check("instance", instance, 1, MOST_INSTANCES, "Instances are numbered from 1")
    if dim < FEWEST_VARIABLES:
        raise InvalidInputError(f"bbob needs at least 2 variables; received {dim}.")
    optimum = _function(number, instance, dim).optimum
    suffix = "" if instance == 1 else f"-i{instance}"
    return cube_problem(
        f"bbob-f{number}{suffix}",
        BbobFunction(number, instance, dim),
        BBOB_BOX,
        float(optimum.y),
        np.array(optimum.x, dtype=np.float64),
    )


def parse_bbob(family: str) -> tuple[int, int] | None:
    """Return number and instance of ``bbob-f<number>[-i<instance>]``; None for another name."""
    match = _FAMILY.fullmatch(family)
    if match is None:
        return None
    return int(match["number"]), int(match["instance"] or 1)


def _check(name: str, value: int, low: int, high: int, because: str) -> None:
    if not low <= value <= high:
        raise InvalidInputError(f"{name} must be {low} to {high}; received {value}. {because}.")
