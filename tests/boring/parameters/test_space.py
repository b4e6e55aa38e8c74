"""Spaces: what is taken, what is refused with which words, forms, files, frames."""

import json
import pickle
from dataclasses import fields

import ConfigSpace
import numpy as np
import optuna
import pandas
import pytest
from scipy import stats
from scipy.optimize import LinearConstraint

from boring.exceptions import InvalidInputError, UnknownNameError
from boring.parameters import Categorical, Fixed, Integer, Ordinal, ParameterSpace, Real
from boring.parameters.exchange import to_configspace

SPACE = ParameterSpace(
    [
        Real("gain", 0.1, 10, log=True, unit="dB"),
        Integer("layers", 1, 8),
        Categorical("kind", ["a", "b", None]),
        Fixed("mode", 3),
    ]
)
GOOD = {"gain": 1.0, "layers": 2, "kind": None}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Real("x", 1, 1), "low must be less than high"),
        (lambda: Real("x", 2, 1), "low must be less than high .*Swap them"),
        (lambda: Integer("n", 2, 1), "low must be less than high; .*Swap them"),
        (lambda: Real("x", "1", 2), "low must be a number; received '1'"),
        (lambda: Real("x", float("nan"), 2), "low is NaN"),
        (lambda: Real("x", 0, float("inf")), "high must be finite"),
        (lambda: Real("x", -1.7e308, 1.7e308), "finite amount; .*a larger unit"),
        (lambda: Real("x", 0, 10**400), "finite amount"),
        (lambda: Real("x", 0, 1, log=True), "needs low > 0"),
        (lambda: Real("x", 1e16, 1e16 + 8), "too near each other"),
        (lambda: Real("x", 0, 1, step=2), "step must be positive"),
        (lambda: Real("x", 1, 9, step=1, log=True), "step must be positive"),
        (lambda: Integer("n", 1, 2.5), "high must be a whole number"),
        (lambda: Integer("n", 0, 5, log=True), "needs low >= 1"),
        (lambda: Integer("n", 0, 2**60), "at most 2"),
        (lambda: Integer("n", 10**400, 10**400 + 4), "within float64"),
        (lambda: Integer("n", True, 5), "low must be a number"),
        (lambda: Categorical("k", ["a"]), "at least two choices"),
        (lambda: Categorical("k", "ab"), "choices must be a list"),
        (lambda: Categorical("k", ["a", "a"]), "repeats"),
        (lambda: Categorical("k", [1, 1.0]), "repeats"),
        (lambda: Categorical("k", [1, float("nan")]), "Use None"),
        (lambda: Categorical("k", [1, 10**400]), "Use None, or a text"),
        (lambda: Ordinal("k", [0.0, -0.0, 1.0]), "repeats"),
        (lambda: Categorical("k", [1, np.sin]), "of a JSON type"),
        (lambda: Ordinal("k", [1]), "at least two choices"),
        (lambda: Fixed("k", object()), "of a JSON type"),
        (lambda: Real("", 0, 1), "name of a parameter"),
        (lambda: Real("a`b", 0, 1), "backtick"),
        (lambda: Real("x", 0, 1, unit=3), "unit must be a text"),
        (lambda: ParameterSpace([Real("x", 0, 1), Real("x", 0, 2)]), "'x' comes twice"),
        (lambda: ParameterSpace([Fixed("x", 0)]), "At least one parameter must vary"),
        (lambda: ParameterSpace([(0, 1)]), "takes a list of Real"),
    ],
)
def test_wrong_parameters_are_refused_with_the_rule(make, message):
    with pytest.raises(InvalidInputError, match=message):
        make()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"gain": float("nan")}, "'gain': the value is NaN"),
        ({"gain": np.nan}, "'gain': the value is NaN"),
        ({"gain": 11}, "between 0.1 and 10.0; received 11"),
        ({"gain": 10**400}, "between 0.1 and 10.0; received inf"),
        ({"gain": True}, "must be a number"),
        ({"layers": 2.5}, "whole number"),
        ({"layers": 9}, "between 1 and 8"),
        ({"kind": "c"}, "one of 'a', 'b', None; received 'c'"),
        ({"kind": float("nan")}, "may have turned None into NaN"),
        ({"mode": 4}, "must be 3; received 4"),
        ({"gian": 1.0}, "Did you mean 'gain'"),
    ],
)
def test_wrong_configurations_are_refused_with_the_rule(change, message):
    with pytest.raises(InvalidInputError, match=message):
        SPACE.check({**GOOD, **change})
    with pytest.raises(InvalidInputError, match="Configuration 1: .*" + message):
        SPACE.encode([GOOD, {**GOOD, **change}])


