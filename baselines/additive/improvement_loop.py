"""The loop of expected improvement under one or several additive models: what these share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from boring.acquisition import (
    LogExpectedImprovement,
    LogImprovementMixture,
)
from boring.box_search import search_box
from boring.models.posterior import GaussianProcess, with_fantasies
from boring.optimizer import Optimizer, Proposal, ProposalContext
from boring.result import InfoValue
from boring.typing import FloatArray
from boring.warping import standardize

__all__ = ["FittedModels", "ImprovementOptimizer"]


@dataclass(frozen=True, eq=False)
class FittedModels:
    """What an algorithm knows before it proposes.

    Parameters
    ----------
    posteriors : sequence of GaussianProcess
        In standardised values.
    weights : sequence of float
        Of the average of their expected improvements.
    memory : dict
        For the next proposal; JSON-able.
    info : dict
        What to say about the point.
    basis : ndarray, shape (D, d), optional
        Directions that matter, for the candidates of the maximiser.
    """

    posteriors: Sequence[GaussianProcess]
    weights: Sequence[float]
    memory: dict[str, Any]
    info: dict[str, InfoValue] = field(default_factory=dict)
    basis: FloatArray | None = None


class ImprovementOptimizer(Optimizer):
    """An optimiser by log expected improvement; subclasses fit the models."""

    @abstractmethod
    def _fit_models(self, X: FloatArray, y: FloatArray, context: ProposalContext) -> FittedModels:
        """Return the models of standardised values y (n,) at X (n, D)."""

    def _propose(self, context: ProposalContext) -> Proposal:
        X, y = context.data.finite_X, standardize(context.data.finite_y)
        fitted = self._fit_models(X, y, context)
        members = [
            LogExpectedImprovement(
                with_fantasies(posterior, context.pending, context.data.failing_X), float(y.max())
            )
            for posterior in fitted.posteriors
        ]
        mixture = LogImprovementMixture(members, fitted.weights)
        found = search_box(mixture, X[int(np.argmax(y))], fitted.basis, context)
        info = {**fitted.info, "acquisition": found.value, "replaced": found.replaced}
        return Proposal(found.x, fitted.memory, info)
