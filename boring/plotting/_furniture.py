"""What is written on and beside axes: titles, labels, ticks, legends and colour bars that fit.

Sizes are those of the layout once it has run (`settle`); texts that are longer are broken.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ._canvas import SMALL, matplotlib
from ._labels import brief, unlike, wrap
from ._theme import Theme

TITLE_PAD = 6.0
LEGEND_ROW, LABEL_ROW = 15.0, 12.0
"""Points."""
POINTS = 72.0
"""In an inch."""
LEGEND_HANDLE, LEGEND_LETTER = 0.45, 0.062
"""Inches of a small legend's mark and of a letter."""
TICK_HEIGHT = 0.22
"""Inches that a tick of a colour bar takes."""


def settle(*axes: Any) -> None:
    """Let the layout of a figure find the sizes of its axes: `inches` are final after it.

    What numbers have in common, such as 1e6, is known after it too, also without a layout.
    """
    figure = axes[0].figure.figure
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
    for ax in axes:
        ax.get_tightbbox()


def wrap_texts(*axes: Any) -> None:
    """Break labels and titles that are longer than their axes, all of one figure.

    A label stands below what the numbers of its axis have in common, such as 1e6.
    """
    settle(*axes)
    for ax in axes:
        if ax.xaxis.get_offset_text().get_text():
            ax.xaxis.labelpad = matplotlib().rcParams["axes.labelpad"] + LABEL_ROW
    broken = [_fit(ax.yaxis.label, inches(ax)[1]) for ax in axes]
    if any(broken):  # their second lines took some of the width
        settle(axes[0])
    for ax in axes:
        for text in (ax.xaxis.label, ax.title, ax._left_title):
            _fit(text, inches(ax)[0])


def _fit(text: Any, room: float) -> bool:
    """Break a text that is longer than so many inches, and say so: by guess, then by measure."""
    if not text.get_text():
        return False
    whole, points = text.get_text(), text.get_fontsize()
    text.set_text(wrap(whole, room, points))
    extent = text.get_window_extent()
    upright = text.get_rotation() % 180.0 == 0.0
    longest = (extent.width if upright else extent.height) / text.figure.dpi
    if longest > room:
        text.set_text(wrap(whole, room * room / longest, points))
    return bool(text.get_text() != whole)


def few_ticks(ax: Any) -> None:
    """Put only as many ticks on the horizontal axis as its width allows."""
    ax.locator_params(axis="x", nbins=int(np.clip(inches(ax)[0] / 0.5, 1, 5)))


def headline(figure: Any, lines: Sequence[str], theme: Theme) -> None:
    """Set the title of a figure, lines broken where they would not fit."""
    text = figure.suptitle("\n".join(line for line in lines if line), fontsize=SMALL)
    text.set(color=theme.ink)
    text.set_text(wrap(text.get_text(), figure_inches(figure)[0] - 0.2, text.get_fontsize()))


def side_label(figure: Any, label: str, theme: Theme) -> None:
    """Set the vertical label that the axes of a figure share."""
    text = figure.supylabel(label, fontsize="medium", color=theme.ink)
    text.set_text(wrap(label, figure_inches(figure)[1] - 0.6, text.get_fontsize()))


def legend(ax: Any, **options: Any) -> None:
    """Add a small legend."""
    ax.legend(**{"fontsize": SMALL, "loc": "best", "handlelength": 2.2, **options})


def legend_above(ax: Any) -> float:
    """Add a small legend between axes and title, where it hides nothing.

    Returns
    -------
    float
        Points that the title is to be raised by.
    """
    _, texts = ax.get_legend_handles_labels()
    settle(ax)
    room = inches(ax)[0]
    fitting = (n for n in range(len(texts), 1, -1) if _legend_width(texts, n) <= room)
    columns = next(fitting, 1)
    factor = LEGEND_ROW if ax.yaxis.get_offset_text().get_text() else 0.0  # such as 1e6
    legend(
        ax,
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0 + factor / POINTS / inches(ax)[1]),
        borderaxespad=0.0,
        borderpad=0.3,
        ncols=columns,
        columnspacing=1.2,
        handlelength=1.6,
    )
    return factor + LEGEND_ROW * -(-len(texts) // columns)


def _legend_width(texts: Sequence[str], columns: int) -> float:
    """Return about how many inches a legend takes, which is filled column by column."""
    rows = -(-len(texts) // columns)
    longest = [max(map(len, texts[i : i + rows])) for i in range(0, len(texts), rows)]
    return sum(LEGEND_HANDLE + LEGEND_LETTER * length for length in longest)


def colorbar(figure: Any, drawn: Any, axes: Any, label: str, theme: Theme, **options: Any) -> Any:
    """Add a colour bar in the inks of a theme, its numbers in few digits and none of them twice."""
    bar = figure.colorbar(drawn, ax=axes, **options)

    def text(value: float, _: object = None) -> str:
        return brief(value, spread=bar.vmax - bar.vmin)

    bar.set_label(label, fontsize=SMALL)
    bar.ax.tick_params(colors=theme.ink, labelsize=SMALL)
    bar.ax.yaxis.label.set_color(theme.ink)
    bar.ax.yaxis.set_major_formatter(text)
    if "ticks" in options:
        bar.set_ticks(np.asarray(bar.get_ticks())[unlike([text(tick) for tick in bar.get_ticks()])])
    bar.outline.set_visible(False)
    return bar


def thin_ticks(bar: Any) -> None:
    """Leave out ticks of a colour bar that would stand too close in the height that it has."""
    settle(bar.ax)
    places = bar.get_ticks()
    stride = -(-len(places) // max(2, int(inches(bar.ax)[1] / TICK_HEIGHT)))
    bar.set_ticks(places[::stride])


def title(ax: Any, text: str | None, detail: str = "", *, above: float = 0.0) -> None:
    """Set a title at the left, a detail in a second line, so many points above its usual place."""
    lines = [line for line in (text, detail) if line]
    pad = TITLE_PAD + above
    ax.set_title("\n".join(lines), fontsize=SMALL if detail else "medium", loc="left", pad=pad)


def inches(ax: Any) -> tuple[float, float]:
    """Return width and height of axes in inches, as far as the layout has run; see `settle`."""
    box = ax.get_position()
    width, height = figure_inches(ax.figure)
    return float(box.width * width), float(box.height * height)


def figure_inches(figure: Any) -> tuple[float, float]:
    """Return width and height of a figure, or of a part of one, in inches."""
    width, height = figure.bbox.size / figure.dpi
    return float(width), float(height)
