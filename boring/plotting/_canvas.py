"""Figures, colours and axes: all that touches matplotlib itself, loaded on first use.

Nothing here knows pyplot, so no window opens and no figure has to be closed; matplotlib's settings
are read and never written. Colours follow the background of the axes, light or dark.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from boring._whole_file import check_is_no_journal
from boring.exceptions import InvalidInputError
from boring.extras import require
from boring.typing import FloatArray

from ._theme import DARK, LIGHT, Background, Theme, theme_on

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
    from matplotlib.figure import Figure as Figure
    from matplotlib.figure import SubFigure as SubFigure

__all__ = [
    "DARK",
    "LIGHT",
    "Background",
    "Theme",
    "dress",
    "new_axes",
    "new_figure",
    "save",
    "theme_of",
]

DPI = 150
SMALL = "small"


def matplotlib() -> Any:
    """Return matplotlib, loaded on first use.

    Raises
    ------
    MissingExtraError
        If it is not installed.
    """
    return require("matplotlib", "plot", "Drawing")


def new_figure(
    width: float = 6.4, height: float = 4.2, *, background: Background | None = None
) -> Figure:
    """Return an empty figure that belongs to no window.

    Parameters
    ----------
    width, height : float
        Inches.
    background : {"light", "dark"}, optional
        Colour of the page; None takes matplotlib's setting.

    Returns
    -------
    matplotlib.figure.Figure
    """
    matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    if background not in (None, "light", "dark"):
        raise InvalidInputError(
            f'background must be "light", "dark" or None; received {background!r}.'
        )
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    if background is not None:
        figure.set_facecolor((LIGHT if background == "light" else DARK).background)
    return figure


def save(picture: Figure | SubFigure | Axes, path: str | os.PathLike[str], dpi: int = DPI) -> Path:
    """Write a figure, or that of axes, making its folder first, and return the path.

    Raises
    ------
    InvalidInputError
        If it is neither, or the name does not end in a format that matplotlib writes.
    JournalError
        If the file is a journal.
    """
    figure: Any = picture if hasattr(picture, "savefig") else _figure_of(picture)
    if figure is None:
        raise InvalidInputError(
            f"A figure or axes are needed; received {type(picture).__name__}. Pass what a "
            "function of boring.plotting returned."
        )
    path = Path(path)
    kinds = figure.canvas.get_supported_filetypes()
    if path.suffix[1:].lower() not in kinds:
        raise InvalidInputError(
            f"The name of a picture must end in one of .{', .'.join(sorted(kinds))}; received "
            f"{str(path)!r}."
        )
    check_is_no_journal(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=dpi, facecolor=figure.get_facecolor())
    return path


def _figure_of(picture: Any) -> Any:
    """Return the whole figure of axes or of a part of a figure; None of anything else."""
    return getattr(getattr(picture, "figure", None), "figure", None)


def new_axes(figure: Any, *position: Any, **options: Any) -> Any:
    """Return axes on a figure, of the figure's own colour."""
    axes = figure.add_subplot(*position, **options)
    axes.set_facecolor(_page(figure))
    return axes


def axes_or_new(ax: Axes | None, width: float = 6.4, height: float = 4.2) -> Any:
    """Return the axes given, or those of a new figure.

    Axes that still have matplotlib's own colour take that of a page of the other kind: else
    ``new_figure(background="dark").add_subplot()`` would be a white patch.
    """
    if ax is None:
        return new_axes(new_figure(width, height))
    matplotlib()
    from matplotlib.axes import Axes

    given: Any = ax
    if not isinstance(given, Axes) or given.name == "3d":
        part = np.ndim(given) or hasattr(given, "axes")
        remedy = "Pass one of its axes" if part else "Leave it out"
        raise InvalidInputError(
            f"ax must be axes of matplotlib in the plane; received {type(given).__name__}. "
            f"{remedy}, or pass new_figure().add_subplot()."
        )
    untouched = to_rgba(matplotlib().rcParams["axes.facecolor"])
    page = _page(ax.figure)
    if to_rgba(ax.get_facecolor()) == untouched and theme_of(ax) is not _theme_for(page):
        ax.set_facecolor(page)
    return ax


def check_figure(figure: object) -> None:
    """Raise unless it is a figure, a part of one, or None for a new one."""
    if figure is None:
        return
    matplotlib()
    from matplotlib.figure import FigureBase

    if not isinstance(figure, FigureBase):
        raise InvalidInputError(
            f"figure must be a figure of matplotlib, or None for a new one; received "
            f"{type(figure).__name__}. Leave it out, or pass new_figure()."
        )


