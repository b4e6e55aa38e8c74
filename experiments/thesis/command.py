"""The command ``python -m experiments thesis``."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from boring.exceptions import UnknownNameError
from boring.validation import suggest

from ..arena import read_arena
from ..arguments import add_study_runs, method_names, positive
from ..study_runs import StudyRuns
from ..variants import split_names
from .report import study_path, write_report
from .settings import RELATED, SETTINGS, THESIS_METHODS, quick_setting, setting_experiments
from .studies import COMPARISON, PARTS, STUDIES

__all__ = ["add_arguments", "part_names", "thesis_methods"]

FOLDER = Path("results/thesis")
QUICK_FOLDER = Path("results/thesis-quick")

DESCRIPTION = f"""\
Run the experiments of chapter 5 of the thesis and report on them.

Parts: comparison (5.2, five settings), {", ".join(STUDIES)} (5.3).
Runs on file are skipped: repeat the command to go on. The report, FOLDER/report.md, is made of
whatever there is.
"""


def add_arguments(thesis: argparse.ArgumentParser) -> None:
    """Add what the command takes to its parser."""
    thesis.description = DESCRIPTION
    thesis.set_defaults(act=_run_and_report)
    thesis.add_argument(
        "--only",
        type=split_names,
        default=PARTS,
        metavar="PARTS",
        help=f"comma-separated, of {', '.join(PARTS)} (default: all)",
    )
    thesis.add_argument(
        "--settings",
        type=_numbers,
        default=tuple(SETTINGS),
        metavar="NUMBERS",
        help="of the comparison, such as 1,2,4 (default: all five)",
    )
    thesis.add_argument(
        "--methods",
        type=method_names,
        default=THESIS_METHODS,
        help="of the comparison, comma-separated; 'default', and 'related' for those that the "
        f"thesis describes: {', '.join(RELATED)} (default: default)",
    )
    add_study_runs(
        thesis, FOLDER, QUICK_FOLDER, "a few small runs of everything, in a minute or two"
    )


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(positive(part) for part in split_names(text))


def part_names(names: Iterable[str]) -> tuple[str, ...]:
    """Return the parts named, in the order of the report.

    Raises
    ------
    UnknownNameError
        If there is no such part; the message suggests the nearest.
    """
    for name in names:
        if name not in PARTS:
            raise UnknownNameError(f"There is no part {name!r}. {suggest(name, PARTS)}")
    wanted = set(names)
    return tuple(part for part in PARTS if part in wanted)


def thesis_methods(names: Iterable[str]) -> tuple[str, ...]:
    """Return methods by name, "related" standing for those of the thesis's chapters 2 and 4.

    Examples
    --------
    >>> thesis_methods(("gp", "related"))[:2]
    ('gp', 'active-embedding')
    """
    methods: dict[str, None] = {}
    for name in names:
        methods.update(dict.fromkeys(RELATED if name == "related" else (name,)))
    return tuple(methods)


def _run_and_report(arguments: argparse.Namespace) -> None:
    """Run the parts as the command line says, and report."""
    parts = part_names(arguments.only)
    folder = arguments.out or (QUICK_FOLDER if arguments.quick else FOLDER)
    if not arguments.report_only:
        left = _run(arguments, parts, folder)
        if left and not arguments.quiet:
            listing = ", ".join(f"{name} {count}" for name, count in left.items())
            print(
                f"Incomplete: {sum(left.values())} runs not started in time ({listing}). Repeat "
                "the command to go on."
            )
    text, files = write_report(folder, read_arena(folder), parts, quick=arguments.quick)
    if not arguments.quiet:
        print(text)
        print("\nWritten: " + ", ".join(str(file) for file in files))


def _run(arguments: argparse.Namespace, parts: Iterable[str], folder: Path) -> Counter[str]:
    """Make the runs that are not on file, and count those left by part."""
    runs = StudyRuns(arguments)
    left: Counter[str] = Counter()
    for part in parts:
        if part == COMPARISON:
            settings = setting_experiments(arguments.settings)
            if arguments.quick:
                settings = tuple(quick_setting(one) for one in settings)
            left[part] = runs.arena(folder, settings, thesis_methods(arguments.methods), part)
        else:
            left[part] = runs.study(STUDIES[part], study_path(folder, STUDIES[part]), part)
    return +left
