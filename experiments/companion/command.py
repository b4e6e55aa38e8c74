"""The command ``python -m experiments companion``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ..arena import read_arena
from ..arguments import add_study_runs, method_names
from ..study_runs import StudyRuns
from ..thesis.report import study_path
from .methods import usable
from .report import write_report
from .runs import RUNS, get_run

__all__ = ["add_companion"]

FOLDER = Path("results/companion")
QUICK_FOLDER = Path("results/companion-quick")
ALL = "all"

DESCRIPTION = (
    "Run the experiments of the companion papers by name and report on them: "
    f"{', '.join(RUNS)}, or {ALL}.\nRuns on file are skipped: repeat the command to go on. The "
    "report, FOLDER/NAME/report.md, is made\nof whatever there is. Methods that are not registered "
    "are left out, and named there."
)


def add_companion(commands: Any) -> None:
    """Add the command to the sub-parsers of the command line."""
    companion = commands.add_parser(
        "companion",
        help="the experiments of the companion papers, one report for each name",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    companion.set_defaults(act=_run_and_report)
    companion.add_argument("names", nargs="+", metavar="NAME", help=f"{', '.join(RUNS)}, or {ALL}")
    companion.add_argument(
        "--methods", type=method_names, help="comma-separated (default: those of the name)"
    )
    add_study_runs(
        companion, FOLDER, QUICK_FOLDER, "a few small runs, in a minute or two for each name"
    )


def _run_and_report(arguments: argparse.Namespace) -> None:
    """Run the names as the command line says, and report."""
    names = tuple(RUNS) if ALL in arguments.names else tuple(dict.fromkeys(arguments.names))
    runs = [get_run(name) for name in names]
    parent = arguments.out or (QUICK_FOLDER if arguments.quick else FOLDER)
    maker = StudyRuns(arguments)
    for run in runs:
        folder = parent / run.name
        methods, left_out = usable(arguments.methods or run.methods(), arguments.methods is None)
        studies = run.studies(methods)
        left = 0
        if not arguments.report_only:
            left = sum(maker.study(one, study_path(folder, one), run.name) for one in studies)
            experiments = run.quick_experiments() if arguments.quick else run.experiments
            if experiments:
                folder.mkdir(parents=True, exist_ok=True)
                left += maker.arena(folder, experiments, methods, run.name)
        records = read_arena(folder) if run.experiments else ()
        text, files = write_report(folder, run, records, studies, left_out, quick=arguments.quick)
        if not arguments.quiet:
            print(text)
            if left:
                print(f"Incomplete: {left} runs not started in time. Repeat the command to go on.")
            print("Written: " + ", ".join(str(file) for file in files))
