"""Pictures of what a subspace is made of: importance of the parameters, loadings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from boring.exceptions import InvalidInputError
from boring.optimizer import Optimizer
from boring.result import OptimizationResult
from boring.subspace.estimate import SubspaceEstimate
from boring.subspace.rotation import loading_errors, readable_basis
from boring.subspace.stiefel import is_orthonormal
from boring.typing import FloatArray
from boring.validation import as_positive_int, as_real_array

from . import _canvas as canvas
from . import _furniture as furniture
from ._labels import names_of, short_names
from ._sources import estimate_of, takes_studies

if TYPE_CHECKING:
    from boring.study.recorded import RecordedStudy

    from ._canvas import Axes, Figure

__all__ = ["Source", "plot_importance", "plot_loadings", "readable", "trust_in_words"]

ROW_HEIGHT = 0.2
"""Inches that a bar with its name takes."""

WIDE_PANEL = 1.1
"""Inches from which the axis of loadings has room for more than two ticks."""

MOST_ROWS = 20
HATCH = "////"

Source: TypeAlias = "SubspaceEstimate | OptimizationResult | Optimizer | RecordedStudy"


def trust_in_words(estimate: SubspaceEstimate) -> str:
    """Return what the picture says of the estimate's own check."""
    if estimate.trusted:
        return "trusted by its own check"
    return "NOT trusted by its own check" if estimate.trust else "not checked"


def readable(estimate: SubspaceEstimate, rotate: bool) -> FloatArray:
    """Return the basis that pictures show: varimax and sorted, or W as it is."""
    if not rotate:
        return estimate.active_basis
    return readable_basis(estimate.active_basis, estimate.lengthscales)[0]


def _rows(dim: int, top: int | None, height: float) -> int:
    """Return how many bars to draw: those asked for, or as many as are legible."""
    fit = MOST_ROWS if height <= 0 else int(np.clip(height / ROW_HEIGHT, 3, MOST_ROWS))
    return min(dim, fit if top is None else as_positive_int(top, "top"))


@takes_studies
def plot_importance(
    source: Source,
    ax: Axes | None = None,
    *,
    top: int | None = None,
    names: Sequence[str] | None = None,
    title: str | None = None,
) -> Axes:
    """Draw the importance of the parameters, the largest first, with intervals.

    Parameters
    ----------
    source : SubspaceEstimate, OptimizationResult or Optimizer
    ax : matplotlib.axes.Axes, optional
    top : int, optional
        Bars; the others are summed up in a last one. By default as many as are legible, 20 at
        most.
    names : sequence of str, optional
        Of the D parameters.
    title : str, optional

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InvalidInputError
        If there is no subspace, or names do not fit.

    Notes
    -----
    Activity scores with intervals of nominally 90 per cent (`boring.subspace.importance`); the sum
    of the others has none, since intervals do not add up.
    """
    estimate = estimate_of(source)
    dim = len(estimate.importance)
    shorts = short_names(names_of(names, dim))
    axes = canvas.axes_or_new(ax)
    theme = canvas.theme_of(axes)
    shown = _rows(dim, top, furniture.inches(axes)[1])
    if shown == dim - 1 and top is None:
        shown = dim
    order = np.argsort(-estimate.importance, kind="stable")[:shown]
    scores, interval = estimate.importance[order], estimate.importance_interval[order]
    positions = np.arange(shown)
    axes.barh(positions, scores, 0.72, color=theme.real, label="importance")
    known = np.isfinite(interval).all(axis=1)
    if known.any():
        whiskers = np.abs(interval[known].T - scores[known])
        axes.errorbar(
            scores[known],
            positions[known],
            xerr=whiskers,
            fmt="none",
            ecolor=theme.ink,
            elinewidth=1.1,
            capsize=2.5,
            label="90 % interval",
        )
    ticks = [shorts[index] for index in order]
    if shown < dim:
        rest = float(estimate.importance.sum() - scores.sum())
        axes.barh(
            [shown], [rest], 0.72, color="none", edgecolor=theme.muted, hatch=HATCH, linewidth=0.8
        )
        ticks.append(f"other {dim - shown}")
    axes.set_yticks(np.arange(len(ticks)), ticks)
    axes.set_ylim(len(ticks) - 0.4, -0.6)
    axes.set_xlim(0.0, None)
    axes.set_xlabel("share of the mean squared slope")
    bars = "lines: 90 %; " if known.any() else ""
    furniture.title(axes, title or "Importance", bars + trust_in_words(estimate))
    canvas.dress(axes, theme, grid="x")
    furniture.wrap_texts(axes)
    axes.tick_params(axis="y", length=0)
    return axes  # type: ignore[no-any-return]


