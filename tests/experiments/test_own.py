"""Optimisers and experiments of a user's own, in this process and in others."""

import os
import sys

import pytest

import baselines  # noqa: F401 - its names belong in the real registry, not in a test's copy
from boring import registry
from experiments import config
from experiments.__main__ import main
from experiments.own import VARIABLE
from experiments.records import read_records

MODULE = '''
import dataclasses

import numpy as np

import boring
from boring.optimizer import Optimizer, Proposal
from experiments.config import EXPERIMENTS


class Middle(Optimizer):
    """Goes half way from the best point to a random one."""

    name = "middle"

    def _propose(self, context):
        best = context.data.finite_X[np.argmax(context.data.finite_y)]
        return Proposal(0.5 * best + 0.5 * context.rng.uniform(-1.0, 1.0, best.size))


boring.register_optimizer("middle", Middle)
EXPERIMENTS["mine"] = dataclasses.replace(
    EXPERIMENTS["camelback-2-in-5"], name="mine", budget=8, n_initial=4, methods=("middle", "sobol")
)
'''


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Return the name of a module that registers an optimiser and an experiment."""
    (tmp_path / "my_own_parts.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.getcwd()]))
    monkeypatch.setattr(registry, "_targets", dict(registry._targets))
    yield "my_own_parts"
    sys.modules.pop("my_own_parts", None)
    config.EXPERIMENTS.pop("mine", None)


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_own_parts_run_in_every_process(module, tmp_path, capsys, jobs):
    out = tmp_path / "records.jsonl"
    words = ["--import", module, "run", "mine", "--seeds", "1", "--jobs", jobs, "--quiet"]
    assert main([*words, "--out", str(out)]) == 0, capsys.readouterr().err
    records = read_records(out)
    assert {(record.method, record.status) for record in records} == {
        ("middle", "ok"),
        ("sobol", "ok"),
    }
    assert VARIABLE not in os.environ


def test_what_cannot_be_imported_is_named_with_its_remedy(capsys):
    assert main(["--import", "no_such_parts", "list"]) == 2
    assert "'no_such_parts' is not: No module named" in (shown := capsys.readouterr().err)
    assert "PYTHONPATH" in shown
