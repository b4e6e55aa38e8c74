"""Embeddings into so many inputs that no point can be written down.

A point of 10^9 inputs takes 8 GB, their bounds 16, and A a multiple of that; hence neither a
:class:`boring.space.Box` nor an :class:`boring.optimizer.Optimizer` of that dimension can exist.
What can: an objective that depends on few of its inputs reads few of them. So the optimiser works
on the d search coordinates z, and the objective receives a :class:`LazyPoint`, which makes the
inputs that it is asked for, ``clip(A[i] z)``. Row i of A is a function of the seed and of i alone,
made when it is first read (Wang et al. 2016, section 4.1, where D = 10^9).

This is REMBO with the kernel k_Y. The kernels k_X and k_Psi need all D inputs, and so does telling
points from outside; both remain with :mod:`baselines.embeddings.rembo`.

Examples
--------
>>> def loss(x):  # reads two of a billion inputs
...     return (x[123] - 0.3) ** 2 + (x[987_654_321] + 0.1) ** 2
>>> embeddings = [LazyEmbedding(10**9, 2, seed) for seed in range(4)]
>>> result = interleaved_search(loss, embeddings, 40, direction="minimize", seed=0)
>>> result.y_best < 0.05, result.x_best[[123, 5]].shape
(True, (2,))
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

import baselines  # noqa: F401 (registers the names)
from boring.exceptions import InvalidInputError
from boring.registry import get_optimizer
from boring.result import OptimizationResult, best_index
from boring.rng import keyed_generator, seed_entropy
from boring.space import Box
from boring.typing import Direction, FloatArray, SeedLike
from boring.validation import as_points, as_positive_int

__all__ = ["LazyEmbedding", "LazyPoint", "LazyResult", "interleaved_search"]

LARGEST_DENSE = 10**7
"""Inputs that a point may be written out to (80 MB)."""


@dataclass(frozen=True, eq=False)
class LazyEmbedding:
    """A Gaussian embedding A (D, d) whose rows are made when they are read.

    Parameters
    ----------
    dim : int
        D, below 2^63.
    effective_dim : int, 1 <= d <= D
    seed : int, SeedSequence or None
        None draws fresh entropy.

    Notes
    -----
    Rows that were read are kept: memory grows with the inputs that the objective reads, not with
    D. Row i is the start of a Philox stream with the counter's second word at i, so it does not
    depend on which rows were read before.
    """

    dim: int
    effective_dim: int
    seed: SeedLike = None
    _key: NDArray[np.uint64] = field(init=False, repr=False)
    _rows: dict[int, FloatArray] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Check the sizes and draw the key of the rows."""
        as_positive_int(self.dim, "dim")
        as_positive_int(self.effective_dim, "effective_dim")
        if not self.effective_dim <= self.dim < 2**63:
            raise InvalidInputError(
                f"dim must be at least effective_dim and below 2**63; received dim = {self.dim}, "
                f"effective_dim = {self.effective_dim}. Lower effective_dim."
            )
        rng = keyed_generator(seed_entropy(self.seed), "lazy embedding")
        object.__setattr__(self, "_key", rng.integers(2**64, size=2, dtype=np.uint64))
        object.__setattr__(self, "_rows", {})

    @property
    def half_width(self) -> float:
        """Half-width sqrt(d) of the search box."""
        return float(np.sqrt(self.effective_dim))

    @property
    def search_box(self) -> Box:
        """The box of z, for any optimiser."""
        sides = np.full(self.effective_dim, self.half_width)
        return Box(-sides, sides)

    @property
    def n_rows_read(self) -> int:
        """Rows that have been made so far."""
        return len(self._rows)

    def rows(self, indices: Sequence[int] | np.ndarray) -> FloatArray:
        """Return rows of A.

        Parameters
        ----------
        indices : sequence of int, length k, each from 0 to D - 1

        Returns
        -------
        ndarray, shape (k, d)
        """
        found = [self._row(int(index)) for index in indices]
        return np.array(found).reshape(len(found), self.effective_dim)

    def _row(self, index: int) -> FloatArray:
        row = self._rows.get(index)
        if row is None:
            stream = np.random.Philox(key=self._key, counter=np.array([0, index, 0, 0], np.uint64))
            row = np.random.Generator(stream).standard_normal(self.effective_dim)
            self._rows[index] = row
        return row

    def point(self, z: ArrayLike) -> LazyPoint:
        """Return the point ``clip(A z)`` for z of shape (d,)."""
        return LazyPoint(self, as_points(z, self.effective_dim, "z")[0])


