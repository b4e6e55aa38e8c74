"""The arena: many experiments, many methods, paired seeds, one folder of records.

Each experiment has one file of JSON lines in the folder. Runs on file are skipped, so the same
command goes on after an interruption, and any subset can be run at any time into the same folder.
The work is ordered seed by seed over all experiments, so that what there is when it is stopped
compares every method with every other on as many pairs as possible.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from boring.exceptions import InvalidInputError

from . import check_siblings
from .config import GIVEN_DIMENSION, Experiment
from .peers import absence_of
from .records import RunKey, RunRecord, latest, open_for_append, read_records
from .runner import Progress, check_methods, check_seeds, run_left, still_to_do
from .single_run import Task
from .variants import Method, Variant

__all__ = [
    "ArenaOutcome",
    "Order",
    "arena_tasks",
    "fits",
    "read_arena",
    "read_plan",
    "records_path",
    "run_arena",
    "write_plan",
]

Order = Literal["seeds", "experiments"]
"""What comes first: every experiment's first seed, or all seeds of the first experiment."""

RECORDS = "records"
"""Folder, within that of the arena, of the files of records."""

PLAN_FILE = "plan.json"
"""What was asked for last, so that a report can name what is not there yet."""

SECONDS_PER_MINUTE = 60.0


@dataclass(frozen=True)
class ArenaOutcome:
    """What a call of :func:`run_arena` has done.

    Parameters
    ----------
    n_made : int
        Runs made now.
    n_held : int
        Runs that were on file already.
    left : tuple of RunKey
        Runs asked for and not made, for want of time.
    absences : dict of str to str
        Methods that are not installed, and how to install them.
    """

    n_made: int
    n_held: int
    left: tuple[RunKey, ...]
    absences: dict[str, str]


def fits(experiment: Experiment, variant: Variant) -> bool:
    """Whether a method can be run: one that must be told a subspace's dimension needs one.

    Examples
    --------
    >>> from experiments.config import get_experiment
    >>> fits(get_experiment("ackley-20"), Variant("rembo", "rembo"))
    False
    """
    if variant.method not in GIVEN_DIMENSION or "effective_dim" in variant.options:
        return True
    return "effective_dim" in experiment.options_of(variant.method)


def arena_tasks(
    experiments: Sequence[Experiment],
    methods: Sequence[Method],
    seeds: Sequence[int],
    *,
    order: Order = "seeds",
    keep_points: bool = False,
) -> tuple[Task, ...]:
    """Return the tasks in the order of the work.

    Parameters
    ----------
    experiments : sequence of Experiment
    methods : sequence of str or Variant
        One that needs the dimension of a subspace is left out where there is none; of one that is
        not installed only the first seed is there, to leave a record of it.
    seeds : sequence of int
    order : {"seeds", "experiments"}
    keep_points : bool, default False

    Raises
    ------
    InvalidInputError
        If there are no experiments, or the seeds or methods are not distinct.
    UnknownNameError
        If a method or an option is unknown.
    """
    if not experiments:
        raise InvalidInputError("the arena needs at least one experiment; received none.")
    check_seeds(seeds)
    variants = check_methods(methods)
    absent = {variant.name for variant in variants if absence_of(variant.method) is not None}
    pairs = [(seed, experiment) for seed in seeds for experiment in experiments]
    if order == "experiments":
        pairs = [(seed, experiment) for experiment in experiments for seed in seeds]
    return tuple(
        Task(experiment, variant, seed, keep_points)
        for seed, experiment in pairs
        for variant in variants
        if fits(experiment, variant) and (variant.name not in absent or seed == seeds[0])
    )


def records_path(folder: Path, experiment: str) -> Path:
    """Return the file of an experiment's records."""
    return folder / RECORDS / f"{experiment}.jsonl"