def test_integers_that_float64_does_not_tell_apart_are_different_choices():
    names = [2**63 + 1, 2**63 + 3, 2**53, 2**53 + 1]
    space = ParameterSpace([Categorical("id", names), Ordinal("day", names)])
    given = [{"id": name, "day": name} for name in names]
    assert space.decode(space.encode(given)) == given


def test_missing_and_inactive_parameters_are_named():
    with pytest.raises(InvalidInputError, match=r"'layers' is missing.*each parameter a value"):
        SPACE.check({"gain": 1.0, "kind": "a"})
    space = ParameterSpace([Categorical("k", ["a", "b"]), Real("x", 0, 1, when="k == 'b'")])
    with pytest.raises(InvalidInputError, match="'x' is inactive here: it needs \"k == 'b'\""):
        space.check({"k": "a", "x": 0.5})
    with pytest.raises(InvalidInputError, match="'x' is missing"):
        space.check({"k": "b"})
    assert space.check({"k": "a", "x": float("nan")}) == {"k": "a"}


def test_numpy_scalars_are_taken_and_plain_values_returned():
    given = {
        "gain": np.float32(0.5),
        "layers": np.int8(3),
        "kind": np.str_("a"),
        "mode": np.int64(3),
    }
    checked = SPACE.check(given)
    assert checked == {"gain": 0.5, "layers": 3, "kind": "a", "mode": 3}
    assert [type(value) for value in checked.values()] == [float, int, str, int]
    flags = ParameterSpace([Categorical("f", [1, True, "1"])])
    assert [flags.decode(flags.encode({"f": v}))[0]["f"] for v in (np.True_, 1.0, "1")] == [
        True,
        1,
        "1",
    ]
    assert type(flags.decode(flags.encode({"f": np.True_}))[0]["f"]) is bool


def test_data_frames_as_pandas_makes_them(tmp_path):
    configurations = [{**GOOD, "kind": "a", "mode": 3}, {**GOOD, "kind": "b", "mode": 3}]
    SPACE.to_frame(configurations).to_csv(tmp_path / "runs.csv", index=False)
    frame = pandas.read_csv(tmp_path / "runs.csv")
    np.testing.assert_array_equal(SPACE.encode(frame), SPACE.encode(configurations))
    assert SPACE.encode(frame.iloc[:0]).shape == (0, 5)
    frame.loc[0, "gain"] = np.nan
    with pytest.raises(
        InvalidInputError, match="Configuration 0: Parameter 'gain': the value is NaN"
    ):
        SPACE.encode(frame)
    with pytest.raises(InvalidInputError, match="must differ"):
        SPACE.encode(pandas.concat([frame, frame], axis=1))


@pytest.mark.parametrize("given", [None, 3])
def test_what_is_no_configuration_is_not_encoded(given):
    with pytest.raises(InvalidInputError, match=f"dict, a list of dicts .*received {given}"):
        SPACE.encode(given)


def test_configurations_may_come_from_an_iterator():
    listed = SPACE.decode([[0.0] * SPACE.dim, [0.5] * SPACE.dim])
    np.testing.assert_array_equal(SPACE.encode(iter(listed)), SPACE.encode(listed))


