"""The command ``python -m experiments companion``."""

from __future__ import annotations

import argparse
import dataclasses
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..arena import read_arena, run_arena
from ..arena_command import RunLog
from ..arguments import QUICK_SEEDS, add_study_runs, method_names
from ..config import DEFAULT_SEEDS
from ..progress import RunProgress
from ..thesis.command import StudyLog
from ..thesis.report import study_path
from ..thesis.study import Study, run_study
from .methods import usable
from .report import write_report
from .runs import RUNS, CompanionRun, get_run

__all__ = ["add_companion", "run_companion_command"]

FOLDER = Path("results/companion")
QUICK_FOLDER = Path("results/companion-quick")
SECONDS_PER_MINUTE = 60.0
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
    companion.add_argument("names", nargs="+", metavar="NAME", help=f"{', '.join(RUNS)}, or {ALL}")
    companion.add_argument(
        "--methods", type=method_names, help="comma-separated (default: those of the name)"
    )
    add_study_runs(
        companion, FOLDER, QUICK_FOLDER, "a few small runs, in a minute or two for each name"
    )


def run_companion_command(arguments: argparse.Namespace) -> None:
    """Run the names as the command line says, and report."""
    names = tuple(RUNS) if ALL in arguments.names else tuple(dict.fromkeys(arguments.names))
    runs = [get_run(name) for name in names]
    parent = arguments.out or (QUICK_FOLDER if arguments.quick else FOLDER)
    limit = arguments.time_limit
    deadline = None if limit is None else time.monotonic() + SECONDS_PER_MINUTE * limit
    for run in runs:
        folder = parent / run.name
        methods, left_out = usable(arguments.methods or run.methods(), arguments.methods is None)
        studies = run.studies(methods)
        left = 0
        if not arguments.report_only:
            left = _study(arguments, run, studies, folder, deadline)
            left += _optimise(arguments, run, methods, folder, deadline)
        records = read_arena(folder) if run.experiments else ()
        text, files = write_report(folder, run, records, studies, left_out, quick=arguments.quick)
        if not arguments.quiet:
            print(text)
            if left:
                print(f"Incomplete: {left} runs not started in time. Repeat the command to go on.")
            print("Written: " + ", ".join(str(file) for file in files))


def _seeds(arguments: argparse.Namespace) -> range:
    number = arguments.seeds or (QUICK_SEEDS if arguments.quick else DEFAULT_SEEDS)
    return range(arguments.first_seed, arguments.first_seed + number)


def _study(
    arguments: argparse.Namespace,
    run: CompanionRun,
    studies: Sequence[Study],
    folder: Path,
    deadline: float | None,
) -> int:
    """Make the runs of the studies, and return how many are left."""
    left = 0
    for study in studies:
        outcome = run_study(
            study,
            study_path(folder, study),
            _seeds(arguments),
            quick=arguments.quick,
            jobs=arguments.jobs,
            deadline=deadline,
            retry_failed=arguments.retry_failed,
            progress=None
            if arguments.quiet
            else StudyLog(dataclasses.replace(study, name=run.name), time.monotonic()),
        )
        left += len(outcome.left)
    return left


def _optimise(
    arguments: argparse.Namespace,
    run: CompanionRun,
    methods: Sequence[str],
    folder: Path,
    deadline: float | None,
) -> int:
    """Make the optimisations, and return how many are left."""
    experiments = run.quick_experiments() if arguments.quick else run.experiments
    if not experiments:
        return 0
    folder.mkdir(parents=True, exist_ok=True)
    minutes = None
    if deadline is not None:
        minutes = max(deadline - time.monotonic(), 0.0) / SECONDS_PER_MINUTE
    wants_bar = not arguments.quiet and sys.stderr.isatty()
    with RunProgress(run.name, enabled=wants_bar) as bar:
        outcome = run_arena(
            folder,
            experiments,
            methods,
            _seeds(arguments),
            jobs=arguments.jobs,
            retry_failed=arguments.retry_failed,
            minutes=minutes,
            progress=bar if wants_bar or arguments.quiet else RunLog(),
            announce=None if arguments.quiet else print,
        )
    return len(outcome.left)
