"""BoTorch's default model with log expected improvement, rebuilt at every proposal.

``SingleTaskGP`` with its default kernel and dimension-scaled prior (Hvarfner et al. 2024), fitted
by maximum a posteriori, and analytic ``LogExpectedImprovement`` (Ament et al. 2023), maximised with
the numbers of starts of BoTorch's own tutorials.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from numpy.typing import ArrayLike

from boring.typing import FloatArray
from boring.validation import as_positive_int

from ._torch import TORCH, improvement_point, load_torch
from .base import RebuiltPeer, Requirement

__all__ = ["BotorchOptions", "BotorchPeer"]

N_RESTARTS, N_RAW = 10, 512
"""Starts of the maximisation of the acquisition, and points they are picked from (tutorials)."""


@dataclass(frozen=True)
class BotorchOptions:
    """Options of BoTorch.

    Parameters
    ----------
    n_restarts : int, default 10
    n_raw : int, default 512
        Points from which the starts are picked.
    """

    n_restarts: int = N_RESTARTS
    n_raw: int = N_RAW

    def __post_init__(self) -> None:
        """Check the options."""
        as_positive_int(self.n_restarts, "n_restarts")
        as_positive_int(self.n_raw, "n_raw")


class BotorchPeer(RebuiltPeer):
    """Default GP and log-EI of ``botorch``; options are those of :class:`BotorchOptions`."""

    name: ClassVar[str] = "peer-botorch"
    options_type: ClassVar[type] = BotorchOptions
    requirement: ClassVar[Requirement] = TORCH

    def _load(self) -> None:
        load_torch()

    def _suggest(self, points: FloatArray, costs: FloatArray, seed: int) -> ArrayLike:
        from botorch.models import SingleTaskGP

        return improvement_point(
            SingleTaskGP,
            points,
            costs,
            seed,
            n_restarts=self.options.n_restarts,
            n_raw=self.options.n_raw,
        )
