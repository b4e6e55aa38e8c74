"""Checks for those who write optimisers and gradients; they raise AssertionError.

:func:`check_optimizer` is the conformance suite that every optimiser of the library passes, broken
into named checks (:data:`OPTIMIZER_CHECKS`). :func:`check_gradient` judges a gradient by its values
and by the order of its Taylor error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from ._conformance import OPTIMIZER_CHECKS, OptimizerMaker, RunOnce
from .exceptions import InvalidInputError, UnknownNameError
from .registry import get_optimizer
from .typing import FloatArray
from .validation import suggest

__all__ = ["OPTIMIZER_CHECKS", "GradientReport", "check_gradient", "check_optimizer"]

VALUE_TOLERANCE = 1e-6
"""Largest error of a derivative, relative to the largest one (chosen here: central differences
reach about 1e-9 on smooth functions of order one)."""

MIN_SLOPE = 1.8
"""Least order of the Taylor error: 2 for a right gradient, 1 for a wrong one."""

_DIFFERENCE_STEP = 3e-4
_STEPS = np.logspace(0.0, -9.0, 55)
_DECADES = 1.5
_MIN_POINTS = 6
_NOISE_FACTOR = 200.0
"""How far an error must stand clear of the rounding of numbers of the function's size."""

_NOISE_STEPS = 1e-8 * np.sqrt(np.arange(20.0))
"""Uneven, lest a function that rounds to a grid hit the grid at each of them."""

_MEASURED_FACTOR = 30.0
"""The same for rounding as measured: deviations, so that few errors clear of it are rounding."""


@dataclass(frozen=True)
class GradientReport:
    """What :func:`check_gradient` measured.

    Parameters
    ----------
    value_error : float
        Largest difference to central differences, relative to the largest derivative (or to 1).
    slope : float
        Order of the Taylor error along a random direction; infinite if that error is rounding
        only, as for a function that is linear there.
    """

    value_error: float
    slope: float


def check_gradient(
    value_and_gradient: Callable[[FloatArray], tuple[float, FloatArray]],
    x: FloatArray,
    rng: np.random.Generator,
    *,
    scale: float = 1.0,
    tolerance: float = VALUE_TOLERANCE,
) -> GradientReport:
    """Check a gradient against central differences and by the order of its Taylor error.

    Parameters
    ----------
    value_and_gradient : callable
        Takes an array of the shape of ``x``; returns a float and a gradient of that shape.
    x : ndarray, any shape
        Where to check; the function should be smooth within ``scale`` of it.
    rng : numpy.random.Generator
        Consumed, for the direction.
    scale : float, default 1
        Length over which the function varies, in units of ``x``.
    tolerance : float, default 1e-6
        Largest relative error of a derivative.

    Returns
    -------
    GradientReport

    Raises
    ------
    AssertionError
        If the gradient is wrong; the message gives the measured figures.

    Notes
    -----
    With a right gradient, f(x + h v) - f(x) - h g'v falls as h^2; with a wrong one as h, once h
    is small. The slope is taken over the smallest steps whose error stands clear of rounding, where
    the two differ most.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> report = check_gradient(lambda x: (float(np.sin(x).sum()), np.cos(x)), np.ones(3), rng)
    >>> report.slope > 1.8
    True
    """
    start = np.array(x, dtype=np.float64)
    value, gradient = value_and_gradient(start.copy())
    gradient = np.asarray(gradient, dtype=np.float64)
    if gradient.shape != start.shape:
        raise AssertionError(f"gradient has shape {gradient.shape}, not {start.shape}")
    if not (np.isfinite(value) and np.all(np.isfinite(gradient))):
        raise AssertionError(f"value {value} or gradient {gradient} is not finite")

    def function(point: FloatArray) -> float:
        return float(value_and_gradient(point)[0])

    numeric = _central_differences(function, start, _DIFFERENCE_STEP * scale)
    largest = max(1.0, float(np.abs(numeric).max()) * scale)
    value_error = float(np.abs(numeric - gradient).max()) * scale / largest
    direction = rng.standard_normal(start.shape)
    direction *= scale / np.linalg.norm(direction)
    slope = _taylor_slope(function, start, direction, float(value), gradient)
    report = GradientReport(value_error, slope)
    if not value_error <= tolerance:
        raise AssertionError(
            f"gradient differs from central differences by {value_error:.3g} (allowed "
            f"{tolerance:.3g}); {report}"
        )
    if not slope >= MIN_SLOPE:
        raise AssertionError(
            f"Taylor error falls with order {slope:.3g} (a right gradient gives 2); {report}"
        )
    return report


