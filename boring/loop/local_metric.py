"""The metric of the local model: along which directions the incumbent's neighbourhood varies.

A local model of D inputs needs about D^2/2 points to know that a function varies along a few
directions only, and until then it spends its steps on finding that out. The subspace of the points
around the incumbent (`boring.subspace.nearby`) is known with fewer. It is learned anew whenever the
data have grown by a share, and competes, by its log posterior on the local model's own points, with
the metric of that model's gradients (`boring.loop.local_turn.fit_local`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple
from typing import Any

import numpy as np

from boring.effort import MOST_POINTS
from boring.exceptions import FitError
from boring.kernels import FeatureMap, Stretched
from boring.subspace.dimension import DimensionRow
from boring.subspace.nearby import NearbyFactors, learn_nearby_factors
from boring.typing import FloatArray

# Points from which on directions are learned, and the growth of the data after which anew.
LEARN_FROM = 30
LEARN_GROWTH = 1.05
# More inputs are left out: square factors would take seconds.
MOST_INPUTS = 50
# Of the directions that do not matter, relative to the one that matters most.
PASSIVE_SCALE = 0.01


def is_due(X: FloatArray, memory: Mapping[str, Any], effective_dims: Sequence[int]) -> bool:
    """Tell whether directions are to be learned from points X (n, D); see `update_directions`."""
    n, dim = X.shape
    if not effective_dims or dim > MOST_INPUTS or n < LEARN_FROM:
        return False
    return not memory or n >= LEARN_GROWTH * int(memory["n"])


def update_directions(
    X: FloatArray,
    y: FloatArray,
    memory: Mapping[str, Any],
    effective_dims: Sequence[int],
    rng: np.random.Generator,
    best: int | None = None,
    most: int = MOST_POINTS,
) -> dict[str, Any]:
    """Return the memory of the directions, learned anew where that is due.

    Parameters
    ----------
    X : ndarray, shape (n, D), scaled units
    y : ndarray, shape (n,)
        Unwarped, larger is better.
    memory : mapping
        What this function returned last; empty at first.
    effective_dims : sequence of int
        The d that may be chosen. After a choice only that d and its neighbours compete.
    rng : numpy.random.Generator
    best : int, optional
        Row of the incumbent; default that of the largest value.
    most : int, default 500
        Where there are more points, as many are learned from as if there were so many.

    Returns
    -------
    dict
        JSON-able. A search that fails leaves the last directions until the data have grown again.
    """
    if not is_due(X, memory, effective_dims):
        return dict(memory)
    n = len(X)
    dimensions = effective_dims
    last = nearby_factors(memory)
    if last is not None:
        dimensions = [d for d in effective_dims if abs(d - last.effective_dim) <= 1]
    try:
        learned = learn_nearby_factors(X, y, dimensions, rng=rng, last=last, best=best, most=most)
    except (FitError, np.linalg.LinAlgError):
        return {**memory, "n": n}
    if learned is None:
        return {"n": n}
    return {
        "n": n,
        "effective_dim": learned.effective_dim,
        "factors": {str(d): M.tolist() for d, M in learned.factors.items()},
        "table": [list(astuple(row)) for row in learned.table],
        "settled": learned.is_settled,
    }


def directions_map(memory: Mapping[str, Any]) -> FeatureMap | None:
    """Return inputs stretched along the learned directions, as a map; None without any.

    A direction that does not matter keeps `PASSIVE_SCALE`.
    """
    nearby = nearby_factors(memory)
    if nearby is None:
        return None
    directions, scales, _ = np.linalg.svd(nearby.factor, full_matrices=False)
    scales = np.maximum(scales / scales[0], PASSIVE_SCALE)
    return Stretched(directions, scales, PASSIVE_SCALE)


def nearby_factors(memory: Mapping[str, Any]) -> NearbyFactors | None:
    """Return what the memory holds of the neighbourhood's subspace; None without any."""
    if not memory.get("effective_dim"):
        return None
    factors = {int(d): np.array(M) for d, M in memory["factors"].items()}
    table = tuple(DimensionRow(*row) for row in memory.get("table", ()))
    is_settled = bool(memory.get("settled", False))
    return NearbyFactors(int(memory["effective_dim"]), factors, table, is_settled)
