"""How well the subspaces that runs report are found, and how far their accounts are true."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .account import judged_angle, learned_dim, names_directions, true_dim
from .grouping import group_by_experiment, group_by_method
from .records import RunRecord
from .standings import order_methods
from .tables import Spread, markdown

__all__ = ["ACCOUNTS_MEAN", "AccountSummary", "accounts_table", "summarise_accounts"]

CLOSE_DEGREES = 2.0
"""A subspace nearer than this is found (chosen here)."""

WRONG_DEGREES = 20.0
"""A subspace that is trusted and further than this is a false statement (chosen here)."""

MISSING = "–"

ACCOUNTS_MEAN = (
    "Largest principal angle to the true subspace at the end, of the min(d, d') that exist. "
    "d = D: runs that keep every direction, and so name none; the other columns but the coverage "
    "are of the runs that name fewer. Where the truth itself is all of R^D there is nothing to be "
    "near. d right:few:many: runs whose d is that of the truth, is smaller, is larger; with a "
    "larger one the angle is 0 as soon as the truth is contained. Coverage: share of the "
    "parameters whose true importance lies in its interval."
)
"""How to read :func:`accounts_table`."""


@dataclass(frozen=True)
class AccountSummary:
    """The accounts of one method in one experiment.

    Parameters
    ----------
    method : str
    n : int
        Runs that report a subspace.
    n_whole : int
        Runs among them whose d is D: these name nothing, and are in none of the figures below but
        the coverage.
    angle : Spread or None
        Largest principal angle to the truth, degrees; None where there is no truth, or the truth is
        all of R^D.
    close, wrong : float or None
        Share of the runs within 2 degrees, and of those that trust a subspace more than 20 degrees
        away; None where there is no angle.
    trusted : float or None
        Share of the runs that trust their subspace.
    right_dim : tuple of int, or None
        Runs whose d is that of the truth, is smaller, is larger. With a larger one the angle is 0
        as soon as the truth is contained.
    dimensions : dict of int to int
        How often each d was chosen.
    coverage : float or None
        Mean share of the parameters whose true importance lies in the 90 % interval.
    """

    method: str
    n: int
    n_whole: int
    angle: Spread | None
    close: float | None
    wrong: float | None
    trusted: float | None
    right_dim: tuple[int, int, int] | None
    dimensions: dict[int, int]
    coverage: float | None


def summarise_accounts(records: Iterable[RunRecord]) -> tuple[AccountSummary, ...]:
    """Return a summary for each method of one experiment that reports subspaces."""
    groups = group_by_method(records)
    accounts = {
        method: [record for record in groups[method] if record.trusted is not None]
        for method in order_methods(groups)
    }
    return tuple(_summary(method, runs) for method, runs in accounts.items() if runs)


def _summary(method: str, runs: Sequence[RunRecord]) -> AccountSummary:
    naming = [record for record in runs if names_directions(record)]
    judged = [
        (angle, bool(record.trusted))
        for record in naming
        if (angle := judged_angle(record)) is not None
    ]
    named = [d for record in naming if (d := learned_dim(record)) is not None]
    coverages = [r.importance_coverage for r in runs if r.importance_coverage is not None]
    truth = true_dim(runs[0])
    return AccountSummary(
        method,
        n=len(runs),
        n_whole=len(runs) - len(naming),
        angle=Spread.of(angle for angle, _ in judged),
        close=_share([angle < CLOSE_DEGREES for angle, _ in judged]),
        wrong=_share([trusted and angle > WRONG_DEGREES for angle, trusted in judged]),
        trusted=_share([record.trusted is True for record in naming]),
        right_dim=None
        if truth is None
        else (named.count(truth), sum(d < truth for d in named), sum(d > truth for d in named)),
        dimensions=dict(sorted(Counter(named).items())),
        coverage=sum(coverages) / len(coverages) if coverages else None,
    )


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
                    str(summary.n_whole),
                    MISSING if angle is None else f"{angle.median:.1f}",
                    _percent(summary.close),
                    _percent(summary.trusted),
                    _percent(summary.wrong),
                    ":".join(map(str, summary.right_dim)) if summary.right_dim else MISSING,
                    dimensions or MISSING,
                    _percent(summary.coverage),
                ]
            )
    if not rows:
        return ""
    header = ["experiment", "method", "runs", "d = D", "median angle / °", "< 2°", "trusted"]
    header += ["trusted but > 20°", "d right:few:many", "chosen d", "coverage (90 %)"]
    return markdown(header, rows)
