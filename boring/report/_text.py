"""Text of a user inside HTML, and small pieces of markup."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence
from typing import Any

from boring._digits import digits_among
from boring.parameters.base import choice_text, is_number
from boring.plotting._labels import literal as plain
from boring.plotting._labels import printable

__all__ = ["escape", "number", "plain", "printable", "shown", "table", "tag"]


def escape(text: Any) -> str:
    """Return any text such that it is text in HTML, also inside a quoted attribute."""
    return html.escape(printable(text))


def number(value: float, digits: int = 6, *, spread: float | None = None) -> str:
    """Return a number with a true minus.

    Parameters
    ----------
    value : float
    digits : int, default 6
    spread : float, optional
        Of the numbers that it stands among: where it is small beside them, they take more digits.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value).replace("-", "−")
    if math.isnan(value):
        return "not a number"
    return f"{value:.{digits_among(value, spread, digits)}g}".replace("-", "−")


def shown(value: Any, digits: int = 6, *, spread: float | None = None) -> str:
    """Return a value of a parameter as text, not escaped; digits are those of `number`."""
    if is_number(value):
        return number(value, digits, spread=spread)
    return choice_text(value)


def tag(name: str, content: str, **attributes: str | None) -> str:
    """Return an element around markup; attributes are escaped, a trailing underscore is dropped."""
    listed = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{listed}>{content}</{name}>"


def table(
    caption: str, head: Sequence[str], rows: Iterable[Sequence[str]], *, numeric: Iterable[int] = ()
) -> str:
    """Return a table that scrolls by itself if it is wide.

    Parameters
    ----------
    caption : str
        Text.
    head : sequence of str
        Text.
    rows : iterable of sequence of str
        Text; the first cell names the row.
    numeric : iterable of int
        Columns set to the right.
    """
    right = set(numeric)

    def classes(column: int) -> str | None:
        return "n" if column in right else None

    header = "".join(
        tag("th", escape(text), scope="col", class_=classes(i)) for i, text in enumerate(head)
    )
    lines = []
    for row in rows:
        first = tag("th", escape(row[0]), scope="row")
        others = (
            tag("td", escape(text), class_=classes(i)) for i, text in enumerate(row[1:], start=1)
        )
        lines.append(f"<tr>{first}{''.join(others)}</tr>")
    body = "\n".join(lines)
    inner = (
        f"<table>{tag('caption', escape(caption))}<thead><tr>{header}</tr></thead>\n"
        f"<tbody>\n{body}\n</tbody></table>"
    )
    return tag("div", inner, class_="scroll", role="region", aria_label=caption, tabindex="0")
