"""BoTorch's default model with log expected improvement, rebuilt at every proposal.

``SingleTaskGP`` with its default kernel and dimension-scaled prior (Hvarfner et al. 2024), fitted
by maximum a posteriori, and analytic ``LogExpectedImprovement`` (Ament et al. 2023), maximised with
the numbers of starts of BoTorch's own tutorials.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from boring.typing import FloatArray
from boring.validation import as_positive_int

from ._torch import TORCH, load_torch, torch_contained
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
        import torch
        from botorch.acquisition import LogExpectedImprovement
        from botorch.fit import fit_gpytorch_mll
        from botorch.models import SingleTaskGP
        from botorch.optim import optimize_acqf
        from gpytorch.mlls import ExactMarginalLogLikelihood

        dim = points.shape[1]
        with torch_contained(seed):
            X = torch.tensor((points + 1.0) / 2.0, dtype=torch.double)
            y = torch.tensor(-costs, dtype=torch.double)[:, None]
            model = SingleTaskGP(X, y)
            fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
            found, _ = optimize_acqf(
                LogExpectedImprovement(model, best_f=y.max()),
                bounds=torch.stack([torch.zeros(dim), torch.ones(dim)]).double(),
                q=1,
                num_restarts=self.options.n_restarts,
                raw_samples=self.options.n_raw,
            )
            return 2.0 * np.asarray(found[0].detach().numpy(), dtype=np.float64) - 1.0
