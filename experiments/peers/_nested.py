"""Nested balanced sparse embeddings of BAxUS (Papenmeier et al. 2022), as pure functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from boring.typing import BoolArray, FloatArray

from ._ladder import LENGTH_INIT, LENGTH_MIN, SUCCESS_TOLERANCE, Ladder

__all__ = ["NestedEmbedding", "NestedRun", "SplitPlan", "nested_run"]

OWN_TOLERANCE = 1e-6
"""An embedding holds a point that it reproduces this well, in scaled units (rounding)."""


@dataclass(frozen=True, eq=False)
class NestedEmbedding:
    """A linear map in which every input follows one target coordinate, up to its sign.

    Parameters
    ----------
    bins : ndarray of int, shape (D,)
        Target coordinate of each input, from 0 to d - 1; all of them occur.
    signs : ndarray, shape (D,)
        1 or -1.
    """

    bins: NDArray[np.intp]
    signs: FloatArray

    @classmethod
    def draw(cls, dim: int, target_dim: int, rng: np.random.Generator) -> NestedEmbedding:
        """Draw a balanced embedding: bins differ in size by one at most (section 3.1)."""
        bins = np.empty(dim, dtype=np.intp)
        for number, members in enumerate(np.array_split(rng.permutation(dim), target_dim)):
            bins[members] = number
        signs = rng.choice(np.array([-1.0, 1.0]), size=dim)
        return cls(bins, signs)

    @property
    def target_dim(self) -> int:
        """Number d of target coordinates."""
        return int(self.bins.max()) + 1

    def up(self, Z: FloatArray) -> FloatArray:
        """Map target points, shape (n, d), to inputs, shape (n, D); both in [-1, 1]."""
        return np.asarray(self.signs * Z[:, self.bins], dtype=np.float64)

    def down(self, X: FloatArray) -> FloatArray:
        """Return the least-squares preimages, shape (n, d): means of the signed inputs."""
        sums = np.zeros((self.target_dim, len(X)))
        np.add.at(sums, self.bins, (self.signs * X).T)
        return np.asarray((sums / np.bincount(self.bins)[:, None]).T, dtype=np.float64)

    def holds(self, X: FloatArray) -> BoolArray:
        """Tell which points are images of target points, shape (n,)."""
        error = np.abs(self.up(self.down(X)) - X).max(axis=1, initial=0.0)
        return np.asarray(error <= OWN_TOLERANCE)

    def split(self, n_new_bins: int, rng: np.random.Generator) -> NestedEmbedding:
        """Return an embedding whose image holds that of this one (section 3.3).

        Parameters
        ----------
        n_new_bins : int
            Each target coordinate hands its inputs, in random order, to itself and so many new
            ones; a coordinate of fewer inputs becomes one for each.
        rng : numpy.random.Generator
            Consumed.
        """
        bins = self.bins.copy()
        following = self.target_dim
        for number in range(self.target_dim):
            members = rng.permutation(np.flatnonzero(self.bins == number))
            n_parts = min(n_new_bins + 1, members.size)
            for part in np.array_split(members, n_parts)[1:]:
                bins[part] = following
                following += 1
        return NestedEmbedding(bins, self.signs)


@dataclass(frozen=True)
class SplitPlan:
    """How a budget is shared out over the target dimensions (section 3.3).

    Parameters
    ----------
    dim : int
        Inputs D.
    budget : int
        Evaluations by which all D are to be reached, initial design apart.
    n_new_bins : int
        b, as in :meth:`NestedEmbedding.split`.
    """

    dim: int
    budget: int
    n_new_bins: int

    @property
    def n_splits(self) -> int:
        """Splits from the first target dimension to D."""
        return round(float(np.log(self.dim) / np.log(self.n_new_bins + 1)))

    @property
    def first_dim(self) -> int:
        """The first target dimension, at most b, whose last split comes nearest to D."""
        last = np.arange(1, self.n_new_bins + 1) * (self.n_new_bins + 1) ** self.n_splits
        return min(self.dim, 1 + int(np.argmin(np.abs(last - self.dim))))

    def failure_tolerance(self, target_dim: int) -> int:
        """Return after how many failures in a row the side is halved, in that dimension.

        A target dimension has a share of the budget in proportion to it, spent when the trust
        region shrinks from its first length to the least one without a success.
        """
        if target_dim >= self.dim:
            return self.dim
        steps = self.n_new_bins + 1
        weight = self.n_new_bins / (self.first_dim * (steps ** (self.n_splits + 1) - 1))
        share = round(float(self.budget * target_dim * weight))
        halvings = int(np.floor(np.log(LENGTH_MIN / LENGTH_INIT) / np.log(0.5)))
        return max(1, min(target_dim, share // halvings))


@dataclass(frozen=True)
class NestedRun:
    """Where BAxUS stands.

    Parameters
    ----------
    embedding : NestedEmbedding
    ladder : Ladder
    n_splits : int
        Collapses of the trust region so far.
    """

    embedding: NestedEmbedding
    ladder: Ladder
    n_splits: int


def nested_run(
    X: FloatArray,
    costs: FloatArray,
    embedding: NestedEmbedding,
    plan: SplitPlan,
    generator_of: Callable[[int], np.random.Generator],
    *,
    n_told: int,
    n_design: int,
    success_tolerance: int = SUCCESS_TOLERANCE,
) -> NestedRun:
    """Return where BAxUS stands after these evaluations, in the order in which they were told.

    Parameters
    ----------
    X : ndarray, shape (n, D), scaled units
        A point that the embedding does not hold at its turn is passed over.
    costs : ndarray, shape (n,)
        Smaller is better, infinite for a failed evaluation.
    embedding : NestedEmbedding
        The first one.
    plan : SplitPlan
    generator_of : callable
        Takes the number of a collapse, from 0, and returns the generator of its split.
    n_told : int
        Evaluations at the beginning that no trust region asked for.
    n_design : int
        Points in the embedding that are the initial design; those told come first.
    success_tolerance : int

    Returns
    -------
    NestedRun
        Of a collapsed trust region the target coordinates have been split; where there are as
        many as inputs already, its side is the first one again.
    """
    ladder, n_splits, n_held = Ladder(), 0, 0
    for row, cost in enumerate(costs.tolist()):
        if not embedding.holds(X[row : row + 1])[0]:
            continue
        n_held += 1
        if row < n_told or n_held <= n_design:
            ladder = Ladder(best=min(ladder.best, cost))
            continue
        tolerance = plan.failure_tolerance(embedding.target_dim)
        ladder = ladder.step(cost, tolerance, success_tolerance)
        if ladder.is_collapsed:
            embedding = embedding.split(plan.n_new_bins, generator_of(n_splits))
            ladder, n_splits = ladder.restarted(), n_splits + 1
    return NestedRun(embedding, ladder, n_splits)
