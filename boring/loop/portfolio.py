"""The backbone of the default loop: a portfolio of GPs judged by what they foresaw.

Four surrogates see the same half-rank warped values and differ in where they look:

    iso     one lengthscale over all inputs;
    ard     one lengthscale per input (axis-aligned problems);
    metric  one lengthscale on X C^(1/2), C the expected gradient outer product of iso;
    mixed   iso plus an isotropic term on the leading directions of C.

Each new value is scored, before anything is refitted, by the log density that a member's
last hyperparameters gave it one step ahead. Marginal likelihood and leave-one-out density
both *improve* while a free metric overfits; the one-step-ahead density does not, so it
alone decides who speaks.

One shared lengthscale beats one per input on rotated problems (regret 5e-6 against 3e-4 on
the embedded camelback 2-in-10, 100 evaluations) and loses on axis-aligned ones
(Hartmann6 in 100 dimensions 2e-3 against 2e-5): hence the portfolio.

The shared lengthscales have a prior of their own for the first fifty points
(`boring.models.priors.shared_lengthscale`): ten to thirty values of a function with several
basins, or with ripples, are fitted as well by a lengthscale far below all distances between them
as by a trend with noise, and whoever believes the former polishes the basin that it happens to be
in. Runs of Ackley in 20 inputs that ended stuck were those whose lengthscale fell early. Later,
when points have gathered, and with `ard`, a short one may be the truth. Median without and with,
on the README's seeds:

    Ackley in 20 inputs           19       2.5      4 and 8 runs, 4 and 2 above 15
    Shekel 4-in-20                8.1      1.2      4
    Branin 2-in-25                1.9e-4   9.5e-5   20, mean .009 and .003
    sine-exponential 2-in-5       7.5e-10  2.5e-9   20, p = .02
    the six others of the README  no difference, p > .3

On development seeds the prior for all points, instead of fifty, ended Branin at a mean of .02
instead of 6e-4 (six runs); a center and a wall that follow the distances between the data, and a
second start of each fit from much noise, were no better on Ackley and worse on Branin.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from boring.effort import FULL, Effort
from boring.kernels import (
    MATERN52,
    AdditiveKernel,
    Ard,
    FeatureMap,
    Isotropic,
    KernelTerm,
    Projected,
    RadialProfile,
)
from boring.models.gp import GaussianProcessModel, prior_mode
from boring.models.posterior import GaussianProcess
from boring.models.priors import (
    Gaussian,
    ParameterPrior,
    dimension_scaled,
    shared_lengthscale,
)
from boring.rng import keyed_generator
from boring.sample import sample
from boring.subspace.gradient_metric import metric_map
from boring.typing import FloatArray

# Priors on standardised values [chosen here; measured on embedded test functions].
VARIANCE_PRIOR = Gaussian(0.0, 1.5)
SECOND_VARIANCE_PRIOR = Gaussian(-2.5, 1.5)
NOISE_PRIOR = Gaussian(-7.0, 2.0)
CONSTANT_VARIANCE = 1.0

# One-step-ahead scores: memory of about 1/(1 - decay) = 14 steps, worst single score.
SCORE_DECAY = 0.93
SCORE_FLOOR = -8.0
# At most two members steer, each with at least this softmax weight.
MAX_SPEAKERS = 2
MIN_WEIGHT = 0.2

# So many points do not tell a ripple from noise: the prior of a shared lengthscale is sure that it
# is not short. [chosen here]
SURE_UNTIL = 50

COLD_ITERATIONS = 40
WARM_ITERATIONS = 12
WARM_ITERATIONS_MIXED = 20
# The many lengthscales of ard may be stuck: after so many more points compare with a fresh fit.
# A second start of every member from much noise, every ten points, finds noise sooner and was
# no use: camelback 2-in-10 with noise of 10 % ends at .020 instead of .008 (six runs).
ARD_RESTART_EVERY = 10
# Points over which the gradient metric is averaged, and its eigenvalue floor.
METRIC_BEST = 20
METRIC_RANDOM = 20
METRIC_FLOOR = 1e-3

MEMBER_NAMES = ("iso", "ard", "metric", "mixed")


@dataclass(frozen=True, eq=False)
class Member:
    """A fitted member of the portfolio.

    Attributes
    ----------
    name : str
        One of `MEMBER_NAMES`.
    posterior : GaussianProcess
        Of half-rank warped values.
    score : float
        Decayed sum of its one-step-ahead log densities.
    """

    name: str
    posterior: GaussianProcess
    score: float


@dataclass(frozen=True, eq=False)
class Portfolio:
    """All members after a step.

    Attributes
    ----------
    members : tuple of Member
        In the order of `MEMBER_NAMES`.
    directions : ndarray, shape (D, k)
        Eigenvectors of the gradient metric, the most varied direction first.
    memory : dict
        JSON-able: hyperparameters and scores for the next step.
    not_refitted : tuple of str
        Names of the members that kept their last hyperparameters.
    """

    members: tuple[Member, ...]
    directions: FloatArray
    memory: dict[str, Any]
    not_refitted: tuple[str, ...] = ()

    @property
    def weights(self) -> FloatArray:
        """Softmax of the scores, shape (number of members,)."""
        scores = np.array([member.score for member in self.members])
        weights = np.exp(scores - scores.max())
        return np.asarray(weights / weights.sum())

    def speakers(self) -> list[Member]:
        """Return the members that steer: the heaviest, at most `MAX_SPEAKERS`."""
        weights = self.weights
        order = np.argsort(-weights, kind="stable")[:MAX_SPEAKERS]
        return [self.members[i] for i in order if i == order[0] or weights[i] > MIN_WEIGHT]


def single_model(
    feature_map: FeatureMap, lengthscale_prior: ParameterPrior, profile: RadialProfile = MATERN52
) -> GaussianProcessModel:
    """Return a constant plus one term, with the loop's priors."""
    term = KernelTerm(profile, feature_map, "f", VARIANCE_PRIOR, lengthscale_prior)
    return GaussianProcessModel(AdditiveKernel([term], CONSTANT_VARIANCE), NOISE_PRIOR)


