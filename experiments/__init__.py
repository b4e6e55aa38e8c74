"""Experiments on the optimisers: runs, records, tables and plots (checkout only, not installed).

Run ``python -m experiments --help`` from the root of the checkout.
"""

from __future__ import annotations

from importlib import import_module

DISTRIBUTION = "boring-bo"
"""Distribution that the sibling packages must come from."""

SIBLINGS = ("baselines", "synthetic")


def check_siblings() -> None:
    """Raise if a package of the same name, from another distribution, was imported instead of ours.

    Their names are taken on the package index by other projects, and Python does not say
    when one shadows the other; each of ours names its distribution in ``DISTRIBUTION``.

    Raises
    ------
    ImportError
        Naming the intruder's file and the remedy.
    """
    for name in SIBLINGS:
        module = import_module(name)
        if getattr(module, "DISTRIBUTION", None) != DISTRIBUTION:
            where = getattr(module, "__file__", None) or "a namespace without a file"
            raise ImportError(
                f"the package {name!r} must come from {DISTRIBUTION}; Python found {where}, which "
                "belongs to something else. Use a fresh environment, or run from the root of the "
                "checkout."
            )
