"""Is W to be trusted? Cross-validation with W learned anew in every fold.

A likelihood at fixed W cannot validate W, nor can leave-one-out: W has seen the same
points. Below about n = D d the best subspace by evidence predicts worse than no subspace
at all, and is confident about it. So each fold learns W from its own points, predicts the
rest, and competes with a GP of one lengthscale over all D inputs, which has the choice of the
search's smoothness and noise floor and of those that W ended with. W is accepted if its
log density is larger, its squared error not twice as large, and the folds find the same W; its
variances are multiplied by the mean squared standardised residual where that exceeds 1. A
rejected W is not used for prediction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from boring.kernels.additive import AdditiveKernel, KernelTerm
from boring.kernels.maps import Isotropic
from boring.models.gp import FitResult, GaussianProcessModel
from boring.models.posterior import GaussianProcess, log_normal_density
from boring.models.priors import dimension_scaled
from boring.subspace.dimension import n_free_parameters
from boring.subspace.factor_fit import (
    LOG_VARIANCE_BOUNDS,
    NOISE_CEILING,
    NOISE_PRIOR,
    VARIANCE_PRIOR,
    FactorFit,
    FactorSettings,
    basis_of,
    factor_posterior,
    fit_axes,
    fit_full,
    fit_thin,
    row_span,
    square_start,
    truncate,
    truncate_axes,
)
from boring.subspace.finish import FINAL_PROFILES, LOWERED_FLOORS
from boring.typing import FloatArray
from boring.validation import as_points
from boring.warping import in_squared_units

N_FOLDS = 5
# Folds, and points per free parameter of W below which they are used: parabola 1-in-25 with
# 50 points and 1-in-50 with 100 were trusted in 3 of 6 and 3 of 8 data sets whose W was
# right with 5 folds, in 5 and 7 with 10; wrong W in none of 18 with either.
N_FOLDS_SCARCE = 10
SCARCE_POINTS_PER_PARAMETER = 3.0
# Where points are few per free parameter of W, predictions are made under this noise
# variance at least, in units of var(y): the scarcer the data, the more W has overfitted.
CAUTIOUS_NOISE = 0.05
CAUTIOUS_POINTS_PER_PARAMETER = 3.0
CAUTIOUS_FLOOR = 0.01
# Share of W that folds must find again, |W'W_k|_F^2 / d: at chance level it is d/D.
REQUIRED_OVERLAP = 0.6
# Squared error of W against that without, below which log densities decide. A few held-out values
# make squared errors: of 77 data sets on embedded functions 70 of 70 W that were found are trusted,
# and 68 if the error has to be smaller; of 7 that were missed none either way; of 252 without a
# subspace five more, which name all inputs.
TOLERABLE_ERROR = 2.0
ISOTROPIC_ITERATIONS = 60
# What a GP of one lengthscale may choose from where it is not the rival of a given W.
ISOTROPIC_CANDIDATES = tuple(
    FactorSettings(profile, floor)
    for floor in (FactorSettings().noise_floor, *LOWERED_FLOORS[-1:])
    for profile in FINAL_PROFILES
)

Refit = Callable[[FloatArray, FloatArray], FactorFit]
"""Learns a thin factor from (X, standardised y): what every fold runs."""


@dataclass(frozen=True, eq=False, slots=True)
class CalibratedPredictor:
    """A GP in the caller's units of y, its variance inflated by what folds have shown.

    Attributes
    ----------
    posterior : GaussianProcess
        Of standardised values.
    center, spread : float
        y = center + spread * standardised.
    inflation : float
        Factor on the variance, at least 1.
    """

    posterior: GaussianProcess
    center: float
    spread: float
    inflation: float

    def predict(self, X: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of a new observation, noise included, each (m,).

        Parameters
        ----------
        X : array_like, shape (m, D) or (D,), scaled units
        """
        mean, variance = self.posterior.predict(as_points(X, self.posterior.X.shape[1], "X"))
        total = self.inflation * (variance + self.posterior.noise_variance)
        return self.center + self.spread * mean, in_squared_units(total, self.spread)

    def log_density(self, X: FloatArray, y: FloatArray) -> FloatArray:
        """Return the log density of observations y at X, shape (m,), in nats."""
        mean, variance = self.predict(X)
        return log_normal_density(y - mean, variance)