def test_columns_and_importance_by_parameter():
    assert SPACE.columns == [
        ("gain", "gain"), ("layers", "layers"),
        ("kind", "kind=a"), ("kind", "kind=b"), ("kind", "kind=None"),
    ]  # fmt: skip
    found = SPACE.importance_by_parameter([0.5, 0.125, 0.125, 0.125, 0.125])
    assert found == {"gain": 0.5, "layers": 0.125, "kind": 0.375}
    with pytest.raises(InvalidInputError, match="5 columns"):
        SPACE.importance_by_parameter([1.0])
    assert (SPACE.dim, SPACE.names, SPACE.box.dim) == (5, ["gain", "layers", "kind", "mode"], 5)


def test_the_forms_of_a_space():
    space = ParameterSpace.of(
        {
            "r": (0, 5),
            "c": ["a", True],
            "i": Integer("i", 1, 3),
            "j": {"type": "real", "low": 0.1, "high": 10, "log": True, "unit": "dB"},
            "f": optuna.distributions.FloatDistribution(0.0, 1.0, step=0.25),
            "l": optuna.distributions.FloatDistribution(1e-5, 1.0, log=True),
            "n": optuna.distributions.IntDistribution(1, 10, step=3),
            "m": optuna.distributions.IntDistribution(1, 100, log=True),
            "k": optuna.distributions.CategoricalDistribution([None, 1, "x"]),
            "one": optuna.distributions.CategoricalDistribution(["x"]),
            "h": ConfigSpace.UniformFloatHyperparameter("other", 0.1, 2.0),
        }
    )
    assert list(space.parameters.values()) == [
        Real("r", 0, 5),
        Categorical("c", ["a", True]),
        Integer("i", 1, 3),
        Real("j", 0.1, 10, log=True, unit="dB"),
        Real("f", 0, 1, step=0.25),
        Real("l", 1e-5, 1, log=True),
        Integer("n", 1, 10, step=3),
        Integer("m", 1, 100, log=True),
        Categorical("k", [None, 1, "x"]),
        Fixed("one", "x"),
        Real("h", 0.1, 2),
    ]
    assert ParameterSpace.of(space) is space
    assert ParameterSpace.of(list(space.parameters.values())) == space
    assert ParameterSpace.of(space.to_dict()) == space
    assert ParameterSpace.of(space, "i <= 2").to_dict()["constraints"] == ["i <= 2"]


def test_optuna_takes_every_value_of_its_distributions():
    distributions = {
        "f": optuna.distributions.FloatDistribution(-0.3, 0.9, step=0.1),
        "n": optuna.distributions.IntDistribution(1, 10, step=3),
        "l": optuna.distributions.FloatDistribution(1e-5, 0.3, log=True),
        "k": optuna.distributions.CategoricalDistribution([None, 1, "x", True]),
    }
    space = ParameterSpace.of(distributions)
    for configuration in space.decode(np.random.default_rng(0).uniform(-1, 1, (100, space.dim))):
        for name, value in configuration.items():
            distribution = distributions[name]
            assert distribution._contains(distribution.to_internal_repr(value))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (3, "A space must be a list of parameters"),
        ("x", "A space must be a list of parameters"),
        ({"x": 3}, "Use Fixed"),
        ({"x": (1, 2, 3)}, r"must be \(low, high\)"),
        ({"x": Real("y", 0, 1)}, "calls itself 'y'"),
        ({"x": {"low": 0, "high": 1}}, "with a 'type'"),
        ({"x": {"type": "reel", "low": 0, "high": 1}}, "Did you mean 'real'"),
        ({"x": {"type": "real", "low": 0}}, "needs 'high'"),
        ({"x": {"type": "real", "low": 0, "hihg": 1}}, "Did you mean 'high'"),
        ({"parameters": {}, "constraint": []}, "received .'constraint'.*"),
        ({}, "At least one parameter"),
    ],
)
def test_wrong_forms_are_refused(given, message):
    with pytest.raises(InvalidInputError, match=message):
        ParameterSpace.of(given)


