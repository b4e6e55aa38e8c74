"""Strict JSON for states and journals: floats survive bit for bit, non-finite ones included."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from .exceptions import InvalidInputError

__all__ = ["built_in", "canonical", "decode", "dumps", "float_from_json", "float_to_json", "loads"]

_TAG = "$float"


def float_to_json(value: float) -> float | str:
    """Return a finite float as it is, and NaN or an infinity as the text ``nan``, ``inf``."""
    return value if math.isfinite(value) else repr(value)


def float_from_json(value: Any) -> float:
    """Invert :func:`float_to_json`; raise ValueError for anything else."""
    if isinstance(value, str):
        if value not in {"nan", "inf", "-inf"}:
            raise ValueError(f"{value!r} is not a number")
        return float(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"{value!r} is not a number")
    try:
        return float(value)
    except OverflowError:
        raise ValueError("an integer beyond float64 is no number of ours") from None


def canonical(value: Any, name: str) -> Any:
    """Return a value as what it will be after a round trip through JSON.

    Arrays and tuples become lists, numpy scalars become Python's, mappings become dictionaries
    with text keys. Floats are unchanged.

    Raises
    ------
    InvalidInputError
        If something in it cannot be stored as JSON.
    """
    if value is None or isinstance(value, (bool, int, float, str)):
        return built_in(value)
    if isinstance(value, (np.ndarray, np.generic)):
        return canonical(value.tolist(), name)
    if isinstance(value, Mapping):
        return {_key(key, name): canonical(item, f"{name}.{key}") for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [canonical(item, f"{name}[{index}]") for index, item in enumerate(value)]
    raise InvalidInputError(
        f"{name} must be storable as JSON (numbers, text, None, lists, dictionaries, arrays); "
        f"received {type(value).__name__}. Convert it to one of these."
    )


def dumps(value: Any) -> str:
    """Write a canonical value as one line of strict JSON."""
    return json.dumps(_encode(value), allow_nan=False, separators=(",", ":"), ensure_ascii=True)


def loads(text: str) -> Any:
    """Read what :func:`dumps` wrote; raise ValueError for anything else."""
    return decode(json.loads(text, parse_constant=_refuse))


def decode(value: Any) -> Any:
    """Turn tagged floats back into NaN and infinities."""
    if isinstance(value, dict):
        if value.keys() == {_TAG}:
            return float_from_json(value[_TAG])
        return {key: decode(item) for key, item in value.items()}
    if isinstance(value, list):
        return [decode(item) for item in value]
    return value


def _encode(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return {_TAG: repr(value)}
    if isinstance(value, dict):
        return {key: _encode(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_encode(item) for item in value]
    return value


def built_in(value: Any) -> Any:
    """Return a scalar without its subclass, such as numpy.float64 or an enumeration's.

    Of a text the characters stay, whatever ``str()`` makes of it.
    """
    if isinstance(value, str):
        return str.__str__(value)
    for kind in (bool, int, float):
        if isinstance(value, kind):
            return kind(value)
    return value


def _key(key: Any, name: str) -> str:
    if not isinstance(key, str) or key == _TAG:
        raise InvalidInputError(
            f"Keys of {name} must be text (other than {_TAG!r}) to be stored as JSON; "
            f"received {key!r}. Use text keys."
        )
    return key


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not strict JSON")
