"""Which methods of the companion papers there are: those registered, whatever their number."""

from __future__ import annotations

from collections.abc import Iterable

from boring.exceptions import BoringError
from boring.optimizer import optimizer_class
from boring.registry import get_optimizer, optimizer_names

from ..single_run import register_methods
from ..variants import base_of, check_variant

__all__ = ["registered", "usable"]

PACKAGES = ("density_ratio", "goal_seeking", "mixtures", "neural", "random_features")
"""Of `baselines`: where the companion papers' methods live."""


def usable(names: Iterable[str], forgiving: bool = True) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the methods that can be run, variants included, and why the others cannot.

    Parameters
    ----------
    names : iterable of str
    forgiving : bool, default True
        Leave out what is not registered, or does not have an option, instead of raising.

    Raises
    ------
    UnknownNameError, InvalidInputError
        As :func:`experiments.runner.check_methods`, unless forgiving.

    Examples
    --------
    >>> usable(("gp", "no-such-method"))
    (('gp',), {'no-such-method': 'not registered'})
    """
    register_methods()
    known = set(optimizer_names())
    chosen, reasons = [], {}
    for name in dict.fromkeys(names):
        if forgiving and base_of(name) not in known:
            reasons[name] = "not registered"
            continue
        try:
            chosen.append(check_variant(name).name)
        except BoringError as error:
            if not forgiving:
                raise
            reasons[name] = str(error)
    return tuple(chosen), reasons


def registered() -> tuple[str, ...]:
    """Return every method of the companion papers, by name."""
    register_methods()
    return tuple(name for name in optimizer_names() if _package(name) in PACKAGES)


def _package(name: str) -> str:
    """Return the sub-package of `baselines` that a method's class is in, or nothing."""
    kind = optimizer_class(get_optimizer(name))
    parts = ("", "") if kind is None else kind.__module__.split(".")
    return parts[1] if parts[0] == "baselines" else ""
