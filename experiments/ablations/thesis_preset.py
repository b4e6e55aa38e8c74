"""Why the algorithm as the thesis prints it loses: replace one part at a time.

``python -m experiments.ablations.thesis_preset --seeds 10`` runs the thesis preset on the
embedded camelback with, one after another, a space-filling burn-in in place of REMBO's
single embedding, the default loop's half-rank warp, its log-EI, and all of these, and
prints regret and the angle between the last W and the truth.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any

import numpy as np

from boring.loop.thesis_optimizer import ThesisOptimizer
from boring.subspace.stiefel import largest_angle
from experiments.arguments import non_negative, positive
from experiments.config import get_experiment
from experiments.script import run_script

PARTS: dict[str, dict[str, Any]] = {
    "as printed": {},
    "burn-in by Sobol": {"burn_in_design": "sobol"},
    "half-rank warp": {"warp": "half-rank"},
    "log-EI": {"acquisition": "log-ei"},
    "warp and log-EI": {"warp": "half-rank", "acquisition": "log-ei"},
    "all three": {"burn_in_design": "sobol", "warp": "half-rank", "acquisition": "log-ei"},
    "all three, burn-in 10": {
        "burn_in_design": "sobol",
        "warp": "half-rank",
        "acquisition": "log-ei",
        "burn_in": 10,
    },
}


def run_one(experiment_name: str, part: str, seed: int) -> tuple[float, float]:
    """Return simple regret and the angle of W in degrees at the end of one run."""
    experiment = get_experiment(experiment_name)
    problem = experiment.make_problem(seed)
    optimizer = ThesisOptimizer(
        problem.space,
        direction=problem.direction,
        seed=seed,
        effective_dim=problem.effective_dim,
        **PARTS[part],
    )
    while optimizer.n_told < experiment.budget:
        x = optimizer.ask()[0]
        optimizer.tell(x, problem(x))
    assert problem.optimum is not None
    assert problem.true_basis is not None
    angle = largest_angle(np.array(optimizer.memory["W"]), problem.true_basis)
    best = float(np.max(optimizer.data.y))
    return -best - problem.optimum, float(np.rad2deg(angle))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the study and print its table."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.ablations.thesis_preset", description=__doc__
    )
    parser.add_argument("--experiment", default="camelback-2-in-10", help="a named experiment")
    parser.add_argument("--seeds", type=positive, default=10, help="number of seeds")
    parser.add_argument("--first-seed", type=non_negative, default=0, help="the first of them")
    parser.add_argument("--jobs", type=positive, default=1, help="processes")
    given = parser.parse_args(arguments)
    seeds = range(given.first_seed, given.first_seed + given.seeds)
    write = sys.stdout.write
    write("| part | median regret | quartiles | median angle of W |\n|:--|--:|--:|--:|\n")
    with ProcessPoolExecutor(given.jobs) as pool:
        for part in PARTS:
            rows = np.array(list(pool.map(partial(run_one, given.experiment, part), seeds)))
            regret = np.quantile(rows[:, 0], [0.5, 0.25, 0.75])
            write(
                f"| {part} | {regret[0]:.2g} | {regret[1]:.2g} to {regret[2]:.2g} "
                f"| {np.median(rows[:, 1]):.0f}° |\n"
            )
            sys.stdout.flush()
    return 0


if __name__ == "__main__":
    run_script(main)
