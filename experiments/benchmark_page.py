"""The benchmark page of the documentation, from the records of the arena and from nothing else.

``python -m experiments.benchmark_page [FOLDER...]`` reads every file of records in these folders,
by default what :mod:`experiments.archive` keeps in the repository, and writes
``docs/benchmarks.md`` with its pictures.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from boring import plotting
from boring.exceptions import InvalidInputError
from boring.plotting._canvas import Background, dress, theme_of

from .accounts_table import ACCOUNTS_MEAN, accounts_table
from .archive import ARCHIVE
from .arena_report import OVERVIEW_MARKS, in_groups, loss_report, overview_table, stuck_table
from .grouping import group_by_experiment, present
from .metrics import TIE_FLOOR
from .records import RunRecord, read_folders
from .script import run_script
from .small_multiples import convergence_panels
from .standings import BASELINE, finals_of, order_methods
from .tables import DEFAULT_REFERENCE
from .variants import base_of

__all__ = ["page_text", "worth_showing", "write_page"]

PAGE = Path(__file__).resolve().parents[1] / "docs" / "benchmarks.md"
FEWEST = 3
"""Runs of a method in an experiment; with fewer it is left out (chosen here)."""
NOTES = ARCHIVE.parent / "notes.md"
"""What a reader has to know of the archived records; on the page if it is made of them."""
PANEL_GROUPS = ("thesis", "multimodal")
"""Groups of experiments whose convergence is drawn."""
FLOOR = TIE_FLOOR
"""Smaller regrets count as equal, and are drawn as this one."""
ROW_HEIGHT, WIDTH, DPI = 0.21, 7.4, 100


def worth_showing(
    records: Sequence[RunRecord], reference: str
) -> tuple[tuple[RunRecord, ...], int]:
    """Return the runs to show, and how many were left out.

    Kept are the seeds of an experiment that the reference has run, so that every median is over
    the same problems, and of these the methods with at least so many runs.
    """
    kept: list[RunRecord] = []
    made = present(records)
    for runs in group_by_experiment(made).values():
        seeds = {run.seed for run in runs if run.method == reference}
        paired = [run for run in runs if run.seed in seeds]
        counts = Counter(run.method for run in paired)
        if counts[reference] >= FEWEST:
            kept += [run for run in paired if counts[run.method] >= FEWEST]
    return tuple(kept), len(made) - len(kept)


def draw_standing(
    records: Sequence[RunRecord], path: Path, reference: str, background: Background
) -> Path:
    """Draw the median regret of every method, one row for each experiment with a known optimum."""
    rows: list[tuple[str, Mapping[str, float]]] = []
    for members in in_groups(records).values():
        for name, runs in members.items():
            if all(run.simple_regret is not None for run in runs):
                finals = finals_of([run for run in runs if run.method == base_of(run.method)])
                if len(finals) > 1:
                    rows.append((name, {m: one.median() for m, one in finals.items()}))
    methods = order_methods(m for _, medians in rows for m in medians)
    figure: Any = plotting.new_figure(WIDTH, ROW_HEIGHT * len(rows) + 1.3, background=background)
    axes = figure.add_subplot()
    axes.set_facecolor(figure.get_facecolor())
    theme = theme_of(axes)
    ordered = [reference, *(m for m in methods if m != reference)]
    for index, method in reversed(list(enumerate(ordered))):
        at = [(max(m[method], FLOOR), row) for row, (_, m) in enumerate(rows) if method in m]
        look = {"color": theme.style(index)["color"], "marker": theme.style(index)["marker"]}
        x, y = zip(*at, strict=True)
        axes.plot(
            x, y, linestyle="none", label=method, markersize=7 if method == reference else 5, **look
        )
    axes.set_xscale("log")
    axes.set_yticks(range(len(rows)), [name for name, _ in rows])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlabel(f"median simple regret (units of the objective; {FLOOR:g} stands for less)")
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(
        handles[::-1],
        labels[::-1],
        loc="outside upper center",
        ncols=6,
        columnspacing=1.0,
        handletextpad=0.2,
        frameon=False,
        fontsize="small",
        labelcolor=theme.ink,
    )
    dress(axes, theme)
    axes.tick_params(axis="y", labelsize="x-small")
    return plotting.save(figure, path, dpi=DPI)


def page_text(
    records: Sequence[RunRecord],
    left_out: int,
    pictures: Sequence[str],
    reference: str,
    notes: str = "",
) -> str:
    """Return the page as Markdown.

    Parameters
    ----------
    records : sequence of RunRecord
    left_out : int
        Runs that are not shown.
    pictures : sequence of str
        Markdown of the pictures: the standing first, then the convergence.
    reference : str
    notes : str, optional
        Markdown, for the head of the page.
    """
    methods = order_methods(record.method for record in records)
    seeds = sorted({record.seed for record in records})
    failed = [record for record in records if record.status == "failed"]
    grouped = in_groups(records)
    accounts = accounts_table(run for g in grouped.values() for runs in g.values() for run in runs)
    parts = [
        "<!-- Written by `python -m experiments.benchmark_page`; do not edit. -->",
        "# Benchmarks",
        f"{len(records)} runs of {sum(map(len, grouped.values()))} experiments by {len(methods)} "
        f"methods, seeds {seeds[0]} to {seeds[-1]}; {len(failed)} runs failed, and count with what "
        f"they had. Everything on this page is made of the arena's records, kept in "
        f"`experiments/measured`: `python -m experiments arena` makes them, `python -m "
        f"experiments.benchmark_page` the page. Not shown: {left_out} runs, of seeds that "
        f"{reference} has not run, or of methods with fewer than {FEWEST} of the others.",
        "The seed of a run fixes the problem, its noise and the initial design, which the methods "
        "share. Methods that end in `[...]` are variants with that option. Seconds are left out: "
        "the runs were made on different days beside other work.",
        *([notes.strip()] if notes.strip() else []),
        pictures[0],
        "## Every experiment",
        f"Median (mean) of the final simple regret. {OVERVIEW_MARKS}",
        overview_table(records),
        f"## What {reference} loses",
        loss_report(records, reference),
        "## Stuck runs",
        f"Share of the runs that end worse than the median of {BASELINE} at the same budget "
        f"({BASELINE}'s own is about a half).",
        stuck_table(records),
    ]
    if accounts:
        parts += [
            "## Subspaces",
            ACCOUNTS_MEAN,
            accounts,
        ]
    if pictures[1:]:
        parts += ["## Convergence", *pictures[1:]]
    return "\n\n".join(parts) + "\n"


def write_page(
    records: Sequence[RunRecord],
    page: Path = PAGE,
    reference: str = DEFAULT_REFERENCE,
    notes: str = "",
) -> tuple[Path, ...]:
    """Write the page, and its pictures into the folder ``images`` beside it.

    Returns
    -------
    tuple of Path
        Everything written, the page first.

    Raises
    ------
    InvalidInputError
        If there is nothing to show.
    """
    shown, left_out = worth_showing(records, reference)
    if not shown:
        raise InvalidInputError(
            f"no experiment has {FEWEST} runs of {reference}; run the arena first, or name another "
            "reference."
        )
    folder = page.parent / "images"
    files = [
        draw_standing(shown, folder / f"standing-{kind}.png", reference, kind)
        for kind in ("light", "dark")
    ]
    alt = "Median regret of every method in every experiment"
    pictures = [
        "\n\n".join(
            f"![{alt}](images/standing-{kind}.png){{.only-{kind}}}" for kind in ("light", "dark")
        )
    ]
    methods = order_methods(r.method for r in shown if r.method == base_of(r.method))
    for group, members in in_groups(shown).items():
        if group in PANEL_GROUPS:
            file = folder / f"convergence-{group}.png"
            bare = {n: [r for r in runs if r.method in methods] for n, runs in members.items()}
            convergence_panels(bare, file, reference=reference, methods=methods)
            files.append(_with_few_colours(file))
            pictures.append(f"![Convergence, {group}](images/{file.name}){{.on-white}}")
    page.write_text(page_text(shown, left_out, pictures, reference, notes), encoding="utf-8")
    return page, *files


def _with_few_colours(file: Path) -> Path:
    """Write a picture anew in a palette of its own: a third of the size, and nothing to be seen."""
    from PIL import Image

    with Image.open(file) as picture:
        few = picture.convert("RGB").quantize(96)
    few.save(file, optimize=True)
    return file


def main(argv: Sequence[str] | None = None) -> None:
    """Read the folders named on the command line and write the page."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.benchmark_page", description=__doc__
    )
    parser.add_argument(
        "folders",
        nargs="*",
        type=Path,
        default=[ARCHIVE.parent],
        help="of the arena's records (default: experiments/measured)",
    )
    parser.add_argument("--page", type=Path, default=PAGE, help="default: docs/benchmarks.md")
    parser.add_argument("--reference", default=DEFAULT_REFERENCE)
    arguments = parser.parse_args(argv)
    notes = NOTES.read_text(encoding="utf-8") if arguments.folders == [ARCHIVE.parent] else ""
    records = read_folders(arguments.folders)
    for path in write_page(records, arguments.page, arguments.reference, notes):
        print(path)


if __name__ == "__main__":
    run_script(main)
