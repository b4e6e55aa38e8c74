"""Checks of options that several baselines share."""

from __future__ import annotations

from collections.abc import Sequence

from boring.exceptions import InvalidInputError
from boring.validation import as_positive_int, as_real, suggest

__all__ = ["check_choice", "check_fits", "check_optional_int", "check_positive"]


def check_choice(value: object, name: str, allowed: Sequence[str]) -> None:
    """Raise InvalidInputError unless the value is one of those allowed."""
    if value not in allowed:
        raise InvalidInputError(
            f"{name} must be one of {', '.join(allowed)}; received {value!r}. "
            f"{suggest(str(value), allowed)}"
        )


def check_fits(effective_dim: int, dim: int) -> None:
    """Raise InvalidInputError if a subspace has more dimensions than the space."""
    if effective_dim > dim:
        raise InvalidInputError(
            f"effective_dim must not exceed the dimension of the space; received "
            f"{effective_dim} in {dim} dimensions. Lower effective_dim."
        )


def check_optional_int(value: int | None, name: str) -> None:
    """Raise InvalidInputError unless the value is None or a positive integer."""
    if value is not None:
        as_positive_int(value, name)


def check_positive(value: float, name: str) -> None:
    """Raise InvalidInputError unless the value is a positive finite number."""
    if not as_real(value, name, "a positive finite number") > 0:
        raise InvalidInputError(
            f"{name} must be a positive finite number; received {value!r}. Pass a larger one."
        )
