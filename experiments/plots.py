"""Pictures of results. Every function takes arrays or curves and returns what it drew on.

Nothing here shows a window or changes global settings of matplotlib. Methods differ in colour,
line style and marker, so that the pictures survive colour blindness and a black-and-white print.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from boring.exceptions import InvalidInputError
from boring.plotting import LINE_STYLES, MARKERS, PALETTE, new_figure, save
from boring.plotting import plot_surrogate_values as plot_surrogate
from boring.plotting.runs import REGRET_FLOOR, draw_bands
from boring.subspace.stiefel import principal_angles

from .curves import BestSoFarCurves
from .metrics import procrustes_align

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "LINE_STYLES",
    "MARKERS",
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

TRUE_COLOUR = "#0072B2"
LEARNED_COLOUR = "#E69F00"
"""Blue is the real value and orange the model's, as in Fig. 5.3 of the thesis."""

MOST_BARS = 40
"""With more parameters than this, loadings are drawn for those that matter most."""


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
        bands = [np.where(np.isfinite(band), band, np.nan) for band in curve.summary()]
        if log:
            bands = [np.maximum(band, REGRET_FLOOR) for band in bands]
        lower, median, upper = bands
        style = style_of(label, position)
        name = f"{label} ({curve.n_failed} of {curve.n_runs} failed)" if curve.n_failed else label
        place = (position, len(curves))
        draw_bands(axes, (lower, median, upper), style, name, longest, place)
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