def _central_differences(
    function: Callable[[FloatArray], float], x: FloatArray, step: float
) -> FloatArray:
    """Return derivatives of fourth order accuracy."""
    result: FloatArray = np.empty(x.size)
    for index in range(x.size):
        shift: FloatArray = np.zeros(x.shape)
        shift.flat[index] = step
        near = function(x + shift) - function(x - shift)
        far = function(x + 2.0 * shift) - function(x - 2.0 * shift)
        result[index] = (8.0 * near - far) / (12.0 * step)
    return result.reshape(x.shape)


def _taylor_slope(
    function: Callable[[FloatArray], float],
    x: FloatArray,
    direction: FloatArray,
    value: float,
    gradient: FloatArray,
) -> float:
    """Return the order of the Taylor error over the smallest steps clear of rounding."""
    derivative = float(np.sum(gradient * direction))
    values = np.array([function(x + step * direction) for step in _STEPS])
    errors = np.abs(values - value - _STEPS * derivative)
    size = max(abs(value), float(np.abs(values[_STEPS < 1e-2]).max()), abs(derivative) * 1e-3)
    rounding = max(
        _NOISE_FACTOR * np.finfo(np.float64).eps * size,
        _MEASURED_FACTOR * _rounding_of(function, x, direction),
    )
    clear = errors > rounding
    n_clear = int(np.argmin(clear)) if not clear.all() else len(clear)
    per_decade = (len(_STEPS) - 1) / (np.log10(_STEPS[0]) - np.log10(_STEPS[-1]))
    width = max(_MIN_POINTS, round(_DECADES * per_decade))
    if n_clear < width:
        return float("inf")
    window = slice(n_clear - width, n_clear)
    return float(np.polyfit(np.log(_STEPS[window]), np.log(errors[window]), 1)[0])


def _rounding_of(
    function: Callable[[FloatArray], float], x: FloatArray, direction: FloatArray
) -> float:
    """Return the deviation of a function's values by rounding.

    Over steps so small a smooth function is a straight line; what its values scatter about one is
    rounding, and that of a function that solves an ill-conditioned system is far coarser than its
    size tells.
    """
    values = np.array([function(x + step * direction) for step in _NOISE_STEPS])
    line = np.polynomial.Polynomial.fit(_NOISE_STEPS, values, 1)
    return float(np.std(values - line(_NOISE_STEPS), ddof=2))


def check_optimizer(
    optimizer: OptimizerMaker | str, checks: Iterable[str] | None = None
) -> tuple[str, ...]:
    """Check that an optimiser keeps the contract of :class:`boring.Optimizer`.

    Parameters
    ----------
    optimizer : callable or str
        A class, a factory called as ``factory(space, direction=..., n_initial=..., seed=...)``, or
        a registered name. A factory may fix options that make the optimiser quick.
    checks : str or iterable of str, optional
        Names out of :data:`OPTIMIZER_CHECKS`; all by default.

    Returns
    -------
    tuple of str
        The names of the checks that ran.

    Raises
    ------
    AssertionError
        If a check fails; the message begins with its name.
    UnknownNameError
        If a check or an optimiser is not known.
    """
    make = get_optimizer(optimizer) if isinstance(optimizer, str) else optimizer
    if not callable(make):
        raise InvalidInputError(
            f"optimizer must be a class, a factory or a name; received {type(make).__name__}. "
            "Pass the class itself."
        )
    if isinstance(checks, str):
        checks = [checks]
    names = tuple(OPTIMIZER_CHECKS if checks is None else checks)
    once = RunOnce.of(make)
    for name in names:
        if name not in OPTIMIZER_CHECKS:
            raise UnknownNameError(
                f"No check is called {name!r}. {suggest(name, OPTIMIZER_CHECKS)}"
            )
        try:
            OPTIMIZER_CHECKS[name](once)
        except AssertionError as error:
            raise AssertionError(f"{name}: {error}") from error
    return names
