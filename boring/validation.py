"""Checks of arguments, each with the rule, what came, and the remedy in its message."""

from __future__ import annotations

import difflib
import math
import numbers
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, TypeGuard, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._brief import in_brief, listed, shortened
from .exceptions import InvalidInputError, UnknownNameError
from .typing import FloatArray

__all__ = [
    "ELSEWHERE",
    "as_constraints",
    "as_float",
    "as_points",
    "as_positive_int",
    "as_real",
    "as_real_array",
    "as_values",
    "check_options",
    "from_text",
    "is_real",
    "is_whole",
    "real_array",
    "suggest",
]

_REAL_KINDS = "iufb"

MOST_NAMES = 100
"""Names up to which a message lists all that are known: they are short, and one is looked for."""

ELSEWHERE: Mapping[str, str] = {
    **dict.fromkeys(("random_state", "rng", "random_seed"), "seed makes a run repeatable"),
    **dict.fromkeys(
        ("n_initial_points", "n_random_starts", "init_points", "n_startup_trials"),
        "n_initial is the length of the initial design",
    ),
}
"""What names of other libraries are here, wherever an optimiser is made."""

Number = TypeVar("Number", float, int)


def as_real_array(value: ArrayLike, name: str) -> FloatArray:
    """Return a float64 copy, refusing text, complex numbers and objects."""
    try:
        array = real_array(value)
    except (ValueError, TypeError) as error:
        raise InvalidInputError(
            f"{name} must be a rectangular array of real numbers; numpy could not build one "
            f"({error}). Give every row the same length."
        ) from error
    if array.dtype.kind not in _REAL_KINDS:
        raise InvalidInputError(
            f"{name} must hold real numbers; received {_contents(array)}. "
            "Convert it to float64 first."
        )
    return np.array(array, dtype=np.float64)


def real_array(value: ArrayLike) -> NDArray[Any]:
    """Return an array, float64 if it is masked or holds real numbers as objects.

    Masked entries become NaN. Objects are what numpy makes of integers beyond int64, of
    fractions, and of columns cut from a table of mixed types; an integer beyond float64
    becomes infinite.
    """
    array = np.asarray(value)
    if isinstance(value, np.ma.MaskedArray) and array.dtype.kind in _REAL_KINDS:
        return np.asarray(np.ma.filled(value.astype(np.float64), np.nan))
    if array.dtype == object and all(map(is_real, array.flat)):
        return np.array([as_float(item) for item in array.flat]).reshape(array.shape)
    return array


def as_float(value: Any) -> float:
    """Return a real number, as a float; an integer beyond float64 becomes infinite.

    Parameters
    ----------
    value : numbers.Real

    Returns
    -------
    float

    Examples
    --------
    >>> as_float(3), as_float(-(10**400))
    (3.0, -inf)
    """
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _contents(array: NDArray[Any]) -> str:
    """Say what an array holds that is not real numbers."""
    if array.dtype == object:
        wrong = next(item for item in array.flat if not is_real(item))
        return f"{type(wrong).__name__} {str(wrong)[:60]!r}"
    return f"dtype {array.dtype}"


def as_points(X: ArrayLike, dim: int, name: str = "X") -> FloatArray:
    """Return points as a fresh (n, D) array.

    Parameters
    ----------
    X : array_like, shape (n, D) or (D,)
        Finite real numbers; a one-dimensional array is one point.
    dim : int
        The dimension D.
    name : str
        What the message calls the argument.

    Returns
    -------
    ndarray, shape (n, D)
        A float64 copy.

    Raises
    ------
    InvalidInputError
        If the shape is another one, or an entry is not a finite real number.

    Examples
    --------
    >>> as_points([1, 2], 2).shape
    (1, 2)
    """
    points = as_real_array(X, name)
    if points.ndim == 1 or (points.ndim == 0 and dim == 1):
        points = points.reshape(1, -1)
    if points.ndim != 2 or points.shape[1] != dim:
        raise InvalidInputError(
            f"{name} must have shape (n, {dim}), or ({dim},) for one point; "
            f"received shape {np.shape(X)}. Give each point {dim} coordinates."
        )
    if not np.all(np.isfinite(points)):
        row = int(np.flatnonzero(~np.isfinite(points).all(axis=1))[0])
        raise InvalidInputError(
            f"{name} must hold finite coordinates; row {row} is {in_brief(points[row])}. "
            "Remove or replace that point."
        )
    return points


