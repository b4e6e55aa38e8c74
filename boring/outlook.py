"""How far more evaluations are expected to help: the expected improvement that is left.

Its model is a GP of half-rank warped values (`boring.warping`), whatever the optimiser: better
values are as they are, and how bad the bad ones are does not count. On plain values the walls of
Rosenbrock's function let the model hope for 1,200 where 2.7 was left to gain, the camelback's for
14 where 4e-9 was, and Branin's for 26 where 8e-5 was; on warped ones it hopes for .1, .004 and 1.
Plain values it is only where their model foresees the better half plainly better: they may be
linear, and a warp bends them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial.distance import cdist

from .acquisition.base import Acquisition
from .acquisition.domain_maximizer import maximize_in_domain
from .acquisition.improvement import LogExpectedImprovement
from .acquisition.maximizer import DUPLICATE_TOLERANCE, maximize_acquisition
from .feasibility import Feasibility, LogSum
from .models.posterior import GaussianProcess
from .result import sign_of
from .rng import keyed_generator, single_blas_thread
from .space import Box
from .surrogate import PLAINLY, ObjectiveProcess, fit_objective_model, model_of_points
from .typing import FloatArray
from .warping import Units, half_ranked, moderate, moderate_noise, standardized, warped_noise

if TYPE_CHECKING:
    from .optimizer import Optimizer

__all__ = ["objective_model", "remaining_improvement"]

N_SPREAD = 2048
"""Candidates spread over the box (chosen here)."""

N_NEAR = 256
"""Candidates around the best point, for each of the distances."""

DISTANCES = (0.3, 0.1, 0.03, 0.01)
"""Standard deviations of the candidates around the best point, scaled units (chosen here)."""


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
        meets the constraints. The maximum as far as a search finds it that begins at the points
        out for evaluation and at a few thousand others, spread over the box and gathered around
        the best point. The best is the best posterior mean at an evaluated point that meets the
        constraints, so that a lucky draw of the noise is not taken for a value that is hard to
        improve upon. An improvement counts as much as its point is likely to meet the constraints.
        In a domain with a lattice or constraints, points that were evaluated count only where they
        may be asked again: of one that is used up the rest is 0.

    Notes
    -----
    It lies where the model knows least, often in a corner of the box, whereas a proposal may go
    elsewhere: what to expect if everything is staked on it, and not of the next evaluation.
    """
    data = optimizer.observed
    if not data.is_informative or not data.feasible.any():
        return None
    X = data.X[data.feasible]
    with single_blas_thread():
        posterior, units = _model_of_the_better(optimizer)
        told = posterior.predict(X)[0]
        factors: list[Acquisition] = [LogExpectedImprovement(posterior, float(told.max()))]
        if optimizer.n_constraints:
            factors.append(Feasibility(data))
        value = _largest(optimizer, LogSum(factors), X[int(np.argmax(told))])
    return float(units.differences(np.exp(value)))


def _model_of_the_better(optimizer: Optimizer) -> tuple[GaussianProcess, Units]:
    """Return a GP of warped or plain values, larger is better, and the way back from it."""
    data = optimizer.observed
    y = data.finite_y
    moderated, exponent = moderate(y)
    known = moderate_noise(optimizer.noise_std, exponent)
    better = moderated >= np.median(moderated)
    cube = Box([-1.0] * optimizer.space.dim, [1.0] * optimizer.space.dim)

    def fitted(values: FloatArray, units: Units) -> tuple[GaussianProcess, float]:
        noise = warped_noise(known, moderated, values)
        noise_std = None if noise is None else noise**0.5
        posterior = model_of_points(cube, data.finite_X, values, noise_std=noise_std).posterior
        foreseen = posterior.log_density_left_out()[better] - np.log(units.spread)
        return posterior, float(foreseen.sum())

    warped, plain = half_ranked(y), standardized(y)
    of_warped, of_plain = fitted(*warped), fitted(*plain)
    if of_plain[1] > of_warped[1] + PLAINLY:
        return of_plain[0], plain[1]
    return of_warped[0], warped[1]


def _largest(optimizer: Optimizer, acquisition: Acquisition, center: FloatArray) -> float:
    """Return the largest value that is found in the domain; -inf where there is no point."""
    rng = keyed_generator(optimizer.entropy, "outlook", optimizer.n_told)
    given, domain = _candidates(optimizer, center, rng), optimizer.domain
    if domain.is_plain:
        return maximize_acquisition(
            acquisition, domain.dim, incumbent=center, rng=rng, given=given
        ).value
    if not len(given):
        return -np.inf
    taken = optimizer.observed.X
    if not optimizer.repeats:
        # What was evaluated is not asked again, whatever the model hopes for from a repetition.
        given = given[cdist(given, taken).min(axis=1) > DUPLICATE_TOLERANCE]
    best = float(np.max(acquisition.value(given))) if len(given) else -np.inf
    found = maximize_in_domain(acquisition, domain, incumbent=center, rng=rng, avoid=taken)
    return max(best, found.value)


def _candidates(optimizer: Optimizer, center: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return candidates of the domain, shape (n, D), scaled units."""
    dim = center.size
    near = [center + sd * rng.standard_normal((N_NEAR, dim)) for sd in DISTANCES]
    # One coordinate at a time too, since a step in all of them is a long one.
    axis = np.repeat(center[None], N_NEAR, axis=0)
    axis[np.arange(N_NEAR), rng.integers(dim, size=N_NEAR)] += 0.1 * rng.standard_normal(N_NEAR)
    scaled = np.vstack([rng.uniform(-1.0, 1.0, (N_SPREAD, dim)), *near, axis])
    scaled = np.clip(scaled, -1.0, 1.0)
    scaled = optimizer.domain.snap(scaled)
    scaled = scaled[optimizer.domain.allowed(scaled)]
    return np.vstack([scaled, optimizer.space.scale(optimizer.pending)])
