"""Suggestions with fixed parameters, predictions, and what a study says of itself."""

import copy
import json
import pickle
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

import baselines  # noqa: F401 (registers gp, random, rembo, sobol)
from boring.exceptions import (
    BoringWarning,
    InvalidInputError,
    NonFiniteWarning,
    SpaceExhaustedError,
    UnknownNameError,
)
from boring.loop.algorithm import BoringOptimizer
from boring.parameters import Categorical, Fixed, Integer, ParameterSpace, Real
from boring.study import Study
from boring.study.cli import main

MIXED = ParameterSpace(
    [
        Real("gain", 0.1, 10.0),
        Integer("n", 1, 8),
        Categorical("mode", ["a", "b", "c"]),
        Real("tilt", 0.0, 1.0, when="mode == 'c'"),
    ],
    constraints=["gain * n <= 40"],
)


def loss(parameters):
    wanted = (parameters["gain"] - 3.0) ** 2 + 0.2 * (parameters["n"] - 4) ** 2
    return wanted + (parameters["mode"] == "b") + parameters.get("tilt", 0.0)


def search(fixed, n, optimizer="boring", path=None):
    study = Study(MIXED, direction="minimize", optimizer=optimizer, path=path, seed=0)
    for _ in range(n):
        for suggestion in study.ask(fixed=fixed):
            study.tell(suggestion, loss(suggestion.parameters))
    return study


@pytest.mark.parametrize(
    "fixed",
    [
        {"mode": "b"},
        {"gain": 2.5},
        {"gain": 9.0, "mode": "c"},
        {"mode": "c", "tilt": 0.25},
        {"n": 3, "gain": 1},
    ],
)
def test_fixed_parameters_are_fixed_and_the_others_optimised(fixed):
    study = search(fixed, 12)  # the subspace, which is not the subject, is learned from 15 on
    for row in study.rows():
        assert {name: row[name] for name in fixed} == fixed
        assert row["gain"] * row["n"] <= 40
    free = {"gain": 3.0, "n": 4, "mode": "a", "tilt": 0.0}
    best = {**free, **fixed}
    if best["mode"] != "c":
        best.pop("tilt")
    assert study.best["value"] < loss(best) + 0.05


@pytest.mark.parametrize("optimizer", ["random", "sobol", "gp", "rembo"])
def test_every_optimiser_keeps_to_what_is_fixed(optimizer):
    study = search({"gain": 2.5, "mode": "c"}, 8, optimizer)
    assert {(row["gain"], row["mode"]) for row in study.rows()} == {(2.5, "c")}


def test_a_parameter_that_is_fixed_only_where_it_is_active():
    study = search({"tilt": 0.25}, 10)
    assert all(row.get("tilt", 0.25) == 0.25 for row in study.rows())
    assert len({row["mode"] for row in study.rows()}) > 1


def test_later_asks_are_free_and_go_on_from_the_file(tmp_path):
    whole = search({"mode": "b"}, 8)
    path = tmp_path / "run.jsonl"
    search({"mode": "b"}, 5, path=path).close()
    with Study.open(path) as study:
        for _ in range(3):
            for suggestion in study.ask(fixed={"mode": "b"}):
                study.tell(suggestion, loss(suggestion.parameters))
        assert study.ask(2) == whole.ask(2)
    assert {s.parameters["mode"] for s in whole.outstanding} != {"b"}


def test_what_is_outstanding_elsewhere_does_not_count_as_tried_here():
    study = Study({"mode": ["a", "b"], "n": [1, 2, 3]}, direction="minimize", seed=0)
    study.tell({"mode": "b", "n": 1}, 1.0)
    asked = study.ask(3, fixed={"mode": "a"})
    assert sorted(s.parameters["n"] for s in asked) == [1, 2, 3]
    with pytest.raises(SpaceExhaustedError):
        study.ask(fixed={"mode": "a"})
    assert study.ask(fixed={"mode": "b", "n": 2})[0].parameters == {"mode": "b", "n": 2}
    assert study.ask()[0].parameters == {"mode": "b", "n": 3}


