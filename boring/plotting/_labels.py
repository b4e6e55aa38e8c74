"""Words and numbers on pictures: names that fit a tick, lines that fit a width, few digits."""

from __future__ import annotations

import math
import re
import textwrap
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from boring._digits import digits_among
from boring.exceptions import InvalidInputError
from boring.typing import FloatArray

__all__ = [
    "brief",
    "combination",
    "literal",
    "names_of",
    "printable",
    "short_labels",
    "short_names",
    "unlike",
    "wrap",
]

CHARACTER_WIDTH = 0.56
"""Mean width of a character, in units of the size of the font."""

SHORT_WIDTH = 18
"""Characters that a name may have at a tick."""

LABEL_WIDTH = 48
"""Characters that the label of an axis may have, and a name that is left whole."""

MOST_LINES = 4
"""Lines that a text may be broken into; more would leave no room for what it names."""

FORMULA = re.compile(r"(?<!\\)\$[^$]+(?<!\\)\$")
"""What matplotlib sets as mathematics."""

UNIT = re.compile(r"[(\[][^()\[\]]{1,16}[)\]]")
"""A short remark in brackets, such as a unit, which stays on one line."""

FORBIDDEN = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|[\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]"
)
"""Control characters and halves of a pair of surrogates, which neither fonts nor HTML know."""

MOVES = re.compile(r"[\t\r]")
"""Characters that move what follows, for which fonts have a box."""

GAP = "\N{NO-BREAK SPACE}"


def wrap(text: str, inches: float, points: float) -> str:
    """Break lines of text that would be wider than so many inches at a size in points.

    Of a line that would become more than four, formulas aside, the rest is left out.
    """
    width = max(8, int(inches / (points * CHARACTER_WIDTH / 72.0)))
    return "\n".join(_filled(line, width) for line in text.split("\n"))


def _filled(line: str, width: int) -> str:
    if len(line) <= width:
        return line
    # A stand-in for spaces that are not to be broken at: those within a unit or a formula.
    held = UNIT.sub(
        lambda unit: unit[0].replace(" ", "\0") if len(unit[0]) < width else unit[0], line
    )
    held, n_formulas = FORMULA.subn(lambda formula: formula[0].replace(" ", "\0"), held)
    breaks = not n_formulas
    filled = textwrap.fill(
        held,
        width,
        break_long_words=breaks,
        break_on_hyphens=breaks,
        max_lines=MOST_LINES if breaks else None,
        placeholder="…",
    )
    return filled.replace("\0", " ")


def printable(text: Any) -> str:
    """Return text without what cannot be shown."""
    return FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", str(text))


def literal(text: str) -> str:
    """Return text of which matplotlib takes no part for a formula."""
    return MOVES.sub(" ", printable(text)).replace("$", r"\$")


def names_of(names: Sequence[str] | None, dim: int) -> list[str]:
    """Return the names of the parameters, x0, x1, ... by default.

    Raises
    ------
    InvalidInputError
        If there are not as many as parameters.
    """
    if names is None:
        return [f"x{index}" for index in range(dim)]
    listed = [names] if isinstance(names, str) else [MOVES.sub(" ", str(n)) for n in names]
    if len(listed) != dim:
        raise InvalidInputError(
            f"names must hold one name for each of the {dim} parameters; received {len(listed)}. "
            "Leave names out for x0, x1, ..."
        )
    return listed


def short_names(names: Sequence[str], width: int = SHORT_WIDTH) -> list[str]:
    """Return names for ticks: without units, and cut to a width, where they differ even so.

    Names are cut at their end; those that would look alike in their middle, so that their last word
    is left; those that still would at their beginning. What is alike even then is left whole, or
    numbered if it is long; names with a formula, which shows shorter than it is written, are whole.
    """
    bare = _unless_alike([re.sub(r" [(\[][^()\[\]]*[)\]]$", "", name) for name in names], names)
    texts = [_cut(_without_end, name, width) for name in bare]
    for cut in (_without_middle, _without_start):
        texts = _unless_alike(texts, [_cut(cut, name, width) for name in bare])
    return [
        text if len(text) <= LABEL_WIDTH else _cut(partial(_numbered, i), text, width)
        for i, text in enumerate(_unless_alike(texts, bare), start=1)
    ]


