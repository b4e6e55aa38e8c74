"""One call of the objective, guarded against what objectives do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from ._brief import in_brief
from .exceptions import EvaluationError, InvalidInputError
from .typing import FloatArray, OnError
from .validation import as_constraints, as_float, is_real, real_array

__all__ = ["Objective", "check_on_error", "evaluate", "in_words", "numbers_of"]

Objective: TypeAlias = Callable[[FloatArray], Any]
"""Takes one point, shape (D,), raw units, and returns a real number."""


def check_on_error(on_error: str) -> None:
    """Raise InvalidInputError unless ``on_error`` is ``"raise"`` or ``"record"``."""
    if on_error not in {"raise", "record"}:
        raise InvalidInputError(
            f"on_error must be 'raise' or 'record'; received {on_error!r}. Use 'record' to carry "
            "on after an exception of the objective."
        )


def evaluate(
    fun: Objective, x: FloatArray, on_error: OnError, n_constraints: int = 0
) -> tuple[float, FloatArray, str | None]:
    """Call the objective at a copy of one point.

    Parameters
    ----------
    fun : callable
    x : ndarray, shape (D,), raw units
    on_error : {"raise", "record"}
        Whether an exception of the objective is raised or becomes NaN.
    n_constraints : int, default 0
        With m > 0 the objective returns a pair of its value and m values of constraints.

    Returns
    -------
    y : float
        NaN if an exception was recorded.
    constraints : ndarray, shape (1, m)
        NaN if an exception was recorded.
    error : str or None
        The exception that was recorded.

    Raises
    ------
    EvaluationError
        If the objective raises and ``on_error`` is ``"raise"``, or if it returns anything but
        real numbers.

    Notes
    -----
    ``KeyboardInterrupt`` and ``SystemExit`` pass: they end programs, and say nothing of a point.
    """
    try:
        value = fun(np.array(x, dtype=np.float64))
    except Exception as error:
        description = in_words(error)
        if on_error == "record":
            return float("nan"), as_constraints(None, 1, n_constraints), description
        raise EvaluationError(
            f"The objective must return a value; at x = {in_brief(x)} it raised {description}. "
            "Mend it, or pass on_error='record' to record NaN and carry on. Everything evaluated "
            "before is in .result of this exception, and the point in .x.",
            x=x,
        ) from error
    try:
        y, constraints = numbers_of(value, n_constraints)
    except TypeError as defect:
        raise EvaluationError(
            f"The objective must return numbers; at x = {in_brief(x)} {defect}. Mend it. "
            "Everything evaluated before is in .result of this exception, and the point in .x.",
            x=x,
        ) from None
    return y, as_constraints(constraints or None, 1, n_constraints), None


def in_words(error: BaseException) -> str:
    """Return the kind and the text of an error, which is foreign code and may fail itself."""
    try:
        text = str(error)
    except Exception:
        text = "(it has no text)"
    return f"{type(error).__name__}: {text}"


def numbers_of(returned: Any, n_constraints: int) -> tuple[float, tuple[float, ...]]:
    """Return the numbers that an objective returned, wherever it was called.

    Parameters
    ----------
    returned : object
        A real number, or an array that holds one; with m > 0 constraints the pair of it and m
        such numbers. An integer beyond float64 becomes infinite.
    n_constraints : int
        m.

    Returns
    -------
    y : float
    constraints : tuple of float, of length m

    Raises
    ------
    TypeError
        If it is anything else; the message says what, as the second half of a sentence.

    Examples
    --------
    >>> numbers_of((-(10**400), [1, 2.5]), 2)
    (-inf, (1.0, 2.5))
    """
    if not n_constraints:
        return _number(returned), ()
    if not isinstance(returned, tuple) or len(returned) != 2:
        raise TypeError(
            f"it returned {_brief(returned)} in place of a pair, (value, [c_1, ...]), with "
            f"{n_constraints} constraints"
        )
    values = np.ravel(np.asanyarray(returned[1], dtype=object))
    constraints = tuple(_number(value) for value in values)
    if len(constraints) != n_constraints:
        raise TypeError(f"it returned {len(constraints)} constraints in place of {n_constraints}")
    return _number(returned[0]), constraints


def _number(value: Any) -> float:
    """Return a float from a real number, or from an array of size 1 that holds one."""
    if isinstance(value, np.ndarray) and value.size == 1:
        array = real_array(value)
        if array.dtype.kind in "iufb":
            return float(array.reshape(()))
    elif is_real(value) or isinstance(value, np.bool_):
        return as_float(value)
    raise TypeError(f"it returned {_brief(value)} in place of a real number")


def _brief(value: Any) -> str:
    """Return the type of a value, and its text where that is short and can be had."""
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape} and dtype {value.dtype}"
    try:
        return f"{type(value).__name__} {str(value)[:60]!r}"
    except Exception:
        return f"{type(value).__name__} (it has no text)"
