"""Tables of results, as Markdown that also reads well in a terminal."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from boring.exceptions import InvalidInputError

from .account import judged_angle, names_directions
from .curves import regret_curves, value_curves
from .grouping import group_by_method, present
from .metrics import PairedComparison, Verdict, quartiles, verdicts_of
from .records import RunRecord
from .standings import Final, finals_of

__all__ = [
    "CANNOT_DECIDE",
    "CANNOT_DECIDE_MEANS",
    "DEFAULT_REFERENCE",
    "MethodSummary",
    "Spread",
    "format_number",
    "format_verdict",
    "markdown",
    "results_table",
    "summarise",
]

DEFAULT_REFERENCE = "boring"
"""The method that the others are compared with."""

MISSING = "–"

CANNOT_DECIDE = "?"
"""Stands for a p-value that could not have been significant, whatever the runs."""

CANNOT_DECIDE_MEANS = (
    f"{CANNOT_DECIDE}: the test cannot decide, for with so few seeds and so many methods (or so "
    "few seeds on which the two differ) no p-value is below .05."
)


@dataclass(frozen=True)
class Spread:
    """Median, quartiles and mean of one figure over seeds.

    Parameters
    ----------
    median, lower, upper, mean : float
        Lower and upper are the quartiles.
    n : int
        How many seeds had the figure.
    """

    median: float
    lower: float
    upper: float
    mean: float
    n: int

    @classmethod
    def of(cls, values: Iterable[float]) -> Spread | None:
        """Return the spread of the values, or None if there are none."""
        array = np.array(list(values), dtype=np.float64)
        if array.size == 0:
            return None
        lower, median, upper = quartiles(array)
        return cls(median, lower, upper, float(np.mean(array)), int(array.size))


@dataclass(frozen=True)
class MethodSummary:
    """The figures of one method in one experiment.

    Parameters
    ----------
    method : str
    n_runs, n_failed, n_missing : int
        Failed runs are part of every figure that they have. Missing ones, whose package is not
        installed, are part of none and do not count as runs.
    best_value, simple_regret, largest_angle_degrees, seconds_per_ask : Spread or None
        Over seeds; seconds per suggestion is the mean of a run, so that no part of the cost hides
        in rare slow steps. Angles are of runs that name fewer directions than inputs, where the
        truth has fewer, too.
    peak_memory_mib : Spread or None
        Over seeds.
    against_reference : PairedComparison or None
        Of the costs (:class:`experiments.standings.Final`), on the seeds that both have; None for
        the reference itself.
    verdict : Verdict or None
        What its test says, Holm-corrected for all comparisons of the experiment.
    """

    method: str
    n_runs: int
    n_failed: int
    n_missing: int
    best_value: Spread | None
    simple_regret: Spread | None
    largest_angle_degrees: Spread | None
    seconds_per_ask: Spread | None
    peak_memory_mib: Spread | None
    against_reference: PairedComparison | None
    verdict: Verdict | None = None


def summarise(
    records: Iterable[RunRecord], reference: str = DEFAULT_REFERENCE
) -> tuple[MethodSummary, ...]:
    """Return one summary for each method of one experiment.

    Parameters
    ----------
    records : iterable of RunRecord
        All of one experiment.
    reference : str, default "boring"
        Method that the others are paired with; need not be there.

    Returns
    -------
    tuple of MethodSummary
        In the order of :func:`group_by_method`.

    Raises
    ------
    InvalidInputError
        If the records are of several experiments, or there are none.
    """
    runs = tuple(records)
    names = {record.experiment for record in runs}
    if len(names) != 1:
        raise InvalidInputError(
            f"a summary needs the records of one experiment; received {sorted(names)}."
        )
    groups = group_by_method(runs)
    finals = finals_of(runs)
    summaries = [_summary(method, group, finals, reference) for method, group in groups.items()]
    verdicts = verdicts_of([summary.against_reference for summary in summaries])
    return tuple(
        dataclasses.replace(summary, verdict=verdict if summary.against_reference else None)
        for summary, verdict in zip(summaries, verdicts, strict=True)
    )


def _summary(
    method: str,
    group: Sequence[RunRecord],
    finals: Mapping[str, Final],
    reference: str,
) -> MethodSummary:
    runs = present(group)
    values = known = against = None
    if runs:
        values = Spread.of(value_curves(runs).final())
        if all(record.simple_regret is not None for record in runs):
            known = Spread.of(regret_curves(runs).final())
        if method != reference and reference in finals:
            against = finals[method].against(finals[reference])
    return MethodSummary(
        method=method,
        n_runs=len(runs),
        n_failed=sum(record.status == "failed" for record in runs),
        n_missing=len(group) - len(runs),
        best_value=values,
        simple_regret=known,
        largest_angle_degrees=Spread.of(
            angle for record in runs if (angle := judged_angle(record)) is not None
        ),
        seconds_per_ask=Spread.of(
            float(np.mean(record.seconds_per_ask)) for record in runs if record.seconds_per_ask
        ),
        peak_memory_mib=Spread.of(
            record.peak_memory_mib for record in runs if record.peak_memory_mib is not None
        ),
        against_reference=against,
    )


def format_number(value: float | None, digits: int = 3) -> str:
    """Return a number in few characters.

    Examples
    --------
    >>> format_number(0.00001234), format_number(12.3456), format_number(0.0)
    ('1.23e-05', '12.3', '0')
    """
    if value is None or math.isnan(value):
        return MISSING
    return f"{value:.{digits}g}"


def _spread(spread: Spread | None) -> str:
    if spread is None:
        return MISSING
    median, low, high, mean = (
        format_number(value, 2)
        for value in (spread.median, spread.lower, spread.upper, spread.mean)
    )
    return f"{median} [{low}, {high}] {mean}"


def _angle(spread: Spread | None, n_runs: int) -> str:
    if spread is None:
        return MISSING
    text = f"{spread.median:.1f} [{spread.lower:.1f}, {spread.upper:.1f}]"
    return text if spread.n == n_runs else f"{text} ({spread.n} of {n_runs})"


def format_verdict(verdict: Verdict) -> str:
    """Return the corrected p-value, or the mark of a test that could not decide."""
    return format_number(verdict.p_value, 2) if verdict.can_decide else CANNOT_DECIDE


def _comparison(comparison: PairedComparison | None, verdict: Verdict | None) -> str:
    if comparison is None or verdict is None:
        return MISSING
    counts = f"{comparison.wins}:{comparison.ties}:{comparison.losses}"
    return f"{counts} ({format_verdict(verdict)})"


def _runs(summary: MethodSummary) -> str:
    if not summary.n_runs:
        return "missing"
    if summary.n_failed:
        return f"{summary.n_runs}, {summary.n_failed} failed"
    return str(summary.n_runs)


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table with aligned columns; first column left, the others right.

    Examples
    --------
    >>> print(markdown(["a", "b"], [["x", "10"]]))
    | a |  b |
    |:--|---:|
    | x | 10 |
    """
    body = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    widths = [
        max(2, *(len(line[column]) for line in [list(header), *body]))
        for column in range(len(header))
    ]
    widths[0] = max(len(line[0]) for line in [list(header), *body])

    def line(cells: Sequence[str]) -> str:
        padded = [
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        return "| " + " | ".join(padded) + " |"

    rule = "|" + "|".join(
        ":" + "-" * (width + 1) if column == 0 else "-" * (width + 1) + ":"
        for column, width in enumerate(widths)
    )
    return "\n".join([line(header), rule + "|", *(line(row) for row in body)])


def results_table(records: Iterable[RunRecord], reference: str = DEFAULT_REFERENCE) -> str:
    """Return the table of one experiment, with a line on how to read it.

    Parameters
    ----------
    records : iterable of RunRecord
        All of one experiment.
    reference : str, default "boring"
        Method that the others are paired with.

    Returns
    -------
    str
        Heading, Markdown table, notes on failures and on regrets below zero.
    """
    runs = tuple(records)
    summaries = summarise(runs, reference)
    header = [
        "method",
        "runs",
        "best",
        "simple regret [quartiles] mean",
        "angle / °",
        "s/ask",
        "MiB",
        "win:tie:loss (p)",
    ]
    rows = [
        [
            summary.method,
            _runs(summary),
            format_number(summary.best_value.median if summary.best_value else None, 4),
            _spread(summary.simple_regret),
            _angle(summary.largest_angle_degrees, summary.n_runs),
            format_number(summary.seconds_per_ask.median if summary.seconds_per_ask else None, 2),
            f"{summary.peak_memory_mib.median:.0f}" if summary.peak_memory_mib else MISSING,
            _comparison(summary.against_reference, summary.verdict),
        ]
        for summary in summaries
    ]
    first = runs[0]
    budgets = ", ".join(str(budget) for budget in sorted({record.budget for record in runs}))
    optimum = MISSING if first.optimum is None else format_number(first.optimum, 5)
    heading = (
        f"### {first.experiment}: {budgets} evaluations, {first.direction}, optimum {optimum}\n"
    )
    return "\n".join([heading, markdown(header, rows), *_notes(runs, reference)])


def _notes(runs: Sequence[RunRecord], reference: str) -> list[str]:
    notes = [
        "",
        "Medians over seeds; regret with quartiles and mean, angle (largest principal angle to the "
        "true subspace) with quartiles; s/ask is wall time per suggestion, MiB the process's peak.",
    ]
    if reference in {record.method for record in runs}:
        notes.append(
            f"Wins are the row's against {reference} on the same seeds; within 10 % is a tie; p "
            "from Wilcoxon's signed-rank test on log regret, Holm-corrected for the rows. Where no "
            "optimum is known, the gap to the best value of any run stands for the regret. "
            f"{CANNOT_DECIDE_MEANS}"
        )
    for method, group in group_by_method(runs).items():
        judged = [record for record in group if record.trusted is not None]
        if judged:
            naming = [record for record in judged if names_directions(record)]
            trusted = sum(record.trusted is True for record in naming)
            whole = len(judged) - len(naming)
            more = f" {whole} more keep every direction, and name none." if whole else ""
            notes.append(
                f"{method} trusts its own subspace in {trusted} of {len(naming)} runs.{more}"
            )
    if reference not in {record.method for record in runs}:
        notes.append(f"No paired comparison: {reference!r} is not among the methods.")
    absences: dict[str, str] = {}
    for record in runs:
        if record.status == "missing":
            absences[record.method] = record.error or "not installed"
    notes += [f"Missing: {absence}" for absence in absences.values()]
    for record in runs:
        if record.status == "failed":
            reason = (record.error or "unknown").strip().splitlines()[-1]
            notes.append(
                f"Failed: {record.method}, seed {record.seed}, after {len(record.y)} of "
                f"{record.budget} evaluations: {reason} (its last best value is carried on)"
            )
    beaten = sorted(
        {
            r.problem
            for r in runs
            if r.simple_regret is not None and min(r.simple_regret, default=0) < 0
        }
    )
    if beaten:
        notes.append(f"Below the declared optimum, which must then be wrong: {', '.join(beaten)}.")
    return notes
