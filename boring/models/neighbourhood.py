"""A smooth GP of few points around one, in units of their median distance and of their spread.

Near a point a smooth function is close to a polynomial of low degree: to a squared-exponential GP
with long lengthscales, a large variance, and next to no noise.
"""

from __future__ import annotations

import numpy as np

from boring.kernels import SQUARED_EXPONENTIAL, AdditiveKernel, FeatureMap, KernelTerm
from boring.models.gp import GaussianProcessModel
from boring.models.priors import Gaussian, ParameterPrior

CONSTANT_VARIANCE = 100.0
VARIANCE_PRIOR = Gaussian(2.0, 2.0)
VARIANCE_BOUNDS = (-4.0, 14.0)
NOISE_PRIOR = Gaussian(float(np.log(1e-8)), 3.0)
NOISE_BOUNDS = (1e-12, 1.0)


def neighbourhood_model(feature_map: FeatureMap, prior: ParameterPrior) -> GaussianProcessModel:
    """Return a constant plus a smooth term.

    Parameters
    ----------
    feature_map : FeatureMap
        Of offsets from the point, over their median length.
    prior : ParameterPrior
        Of the map's parameters.

    Returns
    -------
    GaussianProcessModel
        Its parameters are the log signal variance, those of the map, and the log noise variance.
    """
    term = KernelTerm(
        SQUARED_EXPONENTIAL,
        feature_map,
        "local",
        VARIANCE_PRIOR,
        prior,
        variance_bounds=VARIANCE_BOUNDS,
    )
    return GaussianProcessModel(
        AdditiveKernel([term], CONSTANT_VARIANCE), NOISE_PRIOR, NOISE_BOUNDS
    )