def prior_of_shared_lengthscale(dim: int, n: int) -> ParameterPrior:
    """Return the prior of a lengthscale that all inputs share, given n points."""
    return shared_lengthscale(dim) if n <= SURE_UNTIL else dimension_scaled(dim)


def iso_model(dim: int, n: int = 0) -> GaussianProcessModel:
    """Return the isotropic model over all D inputs, with its lengthscale's prior for n points."""
    return single_model(Isotropic(), prior_of_shared_lengthscale(dim, n))


def ard_model(dim: int) -> GaussianProcessModel:
    """Return the model with one lengthscale per input."""
    return single_model(Ard(dim), dimension_scaled(dim))


def metric_model(stretched: FeatureMap, dim: int, n: int = 0) -> GaussianProcessModel:
    """Return the isotropic model on X C^(1/2), for n points."""
    return single_model(stretched, prior_of_shared_lengthscale(dim, n))


def mixed_model(basis: FloatArray, n: int = 0) -> GaussianProcessModel:
    """Return the isotropic model plus an isotropic term on X U, U (D, d), for n points."""
    dim, rank = basis.shape
    terms = [
        KernelTerm(
            MATERN52, Isotropic(), "all", VARIANCE_PRIOR, prior_of_shared_lengthscale(dim, n)
        ),
        KernelTerm(
            MATERN52, Projected(basis), "leading", SECOND_VARIANCE_PRIOR, dimension_scaled(rank)
        ),
    ]
    return GaussianProcessModel(AdditiveKernel(terms, CONSTANT_VARIANCE), NOISE_PRIOR)


def one_step_ahead(
    model: GaussianProcessModel, theta: FloatArray, X: FloatArray, y: FloatArray, n_old: int
) -> FloatArray:
    """Return the clipped log density of each value after the first ``n_old``.

    Parameters
    ----------
    model : GaussianProcessModel
    theta : ndarray
        Hyperparameters that were fitted to the first ``n_old`` points.
    X : ndarray, shape (n, D)
    y : ndarray, shape (n,)
        Warped values, all of the same warp.
    n_old : int

    Returns
    -------
    ndarray, shape (n - n_old,)
        Value i is conditioned on all values before it; floor `SCORE_FLOOR`.
    """
    posterior = model.condition(theta, X[:n_old], y[:n_old])
    scores = []
    for x, value in zip(X[n_old:], y[n_old:], strict=True):
        density = posterior.log_predictive_density(x[None, :], np.array([value]))
        scores.append(max(float(density[0]), SCORE_FLOOR))
        posterior = posterior.append(x, float(value))
    return np.array(scores)


def decayed(score: float, new: FloatArray) -> float:
    """Fold new one-step-ahead scores, oldest first, into a decayed sum."""
    for value in new:
        score = SCORE_DECAY * score + float(value)
    return score


def gradient_metric(iso: GaussianProcess, entropy: int) -> tuple[FeatureMap, FloatArray]:
    """Return X C^(1/2) and eigenvectors of C, averaged over good and random points."""
    dim = iso.X.shape[1]
    rng = keyed_generator(entropy, "gradient-metric", len(iso.X))
    best = iso.X[np.argsort(-iso.y, kind="stable")[:METRIC_BEST]]
    random = rng.uniform(-1.0, 1.0, (METRIC_RANDOM, dim))
    return metric_map(iso, np.vstack([best, random]), METRIC_FLOOR)


def fitted_noise(memory: Mapping[str, Any] | None) -> float:
    """Return the noise variance that the isotropic member has fitted; 0 before its first fit."""
    return float(np.exp(memory["theta"]["iso"][-1])) if memory else 0.0


