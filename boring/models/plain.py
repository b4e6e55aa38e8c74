"""A plain Gaussian process over all inputs: one lengthscale per input, values as they are.

Hvarfner, Hellsten and Nardi, "Vanilla Bayesian optimization performs great in high
dimensions", ICML 2024: a Matern-5/2 kernel with a log-normal lengthscale prior that grows with
sqrt(D), on standardised values. It takes ruggedness for noise and keeps to the trend, where the
portfolio follows each ripple: the default loop lets it speak there, and the baseline ``gp`` is
nothing else.

**Deviation**: a variance with a weak prior is fitted (the paper's later code drops it).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from boring.kernels import AdditiveKernel, Ard, KernelTerm, get_profile
from boring.models.gp import GaussianProcessModel
from boring.models.priors import Gaussian, hvarfner
from boring.typing import FloatArray

__all__ = ["fit_plain", "plain_model"]

#: Priors of log variance and log noise variance, y standardised (chosen here).
VARIANCE_PRIOR = Gaussian(0.0, 1.0)
NOISE_PRIOR = Gaussian(-7.0, 2.0)
#: Iterations of a fit from the prior's mode and from the last fit.
COLD_ITERATIONS = 40
WARM_ITERATIONS = 12
#: The fit starts anew after so many observations (chosen here).
RESTART_EVERY = 10


def plain_model(dim: int, kernel: str = "matern52") -> GaussianProcessModel:
    """Return the model: a constant and one ARD term with the dimension-scaled prior.

    Parameters
    ----------
    dim : int
        D.
    kernel : str, default "matern52"
        Name of a radial profile.
    """
    term = KernelTerm(get_profile(kernel), Ard(dim), "f", VARIANCE_PRIOR, hvarfner(dim))
    return GaussianProcessModel(AdditiveKernel([term], 1.0), NOISE_PRIOR)


def fit_plain(
    model: GaussianProcessModel,
    X: FloatArray,
    y: FloatArray,
    memory: Mapping[str, Any],
    restart_every: int = RESTART_EVERY,
) -> tuple[FloatArray, int]:
    """Return fitted parameters of :func:`plain_model`, and how many points the last cold fit saw.

    Parameters
    ----------
    model : GaussianProcessModel
    X : ndarray, shape (n, D)
    y : ndarray, shape (n,), standardised
    memory : mapping
        What was returned last, as ``"theta"`` and ``"cold_at"``; may be empty.
    restart_every : int, default 10
        The fit starts from the last one; after this many observations it also starts anew, and
        the better one is kept.
    """
    cold = np.full(model.n_parameters, hvarfner(X.shape[1]).mean)
    cold[0], cold[-1] = VARIANCE_PRIOR.mean, NOISE_PRIOR.mean
    last = memory.get("theta")
    if last is None:
        return model.fit(X, y, cold, max_iterations=COLD_ITERATIONS).theta, len(X)
    starts, budgets, cold_at = [np.array(last)], [WARM_ITERATIONS], int(memory["cold_at"])
    if len(X) - cold_at >= restart_every:
        starts, budgets, cold_at = [*starts, cold], [*budgets, COLD_ITERATIONS], len(X)
    return model.fit_best(X, y, starts, max_iterations=budgets).theta, cold_at
