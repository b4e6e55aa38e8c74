"""The two methods of learning a subspace behind one face, and the certificate of either."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from boring.exceptions import InvalidInputError
from boring.kernels.profiles import MATERN32, RadialProfile
from boring.subspace.dimension import DimensionRow, lowest_bic, score_dimensions
from boring.subspace.factor_fit import FactorFit, FactorSettings
from boring.subspace.full_rank import SearchSettings, learn_factor
from boring.subspace.stiefel import orthonormalize
from boring.subspace.trust import Refit, fold_refit
from boring.typing import FloatArray
from boring.validation import as_positive_int, as_real

# Restarts in the folds of the trust check of Tripathy's method.
FOLD_RESTARTS = 5


@dataclass(frozen=True, eq=False, slots=True)
class LearnedSubspace:
    """What either method hands to the checks; y standardised."""

    fit: FactorFit
    axis_aligned: bool
    finish: FactorSettings
    singular_values: FloatArray
    table: tuple[DimensionRow, ...]
    log_posterior: float
    refit: Refit


def search_settings(
    profile: RadialProfile | None, noise_floor: float | None, n_hops: int
) -> SearchSettings:
    """Return the settings of a full-rank search from the caller's options."""
    fits = FactorSettings()
    if noise_floor is not None:
        if not 0.0 < as_real(noise_floor, "noise_floor") < 1.0:
            raise InvalidInputError(
                f"noise_floor must lie in (0, 1), in units of var(y); received {noise_floor}."
            )
        fits = replace(fits, noise_floor=float(noise_floor))
    settings = SearchSettings(fits, n_hops=as_positive_int(n_hops, "n_hops", 0))
    if profile is not None:
        fits = replace(fits, profile=profile)
        settings = replace(settings, fits=fits, final_profiles=())
    return settings


def learn_full_rank(
    X: FloatArray,
    y: FloatArray,
    effective_dim: int | None,
    max_effective_dim: int | None,
    rng: np.random.Generator,
    settings: SearchSettings,
    starts: list[FloatArray],
) -> LearnedSubspace:
    """Learn by the full-rank search; y standardised."""
    found = learn_factor(
        X,
        y,
        effective_dim,
        rng=rng,
        max_effective_dim=max_effective_dim,
        settings=settings,
        starts=starts,
    )
    refit = fold_refit(found.fit.rank, found.axis_aligned, settings.fits, found.settings)
    return LearnedSubspace(
        found.fit,
        found.axis_aligned,
        found.settings,
        found.full_singular_values,
        found.dimension_table,
        -found.fit.value,
        refit,
    )


def learn_tripathy(
    X: FloatArray,
    y: FloatArray,
    effective_dim: int | None,
    max_effective_dim: int | None,
    rng: np.random.Generator,
    profile: RadialProfile | None,
    noise_floor: float | None,
    n_restarts: int | None,
    cpu_budget: float | None,
) -> LearnedSubspace:
    """Learn by Tripathy's alternation; y standardised, d by BIC if it is None."""
    from boring.subspace.tripathy import N_RESTARTS, TripathyOptions, tripathy_subspace

    chosen = profile or MATERN32
    options = TripathyOptions()
    if noise_floor is not None:
        options = replace(options, noise_floor=as_real(noise_floor, "noise_floor"))
    restarts = N_RESTARTS if n_restarts is None else as_positive_int(n_restarts, "n_restarts")
    table = () if effective_dim else score_dimensions(X, y, max_effective_dim)
    rank = effective_dim or lowest_bic(table).effective_dim

    def learn(X: FloatArray, y: FloatArray, restarts: int) -> tuple[FactorFit, float]:
        found = tripathy_subspace(
            X,
            y,
            rank,
            rng=rng,
            n_restarts=restarts,
            profile=chosen,
            options=options,
            cpu_budget=cpu_budget,
        )
        nll = -found.log_likelihood
        factor = found.active_basis / found.lengthscales
        fit = FactorFit(factor, found.signal_variance, found.noise_variance, nll, nll)
        return fit, found.log_likelihood

    fit, log_likelihood = learn(X, y, restarts)
    settings = FactorSettings(chosen, options.noise_floor)
    return LearnedSubspace(
        fit,
        False,
        settings,
        np.linalg.norm(fit.factor, axis=0),
        table,
        log_likelihood,
        lambda X, y: learn(X, y, FOLD_RESTARTS)[0],
    )


def certify(
    X: FloatArray, y: FloatArray, learned: LearnedSubspace, polish: bool
) -> tuple[LearnedSubspace, float]:
    """Return the estimate, polished if asked, and its Riemannian gradient norm."""
    from boring.subspace._riemannian import polish as riemannian_polish
    from boring.subspace._riemannian import riemannian_gradient_norm
    from boring.subspace.likelihood import Hyperparameters, StiefelLikelihood

    likelihood = StiefelLikelihood(X, y, learned.finish.profile)
    scales = np.linalg.norm(learned.fit.factor, axis=0)
    W = frame_of(learned.fit.factor)
    parameters = Hyperparameters(
        -np.log(scales), float(np.log(learned.fit.variance)), float(np.log(learned.fit.noise))
    )
    evaluation = likelihood.evaluate(W, parameters)
    norm = riemannian_gradient_norm(W, evaluation.basis_gradient)
    if not polish or learned.axis_aligned:
        return learned, norm

    def cost(frame: FloatArray) -> tuple[float, FloatArray]:
        evaluation = likelihood.evaluate(frame, parameters)
        return -evaluation.value, -evaluation.basis_gradient

    result = riemannian_polish(W, cost)
    gain = -result.cost - evaluation.value
    fit = replace(
        learned.fit,
        factor=result.W * scales,
        value=learned.fit.value - gain,
        nll=learned.fit.nll - gain,
    )
    polished = replace(learned, fit=fit, log_posterior=learned.log_posterior + gain)
    return polished, result.gradient_norm


def frame_of(factor: FloatArray) -> FloatArray:
    """Return the columns of a factor with orthogonal columns, normalised."""
    return orthonormalize(factor / np.linalg.norm(factor, axis=0))
