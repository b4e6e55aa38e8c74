"""How far more evaluations are expected to help: the expected improvement that is left.

The model is the one of :attr:`boring.optimizer.Optimizer.surrogate` if that is a GP; other
optimisers get the isotropic GP of :mod:`boring.surrogate`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr

from .feasibility import Feasibility
from .result import sign_of
from .rng import keyed_generator, single_blas_thread
from .surrogate import ObjectiveProcess, fit_objective_model
from .typing import FloatArray

if TYPE_CHECKING:
    from .optimizer import Optimizer

__all__ = ["expected_improvement", "objective_model", "remaining_improvement"]

N_SPREAD = 2048
"""Candidates spread over the box (chosen here)."""

N_NEAR = 256
"""Candidates around the best point, for each of the distances."""

DISTANCES = (0.3, 0.1, 0.03, 0.01)
"""Standard deviations of the candidates around the best point, scaled units (chosen here)."""


def expected_improvement(mean: FloatArray, variance: FloatArray, best: float) -> FloatArray:
    """Return the expected improvement of larger values over the best one.

    Parameters
    ----------
    mean, variance : ndarray, shape (n,)
        Of the objective, larger is better.
    best : float

    Returns
    -------
    ndarray, shape (n,), units of the objective
        (mean - best) Phi(z) + sd phi(z), z = (mean - best) / sd [thesis eq. 1.8-1.10, sign
        corrected]; max(mean - best, 0) where the variance is zero.
    """
    sd = np.sqrt(np.maximum(variance, 0.0))
    gain = mean - best
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        z = np.clip(gain / sd, -40.0, 40.0)
        value = gain * ndtr(z) + sd * np.exp(-0.5 * z**2) / np.sqrt(2.0 * np.pi)
    return np.where(sd > 0.0, np.maximum(value, 0.0), np.maximum(gain, 0.0))


def objective_model(optimizer: Optimizer) -> ObjectiveProcess | None:
    """Return a GP of the objective in the caller's units; None without different finite values.

    Parameters
    ----------
    optimizer : Optimizer
    """
    if not optimizer.observed.is_informative:
        return None
    own = optimizer.surrogate
    if isinstance(own, ObjectiveProcess):
        return own
    with single_blas_thread():
        return fit_objective_model(
            optimizer.space, sign_of(optimizer.direction), optimizer.observed
        )


def remaining_improvement(optimizer: Optimizer) -> float | None:
    """Return the largest expected improvement that the model sees anywhere in the box.

    Parameters
    ----------
    optimizer : Optimizer

    Returns
    -------
    float or None, caller's units
        Never negative; None as long as there is nothing to model, or no evaluated point that
        meets the constraints. Over the points out for evaluation and a few thousand others, spread
        over the box and gathered around the best point: a lower bound of the maximum, close in few
        dimensions. The best is the best posterior mean at an evaluated point that meets the
        constraints, so that a lucky draw of the noise is not taken for a value that is hard to
        improve upon. An improvement counts as much as its point is likely to meet the constraints.
    """
    model, feasible = objective_model(optimizer), optimizer.observed.feasible
    if model is None or not feasible.any():
        return None
    sign = sign_of(optimizer.direction)
    X = optimizer.observed.X[feasible]
    told = sign * model.predict(optimizer.space.unscale(X))[0]
    center = X[int(np.argmax(told))]
    candidates = _candidates(optimizer, center)
    if not len(candidates):
        return 0.0
    with single_blas_thread():
        mean, variance = model.predict(candidates)
        gain = expected_improvement(sign * mean, variance, float(told.max()))
        if optimizer.n_constraints:
            gain *= np.exp(Feasibility(optimizer.observed).value(optimizer.space.scale(candidates)))
    return float(gain.max())


def _candidates(optimizer: Optimizer, center: FloatArray) -> FloatArray:
    """Return candidates, shape (n, D), raw units."""
    rng = keyed_generator(optimizer.entropy, "outlook", optimizer.n_told)
    dim = center.size
    near = [center + sd * rng.standard_normal((N_NEAR, dim)) for sd in DISTANCES]
    # One coordinate at a time too, since a step in all of them is a long one.
    axis = np.repeat(center[None], N_NEAR, axis=0)
    axis[np.arange(N_NEAR), rng.integers(dim, size=N_NEAR)] += 0.1 * rng.standard_normal(N_NEAR)
    scaled = np.vstack([rng.uniform(-1.0, 1.0, (N_SPREAD, dim)), *near, axis])
    scaled = np.clip(scaled, -1.0, 1.0)
    scaled = optimizer.domain.snap(scaled)
    scaled = scaled[optimizer.domain.allowed(scaled)]
    points = optimizer.space.unscale(scaled)
    return np.vstack([points, optimizer.pending])
