"""The page's colours can be told from what they stand on, by the rule of WCAG 2 for small text."""

from __future__ import annotations

import re
from importlib import resources
from itertools import product

import pytest

LEGIBLE = 4.5
ON = {
    "ink": ("page", "card"),
    "muted": ("page", "card"),
    "accent": ("page", "card"),
    "best-ink": ("best",),
    "bad": ("bad-page", "page", "card"),
}


def palettes():
    """Return the colours of the light page, and of the dark and the printed one over them."""
    style = resources.files("boring.report").joinpath("style.css").read_text(encoding="utf-8")
    blocks = [
        dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{3,6})", block))
        for block in re.findall(r":root \{(.*?)\}", style, flags=re.DOTALL)
    ]
    light, dark, *printed = [block for block in blocks if block]
    return {"light": light, "dark": light | dark, "print": light | printed[0]}


def luminance(colour):
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    channels = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    bright, dim = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


def test_the_measure_is_that_of_the_rule():
    assert contrast("#000", "#ffffff") == pytest.approx(21.0)
    assert contrast("#777777", "#fff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("theme", ["light", "dark", "print"])
def test_texts_of_the_page_are_legible_on_their_backgrounds(theme):
    colours = palettes()[theme]
    pairs = [(ink, page) for ink, pages in ON.items() for page in pages]
    faint = {pair: contrast(*map(colours.get, pair)) for pair in pairs}
    assert {pair: value for pair, value in faint.items() if value < LEGIBLE} == {}


def test_no_two_themes_share_all_colours():
    themes = palettes()
    assert all(themes[a] != themes[b] for a, b in product(themes, themes) if a != b)
