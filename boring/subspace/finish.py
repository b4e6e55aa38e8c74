"""The last fits of a search: smoothness by evidence, and a noise floor that the data allow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from boring.kernels.profiles import (
    MATERN32,
    MATERN52,
    SQUARED_EXPONENTIAL,
    RadialProfile,
)
from boring.subspace.factor_fit import FactorFit, FactorSettings, fit_thin, truncate_axes
from boring.typing import FloatArray

POLISH_ITERATIONS = 100
# Noise floors of the last fits, and the gain in nats a point and the points per free
# parameter that each step takes. Lowered by one step, noise-free functions gain .1 to 1.5
# nats a point, ones with noise of sd .1 sd(y) up to .07.
LOWERED_FLOORS = (1e-3, 1e-4)
LOWERING_GAIN = 0.08
LOWERING_POINTS_PER_PARAMETER = 2.0
# Profiles of the last fit, the one of the largest evidence winning. On smooth functions
# the smoother kernels sharpen W (Rosenbrock 5-in-10, 200 points, median angle: Matern-3/2
# 6.9 degrees, Matern-5/2 3.7, squared exponential 1.2); for the search Matern-3/2 serves.
FINAL_PROFILES = (MATERN32, MATERN52, SQUARED_EXPONENTIAL)

Refit = Callable[[FactorFit, FactorSettings], FactorFit]
"""Continues a fit under other settings."""


@dataclass(frozen=True, eq=False, slots=True)
class FinishedFit:
    """A last fit, and the settings it was made under."""

    fit: FactorFit
    settings: FactorSettings


def finish(
    refit: Refit,
    fit: FactorFit,
    n: int,
    n_parameters: int,
    settings: FactorSettings,
    *,
    profiles: tuple[RadialProfile, ...] = FINAL_PROFILES,
    lower_floor: bool = True,
) -> FinishedFit:
    """Choose the profile by evidence, then lower the noise floor where that pays plainly.

    Parameters
    ----------
    refit : callable
        Continues a fit under other settings.
    fit : FactorFit
        The best of the search.
    n : int
        Number of values.
    n_parameters : int
        Free parameters of the subspace.
    settings : FactorSettings
        Of the search.
    profiles : tuple of RadialProfile
        Candidates; empty keeps the search's.
    lower_floor : bool
    """
    choices = [
        FinishedFit(refit(fit, current), current)
        for current in (
            replace(settings, profile=profile) for profile in profiles or (settings.profile,)
        )
    ]
    best = min(choices, key=lambda choice: choice.fit.value)
    if not (lower_floor and n >= LOWERING_POINTS_PER_PARAMETER * n_parameters):
        return best
    for floor in LOWERED_FLOORS:
        if floor >= best.settings.noise_floor:
            continue
        lowered = replace(best.settings, noise_floor=floor)
        sharper = refit(best.fit, lowered)
        if best.fit.value - sharper.value < LOWERING_GAIN * n:
            break
        best = FinishedFit(sharper, lowered)
    return best


def thin_refit(X: FloatArray, y: FloatArray) -> Refit:
    """Return what continues a thin fit of any orientation."""

    def refit(fit: FactorFit, settings: FactorSettings) -> FactorFit:
        return fit_thin(X, y, fit, settings, POLISH_ITERATIONS)

    return refit


def axes_refit(X: FloatArray, y: FloatArray, rank: int) -> Refit:
    """Return what continues a fit on the ``rank`` longest axes of a factor."""

    def refit(fit: FactorFit, settings: FactorSettings) -> FactorFit:
        return truncate_axes(X, y, fit, rank, settings)

    return refit
