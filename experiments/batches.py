"""What several workers gain in time, and lose in regret per evaluation.

Run ``python -m experiments.batches`` from the root of the checkout. Workers are simulated by a
clock of events, so that nobody waits: an evaluation takes between half and one and a half units of
time, drawn by seed and number; as soon as a value comes it is told and the free worker gets the
next point, while the others are still at theirs. ``--equal-times`` lets every evaluation take one
unit, which makes batches. The time of suggestions is not counted. Each line of the output is one
run; what is there already is not run again, and ``--seeds 0`` prints the tables alone.

Peers ask one point after the other, too, the outstanding ones told as their adapters say
(`experiments.peers`).
"""

from __future__ import annotations

import argparse
import heapq
import sys
import time
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from boring.optimizer import Optimizer
from boring.registry import get_optimizer
from boring.rng import keyed_generator, single_blas_thread
from synthetic import TestProblem, get_problem

from .arguments import non_negative, positive, positives
from .lines import run_missing
from .metrics import simple_regret
from .peers import absence_of
from .script import run_script
from .single_run import register_methods
from .tables import format_number, markdown

__all__ = ["PROBLEMS", "BatchRun", "batches_table", "run_workers", "simulate"]

PROBLEMS = {"camelback-2-in-5": 60, "camelback-2-in-10": 100, "branin-2-in-25": 100}
"""Evaluations of each problem, the initial design among them."""

WORKERS = (1, 4, 8)
METHODS = ("boring", "peer-trust-bo", "peer-botorch")
TARGETS = (1e-1, 1e-2, 1e-4)
"""Regrets that the time to reach them is told of, units of the objective."""

EQUAL, VARIED = "equal", "varied"
SHORTEST, LONGEST = 0.5, 1.5
"""Units of time that an evaluation takes."""


@dataclass(frozen=True)
class BatchRun:
    """One run: a problem, a method, a number of workers, a seed and the kind of times."""

    problem: str
    method: str
    workers: int
    seed: int
    times: str = VARIED
    budget: int | None = None

    @property
    def key(self) -> tuple[Any, ...]:
        """What tells this run from others in a file."""
        return (self.problem, self.method, self.workers, self.seed, self.times, self.n_evaluations)

    @property
    def n_evaluations(self) -> int:
        """Evaluations of the run."""
        return self.budget or PROBLEMS[self.problem]


def simulate(
    optimizer: Optimizer,
    problem: TestProblem,
    n_evaluations: int,
    workers: int,
    durations: Sequence[float],
) -> tuple[list[float], list[float]]:
    """Drive an optimiser by simulated workers.

    Parameters
    ----------
    optimizer : Optimizer
        Without outstanding points.
    problem : TestProblem
    n_evaluations : int
    workers : int
    durations : sequence of float, length n_evaluations
        Time that the evaluation of the k-th ask takes.

    Returns
    -------
    times, values : list of float
        When each value was told, in that order, and the value.
    """
    under_way: list[tuple[float, int, tuple[float, ...]]] = []
    times: list[float] = []
    values: list[float] = []
    n_asked, now = 0, 0.0
    while len(values) < n_evaluations:
        while n_asked < n_evaluations and len(under_way) < workers:
            x = optimizer.ask(len(under_way) + 1)[-1]
            heapq.heappush(under_way, (now + durations[n_asked], n_asked, tuple(x.tolist())))
            n_asked += 1
        # Those that end together are told together, before anybody asks.
        now = under_way[0][0]
        while under_way and under_way[0][0] == now:
            point = heapq.heappop(under_way)[2]
            value = float(problem(np.array(point)))
            optimizer.tell(point, value)
            times.append(now)
            values.append(value)
    return times, values


def run_workers(run: BatchRun) -> dict[str, Any]:
    """Make one run and return its record.

    Parameters
    ----------
    run : BatchRun
    """
    register_methods()
    problem = get_problem(run.problem, run.seed)
    rng = keyed_generator(run.seed, "durations", run.problem)
    durations = rng.uniform(SHORTEST, LONGEST, run.n_evaluations)
    if run.times == EQUAL:
        durations = np.ones(run.n_evaluations)
    start = time.process_time()
    with warnings.catch_warnings(), single_blas_thread():
        warnings.simplefilter("ignore")
        optimizer: Any = get_optimizer(run.method)(
            problem.space, direction=problem.direction, seed=run.seed
        )
        times, values = simulate(
            optimizer, problem, run.n_evaluations, run.workers, durations.tolist()
        )
    assert problem.optimum is not None
    regret = simple_regret(values, problem.optimum, problem.direction)
    return {
        "run": list(run.key),
        "times": times,
        "regret": np.asarray(regret).tolist(),
        "phases": [ask.phase for ask in optimizer.history.asks],
        "cpu_seconds": time.process_time() - start,
    }


