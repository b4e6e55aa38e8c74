"""The last fits of a search: a noise floor that the data allow, and smoothness by evidence."""

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
# nats a point, ones with noise of sd .1 sd(y) up to .07. Every profile is lowered before they
# are compared: under a high floor a rough one wins that cannot be sharpened. With that and the
# last floor, W from the data of seven runs on camelback 2-in-10 is .8 degrees off in the median
# (6 below 2) instead of 3.2 (3 below 2), on camelback 2-in-5 .14 instead of .43 (six runs); from
# uniform points on camelback in 5, 10, 25 inputs .03, .01, .01 instead of .16, .19, .24 (three
# seeds each), for less than twice the time; with noise of sd .1 sd(y) nothing changes.
LOWERED_FLOORS = (1e-3, 1e-4, 1e-8)
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
    """Lower the noise floor of each profile where that pays plainly, and choose by evidence.

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
    floors = LOWERED_FLOORS if n >= LOWERING_POINTS_PER_PARAMETER * n_parameters else ()
    choices = []
    for profile in profiles or (settings.profile,):
        current = replace(settings, profile=profile)
        choice = FinishedFit(refit(fit, current), current)
        choices.append(_lowered(refit, choice, floors if lower_floor else (), n))
    return min(choices, key=lambda choice: choice.fit.value)


def _lowered(refit: Refit, choice: FinishedFit, floors: tuple[float, ...], n: int) -> FinishedFit:
    for floor in floors:
        if floor >= choice.settings.noise_floor:
            continue
        settings = replace(choice.settings, noise_floor=floor)
        sharper = refit(choice.fit, settings)
        if choice.fit.value - sharper.value < LOWERING_GAIN * n:
            break
        choice = FinishedFit(sharper, settings)
    return choice


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
