"""Colours, line styles and markers for light and dark backgrounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

__all__ = [
    "DARK",
    "LIGHT",
    "LINE_STYLES",
    "MARKERS",
    "PALETTE",
    "Background",
    "Theme",
    "theme_on",
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
        """Return colour, line style and marker of the curve at a position.

        A colour that comes again has another line and another marker.
        """
        turn = position // len(self.palette)
        return {
            "color": self.palette[position % len(self.palette)],
            "linestyle": LINE_STYLES[(position + turn) % len(LINE_STYLES)],
            "marker": MARKERS[(position + 2 * turn) % len(MARKERS)],
        }


LIGHT = Theme("#FFFFFF", "#1A1A1A", "#6B6B6B", "#D9D9D9", PALETTE, "#0072B2", "#C77F00")
DARK = Theme("#14181D", "#F2F2F2", "#A8ADB3", "#3A4048", DARK_PALETTE, "#4DA6E0", "#F4B942")


def theme_on(color: tuple[float, float, float, float]) -> Theme:
    """Return the theme that is legible on a colour: red, green, blue and opacity in [0, 1]."""
    if color[3] < 0.5:
        return LIGHT
    channels = np.array(color[:3])
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return DARK if float(linear @ [0.2126, 0.7152, 0.0722]) < DARK_BELOW else LIGHT
