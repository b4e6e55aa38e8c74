"""A figure as addresses of data: drawn for light and dark pages, and for narrow and wide ones."""

from __future__ import annotations

import warnings
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from boring import plotting
from boring.exceptions import BoringError
from boring.plotting._encoding import encode

__all__ = ["WIDE_FROM", "Draw", "Drawn", "Picture", "draw"]

WIDTH, HEIGHT = 5.2, 3.5
"""Inches of a figure in a column; a page 400 pixels wide shows it at four fifths."""

WIDE = 10.8
"""Inches of a figure across the page."""

WIDE_FROM = "(min-width: 60rem)"
"""Width of the window from which figures across the page are drawn wide."""

MOST_SVG = 100_000
"""Bytes of an SVG file beyond which a figure is a PNG if that is smaller (chosen here)."""

PNG_DPI = 168

Draw = Callable[[Any], Any]
"""Draws on an empty figure."""


@dataclass(frozen=True)
class Picture:
    """A figure that is still to be drawn.

    Parameters
    ----------
    key : str
        Part of its address on the page.
    heading, alt, caption : str
        Text. ``alt`` says what is to be seen, ``caption`` how to read it.
    paint : callable
        Draws on a figure.
    height : float
        Inches.
    is_wide : bool
        Whether it goes across the page.
    drops : str
        First line of its own title, which the heading makes idle.
    """

    key: str
    heading: str
    alt: str
    caption: str
    paint: Draw = field(repr=False)
    height: float = HEIGHT
    is_wide: bool = False
    drops: str = ""


@dataclass(frozen=True)
class Drawn:
    """A picture as addresses of data: by width and background."""

    sources: dict[tuple[str, str], str]
    width: int
    height: int


def draw(picture: Picture) -> Drawn | str:
    """Return the picture, or why there is none."""
    sources: dict[Any, str] = {}
    try:
        for kind, width in (("narrow", WIDTH), ("wide", WIDE))[: 1 + picture.is_wide]:
            for background in ("light", "dark"):
                figure = plotting.new_figure(width, picture.height, background=background)
                with warnings.catch_warnings():
                    # Of names in other scripts; the text of the page has them whole.
                    warnings.filterwarnings("ignore", "Glyph .* missing from font")
                    picture.paint(figure)
                    _drop_title(figure, picture.drops)
                    sources[kind, background] = _address(figure)
    except BoringError as error:
        return str(error)
    except (ArithmeticError, ValueError, RuntimeError, np.linalg.LinAlgError) as error:
        return f"Drawing failed: {type(error).__name__}: {error}"
    return Drawn(sources, round(96 * WIDTH), round(96 * picture.height))


def _drop_title(figure: Any, title: str) -> None:
    """Drop a first line that the heading of the page says as well."""
    texts = [ax._left_title for ax in figure.axes]
    texts += [] if figure._suptitle is None else [figure._suptitle]
    for text in texts:
        text.set_text(text.get_text().removeprefix(title).lstrip("\n"))


def _address(figure: Any) -> str:
    content, kind = encode(figure, "svg"), "svg+xml"
    if len(content) > MOST_SVG:
        pixels = encode(figure, "png", PNG_DPI)
        if len(pixels) < len(content):
            content, kind = pixels, "png"
    return f"data:image/{kind};base64,{b64encode(content).decode('ascii')}"