@pytest.mark.parametrize(
    ("fixed", "kind", "message"),
    [
        ({"modes": "a"}, UnknownNameError, "Did you mean 'mode'"),
        ({"mode": "z"}, InvalidInputError, "'mode'.*one of"),
        ({"gain": 99}, InvalidInputError, "'gain'.*between"),
        ([1], InvalidInputError, "must be a dict of name to value"),
        ([], InvalidInputError, "must be a dict of name to value"),
        (pd.Series({"gain": 2.0}), InvalidInputError, "must be a dict of name to value"),
    ],
)
def test_what_cannot_be_fixed_is_refused_and_nothing_asked(fixed, kind, message):
    study = Study(MIXED, direction="minimize", seed=0)
    with pytest.raises(kind, match=message):
        study.ask(fixed=fixed)
    assert study.outstanding == []


# Suggestions themselves.


def test_a_suggestion_stands_for_its_number():
    study = Study(MIXED, direction="minimize", seed=0)
    first, second, third = study.ask(3)
    study.tell(second, 2.0)
    study.tell_failed(first, "no beam")
    study.withdraw(third)
    assert [row["number"] for row in study.rows()] == [1, 0]
    assert study.outstanding == []


def test_a_suggestion_of_another_study_is_refused():
    study = Study(MIXED, direction="minimize", seed=0)
    other = Study(MIXED, direction="minimize", seed=1).ask()[0]
    for known in (False, True):
        with pytest.raises(InvalidInputError, match="belongs to the study that made it"):
            study.tell(other, 1.0)
        if not known:
            study.ask()
    assert study.status().n_told == 0


# Predictions.


def test_predictions_are_in_the_units_of_the_values_and_near_them():
    study = Study({"gain": (0.0, 10.0), "angle": (-90.0, 90.0)}, direction="maximize", seed=0)
    study.run(lambda p: 100.0 - (p["gain"] - 3.0) ** 2, 15)
    mean, sd = study.predict([{"gain": 3.0, "angle": 0.0}, {"gain": 5.0, "angle": 0.0}])
    np.testing.assert_allclose(mean, [100.0, 96.0], atol=0.5)
    assert mean.shape == sd.shape == (2,)
    assert np.all((sd >= 0.0) & (sd < 2.0))
    told = study.to_dataframe()[["gain", "angle"]]
    np.testing.assert_allclose(study.predict(told)[0], study.result().y, atol=0.5)


@pytest.mark.parametrize("exponent", [-1000, 1000])
def test_predictions_of_values_whose_squares_are_no_floats_have_standard_deviations(exponent):
    def predicted(factor):
        study = Study({"gain": (0.0, 1.0), "tilt": (0.0, 1.0)}, direction="minimize", seed=0)
        study.add([{"gain": i / 9, "tilt": i * i % 7 / 7, "value": factor * i} for i in range(10)])
        return study.predict([{"gain": 0.25, "tilt": 0.5}, {"gain": 0.75, "tilt": 0.5}])

    plain, large = predicted(1.0), predicted(2.0**exponent)
    np.testing.assert_allclose(np.ldexp(large, -exponent), plain, rtol=1e-6)


def test_any_optimiser_has_a_prediction_once_values_differ():
    study = Study({"gain": (0.0, 10.0)}, direction="minimize", optimizer="sobol", seed=0)
    study.tell({"gain": 1.0}, 2.0)
    with pytest.raises(InvalidInputError, match="two finite values that differ; the study has 1"):
        study.predict({"gain": 2.0})
    study.tell({"gain": 9.0}, 3.0)
    mean, sd = study.predict({"gain": 2.0})
    assert 1.5 < mean[0] < 3.5
    assert sd[0] > 0.0
    with pytest.raises(InvalidInputError, match="'gain'"):
        study.predict({"gain": 20.0})


