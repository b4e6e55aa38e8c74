"""One call of the objective, guarded against what objectives do."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from .exceptions import EvaluationError, InvalidInputError
from .typing import FloatArray, OnError

__all__ = ["Objective", "check_on_error", "evaluate"]

Objective: TypeAlias = Callable[[FloatArray], Any]
"""Takes one point, shape (D,), raw units, and returns a real number."""


def check_on_error(on_error: str) -> None:
    """Raise InvalidInputError unless ``on_error`` is ``"raise"`` or ``"record"``."""
    if on_error not in {"raise", "record"}:
        raise InvalidInputError(
            f"on_error must be 'raise' or 'record'; received {on_error!r}. Use 'record' to carry "
            "on after an exception of the objective."
        )


def evaluate(fun: Objective, x: FloatArray, on_error: OnError) -> tuple[float, str | None]:
    """Call the objective at a copy of one point.

    Parameters
    ----------
    fun : callable
    x : ndarray, shape (D,), raw units
    on_error : {"raise", "record"}
        Whether an exception of the objective is raised or becomes NaN.

    Returns
    -------
    y : float
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
        description = f"{type(error).__name__}: {error}"
        if on_error == "record":
            return float("nan"), description
        raise EvaluationError(
            f"The objective must return a value; at x = {x.tolist()} it raised {description}. "
            "Mend it, or pass on_error='record' to record NaN and carry on. Everything evaluated "
            "before is in .result of this exception."
        ) from error
    return _as_real(value, x), None


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
