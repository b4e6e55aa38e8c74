"""How well the subspaces that runs report are found, and how far their accounts are true."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .grouping import group_by_experiment, group_by_method
from .records import RunRecord
from .standings import order_methods
from .tables import Spread, markdown

__all__ = ["AccountSummary", "accounts_table", "summarise_accounts"]

CLOSE_DEGREES = 2.0
"""A subspace nearer than this is found (chosen here)."""

WRONG_DEGREES = 20.0
"""A subspace that is trusted and further than this is a false statement (chosen here)."""

MISSING = "–"


@dataclass(frozen=True)
class AccountSummary:
    """The accounts of one method in one experiment.

    Parameters
    ----------
    method : str
    n : int
        Runs that report a subspace.
    angle : Spread or None
        Largest principal angle to the truth, degrees; None where there is no truth.
    close, wrong : float or None
        Share of the runs within 2 degrees, and of those that trust a subspace more than 20 degrees
        away; None where there is no truth.
    trusted : float
        Share of the runs that trust their subspace.
    dimensions : dict of int to int
        How often each d was chosen.
    coverage : float or None
        Mean share of the parameters whose true importance lies in the 90 % interval.
    """

    method: str
    n: int
    angle: Spread | None
    close: float | None
    wrong: float | None
    trusted: float
    dimensions: dict[int, int]
    coverage: float | None


def _dimension(record: RunRecord) -> int | None:
    if record.learned_dim is not None:
        return record.learned_dim
    return len(record.basis[0]) if record.basis else None


def summarise_accounts(records: Iterable[RunRecord]) -> tuple[AccountSummary, ...]:
    """Return a summary for each method of one experiment that reports subspaces."""
    groups = group_by_method(records)
    summaries = []
    for method in order_methods(groups):
        runs = [record for record in groups[method] if record.trusted is not None]
        if not runs:
            continue
        judged = [
            (record.largest_angle_degrees, bool(record.trusted))
            for record in runs
            if record.largest_angle_degrees is not None
        ]
        chosen = [d for record in runs if (d := _dimension(record)) is not None]
        coverages = [r.importance_coverage for r in runs if r.importance_coverage is not None]
        summaries.append(
            AccountSummary(
                method,
                len(runs),
                Spread.of(angle for angle, _ in judged),
                _share([angle < CLOSE_DEGREES for angle, _ in judged]),
                _share([trusted and angle > WRONG_DEGREES for angle, trusted in judged]),
                sum(record.trusted is True for record in runs) / len(runs),
                dict(sorted(Counter(chosen).items())),
                sum(coverages) / len(coverages) if coverages else None,
            )
        )
    return tuple(summaries)


def _share(flags: Sequence[bool]) -> float | None:
    return sum(flags) / len(flags) if flags else None


def _percent(share: float | None) -> str:
    return MISSING if share is None else f"{share:.0%}"


def accounts_table(records: Iterable[RunRecord]) -> str:
    """Return the table over all experiments as Markdown; empty text if no run has an account."""
    rows = []
    for experiment, group in group_by_experiment(records).items():
        for summary in summarise_accounts(group):
            angle = summary.angle
            dimensions = ", ".join(f"{d} ({n}x)" for d, n in summary.dimensions.items())
            rows.append(
                [
                    experiment,
                    summary.method,
                    str(summary.n),
                    MISSING if angle is None else f"{angle.median:.1f}",
                    _percent(summary.close),
                    _percent(summary.trusted),
                    _percent(summary.wrong),
                    dimensions or MISSING,
                    _percent(summary.coverage),
                ]
            )
    if not rows:
        return ""
    header = ["experiment", "method", "runs", "median angle / °", "< 2°", "trusted"]
    header += ["trusted but > 20°", "chosen d", "coverage (90 %)"]
    return markdown(header, rows)
