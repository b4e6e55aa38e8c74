"""Who stands where over all experiments: best methods, losses of the reference, stuck runs.

Everything here is computed from records, and works on whatever there is: methods are compared on
the seeds that both have.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .config import DEFAULT_METHODS
from .curves import regret_curves, value_curves
from .grouping import group_by_experiment, group_by_method, present
from .metrics import (
    TIE_FLOOR,
    TIE_RATIO,
    PairedComparison,
    Verdict,
    compare_paired,
    quartiles,
    verdicts_of,
)
from .peers import PEERS
from .records import RunRecord
from .variants import base_of

__all__ = [
    "Final",
    "Loss",
    "PeerStanding",
    "finals_of",
    "losses_of",
    "order_methods",
    "standings_against",
    "stuck_share",
    "tied_with_best",
]

BASELINE = "sobol"
"""A run that ends worse than this method's median is called stuck."""

VALUE_FLOOR = 0.01
"""Where no optimum is known, costs are gaps to the best value that any run has seen. Gaps below
this share of the median run's gap count as equal, for ratios of them mean nothing (chosen here)."""


@dataclass(frozen=True)
class Final:
    """How the runs of one method ended in one experiment.

    Parameters
    ----------
    method : str
    shown : dict of int to float
        What a table shows, by seed: simple regret, or the best value where no optimum is known.
    cost : dict of int to float
        What is compared, by seed: smaller is better, and no cost is below ``floor``.
    floor : float
        Smaller costs are not told apart.
    """

    method: str
    shown: dict[int, float]
    cost: dict[int, float]
    floor: float

    @property
    def n(self) -> int:
        """Number of runs."""
        return len(self.cost)

    def median(self, seeds: Iterable[int] | None = None) -> float:
        """Return the median cost over some seeds, all by default."""
        return quartiles([self.cost[seed] for seed in seeds or self.cost])[1]

    def mean(self, seeds: Iterable[int] | None = None) -> float:
        """Return the mean cost over some seeds, all by default."""
        return float(np.mean([self.cost[seed] for seed in seeds or self.cost]))

    def shared(self, other: Final) -> list[int]:
        """Return the seeds that both methods have."""
        return sorted(set(self.cost) & set(other.cost))

    def against(self, other: Final) -> PairedComparison | None:
        """Compare with another method on the shared seeds; None if there are none."""
        seeds = self.shared(other)
        if not seeds:
            return None
        mine, theirs = ([one.cost[seed] for seed in seeds] for one in (self, other))
        return compare_paired(mine, theirs)


def order_methods(names: Iterable[str]) -> tuple[str, ...]:
    """Return methods in a fixed order: ours, each followed by its variants, then peers, others.

    Examples
    --------
    >>> order_methods(["peer-tpe", "gp", "boring[subspace_every=0]", "boring"])
    ('boring', 'boring[subspace_every=0]', 'gp', 'peer-tpe')
    """
    rank = {name: position for position, name in enumerate((*DEFAULT_METHODS, *PEERS))}

    def key(name: str) -> tuple[int, str, str]:
        base = base_of(name)
        return rank.get(base, len(rank)), base, "" if name == base else name

    return tuple(sorted(set(names), key=key))


def finals_of(records: Iterable[RunRecord]) -> dict[str, Final]:
    """Return the ends of the runs of one experiment, by method in the order of the tables.

    Parameters
    ----------
    records : iterable of RunRecord
        All of one experiment. What is not installed has no end. Failed runs end with the best
        they had.
    """
    groups = group_by_method(present(records))
    known = all(r.simple_regret is not None for group in groups.values() for r in group)
    shown: dict[str, dict[int, float]] = {}
    for method, group in groups.items():
        ends = (regret_curves(group) if known else value_curves(group)).final()
        shown[method] = {r.seed: float(end) for r, end in zip(group, ends, strict=True)}
    costs, floor = shown, TIE_FLOOR
    if not known and shown:
        sign = 1.0 if next(iter(groups.values()))[0].direction == "minimize" else -1.0
        flat = [sign * value for ends in shown.values() for value in ends.values()]
        best = min(flat)
        floor = max(TIE_FLOOR, VALUE_FLOOR * (quartiles(flat)[1] - best))
        floor = floor if np.isfinite(floor) else TIE_FLOOR
        costs = {
            method: {seed: sign * value - best for seed, value in ends.items()}
            for method, ends in shown.items()
        }
    return {
        method: Final(
            method,
            shown[method],
            {seed: max(cost, floor) for seed, cost in costs[method].items()},
            floor,
        )
        for method in order_methods(shown)
    }


def tied_with_best(
    finals: Mapping[str, Final],
) -> tuple[str | None, frozenset[str], frozenset[str]]:
    """Return the best method by its median, and those that no test tells from it.

    Parameters
    ----------
    finals : mapping of str to Final
        Of one experiment.

    Returns
    -------
    best : str or None
        Smallest median, then smallest mean, among the methods that have the most seeds; None if
        there is no run.
    tied : frozenset of str
        Others whose Holm-corrected p-value against the best is above 0.05.
    undecided : frozenset of str
        Others whose p-value could not be below that, whatever the runs: too few seeds for so many
        methods, or too few on which the two differ.
    """
    if not finals:
        return None, frozenset(), frozenset()
    most = max(one.n for one in finals.values())
    complete = [one for one in finals.values() if one.n == most]
    best = min(complete, key=lambda one: (one.median(), one.mean()))
    others = [one for one in finals.values() if one is not best]
    tests = [one.against(best) for one in others]
    shared = [
        (one.method, verdict)
        for one, test, verdict in zip(others, tests, verdicts_of(tests), strict=True)
        if test is not None
    ]
    tied = {name for name, one in shared if one.can_decide and not one.is_significant}
    undecided = {name for name, one in shared if not one.can_decide}
    return best.method, frozenset(tied), frozenset(undecided)


