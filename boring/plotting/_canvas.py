"""Figures, colours and axes: all that touches matplotlib itself, loaded on first use.

Nothing here knows pyplot, so no window opens and no figure has to be closed; matplotlib's settings
are read and never written. Colours follow the background of the axes, light or dark.
"""

from __future__ import annotations

import io
import os
import re
import textwrap
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from boring.exceptions import InvalidInputError
from boring.extras import require
from boring.typing import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
    from matplotlib.figure import Figure as Figure
    from matplotlib.figure import SubFigure as SubFigure

__all__ = [
    "DARK",
    "LIGHT",
    "LINE_STYLES",
    "MARKERS",
    "PALETTE",
    "Background",
    "Theme",
    "dress",
    "encode",
    "new_axes",
    "new_figure",
    "save",
    "theme_of",
]

Background: TypeAlias = Literal["light", "dark"]

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

DARK_PALETTE = ("#4DA6E0", "#FF8A3D", "#2BC79A", "#E3A0C4", "#F4B942", "#A9DCFB", "#FFFFFF")
"""The same hues, lightened for dark backgrounds."""

LINE_STYLES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (3, 4)), (0, (1, 3)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X")

DPI = 150
PNG_COLORS = 128
SMALL = "small"
CHARACTER_WIDTH = 0.56
"""Mean width of a character, in units of the size of the font."""
DARK_BELOW = 0.35
"""Backgrounds of less relative luminance than this are dark."""


@dataclass(frozen=True, slots=True)
class Theme:
    """Colours for one kind of background.

    Attributes
    ----------
    background, ink, muted, grid : str
        Of the page, of text, of frames and lesser lines, of the grid.
    palette : tuple of str
    real, model : str
        Blue is the real value and orange the model's, as in Fig. 5.3 of the thesis; both have a
        contrast of 3 or more with the background.
    cmap : str
        For values; its lightness rises steadily, so that a print in grey keeps the order.
    """

    background: str
    ink: str
    muted: str
    grid: str
    palette: tuple[str, ...]
    real: str
    model: str
    cmap: str = "cividis"

    def style(self, position: int) -> dict[str, Any]:
        """Return colour, line style and marker of the curve at a position."""
        index = position % len(self.palette)
        return {
            "color": self.palette[index],
            "linestyle": LINE_STYLES[index],
            "marker": MARKERS[index],
        }


LIGHT = Theme("#FFFFFF", "#1A1A1A", "#6B6B6B", "#D9D9D9", PALETTE, "#0072B2", "#C77F00")
DARK = Theme("#14181D", "#F2F2F2", "#A8ADB3", "#3A4048", DARK_PALETTE, "#4DA6E0", "#F4B942")


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


def save(picture: Figure | Axes, path: str | os.PathLike[str], dpi: int = DPI) -> Path:
    """Write a figure, or that of axes, making its folder first, and return the path.

    Raises
    ------
    InvalidInputError
        If it is neither, or the name does not end in a format that matplotlib writes.
    """
    figure: Any = picture if hasattr(picture, "savefig") else getattr(picture, "figure", None)
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
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=dpi, facecolor=figure.get_facecolor())
    return path


def encode(figure: Figure, format: Literal["svg", "png"], dpi: int = DPI) -> bytes:
    """Return a figure as the bytes of a file, the same ones each time.

    Letters of an SVG are outlines, its coordinates have two decimals; a PNG has as many colours as
    fit one byte.
    """
    buffer = io.BytesIO()
    face = figure.get_facecolor()
    if format == "svg":
        blank = {"Date": None, "Creator": None}
        with matplotlib().rc_context({"svg.fonttype": "path", "svg.hashsalt": "boring"}):
            figure.savefig(buffer, format="svg", facecolor=face, metadata=blank)
        return compact(buffer.getvalue().decode()).encode()
    from PIL import Image  # matplotlib needs it as well

    figure.savefig(buffer, format="png", dpi=dpi, facecolor=face)
    drawn = Image.open(buffer).convert("RGB").quantize(PNG_COLORS, dither=Image.Dither.NONE)
    small = io.BytesIO()
    drawn.save(small, format="png", optimize=True)
    return small.getvalue()


