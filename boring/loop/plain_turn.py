"""The plain Gaussian process's turn: what it takes for noise, it does not follow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from boring.effort import Effort
from boring.models.plain import fit_plain, plain_model
from boring.models.posterior import GaussianProcess
from boring.sample import sample
from boring.typing import FloatArray
from boring.warping import standardize, warped_noise

__all__ = ["posterior_of_trend"]


def posterior_of_trend(
    X: FloatArray,
    y: FloatArray,
    memory: Mapping[str, Any],
    noise_variance: float | None,
    effort: Effort,
) -> tuple[GaussianProcess, dict[str, Any]]:
    """Fit the plain Gaussian process to standardised values, and return what to remember of it.

    Parameters
    ----------
    X : ndarray, shape (n, D), scaled units
    y : ndarray, shape (n,)
        Unwarped, larger is better.
    memory : mapping
        What was returned at its last turn; empty before the first.
    noise_variance : float or None
        Known, units of y squared; None learns it.
    effort : Effort
        Whether the hyperparameters may be fitted anew.

    Returns
    -------
    posterior : GaussianProcess
        Of the standardised values.
    memory : dict
        JSON-able.
    """
    values = standardize(y)
    model = plain_model(X.shape[1]).with_noise(warped_noise(noise_variance, y, values))
    if memory and effort.refits == "none":
        theta, cold_at = np.array(memory["theta"]), int(memory["cold_at"])
    else:
        rows = sample(values)
        theta, cold_at = fit_plain(model, X[rows], values[rows], memory)
    return model.condition(theta, X, values), {"theta": theta.tolist(), "cold_at": cold_at}
