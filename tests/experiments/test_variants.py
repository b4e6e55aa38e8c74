from dataclasses import replace

import pytest

import boring.loop.portfolio
from boring.exceptions import InvalidInputError, UnknownNameError
from experiments.__main__ import main
from experiments.arguments import method_names
from experiments.config import DEFAULT_METHODS, get_experiment
from experiments.peers import PEERS
from experiments.records import RecordError, read_records
from experiments.runner import Task, check_methods, run_experiment, run_task
from experiments.variants import (
    Variant,
    base_of,
    constants_in_place,
    describe,
    given_options,
    parse_variant,
    split_names,
)

WITHOUT_TURNS = "boring[subspace_every=0]"


def double(value):
    return 2 * value


@pytest.fixture
def experiment():
    return replace(get_experiment("camelback-2-in-3"), budget=8, n_initial=6)


def test_a_list_is_split_outside_brackets_only():
    text = " gp , boring[subspace_every=0, max_effective_dim=3],peers"
    assert split_names(text) == ("gp", "boring[subspace_every=0, max_effective_dim=3]", "peers")
    assert split_names("") == ()


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("boring[subspace_every=0]", {"subspace_every": 0}),
        ("gp[a=1.5,b=-2e-3]", {"a": 1.5, "b": -2e-3}),
        ("gp[a=None,b=True,c=half-rank]", {"a": None, "b": True, "c": "half-rank"}),
        ("gp[a='none']", {"a": "none"}),
    ],
)
def test_options_are_read(text, options):
    variant = parse_variant(text)
    assert dict(variant.options) == options
    assert variant.method == text.split("[")[0]


def test_a_variant_has_one_name_however_it_is_written():
    assert parse_variant("gp[b=2, a = 1]").name == parse_variant(" gp [a=1,b=2]").name
    assert parse_variant("gp[b=2, a = 1]").name == "gp[a=1,b=2]"
    assert parse_variant(" gp ") == Variant("gp", "gp")
    assert base_of(WITHOUT_TURNS) == base_of(parse_variant(WITHOUT_TURNS)) == "boring"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("boring[", "must read as"),
        ("boring]", "must read as"),
        ("[a=1]", "must read as"),
        ("boring[a=1]x", "must read as"),
        ("boring[a]", "option=value"),
        ("boring[]", "option=value"),
        ("boring[=1]", "option=value"),
        ("boring[a=]", "option=value"),
        ("boring[a b=1]", "option=value"),
        ("boring[a=1,a=2]", "twice"),
        ("boring[a=(1)x]", "number"),
        ("boring[a={}]", "number"),
    ],
)
def test_other_notations_are_explained(text, message):
    with pytest.raises(InvalidInputError, match=message):
        parse_variant(text)


@pytest.mark.parametrize(
    ("method", "kind", "message"),
    [
        ("borin[a=1]", UnknownNameError, "Did you mean 'boring'"),
        ("boring[subspace_evry=0]", UnknownNameError, "Did you mean 'subspace_every'"),
        ("boring[subspace_every=-1]", InvalidInputError, r"boring\[subspace_every=-1\]: subspace"),
        ("boring[subspace_every=often]", InvalidInputError, "integer"),
        ("boring[n_initial=0]", InvalidInputError, "n_initial"),
        ("random[step=1]", UnknownNameError, "no option 'step'"),
    ],
)
def test_options_are_checked_by_the_optimiser(method, kind, message):
    with pytest.raises(kind, match=message):
        check_methods([method])


def test_two_of_one_name_are_refused():
    with pytest.raises(InvalidInputError, match="distinct"):
        check_methods([WITHOUT_TURNS, "boring[ subspace_every=0 ]"])
    assert [one.name for one in check_methods(["boring", WITHOUT_TURNS])] == [
        "boring",
        WITHOUT_TURNS,
    ]


def test_own_options_are_stronger_than_those_of_the_experiment():
    experiment = get_experiment("camelback-2-in-5")
    assert given_options(experiment, "rembo") == {"effective_dim": 2}
    assert given_options(experiment, "rembo[effective_dim=3]") == {"effective_dim": 3}
    assert given_options(experiment, "boring-thesis[burn_in=9]")["effective_dim"] == 2


