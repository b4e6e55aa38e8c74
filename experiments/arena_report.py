"""The report over all experiments of an arena: Markdown and pictures, from records alone."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from boring.exceptions import InvalidInputError
from boring.validation import suggest

from .accounts_table import ACCOUNTS_MEAN, accounts_table
from .config import GROUPS
from .grouping import group_by_experiment, present
from .metrics import quartiles
from .records import RunKey, RunRecord, latest
from .small_multiples import convergence_panels
from .standings import (
    BASELINE,
    Final,
    Loss,
    finals_of,
    losses_of,
    order_methods,
    standings_against,
    stuck_share,
    tied_with_best,
)
from .tables import (
    CANNOT_DECIDE,
    CANNOT_DECIDE_MEANS,
    DEFAULT_REFERENCE,
    format_number,
    format_verdict,
    markdown,
    results_table,
)

__all__ = ["REPORT_FILE", "arena_text", "loss_report", "overview_table", "write_arena_report"]

REPORT_FILE = "report.md"
MISSING = "–"
OTHER_GROUP = "other"
OVERVIEW_MARKS = (
    "Bold: the smallest median among the methods with all seeds. ≈: not told apart from it "
    f"(Holm-corrected p above .05). {CANNOT_DECIDE_MEANS} n: fewer seeds than others."
)


def in_groups(records: Iterable[RunRecord]) -> dict[str, dict[str, tuple[RunRecord, ...]]]:
    """Return the records by group and experiment, in the order of the list of experiments."""
    found = group_by_experiment(records)
    ordered: dict[str, dict[str, tuple[RunRecord, ...]]] = {}
    for group, names in GROUPS.items():
        members = {name: found.pop(name) for name in names if name in found}
        if members:
            ordered[group] = members
    if found:
        ordered[OTHER_GROUP] = found
    return ordered


def overview_table(records: Sequence[RunRecord]) -> str:
    """Return the table of all experiments by all methods: median (mean), best and tied marked."""
    made = present(records)
    methods = order_methods(record.method for record in made)
    rows = []
    for group, members in in_groups(made).items():
        for experiment, runs in members.items():
            finals = finals_of(runs)
            best, tied, undecided = tied_with_best(finals)
            most = max(one.n for one in finals.values())
            marks = dict.fromkeys(tied, "≈") | dict.fromkeys(undecided, CANNOT_DECIDE)
            cells = [
                _cell(finals.get(name), most, name == best, marks.get(name)) for name in methods
            ]
            rows.append([f"{experiment} [{group}]", str(most), *cells])
    return markdown(["experiment [group]", "seeds", *methods], rows)


def _cell(final: Final | None, most: int, is_best: bool, mark: str | None) -> str:
    if final is None:
        return MISSING
    values = list(final.shown.values())
    text = f"{format_number(quartiles(values)[1], 2)} ({format_number(float(np.mean(values)), 2)})"
    text = f"**{text}**" if is_best else f"{text} {mark}" if mark else text
    return text if final.n == most else f"{text} n={final.n}"


def loss_report(records: Sequence[RunRecord], reference: str) -> str:
    """Return the reference's standing against each method, and all its losses, worst first."""
    standings = standings_against(records, reference)
    if not standings:
        return f"{reference} shares no seed with another method."
    rows = [
        [
            one.peer,
            str(one.n_experiments),
            *(":".join(map(str, counts)) for counts in (one.medians, one.means, one.tests)),
            str(one.undecidable),
            ":".join(map(str, one.seeds)),
        ]
        for one in standings
    ]
    header = ["method", "experiments", "by median", "by mean", "by test", "cannot decide"]
    header += ["by seed"]
    losses = losses_of(records, reference)
    total = sum(one.n_experiments for one in standings)
    worse = [loss for loss in losses if loss.decades_median > 0.0]
    decidable = total - sum(one.undecidable for one in standings)
    significant = sum(one.tests[2] for one in standings)
    parts = [
        f"Wins:ties:losses of {reference}. By median and by mean of the experiments, within 10 % "
        "is a tie; by test (Wilcoxon, Holm-corrected, .05): significantly better, not told apart, "
        "significantly worse, where the test can decide; cannot decide: experiments with too few "
        "seeds for so many methods; by seed: pairs of runs.",
        markdown(header, rows),
        f"Of {total} comparisons of {reference} with a method in an experiment, the median is "
        f"worse in {len(worse)}, the median or the mean in {len(losses)}. There are {significant} "
        f"significant losses among the {decidable} comparisons that could show one.",
    ]
    if losses:
        parts += [
            "Decades: by how many powers of ten the cost is worse (+) or better. The cost is the "
            "simple regret; where no optimum is known, the gap to the best value of any run, its "
            "floor 1 % of the median run's gap.",
            _losses_table(losses),
        ]
    return "\n\n".join(parts)


