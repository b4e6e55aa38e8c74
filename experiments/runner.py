"""Run methods on problems over paired seeds, and keep one record of each run.

The seed of a run fixes the problem instance, the noise of the k-th observation, and the seed of
the optimiser; optimisers of the same base class therefore begin with the same initial design. Runs
that the file already holds are skipped, so an experiment that was stopped goes on where it was. A
method whose package is not installed leaves a record that says so, and is tried again next time.
"""

from __future__ import annotations

import contextlib
import os
import platform
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from typing import TYPE_CHECKING, Any

import numpy as np

from boring.exceptions import InvalidInputError
from boring.registry import get_optimizer, optimizer_class, optimizer_names
from boring.rng import keyed_generator, single_blas_thread
from boring.typing import FloatArray

from . import check_siblings
from .config import Experiment
from .memory import peak_memory_mib, reset_peak_memory
from .metrics import best_so_far, largest_angle_degrees, simple_regret
from .peers import MissingPeerError, absence_of, register, requirement_of
from .processes import WorkerError, run_all
from .records import (
    RecordError,
    RunRecord,
    Status,
    append_record,
    latest,
    open_for_append,
    to_jsonable,
)

if TYPE_CHECKING:
    from boring.optimizer import Optimizer
    from synthetic.base import TestProblem

__all__ = [
    "Task",
    "WorkerError",
    "make_tasks",
    "register_methods",
    "run_experiment",
    "run_task",
    "versions",
]

PACKAGES = ("boring-bo", "numpy", "scipy", "pymanopt", "GPy")


Progress = Callable[[RunRecord | None, int, int], None]


@dataclass(frozen=True)
class Task:
    """One run to be made.

    Parameters
    ----------
    experiment : Experiment
    method : str
        Registered name of an optimiser.
    seed : int
    """

    experiment: Experiment
    method: str
    seed: int

    @property
    def key(self) -> tuple[str, str, int]:
        """The key of the record that the run will leave."""
        return (self.experiment.name, self.method, self.seed)


@dataclass
class _Trace:
    """What a run has gathered so far; it survives a failure."""

    points: list[FloatArray] = field(default_factory=list)
    y: list[float] = field(default_factory=list)
    value: list[float] = field(default_factory=list)
    seconds_per_ask: list[float] = field(default_factory=list)
    optimizer_seconds: float = 0.0
    objective_seconds: float = 0.0
    estimate: Any = None
    options: dict[str, Any] = field(default_factory=dict)
    peak_memory_mib: float | None = None


def versions(*more: str) -> dict[str, str]:
    """Return the versions of Python and of the packages that matter, and the processor.

    Parameters
    ----------
    *more : str
        Distributions to be named beside those that every run uses.
    """
    found = {"python": platform.python_version(), "machine": platform.machine()}
    for name in (*PACKAGES, *more):
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


def register_methods() -> None:
    """Make the names of the baselines and of the peers known."""
    import baselines  # noqa: F401 (registers its optimisers)

    register()


def _optimizer(task: Task, problem: TestProblem) -> Optimizer:
    """Build the optimiser of a task; the registry refuses names and options it does not know.

    A method with an option ``budget`` is told the experiment's unless the experiment says another.
    """
    register_methods()
    options = dict(task.experiment.options_of(task.method))
    n_initial = options.pop("n_initial", task.experiment.n_initial)
    factory = get_optimizer(task.method)
    kind = optimizer_class(factory)
    if kind is not None and "budget" in kind.option_names():
        options.setdefault("budget", task.experiment.budget)
    optimizer: Optimizer = factory(
        problem.space,
        direction=problem.direction,
        n_initial=n_initial,
        seed=task.seed,
        **options,
    )
    return optimizer


def _evaluate(task: Task, problem: TestProblem, trace: _Trace) -> None:
    """Fill the trace: ask, observe, tell, until the budget is spent."""
    start = time.perf_counter()
    optimizer = _optimizer(task, problem)
    trace.options = {
        "given": dict(task.experiment.options_of(task.method)),
        "n_initial": optimizer.n_initial,
    }
    trace.optimizer_seconds += time.perf_counter() - start
    for index in range(task.experiment.budget):
        start = time.perf_counter()
        x = np.array(optimizer.ask()[0])
        seconds = time.perf_counter() - start
        trace.seconds_per_ask.append(seconds)
        trace.optimizer_seconds += seconds
        start = time.perf_counter()
        value = float(problem(x))
        noise = problem.noise(1, keyed_generator(task.seed, "observation", index))
        y = value + float(noise[0])
        trace.objective_seconds += time.perf_counter() - start
        trace.points.append(x)
        trace.value.append(value)
        trace.y.append(y)
        start = time.perf_counter()
        optimizer.tell(x, y)
        trace.optimizer_seconds += time.perf_counter() - start
    start = time.perf_counter()
    result = optimizer.result()
    trace.estimate = result.subspace
    trace.options["resolved"] = to_jsonable(result.options)
    trace.optimizer_seconds += time.perf_counter() - start


def run_task(task: Task) -> RunRecord:
    """Make one run and return its record; an exception makes it a failed one, never a lost one.

    Parameters
    ----------
    task : Task

    Returns
    -------
    RunRecord
        With status "failed", the traceback and what had been evaluated, if anything was raised;
        with status "missing" and what to install, if the method's package is not installed.
    """
    trace = _Trace()
    error: str | None = None
    status: Status = "ok"
    problem: TestProblem | None = None
    can_reset = reset_peak_memory()
    with warnings.catch_warnings(record=True) as caught, single_blas_thread():
        warnings.simplefilter("always")
        try:
            problem = task.experiment.problem(task.seed)
            _evaluate(task, problem, trace)
        except MissingPeerError as missing:
            status, error = "missing", str(missing)
        except Exception:
            status, error = "failed", traceback.format_exc()
    trace.peak_memory_mib = peak_memory_mib() if can_reset else None
    counts = Counter(warning.category.__name__ for warning in caught)
    return _record(task, problem, trace, dict(sorted(counts.items())), status, error)


