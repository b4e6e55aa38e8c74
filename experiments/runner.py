"""Run methods on problems over paired seeds, and keep one record of each run.

The seed of a run fixes the problem instance, the noise of the k-th observation, and the seed of
the optimiser; optimisers of the same base class therefore begin with the same initial design. Runs
that the file already holds are skipped, so an experiment that was stopped goes on where it was. A
method whose package is not installed leaves a record that says so, and is tried again next time.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from boring.exceptions import InvalidInputError

from . import check_siblings
from .config import Experiment
from .peers import absence_of
from .processes import WorkerError, run_all
from .records import RecordError, RunKey, RunRecord, append_record, latest, open_for_append
from .single_run import Task, lost_run, register_methods, run_task, versions
from .variants import Method, Variant, check_variants

__all__ = [
    "Task",
    "WorkerError",
    "check_methods",
    "check_seeds",
    "make_tasks",
    "register_methods",
    "run_experiment",
    "run_left",
    "run_task",
    "still_to_do",
    "versions",
]

Progress = Callable[[RunRecord | None, int, int], None]


def make_tasks(
    experiment: Experiment, methods: Sequence[Method], seeds: Sequence[int]
) -> tuple[Task, ...]:
    """Return the tasks seed by seed, so that a run that is stopped leaves whole pairs."""
    return tuple(Task(experiment, method, seed) for seed in seeds for method in methods)


def still_to_do(
    tasks: Sequence[Task], records: Sequence[RunRecord], retry_failed: bool, path: str
) -> list[Task]:
    """Leave out what the file holds, and refuse to mix settings in one file.

    Parameters
    ----------
    tasks : sequence of Task
    records : sequence of RunRecord
        What the file holds.
    retry_failed : bool
        Repeat runs that are on file as failed.
    path : str
        Of the file, for the message.

    Raises
    ------
    RecordError
        If the file holds one of the runs with another budget, initial design or options.
    """
    done = {record.key: record for record in latest(records)}
    left = []
    for task in tasks:
        record = done.get(task.key)
        if record is None:
            left.append(task)
            continue
        asked = task.settings
        held = {"given": asked["given"], "constants": {}}
        held |= {name: record.options[name] for name in held if name in record.options}
        settings = (record.budget, record.n_initial)
        wanted = (task.experiment.budget, task.experiment.n_initial)
        if settings != wanted or held != {"constants": {}, **asked}:
            raise RecordError(
                f"{path} holds {task.key} with budget and initial points {settings} and {held}; "
                f"asked for {wanted} and {asked}. Write to another --out."
            )
        can_now = record.status == "missing" and absence_of(task.variant.method) is None
        if can_now or (record.status == "failed" and retry_failed):
            left.append(task)
    return left


def run_left(
    tasks: Sequence[Task],
    path_of: Callable[[Task], str | os.PathLike[str]],
    *,
    jobs: int = 1,
    progress: Progress | None = None,
    deadline: float | None = None,
    survive: bool = False,
) -> Iterator[RunRecord]:
    """Run tasks, append each finished run to its file, and yield its record.

    Parameters
    ----------
    tasks : sequence of Task
        Nothing that is on file already.
    path_of : callable
        Returns the file of a task.
    jobs, progress
        As in :func:`run_experiment`.
    deadline : float, optional
        By ``time.monotonic``; no run starts after it.
    survive : bool, default False
        Record a run whose process was killed as failed, instead of raising.
    """
    paths = {task.key: Path(path_of(task)) for task in tasks}
    finished = 0
    if progress is not None:
        progress(None, 0, len(tasks))
    for record in run_all(
        run_task,
        tasks,
        min(jobs, max(len(tasks), 1)),
        deadline=deadline,
        on_death=lost_run if survive else None,
    ):
        append_record(paths[record.key], record)
        finished += 1
        if progress is not None:
            progress(record, finished, len(tasks))
        yield record


def run_experiment(
    experiment: Experiment,
    path: str | os.PathLike[str],
    *,
    seeds: Sequence[int],
    methods: Sequence[Method] | None = None,
    jobs: int = 1,
    retry_failed: bool = False,
    progress: Progress | None = None,
) -> tuple[RunRecord, ...]:
    """Run the methods over the seeds, appending each finished run to a file.

    Parameters
    ----------
    experiment : Experiment
    path : path-like
        JSON lines; made if it does not exist, otherwise gone on with.
    seeds : sequence of int
        Non-negative and distinct.
    methods : sequence of str or Variant, optional
        Registered names, with options if need be: ``boring[subspace_every=0]``; those of the
        experiment by default.
    jobs : int, default 1
        Runs at the same time, each with one BLAS thread. One makes them in this process; more
        give each run a process of its own, and its peak memory is then its own too.
    retry_failed : bool, default False
        Repeat runs that are on file as failed.
    progress : callable, optional
        Called as ``progress(record, number finished now, number to do)`` after each run, and
        once with None as the record at the start.

    Returns
    -------
    tuple of RunRecord
        Of the asked tasks, from the file and from now, in the order of the tasks.

    Raises
    ------
    InvalidInputError
        If the seeds repeat or are negative, or ``jobs`` is not positive, or a method is unknown.
    RecordError
        If the file holds the same runs with other settings, or something else.
    WorkerError
        If a worker process was killed; the finished runs are on file.
    """
    check_siblings()
    if jobs < 1:
        raise InvalidInputError(f"jobs must be at least 1; received {jobs}.")
    check_seeds(seeds)
    chosen = check_methods(experiment.methods if methods is None else methods)
    tasks = make_tasks(experiment, chosen, seeds)
    on_file = open_for_append(path)
    left = still_to_do(tasks, on_file, retry_failed, os.fspath(path))
    fresh = run_left(left, lambda task: path, jobs=jobs, progress=progress)
    by_key: dict[RunKey, RunRecord] = {record.key: record for record in (*on_file, *fresh)}
    return tuple(by_key[task.key] for task in tasks)


def check_seeds(seeds: Sequence[int]) -> None:
    """Raise if there are no seeds, or some repeat or are negative."""
    if not seeds or len(set(seeds)) != len(seeds) or min(seeds) < 0:
        raise InvalidInputError(f"seeds must be distinct and not negative; received {list(seeds)}.")


def check_methods(methods: Sequence[Method]) -> tuple[Variant, ...]:
    """Return the methods with their options read.

    Raises
    ------
    UnknownNameError
        If a method or an option is not known; the message suggests the nearest.
    InvalidInputError
        If a method is named twice, or an option's value is refused.
    """
    register_methods()
    return check_variants(methods)