def run_arena(
    folder: Path,
    experiments: Sequence[Experiment],
    methods: Sequence[Method],
    seeds: Sequence[int],
    *,
    jobs: int = 1,
    order: Order = "seeds",
    keep_points: bool = False,
    retry_failed: bool = False,
    minutes: float | None = None,
    progress: Progress | None = None,
    announce: Callable[[str], None] | None = None,
) -> ArenaOutcome:
    """Make the runs that the folder does not hold yet.

    Parameters
    ----------
    folder : Path
        Made if it does not exist, otherwise gone on with.
    experiments, methods, seeds, order, keep_points
        As in :func:`arena_tasks`.
    jobs : int, default 1
        Runs at the same time; with two or more each in a process of its own.
    retry_failed : bool, default False
        Repeat runs that are on file as failed.
    minutes : float, optional
        After so long no further run is started; those running are finished.
    progress : callable, optional
        As in :func:`experiments.runner.run_experiment`.
    announce : callable, optional
        Is told, before the first run, what is going to be left out.

    Returns
    -------
    ArenaOutcome

    Raises
    ------
    InvalidInputError, UnknownNameError
        As :func:`arena_tasks`, before anything is written.
    RecordError
        If a file holds the same runs with other settings, or something else.
    """
    check_siblings()
    started = time.monotonic()
    deadline = None if minutes is None else started + SECONDS_PER_MINUTE * minutes
    if jobs < 1:
        raise InvalidInputError(f"jobs must be at least 1; received {jobs}.")
    tasks = arena_tasks(experiments, methods, seeds, order=order, keep_points=keep_points)
    absences = _absences(tasks)
    if announce is not None:
        for name, absence in absences.items():
            announce(f"Missing: {name}: {absence}")
    left = _left(folder, tasks, retry_failed)
    write_plan(folder, tasks)
    missing = [task for task in left if task.variant.name in absences]
    able = [task for task in left if task.variant.name not in absences]
    for _ in run_left(missing, lambda task: records_path(folder, task.experiment.name)):
        pass
    made = {
        record.key
        for record in run_left(
            able,
            lambda task: records_path(folder, task.experiment.name),
            jobs=jobs,
            progress=progress,
            deadline=deadline,
            survive=True,
        )
    }
    return ArenaOutcome(
        n_made=len(made),
        n_held=len(tasks) - len(left),
        left=tuple(task.key for task in able if task.key not in made),
        absences=absences,
    )


def _absences(tasks: Iterable[Task]) -> dict[str, str]:
    variants = {task.variant.name: task.variant.method for task in tasks}
    found = {name: absence_of(method) for name, method in variants.items()}
    return {name: absence for name, absence in found.items() if absence is not None}


def _left(folder: Path, tasks: Sequence[Task], retry_failed: bool) -> list[Task]:
    """Return the tasks that are not on file, in their order."""
    by_experiment: dict[str, list[Task]] = {}
    for task in tasks:
        by_experiment.setdefault(task.experiment.name, []).append(task)
    wanted: set[RunKey] = set()
    for name, group in by_experiment.items():
        path = records_path(folder, name)
        on_file = open_for_append(path)
        wanted.update(task.key for task in still_to_do(group, on_file, retry_failed, str(path)))
    return [task for task in tasks if task.key in wanted]


def write_plan(folder: Path, tasks: Sequence[Task]) -> None:
    """Keep the runs that were asked for: seeds by experiment and method."""
    plan: dict[str, dict[str, list[int]]] = {}
    for task in tasks:
        methods = plan.setdefault(task.experiment.name, {})
        methods.setdefault(task.variant.name, []).append(task.seed)
    text = json.dumps(plan, indent=1)
    (folder / PLAN_FILE).write_text(text + "\n", encoding="utf-8")


def read_plan(folder: Path) -> tuple[RunKey, ...]:
    """Return the runs that were asked for last; empty if nothing was."""
    path = folder / PLAN_FILE
    if not path.exists():
        return ()
    plan = json.loads(path.read_text(encoding="utf-8"))
    return tuple(
        (experiment, method, int(seed))
        for experiment, methods in plan.items()
        for method, seeds in methods.items()
        for seed in seeds
    )


def read_arena(folder: Path, more: Iterable[Path] = ()) -> tuple[RunRecord, ...]:
    """Return the records of a folder and of other files, a repeated run once, the later record.

    Parameters
    ----------
    folder : Path
    more : iterable of Path
        Files of records from elsewhere.
    """
    files = [*more, *sorted((folder / RECORDS).glob("*.jsonl"))]
    return latest(record for path in files for record in read_records(path))
