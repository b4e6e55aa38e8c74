"""BORING: Bayesian optimisation with a learned active subspace, in high dimensions.

Public names load on first use, so that importing the package stays quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .data import Observations as Observations
    from .space import Box as Box

__version__ = "0.1.0"

_HOMES = {
    "Box": "space",
    "Observations": "data",
}

__all__ = ["Box", "Observations", "__version__"]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{home}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
