"""Pictures of fits in one variable: the points, the mean and two standard deviations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boring.typing import FloatArray

from ..plots import PALETTE, new_figure, save
from ..thesis.study import Record, succeeded

__all__ = ["FIT_SIZE", "draw_fit", "draw_fits", "fit_of"]

FIT_SIZE = 36
"""Points of the fits that are drawn, as in the thesis."""

SHOWN = 200
"""Of the test points, those that are kept for the picture."""

DIGITS = 6


def fit_of(
    X: FloatArray, y: FloatArray, X_test: FloatArray, y_test: FloatArray, prediction: Any
) -> dict[str, list[float]]:
    """Return what a picture of a fit in one variable needs, in raw units.

    Parameters
    ----------
    X, y : ndarray, shape (n, 1), (n,)
    X_test, y_test : ndarray, shape (m, 1), (m,)
        Of these the first 200 are kept, sorted.
    prediction : Prediction
        Of the values at the test points.
    """
    some = np.argsort(X_test[:SHOWN, 0])
    deviation = np.sqrt(prediction.variance[some])
    return {
        "x": _rounded(X[:, 0]),
        "y": _rounded(y),
        "grid": _rounded(X_test[some, 0]),
        "values": _rounded(y_test[some]),
        "mean": _rounded(prediction.mean[some]),
        "deviation": _rounded(deviation),
    }


def draw_fit(axes: Any, fit: Mapping[str, ArrayLike]) -> None:
    """Draw mean and two standard deviations over the grid, and the points."""
    grid, mean, deviation = (np.asarray(fit[key]) for key in ("grid", "mean", "deviation"))
    band = (mean - 2.0 * deviation, mean + 2.0 * deviation)
    axes.fill_between(grid, *band, alpha=0.25, color=PALETTE[0], linewidth=0)
    axes.plot(grid, mean, color=PALETTE[0], label="mean and 2 sd")
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
    for row, cell in zip(panels, cells, strict=True):
        for axes, method in zip(row, methods, strict=False):
            fit = found.get((cell, method))
            if fit is None:
                continue
            axes.plot(fit["grid"], fit["values"], ".", color="0.65", markersize=3, label="truth")
            draw_fit(axes, fit)
            low, high = min(fit["values"]), max(fit["values"])
            axes.set_ylim(low - 0.5 * (high - low), high + 0.5 * (high - low))
            axes.set_title(f"{cell.rpartition(', ')[0]}: {method}", fontsize="small")
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
