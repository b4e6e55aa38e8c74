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
from boring.acquisition.information import (
    JointDraws,
    JointPosterior,
    LogEntropySearch,
    LogMaxValueEntropy,
    draw_jointly,
    gaussian_mutual_information,
)
from boring.acquisition.maximizer import MaximizerResult, maximize_acquisition
from boring.acquisition.noisy import (
    LogAugmentedExpectedImprovement,
    LogExpectedQuantileImprovement,
)
from boring.acquisition.sampled import NormalDraws, SampledExpectedImprovement, SampledPosterior
from boring.acquisition.ucb import (
    AdditiveUpperConfidenceBound,
    BetaSchedule,
    ConstantBeta,
    FiniteGpUcbBeta,
    GpUcbBeta,
    GroupBeta,
    LowerConfidenceBound,
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
    "JointDraws",
    "JointPosterior",
    "LogAugmentedExpectedImprovement",
    "LogEntropySearch",
    "LogExpectedImprovement",
    "LogExpectedQuantileImprovement",
    "LogImprovementMixture",
    "LogMaxValueEntropy",
    "LogProbabilityOfImprovement",
    "LowerConfidenceBound",
    "MaximizerResult",
    "NormalDraws",
    "Posterior",
    "SampledExpectedImprovement",
    "SampledPosterior",
    "UpperConfidenceBound",
    "draw_jointly",
    "gaussian_mutual_information",
    "maximize_acquisition",
]
