"""The command ``python -m experiments arena``."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from pathlib import Path

from .arena import ArenaOutcome, read_arena, read_plan, run_arena
from .arguments import (
    add_runs,
    method_names,
    non_negative,
    positive,
    positive_minutes,
    seeds_of,
    select_experiments,
)
from .config import DEFAULT_METHODS, GROUPS
from .peers import PEERS
from .progress import RunProgress
from .records import RunRecord
from .tables import DEFAULT_REFERENCE
from .variants import split_names

__all__ = ["add_arguments"]

REPORT_FOLDER = "report"
"""Folder, within that of the arena, of the report."""

DESCRIPTION = """\
Run many experiments with many methods over paired seeds, and report on all of them.

Records go into one file for each experiment, in FOLDER/records. Runs on file are skipped: repeat
the command to go on, or run any part of it at any time into the same folder. The report, in
FOLDER/report, is made of whatever there is.
"""


def add_arguments(arena: argparse.ArgumentParser) -> None:
    """Add what the command takes to its parser."""
    arena.description = DESCRIPTION
    arena.set_defaults(act=_run_and_report)
    arena.add_argument(
        "--experiments",
        type=split_names,
        default=("all",),
        help="comma-separated names or groups; a minus in front leaves one out; groups: all, "
        f"{', '.join(GROUPS)} (default all)",
    )
    arena.add_argument(
        "--methods",
        type=method_names,
        default=(*DEFAULT_METHODS, *PEERS),
        help="comma-separated, such as 'default,peers,boring[subspace_every=0]' (default: all; "
        "what needs a subspace's dimension is left out where there is none)",
    )
    add_runs(arena)
    arena.add_argument("--jobs", type=positive, default=1, help="processes (default %(default)s)")
    arena.add_argument(
        "--nice", type=non_negative, default=0, help="give way to other programs (default 0)"
    )
    arena.add_argument(
        "--order",
        choices=("seeds", "experiments"),
        default="seeds",
        help="what comes first: one seed of everything, or all of one experiment (default seeds)",
    )
    arena.add_argument(
        "--time-limit",
        type=positive_minutes,
        metavar="MINUTES",
        help="start no further run after so long; the report names what is left",
    )
    arena.add_argument(
        "--keep-points",
        action="store_true",
        help="keep every evaluated point and the true basis in the records (large)",
    )
    arena.add_argument("--retry-failed", action="store_true", help="repeat runs on file as failed")
    arena.add_argument(
        "--out",
        type=Path,
        default=Path("results/arena"),
        metavar="FOLDER",
        help="(default %(default)s)",
    )
    arena.add_argument(
        "--report-only", action="store_true", help="run nothing, report on what is in the folder"
    )
    arena.add_argument(
        "--records",
        type=Path,
        nargs="+",
        default=(),
        metavar="FILE",
        help="further files of records that the report takes in",
    )
    arena.add_argument(
        "--reference",
        default=DEFAULT_REFERENCE,
        help="method whose losses the report lists (default %(default)s)",
    )
    arena.add_argument("--quiet", action="store_true", help="print nothing")


class RunLog:
    """One line for each finished run on standard error, for logs of long runs."""

    def __init__(self) -> None:
        self._begin = time.monotonic()

    def __call__(self, record: RunRecord | None, finished: int, total: int) -> None:
        """Print what has finished, and what came out of it."""
        if record is None:
            print(f"{total} runs to make", file=sys.stderr, flush=True)
            return
        minutes = (time.monotonic() - self._begin) / 60.0
        final = record.simple_regret[-1:] if record.simple_regret else (record.y_best,)
        outcome = f"{final[0]:.3g}" if final and final[0] is not None else record.status
        if record.status == "failed":
            outcome = f"failed: {(record.error or '').strip().splitlines()[-1:]}"
        print(
            f"[{minutes:7.1f} min] {finished}/{total} {record.experiment}, {record.method}, "
            f"seed {record.seed}: {outcome} in {record.optimizer_seconds:.1f} s",
            file=sys.stderr,
            flush=True,
        )


def _run_and_report(arguments: argparse.Namespace) -> None:
    """Run the arena as the command line says, and report."""
    if not arguments.report_only:
        _run(arguments)
    from .arena_report import write_arena_report

    files = write_arena_report(
        read_arena(arguments.out, arguments.records),
        arguments.out / REPORT_FOLDER,
        arguments.reference,
        plan=read_plan(arguments.out),
    )
    if not arguments.quiet:
        print("Report: " + ", ".join(str(file) for file in files))


def _run(arguments: argparse.Namespace) -> None:
    experiments = tuple(
        one.with_budget(arguments.budget) for one in select_experiments(arguments.experiments)
    )
    if arguments.nice:
        os.nice(arguments.nice)
    wants_bar = not arguments.quiet and sys.stderr.isatty()
    with RunProgress("arena", enabled=wants_bar) as bar:
        outcome = run_arena(
            arguments.out,
            experiments,
            arguments.methods,
            seeds_of(arguments),
            jobs=arguments.jobs,
            order=arguments.order,
            keep_points=arguments.keep_points,
            retry_failed=arguments.retry_failed,
            minutes=arguments.time_limit,
            progress=bar if wants_bar or arguments.quiet else RunLog(),
            announce=None if arguments.quiet else print,
        )
    if not arguments.quiet:
        print(outcome_text(outcome))


def outcome_text(outcome: ArenaOutcome) -> str:
    """Return what was done and what is left, in a few lines."""
    lines = [f"{outcome.n_made} runs made now, {outcome.n_held} were on file."]
    if outcome.left:
        left = Counter(experiment for experiment, _, _ in outcome.left)
        listing = ", ".join(f"{name} {count}" for name, count in left.items())
        lines.append(
            f"Incomplete: {len(outcome.left)} runs not started in time ({listing}). Repeat the "
            "command to go on."
        )
    return "\n".join(lines)
