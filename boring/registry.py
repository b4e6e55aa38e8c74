"""Optimisers by name.

A target may be a class, a factory, or text ``"module:attribute"`` that is imported on first use,
so that a name costs nothing until it is called for.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import reduce
from importlib import import_module
from typing import TYPE_CHECKING, TypeAlias

from .exceptions import InvalidInputError, UnknownNameError
from .validation import suggest

if TYPE_CHECKING:
    from .optimizer import Optimizer

__all__ = ["OptimizerFactory", "get_optimizer", "optimizer_names", "register_optimizer"]

OptimizerFactory: TypeAlias = "Callable[..., Optimizer]"
"""Called as ``factory(space, direction=..., n_initial=..., seed=..., **options)``."""

_BASELINES_HINT = "`import baselines` registers random, sobol, rembo, gp and the other baselines."

_OWN_HINT = "One of your own is known once the module that registers it is imported."

_targets: dict[str, OptimizerFactory | str] = {
    "boring": "boring.loop.algorithm:BoringOptimizer",
    "boring-thesis": "boring.loop.thesis_optimizer:ThesisOptimizer",
}


def register_optimizer(name: str, target: OptimizerFactory | str) -> None:
    """Make an optimiser known by name.

    Parameters
    ----------
    name : str
    target : Optimizer subclass, callable, or str
        Text names a module and an attribute of it, ``"package.module:Attribute"``.

    Raises
    ------
    InvalidInputError
        If the name stands for something else or is not that of the class, or the target is neither
        callable nor such text.
    """
    if isinstance(target, str):
        if target.count(":") != 1:
            raise InvalidInputError(
                f"A lazy target must read 'package.module:attribute'; received {target!r}. "
                "Put one colon between module and attribute."
            )
    elif not callable(target):
        raise InvalidInputError(
            f"A target must be an Optimizer class, a factory, or text; received "
            f"{type(target).__name__}. Pass the class itself."
        )
    if _targets.get(name, target) != target:
        raise InvalidInputError(
            f"A name stands for one optimiser; {name!r} stands for {_targets[name]!r}. "
            "Choose another name."
        )
    own = getattr(target, "name", name)
    if isinstance(target, type) and own != name:
        raise InvalidInputError(
            f"A class is registered by its own name, by which states and journals know it; "
            f"{target.__name__} is called {own!r}, received {name!r}. Change one of them."
        )
    _targets[name] = target


def optimizer_names() -> tuple[str, ...]:
    """Return the registered names, sorted."""
    return tuple(sorted(_targets))


def get_optimizer(name: str) -> OptimizerFactory:
    """Return the class or factory that a name stands for, importing it if necessary.

    Parameters
    ----------
    name : str

    Returns
    -------
    callable
        Takes ``(space, *, direction, n_initial=None, seed=None, **options)``.

    Raises
    ------
    UnknownNameError
        If the name is not registered; the message suggests the nearest one.
    """
    target = _targets.get(name)
    if target is None:
        hint = "" if "baselines" in sys.modules else f" {_BASELINES_HINT}"
        raise UnknownNameError(
            f"No optimiser is called {name!r}. {suggest(name, _targets)}{hint} {_OWN_HINT}"
        )
    if not isinstance(target, str):
        return target
    module, _, attribute = target.partition(":")
    factory: OptimizerFactory = reduce(getattr, attribute.split("."), import_module(module))  # type: ignore[assignment]
    return factory