@pytest.mark.usefixtures("quick_subspaces")
def test_a_variant_is_recorded_under_its_full_name_with_its_options(experiment, tmp_path):
    path = tmp_path / "x.jsonl"
    methods = ["boring", WITHOUT_TURNS, "sobol[n_initial=2]"]
    plain, variant, sobol = run_experiment(experiment, path, seeds=[0], methods=methods)
    assert variant.method == WITHOUT_TURNS
    assert variant.options["given"] == {"subspace_every": 0}
    assert variant.options["resolved"]["subspace_every"] == 0
    assert plain.options["resolved"]["subspace_every"] != 0
    assert sobol.options["n_initial"] == 2
    assert variant.X[:6] == plain.X[:6]
    again = run_experiment(experiment, path, seeds=[0], methods=methods)
    assert again == (plain, variant, sobol)
    assert len(read_records(path)) == 3


def test_the_command_line_takes_variants(tmp_path, capsys):
    path = tmp_path / "x.jsonl"
    command = ["run", "camelback-2-in-3", "--seeds", "1", "--budget", "7", "--out", str(path)]
    assert main([*command, "--methods", "sobol,sobol[n_initial=1]"]) == 0
    assert "| sobol[n_initial=1]" in capsys.readouterr().out
    assert main([*command, "--methods", "boring[subspace_evry=1]"]) == 2
    assert "Did you mean 'subspace_every'" in capsys.readouterr().err


def test_groups_give_each_method_once():
    assert method_names("gp,peers") == ("gp", *PEERS)
    others = tuple(name for name in DEFAULT_METHODS if name != "gp")
    assert method_names("gp,default,gp[x=1]") == ("gp", *others, "gp[x=1]")
    assert method_names("default,gp") == (*others, "gp")
    assert method_names("gp,gp") == ("gp", "gp")


def test_constants_are_replaced_and_put_back_even_after_an_error():
    former = boring.loop.portfolio.MAX_SPEAKERS
    with constants_in_place({"boring.loop.portfolio.MAX_SPEAKERS": 7}):
        assert boring.loop.portfolio.MAX_SPEAKERS == 7
    with (
        pytest.raises(RuntimeError, match="boom"),
        constants_in_place({"boring.loop.portfolio.MAX_SPEAKERS": 7}),
    ):
        raise RuntimeError("boom")
    assert boring.loop.portfolio.MAX_SPEAKERS == former


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("boring.loop.portfolio.MAX_SPEAKER", "Did you mean 'MAX_SPEAKERS'"),
        ("boring.portfolios.MAX_SPEAKERS", "no module"),
        ("MAX_SPEAKERS", "no module"),
    ],
)
def test_a_constant_that_does_not_exist_fails_loudly(path, message):
    former = boring.loop.portfolio.MIN_WEIGHT
    changes = {"boring.loop.portfolio.MIN_WEIGHT": 0.5, path: 1}
    with pytest.raises(UnknownNameError, match=message):
        check_methods([Variant("x", "boring", constants=changes)])
    with pytest.raises(UnknownNameError, match=message), constants_in_place(changes):
        pass
    assert former == boring.loop.portfolio.MIN_WEIGHT


@pytest.mark.usefixtures("quick_subspaces")
def test_a_changed_constant_is_in_force_during_the_run_and_on_record(experiment, tmp_path):
    path = tmp_path / "x.jsonl"
    changed = Variant(
        "narrow", "boring", constants={"boring.loop.portfolio.MEMBER_NAMES": ("iso",)}
    )
    (record,) = run_experiment(experiment, path, seeds=[0], methods=[changed])
    assert (record.method, record.status) == ("narrow", "ok")
    assert record.options["constants"] == {"boring.loop.portfolio.MEMBER_NAMES": ["iso"]}
    assert record.X != run_task(Task(experiment, "boring", 0)).X
    assert boring.loop.portfolio.MEMBER_NAMES != ("iso",)
    other = replace(changed, constants={"boring.loop.portfolio.MEMBER_NAMES": ("iso", "ard")})
    with pytest.raises(RecordError, match="another --out"):
        run_experiment(experiment, path, seeds=[0], methods=[other])


def test_constants_are_described_by_value_or_by_name():
    assert describe((1, 2.5)) == [1, 2.5]
    assert describe(double).endswith("test_variants.double")
    assert describe(Variant).endswith("variants.Variant")
    from functools import partial

    with pytest.raises(InvalidInputError, match="needs a name"):
        describe(partial(double, 1))
