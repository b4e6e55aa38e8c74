"""SAASBO (Eriksson and Jankowiak 2021) with BoTorch's MAP ensemble, rebuilt at every proposal.

``EnsembleMapSaasSingleTaskGP``: four Matern-5/2 processes, each with a half-Cauchy prior on the
inverse squared lengthscales whose scale tau is drawn from a half-Cauchy(0.1); log expected
improvement (Ament et al. 2023) averaged over the four.

**Deviation**: the hyperparameters are maxima a posteriori for four drawn values of tau, where the
paper averages over sixteen samples of the No-U-Turn sampler, which takes minutes a point. The
maximisation of the acquisition has fewer starts and steps than in BoTorch's tutorial (10 starts
from 1024 points, 200 steps).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from numpy.typing import ArrayLike

from boring.typing import FloatArray
from boring.validation import as_positive_int

from ._torch import TORCH, improvement_point, load_torch
from .base import RebuiltPeer, Requirement

__all__ = ["SaasboOptions", "SaasboPeer"]

N_TAUS = 4
"""Members of the ensemble (BoTorch's default)."""

N_RESTARTS, N_RAW, MAX_STEPS = 8, 256, 100
"""Starts of the maximisation of the acquisition, points they are picked from, and steps from each
(chosen here for speed)."""

FIT_STEPS = 200
"""Of L-BFGS, for the hyperparameters (chosen here; the posterior density stays after 100)."""


@dataclass(frozen=True)
class SaasboOptions:
    """Options of SAASBO.

    Parameters
    ----------
    n_taus : int, default 4
        Members of the ensemble, one value of the global shrinkage each.
    n_restarts : int, default 8
    n_raw : int, default 256
        Points from which the starts are picked.
    """

    n_taus: int = N_TAUS
    n_restarts: int = N_RESTARTS
    n_raw: int = N_RAW

    def __post_init__(self) -> None:
        """Check the options."""
        as_positive_int(self.n_taus, "n_taus")
        as_positive_int(self.n_restarts, "n_restarts")
        as_positive_int(self.n_raw, "n_raw")


class SaasboPeer(RebuiltPeer):
    """MAP-SAAS and log-EI of ``botorch``; options are those of :class:`SaasboOptions`."""

    name: ClassVar[str] = "peer-saasbo"
    options_type: ClassVar[type] = SaasboOptions
    requirement: ClassVar[Requirement] = TORCH

    def _load(self) -> None:
        load_torch()

    def _suggest(self, points: FloatArray, costs: FloatArray, seed: int) -> ArrayLike:
        from botorch.models.map_saas import EnsembleMapSaasSingleTaskGP

        options = self.options
        return improvement_point(
            lambda X, y: EnsembleMapSaasSingleTaskGP(X, y, num_taus=options.n_taus),
            points,
            costs,
            seed,
            n_restarts=options.n_restarts,
            n_raw=options.n_raw,
            fit_options={"maxiter": FIT_STEPS},
            search_options={"maxiter": MAX_STEPS},
        )