def _losses_table(losses: Sequence[Loss]) -> str:
    header = ["experiment", "against", "seeds", "median", "its median", "mean", "its mean"]
    header += ["decades median", "decades mean", "win:tie:loss", "p"]
    rows = []
    for loss in losses:
        counts = loss.comparison
        p = format_verdict(loss.verdict)
        figures = (loss.median, loss.peer_median, loss.mean, loss.peer_mean)
        rows.append(
            [
                loss.experiment,
                loss.peer,
                str(loss.n),
                *(format_number(figure, 2) for figure in figures),
                f"{loss.decades_median:+.2f}",
                f"{loss.decades_mean:+.2f}",
                f"{counts.wins}:{counts.ties}:{counts.losses}",
                f"**{p}**" if loss.is_significant else p,
            ]
        )
    return markdown(header, rows)


def stuck_table(records: Sequence[RunRecord]) -> str:
    """Return the share of each method's runs that end worse than the median of Sobol search."""
    made = present(records)
    methods = order_methods(record.method for record in made)
    rows, shares = [], []
    for members in in_groups(made).values():
        for experiment, runs in members.items():
            share = stuck_share(finals_of(runs))
            if share:
                shares.append(share)
                cells = [f"{share[name]:.0%}" if name in share else MISSING for name in methods]
                rows.append([experiment, *cells])
    if not rows:
        return f"No experiment has runs of {BASELINE}."
    means = [[share[name] for share in shares if name in share] for name in methods]
    rows.append(["mean", *(f"{np.mean(mean):.0%}" if mean else MISSING for mean in means)])
    return markdown(["experiment", *methods], rows)


def state_of(records: Sequence[RunRecord], plan: Iterable[RunKey] = ()) -> str:
    """Return what is missing, incomplete and failed, as a list."""
    held = {record.key for record in records}
    absences = {r.method: r.error or "not installed" for r in records if r.status == "missing"}
    lines = [f"- Missing: {absences[name]}" for name in order_methods(absences)]
    seeds: dict[str, set[int]] = {}
    methods: dict[str, set[str]] = {}
    for record in present(records):
        seeds.setdefault(record.experiment, set()).add(record.seed)
        methods.setdefault(record.experiment, set()).add(record.method)
    wanted = set(plan) | {
        (name, method, seed) for name in seeds for method in methods[name] for seed in seeds[name]
    }
    left: dict[str, dict[str, int]] = {}
    for experiment, method, seed in sorted(wanted):
        if method not in absences and (experiment, method, seed) not in held:
            counts = left.setdefault(experiment, {})
            counts[method] = counts.get(method, 0) + 1
    for experiment, counts in left.items():
        listing = ", ".join(f"{name} {counts[name]}" for name in order_methods(counts))
        lines.append(f"- Incomplete: {experiment}: runs not made yet: {listing}")
    for record in records:
        if record.status == "failed":
            reason = (record.error or "unknown").strip().splitlines()[-1]
            lines.append(
                f"- Failed: {record.experiment}, {record.method}, seed {record.seed}, after "
                f"{len(record.y)} of {record.budget} evaluations: {reason}"
            )
    return "\n".join(lines) if lines else "Every run is there, and none failed."


