"""The trust region of the local turn, and what came of its steps.

As in model-based trust-region methods (Powell 2009; Conn, Scheinberg & Vicente 2009), r grows when
a step brought at least a quarter of what the model had expected, and shrinks when it brought
nothing: the more cautiously the more inputs there are, since a model of D inputs has to fail in
many directions before its failures say anything. What other turns bring does not open it again:
tried, and searches then settle so late that no budget is left to look elsewhere (Levy 4-in-20
6.8 instead of 0.3 in the worst of four runs, Rosenbrock 5-in-10 2.6 instead of 1.7).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from boring.typing import BoolArray, FloatArray

# Share of the expected gain that makes a step good; factors of the half-width after a good step and
# after a failure; and its least value, scaled units.
GOOD_SHARE = 0.25
GROW = 1.5
SHRINK = 0.6
LEAST_RADIUS = 1e-9
# Beyond so many inputs one failure shrinks the region less: by the root of the excess.
# [chosen here: from 5 on, camelback 2-in-10 ends at 2e-6 instead of 2e-7; never, Ackley 5-in-25
# has one of four runs at 19]
SHRINK_IN_FULL = 10
# Where noise is seen a failure says less, and the region shrinks by so small a power of that; see
# `boring.loop.credit`.
PATIENCE_IN_NOISE = 0.3
# Distances grow like the root of the dimension; half-widths do not.
REFERENCE_DIMENSION = 5
# A told point is the proposed one if all coordinates agree to this (scaled units). A point is
# remembered as it comes back from raw units (`boring.space.Box.returned`): columns far from zero
# lose more digits on the way.
SAME_POINT = 1e-12


def same_rows(X: FloatArray, x: Sequence[float]) -> BoolArray:
    """Tell which rows of X (m, D) are the point x, to the rounding of `SAME_POINT`; shape (m,)."""
    return np.asarray(np.all(np.abs(X - np.asarray(x)) <= SAME_POINT, axis=1))


def patience(dim: int) -> float:
    """Return the exponent, at most 1, that slows the trust region's shrinking in D inputs."""
    return min(1.0, float(np.sqrt(SHRINK_IN_FULL / dim)))


def shrunk(radius: float, dim: int, sees_noise: bool = False) -> float:
    """Return the half-width after a failure."""
    power = patience(dim) * (PATIENCE_IN_NOISE if sees_noise else 1.0)
    return float(max(LEAST_RADIUS, SHRINK**power * radius))


def last_gain(X: FloatArray, y: FloatArray, memory: Mapping[str, Any]) -> float | None:
    """Return by how much the last local proposal beat its incumbent; None if it is not told."""
    n_old = int(memory["n"])
    told = same_rows(X[n_old:], memory["proposed"])
    return float(y[n_old:][told][0]) - float(memory["best"]) if told.any() else None


def is_good(gain: float | None, memory: Mapping[str, Any]) -> bool:
    """Tell whether a step brought at least `GOOD_SHARE` of the gain it promised."""
    return gain is not None and gain > GOOD_SHARE * float(memory.get("promised", memory["gain"]))


def neighbour_radius(X: FloatArray, best: int) -> float:
    """Return the half-width of a trust region around X[best] that has never been tried."""
    dim = X.shape[1]
    distances = np.sort(np.linalg.norm(X - X[best], axis=1))
    reach = float(distances[min(len(X) - 1, dim)]) / max(1.0, np.sqrt(dim / REFERENCE_DIMENSION))
    return float(min(1.0, reach))


def next_radius(
    X: FloatArray, y: FloatArray, memory: Mapping[str, Any], best: int, sees_noise: bool = False
) -> float:
    """Return the trust region's half-width after what came since the last step.

    Parameters
    ----------
    X : ndarray, shape (n, D)
    y : ndarray, shape (n,)
        Larger is better.
    memory : mapping
        `boring.loop.local_turn.LocalStep.memory` of the last step; empty before the first.
    best : int
        Index of the incumbent.
    sees_noise : bool, default False
        A failure then says less, and the region shrinks less.
    """
    if not memory:
        return neighbour_radius(X, best)
    radius, gain = float(memory["radius"]), last_gain(X, y, memory)
    if is_good(gain, memory):
        return min(1.0, GROW * radius)
    if gain is not None:
        return radius if gain > 0 else shrunk(radius, X.shape[1], sees_noise)
    # No step was taken, or it failed: the region stays, unless the incumbent has left it.
    moved = float(np.max(np.abs(X[best] - np.array(memory["center"]))))
    return radius if moved <= radius else neighbour_radius(X, best)


def goes_on(X: FloatArray, y: FloatArray, memory: Mapping[str, Any] | None) -> bool:
    """Tell whether the value told last is that of a good local step."""
    if not memory or not memory["gain"] > 0 or len(y) != int(memory["n"]) + 1:
        return False
    return is_good(last_gain(X, y, memory), memory)


def failures_in_a_row(X: FloatArray, y: FloatArray, memory: Mapping[str, Any]) -> int:
    """Return how many of the last local steps, told ones, brought nothing one after another."""
    gain = last_gain(X, y, memory) if memory else None
    before = int(memory.get("failures", 0)) if memory else 0
    if gain is None:
        return before
    return 0 if gain > 0 else before + 1


def is_awaited(memory: Mapping[str, Any] | None, pending: FloatArray) -> bool:
    """Tell whether the last local proposal is still out for evaluation.

    Until it is told, the model would only repeat itself.
    """
    if not memory or not len(pending):
        return False
    return bool(same_rows(pending, memory["proposed"]).any())