def test_files(tmp_path):
    spec = {
        "gain": {"type": "real", "low": 0.1, "high": 10, "log": True, "unit": "dB"},
        "type": {"type": "integer", "low": 1, "high": 3},
    }
    (tmp_path / "plain.json").write_text(json.dumps(spec))
    (tmp_path / "full.json").write_text(
        json.dumps({"parameters": spec, "constraints": ["gain * type <= 20"]})
    )
    (tmp_path / "full.toml").write_text(
        'constraints = ["gain * type <= 20"]\n[parameters.gain]\ntype = "real"\nlow = 0.1\n'
        "high = 10\n"
        'log = true\nunit = "dB"\n[parameters.type]\ntype = "integer"\nlow = 1\nhigh = 3\n'
    )
    plain, full, toml = (
        ParameterSpace.from_file(tmp_path / n) for n in ("plain.json", "full.json", "full.toml")
    )
    assert full == toml
    assert plain.parameters == full.parameters
    assert full.constraints[0].to_json() == "gain * type <= 20"
    (tmp_path / "twice.json").write_text('{"x": {"type": "fixed", "value": 1}, "x": {}}')
    for name, message in (("twice.json", "come twice"), ("absent.json", "cannot be read")):
        with pytest.raises(InvalidInputError, match=message):
            ParameterSpace.from_json(tmp_path / name)
    (tmp_path / "broken.toml").write_text("x = ")
    with pytest.raises(InvalidInputError, match="cannot be parsed"):
        ParameterSpace.from_file(tmp_path / "broken.toml")


@pytest.mark.parametrize("choices", [np.arange(3), range(1, 5), {1, 2}, ("a", "b"), (1, 2, 3)])
def test_choices_that_are_no_list_get_the_remedy(choices):
    message = rf"received {type(choices).__name__} .*Choices stand in a list"
    with pytest.raises(InvalidInputError, match=message):
        ParameterSpace.of({"x": choices})


def test_a_fixed_value_is_not_one_of_several():
    with pytest.raises(InvalidInputError, match="the value must be 20; received 21"):
        Fixed("epochs", 20).check(21)


def test_a_type_that_is_no_text_is_refused_as_unknown():
    with pytest.raises(InvalidInputError, match=r"no known type: received \['real'\]"):
        ParameterSpace.of({"x": {"type": ["real"], "low": 0, "high": 1}})


@pytest.mark.parametrize("name", ["space.json", "space.toml"])
def test_files_of_other_programs_are_read_or_refused_by_name(tmp_path, name):
    digits = "1" + "0" * 5000
    text = {
        "space.json": '{"x": {"type": "real", "low": 0, "high": HIGH}}',
        "space.toml": 'x = {type = "real", low = 0, high = HIGH}',
    }[name]
    file = tmp_path / name
    file.write_text(text.replace("HIGH", "1"), encoding="utf-8-sig")
    assert ParameterSpace.from_file(file).names == ["x"]
    file.write_text(text, encoding="utf-16")
    with pytest.raises(InvalidInputError, match=rf"{name}' must be \w+ in UTF-8: .* Save it so"):
        ParameterSpace.from_file(file)
    for wrong, message in ((text.replace("HIGH", digits), "begins with"), (text[:-1], "begins")):
        file.write_text(wrong)
        with pytest.raises(InvalidInputError, match=rf"{name}' cannot be parsed as .*{message}"):
            ParameterSpace.from_file(file)


def test_an_empty_file_and_one_of_endless_lists_are_refused(tmp_path):
    for text, message in (("", "it is empty"), ('{"x": ' + "[" * 100_000, "recursion")):
        (tmp_path / "space.json").write_text(text)
        with pytest.raises(InvalidInputError, match=message):
            ParameterSpace.from_file(tmp_path / "space.json")


