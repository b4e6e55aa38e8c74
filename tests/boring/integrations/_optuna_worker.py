"""Workers on the study "run": ``python -m tests.boring.integrations._optuna_worker ARGUMENTS``.

The arguments are the address of the storage, a folder, the number of trials of a worker, and the
name of each worker. All but the first worker are forks, made once all is imported and nothing
opened; they begin when all are ready. The worker of the name "hangs" never ends its first
evaluation; it and "goes-on" tell the database that they are alive.
"""

import multiprocessing
import os
import sys
import time
from pathlib import Path

import optuna
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

from boring.integrations import _optuna_turns
from boring.integrations.optuna_sampler import BoringSampler
from tests.boring.integrations.conftest import open_storage

SPACE = {
    "kind": CategoricalDistribution(["a", "b"]),
    "layers": IntDistribution(1, 4),
    "rate": FloatDistribution(1e-3, 1e1, log=True),
    "x": FloatDistribution(-1.0, 1.0),
}
N_CONSTRAINTS = 2 if hasattr(optuna.trial.Trial, "set_constraint") else 0  # from Optuna 5 on
HEARTBEAT = {"heartbeat_interval": 1, "grace_period": 3}


def objective(trial):
    """Return a loss; ``layers`` may be 3 at most, if there can be constraints."""
    values = {name: trial._suggest(name, distribution) for name, distribution in SPACE.items()}
    trial.set_user_attr("worker", os.getpid())
    if N_CONSTRAINTS:
        trial.set_constraint("layers", values["layers"] - 3.0)
        trial.set_constraint("x", -0.9 - values["x"])
    time.sleep(0.2)
    return (values["x"] - 0.3) ** 2 + (values["kind"] == "b") + values["rate"] / values["layers"]


def hanging(trial):
    """Begin an evaluation, say so, and never end."""
    trial._suggest("x", SPACE["x"])
    Path(sys.argv[2], "hanging").touch()
    time.sleep(1e6)


def sampler():
    """Return the sampler that all workers use; the study keeps the entropy."""
    return BoringSampler(search_space=SPACE, n_initial=4)


def work(address, folder, trials, name, n_workers=1):
    """Open the study, and work on it once so many workers are ready."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    storage = open_storage(address, **(HEARTBEAT if name in ("hangs", "goes-on") else {}))
    study = optuna.load_study(study_name="run", storage=storage, sampler=sampler())
    Path(folder, f"ready-{name}").touch()
    while len(list(Path(folder).glob("ready-*"))) < n_workers:
        time.sleep(0.01)
    study.optimize(hanging if name == "hangs" else objective, n_trials=trials)


def main():
    """Work."""
    address, folder, trials, *names = sys.argv[1:]
    # Nobody is to be taken for dead on a busy machine.
    _optuna_turns.PATIENCE = _optuna_turns.CHOOSING_PATIENCE = 1e6
    forks = []
    for name in names[1:]:
        process = multiprocessing.get_context("fork").Process(
            target=work, args=(address, folder, int(trials), name, len(names))
        )
        process.start()
        forks.append(process)
    work(address, folder, int(trials), names[0], len(names))
    for process in forks:
        process.join()
    sys.exit(any(process.exitcode for process in forks))


if __name__ == "__main__":
    main()