@dataclass(frozen=True, eq=False, slots=True)
class TrustReport:
    """Outcome of the check.

    Attributes
    ----------
    trusted : bool
    error, isotropic_error : float
        Mean squared error on held-out points in units of var(y), with W and without.
    log_density, isotropic_log_density : float
        Mean log density of held-out points, in nats, variances inflated.
    inflation, isotropic_inflation : float
        Factors on the variances, at least 1.
    overlap : float
        Median share of W that the folds found again, |W'W_k|_F^2 / d.
    fold_fits : tuple of FactorFit
        What each fold learned.
    folds : tuple of ndarray
        Indices that each fold held out.
    points_needed : float or None
        If there are too few points to tell W's axes from chance: how many it takes.
    """

    trusted: bool
    error: float
    isotropic_error: float
    log_density: float
    isotropic_log_density: float
    inflation: float
    isotropic_inflation: float
    overlap: float
    fold_fits: tuple[FactorFit, ...]
    folds: tuple[FloatArray, ...]
    points_needed: float | None = None

    def figures(self) -> dict[str, float]:
        """Return the numbers, for reports."""
        lacking = {} if self.points_needed is None else {"points_needed": self.points_needed}
        return {
            **lacking,
            "error": self.error,
            "isotropic_error": self.isotropic_error,
            "log_density": self.log_density,
            "isotropic_log_density": self.isotropic_log_density,
            "inflation": self.inflation,
            "isotropic_inflation": self.isotropic_inflation,
            "overlap": self.overlap,
        }


def isotropic_posterior(
    X: FloatArray, y: FloatArray, candidates: Iterable[FactorSettings]
) -> GaussianProcess:
    """Fit the GP with one lengthscale over all inputs, and condition it on the data.

    Under each candidate's profile and noise floor, all but the first from where that ended; the
    largest posterior density wins.
    """
    prior = dimension_scaled(X.shape[1])
    starts = [np.array([0.0, prior.mean, np.log(noise)]) for noise in (0.01, 0.3)]
    fits: list[tuple[GaussianProcessModel, FitResult]] = []
    for settings in dict.fromkeys(candidates):
        term = KernelTerm(
            settings.profile, Isotropic(), "isotropic", VARIANCE_PRIOR, prior, LOG_VARIANCE_BOUNDS
        )
        model = GaussianProcessModel(
            AdditiveKernel([term]), NOISE_PRIOR, (settings.noise_floor, NOISE_CEILING)
        )
        fits.append((model, model.fit_best(X, y, starts, max_iterations=ISOTROPIC_ITERATIONS)))
        starts = [fits[0][1].theta]
    model, fit = min(fits, key=lambda fitted: fitted[1].value)
    return model.condition(fit.theta, X, y)


def points_for_axes(dim: int, rank: int) -> float:
    """Return how many points it takes to tell so many axes from chance.

    Folds share most of their points, and find the same axes by the same coincidences: of 300
    inputs of which one counts, 15 evaluations named it and three more, and four folds of five
    agreed. From fewer than 2 d log(D - d) observations sparse linear regression cannot tell which
    d of D inputs count [Wainwright 2009].
    """
    return 2.0 * rank * float(np.log(max(dim - rank, 1)))


def cautious_noise(n: int, fit: FactorFit, axis_aligned: bool, settings: FactorSettings) -> float:
    """Return the noise variance of predictions: at least .05 where points are few.

    Unless the last fit lowered its floor: then the data are plainly free of noise.
    """
    if settings.noise_floor < CAUTIOUS_FLOOR:
        return fit.noise
    dim, rank = fit.factor.shape
    count = rank if axis_aligned else n_free_parameters(dim, rank)
    floor = CAUTIOUS_NOISE if n < CAUTIOUS_POINTS_PER_PARAMETER * count else 0.0
    return max(fit.noise, floor)


