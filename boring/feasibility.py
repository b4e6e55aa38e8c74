"""Where an evaluation will succeed and satisfy its black-box constraints, as a log probability.

One model for each thing that can go wrong, taken as independent, so that their log probabilities
add up:

- failures: a GP classifier on success and failure (`boring.models.classification`);
- each black-box constraint c(x) <= 0: a GP regression of -arsinh(c / s), s the median |c|, which
  keeps the sign and the neighbourhood of 0 and takes values of any size that a float can have;
  P(c(x) <= 0) = Phi(mean / sd) (Gardner et al. 2014, eq. 4).

A failed evaluation at a point that is known to violate a constraint says nothing of its own. Near
the incumbent, where polishing needs the boundary to many digits, constraints are fitted once more,
unwarped, to the neighbourhood alone (`Feasibility.near`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from boring.acquisition.base import Acquisition
from boring.acquisition.improvement import LogProbabilityAbove
from boring.acquisition.offsets import AtOffsets
from boring.data import Observations
from boring.kernels import (
    MATERN52,
    SQUARED_EXPONENTIAL,
    AdditiveKernel,
    FeatureMap,
    Isotropic,
    KernelTerm,
    RadialProfile,
)
from boring.models.classification import ProbitClassifier
from boring.models.gp import FitResult, GaussianProcessModel
from boring.models.posterior import GaussianProcess, with_fantasies
from boring.models.priors import Gaussian, dimension_scaled
from boring.sample import sample
from boring.subspace.gradient_metric import metric_map
from boring.typing import BoolArray, FloatArray
from boring.warping import moderate, moderate_noise, moderate_std

# Priors on values in units of the median |c|, and on the latent function of a probit.
# [chosen here]
VARIANCE_PRIOR = Gaussian(0.0, 1.5)
NOISE_PRIOR = Gaussian(-10.0, 3.0)
NOISE_BOUNDS = (1e-8, 1.0)
LATENT_VARIANCE_PRIOR = Gaussian(5.0, 2.0)
CONSTANT_VARIANCE = 1.0
FIT_ITERATIONS = 40
METRIC_FLOOR = 1e-3
# A constraint that holds at every neighbour by so many standard deviations of its values there
# holds all over the neighbourhood.
SAFE_MARGIN = 10.0

Fitter = Callable[[FloatArray, FloatArray], GaussianProcess]


class LogSum:
    """A sum of log acquisitions; each is a factor of the product that it is the log of.

    Parameters
    ----------
    members : sequence of Acquisition
        None of them makes the sum 0.
    """

    def __init__(self, members: Sequence[Acquisition]) -> None:
        self.members = tuple(members)

    def value(self, X: FloatArray) -> FloatArray:
        """Return the sum ``(n,)`` at the rows of `X` ``(n, D)``."""
        total: FloatArray = np.zeros(len(X))
        for member in self.members:
            total = total + member.value(X)
        return total

    def value_and_gradient(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the sum ``(n,)`` and its gradient ``(n, D)``."""
        total: FloatArray = np.zeros(len(X))
        gradient: FloatArray = np.zeros(X.shape)
        for member in self.members:
            value, slope = member.value_and_gradient(X)
            total, gradient = total + value, gradient + slope
        return total, gradient