_MARKS = re.compile(r'(?:<use xlink:href="[^"]*" x="[^"]*" y="[^"]*" style="([^"]*)"/>){2,}')


def compact(svg: str) -> str:
    """Return an SVG of matplotlib's with the same picture in fewer letters.

    Comments and indentation go, coordinates are cut to a hundredth of a point, and marks of one
    style say it once.
    """
    svg = re.sub(r"<!--.*?-->", "", svg, flags=re.DOTALL)
    svg = re.sub(r">\s+<", "><", svg)
    svg = re.sub(r'(?<= d=")[^"]*', lambda found: _short_path(found[0]), svg)
    svg = re.sub(r'( [xy]="-?\d+\.\d\d)\d+', r"\1", svg)
    return _MARKS.sub(_with_one_style, svg)


def _short_path(path: str) -> str:
    path = re.sub(r"(\.\d\d)\d+", r"\1", path)
    return re.sub(r"\s*([A-Za-z])\s*", r"\1", path).strip()


def _with_one_style(found: re.Match[str]) -> str:
    style = f' style="{found[1]}"'
    marks = found[0]
    if marks.count(style) != marks.count("<use "):
        return marks
    return f"<g{style}>{marks.replace(style, '')}</g>"


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
    untouched = to_rgba(matplotlib().rcParams["axes.facecolor"])
    page = _page(ax.figure)
    if to_rgba(ax.get_facecolor()) == untouched and theme_of(ax) is not _theme_for(page):
        ax.set_facecolor(page)
    return ax


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
    face = to_rgba(color)
    if face[3] < 0.5:
        return LIGHT
    channels = np.array(face[:3])
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return DARK if float(linear @ [0.2126, 0.7152, 0.0722]) < DARK_BELOW else LIGHT


def dress(ax: Any, theme: Theme, *, grid: Literal["x", "y", "both"] | None = "both") -> None:
    """Give axes the inks of a theme, a quiet grid, and no more frame than needed."""
    for side, spine in ax.spines.items():
        spine.set_color(theme.muted)
        spine.set_linewidth(0.8)
        if side in ("top", "right"):
            spine.set_visible(False)
    dress_text(ax, theme)
    wrap_texts(ax)
    if grid:
        ax.grid(True, axis=grid, which="major", color=theme.grid, linewidth=0.6, alpha=1.0)
        ax.set_axisbelow(True)


def dress_text(ax: Any, theme: Theme) -> None:
    """Give ticks, labels and title an ink that suits the page, the legend that of the axes."""
    page = _theme_for(_page(ax.figure))
    ax.tick_params(colors=page.ink, labelsize=SMALL, which="both")
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


def wrap(text: str, inches: float, points: float) -> str:
    """Break lines of text that would be wider than so many inches at a size in points."""
    width = max(8, int(inches / (points * CHARACTER_WIDTH / 72.0)))
    return "\n".join(textwrap.fill(line, width) for line in text.split("\n"))


def wrap_texts(ax: Any) -> None:
    """Break labels and titles that are longer than the axes."""
    width, height = inches(ax)
    for text, room in (
        (ax.xaxis.label, width),
        (ax.yaxis.label, height),
        (ax.title, width),
        (ax._left_title, width),
    ):
        text.set_text(wrap(text.get_text(), room, text.get_fontsize()))


def few_ticks(ax: Any) -> None:
    """Put only as many ticks on the horizontal axis as its width allows."""
    ax.locator_params(axis="x", nbins=int(np.clip(inches(ax)[0] / 0.5, 1, 5)))


def headline(figure: Any, lines: Sequence[str], theme: Theme) -> None:
    """Set the title of a figure, lines broken where they would not fit."""
    text = figure.suptitle("\n".join(line for line in lines if line), fontsize=SMALL)
    text.set(color=theme.ink)
    text.set_text(wrap(text.get_text(), figure_inches(figure)[0] - 0.2, text.get_fontsize()))


def legend(ax: Any, **options: Any) -> None:
    """Add a small legend."""
    ax.legend(**{"fontsize": SMALL, "loc": "best", "handlelength": 2.2, **options})


