"""The command ``python -m experiments thesis``."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from boring.exceptions import UnknownNameError
from boring.validation import suggest

from ..arena import read_arena, run_arena
from ..arena_command import RunLog
from ..arguments import QUICK_SEEDS, add_study_runs, method_names, positive
from ..config import DEFAULT_SEEDS
from ..progress import RunProgress
from ..variants import split_names
from .report import study_path, write_report
from .settings import RELATED, SETTINGS, THESIS_METHODS, quick_setting, setting_experiments
from .studies import COMPARISON, PARTS, STUDIES
from .study import Record, Study, run_study

__all__ = ["StudyLog", "add_thesis", "part_names", "run_thesis_command", "thesis_methods"]

FOLDER = Path("results/thesis")
QUICK_FOLDER = Path("results/thesis-quick")
SECONDS_PER_MINUTE = 60.0

DESCRIPTION = f"""\
Run the experiments of chapter 5 of the thesis and report on them.

Parts: comparison (5.2, five settings), {", ".join(STUDIES)} (5.3).
Runs on file are skipped: repeat the command to go on. The report, FOLDER/report.md, is made of
whatever there is.
"""


def add_thesis(commands: Any) -> None:
    """Add the command to the sub-parsers of the command line."""
    thesis = commands.add_parser(
        "thesis",
        help="the experiments of chapter 5 of the thesis, with one report",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
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


def run_thesis_command(arguments: argparse.Namespace) -> None:
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
    number = arguments.seeds or (QUICK_SEEDS if arguments.quick else DEFAULT_SEEDS)
    seeds = range(arguments.first_seed, arguments.first_seed + number)
    begin = time.monotonic()
    limit = arguments.time_limit
    deadline = None if limit is None else begin + SECONDS_PER_MINUTE * limit
    left: Counter[str] = Counter()
    for part in parts:
        if part == COMPARISON:
            left[part] = _compare(arguments, folder, seeds)
        else:
            study = STUDIES[part]
            outcome = run_study(
                study,
                study_path(folder, study),
                seeds,
                quick=arguments.quick,
                jobs=arguments.jobs,
                deadline=deadline,
                retry_failed=arguments.retry_failed,
                progress=None if arguments.quiet else StudyLog(study, begin),
            )
            left[part] = len(outcome.left)
    return +left


def _compare(arguments: argparse.Namespace, folder: Path, seeds: range) -> int:
    experiments = setting_experiments(arguments.settings)
    if arguments.quick:
        experiments = tuple(quick_setting(one) for one in experiments)
    wants_bar = not arguments.quiet and sys.stderr.isatty()
    with RunProgress(COMPARISON, enabled=wants_bar) as bar:
        outcome = run_arena(
            folder,
            experiments,
            thesis_methods(arguments.methods),
            seeds,
            jobs=arguments.jobs,
            retry_failed=arguments.retry_failed,
            minutes=arguments.time_limit,
            progress=bar if wants_bar or arguments.quiet else RunLog(),
            announce=None if arguments.quiet else print,
        )
    return len(outcome.left)


class StudyLog:
    """One line for each finished run of a study on standard error."""

    def __init__(self, study: Study, begin: float) -> None:
        self._name = study.name
        self._begin = begin

    def __call__(self, record: Record, finished: int, total: int) -> None:
        """Print what has finished."""
        minutes = (time.monotonic() - self._begin) / SECONDS_PER_MINUTE
        key = f"{record['cell']}, {record['method']}, seed {record['seed']}"
        outcome = f"in {record['seconds']:.1f} s" if record["status"] == "ok" else "failed"
        print(
            f"[{minutes:7.1f} min] {self._name} {finished}/{total} {key}: {outcome}",
            file=sys.stderr,
            flush=True,
        )
