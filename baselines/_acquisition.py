"""The acquisitions that baselines offer by an option."""

from __future__ import annotations

from typing import Literal

from boring.acquisition import (
    Acquisition,
    GpUcbBeta,
    LogExpectedImprovement,
    Posterior,
    UpperConfidenceBound,
)

__all__ = ["ACQUISITIONS", "Choice", "acquisition_of"]

Choice = Literal["log-ei", "ucb"]
ACQUISITIONS = ("log-ei", "ucb")


def acquisition_of(
    choice: Choice, posterior: Posterior, incumbent: float, dim: int, t: int
) -> Acquisition:
    """Return log-EI, or the upper bound with GP-UCB's beta in round t over ``dim`` dimensions."""
    if choice == "ucb":
        return UpperConfidenceBound(posterior, GpUcbBeta(dim)(t))
    return LogExpectedImprovement(posterior, incumbent)