@takes_studies
def plot_loadings(
    source: Source | ArrayLike,
    figure: Figure | None = None,
    *,
    errors: ArrayLike | None = None,
    rotate: bool = True,
    top: int | None = None,
    names: Sequence[str] | None = None,
    title: str | None = None,
) -> Figure:
    """Draw which combinations of parameters the active directions are.

    Parameters
    ----------
    source : SubspaceEstimate, OptimizationResult, Optimizer, or array_like of shape (D, d)
        An array is an active basis with orthonormal columns.
    figure : matplotlib.figure.Figure, optional
    errors : array_like, shape (D, d), optional
        Half widths to draw with an array; not rotated, hence only with ``rotate=False``. An
        estimate brings its own, a jackknife over the folds of its trust check.
    rotate : bool, default True
        Whether to turn the basis within its span to the form with few large entries (varimax),
        strongest direction first, the large entries positive on the whole. The span is all that
        data identify, so nothing is lost.
    top : int, optional
        Parameters drawn, those with the largest loading in any direction, grouped by the direction
        in which it is; by default as many as are legible, 20 at most.
    names : sequence of str, optional
        Of the D parameters.
    title : str, optional

    Returns
    -------
    matplotlib.figure.Figure
        Axes ``z1``, ``z2``, ... (``get_label()``), side by side.

    Raises
    ------
    InvalidInputError
        If there is no subspace, an array is no frame, or shapes disagree.
    """
    canvas.check_figure(figure)
    W, spread, detail = _loadings(source, errors, rotate)
    dim, columns = W.shape
    labels = short_names(names_of(names, dim))
    figure = canvas.new_figure(min(2.2 + 1.9 * columns, 11.0), 4.2) if figure is None else figure
    height = furniture.figure_inches(figure)[1]
    shown = _rows(dim, top, height - 1.3)
    size = np.abs(W)
    order = np.argsort(-size.max(axis=1), kind="stable")[:shown]
    order = order[np.argsort(size[order].argmax(axis=1), kind="stable")]
    panels = canvas.grid_of(figure, columns, columns, sharey=True, sharex=True)
    theme = canvas.theme_of(panels[0])
    reach = np.abs(W[order]).max()
    for column, panel in enumerate(panels):
        panel.set_label(f"z{column + 1}")
        _loading_bars(panel, W[order, column], spread[order, column], theme)
        panel.set_title(f"z{column + 1}", fontsize="medium")
        canvas.dress(panel, theme, grid="x")
        panel.tick_params(axis="y", length=0)
    panels[0].set_yticks(np.arange(shown), [labels[i] for i in order])
    panels[0].set_ylim(shown - 0.4, -0.6)
    if np.isfinite(spread[order]).all():
        reach = max(reach, min(1.0, float((np.abs(W) + spread)[order].max())))
    panels[0].set_xlim(-1.08 * reach, 1.08 * reach)
    some = f"largest {shown} of {dim} parameters" if shown < dim else ""
    figure.supxlabel("loading (scaled units)", fontsize="medium", color=theme.ink)
    furniture.headline(figure, (title or "Active directions", some, detail), theme)
    _loading_ticks(panels[0], reach)
    return figure


def _loadings(
    source: Any, errors: ArrayLike | None, rotate: bool
) -> tuple[FloatArray, FloatArray, str]:
    """Return the basis drawn, half widths of its intervals, and a line of text."""
    if isinstance(source, (SubspaceEstimate, OptimizationResult, Optimizer)):
        if errors is not None:
            raise InvalidInputError("errors go with an array; an estimate brings its own.")
        estimate = estimate_of(source)
        W = readable(estimate, rotate)
        spread = loading_errors(W, estimate.fold_bases)
        bars = "lines: 90 %; " if np.isfinite(spread).any() else ""
        return W, spread, bars + trust_in_words(estimate)
    W = as_real_array(source, "a basis")
    if W.ndim != 2 or 0 in W.shape or not is_orthonormal(W, 1e-8):
        raise InvalidInputError(
            "a basis must have shape (D, d) and orthonormal columns; received shape "
            f"{W.shape}. Pass it through boring.subspace.stiefel.orthonormalize first."
        )
    if errors is None:
        return readable_basis(W)[0] if rotate else W, np.full(W.shape, np.nan), ""
    spread = np.asarray(errors, dtype=np.float64)
    if spread.shape != W.shape or rotate:
        raise InvalidInputError(
            f"errors must have the shape of the basis, {W.shape}, and need rotate=False; "
            f"received shape {spread.shape}, rotate={rotate}."
        )
    return W, spread, ""


def _loading_bars(panel: Any, weights: FloatArray, spread: FloatArray, theme: canvas.Theme) -> None:
    """Draw bars, the negative ones hatched: signs survive a print in grey."""
    positions = np.arange(len(weights))
    bars = panel.barh(positions, weights, 0.72, color=theme.real)
    for bar, weight in zip(bars, weights, strict=True):
        if weight < 0:
            bar.set(facecolor=theme.model, hatch=HATCH, edgecolor=theme.background, linewidth=0)
    known = np.isfinite(spread)
    if known.any():
        panel.errorbar(
            weights[known],
            positions[known],
            xerr=_within(weights[known], spread[known]),
            fmt="none",
            ecolor=theme.ink,
            elinewidth=1.1,
            capsize=2.0,
        )
    panel.axvline(0.0, color=theme.muted, linewidth=0.8)


def _loading_ticks(panel: Any, reach: float) -> None:
    """Put ticks at round loadings on axes that are shared; in narrow ones, at 0 and one more."""
    furniture.settle(panel)
    if furniture.inches(panel)[0] >= WIDE_PANEL:
        panel.locator_params(axis="x", nbins=4)
        return
    power = 10.0 ** np.floor(np.log10(reach))
    last = max(power * step for step in (1.0, 2.0, 5.0) if power * step <= reach)
    panel.set_xticks([0.0, last], ["0", f"{last:g}"])


def _within(weights: FloatArray, spread: FloatArray) -> FloatArray:
    """Return the lengths of intervals to either side, cut off at -1 and 1."""
    return np.array([np.minimum(spread, weights + 1.0), np.minimum(spread, 1.0 - weights)])