def arena_text(
    records: Sequence[RunRecord],
    reference: str = DEFAULT_REFERENCE,
    *,
    plan: Iterable[RunKey] = (),
    pictures: Mapping[str, str] | None = None,
) -> str:
    """Return the report as Markdown.

    Parameters
    ----------
    records : sequence of RunRecord
        A repeated run once.
    reference : str, default "boring"
    plan : iterable of RunKey
        Runs that were asked for.
    pictures : mapping of str to str, optional
        Titles and files.
    """
    made = present(records)
    grouped = in_groups(records)
    n_experiments = sum(len(members) for members in grouped.values())
    counts = f"{len(made)} runs of {n_experiments} experiments."
    parts = ["# Arena", counts, "## What is not there", state_of(records, plan)]
    if made:
        parts += [
            "## Overview",
            "Median (mean) of the final simple regret, or of the best value where no optimum is "
            f"known. {OVERVIEW_MARKS}",
            overview_table(records),
            f"## Losses of {reference}",
            loss_report(records, reference),
            "## Stuck runs",
            f"Share of the runs that end worse than the median of {BASELINE} at the same budget "
            f"({BASELINE}'s own is about a half).",
            stuck_table(records),
        ]
    accounts = accounts_table(
        run for members in grouped.values() for g in members.values() for run in g
    )
    if accounts:
        parts += [
            "## Subspaces",
            ACCOUNTS_MEAN,
            accounts,
        ]
    if pictures:
        parts.append("## Convergence")
        parts += [f"![{title}]({name})" for title, name in pictures.items()]
    parts.append("## Experiment by experiment")
    parts += [results_table(runs, reference) for m in grouped.values() for runs in m.values()]
    return "\n\n".join(parts) + "\n"


def write_arena_report(
    records: Sequence[RunRecord],
    directory: str | os.PathLike[str],
    reference: str = DEFAULT_REFERENCE,
    *,
    plan: Iterable[RunKey] = (),
) -> tuple[Path, ...]:
    """Write the report and one picture for each group of experiments.

    Parameters
    ----------
    records : sequence of RunRecord
        Of any experiments and methods, in any state of completeness.
    directory : path-like
        Made if it does not exist.
    reference : str, default "boring"
        Method whose losses are listed.
    plan : iterable of RunKey
        Runs that were asked for, so that those not made are named.

    Returns
    -------
    tuple of Path
        Everything written, the text first.

    Raises
    ------
    InvalidInputError
        If there are no records, the reference is in none of them, or budgets are mixed.
    """
    runs = latest(records)
    if not runs:
        raise InvalidInputError("there are no records to report on yet; run the arena first.")
    methods = {record.method for record in runs}
    if reference != DEFAULT_REFERENCE and reference not in methods:
        raise InvalidInputError(
            f"{reference!r} is not in the records. {suggest(reference, methods)}"
        )
    for experiment, own in group_by_experiment(runs).items():
        budgets = sorted({record.budget for record in own})
        if len(budgets) > 1:
            raise InvalidInputError(
                f"the records of {experiment} are of several budgets, {budgets}, and cannot be "
                "compared. Leave one of the files out."
            )
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    made = present(runs)
    drawn = order_methods(record.method for record in made)
    files = []
    pictures = {}
    for group, panels in in_groups(made).items():
        name = f"convergence-{group}.png"
        title = f"Experiments: {group}"
        files.append(
            convergence_panels(
                panels, folder / name, reference=reference, methods=drawn, title=title
            )
        )
        pictures[title] = name
    text = folder / REPORT_FILE
    content = arena_text(runs, reference, plan=plan, pictures=pictures)
    text.write_text(content, encoding="utf-8")
    return text, *files
