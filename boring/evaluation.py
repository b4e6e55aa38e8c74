"""One call of the objective, guarded against what objectives do."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from .exceptions import EvaluationError, InvalidInputError
from .typing import FloatArray, OnError
from .validation import as_constraints

__all__ = ["Objective", "check_on_error", "evaluate", "in_words"]

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
        If the objective raises and ``on_error`` is ``"raise"``, or if it returns anything but a
        real scalar.
    """
    try:
        value = fun(np.array(x, dtype=np.float64))
    except Exception as error:
        description = in_words(error)
        if on_error == "record":
            return float("nan"), as_constraints(None, 1, n_constraints), description
        raise EvaluationError(
            f"The objective must return a value; at x = {x.tolist()} it raised {description}. "
            "Mend it, or pass on_error='record' to record NaN and carry on. Everything evaluated "
            "before is in .result of this exception."
        ) from error
    if n_constraints:
        y, constraints = _as_pair(value, x, n_constraints)
        return _as_real(y, x), constraints, None
    return _as_real(value, x), as_constraints(None, 1, 0), None


def in_words(error: BaseException) -> str:
    """Return the kind and the text of an error, which is foreign code and may fail itself."""
    try:
        text = str(error)
    except Exception:
        text = "(it has no text)"
    return f"{type(error).__name__}: {text}"


def _as_pair(value: Any, x: FloatArray, n_constraints: int) -> tuple[Any, FloatArray]:
    """Return the value of the objective and a row of constraints, shape (1, m)."""
    if isinstance(value, tuple) and len(value) == 2:
        try:
            return value[0], as_constraints(np.ravel(value[1]), 1, n_constraints)
        except InvalidInputError as error:
            came = str(error)
    else:
        came = f"It returned {type(value).__name__} {str(value)[:60]!r}."
    raise EvaluationError(
        f"With {n_constraints} constraints the objective must return a pair, its value and theirs; "
        f"at x = {x.tolist()} it did not. {came} Return (value, [c_1, ...]). Everything evaluated "
        "before is in .result of this exception."
    )


def _as_real(value: Any, x: FloatArray) -> float:
    """Return a float from a real number, a 0-d array or an array of size 1."""
    if isinstance(value, np.ndarray) and value.size == 1 and value.dtype.kind in "iufb":
        return float(value.reshape(()))
    if isinstance(value, (numbers.Real, np.bool_)):
        try:
            return float(value)
        except OverflowError:
            came = "a number beyond the range of float64"
    elif isinstance(value, np.ndarray):
        came = f"an array of shape {value.shape} and dtype {value.dtype}"
    else:
        came = f"{type(value).__name__} {str(value)[:60]!r}"
    raise EvaluationError(
        f"The objective must return one real number; at x = {x.tolist()} it returned {came}. "
        "Return float(...) of a single value. Everything evaluated before is in .result of this "
        "exception."
    )