def short_labels(labels: Sequence[str]) -> list[str]:
    """Return labels of axes with their units, and long ones as `short_names` makes them."""
    short = short_names(labels, LABEL_WIDTH)
    return [
        whole if len(whole) <= LABEL_WIDTH else cut
        for whole, cut in zip(labels, short, strict=True)
    ]


def _cut(cut: Callable[[str, int], str], name: str, width: int) -> str:
    return name if len(name) <= width or FORMULA.search(name) else cut(name, width)


def _without_end(name: str, width: int) -> str:
    return f"{_trimmed(name[: width - 1])}…"


def _without_middle(name: str, width: int) -> str:
    end = name[-(width // 2 - 1) :]
    end = end[end.index(" ") :] if " " in end.strip() else end
    return f"{_trimmed(name[: width - 1 - len(end)])}…{end}"


def _without_start(name: str, width: int) -> str:
    end = name[-(width - 1) :]
    return f"…{end[end.index(' ') + 1 :] if ' ' in end.strip() else end}"


def _numbered(number: int, name: str, width: int) -> str:
    end = f"… {number}"
    return f"{_trimmed(name[: max(1, width - len(end))])}{end}"


def _trimmed(text: str) -> str:
    """Return the beginning of a name, without the sign or space that it happens to end with."""
    return text.rstrip(" ,;:.-_/") or text


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
        f"{'−' if weights[i] < 0 else '+'}{GAP}{abs(weights[i]):.2f}{GAP}{names[i]}" for i in kept
    ]
    text = " ".join(terms).removeprefix(f"+{GAP}")
    left = float(np.sum(weights**2) - np.sum(weights[kept] ** 2))
    return f"{text} + …" if left > 0.02 * float(np.sum(weights**2)) else text


def unlike(texts: Sequence[str]) -> list[int]:
    """Return the places of texts in a row that leaves out repetitions; both ends are kept.

    Examples
    --------
    >>> unlike(["0.5", "0.5", "1", "2", "2"]), unlike(["7", "7", "7"])
    ([0, 2, 4], [0])
    """
    kept = [i for i, text in enumerate(texts) if i == 0 or text not in (texts[i - 1], texts[-1])]
    return [*kept, len(texts) - 1] if len(texts) > 1 and texts[-1] != texts[0] else kept[:1]


def brief(value: float, most: float = 1e6, *, spread: float | None = None) -> str:
    """Return a number in three digits, with a power of ten only where there would be many zeros.

    Parameters
    ----------
    value : float
    most : float
        From which there are too many.
    spread : float, optional
        Of the numbers that it stands among: where it is small beside them, they take more digits.

    Examples
    --------
    >>> [brief(value) for value in (-1167.2, 0.5, 2.3e-4, 0.0)]
    ['−1170', '0.5', '2.3e−4', '0']
    >>> [brief(value, spread=0.2) for value in (1013.25, 1013.45)]
    ['1013.25', '1013.45']
    >>> brief(9.9999996e14, spread=1e8)
    '9.9999996e14'
    """
    digits = digits_among(value, spread, 3)
    if not math.isfinite(value):
        text = f"{value:g}"
    elif value == 0.0 or 1e-3 <= abs(value) < max(most, 10.0**digits):
        text = np.format_float_positional(float(f"{value:.{digits}g}"), trim="-")
    else:
        mantissa, _, exponent = f"{value:.{digits - 1}e}".partition("e")
        if "." in mantissa:
            mantissa = mantissa.rstrip("0").rstrip(".")
        text = f"{mantissa}e{int(exponent)}"
    return text.replace("-", "−")
