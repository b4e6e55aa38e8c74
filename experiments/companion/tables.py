"""Two tables that ask a question: against random search, and with a learned subspace or without."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ..grouping import group_by_experiment, group_by_method, present
from ..metrics import PairedComparison, compare_paired, verdicts_of
from ..records import RunRecord
from ..tables import CANNOT_DECIDE, CANNOT_DECIDE_MEANS, format_number, format_verdict, markdown

__all__ = ["LEARNED", "against_random_table", "learned", "observed_table", "subspace_table"]

LEARNED = "subspace=learned"
RANDOM = "random"


def learned(method: str) -> str:
    """Return the variant of a method that sees a learned subspace.

    Examples
    --------
    >>> learned("elm")
    'elm[subspace=learned]'
    """
    return f"{method}[{LEARNED}]"


def against_random_table(records: Iterable[RunRecord], counts: Sequence[int]) -> str:
    """Return, for each experiment, whether each method beats random search.

    Parameters
    ----------
    records : iterable of RunRecord
        With regrets.
    counts : sequence of int
        Numbers of evaluations after which the regrets are compared; the budget, if that is less.
    """
    parts = []
    for name, runs in group_by_experiment(present(records)).items():
        groups = group_by_method(runs)
        chance = groups.get(RANDOM, ())
        budget = max(run.budget for run in runs)
        reached = sorted({min(count, budget) for count in counts})
        columns = {
            method: [_against(group, chance, count) for count in reached]
            for method, group in groups.items()
        }
        rows = [
            [method, str(len(groups[method])), *(cell for column in found for cell in column)]
            for method, found in columns.items()
        ]
        header = ["method", "runs"]
        for count in reached:
            header += [f"median at {count}", "win:tie:loss", "p", "beats random?"]
        parts.append(f"### {name}\n\n{markdown(header, rows)}\n")
    return "\n".join(
        [
            *parts,
            "Median simple regret over seeds, wins against random search on the same seeds (within "
            "10 % is a tie), Wilcoxon's p. Yes: the median is smaller and p is at most .05; "
            f"weakly: the median alone; no: neither. {CANNOT_DECIDE_MEANS}",
        ]
    )


def _against(
    group: Sequence[RunRecord], chance: Sequence[RunRecord], count: int
) -> tuple[str, str, str, str]:
    mine, theirs = _regrets(group, count), _regrets(chance, count)
    median = float(np.median(list(mine.values())))
    comparison = _paired(mine, theirs)
    if group[0].method == RANDOM or comparison is None:
        return format_number(median), "", "", ""
    better = median < float(np.median([theirs[s] for s in mine if s in theirs]))
    (verdict,) = verdicts_of([comparison])
    answer = "yes" if verdict.is_significant else "weakly" if verdict.can_decide else CANNOT_DECIDE
    return (
        format_number(median),
        f"{comparison.wins}:{comparison.ties}:{comparison.losses}",
        format_number(comparison.p_value, 2),
        answer if better else "no",
    )


def subspace_table(records: Iterable[RunRecord]) -> str:
    """Return each method on raw x against the same on a learned subspace, on paired seeds."""
    parts = []
    for name, runs in group_by_experiment(present(records)).items():
        groups = group_by_method(runs)
        pairs = [(m, learned(m)) for m in groups if learned(m) in groups]
        ends = {m: _regrets(group, None) for m, group in groups.items()}
        found = [_paired(ends[variant], ends[raw]) for raw, variant in pairs]
        rows = []
        for (raw, variant), comparison, verdict in zip(
            pairs, found, verdicts_of(found), strict=True
        ):
            if comparison is None:
                continue
            shared = sorted(set(ends[raw]) & set(ends[variant]))
            rows.append(
                [
                    raw,
                    str(len(shared)),
                    format_number(float(np.median([ends[raw][s] for s in shared]))),
                    format_number(float(np.median([ends[variant][s] for s in shared]))),
                    f"{comparison.wins}:{comparison.ties}:{comparison.losses}",
                    format_number(comparison.p_value, 2),
                    format_verdict(verdict),
                ]
            )
        header = ["method", "seeds", "on x", "on x W", "win:tie:loss", "p", "p (Holm)"]
        parts.append(f"### {name}\n\n{markdown(header, rows)}\n")
    return "\n".join(
        [
            *parts,
            "Median simple regret at the end; wins are those of the learned subspace on the same "
            "seeds (within 10 % is a tie), p from Wilcoxon's signed-rank test on log regret. "
            f"{CANNOT_DECIDE_MEANS}",
        ]
    )


def observed_table(records: Iterable[RunRecord]) -> str:
    """Return the best *observed* values, for experiments whose noise can be lucky.

    Beside them stands the noiseless value of the same run: the best that could have been observed.
    """
    parts = []
    for name, runs in group_by_experiment(present(records)).items():
        rows = []
        for method, group in group_by_method(runs).items():
            made = [run for run in group if run.y]
            seen = [min(run.y) if run.direction == "minimize" else max(run.y) for run in made]
            could = [run.y_best for run in made if run.y_best is not None]
            if made:
                rows.append([method, format_number(float(np.median(seen)), 5)])
                rows[-1].append(format_number(float(np.median(could)) if could else None, 5))
        header = ["method", "best observed", "best observable"]
        parts.append(f"{name}\n\n{markdown(header, rows)}\n")
    return "\n".join(parts)


def _regrets(runs: Iterable[RunRecord], count: int | None) -> dict[int, float]:
    """Return the regret after so many evaluations by seed, at the end for None."""
    found = {}
    for run in runs:
        regrets = run.simple_regret or ()
        upto = regrets if count is None else regrets[:count]
        found[run.seed] = upto[-1] if upto else float("inf")
    return found


def _paired(mine: dict[int, float], theirs: dict[int, float]) -> PairedComparison | None:
    shared = sorted(set(mine) & set(theirs))
    if not shared:
        return None
    return compare_paired([mine[s] for s in shared], [theirs[s] for s in shared])