@dataclass(frozen=True)
class Loss:
    """An experiment in which the reference has the worse median or mean than another method.

    Parameters
    ----------
    experiment, peer : str
    n : int
        Shared seeds, on which everything else is.
    median, peer_median, mean, peer_mean : float
        Costs of the reference and of the other.
    comparison : PairedComparison
        Wins are the reference's.
    verdict : Verdict
        Holm-corrected for all methods of the experiment.
    """

    experiment: str
    peer: str
    n: int
    median: float
    peer_median: float
    mean: float
    peer_mean: float
    comparison: PairedComparison
    verdict: Verdict

    @property
    def decades_median(self) -> float:
        """By how many powers of ten the reference's median is worse; negative where better."""
        return _decades(self.median, self.peer_median)

    @property
    def decades_mean(self) -> float:
        """The same of the mean."""
        return _decades(self.mean, self.peer_mean)

    @property
    def severity(self) -> float:
        """The larger of the two."""
        return max(self.decades_median, self.decades_mean)

    @property
    def is_significant(self) -> bool:
        """Whether the test tells the two apart, with the reference losing more often."""
        return self.verdict.is_significant and self.comparison.losses > self.comparison.wins


def _decades(worse: float, better: float) -> float:
    if worse == better:  # also where both are infinite
        return 0.0
    with np.errstate(divide="ignore"):
        return float(np.log10(worse) - np.log10(better))


@dataclass(frozen=True)
class PeerStanding:
    """The reference against one method over all experiments.

    Parameters
    ----------
    peer : str
    n_experiments : int
    medians, means : tuple of int
        Experiments in which the reference's median (mean) is better, within 10 %, worse.
    tests : tuple of int
        Experiments that the reference wins significantly, that the test could decide and does not,
        that it loses.
    undecidable : int
        Experiments in which the test could decide nothing.
    seeds : tuple of int
        Runs won, tied (within 10 %), lost on the same seeds.
    """

    peer: str
    n_experiments: int
    medians: tuple[int, int, int]
    means: tuple[int, int, int]
    tests: tuple[int, int, int]
    undecidable: int
    seeds: tuple[int, int, int]


def compared(records: Iterable[RunRecord], reference: str) -> tuple[Loss, ...]:
    """Return every comparison of the reference with another method, won or lost."""
    rows = []
    for experiment, group in group_by_experiment(records).items():
        finals = finals_of(group)
        if reference not in finals:
            continue
        mine = finals[reference]
        peers = [one for name, one in finals.items() if name != reference and mine.shared(one)]
        tests = [mine.against(one) for one in peers]
        for peer, test, verdict in zip(peers, tests, verdicts_of(tests), strict=True):
            assert test is not None
            seeds = mine.shared(peer)
            rows.append(
                Loss(
                    experiment,
                    peer.method,
                    len(seeds),
                    mine.median(seeds),
                    peer.median(seeds),
                    mine.mean(seeds),
                    peer.mean(seeds),
                    test,
                    verdict,
                )
            )
    return tuple(rows)


def losses_of(records: Iterable[RunRecord], reference: str) -> tuple[Loss, ...]:
    """Return where the reference has the worse median or mean, the worst first."""
    rows = [row for row in compared(records, reference) if row.severity > 0.0]
    return tuple(sorted(rows, key=lambda row: (-row.severity, row.experiment, row.peer)))


def standings_against(records: Iterable[RunRecord], reference: str) -> tuple[PeerStanding, ...]:
    """Return the reference's wins, ties and losses against every other method."""
    by_peer: dict[str, list[Loss]] = {}
    for row in compared(records, reference):
        by_peer.setdefault(row.peer, []).append(row)
    return tuple(_standing(peer, by_peer[peer]) for peer in order_methods(by_peer))


def _standing(peer: str, rows: Sequence[Loss]) -> PeerStanding:
    decidable = [row for row in rows if row.verdict.can_decide]
    told_apart = sum(row.verdict.is_significant for row in decidable)
    lost = sum(row.is_significant for row in decidable)
    tests = told_apart - lost, len(decidable) - told_apart, lost
    seeds = [(r.comparison.wins, r.comparison.ties, r.comparison.losses) for r in rows]
    return PeerStanding(
        peer,
        len(rows),
        _tally([(row.median, row.peer_median) for row in rows]),
        _tally([(row.mean, row.peer_mean) for row in rows]),
        tests,
        len(rows) - len(decidable),
        (sum(s[0] for s in seeds), sum(s[1] for s in seeds), sum(s[2] for s in seeds)),
    )


def _tally(pairs: Sequence[tuple[float, float]]) -> tuple[int, int, int]:
    """Count pairs whose first is smaller, within 10 %, larger."""
    tied = [a == b or abs(a - b) <= TIE_RATIO * max(a, b) for a, b in pairs]
    better = sum(not tie and a < b for tie, (a, b) in zip(tied, pairs, strict=True))
    return better, sum(tied), len(pairs) - sum(tied) - better


def stuck_share(finals: Mapping[str, Final], baseline: str = BASELINE) -> dict[str, float]:
    """Return the share of each method's runs that end worse than the baseline's median.

    Parameters
    ----------
    finals : mapping of str to Final
        Of one experiment.
    baseline : str, default "sobol"

    Returns
    -------
    dict of str to float
        Empty where the baseline was not run.
    """
    if baseline not in finals:
        return {}
    line = finals[baseline].median()
    return {
        name: float(np.mean([cost > line for cost in one.cost.values()]))
        for name, one in finals.items()
    }
