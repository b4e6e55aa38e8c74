"""The runs that `test_kill_resume` kills, and what every one of them has to import."""

import time
import traceback
from pathlib import Path

import numpy as np

import baselines  # noqa: F401 (registers the names)
from boring import minimize
from boring.registry import get_optimizer, optimizer_names

BOUNDS = [(-1.0, 2.0), (0.0, 0.5), (10.0, 30.0)]
N_EVALUATIONS = 9
N_INITIAL = 4
SEED = 7
#: Seconds of an evaluation. The kill comes after at most five and .03 seconds: the other four must
#: take longer, however quick the processor.
PAUSE = 0.02
#: One of each kind, for every kill costs the loading of a journal and the fits of a run; that each
#: method resumes from its journal, wherever that ends, is the conformance suite's.
OF_EACH_KIND = frozenset(
    {
        *("boring", "boring-thesis", "rembo", "active-embedding", "add-gp-ucb", "line-bo"),
        *("gp", "tpe", "bore-svm", "rvfl-bayesian", "spn", "conditional-map", "sobol"),
    }
)
assert set(optimizer_names()) >= OF_EACH_KIND
# Here, since the server of the forks imports this module once for all the children.
for _name in OF_EACH_KIND:
    get_optimizer(_name)


def objective(x):
    """Return a smooth value."""
    u = (x - [0.5, 0.25, 20.0]) / [1.5, 0.25, 10.0]
    return float((u[0] - 0.3) ** 2 + 0.5 * (u[1] + u[2]) ** 2 + np.sin(3.0 * u[0]))


def run(method, options, journal, log, error):
    """Run to the end, each value on a line of the log; leave the traceback of what is raised."""

    def fun(x):
        time.sleep(PAUSE)
        y = objective(x)
        with Path(log).open("a") as file:
            file.write(repr(y) + "\n")
        return y

    try:
        minimize(
            fun,
            BOUNDS,
            N_EVALUATIONS,
            method=method,
            seed=SEED,
            n_initial=N_INITIAL,
            journal=journal,
            **options,
        )
    except BaseException:
        Path(error).write_text(traceback.format_exc())
        raise
