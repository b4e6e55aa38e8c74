"""Libraries of the extra ``study``, loaded where they are needed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from boring.exceptions import BoringError

__all__ = ["MissingExtraError", "require"]


class MissingExtraError(BoringError, ImportError):
    """A library of an extra is not installed."""


def require(module: str, extra: str = "study") -> Any:
    """Return a module.

    Parameters
    ----------
    module : str
    extra : str
        That brings it.

    Raises
    ------
    MissingExtraError
        If it is not installed; the message says how to install it.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtraError(
            f"This needs the library {module.split('.')[0]!r}, which is not installed. "
            f"Say: pip install 'boring-bo[{extra}]'"
        ) from error
