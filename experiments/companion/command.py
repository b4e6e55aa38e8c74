"""The command ``python -m experiments companion``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

from boring.exceptions import InvalidInputError

from ..arena import read_arena
from ..arguments import add_study_runs, method_names
from ..config import Experiment
from ..study_runs import StudyRuns
from ..thesis.report import study_path
from ..thesis.study import Study
from .methods import usable
from .report import write_report
from .runs import RUNS, CompanionRun, get_run

__all__ = ["add_arguments"]

FOLDER = Path("results/companion")
QUICK_FOLDER = Path("results/companion-quick")
ALL = "all"

DESCRIPTION = (
    "Run the experiments of the companion papers by name and report on them: "
    f"{', '.join(RUNS)}, or {ALL}.\nRuns on file are skipped: repeat the command to go on. The "
    "report, FOLDER/NAME/report.md, is made\nof whatever there is. Methods that are not registered "
    "are left out, and named there."
)


def add_arguments(companion: argparse.ArgumentParser) -> None:
    """Add what the command takes to its parser."""
    companion.description = DESCRIPTION
    companion.set_defaults(act=_run_and_report)
    companion.add_argument("names", nargs="+", metavar="NAME", help=f"{', '.join(RUNS)}, or {ALL}")
    companion.add_argument(
        "--methods", type=method_names, help="comma-separated (default: those of the name)"
    )
    companion.add_argument(
        "--only",
        action="append",
        metavar="PATTERN",
        help="run only the experiments and cells of this pattern, such as 'bbob-f*-5-trials' or "
        "'smooth-t1-1, *'; may be given several times (the report is of all that is on file)",
    )
    add_study_runs(
        companion, FOLDER, QUICK_FOLDER, "a few small runs, in a minute or two for each name"
    )


def _run_and_report(arguments: argparse.Namespace) -> None:
    """Run the names as the command line says, and report."""
    names = tuple(RUNS) if ALL in arguments.names else tuple(dict.fromkeys(arguments.names))
    runs = [get_run(name) for name in names]
    _check_patterns(arguments.only, runs, arguments.quick)
    parent = arguments.out or (QUICK_FOLDER if arguments.quick else FOLDER)
    maker = StudyRuns(arguments)
    for run in runs:
        folder = parent / run.name
        methods, left_out = usable(arguments.methods or run.methods(), arguments.methods is None)
        studies = run.studies(methods)
        left = 0
        if not arguments.report_only:
            left = sum(
                maker.study(_chosen(one, arguments.only), study_path(folder, one), run.name)
                for one in studies
            )
            experiments = tuple(
                one
                for one in _experiments(run, arguments.quick)
                if _matches(one.name, arguments.only)
            )
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


def _experiments(run: CompanionRun, quick: bool) -> tuple[Experiment, ...]:
    return run.quick_experiments() if quick else run.experiments


def _matches(name: str, patterns: Sequence[str] | None) -> bool:
    return patterns is None or any(fnmatchcase(name, pattern) for pattern in patterns)


def _chosen(study: Study, patterns: Sequence[str] | None) -> Study:
    """Return the study with the cells of the patterns alone."""
    cells, quick = (
        tuple(cell for cell in some if _matches(cell, patterns))
        for some in (study.cells, study.quick)
    )
    return replace(study, cells=cells, quick=quick)


def _check_patterns(
    patterns: Sequence[str] | None, runs: Sequence[CompanionRun], quick: bool
) -> None:
    """Refuse a pattern that nothing has of what is run."""
    names = [one.name for run in runs for one in _experiments(run, quick)]
    studies = [study for run in runs for study in run.studies(run.methods())]
    names += [cell for study in studies for cell in (study.quick if quick else study.cells)]
    where = " in the quick version" if quick else ""
    example = f", but for example {names[0]!r}" if names else ""
    for pattern in patterns or ():
        if not any(fnmatchcase(name, pattern) for name in names):
            raise InvalidInputError(
                f"--only {pattern!r} has to be the name of an experiment or a cell, with * for any "
                f"letters; there is none such{where}{example}."
            )