def fold_refit(
    rank: int, axis_aligned: bool, settings: FactorSettings, finish: FactorSettings
) -> Refit:
    """Return the short search that folds run: one full fit, one truncation, one finish.

    Parameters
    ----------
    rank : int
    axis_aligned : bool
        Whether to search among coordinate axes instead.
    settings, finish : FactorSettings
        Of the search, and of the last fit.
    """

    def rotated(X: FloatArray, y: FloatArray) -> FactorFit:
        coordinates, lift = row_span(X)
        start = square_start(coordinates.shape[1], X.shape[1])
        full = fit_full(coordinates, y, start, settings)
        fit = truncate(coordinates, y, full, rank, settings)
        fit = fit_thin(coordinates, y, fit, finish)
        return fit if lift is None else replace(fit, factor=np.asarray(lift @ fit.factor))

    def aligned(X: FloatArray, y: FloatArray) -> FactorFit:
        return truncate_axes(X, y, fit_axes(X, y, settings), rank, finish)

    return aligned if axis_aligned else rotated


def default_folds(n: int, fit: FactorFit) -> int:
    """Return the number of folds: 5, or 10 where points are few per free parameter."""
    scarce = n < SCARCE_POINTS_PER_PARAMETER * n_free_parameters(*fit.factor.shape)
    return N_FOLDS_SCARCE if scarce else N_FOLDS


def balanced_folds(n: int, n_folds: int, rng: np.random.Generator) -> tuple[FloatArray, ...]:
    """Return a random partition of range(n) into groups whose sizes differ by one at most."""
    return tuple(np.sort(part) for part in np.array_split(rng.permutation(n), min(n_folds, n)))


def training_values(y: FloatArray, held: FloatArray) -> tuple[FloatArray, FloatArray, float, float]:
    """Return what a fold learns from: indices kept, their values standardised, center, spread."""
    kept = np.setdiff1d(np.arange(len(y)), held)
    center = float(y[kept].mean())
    spread = max(float(y[kept].std()), np.finfo(float).eps)
    return kept, (y[kept] - center) / spread, center, spread


def check_trust(
    X: FloatArray,
    y: FloatArray,
    refit: Refit,
    *,
    rng: np.random.Generator,
    factor: FloatArray,
    axis_aligned: bool = False,
    finish: FactorSettings | None = None,
    n_folds: int = N_FOLDS,
) -> TrustReport:
    """Compare W, learned anew in every fold, with a GP that has no subspace.

    Parameters
    ----------
    X : ndarray, shape (n, D), scaled units
    y : ndarray, shape (n,)
        Standardised.
    refit : callable
        Learns a thin factor from the points of a fold.
    rng : numpy.random.Generator
        Draws the folds.
    factor : ndarray, shape (D, d)
        What was learned from all points.
    axis_aligned : bool
        Whether the factor lies on axes, and so has few free parameters.
    finish : FactorSettings, optional
        Of the factor's last fit.
    n_folds : int, default 5

    Returns
    -------
    TrustReport
    """
    search = FactorSettings()
    finish = finish or search
    frame = basis_of(factor)
    overlaps = []
    folds = balanced_folds(len(y), n_folds, rng)
    fits = []
    residuals, totals = np.empty((2, len(y))), np.empty((2, len(y)))
    for held in folds:
        kept, values, center, spread = training_values(y, held)
        fit = refit(X[kept], values)
        fits.append(fit)
        found = basis_of(fit.factor)
        overlaps.append(float(np.sum((frame.T @ found) ** 2)) / frame.shape[1])
        noise = cautious_noise(len(kept), fit, axis_aligned, finish)
        for row, posterior in enumerate(
            (
                factor_posterior(X[kept], values, fit, finish.profile, noise),
                isotropic_posterior(X[kept], values, (search, finish)),
            )
        ):
            predictor = CalibratedPredictor(posterior, center, spread, 1.0)
            mean, totals[row, held] = predictor.predict(X[held])
            residuals[row, held] = y[held] - mean
    overlap = float(np.median(overlaps))
    errors = np.mean(residuals**2, axis=1)
    inflations = np.maximum(1.0, np.mean(residuals**2 / totals, axis=1))
    scaled = totals * inflations[:, None]
    densities = np.mean(log_normal_density(residuals, scaled), axis=1)
    better = densities[0] > densities[1] and errors[0] < TOLERABLE_ERROR * errors[1]
    needed = points_for_axes(*factor.shape) if axis_aligned else 0.0
    enough = len(y) >= needed
    return TrustReport(
        bool(better and overlap >= REQUIRED_OVERLAP and enough),
        float(errors[0]),
        float(errors[1]),
        float(densities[0]),
        float(densities[1]),
        float(inflations[0]),
        float(inflations[1]),
        overlap,
        tuple(fits),
        folds,
        None if enough else needed,
    )