class Feasibility:
    """Log probability that an evaluation succeeds and satisfies every constraint.

    Parameters
    ----------
    data : Observations
        Scaled points.
    pending : ndarray, shape (m, D), scaled units, optional
        Points out for evaluation: their constraints count with the posterior mean.

    Notes
    -----
    Models are fitted when they are first needed, from the same starts at every proposal: the
    weights follow from the data alone. An `Acquisition`.
    """

    def __init__(self, data: Observations, pending: FloatArray | None = None) -> None:
        self.data = data
        self._pending = np.empty((0, data.dim)) if pending is None else pending

    def value(self, X: FloatArray) -> FloatArray:
        """Return log probabilities ``(n,)`` at the rows of `X` ``(n, D)``, scaled units."""
        return self._all.value(X)

    def value_and_gradient(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return log probabilities ``(n,)`` and their gradients ``(n, D)``, scaled units."""
        return self._all.value_and_gradient(X)

    def near(self, center: FloatArray, unit: float, n_points: int, fit: Fitter) -> Acquisition:
        """Return the log probability in the neighbourhood of a point.

        Parameters
        ----------
        center : ndarray, shape (D,), scaled units
        unit : float
            The result takes offsets u from the center, in this unit.
        n_points : int
            Nearest points with a known constraint that make its neighbourhood; as many more as
            points have failed.
        fit : callable
            From offsets (k, D) and standardised values (k,) to their GP.
        """
        # Failures are told apart by the one classifier of all points: a smooth regression of
        # their labels nearby, which a step defies, lets more than twice as many local steps fail
        # (46 of 769 against 20 of 761, nine problems, four runs each: `experiments.failures`).
        members: list[Acquisition] = []
        order = np.argsort(np.linalg.norm(self.data.X - center, axis=1), kind="stable")
        n_points += int(np.sum(~self.data.finite))
        if self._success is not None:
            members.append(AtOffsets(self._success, center, unit))
        for column in self.data.constraints.T:
            known = order[~np.isnan(column[order])][:n_points]
            margins = -moderate(_bounded(column[known]))[0]
            spread = float(margins.std()) if len(known) > 1 else 0.0
            if not spread > 0 or margins.min() > SAFE_MARGIN * spread:
                continue
            middle = float(margins.mean())
            offsets = (self.data.X[known] - center) / unit
            posterior = fit(offsets, (margins - middle) / spread)
            members.append(
                LogProbabilityAbove(posterior, -middle / spread, posterior.noise_variance)
            )
        return LogSum(members)

    @property
    def _failures(self) -> FloatArray:
        """1 where an evaluation failed of itself, -1 where it succeeded, else NaN, shape (n,)."""
        data = self.data
        explained = ~data.finite & np.any(data.constraints > 0, axis=1)
        return np.where(explained, np.nan, np.where(data.finite, -1.0, 1.0))

    @cached_property
    def _all(self) -> LogSum:
        success = [] if self._success is None else [self._success]
        return LogSum([*success, *self._constraints])

    @cached_property
    def _success(self) -> LogProbabilityAbove | None:
        """The model of success; None where no evaluation has failed of itself."""
        known = ~np.isnan(self._failures)
        X, labels, dim = self.data.X[known], -self._failures[known], self.data.dim
        if np.all(labels > 0):
            return None
        kernel = _kernel(MATERN52, Isotropic(), dim, LATENT_VARIANCE_PRIOR)
        start = np.array([LATENT_VARIANCE_PRIOR.mean, dimension_scaled(dim).mean])
        posterior = ProbitClassifier(kernel, X, labels).fit(start)
        return LogProbabilityAbove(posterior, extra_variance=1.0)

    @cached_property
    def _constraints(self) -> list[LogProbabilityAbove]:
        """One member for each constraint of which anything is known."""
        members = []
        for column in self.data.constraints.T:
            known = ~np.isnan(column)
            if known.any():
                posterior = fit_constraint(self.data.X[known], column[known])
                posterior = with_fantasies(posterior, self._pending, self.data.X[:0])
                noise = posterior.noise_variance
                members.append(LogProbabilityAbove(posterior, extra_variance=noise))
        return members


@dataclass(frozen=True, eq=False)
class Told:
    """What has been told with a finite value, as the searches see it.

    Attributes
    ----------
    X : ndarray, shape (n, D), scaled units
    y : ndarray, shape (n,)
        Of moderate size, larger is better. What infeasible points have over the best feasible
        one is compressed: b + s log(1 + (y - b) / s), s the spread of the feasible values, so
        that values which cannot be had do not set the scale.
    eligible : ndarray of bool, shape (n,), or None
        The feasible points; None where all are.
    exponent : int
        Of two, from `boring.warping.moderate`.
    """

    X: FloatArray
    y: FloatArray
    eligible: BoolArray | None
    exponent: int

    @classmethod
    def of(cls, data: Observations, rows: np.ndarray | None = None) -> Told:
        """Return what some rows of the data, with finite values, tell; all by default.

        The exponent is that of all.
        """
        chosen = data.finite if rows is None else rows
        values = data.y.copy()
        values[data.finite], exponent = moderate(data.finite_y)
        y = values[chosen]
        feasible = data.feasible[chosen]
        if feasible.all():
            return cls(data.X[chosen], y, None, exponent)
        if feasible.any():
            best = float(y[feasible].max())
            spread = float(np.median(best - y[feasible])) or float(y.std()) or 1.0
            above = np.maximum(y - best, 0.0)
            y = np.where(y > best, best + spread * np.log1p(above / spread), y)
        return cls(data.X[chosen], y, feasible, exponent)

    @property
    def has_incumbent(self) -> bool:
        """Whether some point is feasible."""
        return bool(len(self.y)) and (self.eligible is None or bool(self.eligible.any()))

    @property
    def judged(self) -> FloatArray:
        """Values, shape (n,), in which every infeasible point is worse than all feasible ones."""
        if self.eligible is None or not self.eligible.any():
            return self.y
        worst = np.nextafter(self.y[self.eligible].min(), -np.inf)
        return np.where(self.eligible, self.y, np.minimum(self.y, worst))

    @property
    def incumbent(self) -> FloatArray:
        """The best feasible point, or the best of all where there is none, shape (D,)."""
        return np.asarray(self.X[int(np.argmax(self.judged))])

    def noise_std(self, noise_std: float | None) -> float | None:
        """Return a known noise in the units of ``y``; None if it is not known."""
        return moderate_std(noise_std, self.exponent)

    def noise_variance(self, noise_std: float | None) -> float | None:
        """Return the square of a known noise in the units of ``y``; None if it is not known."""
        return moderate_noise(noise_std, self.exponent)


def can_seek(data: Observations) -> bool:
    """Tell whether some constraint has two different known values, hence a way to feasibility."""
    for column in data.constraints.T:
        known = column[~np.isnan(column)]
        if len(known) and known.max() > known.min():
            return True
    return False


def margin_warp(constraint: FloatArray) -> FloatArray:
    """Return -arsinh(c / s) with s the median |c| of the values that are not 0.

    Parameters
    ----------
    constraint : ndarray, shape (n,)
        Not NaN; satisfied where <= 0. Infinities count as the largest magnitude that is finite.

    Returns
    -------
    ndarray, shape (n,)
        Positive inside, negative outside, of the order of 1.
    """
    values, _ = moderate(_bounded(constraint))
    sizes = np.abs(values[values != 0])
    return -np.arcsinh(values / np.median(sizes)) if sizes.size else np.zeros_like(values)


def fit_constraint(X: FloatArray, constraint: FloatArray) -> GaussianProcess:
    """Fit the GP of a constraint: the likeliest of four.

    A squared-exponential and a Matern-5/2 kernel, each isotropic and then in the metric that its
    isotropic fit sees (`boring.subspace.gradient_metric`). Of very many points those nearest to the
    boundary and a sample of the others are fitted to (`boring.sample`).

    Parameters
    ----------
    X : ndarray, shape (n, D), scaled units
    constraint : ndarray, shape (n,)

    Returns
    -------
    GaussianProcess
        Of `margin_warp` of the constraint.
    """
    margins, dim = margin_warp(constraint), X.shape[1]
    start = np.array([VARIANCE_PRIOR.mean, dimension_scaled(dim).mean, NOISE_PRIOR.mean])
    rows = sample(-np.abs(margins))
    some, their_margins = X[rows], margins[rows]
    fits: list[tuple[FitResult, GaussianProcessModel]] = []
    for profile in (SQUARED_EXPONENTIAL, MATERN52):
        model = _constraint_model(profile, Isotropic(), dim)
        fit = model.fit(some, their_margins, start, max_iterations=FIT_ITERATIONS)
        isotropic = model.condition(fit.theta, some, their_margins)
        stretched, _ = metric_map(isotropic, some, METRIC_FLOOR)
        in_metric = _constraint_model(profile, stretched, dim)
        refit = in_metric.fit(some, their_margins, fit.theta, max_iterations=FIT_ITERATIONS)
        fits += [(fit, model), (refit, in_metric)]
    best, model = min(fits, key=lambda pair: pair[0].value)
    return model.condition(best.theta, X, margins)


def _constraint_model(
    profile: RadialProfile, feature_map: FeatureMap, dim: int
) -> GaussianProcessModel:
    kernel = _kernel(profile, feature_map, dim, VARIANCE_PRIOR)
    return GaussianProcessModel(kernel, NOISE_PRIOR, NOISE_BOUNDS)


def _kernel(
    profile: RadialProfile, feature_map: FeatureMap, dim: int, variance_prior: Gaussian
) -> AdditiveKernel:
    term = KernelTerm(profile, feature_map, "f", variance_prior, dimension_scaled(dim))
    return AdditiveKernel([term], CONSTANT_VARIANCE)


def _bounded(values: FloatArray) -> FloatArray:
    """Return values with infinities at the largest finite magnitude, or at 1 without any."""
    finite = values[np.isfinite(values)]
    largest = max(float(np.abs(finite).max()), 0.0) if finite.size else 1.0
    return np.clip(values, -largest, largest) if largest > 0 else np.sign(np.nan_to_num(values))