def reached(record: dict[str, Any], target: float) -> float:
    """Return the time at which a run's regret was at or below a target; infinity if never."""
    regret = np.array(record["regret"])
    below = np.flatnonzero(regret <= target)
    return float(record["times"][below[0]]) if below.size else float("inf")


def batches_table(records: Iterable[dict[str, Any]]) -> str:
    """Return, for each problem and method, the regret by workers and the gain in time.

    Parameters
    ----------
    records : iterable of dict
        What `run_workers` returned.
    """
    groups: dict[tuple[Any, ...], dict[int, dict[int, dict[str, Any]]]] = {}
    for record in records:
        problem, method, workers, seed, kind, n = record["run"]
        cell = groups.setdefault((problem, n, kind, method), {})
        cell.setdefault(workers, {})[seed] = record
    rows = []
    for (problem, n, kind, method), by_workers in sorted(groups.items()):
        for workers, runs in sorted(by_workers.items()):
            paired = by_workers.get(1, {})
            rows.append(
                [
                    f"{problem} ({n}, {kind})",
                    method,
                    str(workers),
                    str(len(runs)),
                    _quartiles([run["regret"][-1] for run in runs.values()]),
                    _loss(runs, paired),
                    *(_speed_up(runs, paired, target) for target in TARGETS),
                ]
            )
    header = [
        "problem (evaluations, times)",
        "method",
        "workers",
        "seeds",
        "regret at the end, median (quartiles)",
        "decades lost against one worker",
        *(f"time to {target:g} (faster than one worker)" for target in TARGETS),
    ]
    return markdown(header, rows)


def _quartiles(values: Sequence[float]) -> str:
    low, median, high = np.percentile(values, [25, 50, 75])
    return f"{median:.1e} ({low:.0e}, {high:.0e})"


def _loss(runs: dict[int, dict[str, Any]], paired: dict[int, dict[str, Any]]) -> str:
    """Return the median difference of the logarithms of the regret, over the seeds of both."""
    seeds = sorted(set(runs) & set(paired))
    if not seeds:
        return format_number(None)
    floor = 1e-9

    def logs(group: dict[int, dict[str, Any]]) -> Any:
        return np.log10([max(group[seed]["regret"][-1], floor) for seed in seeds])

    return f"{float(np.median(logs(runs) - logs(paired))):+.1f}"


def _speed_up(
    runs: dict[int, dict[str, Any]], paired: dict[int, dict[str, Any]], target: float
) -> str:
    """Return the median time to a target, and the ratio to that of one worker."""
    seconds = float(np.median([reached(run, target) for run in runs.values()]))
    alone = float(np.median([reached(run, target) for run in paired.values()] or [np.inf]))
    if not np.isfinite(seconds):
        return "not reached"
    return f"{seconds:.1f}" + (f" ({alone / seconds:.1f}x)" if np.isfinite(alone) else "")


def _chosen(text: str, known: Sequence[str]) -> tuple[str, ...]:
    return tuple(known) if text == "all" else tuple(text.split(","))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is missing, append it, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m experiments.batches", description=__doc__)
    parser.add_argument(
        "--seeds", type=non_negative, default=5, help="how many (default %(default)s)"
    )
    parser.add_argument("--problems", default="all", help=f"of {', '.join(PROBLEMS)}, or all")
    parser.add_argument("--methods", default="all", help=f"such as {','.join(METHODS)}, or all")
    parser.add_argument("--workers", type=positives, default=tuple(WORKERS), help="such as 1,2,4")
    parser.add_argument("--budget", type=positive, help="evaluations (default: the problem's)")
    parser.add_argument("--equal-times", action="store_true", help="batches")
    parser.add_argument("--jobs", type=positive, default=1, help="processes")
    parser.add_argument("--out", type=Path, default=Path("results/batches.jsonl"))
    options = parser.parse_args(arguments)
    problems = _chosen(options.problems, list(PROBLEMS))
    for name in problems:
        if name not in PROBLEMS:
            parser.error(f"unknown problem {name!r}; known: {', '.join(PROBLEMS)}")
    register_methods()
    methods = []
    for method in _chosen(options.methods, METHODS):
        absence = absence_of(method)
        if absence is None:
            methods.append(method)
        else:
            print(f"left out: {absence}", file=sys.stderr)
    times = EQUAL if options.equal_times else VARIED
    wanted = [
        BatchRun(problem, method, workers, seed, times, options.budget)
        for seed in range(options.seeds)
        for problem in problems
        for workers in options.workers
        for method in methods
    ]
    records = run_missing(run_workers, wanted, options.jobs, options.out)
    print(batches_table(records))
    return 0


if __name__ == "__main__":
    run_script(main)