@pytest.fixture(scope="module")
def noisy(tmp_path_factory):
    """A study that is closed, and its file."""
    rng, path = np.random.default_rng(0), tmp_path_factory.mktemp("noisy") / "run.jsonl"
    space = {"gain": (0.0, 10.0), "angle": (-1.0, 1.0)}
    with Study(space, direction="minimize", path=path, seed=0) as study:
        study.run(lambda p: (p["gain"] - 3.0) ** 2 + 2.0 * rng.standard_normal(), 24)
    return study, path


def test_with_noise_the_best_by_mean_is_a_configuration_that_was_told(noisy):
    study, _ = noisy
    best = study.best_by_mean
    assert best["parameters"] in [
        {"gain": row["gain"], "angle": row["angle"]} for row in study.rows()
    ]
    mean, sd = study.predict(best["parameters"])
    np.testing.assert_allclose([mean[0], sd[0]], [best["mean"], best["sd"]], rtol=1e-6)
    assert best["mean"] > study.best["value"]


def test_the_best_by_mean_may_be_of_earlier_data():
    study = Study({"a": (0.0, 1.0), "b": (0.1, 10.0)}, direction="maximize", noise_std=0.5, seed=0)
    rows = [{"a": i / 13, "b": 0.3 + i / 7, "value": -((i - 5.2) ** 2)} for i in range(12)]
    study.add(rows)
    best = study.best_by_mean
    assert best["parameters"] in [{"a": row["a"], "b": row["b"]} for row in study.rows()]
    assert abs(best["parameters"]["a"] - 5 / 13) < 0.1


def test_without_values_there_is_no_best_by_mean():
    assert Study(MIXED, direction="minimize").best_by_mean is None


def test_the_commands_predict_fix_and_know_the_best_by_mean(noisy, capsys):
    study, path = noisy

    def boring(*words):
        code = main([words[0], str(path), *words[1:]])
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    settings = json.dumps({"gain": 3.0, "angle": 0.0})
    mean, sd = map(float, boring("predict", "--parameters", settings)[1].split("\t"))
    assert abs(mean) < 2.0
    assert sd > 0.0
    assert json.loads(boring("predict", "--parameters", settings, "--json")[1])[
        "mean"
    ] == pytest.approx(mean)
    mean, sd, best = boring("best", "--by-mean")[1].split("\t")
    assert float(mean) == pytest.approx(study.best_by_mean["mean"])
    assert json.loads(best) == study.best_by_mean["parameters"]
    code, out, _ = boring("ask", "-n", "2", "--fixed", '{"angle": 0.5}')
    assert code == 0
    assert [json.loads(line.split("\t")[1])["angle"] for line in out.splitlines()] == [0.5, 0.5]
    assert boring("ask", "--fixed", '{"angel": 0.5}')[0] == 1


def test_commands_have_nothing_to_show_of_an_empty_study(tmp_path, capsys):
    path = str(tmp_path / "run.jsonl")
    main(["init", path, "--direction", "minimize", "--space", '{"gain": [0, 10]}'])
    assert main(["predict", path, "--parameters", '{"gain": 1}']) == 4
    assert main(["best", path, "--by-mean"]) == 4
    capsys.readouterr()


# What a study says of itself.


def test_a_study_and_its_optimiser_are_described_in_a_line(tmp_path):
    study = Study(MIXED, direction="minimize", path=tmp_path / "run.jsonl", seed=0)
    assert repr(study).endswith(
        "run.jsonl: minimize 4 parameters by boring; 0 told, 0 outstanding; best value none yet>"
    )
    first, _ = study.ask(2)
    study.tell(first, 1.25)
    assert "1 told, 1 outstanding; best value 1.25" in repr(study)
    assert repr(study.optimizer) == (
        f"<BoringOptimizer: minimize over {MIXED.dim} inputs; 1 told, 1 pending; best value 1.25>"
    )
    study.close()


@pytest.mark.parametrize("attempt", [pickle.dumps, copy.deepcopy, copy.copy])
def test_a_study_is_not_pickled_or_copied_and_says_what_is(attempt):
    study = Study(MIXED, direction="minimize", seed=0)
    with pytest.raises(InvalidInputError, match=r"one writer.*read_only=True"):
        attempt(study)
    assert pickle.loads(pickle.dumps(study.optimizer)).ask().shape == (1, MIXED.dim)


