"""Libraries of the extras, loaded where they are needed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from boring.exceptions import BoringError

__all__ = ["MissingExtraError", "require"]


class MissingExtraError(BoringError, ImportError):
    """A library of an extra is not installed."""


def require(module: str, extra: str, purpose: str) -> Any:
    """Return a module of an optional library.

    Parameters
    ----------
    module : str
        With its library's name first.
    extra : str
        That brings the library.
    purpose : str
        What needs it; the message begins with it.

    Raises
    ------
    MissingExtraError
        If the library is not installed; the message says how to install it.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtraError(
            f"{purpose} needs the library {module.split('.')[0]!r}, which is not installed. "
            f"Say: pip install 'boring-bo[{extra}]'"
        ) from error