def as_values(y: ArrayLike, n: int, name: str = "y") -> FloatArray:
    """Return values as a fresh (n,) array; NaN and infinities pass.

    Parameters
    ----------
    y : array_like, shape (n,), (n, 1) or scalar when n is 1
        Real numbers.
    n : int
        How many values are expected.
    name : str
        What the message calls the argument.

    Returns
    -------
    ndarray, shape (n,)
        A float64 copy.

    Raises
    ------
    InvalidInputError
        If the count differs, or the values are complex, text or objects.

    Examples
    --------
    >>> as_values(3, 1)
    array([3.])
    """
    values = as_real_array(y, name)
    if values.shape not in {(n,), (n, 1)} and not (n == 1 and values.ndim == 0):
        raise InvalidInputError(
            f"{name} must hold one value for each of the {n} points, shape ({n},); "
            f"received shape {values.shape}. Give as many values as points."
        )
    return values.reshape(n)


def as_constraints(
    constraints: ArrayLike | None, n: int, n_constraints: int, name: str = "constraints"
) -> FloatArray:
    """Return values of black-box constraints as a fresh (n, m) array.

    Parameters
    ----------
    constraints : array_like, shape (n, m), or (m,) for one point, or None
        Real numbers; NaN stands for not known, and None for no value known.
    n : int
        Number of points.
    n_constraints : int
        m.
    name : str
        What the message calls the argument.

    Returns
    -------
    ndarray, shape (n, m)
        A float64 copy.

    Raises
    ------
    InvalidInputError
        If the shape is another one, or the values are complex, text or objects.

    Examples
    --------
    >>> as_constraints([1, -2], 1, 2)
    array([[ 1., -2.]])
    """
    if constraints is None:
        return np.full((n, n_constraints), np.nan)
    values = as_real_array(constraints, name)
    if values.ndim < 2 and (n == 1 or n_constraints == 1) and values.size == n * n_constraints:
        values = values.reshape(n, n_constraints)
    if values.shape != (n, n_constraints) and not n_constraints:
        raise InvalidInputError(
            f"{name} must be left out where there are none (n_constraints = 0); received shape "
            f"{np.shape(constraints)}. Leave them out, or make a run with n_constraints=..."
        )
    if values.shape != (n, n_constraints):
        raise InvalidInputError(
            f"{name} must hold {n_constraints} values for each of the {n} points, shape "
            f"({n}, {n_constraints}); received shape {np.shape(constraints)}. Give as many as "
            "n_constraints says, NaN where one is not known."
        )
    return values


def is_real(value: object) -> bool:
    """Return whether a value is a real number, a decimal one included.

    To Python alone numpy's durations are integers. A decimal NaN that signals cannot be computed.

    Examples
    --------
    >>> is_real(np.float32(0.5)), is_real(np.timedelta64(3, "s"))
    (True, False)
    """
    if isinstance(value, Decimal):
        return not value.is_snan()
    return isinstance(value, numbers.Real) and not isinstance(value, np.timedelta64)


def is_whole(value: object) -> TypeGuard[int | np.integer[Any]]:
    """Return whether a value is an integer, of Python or numpy, and no bool.

    Examples
    --------
    >>> is_whole(np.int64(3)), is_whole(True), is_whole(3.0)
    (True, False, False)
    """
    return isinstance(value, (int, np.integer)) and is_real(value) and not isinstance(value, bool)