def _record(
    task: Task,
    problem: TestProblem | None,
    trace: _Trace,
    caught: dict[str, int],
    status: Status,
    error: str | None,
) -> RunRecord:
    direction = "minimize" if problem is None else problem.direction
    optimum = None if problem is None else problem.optimum
    truth = None if problem is None else problem.true_basis
    best: int | None = None
    if np.any(np.isfinite(trace.value)):
        final = best_so_far(trace.value, direction)[-1]
        best = trace.value.index(float(final))
    estimate = trace.estimate
    learned = None if estimate is None else np.asarray(estimate.active_basis)
    regret = None
    if optimum is not None or problem is None:  # unknown problem: no value, hence infinite regret
        gaps = simple_regret(trace.value, optimum or 0.0, direction)
        regret = tuple(float(gap) for gap in gaps)
    return RunRecord(
        experiment=task.experiment.name,
        problem=task.experiment.name if problem is None else problem.name,
        method=task.method,
        seed=task.seed,
        budget=task.experiment.budget,
        n_initial=task.experiment.n_initial,
        direction=direction,
        status=status,
        optimum=optimum,
        X=tuple(tuple(point.tolist()) for point in trace.points),
        y=tuple(trace.y),
        value=tuple(trace.value),
        simple_regret=regret,
        x_best=None if best is None else tuple(trace.points[best].tolist()),
        y_best=None if best is None else trace.value[best],
        seconds_per_ask=tuple(trace.seconds_per_ask),
        optimizer_seconds=trace.optimizer_seconds,
        objective_seconds=trace.objective_seconds,
        basis=_rows(learned),
        true_basis=_rows(truth),
        largest_angle_degrees=(
            None if learned is None or truth is None else largest_angle_degrees(learned, truth)
        ),
        trusted=None if estimate is None else bool(estimate.trusted),
        importance=(
            None
            if estimate is None
            else tuple(float(share) for share in np.asarray(estimate.importance))
        ),
        options=trace.options,
        versions=versions(*_distributions(task.method)),
        warnings=caught,
        error=error,
        peak_memory_mib=trace.peak_memory_mib,
    )


def _distributions(method: str) -> tuple[str, ...]:
    """Return the distribution that a peer comes from, if the method is one."""
    register_methods()
    if method not in optimizer_names():
        return ()
    requirement = requirement_of(method)
    return () if requirement is None else (requirement.distribution,)


def _rows(matrix: FloatArray | None) -> tuple[tuple[float, ...], ...] | None:
    if matrix is None:
        return None
    return tuple(tuple(float(entry) for entry in row) for row in matrix)


def make_tasks(
    experiment: Experiment, methods: Sequence[str], seeds: Sequence[int]
) -> tuple[Task, ...]:
    """Return the tasks seed by seed, so that a run that is stopped leaves whole pairs."""
    return tuple(Task(experiment, method, seed) for seed in seeds for method in methods)


def _still_to_do(
    tasks: Sequence[Task], records: Sequence[RunRecord], retry_failed: bool, path: str
) -> list[Task]:
    """Leave out what the file holds, and refuse to mix settings in one file."""
    done = {record.key: record for record in latest(records)}
    left = []
    for task in tasks:
        record = done.get(task.key)
        if record is None:
            left.append(task)
            continue
        given = to_jsonable(dict(task.experiment.options_of(task.method)))
        settings = (record.budget, record.n_initial)
        wanted = (task.experiment.budget, task.experiment.n_initial)
        known_options = record.options.get("given", given)
        if settings != wanted or known_options != given:
            raise RecordError(
                f"{path} holds {task.key} with budget and initial points {settings} and options "
                f"{known_options}; asked for {wanted} and {given}. Write to another --out file."
            )
        can_now = record.status == "missing" and absence_of(task.method) is None
        if can_now or (record.status == "failed" and retry_failed):
            left.append(task)
    return left


def run_experiment(
    experiment: Experiment,
    path: str | os.PathLike[str],
    *,
    seeds: Sequence[int],
    methods: Sequence[str] | None = None,
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
    methods : sequence of str, optional
        Registered names; those of the experiment by default.
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
    chosen = tuple(experiment.methods if methods is None else methods)
    if jobs < 1:
        raise InvalidInputError(f"jobs must be at least 1; received {jobs}.")
    if not seeds or len(set(seeds)) != len(seeds) or min(seeds) < 0:
        raise InvalidInputError(f"seeds must be distinct and not negative; received {list(seeds)}.")
    check_methods(chosen)
    tasks = make_tasks(experiment, chosen, seeds)
    on_file = open_for_append(path)
    left = _still_to_do(tasks, on_file, retry_failed, os.fspath(path))
    fresh: list[RunRecord] = []
    if progress is not None:
        progress(None, 0, len(left))
    for record in run_all(run_task, left, min(jobs, max(len(left), 1))):
        append_record(path, record)
        fresh.append(record)
        if progress is not None:
            progress(record, len(fresh), len(left))
    by_key = {record.key: record for record in latest((*on_file, *fresh))}
    return tuple(by_key[task.key] for task in tasks)


def check_methods(methods: Sequence[str]) -> None:
    """Raise, suggesting the near name, if a method is not registered or is named twice."""
    register_methods()
    if not methods or len(set(methods)) != len(methods):
        raise InvalidInputError(
            f"methods must be distinct, at least one; received {list(methods)}."
        )
    for method in methods:
        get_optimizer(method)
