"""W as loops without a search of their own for it use it: learned anew as the data grow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from boring.subspace.clustered import choose_and_learn
from boring.subspace.factor_fit import basis_of
from boring.typing import FloatArray
from boring.warping import log_warp

__all__ = ["learned_basis", "remembered_basis"]

#: W is learned anew whenever the data have grown by this factor, as in `boring.loop.subspace_turn`.
RELEARN_GROWTH = 1.15


def remembered_basis(memory: Mapping[str, Any]) -> FloatArray | None:
    """Return the W that a memory holds; None if it holds none."""
    return np.array(memory["basis"], dtype=np.float64) if "basis" in memory else None


def learned_basis(
    X: FloatArray,
    y: FloatArray,
    effective_dim: int | None,
    memory: Mapping[str, Any],
    rng: np.random.Generator,
    *,
    from_last: bool,
) -> tuple[FloatArray, dict[str, Any]]:
    """Return W, shape (D, d), and what to remember of it.

    Parameters
    ----------
    X : ndarray, shape (n, D), scaled units
    y : ndarray, shape (n,)
        Finite, as they came; larger is better. They are warped by the logarithm, as in the
        library's loop: a standardised or half-ranked trace of the subspace is weaker.
    effective_dim : int or None
        d; None lets the BIC choose.
    memory : mapping
        What was to be remembered last; other keys do not matter.
    rng : numpy.random.Generator
        Consumed where W is learned.
    from_last : bool
        Whether the last W is one of the search's starts.
    """
    W = remembered_basis(memory)
    if W is not None and len(X) < RELEARN_GROWTH * int(memory["learned_at"]):
        return W, {"basis": memory["basis"], "learned_at": memory["learned_at"]}
    starts = () if W is None or not from_last else (W,)
    W = basis_of(choose_and_learn(X, log_warp(y), effective_dim, rng=rng, starts=starts))
    return W, {"basis": W.tolist(), "learned_at": len(X)}
