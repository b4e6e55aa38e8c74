"""Runs of tuners on tasks over paired seeds, one record for each."""

from __future__ import annotations

import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from boring.exceptions import InvalidInputError
from boring.rng import single_blas_thread

from ..processes import run_all
from ..records import RecordError, RunRecord, append_record, latest, open_for_append, to_jsonable
from ..single_run import register_methods, versions
from .methods import Evaluated, tuner_of
from .objective import LossCache, TuningObjective
from .tasks import TuningTask, get_task

__all__ = ["DEFAULT_BUDGET", "DEFAULT_DESIGN", "TuningRun", "run_tuner", "run_tuning"]

DEFAULT_BUDGET = 60

DEFAULT_DESIGN = 10
"""First evaluations, the same for all; what TPE draws at random by default."""


@dataclass(frozen=True)
class TuningRun:
    """One run to be made.

    Parameters
    ----------
    task, method : str
        See `experiments.tuning.tasks` and `experiments.tuning.methods`.
    seed : int
        Fixes rows, folds, first design and tuner.
    budget, n_initial : int
    cache : Path, optional
        Of losses.
    """

    task: str
    method: str
    seed: int
    budget: int = DEFAULT_BUDGET
    n_initial: int = DEFAULT_DESIGN
    cache: Path | None = None


def run_tuner(run: TuningRun) -> RunRecord:
    """Make a run; what it raises makes it a failed one, never a lost one."""
    register_methods()
    task, error = get_task(run.task), None
    tuner, variant = tuner_of(run.method)
    objective = TuningObjective(task, run.seed, LossCache(run.cache) if run.cache else None)
    tried = Evaluated(objective)
    begin = time.perf_counter()
    with warnings.catch_warnings(), single_blas_thread():
        warnings.simplefilter("ignore")
        try:
            tuner(tried, task.space, run.seed, run.budget, run.n_initial, variant.options)
        except Exception:
            error = traceback.format_exc()
    seconds = time.perf_counter() - begin
    return _record(run, task, objective, tried, seconds, error)


def _record(
    run: TuningRun,
    task: TuningTask,
    objective: TuningObjective,
    tried: Evaluated,
    seconds: float,
    error: str | None,
) -> RunRecord:
    points = task.space.encode(tried.configurations) if tried.configurations else np.empty((0, 0))
    best = int(np.nanargmin(tried.values)) if np.isfinite(tried.values).any() else None
    values = tuple(float(v) for v in tried.values)
    return RunRecord(
        experiment=task.name,
        problem=f"{task.name} ({task.n_rows} rows)",
        method=run.method,
        seed=run.seed,
        budget=run.budget,
        n_initial=run.n_initial,
        direction="minimize",
        status="ok" if error is None else "failed",
        optimum=None,
        X=tuple(tuple(row.tolist()) for row in points),
        y=values,
        value=values,
        simple_regret=None,
        x_best=None if best is None else tuple(points[best].tolist()),
        y_best=None if best is None else values[best],
        seconds_per_ask=(),
        optimizer_seconds=max(0.0, seconds - objective.seconds),
        objective_seconds=objective.seconds,
        options={
            "best": None if best is None else to_jsonable(tried.configurations[best]),
            "phases": tried.phases if any(tried.phases) else [],
        },
        versions=versions("scikit-learn", "optuna"),
        error=error,
    )


def run_tuning(
    path: Path,
    tasks: Sequence[str],
    methods: Sequence[str],
    seeds: Sequence[int],
    *,
    budget: int = DEFAULT_BUDGET,
    n_initial: int = DEFAULT_DESIGN,
    jobs: int = 1,
    cache: Path | None = None,
    retry_failed: bool = False,
    deadline: float | None = None,
    progress: Callable[[RunRecord, int, int], None] | None = None,
) -> Iterator[RunRecord]:
    """Make the runs that the file does not hold yet, seed by seed; yield their records.

    Parameters
    ----------
    path : Path
        JSON lines, to which records are appended.
    tasks, methods : sequence of str
    seeds : sequence of int
    budget, n_initial : int
    jobs : int
        Processes.
    cache : Path, optional
        Of losses.
    retry_failed : bool
    deadline : float, optional
        By ``time.monotonic``; no run starts after it.
    progress : callable, optional
        Takes each record, and how many of how many are done.

    Raises
    ------
    RecordError
        If the file holds one of the runs with another budget or design.
    """
    if not 2 <= n_initial <= budget:
        raise InvalidInputError(
            f"The first design must have between 2 and budget = {budget} points; received "
            f"{n_initial}."
        )
    for task in tasks:
        get_task(task)
    names = [tuner_of(method)[1].name for method in methods]
    held = {record.key: record for record in latest(open_for_append(path))}
    left = []
    for seed in seeds:
        for task in tasks:
            for name in names:
                record = held.get((task, name, seed))
                if record is None or (retry_failed and record.status == "failed"):
                    left.append(TuningRun(task, name, seed, budget, n_initial, cache))
                elif (record.budget, record.n_initial) != (budget, n_initial):
                    raise RecordError(
                        f"{path} holds {record.key} with budget {record.budget} and "
                        f"{record.n_initial} first points; asked for {budget} and {n_initial}. "
                        "Write to another --out."
                    )
    for number, record in enumerate(run_all(run_tuner, left, jobs, deadline=deadline), start=1):
        append_record(path, record)
        if progress is not None:
            progress(record, number, len(left))
        yield record
