"""Figures as the bytes of small files, the same ones each time."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, Literal

from . import _canvas as canvas

if TYPE_CHECKING:
    from ._canvas import Figure

__all__ = ["compact", "encode"]

PNG_COLORS = 128


def encode(figure: Figure, format: Literal["svg", "png"], dpi: int = canvas.DPI) -> bytes:
    """Return a figure as the bytes of a file, the same ones each time.

    Letters of an SVG are outlines, its coordinates have two decimals; a PNG has as many colours as
    fit one byte.
    """
    buffer = io.BytesIO()
    face = figure.get_facecolor()
    if format == "svg":
        blank = {"Date": None, "Creator": None}
        with canvas.matplotlib().rc_context({"svg.fonttype": "path", "svg.hashsalt": "boring"}):
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
