"""Who tunes better: losses, wins, tests, and how much of the way to the best was gone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..grouping import group_by_experiment, group_by_method
from ..metrics import (
    PairedComparison,
    Verdict,
    best_so_far,
    compare_paired,
    quartiles,
    verdicts_of,
)
from ..records import RunRecord, latest
from ..tables import CANNOT_DECIDE_MEANS, format_number, format_verdict, markdown

__all__ = ["TIED_LOSS", "gaps_of", "tuning_report"]

TIED_LOSS = 0.01
"""Losses that differ by less than this share of the larger one tie (chosen here: what
cross-validation on other folds changes is more)."""

NOTES = """\
On the seeds that the reference has. Loss: best of the run, mean over the folds that the seed fixes;
median (quartiles). Gap: share of the way from the best point of the first design to the best loss
of any run of the seed that was still to go, mean over seeds; 0 is the best known. Wins, ties and
losses are the reference's, a tie within {tied:.0%}; p is of Wilcoxon's signed-rank test on log
losses, Holm-corrected within the task. {cannot} Failed runs count with the best that they had."""


def _final(record: RunRecord) -> float:
    return float(best_so_far(record.y, "minimize")[-1]) if record.y else float("inf")


def gaps_of(records: Sequence[RunRecord]) -> dict[tuple[str, int], float]:
    """Return the gap of every run of one task, by method and seed.

    A gap of 1 is no progress after the first design, 0 the best loss that any run of the seed has
    reached; where nothing was to gain all gaps are 0.
    """
    best: dict[int, float] = {}
    start: dict[int, float] = {}
    for record in records:
        best[record.seed] = min(best.get(record.seed, np.inf), _final(record))
        design = np.array(record.y[: record.n_initial])
        first = float(np.nanmin(design)) if np.isfinite(design).any() else np.inf
        start[record.seed] = max(start.get(record.seed, -np.inf), first)
    gaps = {}
    for record in records:
        way = start[record.seed] - best[record.seed]
        gap = _final(record) - best[record.seed]
        gaps[record.method, record.seed] = gap / way if way > 0 else 0.0
    return gaps


def tuning_report(records: Sequence[RunRecord], reference: str = "boring") -> str:
    """Return the report in Markdown, whatever there is.

    Parameters
    ----------
    records : sequence of RunRecord
    reference : str
        Method that the others are compared with.
    """
    parts: list[str] = []
    totals: dict[str, list[float]] = {}
    for task, group in group_by_experiment(latest(records)).items():
        table, gaps = _task_table(group, reference)
        parts.append(f"## {task}\n\n{table}")
        for method, gap in gaps.items():
            totals.setdefault(method, []).append(gap)
    rows = [
        [method, str(len(gaps)), format_number(float(np.mean(gaps)))]
        for method, gaps in totals.items()
    ]
    parts.append("## All\n\n" + markdown(["method", "tasks", "mean gap"], rows))
    failed = [record for record in latest(records) if record.status == "failed"]
    if failed:
        listing = ", ".join(f"{r.experiment} {r.method} {r.seed}" for r in failed)
        parts.append(f"Failed runs: {listing}.")
    return "\n\n".join([*parts, NOTES.format(tied=TIED_LOSS, cannot=CANNOT_DECIDE_MEANS)])


def _task_table(records: Sequence[RunRecord], reference: str) -> tuple[str, dict[str, float]]:
    gaps = gaps_of(records)
    shared = {record.seed for record in records if record.method == reference}
    methods = group_by_method([r for r in records if r.seed in shared or not shared])
    finals = {name: {r.seed: _final(r) for r in group} for name, group in methods.items()}
    others = [name for name in methods if name != reference]
    tests = {name: _compare(finals.get(reference, {}), finals[name]) for name in others}
    verdicts = dict(zip(others, verdicts_of(list(tests.values())), strict=True))
    rows, mean_gaps = [], {}
    for name, group in methods.items():
        low, middle, high = quartiles(list(finals[name].values()))
        mean_gaps[name] = float(np.mean([gaps[name, record.seed] for record in group]))
        test, verdict = tests.get(name), verdicts.get(name)
        rows.append(
            [
                name,
                str(len(group)),
                f"{format_number(middle)} ({format_number(low)}, {format_number(high)})",
                format_number(mean_gaps[name]),
                "" if test is None else f"{test.wins}/{test.ties}/{test.losses}",
                "" if test is None or verdict is None else format_verdict(verdict),
                "" if test is None or verdict is None else _in_words(test, verdict),
                format_number(float(np.mean([r.optimizer_seconds / r.budget for r in group]))),
            ]
        )
    header = ["method", "seeds", "loss", "gap", "W/T/L", "p", "reference is", "s per ask"]
    return markdown(header, rows), mean_gaps


def _compare(mine: dict[int, float], theirs: dict[int, float]) -> PairedComparison | None:
    seeds = sorted(set(mine) & set(theirs))
    if not seeds:
        return None
    return compare_paired(
        [mine[seed] for seed in seeds], [theirs[seed] for seed in seeds], tie_ratio=TIED_LOSS
    )


def _in_words(test: PairedComparison, verdict: Verdict) -> str:
    if not verdict.can_decide:
        return "cannot decide"
    if not verdict.is_significant:
        return "not told apart"
    return "better" if test.wins > test.losses else "worse"
