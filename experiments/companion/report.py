"""The report of a companion run: one Markdown file, and pictures beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ..grouping import group_by_experiment, present
from ..lines import read_cells
from ..ranking import best_ranked
from ..records import RunRecord
from ..small_multiples import STYLES, convergence_panels
from ..tables import results_table
from ..thesis.report import REPORT_FILE, study_path, study_section
from ..thesis.study import Study
from .runs import CompanionRun

__all__ = ["write_report"]

MOST_PANELS = 12
"""Experiments in one picture."""

QUICK_NOTE = "The quick version: it shows that the command works, and nothing else.\n"


def write_report(
    folder: Path,
    run: CompanionRun,
    records: Sequence[RunRecord],
    studies: Sequence[Study],
    left_out: Mapping[str, str],
    *,
    quick: bool = False,
) -> tuple[str, tuple[Path, ...]]:
    """Write the report of what the folder holds.

    Parameters
    ----------
    folder : Path
    run : CompanionRun
    records : sequence of RunRecord
    studies : sequence of Study
        Whose records lie in the folder.
    left_out : mapping of str to str
        Methods that could not be run, and why.
    quick : bool, default False

    Returns
    -------
    text : str
        As written to ``report.md``.
    files : tuple of Path
        Everything written, the report first.
    """
    folder.mkdir(parents=True, exist_ok=True)
    parts, files = [f"# {run.title}\n", run.about + "\n"], []
    if quick:
        parts.append(QUICK_NOTE)
    if left_out:
        listing = "; ".join(f"`{name}`: {reason}" for name, reason in left_out.items())
        parts.append(f"Left out: {listing}.\n")
    for study in studies:
        text, pictures = study_section(
            study, list(read_cells(study_path(folder, study)).values()), folder
        )
        parts.append(text)
        files += pictures
    if run.experiments:
        text, pictures = _optimisation(folder, run, records)
        parts.append(text)
        files += pictures
    report = folder / REPORT_FILE
    text = "\n".join(parts)
    report.write_text(text + "\n", encoding="utf-8")
    return text, (report, *files)


def _optimisation(
    folder: Path, run: CompanionRun, records: Sequence[RunRecord]
) -> tuple[str, list[Path]]:
    made = present(records)
    if not made:
        return "## Optimisation\n\nNothing on file yet.\n", []
    known = [experiment.name for experiment in run.experiments]
    groups = group_by_experiment(sorted(made, key=lambda record: known.index(record.experiment)))
    parts, pictures = ["## Optimisation\n"], []
    ordered = [record for group in groups.values() for record in group]
    parts += [table(ordered) + "\n" for table in run.tables]
    names = list(groups)
    methods = tuple(dict.fromkeys(record.method for record in ordered))
    title = run.title
    if len(methods) > len(STYLES):  # more than there are looks
        best = [m for m in best_ranked(ordered, len(STYLES)) if m != run.reference]
        methods = (run.reference, *best[: len(STYLES) - 1])
        title = f"{run.title}: {run.reference} and the best ranked of the others"
    for start in range(0, len(names), MOST_PANELS):
        some = {
            name: [record for record in groups[name] if record.method in methods]
            for name in names[start : start + MOST_PANELS]
        }
        picture = convergence_panels(
            some,
            folder / f"convergence-{start // MOST_PANELS + 1}.png",
            reference=run.reference,
            methods=methods,
            title=title,
        )
        parts.append(f"![Convergence]({picture.name})\n")
        pictures.append(picture)
    parts += [results_table(group, run.reference) + "\n" for group in groups.values()]
    return "\n".join(parts), pictures