def fit_portfolio(
    X: FloatArray,
    y: FloatArray,
    effective_dim: int,
    memory: Mapping[str, Any],
    entropy: int,
    effort: Effort = FULL,
    noise_variance: float | None = None,
) -> Portfolio:
    """Score what is new, then refit every member, from a sample where there are very many points.

    Parameters
    ----------
    X : ndarray, shape (n, D), scaled units
    y : ndarray, shape (n,)
        Warped, larger is better.
    effective_dim : int
        Number of leading directions of the member *mixed*.
    memory : mapping
        What `Portfolio.memory` was at the last step; empty at the first.
    entropy : int
        Seeds the random points over which the gradient metric is averaged.
    effort : Effort, optional
        Who is refitted; the others keep their last hyperparameters.
    noise_variance : float, optional
        Known, units of y squared; None learns it.
    """
    n_old = int(memory.get("n", 0))
    last = {name: np.array(theta) for name, theta in memory.get("theta", {}).items()}
    scores = dict(memory.get("scores", {})) or dict.fromkeys(MEMBER_NAMES, 0.0)
    dim = X.shape[1]

    if last and n_old < len(X):
        old_iso = iso_model(dim).condition(last["iso"], X[:n_old], y[:n_old])
        models, _ = _models(old_iso, effective_dim, entropy, noise_variance)
        for name in MEMBER_NAMES:
            new = one_step_ahead(models[name], last[name], X, y, n_old)
            scores[name] = decayed(scores[name], new)

    refitted = _refitted(scores, effort) if last else MEMBER_NAMES
    if "iso" in refitted:
        iso = fit_iso(X, y, last.get("iso"), noise_variance)
    else:
        iso = iso_model(dim).condition(last["iso"], X, y)
    models, directions = _models(iso, effective_dim, entropy, noise_variance)
    cold_at = int(memory.get("ard_cold_at", len(X)))
    restart = len(X) >= cold_at + ARD_RESTART_EVERY and "ard" in refitted
    posteriors = {"iso": iso}
    for name in MEMBER_NAMES[1:]:
        if name not in refitted:
            posteriors[name] = models[name].condition(last[name], X, y)
            continue
        cold = name == "ard" and restart
        posteriors[name] = _refit(models[name], X, y, last.get(name), cold, name == "mixed")
    return Portfolio(
        tuple(Member(name, posteriors[name], scores[name]) for name in MEMBER_NAMES),
        directions,
        {
            "n": len(X),
            "theta": {name: posteriors[name].theta.tolist() for name in MEMBER_NAMES},
            "scores": scores,
            "ard_cold_at": len(X) if restart else cold_at,
        },
        tuple(name for name in MEMBER_NAMES if name not in refitted),
    )


def _refitted(scores: Mapping[str, float], effort: Effort) -> tuple[str, ...]:
    """Return the members whose hyperparameters an effort refits."""
    if effort.refits == "none":
        return ()
    best = max(MEMBER_NAMES, key=lambda name: scores[name])
    return MEMBER_NAMES if effort.refits == "all" else (best,)


def fit_iso(
    X: FloatArray,
    y: FloatArray,
    theta: FloatArray | None = None,
    noise_variance: float | None = None,
) -> GaussianProcess:
    """Fit the isotropic model, from ``theta`` or cold."""
    model = iso_model(X.shape[1], len(X)).with_noise(noise_variance)
    return _refit(model, X, y, theta, restart=False, second_term=False)


def _models(
    iso: GaussianProcess, effective_dim: int, entropy: int, noise_variance: float | None
) -> tuple[dict[str, GaussianProcessModel], FloatArray]:
    """Return the members' models given the first of them, and the metric's eigenvectors."""
    stretched, directions = gradient_metric(iso, entropy)
    dim, n = len(directions), len(iso.X)
    models = {
        "iso": iso.model,
        "ard": ard_model(dim).with_noise(noise_variance),
        "metric": metric_model(stretched, dim, n).with_noise(noise_variance),
        "mixed": mixed_model(directions[:, :effective_dim], n).with_noise(noise_variance),
    }
    return models, directions


def _refit(
    model: GaussianProcessModel,
    X: FloatArray,
    y: FloatArray,
    theta: FloatArray | None,
    restart: bool,
    second_term: bool,
) -> GaussianProcess:
    starts, budgets = [], []
    if theta is not None:
        starts.append(theta)
        budgets.append(WARM_ITERATIONS_MIXED if second_term else WARM_ITERATIONS)
    if theta is None or restart:
        starts.append(prior_mode(model))
        budgets.append(COLD_ITERATIONS)
    rows = sample(y)
    fit = model.fit_best(X[rows], y[rows], starts, max_iterations=budgets)
    return model.condition(fit.theta, X, y)