def colorbar(figure: Any, drawn: Any, axes: Any, label: str, theme: Theme, **options: Any) -> Any:
    """Add a colour bar in the inks of a theme."""
    bar = figure.colorbar(drawn, ax=axes, label=label, **options)
    bar.ax.tick_params(colors=theme.ink, labelsize=SMALL)
    bar.ax.yaxis.label.set_color(theme.ink)
    bar.ax.yaxis.get_offset_text().set_color(theme.ink)
    bar.outline.set_visible(False)
    return bar


def title(ax: Any, text: str | None, detail: str = "") -> None:
    """Set a title at the left, a detail in a second line."""
    lines = [line for line in (text, detail) if line]
    ax.set_title("\n".join(lines), fontsize=SMALL if detail else "medium", loc="left")


def inches(ax: Any) -> tuple[float, float]:
    """Return width and height of axes in inches, before the layout has run."""
    box = ax.get_position()
    width, height = figure_inches(ax.figure)
    return float(box.width * width), float(box.height * height)


def figure_inches(figure: Any) -> tuple[float, float]:
    """Return width and height of a figure, or of a part of one, in inches."""
    width, height = figure.bbox.size / figure.dpi
    return float(width), float(height)


def names_of(names: Sequence[str] | None, dim: int) -> list[str]:
    """Return the names of the parameters, x0, x1, ... by default.

    Raises
    ------
    InvalidInputError
        If there are not as many as parameters.
    """
    if names is None:
        return [f"x{index}" for index in range(dim)]
    listed = [names] if isinstance(names, str) else [str(name) for name in names]
    if len(listed) != dim:
        raise InvalidInputError(
            f"names must hold one name for each of the {dim} parameters; received {len(listed)}. "
            "Leave names out for x0, x1, ..."
        )
    return listed


SHORT_WIDTH = 18
"""Characters that a name may have at a tick."""


def short_names(names: Sequence[str], width: int = SHORT_WIDTH) -> list[str]:
    """Return names for ticks: without units, and cut to a width, where they differ even so.

    Names that begin alike are cut in their middle: the last word, or its end, tells them apart.
    """
    bare = _unless_alike([re.sub(r" [(\[][^()\[\]]*[)\]]$", "", name) for name in names], names)
    middle = [_without_middle(name, width) for name in bare]
    return _unless_alike([n if len(n) <= width else n[: width - 1] + "…" for n in bare], middle)


def _without_middle(name: str, width: int) -> str:
    if len(name) <= width:
        return name
    end = name[-(width // 2 - 1) :]
    end = end[end.index(" ") :] if " " in end.strip() else end
    return f"{name[: width - 1 - len(end)].rstrip()}…{end}"


def _unless_alike(texts: Sequence[str], others: Sequence[str]) -> list[str]:
    counts = Counter(texts)
    return [text if counts[text] == 1 else other for text, other in zip(texts, others, strict=True)]


def combination(weights: FloatArray, names: Sequence[str], most: int = 4) -> str:
    """Return a direction as the sum of its largest terms, such as ``0.71 x0 − 0.70 x3``.

    Terms below a fifth of the largest are left out, as are those beyond ``most``; "…" stands for
    them if their squares come to more than 2 per cent.
    """
    order = np.argsort(-np.abs(weights), kind="stable")
    kept = [i for i in order[:most] if abs(weights[i]) >= 0.2 * abs(weights[order[0]])]
    # No-break spaces keep a term together where a label is broken.
    terms = [
        f"{'−' if weights[i] < 0 else '+'}\N{NO-BREAK SPACE}{abs(weights[i]):.2f}"
        f"\N{NO-BREAK SPACE}{names[i]}"
        for i in kept
    ]
    text = " ".join(terms).removeprefix("+\N{NO-BREAK SPACE}")
    left = float(np.sum(weights**2) - np.sum(weights[kept] ** 2))
    return f"{text} + …" if left > 0.02 * float(np.sum(weights**2)) else text


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


def boundary_norm(levels: FloatArray) -> Any:
    """Return the norm that gives every interval between levels one colour of its own."""
    matplotlib()
    from matplotlib.colors import BoundaryNorm

    return BoundaryNorm(levels, 256, extend="both")
