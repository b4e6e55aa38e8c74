"""The regression study: splits, records, table, command."""

import json

import numpy as np
import pytest

from experiments import regression
from synthetic.tasks.regression_data import RegressionData, load_bundled


@pytest.fixture
def ridge_data():
    """One direction of six matters, and not linearly."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, (300, 6))
    return RegressionData("ridge", X, 50.0 + 3.0 * np.cos(X @ np.full(6, 1.2)), ("x",) * 6)


def test_splits_are_disjoint_repeatable_and_keep_groups_together():
    data = load_bundled("diabetes")
    train, test = regression.split(data, 100, 3)
    assert len(train) == 100
    assert len(set(train) & set(test)) == 0
    assert len(test) == 342
    np.testing.assert_array_equal(train, regression.split(data, 100, 3)[0])
    assert set(train) != set(regression.split(data, 100, 4)[0])
    groups = np.repeat(np.arange(10.0), 20)
    data = RegressionData("g", np.zeros((200, 1)), np.arange(200.0), ("x",), groups)
    train, test = regression.split(data, 60, 0)
    assert len(train) == 60
    assert not set(groups[train]) & set(groups[test])


def test_a_subspace_that_is_there_predicts_better(ridge_data):
    records = {m: regression.run(ridge_data, 60, 0, m) for m in regression.METHODS}
    assert records["subspace-2"]["error"] < 0.05
    assert records["subspace"]["trusted"]
    assert records["subspace"]["error"] < 0.05
    assert records["isotropic"]["error"] > 0.2
    assert records["ridge"]["error"] > 0.8  # an even function has no slope
    assert records["subspace"]["log_density"] > records["isotropic"]["log_density"] + 0.5
    assert "log_density" not in records["ridge"]


def test_density_is_that_of_standardised_values(ridge_data):
    wide = RegressionData("ridge", ridge_data.X, 1000.0 * ridge_data.y, ridge_data.features)
    first, second = (regression.run(d, 60, 1, "isotropic") for d in (ridge_data, wide))
    assert first["log_density"] == pytest.approx(second["log_density"], abs=1e-6)
    # A model that knows only mean and variance has -0.5 (1 + log 2 pi) on average.
    assert -1.6 < first["log_density"] < 0.5


def test_command_writes_records_and_goes_on(tmp_path, capsys):
    out = tmp_path / "r.jsonl"
    call = ["--data", "diabetes", "--methods", "isotropic,ridge", "--out", str(out)]
    assert regression.main([*call, "--seeds", "1"]) == 0
    assert "diabetes-100" in capsys.readouterr().out
    before = out.read_text()
    assert regression.main([*call, "--seeds", "2"]) == 0
    assert out.read_text().startswith(before)
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert [(line["seed"], line["method"]) for line in lines] == [
        (seed, method) for seed in (0, 1) for method in ("isotropic", "ridge")
    ]
    assert all(0.2 < line["error"] < 1.0 for line in lines)


@pytest.mark.parametrize("spec", ["communities", "wine", "diabetes=file.csv"])
def test_unknown_data_are_refused(spec):
    with pytest.raises(SystemExit, match="communities=FILE"):
        regression.load(spec)


def test_a_file_that_is_not_there_is_refused_with_its_source(tmp_path):
    with pytest.raises(FileNotFoundError, match="UCI"):
        regression.load(f"ct-slices={tmp_path / 'no.csv'}")
