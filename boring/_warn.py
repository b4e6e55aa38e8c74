"""Warnings that point at the caller's line, however deep in the library they arise."""

from __future__ import annotations

import sys
import warnings

from .exceptions import BoringWarning

_PACKAGE = __name__.partition(".")[0]


def warn(message: str, category: type[BoringWarning]) -> None:
    """Warn at the innermost line outside this package.

    Parameters
    ----------
    message : str
        Rule, what came, remedy.
    category : type
        What users filter by.
    """
    level = 2
    frame = sys._getframe(1)
    while frame.f_globals.get("__name__", "").partition(".")[0] == _PACKAGE and frame.f_back:
        frame = frame.f_back
        level += 1
    warnings.warn(message, category, stacklevel=level)
