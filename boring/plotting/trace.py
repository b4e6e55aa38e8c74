"""A callback that remembers the bases of a run, which keeps only the last one itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from boring.loop.subspace_turn import factor_of
from boring.optimizer import Optimizer
from boring.result import IterationRecord
from boring.subspace.factor_fit import basis_of
from boring.typing import FloatArray

__all__ = ["SubspaceTrace"]


class SubspaceTrace:
    """Remember every basis that an optimiser works with: pass it as ``callback``.

    Attributes
    ----------
    counts : list of int
        Evaluations after which each basis was met.
    bases : list of ndarray, each (D, d)
        Scaled units.

    Examples
    --------
    >>> import boring
    >>> from boring.plotting import SubspaceTrace
    >>> trace = SubspaceTrace()
    >>> result = boring.minimize(lambda x: float(x @ x), [(-1, 1)] * 3, 6, seed=0, callback=trace)
    >>> trace.counts  # too few evaluations for a subspace
    []
    """

    def __init__(self) -> None:
        self.counts: list[int] = []
        self.bases: list[FloatArray] = []

    def __call__(self, optimizer: Optimizer, record: IterationRecord) -> None:
        """Take the basis if it is a new one."""
        basis = _basis_in(optimizer.memory, optimizer.space.dim)
        if basis is not None and not (self.bases and np.array_equal(basis, self.bases[-1])):
            self.counts.append(optimizer.n_told)
            self.bases.append(basis)


def _basis_in(memory: Any, dim: int) -> FloatArray | None:
    """Return the basis that the default loop or the thesis preset remembers."""
    if memory.get("subspace"):
        return basis_of(factor_of(memory["subspace"], dim))
    return np.array(memory["W"]) if "W" in memory else None
