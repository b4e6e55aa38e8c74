"""Pictures of fits in one variable: the points, the mean and where 95 % of new values lie."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boring.typing import FloatArray

from ..plots import PALETTE, new_figure, save
from ..regression import Prediction
from ..thesis.study import Record, succeeded

__all__ = ["FIT_SIZE", "SHOWN", "central_region", "draw_fit", "draw_fits", "fit_of"]

FIT_SIZE = 36
"""Points of the fits that are drawn, as in the thesis."""

SHOWN = 200
"""Of the test points, so many are kept for the picture."""

DIGITS = 6
WIDTH = 26
"""Letters of a title above a panel."""


def fit_of(
    X: FloatArray, y: FloatArray, X_test: FloatArray, y_test: FloatArray, prediction: Prediction
) -> dict[str, list[float]]:
    """Return what a picture of a fit in one variable needs, in raw units.

    Parameters
    ----------
    X, y : ndarray, shape (n, 1), (n,)
    X_test, y_test : ndarray, shape (m, 1), (m,)
    prediction : Prediction
        Of the values at the test points.
    """
    order = np.argsort(X_test[:, 0])
    assert prediction.variance is not None
    if prediction.log_density is None:
        deviation = np.sqrt(prediction.variance)
        low, high = prediction.mean - 2.0 * deviation, prediction.mean + 2.0 * deviation
    else:
        low, high = central_region(prediction.log_density, len(X_test), y)
    return {
        "x": _rounded(X[:, 0]),
        "y": _rounded(y),
        "grid": _rounded(X_test[order, 0]),
        "values": _rounded(y_test[order]),
        "mean": _rounded(prediction.mean[order]),
        "low": _rounded(low[order]),
        "high": _rounded(high[order]),
    }


def central_region(
    log_density: Callable[[FloatArray], FloatArray], n_points: int, y: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the quantiles .025 and .975 of a density of new values, by sums over values.

    Parameters
    ----------
    log_density : callable
        Of one value at each of the points, shape (n_points,).
    n_points : int
    y : ndarray, shape (n,)
        Values seen: the grid is fine around them, and coarse to 40 standard deviations.
    """
    low, high = y.min() - 0.5 * np.ptp(y), y.max() + 0.5 * np.ptp(y)
    far = np.linspace(y.mean() - 40.0 * y.std(), y.mean() + 40.0 * y.std(), 200)
    values = np.unique(np.append(far, np.linspace(low, high, 1500)))
    density = np.exp([log_density(np.full(n_points, value)) for value in values])
    pieces = 0.5 * np.diff(values)[:, np.newaxis] * (density[1:] + density[:-1])
    share = np.cumsum(pieces, axis=0) / pieces.sum(axis=0)
    lower, upper = (values[1:][np.argmax(share >= level, axis=0)] for level in (0.025, 0.975))
    return lower, upper


def draw_fit(axes: Any, fit: Mapping[str, ArrayLike]) -> None:
    """Draw mean and region, two standard deviations where none is given, and the points."""
    grid, mean = np.asarray(fit["grid"]), np.asarray(fit["mean"])
    if "low" in fit:
        low, high, label = np.asarray(fit["low"]), np.asarray(fit["high"]), "mean, 95 % region"
    else:
        deviation = np.asarray(fit["deviation"])
        low, high, label = mean - 2.0 * deviation, mean + 2.0 * deviation, "mean and 2 sd"
    axes.fill_between(grid, low, high, alpha=0.25, color=PALETTE[0], linewidth=0)
    axes.plot(grid, mean, color=PALETTE[0], label=label)
    axes.plot(fit["x"], fit["y"], "k.", label="data")


def draw_fits(records: Sequence[Record], folder: Path) -> list[Path]:
    """Draw the fits on record, a row for each function and a column for each method, first seed."""
    good = [record for record in succeeded(records) if "fit" in record]
    if not good:
        return []
    seed = min(record["seed"] for record in good)
    found = {(r["cell"], r["method"]): r["fit"] for r in good if r["seed"] == seed}
    cells, methods = (list(dict.fromkeys(key[part] for key in found)) for part in (0, 1))
    columns = max(2, len(methods))
    figure = new_figure(2.5 * columns, 2.3 * len(cells) + 0.9)
    panels = figure.subplots(len(cells), columns, squeeze=False, sharex="row", sharey="row")
    for axes, method in zip(panels[0], methods, strict=False):
        axes.set_title(fill(method.replace(",", ", "), WIDTH), fontsize="small")
    for row, cell in zip(panels, cells, strict=True):
        row[0].set_ylabel(cell.rpartition(", ")[0], fontsize="small")
        for axes, method in zip(row, methods, strict=False):
            fit = found.get((cell, method))
            if fit is None:
                continue
            axes.plot(fit["grid"], fit["values"], ".", color="0.65", markersize=3, label="truth")
            draw_fit(axes, fit)
            low, high = min(fit["values"]), max(fit["values"])
            axes.set_ylim(low - 0.5 * (high - low), high + 0.5 * (high - low))
        for axes in row[len(methods) :]:
            axes.set_visible(False)
    handles, labels = next(ax for ax in panels.flat if ax.lines).get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside lower center", ncols=3, fontsize="small", frameon=False
    )
    figure.suptitle(f"Fits to {FIT_SIZE} points, seed {seed}", fontsize="medium")
    return [save(figure, folder / "fits.png")]


def _rounded(values: FloatArray) -> list[float]:
    return [float(f"{value:.{DIGITS}g}") for value in values]
