"""Pictures of how many directions are active: singular values, evidence over d."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from boring.exceptions import InvalidInputError
from boring.subspace.gradient_samples import ActiveSubspace
from boring.validation import as_positive_int

from . import _canvas as canvas
from . import _furniture as furniture
from ._sources import estimate_of, takes_studies
from .subspace import Source, trust_in_words

if TYPE_CHECKING:
    from ._canvas import Axes

__all__ = ["plot_dimension", "plot_spectrum"]


@takes_studies
def plot_spectrum(
    source: Source | ActiveSubspace,
    ax: Axes | None = None,
    *,
    most: int = 15,
    title: str | None = None,
) -> Axes:
    """Draw the singular values of the learned metric, or eigenvalues with their bands.

    Parameters
    ----------
    source : SubspaceEstimate, OptimizationResult, Optimizer or ActiveSubspace
        For a `boring.subspace.gradient_samples.ActiveSubspace` the eigenvalues of the average
        gradient outer product, with their bootstrap bands.
    ax : matplotlib.axes.Axes, optional
    most : int, default 15
        Values drawn.
    title : str, optional

    Returns
    -------
    matplotlib.axes.Axes
        Filled markers are the d values of the subspace, hollow ones the others; logarithmic.

    Raises
    ------
    InvalidInputError
        If there is no subspace.

    Notes
    -----
    A gap after the d-th value is what shows an active subspace (Constantine 2015, chapter 3).
    """
    most = as_positive_int(most, "most")
    if isinstance(source, ActiveSubspace):
        values, band, rank = source.eigenvalues, source.eigenvalue_band, source.effective_dim
        ylabel, detail = "eigenvalue", "band: bootstrap"
    else:
        estimate = estimate_of(source)
        values, band, rank = estimate.singular_values, None, estimate.effective_dim
        ylabel, detail = "singular value (1 / lengthscale)", trust_in_words(estimate)
    values = np.asarray(values)[:most]
    axes = canvas.axes_or_new(ax)
    theme = canvas.theme_of(axes)
    floor = max(float(values.max()), 1e-300) * 1e-8
    index = np.arange(1, len(values) + 1)
    drawn = np.maximum(values, floor)
    if band is not None:
        low, high = np.maximum(band[:most].T, floor)
        axes.fill_between(index, low, high, color=theme.real, alpha=0.2, linewidth=0, label="band")
    axes.plot(index, drawn, "-", color=theme.muted, linewidth=1.0)
    axes.plot(index[:rank], drawn[:rank], "o", color=theme.real, markersize=7, label=f"d = {rank}")
    axes.plot(
        index[rank:],
        drawn[rank:],
        "o",
        markerfacecolor=theme.background,
        markeredgecolor=theme.real,
        markersize=6,
    )
    if rank < len(values):
        axes.axvline(rank + 0.5, color=theme.muted, linewidth=1.0, linestyle=":")
    axes.set_yscale("log")
    axes.set_xlim(0.6, len(values) + 0.4)
    canvas.whole_ticks(axes)
    axes.set_xlabel("direction")
    axes.set_ylabel(ylabel)
    furniture.legend(axes)
    furniture.title(axes, title or "Spectrum", detail)
    canvas.dress(axes, theme, grid="y")
    furniture.wrap_texts(axes)
    return axes  # type: ignore[no-any-return]


@takes_studies
def plot_dimension(source: Source, ax: Axes | None = None, *, title: str | None = None) -> Axes:
    """Draw the BIC over the number of active directions.

    Parameters
    ----------
    source : SubspaceEstimate, OptimizationResult or Optimizer
    ax : matplotlib.axes.Axes, optional
    title : str, optional

    Returns
    -------
    matplotlib.axes.Axes
        Nats above the best candidate, one curve for subspaces of any orientation and one for those
        on coordinate axes; the chosen d is marked.

    Raises
    ------
    InvalidInputError
        If there is no subspace, or it holds no table.
    """
    estimate = estimate_of(source)
    table = estimate.dimension_table
    if not table:
        raise InvalidInputError(
            "the estimate holds no BIC table; estimate it with effective_dim=None."
        )
    axes = canvas.axes_or_new(ax)
    theme = canvas.theme_of(axes)
    best = min(row.bic for row in table)
    for position, (aligned, label) in enumerate(((False, "rotated"), (True, "on axes"))):
        rows = sorted((r.effective_dim, r.bic - best) for r in table if r.axis_aligned is aligned)
        if rows:
            d, bic = np.array(rows).T
            axes.plot(d, bic, linewidth=1.6, markersize=6, label=label, **theme.style(position))
    axes.axvline(
        estimate.effective_dim,
        color=theme.muted,
        linestyle=":",
        linewidth=1.2,
        label=f"d = {estimate.effective_dim}",
    )
    axes.margins(x=0.08)
    canvas.whole_ticks(axes)
    axes.set_ylim(bottom=min(-0.04 * axes.get_ylim()[1], -0.5))
    axes.set_xlabel("number of active directions d")
    axes.set_ylabel("BIC above the lowest (nats)")
    furniture.legend(axes)
    furniture.title(axes, title or "Evidence for each dimension", trust_in_words(estimate))
    canvas.dress(axes, theme)
    furniture.wrap_texts(axes)
    return axes  # type: ignore[no-any-return]
