"""Curves with bands, surfaces that fade where the model does not know, and the GP over Z."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boring._spread import mean_and_spread
from boring.effort import MOST_POINTS
from boring.exceptions import InvalidInputError
from boring.kernels import AdditiveKernel, Ard, KernelTerm
from boring.kernels.profiles import get_profile
from boring.models.gp import GaussianProcessModel
from boring.models.priors import Gaussian, dimension_scaled
from boring.rng import keyed_generator, single_blas_thread
from boring.typing import FloatArray

from . import _canvas as canvas
from ._labels import combination

Predict = Callable[[FloatArray], tuple[FloatArray, FloatArray]]
"""Points (m, k) to means and standard deviations, each (m,)."""

FIT_ITERATIONS = 60
CHARACTER = 0.066
"""Inches of a small character."""

N_SDS = 2.0
LINE_POINTS = 200
SURFACE_POINTS = 60
LEVELS = 12
FADE = 0.8
ROUNDING = 1e-12
"""Share of values that levels around a single one keep from it, so that floats tell them apart."""
MARGIN = 0.04
"""Share of their range by which pictures reach beyond values."""
COLOUR_SHARE = 0.02
"""Colours end at this quantile of the values, and at one minus it."""


def fit_over(
    Z: FloatArray, y: FloatArray, scales: FloatArray, profile: str
) -> tuple[Predict, float]:
    """Fit a GP of y over coordinates Z, and return it with its leave-one-out R^2.

    Of very many points lengthscales and noise are those of a sample; predictions, and R^2, are of
    all.

    Parameters
    ----------
    Z : ndarray, shape (n, k)
    y : ndarray, shape (n,), finite
    scales : ndarray, shape (k,)
        Lengthscales from which one of two fits starts.
    profile : str
        Name of the radial profile.

    Returns
    -------
    predict : callable
        Standard deviations are of a new observation, noise included.
    r_squared : float
    """
    center, spread = mean_and_spread(y)
    if len(y) < 3 or not spread > 0.0:
        raise InvalidInputError(
            f"a model over Z needs three values or more that differ; received {len(y)}, standard "
            f"deviation {spread:.3g}."
        )
    k = Z.shape[1]
    term = KernelTerm(
        get_profile(profile), Ard(k), "active", Gaussian(0.0, 1.5), dimension_scaled(k)
    )
    model = GaussianProcessModel(AdditiveKernel([term], constant_variance=1.0))
    starts = [
        np.concatenate([[0.0], np.log(lengths), [noise]])
        for lengths, noise in ((scales, -6.0), (np.full(k, 0.7 * np.sqrt(k)), -2.0))
    ]
    values = (y - center) / spread
    with single_blas_thread():
        rows = _some(len(y))
        fit = model.fit_best(Z[rows], values[rows], starts, max_iterations=FIT_ITERATIONS)
        posterior = model.condition(fit.theta, Z, values)
        errors = values - posterior.predict_left_out()[0]

    def predict(points: FloatArray) -> tuple[FloatArray, FloatArray]:
        mean, variance = posterior.predict(points)
        return center + spread * mean, spread * np.sqrt(variance + posterior.noise_variance)

    return predict, 1.0 - float(np.mean(errors**2))


def _some(n: int) -> slice | NDArray[np.intp]:
    """Return rows to fit to, all if they are not many: each step of a fit costs n^3."""
    if n <= MOST_POINTS:
        return slice(None)
    return np.sort(keyed_generator(0, "surface").permutation(n)[:MOST_POINTS])


def span_of(values: FloatArray) -> tuple[float, float]:
    """Return the range of values, a little wider; never empty."""
    low, high = float(values.min()), float(values.max())
    extra = MARGIN * (high - low) or 0.5
    return low - extra, high + extra


def draw_curve(
    axes: Any, t: FloatArray, mean: FloatArray, sd: FloatArray, theme: canvas.Theme, band: str
) -> None:
    """Draw a mean and a band of two standard deviations on either side."""
    axes.fill_between(
        t,
        mean - N_SDS * sd,
        mean + N_SDS * sd,
        color=theme.model,
        alpha=0.25,
        linewidth=0,
        label=band,
    )
    axes.plot(t, mean, "-", color=theme.model, linewidth=2.0, label="posterior mean")


def draw_surface(
    axes: Any,
    predict: Predict,
    ranges: Sequence[tuple[float, float]],
    theme: canvas.Theme,
    levels: FloatArray | None = None,
    *,
    low_is_best: bool = False,
) -> Any:
    """Draw a mean over a plane as filled contours, fading where its deviation is large."""
    from ._canvas import to_rgba

    ticks = [np.linspace(low, high, SURFACE_POINTS) for low, high in ranges]
    points = np.stack([part.ravel() for part in np.meshgrid(*ticks)], axis=1)
    mean, sd = (part.reshape(SURFACE_POINTS, SURFACE_POINTS) for part in predict(points))
    levels = levels_of(mean.ravel(), even=True) if levels is None else levels
    drawn = axes.contourf(
        *ticks,
        mean,
        levels=levels,
        norm=canvas.boundary_norm(levels),
        cmap=canvas.value_map(theme, low_is_best=low_is_best),
        extend="both",
        zorder=0,
    )
    veil = np.empty((*sd.shape, 4))
    veil[..., :3] = to_rgba(theme.background)[:3]
    width = float(sd.max() - sd.min())
    veil[..., 3] = FADE * (sd - sd.min()) / width if width > 1e-9 * float(sd.max()) else 0.0
    extent = (ticks[0][0], ticks[0][-1], ticks[1][0], ticks[1][-1])
    axes.imshow(
        veil, extent=extent, origin="lower", aspect="auto", zorder=0.5, interpolation="bilinear"
    )
    return drawn


def levels_of(values: FloatArray, *, even: bool = False) -> FloatArray:
    """Return the values between which colours change.

    Parameters
    ----------
    values : ndarray, shape (n,)
    even : bool, default False
        Whether they are equally far apart; else they are quantiles, so that each colour covers as
        many values, however long the tail is.
    """
    low, high = np.quantile(values, [COLOUR_SHARE, 1.0 - COLOUR_SHARE])
    shares = np.linspace(COLOUR_SHARE, 1.0 - COLOUR_SHARE, LEVELS + 1)
    levels = np.linspace(low, high, LEVELS + 1) if even else np.quantile(values, shares)
    spread = float(np.ptp(values))
    levels = levels[np.diff(levels, prepend=-np.inf) > 1e-9 * spread]
    if len(levels) >= 3:
        return np.asarray(levels)
    middle = float(values.mean())
    reach = max(spread, ROUNDING * abs(middle)) or 1.0
    return np.linspace(middle - reach, middle + reach, LEVELS + 1)


def coordinate_label(symbol: str, weights: FloatArray, names: Sequence[str], inches: float) -> str:
    """Return a label such as ``z1 = 0.71 x0 + …``, with as many terms as two lines allow."""
    for most in (5, 4, 3, 2, 1):
        text = f"{symbol} = {combination(weights, names, most)}"
        if len(text) * CHARACTER <= 2.0 * inches - 0.5:
            return text
    return symbol
