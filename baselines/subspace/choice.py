"""The acquisition that the optimisers in a learned subspace offer."""

from __future__ import annotations

from typing import Literal, get_args

from boring.acquisition import (
    Acquisition,
    GpUcbBeta,
    LogExpectedImprovement,
    Posterior,
    UpperConfidenceBound,
)
from boring.exceptions import InvalidInputError

__all__ = ["Choice", "acquisition_of", "check_choice"]

Choice = Literal["ucb", "log-ei"]


def check_choice(acquisition: str) -> None:
    """Raise InvalidInputError for another name than "ucb" and "log-ei"."""
    if acquisition not in get_args(Choice):
        raise InvalidInputError(
            f"acquisition must be one of {', '.join(get_args(Choice))}; received {acquisition!r}."
        )


def acquisition_of(
    choice: Choice, posterior: Posterior, incumbent: float, dim: int, t: int
) -> Acquisition:
    """Return log-EI, or the upper bound with GP-UCB's beta in round t over ``dim`` dimensions."""
    if choice == "ucb":
        return UpperConfidenceBound(posterior, GpUcbBeta(dim)(t))
    return LogExpectedImprovement(posterior, incumbent)
