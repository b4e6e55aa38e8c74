"""The report of ``python -m experiments thesis``: one Markdown file, and pictures beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ..grouping import group_by_experiment, present
from ..lines import read_cells
from ..records import RunRecord
from ..report import convergence_figure
from ..tables import results_table
from .settings import ACCELERATOR_NOTE, SETTINGS
from .studies import STUDIES
from .study import Record, Study

__all__ = ["REPORT_FILE", "comparison_section", "study_path", "study_section", "write_report"]

REPORT_FILE = "report.md"
COMPARISON_TITLE = "5.2: comparison of optimisers"
NOTHING = "Nothing on file yet.\n"


def study_path(folder: Path, study: Study) -> Path:
    """Return the file of a study's records."""
    return folder / "studies" / f"{study.name}.jsonl"


def comparison_section(
    records: Sequence[RunRecord], folder: Path, reference: str = "boring"
) -> tuple[str, list[Path]]:
    """Return the tables of section 5.2, and draw the convergence of each setting."""
    groups = group_by_experiment(records)
    lines, pictures = [f"## {COMPARISON_TITLE}\n"], []
    for number, name in SETTINGS.items():
        lines.append(f"Setting {number}: `{name}`.")
        if number == 5:
            lines.append(ACCELERATOR_NOTE)
        group = groups.get(name, ())
        if not present(group):
            lines.append(NOTHING)
            continue
        lines.append("\n" + results_table(group, reference) + "\n")
        picture = convergence_figure(group, folder / f"convergence-{name}.png")
        lines.append(f"![Convergence]({picture.name})\n")
        pictures.append(picture)
    return "\n".join(lines), pictures


def study_section(study: Study, records: Sequence[Record], folder: Path) -> tuple[str, list[Path]]:
    """Return the section of a study, and draw its pictures."""
    lines = [f"## {study.title}\n", study.about + "\n"]
    known = [record for record in records if record["cell"] in study.cells]
    if not known:
        return "\n".join([*lines, NOTHING]), []
    pictures = study.draw(known, folder)
    lines += [study.table(known), ""]
    for record in known:
        if record.get("status") == "failed":
            reason = record["error"].strip().splitlines()[-1]
            key = f"{record['cell']}, {record['method']}, seed {record['seed']}"
            lines.append(f"Failed: {key}: {reason}\n")
    lines += [f"![{study.title}]({picture.name})\n" for picture in pictures]
    return "\n".join(lines), pictures


def write_report(
    folder: Path,
    comparison: Sequence[RunRecord],
    names: Sequence[str],
    *,
    quick: bool = False,
) -> tuple[str, tuple[Path, ...]]:
    """Write the report of what the folder holds.

    Parameters
    ----------
    folder : Path
    comparison : sequence of RunRecord
        Of section 5.2.
    names : sequence of str
        "comparison" and names of studies: the sections wanted.
    quick : bool, default False
        Say at the top that the figures mean nothing.

    Returns
    -------
    text : str
        As written to ``report.md``.
    files : tuple of Path
        Everything written, the report first.
    """
    folder.mkdir(parents=True, exist_ok=True)
    held: Mapping[str, list[Record]] = {
        name: list(read_cells(study_path(folder, study)).values())
        for name, study in STUDIES.items()
    }
    sections, files = ["# The experiments of the thesis, chapter 5\n"], []
    if quick:
        sections.append("The quick version: it shows that the commands work, and nothing else.\n")
    if "comparison" in names:
        text, pictures = comparison_section(comparison, folder)
        sections.append(text)
        files += pictures
    for name, study in STUDIES.items():
        if name in names:
            text, pictures = study_section(study, held[name], folder)
            sections.append(text)
            files += pictures
    report = folder / REPORT_FILE
    text = "\n".join(sections)
    report.write_text(text + "\n", encoding="utf-8")
    return text, (report, *files)
