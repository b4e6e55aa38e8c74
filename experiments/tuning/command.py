"""The command ``python -m experiments tuning``."""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

from ..arguments import method_names, non_negative, positive, positive_minutes
from ..records import RunRecord, read_records
from ..variants import split_names

__all__ = ["add_arguments"]

TASK_NAMES = ("boosting-cancer", "boosting-diabetes", "svm-digits", "network-digits")
METHOD_NAMES = ("boring", "random", "tpe")

DESCRIPTION = """\
Tune estimators of scikit-learn with this library, Optuna's TPE and random search.

Seeds fix rows, folds and the first design of all methods. Runs on file are skipped: repeat the
command to go on. The report is made of whatever is in the file. Needs
pip install 'boring-bo[study,optuna,sklearn]'.
"""


def add_arguments(tuning: argparse.ArgumentParser) -> None:
    """Add what the command takes to its parser."""
    tuning.description = DESCRIPTION
    tuning.set_defaults(act=_run_and_report)
    tuning.add_argument(
        "--tasks",
        type=split_names,
        default=TASK_NAMES,
        help=f"comma-separated (default: {','.join(TASK_NAMES)})",
    )
    tuning.add_argument(
        "--methods",
        type=method_names,
        default=METHOD_NAMES,
        help="comma-separated, with options in brackets; also boring-sampler (in Optuna) and "
        f"boring-search-cv (in scikit-learn) (default: {','.join(METHOD_NAMES)})",
    )
    tuning.add_argument("--seeds", type=positive, default=20, help="(default %(default)s)")
    tuning.add_argument("--first-seed", type=non_negative, default=0, help="(default 0)")
    tuning.add_argument("--budget", type=positive, default=60, help="(default %(default)s)")
    tuning.add_argument(
        "--design", type=positive, default=10, help="first evaluations of all (default 10)"
    )
    tuning.add_argument("--jobs", type=positive, default=1, help="processes (default 1)")
    tuning.add_argument("--nice", type=non_negative, default=0, help="give way to other programs")
    tuning.add_argument(
        "--time-limit", type=positive_minutes, metavar="MINUTES", help="start no run after it"
    )
    tuning.add_argument("--retry-failed", action="store_true", help="repeat failed runs")
    tuning.add_argument("--out", type=Path, default=Path("results/tuning/runs.jsonl"))
    tuning.add_argument("--report-only", action="store_true", help="run nothing")
    tuning.add_argument("--reference", default="boring", help="(default %(default)s)")


def _run_and_report(arguments: argparse.Namespace) -> None:
    """Run as the command line says, write the report beside the records and print it."""
    from .report import tuning_report

    if not arguments.report_only:
        _run(arguments)
    text = tuning_report(read_records(arguments.out), arguments.reference)
    arguments.out.with_suffix(".md").write_text(text + "\n", encoding="utf-8")
    print(text)


def _run(arguments: argparse.Namespace) -> None:
    import sklearn

    from .runs import run_tuning

    if arguments.nice:
        os.nice(arguments.nice)
    minutes = arguments.time_limit
    for _ in run_tuning(
        arguments.out,
        arguments.tasks,
        arguments.methods,
        range(arguments.first_seed, arguments.first_seed + arguments.seeds),
        budget=arguments.budget,
        n_initial=arguments.design,
        jobs=arguments.jobs,
        cache=arguments.out.parent / f"losses-sklearn-{sklearn.__version__}.sqlite",
        retry_failed=arguments.retry_failed,
        deadline=None if minutes is None else time.monotonic() + 60.0 * minutes,
        progress=_print,
    ):
        pass


def _print(record: RunRecord, number: int, total: int) -> None:
    outcome = f"{record.y_best:.4g}" if record.y_best is not None else "nothing"
    if record.status == "failed":
        outcome += f", failed: {(record.error or '').strip().splitlines()[-1]}"
    print(
        f"{number}/{total} {record.experiment}, {record.method}, seed {record.seed}: {outcome}; "
        f"tuner {record.optimizer_seconds:.1f} s, losses {record.objective_seconds:.1f} s",
        file=sys.stderr,
        flush=True,
    )
