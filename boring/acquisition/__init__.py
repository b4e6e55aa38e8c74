"""Acquisition functions and their joint maximiser over the box; larger is better."""

from boring.acquisition.base import (
    Acquisition,
    ComponentPosterior,
    GradientComponentPosterior,
    Posterior,
)
from boring.acquisition.improvement import (
    LogExpectedImprovement,
    LogImprovementMixture,
    LogProbabilityOfImprovement,
)
from boring.acquisition.maximizer import MaximizerResult, maximize_acquisition
from boring.acquisition.ucb import (
    AdditiveUpperConfidenceBound,
    BetaSchedule,
    ConstantBeta,
    FiniteGpUcbBeta,
    GpUcbBeta,
    GroupBeta,
    UpperConfidenceBound,
)

__all__ = [
    "Acquisition",
    "AdditiveUpperConfidenceBound",
    "BetaSchedule",
    "ComponentPosterior",
    "ConstantBeta",
    "FiniteGpUcbBeta",
    "GpUcbBeta",
    "GradientComponentPosterior",
    "GroupBeta",
    "LogExpectedImprovement",
    "LogImprovementMixture",
    "LogProbabilityOfImprovement",
    "MaximizerResult",
    "Posterior",
    "UpperConfidenceBound",
    "maximize_acquisition",
]
