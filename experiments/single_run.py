"""One run of one method on one problem instance, and its record."""

from __future__ import annotations

import contextlib
import platform
import time
import traceback
import warnings
from collections import Counter
from dataclasses import dataclass, field
from importlib import metadata
from typing import TYPE_CHECKING, Any

import numpy as np

from boring.optimizer import optimizer_class
from boring.registry import get_optimizer, optimizer_names
from boring.rng import keyed_generator, single_blas_thread
from boring.typing import FloatArray

from .account import account_of
from .config import Experiment
from .memory import peak_memory_mib, reset_peak_memory
from .metrics import best_so_far, largest_angle_degrees, simple_regret
from .own import import_own
from .peers import MissingPeerError, register, requirement_of
from .records import RunRecord, Status, to_jsonable
from .variants import Method, Variant, as_variant, constants_in_place, describe, given_options

if TYPE_CHECKING:
    from boring.optimizer import Optimizer
    from synthetic.base import TestProblem

__all__ = ["Task", "lost_run", "register_methods", "run_task", "versions"]

LOST = "the process of the run was killed, often for want of memory; try fewer --jobs"

TIME_DIGITS = 6
"""Seconds of a suggestion are kept to the microsecond."""

PACKAGES = ("boring-bo", "numpy", "scipy", "pymanopt", "GPy")


@dataclass(frozen=True)
class Task:
    """One run to be made.

    Parameters
    ----------
    experiment : Experiment
    method : str or Variant
        Registered name of an optimiser, with options if need be; see :mod:`experiments.variants`.
    seed : int
    keep_points : bool, default True
        Whether the record holds every evaluated point and the true basis. They are large in many
        dimensions; both follow from the seed.
    """

    experiment: Experiment
    method: Method
    seed: int
    keep_points: bool = True

    @property
    def variant(self) -> Variant:
        """The method with its options."""
        return as_variant(self.method)

    @property
    def key(self) -> tuple[str, str, int]:
        """The key of the record that the run will leave."""
        return (self.experiment.name, self.variant.name, self.seed)

    @property
    def settings(self) -> dict[str, Any]:
        """What the method is given, in JSON's types: options, and constants if there are any."""
        given = to_jsonable(given_options(self.experiment, self.variant))
        constants = {path: describe(value) for path, value in self.variant.constants.items()}
        return {"given": given, "constants": constants} if constants else {"given": given}


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
    """Make the names of the baselines, of the peers and of a user's own modules known."""
    import baselines  # noqa: F401 (registers its optimisers)

    register()
    import_own()


def _optimizer(task: Task, problem: TestProblem) -> Optimizer:
    """Build the optimiser of a task; the registry refuses names and options it does not know.

    A method with an option ``budget`` is told the experiment's unless the experiment says another.
    """
    register_methods()
    options = given_options(task.experiment, task.variant)
    n_initial = options.pop("n_initial", task.experiment.n_initial)
    factory = get_optimizer(task.variant.method)
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
    trace.options = {**task.settings, "n_initial": optimizer.n_initial}
    trace.optimizer_seconds += time.perf_counter() - start
    for index in range(task.experiment.budget):
        start = time.perf_counter()
        x = np.array(optimizer.ask()[0])
        seconds = time.perf_counter() - start
        trace.seconds_per_ask.append(seconds)
        trace.optimizer_seconds += seconds
        start = time.perf_counter()
        value = float(problem(x))
        noise = problem.noise_at(x, keyed_generator(task.seed, "observation", index))
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
            with constants_in_place(task.variant.constants):
                _evaluate(task, problem, trace)
        except MissingPeerError as missing:
            status, error = "missing", str(missing)
        except Exception:
            status, error = "failed", traceback.format_exc()
    trace.peak_memory_mib = peak_memory_mib() if can_reset else None
    counts = Counter(warning.category.__name__ for warning in caught)
    return _record(task, problem, trace, dict(sorted(counts.items())), status, error)


def lost_run(task: Task) -> RunRecord:
    """Return the failed record of a run whose process was killed, so that nothing is known of it.

    Parameters
    ----------
    task : Task
    """
    trace = _Trace(options=task.settings)
    return _record(task, task.experiment.problem(task.seed), trace, {}, "failed", LOST)


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
    points: tuple[tuple[float, ...], ...] | None = None
    if task.keep_points:
        points = tuple(tuple(point.tolist()) for point in trace.points)
    account = account_of(estimate, problem)
    regret = None
    if optimum is not None or problem is None:  # unknown problem: no value, hence infinite regret
        gaps = simple_regret(trace.value, optimum or 0.0, direction)
        regret = tuple(float(gap) for gap in gaps)
    return RunRecord(
        experiment=task.experiment.name,
        problem=task.experiment.name if problem is None else problem.name,
        method=task.variant.name,
        seed=task.seed,
        budget=task.experiment.budget,
        n_initial=task.experiment.n_initial,
        direction=direction,
        status=status,
        optimum=optimum,
        X=points,
        y=tuple(trace.y),
        value=tuple(trace.value),
        simple_regret=regret,
        x_best=None if best is None else tuple(trace.points[best].tolist()),
        y_best=None if best is None else trace.value[best],
        seconds_per_ask=tuple(round(s, TIME_DIGITS) for s in trace.seconds_per_ask),
        optimizer_seconds=trace.optimizer_seconds,
        objective_seconds=trace.objective_seconds,
        basis=_rows(learned),
        true_basis=_rows(truth) if task.keep_points else None,
        largest_angle_degrees=(
            None if learned is None or truth is None else largest_angle_degrees(learned, truth)
        ),
        trusted=account.trusted,
        importance=account.importance,
        options=trace.options,
        versions=versions(*_distributions(task.variant.method)),
        warnings=caught,
        error=error,
        peak_memory_mib=trace.peak_memory_mib,
        learned_dim=account.learned_dim,
        trust=account.trust,
        importance_interval=account.importance_interval,
        importance_coverage=account.importance_coverage,
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