@dataclass(frozen=True, eq=False)
class LazyPoint:
    """A point of the cube [-1, 1]^D that makes its inputs when they are read.

    ``x[i]`` is a number; ``x[indices]`` and ``x[a:b]`` are arrays. ``len(x)`` is D.

    Parameters
    ----------
    embedding : LazyEmbedding
    z : ndarray, shape (d,)
        Search coordinates.
    """

    embedding: LazyEmbedding
    z: FloatArray

    def __len__(self) -> int:
        return self.embedding.dim

    def __getitem__(self, index: Any) -> Any:
        dim = self.embedding.dim
        if isinstance(index, slice):
            chosen: Any = range(*index.indices(dim))
            self._refuse_if_many(len(chosen))
        else:
            chosen = np.asarray(index)
            if chosen.dtype.kind not in "iu" or chosen.ndim > 1:
                raise InvalidInputError(
                    f"A lazy point takes an integer, a sequence of integers or a slice; received "
                    f"{index!r}. Index the inputs that you read."
                )
            if np.any(chosen < -dim) or np.any(chosen >= dim):
                raise IndexError(f"index {index!r} is out of range for {dim} inputs")
            if chosen.ndim == 0:
                return float(self._values([int(chosen) % dim])[0])
            chosen = [int(i) % dim for i in chosen]
        return self._values(chosen)

    def _values(self, indices: Sequence[int]) -> FloatArray:
        return np.clip(self.embedding.rows(indices) @ self.z, -1.0, 1.0)

    def _refuse_if_many(self, n: int) -> None:
        if n > LARGEST_DENSE:
            raise InvalidInputError(
                f"A lazy point is not written out beyond {LARGEST_DENSE} inputs; received a "
                f"demand for {n}. Read only the inputs that the objective needs, as x[indices]."
            )

    def __iter__(self) -> Iterator[float]:
        self._refuse_if_many(len(self))
        return iter(self[:].tolist())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """Write the point out, if it is short enough."""
        self._refuse_if_many(len(self))
        return np.asarray(self[:], dtype=dtype)


@dataclass(frozen=True, eq=False)
class LazyResult:
    """What interleaved searches found.

    Parameters
    ----------
    x_best : LazyPoint
    y_best : float
        Caller's sign.
    y : ndarray, shape (n,)
        Values in the order of their evaluation.
    runs : tuple of OptimizationResult
        One for each embedding; their points are z.
    """

    x_best: LazyPoint
    y_best: float
    y: FloatArray
    runs: tuple[OptimizationResult, ...]


def interleaved_search(
    fun: Callable[[LazyPoint], float],
    embeddings: Sequence[LazyEmbedding],
    n_evaluations: int,
    *,
    direction: Direction,
    method: str = "gp",
    seed: SeedLike = None,
    **options: Any,
) -> LazyResult:
    """Optimise in several embeddings by turns, each with an optimiser of its own.

    Parameters
    ----------
    fun : callable
        Takes a :class:`LazyPoint`, inputs in [-1, 1], and returns a real number.
    embeddings : sequence of LazyEmbedding
        k of them.
    n_evaluations : int
        In all.
    direction : {"minimize", "maximize"}
    method : str, default "gp"
        Registered optimiser of the d search coordinates.
    seed : int, SeedSequence or None
    **options
        Of that optimiser.

    Returns
    -------
    LazyResult

    Raises
    ------
    InvalidInputError
        If there is no embedding, or no evaluation gave a finite value.
    """
    n_evaluations = as_positive_int(n_evaluations, "n_evaluations")
    if not embeddings:
        raise InvalidInputError("embeddings must hold at least one; received none.")
    entropy = seed_entropy(seed)
    make = get_optimizer(method)
    searches = [
        make(
            embedding.search_box,
            direction=direction,
            seed=int(keyed_generator(entropy, "lazy run", run).integers(2**63)),
            **options,
        )
        for run, embedding in enumerate(embeddings)
    ]
    values = np.empty(n_evaluations)
    for turn in range(n_evaluations):
        run = turn % len(searches)
        z = searches[run].ask()
        values[turn] = float(fun(embeddings[run].point(z[0])))
        searches[run].tell(z, values[turn])
    best = best_index(values, direction)
    if best is None:
        raise InvalidInputError(
            f"None of {n_evaluations} values is finite. Check the objective at a point of its own."
        )
    run = best % len(searches)
    runs = tuple(search.result() for search in searches)
    x_best = embeddings[run].point(runs[run].X[best // len(searches)])
    return LazyResult(x_best, float(values[best]), values, runs)