def test_a_run_in_which_everything_fails_says_so():
    study = Study(MIXED, direction="minimize", seed=0)
    with pytest.warns(
        NonFiniteWarning, match="all 4 of this run failed, the last with KeyError: 'gane'"
    ):
        study.run(lambda p: p["gane"], 4)


@pytest.mark.filterwarnings("error")
def test_a_run_in_which_something_succeeds_says_nothing():
    study = Study(MIXED, direction="minimize", seed=0)
    study.run(lambda p: 1.0 / 0 if study.status().n_told else 1.0, 4)
    assert study.status().n_failed == 3
    assert issubclass(NonFiniteWarning, BoringWarning)


def test_a_fixed_value_is_new_beside_one_that_differs_in_its_last_digit():
    """The one point left on an edge is found, even if its neighbour in the last digit was told."""
    space = ParameterSpace([Real("x", 0.1, 1.0), Real("y", 0.0, 1.0)], ["x + y <= 1"])
    study = Study(space, direction="minimize", seed=0)
    study.tell({"x": 0.1, "y": 0.899999999999}, 1.0)
    study.tell({"x": 0.2, "y": 0.1}, 2.0)
    (suggestion,) = study.ask(fixed={"y": 0.9})
    assert suggestion.parameters == {"x": 0.1, "y": 0.9}
    with pytest.raises(SpaceExhaustedError, match="Fix fewer parameters, or other values"):
        study.ask(fixed={"y": 0.9})


@pytest.mark.parametrize("seed", range(6))
def test_the_only_point_where_two_edges_meet_is_found(seed):
    constraints = ["x + y + z <= 1.5", "x <= y", "y >= 0.5"]
    space = ParameterSpace([Real(name, 0.0, 1.0) for name in "xyz"], constraints)
    study = Study(space, direction="minimize", seed=seed)
    (suggestion,) = study.ask(fixed={"z": 1.0})
    assert suggestion.parameters == {"x": 0.0, "y": 0.5, "z": 1.0}


def test_a_prediction_is_of_the_objective_also_where_nothing_is_feasible(tmp_path, capsys):
    """Sobol's search is given equal values here; the objective's differ, and are modelled."""
    path = tmp_path / "run.jsonl"
    options = {"direction": "minimize", "optimizer": "sobol", "n_constraints": 1, "seed": 0}
    with Study({"x": (0.0, 1.0)}, path=path, **options) as study:
        for suggestion in study.ask(6):
            study.tell(suggestion, suggestion.parameters["x"], [1.0])
        mean, _ = study.predict([{"x": 0.1}, {"x": 0.9}])
        assert mean[1] - mean[0] > 0.5
    assert main(["predict", str(path), "--parameters", '{"x": 0.9}']) == 0
    assert float(capsys.readouterr().out.split("\t")[0]) > 0.7


def test_a_run_without_a_number_says_so():
    study = Study({"a": (0.0, 1.0)}, direction="minimize", seed=0)
    with pytest.warns(
        NonFiniteWarning, match="all 4 of this run failed, the last with the value nan"
    ):
        study.run(lambda p: float("nan"), 4)


def test_fixed_values_that_meet_no_constraint_are_what_is_blamed():
    space = ParameterSpace([Integer("a", 0, 9), Integer("b", 0, 9)], ["a + b <= 5"])
    study = Study(space, direction="minimize", seed=0)
    with pytest.raises(InvalidInputError, match=r"with the fixed values .* Fix fewer") as caught:
        study.ask(fixed={"a": 9})
    assert "signs" not in str(caught.value)
    assert study.ask(fixed={"a": 2})[0].parameters["b"] <= 3


