"""The surrogate against the truth over the active coordinates [thesis Fig. 5.1 to 5.4]."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist

from boring._spread import mean_and_spread, root_mean_square
from boring.exceptions import InvalidInputError
from boring.optimizer import Optimizer
from boring.result import OptimizationResult
from boring.rng import as_generator
from boring.space import Box
from boring.subspace.estimate import SubspaceEstimate
from boring.typing import FloatArray
from boring.validation import as_points, as_positive_int, as_values

from . import _canvas as canvas
from . import _furniture as furniture
from ._labels import brief
from ._sources import check_dim, estimate_of, model_of, points_of, takes_studies
from .subspace import readable

if TYPE_CHECKING:
    from boring.study.recorded import RecordedStudy

    from ._canvas import Figure, SubFigure

__all__ = ["plot_surrogate", "plot_surrogate_values"]

CONTOUR_LEVELS = 12
CLIP_SHARE = 0.9
"""Colours and heights of the surrogate plot end at this quantile of the real values."""

N_UNSEEN = 400
SAME = 1e-9
"""Points that differ by less, in scaled units, are one."""
FEWEST = 4
WIDE = 5.5
"""Narrower figures, in inches, go without the scatter in space."""
MOST_IN_SPACE = 1e4
"""Values from which ticks in space are powers of ten: the name of the axis stands close by."""
STACKED = 1.2
"""Figures of a smaller ratio of width to height have their two views one above the other."""
NARROW = 2.0
"""Maps with less room, in inches, have their names on two lines."""


@takes_studies
def plot_surrogate(
    source: OptimizationResult | Optimizer | RecordedStudy | SubspaceEstimate,
    truth: Callable[[FloatArray], Any] | None = None,
    X: ArrayLike | None = None,
    figure: Figure | None = None,
    *,
    space: Box | ArrayLike | None = None,
    n_points: int = N_UNSEEN,
    rng: np.random.Generator | None = None,
    rotate: bool = True,
    unit: str = "units of y",
    title: str | None = None,
) -> Figure:
    """Draw the surrogate's mean, and the truth beside it, over the learned coordinates Z = X W.

    Parameters
    ----------
    source : OptimizationResult, Optimizer or SubspaceEstimate
        An optimiser brings its surrogate; for a result a model is fitted to its points, for an
        estimate its own predictor is used.
    truth : callable, optional
        The objective: one point (D,) in raw units to a number, of a study one configuration.
        Without it the mean is drawn alone.
    X : array_like, shape (m, D), optional
        Where to compare, best at points the model was not fitted to; raw units if there is a box,
        else scaled. By default points drawn uniformly from the box. The heading says how many
        of the model's own are among them: there the error flatters.
    figure : matplotlib.figure.Figure, optional
    space : Box or array_like of shape (D, 2), optional
        Of an estimate's raw inputs.
    n_points : int, default 400
        Points drawn if there is no ``X``.
    rng : numpy.random.Generator, optional
        Draws them; a fixed one by default.
    rotate : bool, default True
        Whether the coordinates are those of `plot_loadings`, or the columns of W.
    unit : str
        Of the values.
    title : str, optional

    Returns
    -------
    matplotlib.figure.Figure
        See `plot_surrogate_values`.

    Raises
    ------
    InvalidInputError
        If there is no subspace, or shapes disagree.

    Notes
    -----
    An estimate predicts what it was fitted to: that of a run (``result.subspace``) speaks of warped
    values, so pass the result or the optimiser itself.
    """
    canvas.check_figure(figure)
    if not (truth is None or callable(truth)):
        raise InvalidInputError(
            f"truth must be a function of one point, or None; received {type(truth).__name__}. A "
            "figure is passed as figure=."
        )
    estimate = estimate_of(source)
    dim = estimate.active_basis.shape[0]
    box = getattr(source, "space", None) if space is None else Box.from_bounds(space)
    if X is None:
        n = as_positive_int(n_points, "n_points", FEWEST)
        scaled = as_generator(rng or np.random.default_rng(0)).uniform(-1.0, 1.0, (n, dim))
        if isinstance(source, Optimizer):
            scaled = source.domain.snap(scaled)
        raw = scaled if box is None else box.unscale(scaled)
    else:
        raw = as_points(X, dim, "X")
        scaled = raw if box is None else box.scale(raw)
    if isinstance(source, SubspaceEstimate):
        mean = estimate.predictor.predict(scaled)[0]
        known = estimate.predictor.posterior.X
    else:
        run = points_of(source)
        check_dim(run, dim)
        known = run.scaled
        mean = model_of(source, run, estimate).predict(raw)[0]
    real = None
    if truth is not None:
        real = as_values([truth(x) for x in raw], len(raw), "values of truth")
    Z = scaled @ readable(estimate, rotate)
    n_known = int(np.sum(cdist(scaled, known, "chebyshev").min(axis=1) <= SAME))
    return _compared(Z, real, mean, n_known, figure, unit, title)


def plot_surrogate_values(
    Z: ArrayLike,
    true_values: ArrayLike | None,
    predicted_mean: ArrayLike,
    *,
    figure: Figure | None = None,
    unit: str = "units of y",
    title: str | None = None,
) -> Figure:
    """Draw the real values and the model's mean prediction over the learned coordinates Z.

    Parameters
    ----------
    Z : array_like, shape (n, d)
        Learned coordinates X W of points that the model was not trained on.
    true_values : array_like, shape (n,), or None
        Real noiseless values at these points (blue).
    predicted_mean : array_like, shape (n,)
        The model's mean prediction there (orange).
    figure : matplotlib.figure.Figure, optional
        Where to draw; a new one by default.
    unit : str
        Of the values.
    title : str, optional

    Returns
    -------
    matplotlib.figure.Figure
        For d = 1 a scatter of both over z. For d = 2 a scatter over (z1, z2) in three dimensions,
        then contours of the real values and of the mean on one scale. For d > 2 the scatter is over
        the first two principal components of Z, and predicted against real values stand beside it.
        A figure narrower than 5.5 inches goes without the scatter in space where there are two
        views.

    Raises
    ------
    InvalidInputError
        If the shapes disagree or there are fewer than four points.

    Notes
    -----
    After Figures 5.1 to 5.4 of the thesis, which use unseen points, blue for real values, orange
    for predictions, and a projection by principal components where d > 2.
    """
    canvas.check_figure(figure)
    return _compared(Z, true_values, predicted_mean, 0, figure, unit, title)


def _compared(
    Z: ArrayLike,
    true_values: ArrayLike | None,
    predicted_mean: ArrayLike,
    n_known: int,
    figure: Figure | None,
    unit: str,
    title: str | None,
) -> Figure:
    """Draw the values at points of which the model was trained on so many."""
    points = np.asarray(Z, dtype=np.float64)
    mean = np.asarray(predicted_mean, dtype=np.float64)
    real = None if true_values is None else np.asarray(true_values, dtype=np.float64)
    shapes = [points.shape, mean.shape if real is None else real.shape, mean.shape]
    if points.ndim != 2 or 0 in points.shape or set(shapes[1:]) != {(len(points),)}:
        raise InvalidInputError(
            "a surrogate plot needs Z of shape (n, d) and two arrays of shape (n,); "
            f"received {shapes[0]}, {shapes[1]} and {shapes[2]}."
        )
    if len(points) < FEWEST:
        raise InvalidInputError(f"a surrogate plot needs four points or more; got {len(points)}.")
    heading = [title or ("Surrogate" if real is None else "Surrogate against truth")]
    if real is not None:
        deviation = root_mean_square(mean - real) / max(mean_and_spread(real)[1], 1e-300)
        origin = f", {n_known} of them seen in training,"
        if n_known in (0, len(points)):
            origin = " seen in training," if n_known else " unseen in training,"
        heading.append(
            f"{len(points)} points{origin} RMSE {float(deviation):.2g} of the standard deviation"
        )
    if points.shape[1] == 1:
        figure = figure or canvas.new_figure()
        _over_a_line(figure, points, real, mean, unit)
    else:
        plane = points.shape[1] == 2
        figure = figure or canvas.new_figure(12.0 if plane else 9.0, 4.4)
        _over_a_plane(figure, points, real, mean, unit)
    furniture.headline(figure, heading, canvas.theme_of(figure))
    return figure


def _over_a_line(
    figure: Any, points: FloatArray, real: FloatArray | None, mean: FloatArray, unit: str
) -> None:
    axes = canvas.new_axes(figure)
    _scatter_pair(axes, (points[:, 0],), real, mean)
    axes.set_xlabel("z1 (scaled units)")
    axes.set_ylabel(f"value ({unit})")
    furniture.legend_above(axes)
    canvas.dress(axes, canvas.theme_of(axes))
    furniture.wrap_texts(axes)


def _over_a_plane(
    figure: Any, points: FloatArray, real: FloatArray | None, mean: FloatArray, unit: str
) -> None:
    """Draw the points in space at the left, contours or a comparison of values at the right."""
    plane = points.shape[1] == 2
    width, height = furniture.figure_inches(figure)
    ratios = (1.0, 1.7 if real is not None else 1.0) if plane else (1.0, 1.0)
    if not plane and real is None:
        _scatter_in_space(figure, points, real, mean, unit)
        return
    if width < WIDE:
        if plane:
            _contours(figure, points, real, mean, unit)
        elif real is not None:
            _parity(figure, real, mean, unit)
        return
    if width < STACKED * height:
        first, second = figure.subfigures(2, 1, height_ratios=(1.25, 1.0), squeeze=False)[:, 0]
    else:
        first, second = figure.subfigures(1, 2, width_ratios=ratios, squeeze=False)[0]
    for part in (first, second):
        part.set_facecolor(figure.get_facecolor())
    _scatter_in_space(first, points, real, mean, unit)
    if plane:
        _contours(second, points, real, mean, unit)
    elif real is not None:
        _parity(second, real, mean, unit)


def _plane(Z: FloatArray) -> tuple[FloatArray, str, str]:
    """Return two coordinates of each point to draw over, and the names of the axes."""
    if Z.shape[1] == 2:
        return Z, "z1", "z2"
    centred = Z - Z.mean(axis=0)
    _, _, directions = np.linalg.svd(centred, full_matrices=False)
    return centred @ directions[:2].T, "1st component", "2nd component"


def _scatter_pair(
    axes: Any, coordinates: tuple[FloatArray, ...], real: FloatArray | None, mean: FloatArray
) -> None:
    theme = canvas.theme_of(axes)
    if real is not None:
        axes.scatter(*coordinates, real, s=14, color=theme.real, marker="o", label="real value")
    axes.scatter(*coordinates, mean, s=16, color=theme.model, marker="^", label="mean prediction")


def _scatter_in_space(
    figure: SubFigure, points: FloatArray, real: FloatArray | None, mean: FloatArray, unit: str
) -> None:
    plane, first, second = _plane(points)
    axes = canvas.new_axes(figure, projection="3d")
    theme = canvas.theme_of(axes)
    zoom = 0.82 if furniture.figure_inches(figure)[0] > 3.6 else 0.7
    axes.set_box_aspect((1.0, 1.0, 0.85), zoom=zoom)  # leaves room for the labels
    _scatter_pair(axes, (plane[:, 0], plane[:, 1]), real, mean)
    axes.set_xlabel(first)
    axes.set_ylabel(second)
    axes.set_zlabel(f"value ({unit})", color=theme.ink)
    for name, axis in (("x", axes.xaxis), ("y", axes.yaxis), ("z", axes.zaxis)):
        axes.locator_params(axis=name, nbins=4)
        axes.tick_params(axis=name, colors=theme.ink, labelsize="small")
        axis.set_pane_color(canvas.to_rgba(theme.background))
        axis.line.set_color(theme.muted)
        axis._axinfo["grid"].update(color=theme.grid, linewidth=0.6)
    axes.zaxis.set_major_formatter(
        lambda value, _: brief(value, MOST_IN_SPACE, spread=float(np.ptp(axes.get_zlim())))
    )
    axes.view_init(elev=25, azim=-60)
    axes.legend(fontsize="small", loc="upper left", bbox_to_anchor=(0.0, 1.05))
    canvas.dress_text(axes, theme)


def _contours(
    figure: SubFigure, points: FloatArray, real: FloatArray | None, mean: FloatArray, unit: str
) -> None:
    from ._canvas import max_n_locator

    drawn = (
        [(mean, "mean prediction")]
        if real is None
        else [
            (real, "real value"),
            (mean, "mean prediction"),
        ]
    )
    first = drawn[0][0]
    low = float(min(values.min() for values, _ in drawn))
    high = float(np.quantile(first, CLIP_SHARE))
    levels = max_n_locator(CONTOUR_LEVELS).tick_values(low, high)
    panels = canvas.grid_of(figure, len(drawn), len(drawn), sharex=True, sharey=True)
    theme = canvas.theme_of(panels[0])
    triangles = canvas.triangulation(points)
    is_narrow = furniture.figure_inches(figure)[0] < NARROW * len(drawn)
    for panel, (values, name) in zip(panels, drawn, strict=True):
        filled = panel.tricontourf(triangles, values, levels=levels, cmap=theme.cmap, extend="both")
        panel.plot(points[:, 0], points[:, 1], ".", color="white", markersize=1.2, alpha=0.4)
        panel.set_xlabel("z1 (scaled units)")
        panel.set_title(name.replace(" ", "\n") if is_narrow else name, fontsize="medium")
        panel.set_aspect("equal")
    panels[0].set_ylabel("z2 (scaled units)")
    for panel in panels:
        panel.locator_params(nbins=4)
        canvas.dress(panel, theme, grid=None)
    bar = furniture.colorbar(
        figure, filled, panels, f"value ({unit})", theme, shrink=0.85, ticks=levels[::2]
    )
    furniture.wrap_texts(*panels, bar.ax)


def _parity(figure: SubFigure, real: FloatArray, mean: FloatArray, unit: str) -> None:
    axes = canvas.new_axes(figure)
    theme = canvas.theme_of(axes)
    axes.scatter(real, mean, s=16, color=theme.model, marker="^")
    ends = [float(min(real.min(), mean.min())), float(max(real.max(), mean.max()))]
    axes.plot(ends, ends, color=theme.real, linewidth=1.2, label="exact")
    axes.set_xlabel(f"real value ({unit})")
    axes.set_ylabel(f"mean prediction ({unit})")
    furniture.legend(axes)
    canvas.dress(axes, theme)
    furniture.wrap_texts(axes)