def as_positive_int(value: object, name: str, minimum: int = 1) -> int:
    """Return an integer of at least ``minimum``.

    Parameters
    ----------
    value : object
        What the caller passed.
    name : str
        What the message calls the argument.
    minimum : int, default 1
        Smallest value allowed.

    Returns
    -------
    int

    Raises
    ------
    InvalidInputError
        If the value is not an integer or is too small.

    Examples
    --------
    >>> as_positive_int(3, "n")
    3
    """
    if not is_whole(value) or value < minimum:
        raise InvalidInputError(
            f"{name} must be an integer of at least {minimum}; received {in_brief(value)}. "
            f"Pass for example {name}={max(minimum, 1)}."
        )
    return int(value)


def as_real(value: Any, name: str, rule: str = "a finite real number") -> float:
    """Return a finite real number as a float.

    Parameters
    ----------
    value : object
        What the caller passed.
    name : str
        What the message calls the argument.
    rule : str
        What the message says of it.

    Returns
    -------
    float

    Raises
    ------
    InvalidInputError
        If the value is no number, or not finite.

    Examples
    --------
    >>> as_real(3, "beta")
    3.0
    """
    if not isinstance(value, bool) and is_real(value):
        number = as_float(value)
        if math.isfinite(number):
            return number
    raise InvalidInputError(
        f"{name} must be {rule}; received {in_brief(value)}. Pass a finite number."
    )


def from_text(text: str, kind: type[Number] = float) -> Number:  # type: ignore[assignment]
    """Return the number that a text holds; Python's underscores between digits are none.

    Parameters
    ----------
    text : str
    kind : {float, int}, default float

    Returns
    -------
    float or int

    Raises
    ------
    ValueError
        If it holds no such number.

    Examples
    --------
    >>> from_text("1e-3")
    0.001
    """
    if "_" in text:
        raise ValueError(f"{text!r} is not a number")
    return kind(text)


def suggest(name: str, known: Iterable[str]) -> str:
    """Return a sentence that names the nearest known name, or all of them when none is near.

    Parameters
    ----------
    name : str
        What the caller wrote.
    known : iterable of str
        What would have been understood.

    Returns
    -------
    str

    Examples
    --------
    >>> suggest("boringg", ["boring", "sobol"])
    "Did you mean 'boring'? Known: boring, sobol."
    >>> suggest("SOBOL", ["boring", "sobol"])
    "Did you mean 'sobol'? Known: boring, sobol."
    """
    names = sorted(set(known))
    listing = f"Known: {listed(names, shortened, MOST_NAMES)}." if names else "There are none."
    near = difflib.get_close_matches(str(name), names, n=1)
    if not near:  # capitals are letters of their own to difflib
        folded = {known.casefold(): known for known in names}
        found = difflib.get_close_matches(str(name).casefold(), folded, n=1)
        near = [folded[text] for text in found]
    return f"Did you mean {near[0]!r}? {listing}" if near else listing


def check_options(
    options: Mapping[str, Any],
    allowed: Iterable[str],
    owner: str = "this function",
    elsewhere: Mapping[str, str] = ELSEWHERE,
) -> None:
    """Raise if an option is not known, suggesting the nearest one, or what it is called here.

    Parameters
    ----------
    options : mapping of str to object
        Keyword arguments as the caller wrote them.
    allowed : iterable of str
        The names that are understood.
    owner : str
        What the message calls the receiver of the options.
    elsewhere : mapping of str to str
        From names of other libraries to the beginnings of sentences that say what is here.

    Raises
    ------
    UnknownNameError
        If a key of ``options`` is not in ``allowed``.
    """
    names = tuple(allowed)
    for option in options:
        if option not in names:
            remedy = f"Here {elsewhere[option]}. " if option in elsewhere else ""
            raise UnknownNameError(
                f"{owner} has no option {option!r}. {remedy}{suggest(option, names)}"
            )
