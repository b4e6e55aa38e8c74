"""Pictures of results. Every function takes arrays or curves and returns what it drew on.

Nothing here shows a window or changes global settings of matplotlib. Methods differ in colour,
line style and marker, so that the pictures survive colour blindness and a black-and-white print.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from boring.exceptions import InvalidInputError
from boring.subspace.stiefel import principal_angles
from boring.typing import FloatArray

from .curves import BestSoFarCurves
from .metrics import procrustes_align

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

__all__ = [
    "PALETTE",
    "new_figure",
    "plot_convergence",
    "plot_subspace",
    "plot_surrogate",
    "save",
    "style_of",
]

PALETTE = (
    "#0072B2",  # blue
    "#D55E00",  # vermilion
    "#009E73",  # bluish green
    "#CC79A7",  # reddish purple
    "#E69F00",  # orange
    "#56B4E9",  # sky blue
    "#000000",  # black
)
"""Okabe and Ito's colours, told apart under every common colour blindness."""

LINE_STYLES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (3, 4)), (0, (1, 3)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X")

FIXED_STYLES = {
    name: position
    for position, name in enumerate(("boring", "boring-thesis", "rembo", "gp", "sobol", "random"))
}
"""A method keeps its look from picture to picture."""

TRUE_COLOUR = "#0072B2"
LEARNED_COLOUR = "#E69F00"
"""Blue is the real value and orange the model's, as in Fig. 5.3 of the thesis."""

REGRET_FLOOR = 1e-9
"""Smaller regrets are drawn here: the axis is logarithmic."""

MOST_BARS = 40
"""With more parameters than this, loadings are drawn for those that matter most."""

CONTOUR_LEVELS = 12
CLIP_SHARE = 0.9
"""Colours and heights of the surrogate plot end at this quantile of the real values."""

DPI = 150


def new_figure(width: float = 6.4, height: float = 4.2) -> Figure:
    """Return an empty figure that belongs to no window, size in inches."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def save(figure: Figure, path: str | os.PathLike[str], dpi: int = DPI) -> Path:
    """Write a figure, making its folder first, and return the path."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=dpi)
    return path


def style_of(label: str, position: int) -> dict[str, Any]:
    """Return colour, line style and marker of a method.

    Parameters
    ----------
    label : str
        A known method keeps its own look.
    position : int
        Decides for any other.
    """
    index = FIXED_STYLES.get(label, position + len(FIXED_STYLES)) % len(PALETTE)
    return {"color": PALETTE[index], "linestyle": LINE_STYLES[index], "marker": MARKERS[index]}


def plot_convergence(
    curves: Mapping[str, BestSoFarCurves],
    ax: Axes | None = None,
    *,
    n_initial: int | None = None,
    ylabel: str = "simple regret (units of the objective)",
    log: bool = True,
    title: str | None = None,
) -> Axes:
    """Draw the median of each method over the evaluations, with a band between the quartiles.

    Parameters
    ----------
    curves : mapping of str to BestSoFarCurves
        By method.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    n_initial : int, optional
        Ends the shaded initial design.
    ylabel : str
        With the unit.
    log : bool, default True
        Logarithmic axis, for regrets; values below 1e-9 are drawn at 1e-9.
    title : str, optional

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InvalidInputError
        If there are no curves.
    """
    if not curves:
        raise InvalidInputError("a convergence plot needs the curves of at least one method.")
    axes = new_figure().add_subplot() if ax is None else ax
    longest = max(curve.n_evaluations for curve in curves.values())
    for position, (label, curve) in enumerate(curves.items()):
        evaluations = np.arange(1, curve.n_evaluations + 1)
        bands = [np.where(np.isfinite(band), band, np.nan) for band in curve.summary()]
        if log:
            bands = [np.maximum(band, REGRET_FLOOR) for band in bands]
        lower, median, upper = bands
        style = style_of(label, position)
        name = f"{label} ({curve.n_failed} of {curve.n_runs} failed)" if curve.n_failed else label
        step = max(1, longest // 8)
        axes.plot(
            evaluations,
            median,
            label=name,
            linewidth=1.8,
            markersize=4.5,
            drawstyle="steps-post",
            markevery=(position * step // max(len(curves), 1), step),
            **style,
        )
        axes.fill_between(
            evaluations, lower, upper, step="post", color=style["color"], alpha=0.15, linewidth=0
        )
    if log:
        axes.set_yscale("log")
    axes.set_xlim(1, longest)
    if n_initial:
        axes.axvspan(1, n_initial, color="0.92", zorder=0, label="initial design")
    axes.set_xlabel("number of evaluations")
    axes.set_ylabel(ylabel)
    runs = sorted({curve.n_runs for curve in curves.values()})
    seeds = f"{runs[0]}" if len(runs) == 1 else f"{runs[0]} to {runs[-1]}"
    axes.set_title(
        f"{title or 'Best so far'}\nmedian and quartiles over {seeds} seeds", fontsize="medium"
    )
    axes.grid(True, which="major", linewidth=0.4, alpha=0.6)
    axes.legend(fontsize="small", framealpha=0.9)
    return axes


def plot_subspace(
    learned: ArrayLike,
    truth: ArrayLike,
    *,
    names: Sequence[str] | None = None,
    figure: Figure | None = None,
    title: str | None = None,
) -> Figure:
    """Draw the loadings of the learned subspace beside those of the true one.

    Parameters
    ----------
    learned : array_like, shape (D, d)
        Learned active basis; rotated within its span to lie nearest to the truth, which is the
        only fair way to compare entries.
    truth : array_like, shape (D, d')
        True active basis.
    names : sequence of str, optional
        Of the D parameters; x0, x1, ... by default.
    figure : matplotlib.figure.Figure, optional
        Where to draw; a new one by default.
    title : str, optional

    Returns
    -------
    matplotlib.figure.Figure
        One panel of bars for each true direction; principal angles in the title. Beyond 40
        parameters only those with the largest loadings are drawn.

    Raises
    ------
    InvalidInputError
        If the shapes disagree.
    """
    aligned = procrustes_align(learned, truth)
    W, T = np.asarray(learned, dtype=np.float64), np.asarray(truth, dtype=np.float64)
    dim, columns = T.shape
    labels = [f"x{index}" for index in range(dim)] if names is None else list(names)
    if len(labels) != dim:
        raise InvalidInputError(f"names must hold {dim} entries; received {len(labels)}.")
    shown = np.arange(dim)
    if dim > MOST_BARS:
        weight = np.maximum(np.abs(aligned), np.abs(T)).max(axis=1)
        shown = np.sort(np.argsort(-weight)[:MOST_BARS])
    if figure is None:
        figure = new_figure(max(5.5, 0.32 * len(shown) + 2.0), 1.1 + 1.7 * columns)
    axes = list(figure.subplots(columns, 1, sharex=True, squeeze=False)[:, 0])
    positions = np.arange(len(shown))
    for column, panel in enumerate(axes):
        panel.bar(positions - 0.2, T[shown, column], 0.4, color=TRUE_COLOUR, label="true")
        panel.bar(
            positions + 0.2,
            aligned[shown, column],
            0.4,
            color=LEARNED_COLOUR,
            edgecolor="black",
            linewidth=0.4,
            hatch="///",
            label="learned",
        )
        panel.axhline(0.0, color="black", linewidth=0.6)
        panel.set_ylabel(f"weight in\ndirection {column + 1}")
        panel.grid(True, axis="y", linewidth=0.4, alpha=0.6)
        panel.set_axisbelow(True)
    crowded = len(shown) > 15
    axes[-1].set_xticks(
        positions, [labels[index] for index in shown], rotation=90 if crowded else 0
    )
    axes[-1].set_xlabel("parameter (scaled to [-1, 1])")
    angles = ", ".join(f"{angle:.1f}°" for angle in np.degrees(principal_angles(W, T)))
    axes[-1].set_xlim(-0.8, len(shown) - 0.2)
    figure.align_ylabels(axes)
    figure.suptitle(
        f"{title or 'Learned against true subspace'}\nprincipal angles {angles}", fontsize="medium"
    )
    axes[0].legend(fontsize="small", ncols=2, loc="best", framealpha=0.9)
    return figure


def _plane(Z: FloatArray) -> tuple[FloatArray, str, str]:
    """Return two coordinates of each point to draw over, and the names of the axes."""
    if Z.shape[1] == 2:
        return Z, "z1", "z2"
    centred = Z - Z.mean(axis=0)
    _, _, directions = np.linalg.svd(centred, full_matrices=False)
    return centred @ directions[:2].T, "1st component", "2nd component"


def plot_surrogate(
    Z: ArrayLike,
    true_values: ArrayLike,
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
    true_values : array_like, shape (n,)
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

    Raises
    ------
    InvalidInputError
        If the shapes disagree or there are fewer than four points.

    Notes
    -----
    After Figures 5.1 to 5.4 of the thesis, which use unseen points, blue for real values, orange
    for predictions, and a projection by principal components where d > 2.
    """
    points = np.asarray(Z, dtype=np.float64)
    real = np.asarray(true_values, dtype=np.float64)
    mean = np.asarray(predicted_mean, dtype=np.float64)
    if points.ndim != 2 or real.shape != (len(points),) or mean.shape != real.shape:
        raise InvalidInputError(
            "a surrogate plot needs Z of shape (n, d) and two arrays of shape (n,); "
            f"received {points.shape}, {real.shape} and {mean.shape}."
        )
    if len(points) < 4:
        raise InvalidInputError(f"a surrogate plot needs four points or more; got {len(points)}.")
    deviation = float(np.sqrt(np.mean((mean - real) ** 2)) / max(float(np.std(real)), 1e-300))
    heading = (
        f"{title or 'Surrogate against truth'}\n{len(points)} points unseen in training, "
        f"RMSE {deviation:.2g} of the standard deviation"
    )
    if points.shape[1] == 1:
        figure = figure or new_figure()
        axes = figure.add_subplot()
        _scatter_pair(axes, (points[:, 0],), real, mean)
        axes.set_xlabel("z1 (learned, scaled units)")
        axes.set_ylabel(f"value ({unit})")
        axes.grid(True, linewidth=0.4, alpha=0.6)
        axes.legend(fontsize="small")
    else:
        figure = figure or new_figure(12.0 if points.shape[1] == 2 else 9.0, 4.4)
        ratios = (1.0, 1.7) if points.shape[1] == 2 else (1.0, 1.0)
        left, right = figure.subfigures(1, 2, width_ratios=ratios, squeeze=False)[0]
        _scatter_in_space(left, points, real, mean, unit)
        (_contours if points.shape[1] == 2 else _parity)(right, points, real, mean, unit)
    figure.suptitle(heading, fontsize="medium")
    return figure


def _scatter_pair(
    axes: Any, coordinates: tuple[FloatArray, ...], real: FloatArray, mean: FloatArray
) -> None:
    axes.scatter(*coordinates, real, s=14, color=TRUE_COLOUR, marker="o", label="real value")
    axes.scatter(
        *coordinates, mean, s=16, color=LEARNED_COLOUR, marker="^", label="mean prediction"
    )


def _scatter_in_space(
    figure: SubFigure, points: FloatArray, real: FloatArray, mean: FloatArray, unit: str
) -> None:
    plane, first, second = _plane(points)
    axes: Any = figure.add_subplot(projection="3d")
    axes.set_box_aspect((1.0, 1.0, 0.85), zoom=0.82)  # leaves room for the vertical axis's label
    _scatter_pair(axes, (plane[:, 0], plane[:, 1]), real, mean)
    axes.set_xlabel(first)
    axes.set_ylabel(second)
    axes.set_zlabel(f"value ({unit})")
    for axis in ("x", "y", "z"):
        axes.locator_params(axis=axis, nbins=4)
    axes.tick_params(labelsize="small")
    axes.view_init(elev=25, azim=-60)
    axes.legend(fontsize="small", loc="upper left", bbox_to_anchor=(0.0, 1.05))


def _contours(
    figure: SubFigure, points: FloatArray, real: FloatArray, mean: FloatArray, unit: str
) -> None:
    from matplotlib.ticker import MaxNLocator

    low = float(min(real.min(), mean.min()))
    high = max(float(np.quantile(real, CLIP_SHARE)), low + 1e-9 * (1.0 + abs(low)))
    levels = MaxNLocator(CONTOUR_LEVELS).tick_values(low, high)
    panels = figure.subplots(1, 2, sharex=True, sharey=True)
    names = ("real value", "mean prediction")
    for panel, values, name in zip(panels, (real, mean), names, strict=True):
        filled = panel.tricontourf(
            points[:, 0], points[:, 1], values, levels=levels, cmap="cividis", extend="both"
        )
        panel.plot(points[:, 0], points[:, 1], ".", color="white", markersize=1.5, alpha=0.6)
        panel.set_xlabel("z1 (learned, scaled units)")
        panel.set_title(name, fontsize="medium")
        panel.set_aspect("equal")
    panels[0].set_ylabel("z2 (learned, scaled units)")
    label = f"value ({unit})"
    figure.colorbar(filled, ax=list(panels), label=label, shrink=0.85, ticks=levels[::2])


def _parity(
    figure: SubFigure, points: FloatArray, real: FloatArray, mean: FloatArray, unit: str
) -> None:
    del points
    axes = figure.add_subplot()
    axes.scatter(real, mean, s=16, color=LEARNED_COLOUR, marker="^")
    ends = [float(min(real.min(), mean.min())), float(max(real.max(), mean.max()))]
    axes.plot(ends, ends, color=TRUE_COLOUR, linewidth=1.2, label="exact")
    axes.set_xlabel(f"real value ({unit})")
    axes.set_ylabel(f"mean prediction ({unit})")
    axes.grid(True, linewidth=0.4, alpha=0.6)
    axes.legend(fontsize="small")
