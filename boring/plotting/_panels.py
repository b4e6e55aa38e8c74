"""Small multiples: how many, how many in a row, and the legend that they share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _canvas as canvas
from . import _furniture as furniture

if TYPE_CHECKING:
    from ._canvas import Figure

__all__ = ["columns_of", "legend_below", "legible", "side_by_side"]


def side_by_side(n: int) -> int:
    """Return how many of n small multiples stand in a row: four make a square."""
    return 2 if n == 4 else min(3, n)


def columns_of(figure: Figure, width: float) -> int:
    """Return how many small multiples of a width in inches stand side by side."""
    return int(np.clip(furniture.figure_inches(figure)[0] / width, 1, 3))


def legible(figure: Figure | None, most: int, width: float) -> int:
    """Return how many small multiples a figure has room for; a new one grows with them."""
    if figure is None:
        return most
    rows = int(max(1.0, (furniture.figure_inches(figure)[1] - 0.9) / 1.5))
    return min(most, rows * columns_of(figure, width))


def legend_below(figure: Any, panels: Any, theme: canvas.Theme) -> None:
    """Put one legend of everything in the panels below them."""
    entries: dict[str, Any] = {}
    for panel in panels:
        for handle, text in zip(*panel.get_legend_handles_labels(), strict=True):
            entries.setdefault(text, handle)
    texts = list(entries)
    legend = figure.legend(
        [entries[text] for text in texts],
        texts,
        loc="outside lower center",
        ncols=len(texts),
        fontsize="small",
        frameon=False,
    )
    for text in legend.get_texts():
        text.set_color(theme.ink)
