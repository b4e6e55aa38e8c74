"""BoringSampler: several worker processes on one SQLite or PostgreSQL database or one journal."""

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import optuna
import pytest

from boring import BoringOptimizer
from boring.history import Ask
from boring.integrations._optuna_history import history_of
from boring.parameters import ParameterSpace
from tests.boring.integrations import _optuna_worker as worker
from tests.boring.integrations.conftest import open_storage

ROOT = Path(__file__).resolve().parents[3]
PATIENCE = 240
WORKERS, TRIALS = 3, 3
pytestmark = pytest.mark.usefixtures("quiet_optuna")


def create_study(address):
    return optuna.create_study(
        storage=open_storage(address), study_name="run", sampler=worker.sampler()
    )


def start(address, folder, trials, *names):
    command = [sys.executable, "-m", "tests.boring.integrations._optuna_worker"]
    path = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return subprocess.Popen(
        [*command, address, str(folder), str(trials), *names],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path), "OPENBLAS_NUM_THREADS": "1"},
        stderr=subprocess.PIPE,
    )


def history(study):
    space = ParameterSpace.of(worker.SPACE)
    trials = study.get_trials()
    return space, *history_of(trials, space, study.sampler._run_name(worker.SPACE), "last")


def test_three_processes_on_one_study_act_as_one_run(address, tmp_path):
    study = create_study(address)
    workers = start(address, tmp_path, TRIALS, *map(str, range(WORKERS)))
    error = workers.communicate(timeout=PATIENCE)[1].decode()
    assert workers.returncode == 0, error

    trials, n = study.get_trials(), WORKERS * TRIALS
    assert [trial.state.name for trial in trials] == ["COMPLETE"] * n
    assert len({trial.user_attrs["worker"] for trial in trials}) == WORKERS
    assert len({tuple(trial.params.items()) for trial in trials}) == n
    space, found, n_constraints = history(study)
    assert (found.n_told, found.pending, n_constraints) == (n, (), worker.N_CONSTRAINTS)
    for trial in trials if n_constraints else ():
        assert trial.constraints["layers"] == trial.params["layers"] - 3.0

    # One optimiser, asked and told in the order of the record, asks for the same points: each
    # worker knew all values and constraints that were told, and all points that were out.
    optimizer = BoringOptimizer(
        space.box,
        direction="minimize",
        seed=study.sampler._entropy_of(study),
        n_initial=4,
        domain=space.domain,
        n_constraints=worker.N_CONSTRAINTS,
    )
    together = 0
    for event in found.events:
        if isinstance(event, Ask):
            x = optimizer.ask(len(optimizer.pending) + 1)[-1]
            np.testing.assert_array_equal(x, event.x)
            together = max(together, len(optimizer.pending))
        else:
            optimizer.tell(event.x, event.y, constraints=event.constraints)
    assert together >= 2
    assert sum(ask.phase != "initial" for ask in found.asks) >= WORKERS * (TRIALS - 2)


@pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")
def test_a_killed_worker_is_a_failure_to_the_others(database, tmp_path):
    study = create_study(database)
    dies = start(database, tmp_path, 1, "hangs")
    limit = time.monotonic() + PATIENCE
    while not (tmp_path / "hanging").exists():
        assert dies.poll() is None
        assert time.monotonic() < limit
        time.sleep(0.02)
    space, found, _ = history(study)
    assert (found.n_told, found.pending) == (0, (0,))
    asked = space.decode(found.pending_X)[0]
    dies.kill()
    dies.communicate()

    time.sleep(worker.HEARTBEAT["grace_period"] + 2)
    worker.work(database, tmp_path, 2, "goes-on")
    first, *others = study.get_trials()
    assert first.state.name == "FAIL"
    assert [trial.state.name for trial in others] == ["COMPLETE"] * 2
    assert all(trial.params != asked for trial in others)
    _, found, _ = history(study)
    assert (found.n_told, found.pending) == (3, ())
    failed = found.tells[0]
    assert failed.ask == 0
    assert np.isnan(failed.y)
    assert space.decode(failed.x[None, :])[0] == asked
