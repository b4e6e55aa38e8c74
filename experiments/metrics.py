"""Figures of merit: regret, subspace error, and paired comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from boring.exceptions import InvalidInputError
from boring.subspace.stiefel import largest_angle
from boring.typing import Direction, FloatArray

__all__ = [
    "ALPHA",
    "TIE_RATIO",
    "PairedComparison",
    "Verdict",
    "best_so_far",
    "compare_paired",
    "holm",
    "largest_angle_degrees",
    "procrustes_align",
    "quartiles",
    "simple_regret",
    "verdicts_of",
]

ALPHA = 0.05
"""Significance level, after Holm's correction."""

TIE_RATIO = 0.1
"""Two regrets tie when they differ by less than this share of the larger one (chosen here)."""

TIE_FLOOR = 1e-9
"""Regrets below this are both zero to rounding, in units of the objective (chosen here)."""

ROUNDING = 1e-9
"""A regret above minus this, relative to 1 + |optimum|, is rounding and counts as zero."""


def best_so_far(values: ArrayLike, direction: Direction) -> FloatArray:
    """Return the best value among the first k, for every k.

    Parameters
    ----------
    values : array_like, shape (n,)
        Values in the order of evaluation; non-finite ones are passed over.
    direction : {"minimize", "maximize"}
        What "best" means.

    Returns
    -------
    ndarray, shape (n,)
        The worst infinity before the first finite value.

    Examples
    --------
    >>> best_so_far([2.0, 3.0, 1.0], "minimize")
    array([2., 2., 1.])
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise InvalidInputError(f"values must have shape (n,); received shape {array.shape}.")
    worst = np.inf if direction == "minimize" else -np.inf
    finite = np.where(np.isfinite(array), array, worst)
    accumulate = np.minimum if direction == "minimize" else np.maximum
    return np.asarray(accumulate.accumulate(finite), dtype=np.float64)


def simple_regret(values: ArrayLike, optimum: float, direction: Direction) -> FloatArray:
    """Return the gap between the best value so far and the optimum.

    Parameters
    ----------
    values : array_like, shape (n,)
        Noiseless values in the order of evaluation.
    optimum : float
        Declared optimum.
    direction : {"minimize", "maximize"}
        What "best" means.

    Returns
    -------
    ndarray, shape (n,)
        Non-increasing, in units of the objective. Rounding below zero is set to zero; a clearly
        negative regret stays, because it says that the declared optimum is wrong.

    Examples
    --------
    >>> simple_regret([3.0, 1.0, 2.0], 1.0, "minimize")
    array([2., 0., 0.])
    """
    gap = best_so_far(values, direction) - optimum
    regret = gap if direction == "minimize" else -gap
    rounding = (regret < 0.0) & (regret > -ROUNDING * (1.0 + abs(optimum)))
    return np.where(rounding, 0.0, regret)


def largest_angle_degrees(learned: ArrayLike, truth: ArrayLike) -> float:
    """Return the largest principal angle between two column spans, in degrees.

    For spans of different dimension it is the largest of the min(d, d') angles that exist.

    Parameters
    ----------
    learned, truth : array_like, shapes (D, d) and (D, d')

    Returns
    -------
    float
        Between 0 and 90.
    """
    return float(np.degrees(largest_angle(learned, truth)))


def procrustes_align(learned: ArrayLike, truth: ArrayLike) -> FloatArray:
    """Rotate a learned basis within its span so that it lies nearest to the true one.

    A basis is identified only up to a rotation of its columns, so entries may be compared only
    after this.

    Parameters
    ----------
    learned : array_like, shape (D, d)
        Orthonormal columns.
    truth : array_like, shape (D, d')
        Orthonormal columns.

    Returns
    -------
    ndarray, shape (D, d')
        ``learned @ R`` with R (d, d') the partial isometry that minimises the Frobenius distance
        to ``truth`` [Schonemann 1966, the orthogonal Procrustes problem].
    """
    W = np.asarray(learned, dtype=np.float64)
    T = np.asarray(truth, dtype=np.float64)
    if W.ndim != 2 or T.ndim != 2 or W.shape[0] != T.shape[0]:
        raise InvalidInputError(
            "two bases must have as many rows each, shapes (D, d) and (D, d'); "
            f"received {W.shape} and {T.shape}."
        )
    U, _, Vt = np.linalg.svd(W.T @ T, full_matrices=False)
    return np.asarray(W @ (U @ Vt), dtype=np.float64)


def quartiles(values: ArrayLike) -> tuple[float, float, float]:
    """Return lower quartile, median and upper quartile; infinities are ordered, NaN is refused.

    Examples
    --------
    >>> quartiles([1.0, 2.0, 3.0, 4.0, 5.0])
    (2.0, 3.0, 4.0)
    """
    array = np.sort(np.asarray(values, dtype=np.float64).ravel())
    if array.size == 0 or np.any(np.isnan(array)):
        raise InvalidInputError("quartiles need at least one value and no NaN.")
    return _quantile(array, 0.25), _quantile(array, 0.5), _quantile(array, 0.75)


def _quantile(ordered: FloatArray, share: float) -> float:
    """Linear interpolation as numpy's, without inf - inf when both neighbours are infinite."""
    position = share * (ordered.size - 1)
    below = int(np.floor(position))
    weight = position - below
    low, high = ordered[below], ordered[min(below + 1, ordered.size - 1)]
    return float(low if weight == 0.0 or low == high else (1.0 - weight) * low + weight * high)


def _least_p_value(n: int) -> float:
    """Return the two-sided p-value of n pairs that differ to one side."""
    return min(1.0, 2.0 ** (1 - n))


@dataclass(frozen=True)
class PairedComparison:
    """Outcome of one method against another on the same seeds.

    Parameters
    ----------
    wins, ties, losses : int
        Seeds on which the first method's figure is smaller, equal within the tie ratio, larger.
    p_value : float or None
        Two-sided Wilcoxon signed-rank test on the logarithms of the figures; None where fewer
        than two pairs differ, so that there is nothing to test. Where differences tie, SciPy
        approximates it; it is never below what the exact test of so many pairs can have.
    """

    wins: int
    ties: int
    losses: int
    p_value: float | None

    @property
    def n(self) -> int:
        """Number of pairs."""
        return self.wins + self.ties + self.losses

    @property
    def least_p_value(self) -> float:
        """The smallest p-value that so many pairs can have: all of them differ, to one side."""
        return _least_p_value(self.n)


def compare_paired(
    first: Sequence[float], second: Sequence[float], tie_ratio: float = TIE_RATIO
) -> PairedComparison:
    """Compare two methods on the same seeds; smaller is better.

    Parameters
    ----------
    first, second : sequence of float, same length
        Final simple regrets (or other non-negative costs), one per seed. Infinite is allowed.
    tie_ratio : float, default 0.1
        Figures tie that differ by less than this share of the larger one.

    Returns
    -------
    PairedComparison
        Wins are the first method's.

    Notes
    -----
    Regrets span many orders of magnitude, so the test works on log(max(regret, 1e-9)): a ratio
    counts the same at 1 and at 1e-6. Ties enter the test as they are; exact zeros of the
    difference are dropped [Wilcoxon 1945].

    Examples
    --------
    >>> compare_paired([1.0, 1.0, 1.0], [2.0, 1.05, 0.5])
    PairedComparison(wins=1, ties=1, losses=1, p_value=...)
    """
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if a.shape != b.shape or a.ndim != 1 or a.size == 0:
        raise InvalidInputError(
            f"a paired comparison needs as many figures each; received {a.shape} and {b.shape}."
        )
    if np.any(np.isnan(a)) or np.any(np.isnan(b)):
        raise InvalidInputError("a paired comparison cannot order NaN.")
    ceiling = 1e300
    a, b = np.clip(a, TIE_FLOOR, ceiling), np.clip(b, TIE_FLOOR, ceiling)
    tied = np.abs(a - b) <= tie_ratio * np.maximum(a, b)
    difference = np.log(a) - np.log(b)
    p_value: float | None = None
    difference = difference[difference != 0.0]  # SciPy would not be exact beside zeros
    if difference.size >= 2:
        from scipy.stats import wilcoxon

        p_value = max(float(wilcoxon(difference).pvalue), _least_p_value(difference.size))
    return PairedComparison(
        wins=int(np.sum(~tied & (a < b))),
        ties=int(np.sum(tied)),
        losses=int(np.sum(~tied & (a > b))),
        p_value=p_value,
    )


def holm(p_values: Sequence[float | None]) -> tuple[float | None, ...]:
    """Correct the p-values of several comparisons for their number.

    Parameters
    ----------
    p_values : sequence of float or None
        None for a comparison without a test; it does not count.

    Returns
    -------
    tuple of float or None
        In the order given: the k-th smallest of m is multiplied by m - k + 1, made no smaller than
        the one before it and no larger than 1 [Holm 1979].

    Examples
    --------
    >>> holm([0.04, None, 0.01, 0.03])
    (0.06, None, 0.03, 0.06)
    """
    tested = sorted(
        (value, position) for position, value in enumerate(p_values) if value is not None
    )
    corrected: list[float | None] = [None] * len(p_values)
    least = 0.0
    for rank, (value, position) in enumerate(tested):
        least = max(least, min(1.0, value * (len(tested) - rank)))
        corrected[position] = least
    return tuple(corrected)


@dataclass(frozen=True)
class Verdict:
    """What a test says of one of several comparisons.

    Parameters
    ----------
    p_value : float or None
        Holm-corrected; None without a test.
    can_decide : bool
        Whether it could be significant at all: whether it is if every comparison that is tested
        comes out as clear as its number of pairs allows.
    """

    p_value: float | None
    can_decide: bool

    @property
    def is_significant(self) -> bool:
        """Whether the two are told apart."""
        return self.p_value is not None and self.p_value <= ALPHA


def verdicts_of(comparisons: Sequence[PairedComparison | None]) -> tuple[Verdict, ...]:
    """Return what the tests of several comparisons say, corrected for their number.

    Notes
    -----
    Of m comparisons over n pairs each none can be significant unless ``m 2^(1-n) <= 0.05``: six
    pairs are enough for one, eight for six. With unequal n the same follows from Holm's correction
    of the smallest p-values.

    Examples
    --------
    >>> clear = compare_paired([1.0] * 6, [2.0, 2.1, 2.2, 2.3, 2.4, 2.5])
    >>> [verdict.is_significant for verdict in verdicts_of([clear])]
    [True]
    >>> verdicts_of([clear, clear])[0]
    Verdict(p_value=0.0625, can_decide=False)
    """
    tested = [one if one is not None and one.p_value is not None else None for one in comparisons]
    corrected = holm([one.p_value if one else None for one in tested])
    least = holm([one.least_p_value if one else None for one in tested])
    return tuple(
        Verdict(p, bound is not None and bound <= ALPHA)
        for p, bound in zip(corrected, least, strict=True)
    )
