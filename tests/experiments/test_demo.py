from dataclasses import replace

import numpy as np
import pytest

from boring.exceptions import InvalidInputError
from experiments import demo
from experiments.config import Experiment, get_experiment
from experiments.records import read_records
from synthetic import TestProblem, camelback


def plain_problem(seed):
    inner = camelback()
    return TestProblem(name="plain", space=inner.space, formula=inner.formula)


def test_subspace_is_named_in_words(record):
    named = replace(
        record,
        basis=((0.8, 0.0), (0.1, 1.0), (-0.59, 0.0)),
        importance=(0.5, 0.2, 0.3),
        trusted=True,
        largest_angle_degrees=1.23,
    )
    text = "\n".join(demo.describe_subspace(named))
    assert "2 directions of the 3 parameters" in text
    assert "z1 = +0.80 x0 -0.59 x2" in text
    assert "z2 = +1.00 x1" in text
    assert "x0 (50%), x2 (30%), x1 (20%)" in text
    assert "trusts this subspace" in text
    assert "1.2° away" in text
    assert "NOT trust" in "\n".join(demo.describe_subspace(replace(named, trusted=False)))
    assert "did not name" in demo.describe_subspace(replace(named, basis=None))[0]


def test_surrogate_data_are_unseen_real_values_and_close_predictions():
    experiment = get_experiment("camelback-2-in-5")
    Z, real, mean, angle = demo.surrogate_data(experiment, 0)
    assert Z.shape == (len(real), 2)
    assert len(real) == len(mean) == demo.N_UNSEEN
    assert angle < 10.0
    assert np.sqrt(np.mean((mean - real) ** 2)) < 0.3 * np.std(real)
    again = demo.surrogate_data(experiment, 0)
    np.testing.assert_array_equal(again[2], mean)


def test_surrogate_needs_a_true_subspace():
    experiment = Experiment("plain", plain_problem, budget=5, n_initial=2)
    with pytest.raises(InvalidInputError, match="no true subspace"):
        demo.surrogate_data(experiment, 0)


@pytest.mark.usefixtures("quick_subspaces")
def test_the_demo_prints_its_findings_and_draws_its_pictures(tmp_path, capsys, monkeypatch):
    small = replace(get_experiment("camelback-2-in-3"), budget=18, methods=("boring", "sobol"))
    monkeypatch.setattr(demo, "demo_experiment", lambda: small)
    (tmp_path / "records.jsonl").write_text("left by an older version\n")
    demo.run_demo(tmp_path, n_seeds=1, jobs=1)
    text = capsys.readouterr().out
    for phrase in ("| boring", "What was found", "best value", "parameters that matter most"):
        assert phrase in text
    for name in ("convergence.png", "subspace.png", "surrogate.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")
        assert name in text
    records = read_records(tmp_path / "records.jsonl")
    assert [record.method for record in records] == ["boring", "sobol"]
    assert records[0].basis is not None
    assert records[0].largest_angle_degrees is not None
    assert "optimum" in (tmp_path / "table.md").read_text()
