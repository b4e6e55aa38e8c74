"""How many evaluations are wasted where some of them fail, and what that costs in regret.

Run ``python -m experiments.failures`` from the root of the checkout. Evaluations fail in a half of
the box, or in balls, and a best point of the problem is outside; or in a half with a best point in
it (``cut``: what is left may be best at the edge, and the regret does not fall to 0). Told is
either nothing but the failures (``told``: NaN is the value), or beforehand where they are
(``known``: a constraint of the domain, so that none is proposed), which is the mark to come near
to. Each line of the output is one run; what is there already is not run again, and ``--seeds 0``
prints the table alone.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from boring.domain import Domain
from boring.registry import get_optimizer
from boring.rng import keyed_generator, single_blas_thread
from boring.typing import FloatArray
from synthetic import TestProblem, get_problem

from .arguments import non_negative, positive
from .lines import run_missing
from .metrics import simple_regret
from .script import run_script
from .single_run import register_methods
from .tables import markdown

__all__ = ["KINDS", "PROBLEMS", "FailureRun", "failures_table", "region", "run_with_failures"]

PROBLEMS = {"camelback-2-in-5": 60, "branin-2-in-10": 100, "hartmann6-6": 60}
"""Evaluations of each problem, the initial design among them."""

KINDS = ("half", "cut", "balls")
TOLD, KNOWN = "told", "known"
FIRST = 20
"""Evaluations whose failures are not held against a method: something must be tried."""

N_BALLS = 3
RADIUS = 0.6
"""Balls in which evaluations fail: their number, and their radius over the root of D / 2."""


@dataclass(frozen=True)
class FailureRun:
    """One run: a problem, a method, what fails, what is known of it, and a seed."""

    problem: str
    method: str
    kind: str
    knowledge: str
    seed: int
    budget: int | None = None

    @property
    def n_evaluations(self) -> int:
        """Evaluations of the run."""
        return self.budget or PROBLEMS[self.problem]

    @property
    def key(self) -> tuple[Any, ...]:
        """What tells this run from others in a file."""
        return (
            self.problem,
            self.method,
            self.kind,
            self.knowledge,
            self.seed,
            self.n_evaluations,
        )


def region(problem: TestProblem, kind: str, seed: int) -> Callable[[FloatArray], FloatArray]:
    """Return what is positive where evaluations fail, a function of scaled points (n, D).

    Parameters
    ----------
    problem : TestProblem
        With a known optimum; its first best point is where evaluations succeed, but for "cut".
    kind : {"half", "cut", "balls"}
        The half of the box on one side of a plane through its centre, or three balls.
    seed : int
    """
    assert problem.optimizers is not None
    best = problem.space.scale(problem.optimizers[:1])
    rng = keyed_generator(seed, "failures", problem.name, kind)
    if kind in ("half", "cut"):
        normal = rng.standard_normal(best.shape[1])
        wanted = 1.0 if kind == "cut" else -1.0
        normal *= wanted * np.sign(float(best[0] @ normal))
        return lambda U: np.asarray(U @ normal)

    radius = RADIUS * np.sqrt(best.shape[1] / 2.0)
    centers: list[FloatArray] = []
    while len(centers) < N_BALLS:
        center = np.asarray(rng.uniform(-1.0, 1.0, best.shape[1]))
        if np.linalg.norm(center - best[0]) > 1.1 * radius:
            centers.append(center)

    def depth(U: FloatArray) -> FloatArray:
        distances = np.linalg.norm(U[:, None, :] - np.array(centers), axis=2)
        return np.asarray(radius - distances.min(axis=1))

    return depth


def run_with_failures(run: FailureRun) -> dict[str, Any]:
    """Make one run and return its record.

    Parameters
    ----------
    run : FailureRun
    """
    register_methods()
    problem = get_problem(run.problem, run.seed)
    fails = region(problem, run.kind, run.seed)
    domain = Domain(problem.space.dim, constraints=[fails] if run.knowledge == KNOWN else [])
    start = time.process_time()
    values: list[float] = []
    failed: list[bool] = []
    with warnings.catch_warnings(), single_blas_thread():
        warnings.simplefilter("ignore")
        optimizer: Any = get_optimizer(run.method)(
            problem.space, direction=problem.direction, seed=run.seed, domain=domain
        )
        for _ in range(run.n_evaluations):
            x = optimizer.ask()[0]
            failed.append(bool(fails(problem.space.scale(x[None, :]))[0] > 0))
            values.append(float("nan") if failed[-1] else float(problem(x)))
            optimizer.tell(x, values[-1])
    assert problem.optimum is not None
    phases = [ask.phase for ask in optimizer.history.asks]
    wasted: dict[str, list[int]] = {}
    for phase, is_failed in zip(phases[FIRST:], failed[FIRST:], strict=True):
        count = wasted.setdefault(phase, [0, 0])
        count[0] += is_failed
        count[1] += 1
    regret = simple_regret(values, problem.optimum, problem.direction)
    return {
        "run": list(run.key),
        "failed": failed,
        "wasted by phase": wasted,
        "regret": np.asarray(regret).tolist(),
        "cpu_seconds": time.process_time() - start,
    }


def failures_table(records: Iterable[dict[str, Any]]) -> str:
    """Return failures after the first ones, and the regret at the end, of all seeds.

    Parameters
    ----------
    records : iterable of dict
        What `run_with_failures` returned.
    """
    groups: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for record in records:
        problem, method, kind, knowledge, _, n = record["run"]
        groups.setdefault((f"{problem} ({n})", kind, method, knowledge), []).append(record)
    rows = []
    for key, runs in sorted(groups.items()):
        shares = [float(np.mean(run["failed"][FIRST:] or [0.0])) for run in runs]
        low, median, high = np.percentile([run["regret"][-1] for run in runs], [25, 50, 75])
        rows.append(
            [
                *key,
                str(len(runs)),
                f"{np.mean(shares):.0%} ({min(shares):.0%}, {max(shares):.0%})",
                _by_phase(runs),
                f"{median:.1e} ({low:.0e}, {high:.0e})",
            ]
        )
    header = [
        "problem (evaluations)",
        "fails",
        "method",
        "where is",
        "seeds",
        f"failed after the first {FIRST}, mean (least, most)",
        "failed of each phase",
        "regret at the end, median (quartiles)",
    ]
    return markdown(header, rows)


def _by_phase(runs: Sequence[dict[str, Any]]) -> str:
    totals: dict[str, list[int]] = {}
    for run in runs:
        for phase, (n_failed, n) in run["wasted by phase"].items():
            total = totals.setdefault(phase, [0, 0])
            total[0] += n_failed
            total[1] += n
    return ", ".join(f"{phase} {a}/{n}" for phase, (a, n) in sorted(totals.items()))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is missing, append it, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m experiments.failures", description=__doc__)
    parser.add_argument(
        "--seeds", type=non_negative, default=4, help="how many (default %(default)s)"
    )
    parser.add_argument("--problems", nargs="+", choices=PROBLEMS, default=list(PROBLEMS))
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--knowledge", nargs="+", choices=(TOLD, KNOWN), default=[TOLD, KNOWN])
    parser.add_argument("--methods", nargs="+", default=["boring"], help="registered names")
    parser.add_argument("--budget", type=positive, help="evaluations (default: the problem's)")
    parser.add_argument("--jobs", type=positive, default=1, help="processes")
    parser.add_argument("--out", type=Path, default=Path("results/failures.jsonl"))
    options = parser.parse_args(arguments)
    register_methods()
    wanted = [
        FailureRun(problem, method, kind, knowledge, seed, options.budget)
        for seed in range(options.seeds)
        for problem in options.problems
        for kind in options.kinds
        for knowledge in options.knowledge
        for method in options.methods
    ]
    records = run_missing(run_with_failures, wanted, options.jobs, options.out)
    print(failures_table(records))
    return 0


if __name__ == "__main__":
    run_script(main)
