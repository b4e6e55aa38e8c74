"""Rankings of methods over many experiments, aggregated.

Two kinds, both of Aryan (PhD thesis, Victoria University of Wellington 2020): *partial* rankings
from pairwise tests (ch. 3), where nothing is ordered that a test does not tell apart, and rankings
by Friedman's mean ranks (ch. 4). Either gives one relation "is better than" for each experiment,
and these are added up by Borda's count and by first places. Smaller costs are better throughout.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import comb

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boring.exceptions import InvalidInputError
from boring.typing import FloatArray

from .grouping import group_by_experiment, group_by_method, present
from .metrics import best_so_far
from .records import RunRecord
from .tables import format_number, markdown

__all__ = [
    "ALPHA",
    "Aggregate",
    "FriedmanTest",
    "Ranking",
    "aggregate",
    "best_ranked",
    "friedman",
    "least_p_value",
    "partial_ranking",
    "ranking_of_records",
    "ranking_table",
]

ALPHA = 0.0005
"""Of each pairwise test: half of .001, for two figures (Aryan, ch. 3). It does not correct for the
number of pairs."""


@dataclass(frozen=True, eq=False)
class Ranking:
    """Which methods are better than which, in one experiment.

    Parameters
    ----------
    methods : tuple of str
    beats : ndarray of bool, shape (k, k)
        Entry (i, j): method i is better than method j.
    """

    methods: tuple[str, ...]
    beats: NDArray[np.bool_]

    @property
    def borda(self) -> dict[str, int]:
        """Number of methods that each is better than."""
        return dict(zip(self.methods, (int(n) for n in self.beats.sum(axis=1)), strict=True))

    @property
    def first(self) -> tuple[str, ...]:
        """Methods that none is better than."""
        return tuple(m for j, m in enumerate(self.methods) if not self.beats[:, j].any())


@dataclass(frozen=True)
class FriedmanTest:
    """Friedman's test of k methods over n blocks.

    Parameters
    ----------
    mean_ranks : dict of str to float
        1 is best; ties have the mean of their ranks.
    statistic, p_value : float or None
        Chi-square with k - 1 degrees of freedom; None with fewer than three methods or two blocks,
        or where every block is one tie.
    """

    mean_ranks: dict[str, float]
    statistic: float | None
    p_value: float | None

    def ranking(self) -> Ranking:
        """Return the order of the mean ranks; equal ones tie."""
        ranks = np.array(list(self.mean_ranks.values()))
        return Ranking(tuple(self.mean_ranks), ranks[:, np.newaxis] < ranks)


@dataclass(frozen=True)
class Aggregate:
    """Rankings added up.

    Parameters
    ----------
    n_rankings : int
    borda, first : dict of str to int
        Sum of Borda counts, and number of rankings in which nothing is better; best Borda first.
    """

    n_rankings: int
    borda: dict[str, int] = field(default_factory=dict)
    first: dict[str, int] = field(default_factory=dict)


def partial_ranking(
    finals: Mapping[str, ArrayLike],
    areas: Mapping[str, ArrayLike] | None = None,
    alpha: float = ALPHA,
) -> Ranking:
    """Return the partial ranking of methods by pairwise Mann-Whitney tests.

    Parameters
    ----------
    finals : mapping of str to array_like, shape (n_i,)
        Costs at the end, one for each run.
    areas : mapping of str to array_like, optional
        Areas under the curves of best-so-far, which decide where the first test does not.
    alpha : float, default 0.0005
        Two-sided level of each test.

    Raises
    ------
    InvalidInputError
        If a method has no runs, a figure is NaN, or the methods of the two mappings differ.

    Notes
    -----
    The relation need not be transitive. With few runs no p-value can be below ``alpha``: see
    :func:`least_p_value`.
    """
    methods = tuple(finals)
    if areas is not None and set(areas) != set(methods):
        raise InvalidInputError(
            f"finals and areas must be of the same methods; they differ in "
            f"{sorted(set(areas) ^ set(methods))}."
        )
    costs = [
        {name: _costs(name, values) for name, values in figures.items()}
        for figures in (finals, areas)
        if figures is not None
    ]
    beats = np.zeros((len(methods), len(methods)), dtype=np.bool_)
    for i, first in enumerate(methods):
        for j, second in enumerate(methods[:i]):
            for figures in costs:
                side = _smaller(figures[first], figures[second], alpha)
                if side:
                    beats[(i, j) if side < 0 else (j, i)] = True
                    break
    return Ranking(methods, beats)


def least_p_value(n: int, m: int) -> float:
    """Return the smallest two-sided p-value that n against m runs can have.

    Examples
    --------
    >>> round(least_p_value(5, 5), 4)
    0.0079
    """
    return min(1.0, 2.0 / comb(n + m, n))


def friedman(costs: Mapping[str, ArrayLike]) -> FriedmanTest:
    """Return Friedman's test of methods over blocks.

    Parameters
    ----------
    costs : mapping of str to array_like, shape (n,)
        Of each method in the same n blocks, such as paired seeds or experiments.

    Raises
    ------
    InvalidInputError
        If the lengths differ, there are no blocks, or a figure is NaN.
    """
    from scipy.stats import friedmanchisquare, rankdata

    columns = [_costs(name, values) for name, values in costs.items()]
    if not columns or len({column.size for column in columns}) != 1:
        raise InvalidInputError(
            "Friedman's test needs every method in the same blocks; received lengths "
            f"{[column.size for column in columns]}."
        )
    table = np.column_stack(columns)
    ranks = rankdata(table, axis=1)
    means = dict(zip(costs, (float(rank) for rank in ranks.mean(axis=0)), strict=True))
    n, k = table.shape
    if k < 3 or n < 2 or bool(np.all(ranks == ranks[:, :1])):
        return FriedmanTest(means, None, None)
    test = friedmanchisquare(*columns)
    return FriedmanTest(means, float(test.statistic), float(test.pvalue))


def aggregate(rankings: Iterable[Ranking]) -> Aggregate:
    """Add up rankings, over experiments or over groups of them.

    A method that is not in a ranking gains nothing from it.
    """
    listed = list(rankings)
    borda: dict[str, int] = {}
    first: dict[str, int] = {}
    for ranking in listed:
        for method, points in ranking.borda.items():
            borda[method] = borda.get(method, 0) + points
            first[method] = first.get(method, 0) + (method in ranking.first)
    order = sorted(borda, key=lambda method: (-borda[method], -first[method]))
    return Aggregate(len(listed), {m: borda[m] for m in order}, {m: first[m] for m in order})


def ranking_of_records(
    records: Iterable[RunRecord], alpha: float = ALPHA
) -> tuple[Ranking, FriedmanTest | None]:
    """Return both rankings of the methods of one experiment.

    Parameters
    ----------
    records : iterable of RunRecord
        All of one experiment; what is not installed is left out.
    alpha : float

    Returns
    -------
    Ranking
        By the best noiseless value at the end, by its regret where the optimum is known, then by
        the area under the best so far; a run that ended early keeps its last best value, one
        without a value has infinite costs.
    FriedmanTest or None
        Over the seeds that all methods have; None if there are none.
    """
    groups = group_by_method(present(records))
    finals: dict[str, FloatArray] = {}
    areas: dict[str, FloatArray] = {}
    by_seed: dict[str, dict[int, float]] = {}
    for method, runs in groups.items():
        curves = [_curve(run) for run in runs]
        finals[method] = np.array([curve[-1] for curve in curves])
        areas[method] = np.array([curve.mean() for curve in curves])
        by_seed[method] = {
            run.seed: float(curve[-1]) for run, curve in zip(runs, curves, strict=True)
        }
    shared = sorted(set.intersection(*(set(costs) for costs in by_seed.values())))
    test = None
    if shared:
        test = friedman({m: [costs[s] for s in shared] for m, costs in by_seed.items()})
    return partial_ranking(finals, areas, alpha), test


def best_ranked(records: Iterable[RunRecord], number: int) -> tuple[str, ...]:
    """Return so many methods, those with the largest Borda counts of Friedman's mean ranks."""
    groups = group_by_experiment(present(records)).values()
    tests = (ranking_of_records(group)[1] for group in groups)
    return tuple(aggregate(test.ranking() for test in tests if test is not None).borda)[:number]


