"""A run killed at any moment and resumed equals the run that was left alone, bit for bit."""

import inspect
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import baselines  # noqa: F401 (registers the names)
from boring.journal import journal_exists, read_journal
from boring.optimizer import Optimizer
from boring.registry import get_optimizer, optimizer_names

ROOT = Path(__file__).resolve().parents[2]
BOUNDS = [(-1.0, 2.0), (0.0, 0.5), (10.0, 30.0)]
N_EVALUATIONS = 9
N_INITIAL = 4
SEED = 7
MAX_KILLS = 40
#: One of each kind, for every child takes seconds to begin; that each method resumes from its
#: journal, wherever that ends, is the conformance suite's.
OF_EACH_KIND = {
    *("boring", "boring-thesis", "rembo", "active-embedding", "add-gp-ucb", "line-bo"),
    *("gp", "tpe", "bore-svm", "rvfl-bayesian", "spn", "conditional-map", "sobol"),
}


#: Whose phase of learning would else outlast the run.
SHORT_PHASES = {
    "active-embedding": {"n_learning": 6},
    "coordinate-differences": {"effective_dim": 1, "n_centers": 1},
    "si-bo": {"effective_dim": 1, "n_centers": 1, "n_directions": 3},
}


def methods():
    assert set(optimizer_names()) >= OF_EACH_KIND
    return [
        name if name in OF_EACH_KIND else pytest.param(name, marks=pytest.mark.slow)
        for name in optimizer_names()
    ]


CHILD = """
import sys
import time

import numpy as np

import baselines
from boring import minimize

method, journal, log = sys.argv[1:]

{objective}

def fun(x):
    time.sleep(0.002)
    y = objective(x)
    with open(log, "a") as file:
        file.write(repr(y) + "\\n")
    return y


minimize(
    fun,
    {bounds},
    {budget},
    method=method,
    seed={seed},
    n_initial={n_initial},
    journal=journal,
    **{options},
)
"""


def objective(x):
    u = (x - [0.5, 0.25, 20.0]) / [1.5, 0.25, 10.0]
    return float((u[0] - 0.3) ** 2 + 0.5 * (u[1] + u[2]) ** 2 + np.sin(3.0 * u[0]))


def n_lines(path):
    return path.read_bytes().count(b"\n") if path.exists() else 0


def run_and_kill(arguments, journal, rng):
    """Start a child and kill it a few journal lines later; return whether it finished first."""
    wanted = n_lines(journal) + int(rng.integers(3, 12))
    child = subprocess.Popen(
        arguments,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "default"},
        stderr=subprocess.PIPE,
    )
    try:
        while n_lines(journal) < wanted and child.poll() is None:
            time.sleep(0.001)
        time.sleep(float(rng.uniform(0.0, 0.03)))
    finally:
        child.send_signal(signal.SIGKILL)
        error = child.communicate()[1].decode()
    assert child.returncode in {0, -signal.SIGKILL}, error
    return child.returncode == 0


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL exists on POSIX systems only")
@pytest.mark.parametrize("method", methods())
def test_killed_and_resumed_run_equals_the_whole_one(method, tmp_path, light_options):
    options = light_options.get(method, {}) | SHORT_PHASES.get(method, {})
    journal, log = tmp_path / "run.jsonl", tmp_path / "evaluations.txt"
    script = tmp_path / "child.py"
    script.write_text(
        CHILD.format(
            objective=inspect.getsource(objective),
            bounds=BOUNDS,
            budget=N_EVALUATIONS,
            seed=SEED,
            n_initial=N_INITIAL,
            options=options,
        )
    )
    arguments = [sys.executable, str(script), method, str(journal), str(log)]
    rng = np.random.default_rng(sum(method.encode()))
    n_kills = 0
    paid = []
    while not run_and_kill(arguments, journal, rng):
        n_kills += 1
        assert n_kills < MAX_KILLS, "the run does not get on"
        if journal_exists(journal):
            told = read_journal(journal).history.y
            np.testing.assert_array_equal(told[: len(paid)], paid)
            paid = told
    assert n_kills >= 1, "nothing was killed, so that the test shows nothing"

    whole = get_optimizer(method)(
        BOUNDS, direction="minimize", n_initial=N_INITIAL, seed=SEED, **options
    )
    whole.run(objective, N_EVALUATIONS)
    resumed = Optimizer.resume(journal)
    assert resumed.state() == whole.state()
    assert resumed.result().records == whole.result().records
    assert N_EVALUATIONS <= n_lines(log) <= N_EVALUATIONS + n_kills
