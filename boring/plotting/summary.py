"""The sufficient summary plot: values over the active coordinates, and a GP over them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from boring.exceptions import InvalidInputError
from boring.optimizer import Optimizer
from boring.result import OptimizationResult
from boring.space import Box
from boring.subspace.estimate import SubspaceEstimate
from boring.subspace.rotation import readable_basis
from boring.typing import BoolArray, Direction, FloatArray

from . import _canvas as canvas
from . import _furniture as furniture
from ._labels import names_of, short_names
from ._sources import (
    Points,
    check_dim,
    checked_direction,
    estimate_of,
    points_of,
    takes_studies,
)
from ._surfaces import (
    LINE_POINTS,
    coordinate_label,
    draw_curve,
    draw_surface,
    fit_over,
    levels_of,
    span_of,
)

if TYPE_CHECKING:
    from boring.study.recorded import RecordedStudy

    from ._canvas import Axes

__all__ = ["plot_sufficient_summary"]


@takes_studies
def plot_sufficient_summary(
    source: OptimizationResult | Optimizer | RecordedStudy | SubspaceEstimate,
    X: ArrayLike | None = None,
    y: ArrayLike | None = None,
    ax: Axes | None = None,
    *,
    space: Box | ArrayLike | None = None,
    coordinates: int | None = None,
    rotate: bool = True,
    names: Sequence[str] | None = None,
    direction: Direction | None = None,
    ylabel: str = "value",
    title: str | None = None,
) -> Axes:
    """Draw the values over the first one or two active coordinates z = W'x, with a GP of them.

    Parameters
    ----------
    source : OptimizationResult, Optimizer or SubspaceEstimate
    X, y : array_like, shapes (n, D) and (n,), optional
        Instead of the source's own points; an estimate needs them. Raw units if there is a
        ``space``, else scaled to [-1, 1]. Values that are not finite are left out.
    ax : matplotlib.axes.Axes, optional
    space : Box or array_like of shape (D, 2), optional
    coordinates : {1, 2}, optional
        Default: 1 if d = 1, else 2.
    rotate : bool, default True
        Whether the coordinates are those of `plot_loadings`, readable and strongest first, or the
        columns of W.
    names : sequence of str, optional
        Of the D parameters, for the labels of the axes.
    direction : {"minimize", "maximize"}, optional
        Which end of the colours stands out as the better one. By default that of the run; an
        estimate has none, and the larger values stand out.
    ylabel : str
        Of the values, with the unit.
    title : str, optional

    Returns
    -------
    matplotlib.axes.Axes
        One coordinate: points, posterior mean and a band of two standard deviations of an
        observation. Two: points and posterior mean by colour, each colour for as many values; the
        surface fades where its standard deviation is large. Crosses are points that break a
        constraint; their values count as any other's.

    Raises
    ------
    InvalidInputError
        If there is no subspace, the points are missing or do not fit it, there are fewer than
        three different values, or the direction is none.

    Notes
    -----
    After the sufficient summary plots of Cook (1998) and Constantine (2015, section 1.3). The GP is
    fitted to the values and coordinates that are drawn, W held; what other directions do is noise
    to it, and widens the band. Its R^2 is by leave-one-out, with W held as well: W has seen the
    points, so for an untrusted W it flatters.
    """
    estimate = estimate_of(source)
    own = isinstance(source, SubspaceEstimate)
    points = points_of(None if own else source, X, y, space).finite()
    dim, rank = estimate.active_basis.shape
    check_dim(points, dim)
    direction = checked_direction(direction) or points.direction
    count = min(rank, 2) if coordinates is None else coordinates
    if count not in (1, 2) or count > rank:
        raise InvalidInputError(
            f"coordinates must be 1 or 2 and at most d = {rank}; received {coordinates!r}."
        )
    labels = short_names(names_of(names, dim))
    rotation = np.eye(rank)
    if rotate:
        rotation = readable_basis(estimate.active_basis, estimate.lengthscales)[1]
    W = estimate.active_basis @ rotation[:, :count]
    slopes = (rotation[:, :count] / estimate.lengthscales[:, None]) ** 2
    Z = points.scaled @ W
    predict, r_squared = fit_over(Z, points.y, 1.0 / np.sqrt(slopes.sum(axis=0)), estimate.profile)
    axes = canvas.axes_or_new(ax)
    theme = canvas.theme_of(axes)
    width, height = furniture.inches(axes)
    width *= 1.0 if count == 1 else 0.75  # the colour bar takes the rest
    bars, above = [], 0.0
    if count == 1:
        _draw_line(axes, Z, points, predict, theme)
        axes.set_ylabel(ylabel)
        above = furniture.legend_above(axes)
    else:
        low_is_best = direction == "minimize"
        bars.append(_draw_plane(axes, Z, points, predict, theme, ylabel, low_is_best))
        if not points.feasible.all():
            above = furniture.legend_above(axes)
        text = coordinate_label("z2", W[:, 1], labels, height)
        axes.set_ylabel(text, fontsize="small")
    axes.set_xlabel(coordinate_label("z1", W[:, 0], labels, width), fontsize="small")
    trust = "" if estimate.trusted else "; subspace not trusted"
    drawn = f"{count} of {rank} active directions" if count < rank else f"d = {rank}"
    furniture.title(axes, title, f"{drawn} of D = {dim}; R² {r_squared:.2f}{trust}", above=above)
    canvas.dress(axes, theme, grid="both" if count == 1 else None)
    furniture.wrap_texts(axes, *(bar.ax for bar in bars))
    for bar in bars:
        furniture.thin_ticks(bar)
    return axes  # type: ignore[no-any-return]


def _draw_line(axes: Any, Z: FloatArray, run: Points, predict: Any, theme: canvas.Theme) -> None:
    t = np.linspace(*span_of(Z), LINE_POINTS)
    mean, sd = predict(t[:, None])
    draw_curve(axes, t, mean, sd, theme, "± 2 sd of a value")
    for rows, marks in _marks_of(run):
        axes.scatter(Z[rows, 0], run.y[rows], s=16, color=theme.real, edgecolors="none", **marks)


def _draw_plane(
    axes: Any,
    Z: FloatArray,
    run: Points,
    predict: Any,
    theme: canvas.Theme,
    ylabel: str,
    low_is_best: bool,
) -> Any:
    """Draw points and surface; return the colour bar."""
    levels = levels_of(run.y)
    ranges = [span_of(Z[:, 0]), span_of(Z[:, 1])]
    drawn = draw_surface(axes, predict, ranges, theme, levels, low_is_best=low_is_best)
    for rows, marks in _marks_of(run):
        axes.scatter(
            *Z[rows, :2].T,
            c=run.y[rows],
            s=22,
            cmap=canvas.value_map(theme, low_is_best=low_is_best),
            norm=canvas.boundary_norm(levels),
            edgecolors=theme.ink,
            linewidths=0.6,
            **marks,
        )
    ticks = levels[::3]
    return furniture.colorbar(axes.figure, drawn, axes, ylabel, theme, pad=0.02, ticks=ticks)


def _marks_of(run: Points) -> list[tuple[BoolArray, dict[str, Any]]]:
    """Return which points are feasible and which are not, each if there are any, and their look."""
    kinds = (run.feasible, "o", "evaluated"), (~run.feasible, "X", "infeasible")
    return [
        (rows, {"marker": marker, "label": label, "zorder": 3})
        for rows, marker, label in kinds
        if rows.any()
    ]
