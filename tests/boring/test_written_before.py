"""Journals and states of the version before typed parameters, constraints and failures go on.

Written with commit e8c6bd9: six values of ``x @ x`` on [0, 1] x [-5, 5], asked two at a time, the
third NaN, then (0.25, 0.5) with 1.5, seed 1; the journal ends with three points out.
"""

import shutil
from pathlib import Path

import numpy as np
import pytest

import baselines  # noqa: F401
from boring.journal import read_journal
from boring.optimizer import Optimizer
from boring.result import OptimizerState

FOLDER = Path(__file__).parent / "written_before"


@pytest.mark.parametrize("name", ["boring", "rembo"])
def test_a_journal_written_before_goes_on(name, tmp_path):
    path = tmp_path / "run.jsonl"
    shutil.copy(FOLDER / f"{name}.jsonl", path)
    optimizer = Optimizer.resume(path)
    assert optimizer.name == name
    assert optimizer.n_told == 7
    told = optimizer.result()
    assert np.flatnonzero(np.isnan(told.y)).tolist() == [2]
    assert told.y[-1] == 1.5
    assert told.X[-1].tolist() == [0.25, 0.5]
    out = optimizer.pending
    assert len(out) == 3
    np.testing.assert_array_equal(optimizer.ask(3), out)
    optimizer.tell(out[0], 0.5)
    optimizer.withdraw(read_journal(path).history.pending[0])
    assert len(np.unique(np.vstack([optimizer.ask(4), told.X, out[:2]]), axis=0)) >= 12
    assert Optimizer.resume(path).state() == optimizer.state()


@pytest.mark.parametrize("name", ["boring", "rembo"])
def test_a_state_written_before_goes_on(name):
    state = OptimizerState.from_json((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    optimizer = Optimizer.from_state(state)
    x = optimizer.ask()[0]
    optimizer.tell(x, float(x @ x))
    assert OptimizerState.from_json(optimizer.state().to_json()) == optimizer.state()