def rich_configspace():
    space = ConfigSpace.ConfigurationSpace(seed=1)
    kind = ConfigSpace.CategoricalHyperparameter("kind", ["a", "b", None])
    depth = ConfigSpace.UniformIntegerHyperparameter("max depth", 1, 9, log=True)
    size = ConfigSpace.OrdinalHyperparameter("size", ["s", "m", "l"])
    rate = ConfigSpace.UniformFloatHyperparameter("rate", 1e-4, 1, log=True, meta={"unit": "1/s"})
    extra = ConfigSpace.UniformFloatHyperparameter("extra", 0, 1)
    deep = ConfigSpace.UniformFloatHyperparameter("deep", 0, 1)
    last = ConfigSpace.CategoricalHyperparameter("last", ["p", "q"])
    space.add(kind, depth, size, rate, extra, deep, last, ConfigSpace.Constant("version", 2))
    space.add(
        ConfigSpace.AndConjunction(
            ConfigSpace.InCondition(extra, kind, ["a", None]),
            ConfigSpace.GreaterThanCondition(extra, depth, 2),
        ),
        ConfigSpace.OrConjunction(
            ConfigSpace.EqualsCondition(deep, kind, "b"),
            ConfigSpace.LessThanCondition(deep, size, "l"),
        ),
        ConfigSpace.NotEqualsCondition(last, size, "m"),
    )
    space.add(
        ConfigSpace.ForbiddenAndConjunction(
            ConfigSpace.ForbiddenEqualsClause(kind, "a"),
            ConfigSpace.ForbiddenInClause(size, ["m", "l"]),
        ),
        ConfigSpace.ForbiddenEqualsClause(depth, 4),
        ConfigSpace.ForbiddenAndConjunction(
            ConfigSpace.ForbiddenEqualsClause(last, "q"),
            ConfigSpace.ForbiddenEqualsClause(size, "l"),
        ),
    )
    return space


def test_configspace_agrees_on_what_is_active_and_what_is_forbidden():
    theirs = rich_configspace()
    ours = ParameterSpace.of(theirs)
    assert ours.parameters["rate"].unit == "1/s"
    for sampled in theirs.sample_configuration(200):
        configuration = dict(sampled)
        assert ours.check(configuration).keys() == configuration.keys()
        assert ours.violations(configuration) == {}
    U = np.random.default_rng(0).uniform(-1, 1, (300, ours.dim))
    allowed = ours.domain.allowed(U)
    assert 30 < allowed.sum() < 270
    for configuration, is_allowed in zip(ours.decode(U), allowed, strict=True):
        if is_allowed:
            ConfigSpace.Configuration(theirs, values=configuration)
        else:
            with pytest.raises(ConfigSpace.exceptions.ForbiddenValueError):
                ConfigSpace.Configuration(theirs, values=configuration)


def test_to_configspace_and_back():
    ours = ParameterSpace.of(rich_configspace())
    without = ParameterSpace(list(ours.parameters.values()))
    back = ParameterSpace.of(to_configspace(without))
    U = np.random.default_rng(0).uniform(-1, 1, (50, ours.dim))
    assert set(back.names) == set(ours.names)
    for configuration in without.decode(U):
        assert back.check(configuration).keys() == configuration.keys()
    with pytest.raises(InvalidInputError, match="known constraints"):
        to_configspace(ours)
    with pytest.raises(InvalidInputError, match="no steps"):
        to_configspace(ParameterSpace([Real("x", 0, 1, step=0.5)]))
    with pytest.raises(InvalidInputError, match="ConfigSpace refuses"):
        to_configspace(ParameterSpace([Categorical("x", [1, True, "a"])]))


# Python calls the choices of each row equal.
NESTED = [
    [[0], [False], [0.0], ["x"]],
    [{"a": 1}, {"a": True}, "x"],
    [[1], [1.0], [True]],
    [{"a": [1, {"b": 0}]}, {"a": [True, {"b": 0}]}, {"a": [True, {"b": False}]}],
]