def test_fixed_values_that_break_a_constraint_by_themselves_have_it_named():
    parameters = [
        Integer("a", 0, 9),
        Real("b", 0.0, 1.0),
        Categorical("c", ["x", "y"]),
        Real("d", 0.0, 1.0, when="c == 'x'"),
        Fixed("e", 3),
    ]
    space = ParameterSpace(parameters, ["a + b <= 5", "a != e", "d <= 0.5"])
    study = Study(space, direction="minimize", seed=0)
    refused = [({"a": 7, "b": 0.5}, r"satisfy 'a \+ b <= 5'; received"), ({"a": 3}, "'a != e'")]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for fixed, named in refused:
            with pytest.raises(InvalidInputError, match=f"{named}.*Fix other values"):
                study.ask(fixed=fixed)
    assert study.outstanding == []
    assert study.ask(fixed={"a": 5, "b": 0.0})[0].parameters["a"] == 5
    assert "d" not in study.ask(fixed={"d": 0.9})[0].parameters  # holds where d is inactive


def test_decimal_numbers_are_values():
    study = Study({"a": (0.0, 1.0)}, direction="minimize", seed=0)
    study.run(lambda p: Decimal("1.5"), 1)
    study.tell({"a": 0.5}, Decimal("-0.25"))
    assert [row["value"] for row in study.rows()] == [1.5, -0.25]
    with pytest.raises(InvalidInputError, match="real number"):
        study.tell({"a": 0.6}, Decimal("sNaN"))


def test_a_bound_that_float32_rounds_is_still_the_bound():
    study = Study({"a": (0.0, 0.1)}, direction="minimize", seed=0)
    study.tell({"a": np.float32(0.1)}, 1.0)
    assert study.best["parameters"]["a"] == 0.1
    for outside in (float(np.float32(0.1)), np.float32(0.1001)):
        with pytest.raises(InvalidInputError, match="between"):
            study.tell({"a": outside}, 1.0)
    optimizer = BoringOptimizer([(0.0, 0.1), (0.1, 1.0)], direction="minimize", seed=0)
    optimizer.tell(np.array([0.1, 0.1], dtype=np.float32), 1.0)
    assert optimizer.history.X.tolist()[0][0] == 0.1
    optimizer.tell(np.array([0.05, 0.1], dtype=np.float16), 2.0)
    assert optimizer.history.X.tolist()[1][1] == 0.1
    for outside in ([0.1 + 1e-8, 0.2], np.array([0.1001, 0.2], dtype=np.float32)):
        with pytest.raises(InvalidInputError, match="must lie in the box"):
            optimizer.tell(outside, 1.0)


def test_one_value_that_is_none_is_told_in_the_singular():
    optimizer = BoringOptimizer([(0.0, 1.0)], direction="minimize", seed=0)
    with pytest.warns(
        NonFiniteWarning, match=r"A value should be finite; told was nan at x = \[0.5\]"
    ):
        optimizer.tell([0.5], np.nan)


def test_what_was_left_of_a_space_is_named(tmp_path, capsys):
    space = [Integer("n", 1, 3), Integer("m", 1, 2)]
    study = Study(space, direction="minimize", seed=0, path=tmp_path / "a.jsonl")
    study.ask(2, fixed={"m": 1})
    with pytest.raises(
        SpaceExhaustedError, match=r"Of the 2 asked for there were 1, .* now: \[2\]"
    ):
        study.ask(2, fixed={"m": 1})
    assert study.outstanding[-1].parameters["m"] == 1
    with pytest.raises(SpaceExhaustedError) as caught:
        study.ask(fixed={"m": 1})
    assert "asked for" not in str(caught.value)
    study.close()
    assert main(["ask", str(tmp_path / "a.jsonl"), "-n", "9"]) == 1
    assert "there were 3, which are outstanding now: [3, 4, 5]" in capsys.readouterr().err


def test_more_than_anybody_evaluates_at_once_is_refused_before_anything_is_asked(tmp_path, capsys):
    path = tmp_path / "a.jsonl"
    study = Study([Integer("n", 1, 3)], direction="minimize", seed=0, path=path)
    with pytest.raises(InvalidInputError, match="At most 10000 conf"):
        study.ask(10_001)
    study.close()
    assert main(["ask", str(path), "-n", "100000000"]) == 1
    assert "At most 10000" in capsys.readouterr().err
    assert Study.open(path, read_only=True).outstanding == []
