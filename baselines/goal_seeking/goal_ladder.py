r"""One-stage goal seeking: go where the data would be least surprised by a better value.

Jones, "A taxonomy of global optimization methods based on response surfaces", J. Global Optim.
2001, sections 6 and 7; Quttineh and Holmstrom 2009 (the one-stage EGO). No surrogate is fitted
first and trusted afterwards. Suppose instead that the function passes through (x*, y*) with a goal
y* above all values: x* and the lengthscales are chosen together, so that the data are most likely
given that.

With correlations K (n, n) between the data, k (n,) between them and x*, C = K - k k',
z = y - k y*, m = 1 - k, the constant mean and the variance are

.. math:: \mu = \frac{m' C^{-1} z}{m' C^{-1} m}, \qquad
   s^2 = \tfrac1n (z - m\mu)' C^{-1} (z - m\mu),

and what is maximised is :math:`-\tfrac n2 \log s^2 - \tfrac12 \log|C|`.

**Deviations**

* A ladder of goals is climbed in turn, one at each evaluation, as in the one-stage EGO's cycle;
  Jones maximises for every goal and clusters the answers.
* Jones leaves the lengthscales free. With few points they run off; they have the prior of
  `baselines.gaussian_process.plain_gp`, and the same Matern-5/2 kernel.
* The diagonal of K is raised by a nugget of 1e-6, without which C is singular for x* near a point.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import minimize

from boring.acquisition.maximizer import duplicates, generate_candidates
from boring.exceptions import FitError, InvalidInputError
from boring.kernels import RadialProfile, get_profile
from boring.kernels.additive import cross_squared_distances
from boring.models.linalg import cholesky, log_determinant, solve
from boring.models.priors import hvarfner
from boring.optimizer import Optimizer, Proposal, ProposalContext
from boring.typing import FloatArray
from boring.validation import as_positive_int, as_real
from boring.warping import half_rank_warp

__all__ = [
    "NUGGET",
    "Conditioned",
    "GoalSeekingOptimizer",
    "GoalSeekingOptions",
    "conditional_log_likelihood",
    "conditioned",
    "screen",
]

NUGGET = 1e-6
N_CANDIDATES = 256
LENGTHSCALE_BOUNDS = (0.02, 50.0)


@dataclass(frozen=True)
class GoalSeekingOptions:
    """Options of one-stage goal seeking.

    Parameters
    ----------
    goals : tuple of float, default (0.01, 0.05, 0.2, 1.0)
        How far each goal lies above the best value, in standard deviations of the (warped) values,
        taken in turn [chosen here; Jones's ladder spans the same decades].
    n_starts : int, default 2
        Joint searches of each proposal, from the best candidates [chosen here].
    max_iterations : int, default 40
        Of L-BFGS-B in each.
    kernel : {"matern52", "matern32", "squared-exponential"}, default "matern52"
    """

    goals: tuple[float, ...] = (0.01, 0.05, 0.2, 1.0)
    n_starts: int = 2
    max_iterations: int = 40
    kernel: str = "matern52"

    def __post_init__(self) -> None:
        """Check the options."""
        object.__setattr__(self, "goals", tuple(self.goals))
        if not self.goals or any(as_real(goal, "a goal") <= 0 for goal in self.goals):
            raise InvalidInputError(
                f"goals must be positive numbers, at least one; received {self.goals!r}. Goals are "
                "distances above the best value."
            )
        as_positive_int(self.n_starts, "n_starts")
        as_positive_int(self.max_iterations, "max_iterations")
        get_profile(self.kernel)


@dataclass(frozen=True, eq=False)
class Conditioned:
    """Data given f(x) = goal: correlations, and mean and variance at their maximum.

    Attributes
    ----------
    inverse_scales : ndarray, shape (D,)
    gaps, step : ndarray, shape (n, n, D) and (n, D)
        Between the data, and from them to x, over the lengthscales.
    k, K_slope, k_slope : ndarray, shape (n,), (n, n), (n,)
    L : ndarray, shape (n, n)
        Of C.
    mean : float
    w : ndarray, shape (n,)
        C^-1 of the residual.
    S : float
        Residual' C^-1 residual, n times the variance.
    """

    inverse_scales: FloatArray
    gaps: FloatArray
    step: FloatArray
    k: FloatArray
    K_slope: FloatArray
    k_slope: FloatArray
    L: FloatArray
    mean: float
    w: FloatArray
    S: float


def conditioned(
    x: FloatArray,
    log_lengthscales: FloatArray,
    X: FloatArray,
    y: FloatArray,
    goal: float,
    profile: RadialProfile,
) -> Conditioned:
    """Condition data on f(x) = goal; arguments as in :func:`conditional_log_likelihood`."""
    n = len(X)
    inverse_scales = np.exp(-log_lengthscales)
    features, here = X * inverse_scales, x * inverse_scales
    gaps = features[:, None, :] - features
    K, K_slope = profile.value_and_slope(np.sum(gaps**2, axis=2))
    step = here - features
    k, k_slope = profile.value_and_slope(np.sum(step**2, axis=1))
    C = K - np.outer(k, k)
    C.flat[:: n + 1] += NUGGET
    L, _ = cholesky(C)
    z, m = y - k * goal, 1.0 - k
    Cm = solve(L, m[:, None])[:, 0]
    information = float(Cm @ m)
    # With all the data at x the goal is all that is known, and every mean as likely.
    mean = float(Cm @ z) / information if information > 0.0 else goal
    w = solve(L, (z - m * mean)[:, None])[:, 0]
    S = float((z - m * mean) @ w)
    return Conditioned(inverse_scales, gaps, step, k, K_slope, k_slope, L, mean, w, S)


def conditional_log_likelihood(
    x: FloatArray,
    log_lengthscales: FloatArray,
    X: FloatArray,
    y: FloatArray,
    goal: float,
    profile: RadialProfile,
) -> tuple[float, FloatArray, FloatArray]:
    """Return the log likelihood of the data given f(x) = goal, constants left out.

    Parameters
    ----------
    x : ndarray, shape (D,)
    log_lengthscales : ndarray, shape (D,)
    X : ndarray, shape (n, D)
    y : ndarray, shape (n,)
    goal : float
        y*.
    profile : RadialProfile

    Returns
    -------
    value : float
        Mean and variance at their maximum.
    x_gradient : ndarray, shape (D,)
    lengthscale_gradient : ndarray, shape (D,)

    Raises
    ------
    FitError
        If C is not positive definite, as for x on a data point.
    """
    n, it = len(X), conditioned(x, log_lengthscales, X, y, goal, profile)
    value = -0.5 * n * np.log(it.S / n) - 0.5 * log_determinant(it.L)
    # Slopes in k and K; mean is at its optimum and does not count.
    by_k = n / it.S * ((goal - it.mean) - float(it.k @ it.w)) * it.w
    by_k += solve(it.L, it.k[:, None])[:, 0]
    half = solve_triangular(it.L, np.eye(n), lower=True)
    by_K = 0.5 * n / it.S * np.outer(it.w, it.w) - 0.5 * half.T @ half
    # dk/d(squared distance) = -slope / 2.
    weights = by_k * it.k_slope
    x_gradient = -(weights @ it.step) * it.inverse_scales
    lengthscale_gradient = weights @ it.step**2
    lengthscale_gradient += np.einsum("ij,ijd->d", by_K * it.K_slope, it.gaps**2)
    return float(value), x_gradient, lengthscale_gradient


def screen(
    candidates: FloatArray,
    log_lengthscales: FloatArray,
    X: FloatArray,
    y: FloatArray,
    goal: float,
    profile: RadialProfile,
) -> FloatArray:
    """Return :func:`conditional_log_likelihood` for many x at once, shape (m,).

    K is factored once: C^-1 = K^-1 + K^-1 k k' K^-1 / v and |C| = |K| v with v = 1 - k' K^-1 k.
    Minus infinity where v is not positive.

    Parameters
    ----------
    candidates : ndarray, shape (m, D)
    log_lengthscales, X, y, goal, profile
        As there.
    """
    n = len(X)
    scales = np.exp(-log_lengthscales)
    features, here = X * scales, candidates * scales
    K = profile.value(cross_squared_distances(features, features))
    K.flat[:: n + 1] += NUGGET
    L, _ = cholesky(K)
    k = profile.value(cross_squared_distances(here, features))
    reduced = solve_triangular(L, np.vstack([y, np.ones(n), k]).T, lower=True)
    a, b, R = reduced[:, 0], reduced[:, 1], reduced[:, 2:]
    kk, ky, k1 = np.sum(R**2, axis=0), a @ R, b @ R
    # Inner products of z = y - k goal and m = 1 - k with each other and with k, by K^-1.
    zz, kz = a @ a - 2.0 * goal * ky + goal**2 * kk, ky - goal * kk
    mm, km = b @ b - 2.0 * k1 + kk, k1 - kk
    mz = a @ b - goal * k1 - ky + goal * kk
    v = 1.0 - kk
    with np.errstate(divide="ignore", invalid="ignore"):
        zz, mm, mz = zz + kz**2 / v, mm + km**2 / v, mz + km * kz / v
        values = -0.5 * n * np.log((zz - mz**2 / mm) / n) - 0.5 * np.log(v)
    values -= 0.5 * log_determinant(L)
    return np.where((v > 0.0) & np.isfinite(values), values, -np.inf)


class GoalSeekingOptimizer(Optimizer):
    """Bayesian optimisation by one-stage goal seeking.

    Parameters are those of :class:`boring.optimizer.Optimizer`; options those of
    :class:`GoalSeekingOptions`.

    Notes
    -----
    ``surrogate`` is None: the lengthscales are those under which a goal is most credible at the
    proposed point, not those of the data.

    Examples
    --------
    >>> optimizer = GoalSeekingOptimizer([(-1, 1)] * 2, direction="minimize", seed=0)
    >>> result = optimizer.run(lambda x: ((x - 0.3) ** 2).sum(), 20, progress=False)
    >>> result.y_best < 0.05
    True
    """

    name: ClassVar[str] = "goal-seeking"
    options_type: ClassVar[type] = GoalSeekingOptions

    def _propose(self, context: ProposalContext) -> Proposal:
        options: GoalSeekingOptions = self.options
        X, y = context.data.finite_X, half_rank_warp(context.data.finite_y)
        profile = get_profile(options.kernel)
        prior = hvarfner(X.shape[1])
        step = options.goals[len(context.data) % len(options.goals)]
        goal = float(y.max()) + step
        avoid = np.vstack([context.data.X, context.pending])
        # A point without value is not to be proposed again: it stands for the median.
        known = np.vstack([X, context.data.failing_X, context.pending])
        values = np.concatenate([y, np.full(len(known) - len(X), float(np.median(y)))])
        start = np.array(context.memory.get("log_lengthscales", np.full(X.shape[1], prior.mean)))

        def loss(flat: FloatArray) -> tuple[float, FloatArray]:
            x, scales = np.split(flat, 2)
            try:
                value, by_x, by_scales = conditional_log_likelihood(
                    x, scales, known, values, goal, profile
                )
            except FitError:
                return 1e10, np.zeros_like(flat)
            penalty, slope = prior.penalty(scales)
            return penalty - value, np.concatenate([-by_x, slope - by_scales])

        incumbent = X[int(np.argmax(y))]
        families = generate_candidates(
            X.shape[1], incumbent=incumbent, rng=context.rng, n_candidates=N_CANDIDATES
        )
        candidates = np.vstack(list(families.values()))
        likelihoods = screen(candidates, start, known, values, goal, profile)
        limits = tuple(np.log(LENGTHSCALE_BOUNDS))
        bounds = [(-1.0, 1.0)] * X.shape[1] + [limits] * X.shape[1]
        found: list[tuple[float, FloatArray]] = []
        for index in np.argsort(-likelihoods, kind="stable")[: options.n_starts]:
            outcome = minimize(
                loss,
                np.concatenate([candidates[index], start]),
                jac=True,
                method="L-BFGS-B",
                bounds=bounds,
                options={"maxiter": options.max_iterations},
            )
            found.append((float(outcome.fun), np.asarray(outcome.x)))
        lowest, flat = min(found, key=lambda pair: pair[0])
        x, scales = np.split(flat, 2)
        replaced = duplicates(x, avoid)
        if replaced:
            x = context.rng.uniform(-1.0, 1.0, context.data.dim)
        info: dict[str, Any] = {"goal": goal, "log_posterior": -lowest, "replaced": replaced}
        return Proposal(x, {"log_lengthscales": scales.tolist()}, info)