def ranking_table(records: Iterable[RunRecord]) -> str:
    """Return Borda counts and first places over the experiments of the records, as Markdown.

    The last column is the mean over experiments of Friedman's mean ranks over seeds.
    """
    groups = [group for group in group_by_experiment(records).values() if present(group)]
    pairs = [ranking_of_records(group) for group in groups]
    tests = [test for _, test in pairs if test is not None]
    partial = aggregate(ranking for ranking, _ in pairs)
    by_rank = aggregate(test.ranking() for test in tests)
    rows = []
    points = by_rank.borda
    for method in sorted(partial.borda, key=lambda m: (-partial.borda[m], -points.get(m, 0))):
        ranks = [test.mean_ranks[method] for test in tests if method in test.mean_ranks]
        rows.append(
            [
                method,
                str(partial.borda[method]),
                str(partial.first[method]),
                str(points.get(method, 0)),
                str(by_rank.first.get(method, 0)),
                format_number(float(np.mean(ranks)) if ranks else None),
            ]
        )
    header = ["method", "Borda", "first", "Borda of ranks", "first of ranks", "mean rank"]
    return "\n".join([markdown(header, rows), "", *_notes(groups, tests)])


def _notes(groups: Sequence[Sequence[RunRecord]], tests: Sequence[FriedmanTest]) -> list[str]:
    held = [group_by_method(present(group)) for group in groups]
    fewest = min(len(runs) for methods in held for runs in methods.values())
    notes = [
        f"Experiments: {len(groups)}. Borda counts the methods that each is better than, first "
        f"the experiments in which none is: by Mann-Whitney at {ALPHA:g} on the final value, then "
        "on the area under the best so far; of ranks, by Friedman's mean ranks over the seeds that "
        f"all methods have ({_shared(held)} an experiment)."
    ]
    least = least_p_value(fewest, fewest)
    unit = "seed" if fewest == 1 else "seeds"
    if least > ALPHA:
        notes.append(
            f"With {fewest} {unit} no such test can have a p-value below {least:.2g}: where there "
            "are no more, the first two columns say nothing yet."
        )
    significant = sum(test.p_value is not None and test.p_value < 0.05 for test in tests)
    notes.append(f"Friedman's test finds a difference (p < .05) in {significant} of {len(tests)}.")
    return notes


