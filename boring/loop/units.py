"""The units of what the loop remembers of values, which follow what is told.

Values beyond all measure are scaled by a power of two (`boring.warping.moderate`), and the power
may change whenever a value comes: one penalty of 1e300 among values of 1e8 is enough.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from boring.typing import FloatArray
from boring.warping import LARGEST, restore

__all__ = ["in_units"]

# What a local model remembers in units of the values.
LOCAL = ("best", "gain", "promised", "noise_std")


def in_units(memory: Mapping[str, Any], exponent: int) -> Mapping[str, Any]:
    """Return the loop's memory with its values in units of 2^exponent.

    Parameters
    ----------
    memory : mapping
        Its own is its ``"exponent"``, 0 if there is none.
    exponent : int
        `boring.feasibility.Told.exponent`.

    Returns
    -------
    mapping
        The memory itself if the units are the same.
    """
    shift = int(memory.get("exponent", 0)) - exponent
    if not shift:
        return memory

    def scaled(value: FloatArray | float) -> float:
        return float(np.clip(restore(np.asarray(value), shift), -LARGEST, LARGEST))

    def local(search: Mapping[str, Any]) -> dict[str, Any]:
        return {**search, **{key: scaled(search[key]) for key in LOCAL if key in search}}

    changed: dict[str, Any] = {**memory, "exponent": exponent}
    if "local" in memory:
        changed["local"] = local(memory["local"])
    if "fresh start" in memory:
        start = memory["fresh start"]
        changed["fresh start"] = {**start, "local": local(start["local"])}
    if "credit" in memory:
        credit = memory["credit"]
        rates = {kind: scaled(rate) for kind, rate in credit["rates"].items()}
        changed["credit"] = {**credit, "rates": rates, "best": scaled(credit["best"])}
    return changed
