"""A run killed at any moment and resumed equals the run that was left alone, bit for bit."""

import multiprocessing
import os
import signal
import time

import numpy as np
import pytest

from boring.journal import journal_exists, read_journal
from boring.optimizer import Optimizer
from boring.registry import get_optimizer, optimizer_names
from tests.integration._killed_run import (
    BOUNDS,
    N_EVALUATIONS,
    N_INITIAL,
    OF_EACH_KIND,
    SEED,
    objective,
    run,
)

MAX_KILLS = 40


#: Whose phase of learning would else outlast the run.
SHORT_PHASES = {
    "active-embedding": {"n_learning": 6},
    "coordinate-differences": {"effective_dim": 1, "n_centers": 1},
    "si-bo": {"effective_dim": 1, "n_centers": 1, "n_directions": 3},
}


def methods():
    return [
        name if name in OF_EACH_KIND else pytest.param(name, marks=pytest.mark.slow)
        for name in optimizer_names()
    ]


@pytest.fixture(scope="module")
def processes():
    """Return where children come from: a server that has imported all and never ran anything."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([run.__module__])
    return context


def n_lines(path):
    return path.read_bytes().count(b"\n") if path.exists() else 0


def run_and_kill(child, journal, error, rng):
    """Start a child and kill it a few journal lines later; return whether it finished first."""
    wanted = n_lines(journal) + int(rng.integers(3, 12))
    child.start()
    try:
        while n_lines(journal) < wanted and child.is_alive():
            time.sleep(0.001)
        time.sleep(float(rng.uniform(0.0, 0.03)))
    finally:
        child.kill()
        child.join()
    assert child.exitcode in {0, -signal.SIGKILL}, error.read_text()
    return child.exitcode == 0


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL exists on POSIX systems only")
@pytest.mark.parametrize("method", methods())
def test_killed_and_resumed_run_equals_the_whole_one(method, tmp_path, processes, light_options):
    options = light_options.get(method, {}) | SHORT_PHASES.get(method, {})
    journal, log, error = (tmp_path / name for name in ("run.jsonl", "evaluations.txt", "error"))
    arguments = (method, options, str(journal), str(log), str(error))
    rng = np.random.default_rng(sum(method.encode()))
    n_kills = 0
    paid = []
    while not run_and_kill(processes.Process(target=run, args=arguments), journal, error, rng):
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
