from dataclasses import replace

import numpy as np
import pytest

from experiments.metrics import simple_regret
from experiments.records import RunRecord

BASE = RunRecord(
    experiment="camelback-2-in-5",
    problem="camelback-2-in-5",
    method="boring",
    seed=0,
    budget=4,
    n_initial=2,
    direction="minimize",
    status="ok",
    optimum=-1.0,
    X=((0.5, 0.5), (0.1, 0.3), (0.2, 0.2), (0.1, 0.2)),
    y=(3.0, 1.0, 2.0, 0.0),
    value=(3.0, 1.0, 2.0, 0.0),
    simple_regret=(4.0, 2.0, 2.0, 1.0),
    x_best=(0.1, 0.2),
    y_best=0.0,
    seconds_per_ask=(0.1, 0.2, 0.3, 0.4),
    optimizer_seconds=1.5,
    objective_seconds=0.01,
    basis=((1.0,), (0.0,)),
    true_basis=((0.0,), (1.0,)),
    largest_angle_degrees=90.0,
    trusted=False,
    importance=(1.0, 0.0),
    options={"given": {"effective_dim": 1}},
    versions={"python": "3.11"},
    warnings={"NumericsWarning": 2},
)


@pytest.fixture
def record():
    """A complete record; `make_record(**changes)` gives variations."""
    return BASE


@pytest.fixture
def make_record():
    def make(values=None, **changes):
        made = replace(BASE, **changes)
        if values is None:
            return made
        values = tuple(float(value) for value in values)
        regret = None
        if made.optimum is not None:
            regret = tuple(simple_regret(values, made.optimum, made.direction).tolist())
        budget = changes.get("budget", len(values))
        return replace(made, value=values, y=values, simple_regret=regret, budget=budget)

    return make


@pytest.fixture
def rng():
    return np.random.default_rng(20260101)