def _shared(held: Sequence[Mapping[str, Sequence[RunRecord]]]) -> str:
    """Return how many seeds all methods of an experiment have, from the fewest to the most."""
    counts = [
        len(set.intersection(*({run.seed for run in runs} for runs in methods.values())))
        for methods in held
    ]
    fewest, most = min(counts), max(counts)
    return str(most) if fewest == most else f"{fewest} to {most}"


def _curve(run: RunRecord) -> FloatArray:
    """Return the best so far as a cost, shape (budget,): a regret where the optimum is known."""
    sign = 1.0 if run.direction == "minimize" else -1.0
    if not run.value:
        return np.full(run.budget, np.inf)
    curve = sign * (best_so_far(run.value, run.direction) - (run.optimum or 0.0))
    return np.append(curve, np.full(run.budget - curve.size, curve[-1]))


def _costs(name: str, values: ArrayLike) -> FloatArray:
    costs = np.asarray(values, dtype=np.float64)
    if costs.ndim != 1 or costs.size == 0 or bool(np.any(np.isnan(costs))):
        raise InvalidInputError(
            f"{name} must have a list of costs without NaN, one at least; received shape "
            f"{costs.shape}."
        )
    return costs


def _smaller(first: FloatArray, second: FloatArray, alpha: float) -> int:
    """Return -1 or 1 if the first or the second costs are smaller by the test, 0 otherwise."""
    from scipy.stats import mannwhitneyu

    pooled = np.append(first, second)
    if bool(np.all(pooled == pooled[0])):
        return 0  # the test has no variance to divide by
    test = mannwhitneyu(first, second, alternative="two-sided")
    if test.pvalue >= alpha:
        return 0
    return -1 if test.statistic < 0.5 * first.size * second.size else 1
