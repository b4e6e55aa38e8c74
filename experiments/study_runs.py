"""What the commands ``thesis`` and ``companion`` share: their runs, in the time they were given."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from .arena import SECONDS_PER_MINUTE, run_arena
from .arena_command import RunLog
from .arguments import QUICK_SEEDS
from .config import DEFAULT_SEEDS, Experiment
from .progress import RunProgress
from .thesis.study import Record, Study, run_study
from .variants import Method

__all__ = ["StudyLog", "StudyRuns"]


class StudyRuns:
    """Makes the runs that are not on file, and counts those that could not be started in time.

    Parameters
    ----------
    arguments : argparse.Namespace
        As :func:`experiments.arguments.add_study_runs` reads them. Their time limit counts from
        here, for everything together.
    """

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._arguments = arguments
        self._begin = time.monotonic()

    @property
    def seeds(self) -> range:
        """The paired seeds."""
        default = QUICK_SEEDS if self._arguments.quick else DEFAULT_SEEDS
        first = self._arguments.first_seed
        return range(first, first + (self._arguments.seeds or default))

    def study(self, study: Study, path: Path, label: str) -> int:
        """Make the runs of a study, and return how many are left."""
        arguments, limit = self._arguments, self._arguments.time_limit
        outcome = run_study(
            study,
            path,
            self.seeds,
            quick=arguments.quick,
            jobs=arguments.jobs,
            deadline=None if limit is None else self._begin + SECONDS_PER_MINUTE * limit,
            retry_failed=arguments.retry_failed,
            progress=None if arguments.quiet else StudyLog(label, self._begin),
        )
        return len(outcome.left)

    def arena(
        self, folder: Path, experiments: Sequence[Experiment], methods: Sequence[Method], label: str
    ) -> int:
        """Make the runs of some experiments, and return how many are left."""
        arguments, minutes = self._arguments, self._arguments.time_limit
        if minutes is not None:
            minutes = max(0.0, minutes - (time.monotonic() - self._begin) / SECONDS_PER_MINUTE)
        wants_bar = not arguments.quiet and sys.stderr.isatty()
        with RunProgress(label, enabled=wants_bar) as bar:
            outcome = run_arena(
                folder,
                experiments,
                methods,
                self.seeds,
                jobs=arguments.jobs,
                retry_failed=arguments.retry_failed,
                minutes=minutes,
                progress=bar if wants_bar or arguments.quiet else RunLog(),
                announce=None if arguments.quiet else print,
            )
        return len(outcome.left)


class StudyLog:
    """One line for each finished run of a study on standard error."""

    def __init__(self, label: str, begin: float) -> None:
        self._label = label
        self._begin = begin

    def __call__(self, record: Record, finished: int, total: int) -> None:
        """Print what has finished."""
        minutes = (time.monotonic() - self._begin) / SECONDS_PER_MINUTE
        key = f"{record['cell']}, {record['method']}, seed {record['seed']}"
        outcome = f"in {record['seconds']:.1f} s" if record["status"] == "ok" else "failed"
        print(
            f"[{minutes:7.1f} min] {self._label} {finished}/{total} {key}: {outcome}",
            file=sys.stderr,
            flush=True,
        )
