"""Pictures of results. Every function takes arrays or curves and returns what it drew on.

Nothing here shows a window or changes global settings of matplotlib. Methods differ in colour,
line style and marker, so that the pictures survive colour blindness and a black-and-white print;
inks suit the background of the figure, light or dark.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from boring.exceptions import InvalidInputError
from boring.plotting import PALETTE, new_figure, save
from boring.plotting import _canvas as canvas
from boring.plotting import _furniture as furniture
from boring.plotting import plot_surrogate_values as plot_surrogate
from boring.plotting._canvas import LIGHT, Theme
from boring.plotting._labels import short_names
from boring.plotting.runs import REGRET_FLOOR, draw_bands
from boring.subspace.stiefel import principal_angles

from .curves import BestSoFarCurves
from .metrics import procrustes_align

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "PALETTE",
    "REGRET_FLOOR",
    "new_figure",
    "plot_convergence",
    "plot_subspace",
    "plot_surrogate",
    "save",
    "style_of",
]

FIXED_STYLES = {
    name: position
    for position, name in enumerate(("boring", "boring-thesis", "rembo", "gp", "sobol", "random"))
}
"""A method keeps its look from picture to picture."""

LETTERS_UPRIGHT = 60
"""Names of more letters in all stand on end."""

TICK_LETTER = 0.07
"""Inches of a letter at a tick."""

MOST_BARS = 40
"""With more parameters than this, loadings are drawn for those that matter most."""


def style_of(label: str, position: int, theme: Theme = LIGHT) -> dict[str, Any]:
    """Return colour, line style and marker of a method.

    Parameters
    ----------
    label : str
        A known method keeps its own look.
    position : int
        Decides for any other.
    theme : Theme
        Colours of the background.
    """
    return theme.style(FIXED_STYLES.get(label, position + len(FIXED_STYLES)))


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
    axes = canvas.axes_or_new(ax)
    theme = canvas.theme_of(axes)
    others = [label for label in curves if label not in FIXED_STYLES]
    longest = max(curve.n_evaluations for curve in curves.values())
    for position, (label, curve) in enumerate(curves.items()):
        bands = [np.where(np.isfinite(band), band, np.nan) for band in curve.summary()]
        if log:
            bands = [np.maximum(band, REGRET_FLOOR) for band in bands]
        lower, median, upper = bands
        style = style_of(label, others.index(label) if label in others else 0, theme)
        name = f"{label} ({curve.n_failed} of {curve.n_runs} failed)" if curve.n_failed else label
        place = (position, len(curves))
        draw_bands(axes, (lower, median, upper), style, name, longest, place)
    if log:
        axes.set_yscale("log")
    axes.set_xlim(1, longest)
    if n_initial:
        axes.axvspan(
            1, n_initial, color=theme.grid, alpha=0.5, lw=0, zorder=0, label="initial design"
        )
    axes.set_xlabel("number of evaluations")
    axes.set_ylabel(ylabel)
    runs = sorted({curve.n_runs for curve in curves.values()})
    seeds = f"{runs[0]}" if len(runs) == 1 else f"{runs[0]} to {runs[-1]}"
    axes.set_title(
        f"{title or 'Best so far'}\nmedian and quartiles over {seeds} seeds", fontsize="medium"
    )
    furniture.legend(axes)
    canvas.dress(axes, theme)
    furniture.wrap_texts(axes)
    return axes  # type: ignore[no-any-return]


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
    ticks = short_names([labels[index] for index in shown])
    is_crowded = sum(len(tick) + 2 for tick in ticks) > LETTERS_UPRIGHT
    if figure is None:
        below = TICK_LETTER * max(map(len, ticks)) if is_crowded else 0.0
        figure = new_figure(max(5.5, 0.32 * len(shown) + 2.0), 1.3 + 1.7 * columns + below)
    axes = canvas.grid_of(figure, columns, 1, sharex=True)
    theme = canvas.theme_of(axes[0])
    positions = np.arange(len(shown))
    for column, panel in enumerate(axes):
        panel.bar(positions - 0.2, T[shown, column], 0.4, color=theme.real, label="true")
        panel.bar(
            positions + 0.2,
            aligned[shown, column],
            0.4,
            facecolor=theme.model,
            edgecolor=theme.background,
            linewidth=0,
            hatch="////",
            label="learned",
        )
        panel.axhline(0.0, color=theme.muted, linewidth=0.8)
        panel.set_ylabel(f"weight in\ndirection {column + 1}")
        canvas.dress(panel, theme, grid="y")
        panel.tick_params(labelbottom=column == columns - 1)
    axes[-1].set_xticks(positions, ticks, rotation=90 if is_crowded else 0)
    axes[-1].set_xlabel("parameter (scaled to [-1, 1])")
    angles = ", ".join(f"{angle:.1f}°" for angle in np.degrees(principal_angles(W, T)))
    axes[-1].set_xlim(-0.8, len(shown) - 0.2)
    figure.align_ylabels(axes)
    heading = title or "Learned against true subspace"
    furniture.headline(figure, (heading, f"principal angles {angles}"), theme)
    furniture.legend_above(axes[0])
    canvas.dress_text(axes[0], theme)
    return figure
