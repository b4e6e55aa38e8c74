"""The local turn: a smooth model of the incumbent's neighbourhood, in a trust region.

The portfolio finds a basin and is slow to polish it: its Matern kernel, its floor on the
noise and its warp are made for the whole box. Near a minimum a smooth function is close to a
quadratic, and there a squared-exponential GP on *unwarped* values of the nearest points,
with a floor on the noise of 1e-12, is worth orders of magnitude. It goes, in two rounds,
through the metric C^(1/2) of its own expected gradient outer product, so that a bent valley
comes out round; and along the few directions that the neighbourhood as a whole shows
(`boring.loop.local_metric`). The likeliest of the three proposes.

The next point maximises log-EI inside a box of half-width r around the incumbent. Once r is
small it maximises a lower confidence bound instead, and the model forgets what is far away:
log-EI in ten inputs still expects gains of 1e-2 from directions that turn out flat when the
incumbent is within 1e-4 of the optimum, and far points' values drown the digits that are left to
gain (eight development runs, median by log-EI and by the mean: camelback 2-in-10 1.5e-7 and 3.7e-9,
Branin 2-in-25 2.7e-4 and 2e-5). The bound keeps to the few directions along which the model knows
the function: where only those matter, they are enough, and their points name them (`CAUTION`
below). With a wide region either would trust one basin (Levy 4-in-20 ends
above 1 instead of below .5; camelback 2-in-10 at 4e-8 with regions of up to .2). How r
follows what steps bring is in `boring.loop.trust_region`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize

from boring.acquisition.base import Acquisition
from boring.acquisition.improvement import LogExpectedImprovement
from boring.acquisition.local_domain import best_in_domain
from boring.acquisition.ucb import LowerConfidenceBound
from boring.domain import Domain
from boring.effort import FULL, MOST_POINTS, Effort
from boring.feasibility import Feasibility, LogSum
from boring.kernels import FeatureMap, Isotropic
from boring.loop.local_metric import directions_map, is_due, update_directions
from boring.loop.trust_region import (
    LEAST_RADIUS,
    failures_in_a_row,
    goes_on,
    next_radius,
    same_rows,
    shrunk,
)
from boring.models.gp import GaussianProcessModel
from boring.models.neighbourhood import NOISE_PRIOR, VARIANCE_PRIOR, neighbourhood_model
from boring.models.posterior import GaussianProcess, best_in_noise
from boring.models.priors import dimension_scaled
from boring.space import Box
from boring.subspace.gradient_metric import metric_map
from boring.typing import BoolArray, FloatArray

# Points in the model: so many per dimension, but at least so many, and where there are many
# dimensions at most half of all, and at most 500. [chosen here: with 4 per dimension camelback
# 2-in-5 ends 30 times higher]
POINTS_PER_DIMENSION = 7
LEAST_POINTS = 20
MANY_DIMENSIONS = 10
# Half-width below which steps go to the best lower confidence bound, and how many standard
# deviations below the mean that is. [chosen here. Runs with 0, 1 and 2: camelback 2-in-10 ends in
# the median at 9e-9, 6e-9 and 2e-9 (12 development runs), and its angle is below 2 degrees in 19,
# 18 and 24 of 32 (those and the 20 of the README, on which 1 and 2 end at 7e-9 and 2e-8); 2-in-5
# ends at 1e-8, 9e-9 and 1e-8, worst 3e-6, 4e-8 and 1e-6 (18); Branin 2-in-25 at 80 6e-4, 4e-4 and
# 6e-4, Rosenbrock 5-in-10 at 100 3.1, 3.2 and 3.6, exact structure 8e-9, 2e-8 and 3e-8 (6)]
CLOSE_RADIUS = 0.05
CAUTION = 2.0
# The model of such a step keeps the points within so many half-widths (times the root of D), but
# at least 50 or two per dimension. [chosen here: of 20 points camelback 2-in-5 ends at 3e-7 instead
# of 4e-8]
CLOSE_REACH = 10.0
LEAST_CLOSE_POINTS, CLOSE_POINTS_PER_DIMENSION = 50, 2
# The model lives in units of the median distance to the incumbent and of the values' spread.
LENGTHSCALE_CENTER = 2.0
# Lengthscale from which a fit in learned directions starts.
DIRECTIONS_LENGTHSCALE = 2.0
METRIC_FLOOR = 1e-3
ISOTROPIC_ITERATIONS = 50
METRIC_ITERATIONS = 40
# Where the portfolio sees noise the model is fitted from so much of it, too, or it would follow
# noise of 1 % to the last digit; that fit has to be likelier by so many nats, or the model of a
# smooth function of 25 inputs takes for noise what it has too few points to know. If it finds less
# than `LOCALLY_NOISY`, there is none here, whatever there is elsewhere. [chosen here. No second
# fit, one likelier by 12, by 5 or by anything: camelback 2-in-10 with noise of 1 % ends at 1e-3,
# 1e-3, 9e-5 and 9e-5 (four development runs), Branin 2-in-25 at 4e-5, 4e-5, 4e-5 and 3e-4 (six of
# the README's)]
SEEN_NOISE, NOISE_EVIDENCE = 1e-2, 5.0
LOCALLY_NOISY = 1e-3
N_STARTS = 4
SEARCH_ITERATIONS = 60
# What a step of less effort goes without.
LEFT_OUT = ("the local metric", "starts of the local search")
# Expected gains below this share of the values' size are rounding.
NEGLIGIBLE = 1e-13


@dataclass(frozen=True, eq=False)
class LocalStep:
    """What the local model proposes.

    Attributes
    ----------
    x : ndarray, shape (D,), or None
        None if there is nothing to polish: equal values, or a gain lost in rounding.
    gain : float
        Expected improvement, units of y.
    radius : float
        Half-width of the trust region, scaled units.
    memory : dict
        For the next step, JSON-able.
    directions : int or None
        Number of learned directions along which the model looks; None if it looks along all.
    learned : bool
        Whether directions were learned anew.
    left_out : tuple of str
        What the effort did not allow.
    """

    x: FloatArray | None
    gain: float
    radius: float
    memory: dict[str, Any]
    directions: int | None = None
    learned: bool = False
    left_out: tuple[str, ...] = ()


def local_model(feature_map: FeatureMap, dim: int) -> GaussianProcessModel:
    """Return a constant plus a smooth term, in units of the neighbourhood."""
    return neighbourhood_model(feature_map, dimension_scaled(dim, center=LENGTHSCALE_CENTER))


def fit_local(
    U: FloatArray,
    v: FloatArray,
    in_metric: bool = True,
    noise_variance: float | None = None,
    sees_noise: bool = False,
    directions: FeatureMap | None = None,
) -> GaussianProcess:
    """Fit isotropically, in the metric that this fit sees and along directions; keep the best.

    Parameters
    ----------
    U : ndarray, shape (k, D)
        Offsets from the incumbent over their median length.
    v : ndarray, shape (k,)
        Standardised values, larger is better.
    in_metric : bool, default True
        Whether to go beyond the isotropic fit.
    noise_variance : float, optional
        Known, units of v squared; None learns it.
    sees_noise : bool, default False
        Whether the fit begins from much noise, too.
    directions : FeatureMap, optional
        Inputs stretched along directions that are known otherwise.
    """
    dim = U.shape[1]
    model = local_model(Isotropic(), dim).with_noise(noise_variance)
    lengthscale = dimension_scaled(dim, center=LENGTHSCALE_CENTER).mean
    start = np.array([VARIANCE_PRIOR.mean, lengthscale, NOISE_PRIOR.mean])
    round_one = model.fit(U, v, start, max_iterations=ISOTROPIC_ITERATIONS)
    if sees_noise:
        start[-1] = np.log(SEEN_NOISE)
        noisy = model.fit(U, v, start, max_iterations=ISOTROPIC_ITERATIONS)
        if noisy.value < round_one.value - NOISE_EVIDENCE:
            round_one = noisy
    isotropic = model.condition(round_one.theta, U, v)
    if not in_metric:
        return isotropic
    stretched, _ = metric_map(isotropic, U, METRIC_FLOOR)
    rounds = [(stretched, round_one.theta)]
    if directions is not None:
        start = round_one.theta.copy()
        start[1] = np.log(DIRECTIONS_LENGTHSCALE)
        rounds.append((directions, start))
    best, value = isotropic, round_one.value
    for feature_map, start in rounds:
        model = local_model(feature_map, dim).with_noise(noise_variance)
        fit = model.fit(U, v, start, max_iterations=METRIC_ITERATIONS)
        if fit.value < value:
            best, value = model.condition(fit.theta, U, v), fit.value
    return best


def local_step(
    X: FloatArray,
    y: FloatArray,
    memory: Mapping[str, Any],
    rng: np.random.Generator,
    effort: Effort = FULL,
    *,
    eligible: BoolArray | None = None,
    judged: FloatArray | None = None,
    feasibility: Feasibility | None = None,
    noise_variance: float | None = None,
    domain: Domain | None = None,
    taken: FloatArray | None = None,
    sees_noise: bool = False,
    effective_dims: Sequence[int] = (),
    space: Box | None = None,
) -> LocalStep:
    """Fit the neighbourhood of the incumbent and propose a point of its trust region.

    Parameters
    ----------
    X : ndarray, shape (n, D), scaled units
    y : ndarray, shape (n,)
        Unwarped, larger is better.
    memory : mapping
        `LocalStep.memory` of the last step; empty before the first.
    rng : numpy.random.Generator
    effort : Effort, optional
    eligible : ndarray of bool, shape (n,), optional
        The feasible points, of which one is the incumbent; None where all are.
    judged : ndarray, shape (n,), optional
        Values in which no infeasible point is good; they steer the trust region. Default y.
    feasibility : Feasibility, optional
        What log-EI is weighed with.
    noise_variance : float, optional
        Known, units of y squared.
    domain : Domain, optional
        Where the step may lead; None is the whole box.
    taken : ndarray, shape (m, D), scaled units, optional
        Points of the domain that the step is not to repeat, besides X.
    sees_noise : bool, default False
        Then log-EI decides in small regions too: a bound on the mean would follow the noise. If
        the model finds noise here as well, the region is patient.
    effective_dims : sequence of int, optional
        Numbers of directions that may be learned around the incumbent (`boring.loop.local_metric`);
        empty learns none, and so does noise.
    space : Box, optional
        From whose raw units the step will come back; None does not round it.

    Returns
    -------
    LocalStep
    """
    judged = y if judged is None else judged
    best = int(np.argmax(judged))
    was_noisy = sees_noise and bool(memory.get("noisy", True))
    radius = next_radius(X, judged, memory, best, was_noisy)
    if memory and feasibility is not None:
        failed = same_rows(feasibility.data.failed_X, memory["proposed"])
        radius = shrunk(radius, X.shape[1]) if failed.any() else radius
    is_close = radius < CLOSE_RADIUS and not sees_noise
    near, unit_length = _neighbours(X, best, radius if is_close else None)
    U, spread = (X[near] - X[best]) / unit_length, float(y[near].std())
    size = max(float(np.median(y.max() - y)), abs(float(y[best])))
    remembered = {
        "center": X[best].tolist(),
        "best": float(y[best]),
        "n": len(y),
        "steps": int(memory.get("steps", 0)) + 1,
        "failures": failures_in_a_row(X, judged, memory),
        "streak": int(memory["streak"]) + 1 if goes_on(X, judged, memory) else 0,
        "directions": memory.get("directions", {}),
    }
    if not spread > NEGLIGIBLE * size:
        return _no_step(X[best], shrunk(radius, X.shape[1]), remembered)
    values = (y[near] - y[best]) / spread
    in_metric = effort.level == 0
    known = None if noise_variance is None else noise_variance / spread**2
    directions = remembered["directions"]
    due = in_metric and not sees_noise and is_due(X, directions, effective_dims)
    learns = due and effort.may_learn
    if learns:
        directions = update_directions(X, y, directions, effective_dims, rng, best, effort.points)
    remembered["directions"] = directions
    along = None if sees_noise else directions_map(directions)
    posterior = fit_local(U, values - values.mean(), in_metric, known, sees_noise, along)
    is_noisy = sees_noise and bool(posterior.noise_variance > LOCALLY_NOISY)
    remembered["noisy"] = is_noisy
    remembered["noise_std"] = float(np.sqrt(posterior.noise_variance)) * spread
    low = (np.maximum(-1.0, X[best] - radius) - X[best]) / unit_length
    high = (np.minimum(1.0, X[best] + radius) - X[best]) / unit_length
    incumbent = best_in_noise(posterior, None if eligible is None else eligible[near])
    acquisition: Acquisition = LogExpectedImprovement(posterior, incumbent)
    if feasibility is not None:

        def fit(offsets: FloatArray, margins: FloatArray) -> GaussianProcess:
            return fit_local(offsets, margins, in_metric)

        weight = feasibility.near(X[best], unit_length, len(near), fit)
        acquisition = LogSum([acquisition, weight])
    n_starts = N_STARTS if in_metric else 1
    is_plain = feasibility is None and (domain is None or domain.is_plain)
    promised, offset = 0.0, U[0]
    if is_plain and is_close:
        bound = LowerConfidenceBound(posterior, beta=CAUTION)
        offset, highest = _best_in_box(bound, low, high, n_starts, rng)
        promised = (highest - incumbent) * spread
    if promised > 0:
        log_gain = float(acquisition.value_and_gradient(offset[None, :])[0][0])
    else:
        offset, log_gain = _best_in_box(acquisition, low, high, n_starts, rng)
    if domain is not None and not domain.is_plain:
        avoided = np.vstack([X[best], X] if taken is None else [X[best], X, taken])
        offset, log_gain = best_in_domain(
            acquisition, domain, avoided, unit_length, radius, offset, rng
        )
    gain = float(np.exp(log_gain)) * spread
    if not gain > NEGLIGIBLE * size:
        return _no_step(X[best], shrunk(radius, X.shape[1]), remembered)
    x = np.clip(X[best] + unit_length * offset, -1.0, 1.0)
    if domain is not None:
        x = domain.snap(x)[0]
    returned = x if space is None else space.returned(x)
    remembered |= {"proposed": returned.tolist(), "gain": gain, "radius": radius}
    if promised > 0:
        remembered["promised"] = promised
    looks_along = along is not None and posterior.terms[0][0].feature_map is along
    count = int(directions["effective_dim"]) if looks_along else None
    left_out: tuple[str, ...] = () if in_metric else LEFT_OUT
    if due and not learns:
        left_out = ("learning the directions",)
    return LocalStep(x, gain, radius, remembered, count, learns, left_out)


def _neighbours(X: FloatArray, best: int, radius: float | None) -> tuple[np.ndarray, float]:
    """Return indices of the points of the model, and their median distance.

    With a radius the points are those around a small region.
    """
    n, dim = X.shape
    wanted = POINTS_PER_DIMENSION * dim
    if dim > MANY_DIMENSIONS:
        wanted = min(wanted, n // 2, MOST_POINTS)
    distances = np.linalg.norm(X - X[best], axis=1)
    if radius is not None:
        within = int(np.sum(distances <= CLOSE_REACH * radius * np.sqrt(dim)))
        wanted = min(wanted, max(LEAST_CLOSE_POINTS, CLOSE_POINTS_PER_DIMENSION * dim, within))
    near = np.argsort(distances, kind="stable")[: max(LEAST_POINTS, wanted)]
    return near, max(float(np.median(distances[near][1:])), LEAST_RADIUS)


def _best_in_box(
    acquisition: Acquisition,
    low: FloatArray,
    high: FloatArray,
    n_starts: int,
    rng: np.random.Generator,
) -> tuple[FloatArray, float]:
    """Maximise an acquisition over a small box; return the best of several ends, and its value."""

    def objective(u: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = acquisition.value_and_gradient(u[None, :])
        return -float(value[0]), -gradient[0]

    starts = rng.uniform(low, high, (n_starts, len(low)))
    starts[0] = 1e-3 * rng.standard_normal(len(low))
    outcomes = [
        minimize(
            objective,
            np.clip(start, low, high),
            jac=True,
            method="L-BFGS-B",
            bounds=np.column_stack([low, high]),
            options={"maxiter": SEARCH_ITERATIONS},
        )
        for start in starts
    ]
    found = min(outcomes, key=lambda outcome: float(outcome.fun))
    return np.asarray(found.x), -float(found.fun)


def _no_step(center: FloatArray, radius: float, remembered: dict[str, Any]) -> LocalStep:
    """Return the step of a neighbourhood in which nothing is left to gain."""
    remembered |= {"proposed": center.tolist(), "gain": 0.0, "radius": radius}
    return LocalStep(None, 0.0, radius, remembered)