def grid_of(figure: Figure | SubFigure, n: int, columns: int, **options: Any) -> list[Any]:
    """Return n axes in rows of so many columns, of the figure's own colour; no empty ones."""
    columns = max(1, min(columns, n))
    rows = -(-n // columns)
    panels = figure.subplots(rows, columns, squeeze=False, **options).ravel()
    for panel in panels[n:]:
        panel.remove()
    for panel in panels[:n]:
        panel.set_facecolor(_page(figure))
    if rows > 1 and options.get("sharex"):
        for panel in panels[max(0, n - columns) : n]:
            panel.tick_params(labelbottom=True)
    return list(panels[:n])


def _page(figure: Any) -> Any:
    """Return the colour behind axes of a figure or part of one."""
    from matplotlib.colors import to_rgba

    color = figure.get_facecolor()
    while to_rgba(color)[3] < 0.5 and getattr(figure, "_parent", None) is not None:
        figure = figure._parent
        color = figure.get_facecolor()
    return color


def theme_of(ax: Any) -> Theme:
    """Return the theme that is legible on the background of axes, or of a figure."""
    from matplotlib.colors import to_rgba

    face = to_rgba(ax.get_facecolor())
    if face[3] < 0.5 and hasattr(ax, "figure"):
        face = to_rgba(_page(ax.figure))
    return _theme_for(face)


def _theme_for(color: Any) -> Theme:
    return theme_on(to_rgba(color))


def dress(ax: Any, theme: Theme, *, grid: Literal["x", "y", "both"] | None = "both") -> None:
    """Give axes the inks of a theme, a quiet grid, and no more frame than needed."""
    for side, spine in ax.spines.items():
        spine.set_color(theme.muted)
        spine.set_linewidth(0.8)
        if side in ("top", "right"):
            spine.set_visible(False)
    dress_text(ax, theme)
    if grid:
        ax.grid(True, axis=grid, which="major", color=theme.grid, linewidth=0.6, alpha=1.0)
        ax.set_axisbelow(True)


def dress_text(ax: Any, theme: Theme) -> None:
    """Give ticks, labels and title an ink that suits the page, the legend that of the axes."""
    page = _theme_for(_page(ax.figure))
    ax.tick_params(colors=page.ink, labelsize=SMALL, which="both")
    for axis in (ax.xaxis, ax.yaxis):
        axis.get_offset_text().set_size(SMALL)
    for label in (ax.xaxis.label, ax.yaxis.label):
        label.set_color(page.ink)
    for name in ("title", "_left_title", "_right_title"):
        getattr(ax, name).set_color(page.ink)
    legend = ax.get_legend()
    if legend is not None:
        frame = legend.get_frame()
        frame.set_facecolor(theme.background)
        frame.set_edgecolor("none")
        frame.set_alpha(0.85)
        for text in legend.get_texts():
            text.set_color(theme.ink)


def whole_ticks(ax: Any) -> None:
    """Put ticks of the horizontal axis at whole numbers, unless the caller has chosen others."""
    matplotlib()
    from matplotlib.ticker import MaxNLocator

    if isinstance(ax.xaxis.get_major_locator(), MaxNLocator):
        ax.locator_params(axis="x", integer=True, nbins=8, min_n_ticks=1)


def value_map(theme: Theme, *, low_is_best: bool = False) -> Any:
    """Return a colour map whose best end stands out most from the background.

    Parameters
    ----------
    theme : Theme
    low_is_best : bool, default False
        Whether small values are the better ones.
    """
    from matplotlib.colors import ListedColormap

    mpl = matplotlib()
    ends = (0.9, 0.0) if theme is LIGHT else (0.25, 1.0)
    colors = mpl.colormaps[theme.cmap](np.linspace(*(ends[::-1] if low_is_best else ends), 256))
    return ListedColormap(colors)


def line_collection(
    across: FloatArray, rows: FloatArray, ranks: FloatArray, theme: Theme, *, low_is_best: bool
) -> Any:
    """Return lines over common abscissae, coloured by rank in [0, 1]."""
    matplotlib()
    from matplotlib.collections import LineCollection

    segments = [np.column_stack([across, row]) for row in rows]
    lines = LineCollection(
        segments,
        cmap=value_map(theme, low_is_best=low_is_best),
        linewidths=0.9,
        alpha=0.75,
        capstyle="round",
    )
    lines.set_array(ranks)
    lines.set_clim(0.0, 1.0)
    return lines


def to_rgba(color: Any) -> tuple[float, float, float, float]:
    """Return red, green, blue and opacity of a colour."""
    matplotlib()
    from matplotlib.colors import to_rgba as convert

    return convert(color)


def max_n_locator(n: int) -> Any:
    """Return matplotlib's locator of at most n round ticks."""
    matplotlib()
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(n)


def triangulation(points: FloatArray) -> Any:
    """Return the triangles between points of the plane, shape (n, 2).

    Contours from bare coordinates take large values, too, for numbers of triangles first.
    """
    matplotlib()
    from matplotlib.tri import Triangulation

    return Triangulation(*points.T)


def boundary_norm(levels: FloatArray) -> Any:
    """Return the norm that gives every interval between levels one colour of its own."""
    matplotlib()
    from matplotlib.colors import BoundaryNorm

    return BoundaryNorm(levels, 256, extend="both")
