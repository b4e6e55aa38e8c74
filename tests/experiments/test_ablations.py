import functools
from dataclasses import replace

import pytest

import boring.loop.portfolio
from boring.exceptions import InvalidInputError, UnknownNameError
from experiments.ablations import defaults, parts
from experiments.ablations.parts import PARTS, part, parts_of
from experiments.config import get_experiment
from experiments.records import read_records
from experiments.runner import Task, check_methods, run_task
from experiments.variants import constants_in_place, describe

SMALL = ["--experiments", "parabola-1-in-2", "--seeds", "2", "--budget", "7"]


def test_every_part_names_what_exists_and_can_be_described():
    variants = check_methods([parts.DEFAULT, *PARTS])
    assert len(variants) == len(PARTS) + 1
    for variant in variants[1:]:
        assert variant.options or variant.constants
        assert all(describe(value) is not None for value in variant.constants.values())


def test_parts_are_chosen_by_name():
    assert parts_of(()) == PARTS
    assert [one.name for one in parts_of(["ungated", "only iso"])] == ["ungated", "only iso"]
    with pytest.raises(UnknownNameError, match="Did you mean 'ungated'"):
        parts_of(["ungatd"])


def test_a_constant_that_would_change_nothing_is_refused():
    changes = {"boring.acquisition.maximizer.MAX_ITERATIONS": 0}
    with (
        pytest.raises(InvalidInputError, match="default of an argument of maximize_acquisition"),
        constants_in_place(changes),
    ):
        pass


@pytest.mark.usefixtures("quick_subspaces")
def test_the_study_runs_prints_and_goes_on(tmp_path, capsys):
    command = [*SMALL, "--parts", "one speaker,initial 5", "--out", str(tmp_path)]
    former = boring.loop.portfolio.MAX_SPEAKERS
    assert defaults.main(command) == 0
    assert boring.loop.portfolio.MAX_SPEAKERS == former
    captured = capsys.readouterr()
    assert "6 runs made now" in captured.out
    rows = [line for line in captured.out.splitlines() if "parabola-1-in-2" in line]
    assert [row.split("|")[1].strip() for row in rows] == ["one speaker", "initial 5"]
    records = read_records(tmp_path / "records" / "parabola-1-in-2.jsonl")
    assert all(record.status == "ok" for record in records)
    speaker = next(record for record in records if record.method == "one speaker")
    assert speaker.options["constants"] == {"boring.loop.portfolio.MAX_SPEAKERS": 1}
    assert defaults.main(command) == 0
    assert "0 runs made now, 6 were on file" in capsys.readouterr().out


def test_a_part_of_a_constant_that_is_gone_fails_before_any_run(tmp_path, capsys, monkeypatch):
    gone = part("gone", constants={"boring.loop.portfolio.NO_SUCH": 1})
    monkeypatch.setattr(parts, "PARTS", (gone,))
    assert defaults.main([*SMALL, "--out", str(tmp_path / "x")]) == 2
    assert "no attribute 'NO_SUCH'" in capsys.readouterr().err
    assert not (tmp_path / "x").exists()


@functools.cache
def run_small(name):
    """Return the record of a part, or of the default, on the same few evaluations."""
    variant = parts_of([name])[0] if name else "boring"
    experiment = replace(get_experiment("parabola-1-in-2"), budget=7)
    return run_task(Task(experiment, variant, 0))


@pytest.mark.usefixtures("quick_subspaces")
@pytest.mark.parametrize("name", ["no gradient polish", "one start", "eight starts", "ungated"])
def test_a_replaced_function_is_in_force(name):
    changed, plain = run_small(name), run_small("")
    assert changed.status == "ok"
    assert (changed.y == plain.y) == (name == "ungated")  # no turn yet within 7 evaluations