@pytest.mark.parametrize("kind", [Categorical, Ordinal])
@pytest.mark.parametrize("choices", NESTED)
def test_choices_that_python_calls_equal_are_told_apart(choices, kind):
    space = ParameterSpace([kind("k", choices), Real("x", 0, 1)])
    rows = [{"k": choice, "x": 0.5} for choice in choices]
    U = space.encode(rows)
    assert len(np.unique(U, axis=0)) == len(choices)
    assert [repr(c["k"]) for c in space.decode(U)] == [repr(choice) for choice in choices]
    assert [repr(space.as_given(row)["k"]) for row in rows] == [repr(c) for c in choices]
    for row in rows:
        same = ParameterSpace(list(space.parameters.values()), [f"k == {row['k']!r}"])
        assert [not same.violations(other) for other in rows] == [row is o for o in rows]


def test_nested_numbers_match_by_value_and_tuples_and_arrays_as_lists():
    parameter = Categorical("k", [[1, 2], [0.5, 1.0], [[3], {"a": 2}]])
    for given in ([1.0, 2], (1, 2), np.array([1.0, 2.0]), [np.int64(1), np.float64(2)]):
        assert repr(parameter.check(given)) == "[1, 2]"
    assert repr(parameter.check([0.5, 1])) == "[0.5, 1.0]"
    assert parameter.check(((np.float32(3),), {"a": 2.0})) == [[3], {"a": 2}]
    for wrong in ([True, 2], (1, 2, 3), [0.5, True]):
        with pytest.raises(InvalidInputError, match="must be one of"):
            parameter.check(wrong)


def test_spaces_and_parameters_with_other_choices_or_another_order_differ():
    for one, other in (
        (Categorical("a", [1, "b"]), Categorical("a", [True, "b"])),
        (Ordinal("a", [[0], "b"]), Ordinal("a", [[False], "b"])),
        (Fixed("a", {"k": 1}), Fixed("a", {"k": True})),
        (Real("a", 0, 1), Integer("a", 0, 1)),
        (Real("a", 0, 1), Real("b", 0, 1)),
    ):
        assert one != other
        assert len({one, other, type(one)(**vars_of(one))}) == 2
        rest = [Real("x", 0, 1), Real("y", 0, 1)]
        assert ParameterSpace([one, *rest]) != ParameterSpace([other, *rest])
        assert ParameterSpace([one, *rest]) == ParameterSpace([one, *rest])
        assert ParameterSpace([one, *rest]) != ParameterSpace([*rest, one])
    assert Categorical("a", [1, "b"]) == Categorical("a", (1.0, "b"))


def vars_of(parameter):
    return {item.name: getattr(parameter, item.name) for item in fields(parameter)}


def test_unknown_slices_name_the_nearest():
    with pytest.raises(UnknownNameError, match="Did you mean 'gain'"):
        SPACE.slice_of("gian")


def test_a_space_survives_pickling():
    space = ParameterSpace(
        [
            Real("gain", 0.1, 10, log=True),
            Integer("layers", 1, 8),
            Categorical("kind", ["a", "b"]),
            Real("rate", 0, 1, when="kind == 'a'"),
        ],
        constraints=["gain * layers <= 20", LinearConstraint([[1, 1, 0]], -np.inf, 12), callable],
    )
    again = pickle.loads(pickle.dumps(space))
    assert again == space
    U = space.snap(np.random.default_rng(0).uniform(-1, 1, (20, space.dim)))
    assert again.decode(U) == space.decode(U)
    np.testing.assert_array_equal(again.domain.allowed(U), space.domain.allowed(U))


def test_distributions_of_scipy_are_their_supports():
    space = ParameterSpace.of(
        {
            "u": stats.uniform(-1.0, 3.0),
            "l": stats.loguniform(1e-3, 1e2),
            "n": stats.randint(1, 9),
        }
    )
    assert space == ParameterSpace(
        [Real("u", -1.0, 2.0), Real("l", 1e-3, 1e2, log=True), Integer("n", 1, 8)]
    )
    with pytest.raises(InvalidInputError, match=r"'g'.*received norm.*Real\('g', low, high\)"):
        ParameterSpace.of({"g": stats.norm()})
