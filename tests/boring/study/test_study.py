"""Studies: asking, telling, files, locks, earlier data."""

import copy
import enum
import errno
import json
import os
import pickle
import subprocess
import sys
import threading
from inspect import signature

import numpy as np
import pandas as pd
import pytest

import baselines  # noqa: F401
import boring
from boring.exceptions import BoringWarning, InvalidInputError, JournalError, UnknownNameError
from boring.journal import read_journal
from boring.optimizer import Optimizer
from boring.parameters import Categorical, Fixed, Integer, Ordinal, ParameterSpace, Real
from boring.study import Study, StudyLockedError

SPACE = {"gain": (0.1, 10.0), "angle": (-90.0, 90.0)}


def make(path=None, **options):
    options = {"direction": "minimize", "seed": 0, "n_initial": 50, **options}
    return Study(SPACE, path=path, **options)


def loss(parameters):
    return (parameters["gain"] - 3.0) ** 2 + (parameters["angle"] / 90.0) ** 2


def test_every_ask_gives_new_numbers_and_points_within_bounds():
    study = make()
    asked = study.ask(3) + study.ask(2)
    assert [s.number for s in asked] == [0, 1, 2, 3, 4]
    assert len({tuple(s.parameters.values()) for s in asked}) == 5
    assert all(0.1 <= s.parameters["gain"] <= 10.0 for s in asked)
    assert study.outstanding == asked


def test_values_may_come_out_of_order_and_by_number_or_parameters():
    study = make()
    first, second, third = study.ask(3)
    study.tell(third.number, 3.0)
    study.tell(first.parameters, 1.0)
    assert [s.number for s in study.outstanding] == [second.number]
    study.tell(np.int64(second.number), 2.0)
    assert [row["number"] for row in study.rows()] == [2, 0, 1]
    assert [row["value"] for row in study.rows()] == [3.0, 1.0, 2.0]
    assert study.best == {"parameters": first.parameters, "value": 1.0, "number": 0}


def test_what_was_not_asked_for_is_kept_as_it_was_told():
    study = make()
    study.tell({"angle": 0.1, "gain": 0.3}, 5.0)
    assert study.best["parameters"] == {"gain": 0.3, "angle": 0.1}
    assert study.best["number"] is None


def test_what_a_study_returns_may_be_changed_and_the_study_stays_as_it_is():
    choices = Categorical("k", [[1], [2, 3], {"a": [4]}])
    study = Study([choices, Real("x", 0, 1)], direction="minimize", noise_std=0.1, seed=0)
    asked = study.ask()[0]
    for number in range(6):
        study.tell({"k": [2, 3], "x": number / 5}, float(number))
    study.tell(asked, -1.0)
    study.tell({"k": {"a": [4]}, "x": 0.5}, -2.0)
    before = repr((study.rows(), study.outstanding, study.best, study.optimizer.history.events))

    def spoil(value):
        for part in value.values() if isinstance(value, dict) else value:
            if isinstance(part, dict | list):
                spoil(part)
        value.clear()

    returned = [study.best, study.best_by_mean, study.status().best, asked.parameters]
    for value in [*returned, *study.rows(), *(parameters for _, parameters in study.told())]:
        spoil(value)
    assert before == repr(
        (study.rows(), study.outstanding, study.best, study.optimizer.history.events)
    )


def test_a_withdrawn_number_is_no_longer_outstanding_and_a_late_value_is_not_lost():
    study = make()
    number = study.ask()[0].number
    study.withdraw(number)
    assert study.status().outstanding == ()
    assert study.status().n_withdrawn == 1
    following = study.ask()[0]
    assert following.number == 1
    study.tell(number, 7.0)
    assert study.status().n_told == 1
    assert study.status().n_withdrawn == 1
    with pytest.raises(InvalidInputError, match="pending are"):
        study.withdraw(number)


def test_a_model_based_proposal_after_a_withdrawal_is_another_one():
    study = make(n_initial=3)
    for suggestion in study.ask(4):
        study.tell(suggestion.number, loss(suggestion.parameters))
    first = study.ask()[0]
    study.withdraw(first.number)
    assert study.ask()[0].parameters != first.parameters


@pytest.mark.parametrize(
    ("what", "message"),
    [
        (5, "No suggestion has the number 5"),
        (-1, "No suggestion has the number -1"),
        ("0", "belongs to a suggestion"),
        (True, "belongs to a suggestion"),
        ({"gain": 1.0}, "angle"),
        ({"gain": 1.0, "angle": 0.0, "speed": 1.0}, "speed"),
        ({"gain": 100.0, "angle": 0.0}, "gain"),
    ],
)
def test_what_is_not_of_the_study_is_refused_and_nothing_recorded(what, message):
    study = make()
    study.ask()
    with pytest.raises(InvalidInputError, match=message):
        study.tell(what, 1.0)
    assert study.status().n_told == 0


def test_a_number_has_one_value():
    study = make()
    number = study.ask()[0].number
    study.tell(number, 1.0)
    with pytest.raises(InvalidInputError, match="has its value already"):
        study.tell(number, 2.0)
    assert study.status().n_told == 1


def test_failures_and_constraints_decide_what_is_best():
    study = make(n_constraints=2, direction="maximize")
    bad, unmet, good, missing = study.ask(4)
    study.tell_failed(bad.number, "broke")
    study.tell(unmet.number, 9.0, [-1.0, 0.5])
    assert study.best is None
    study.tell(good.number, 2.0, [-1.0, 0.0])
    assert study.best["value"] == 2.0
    with pytest.raises(InvalidInputError, match="2 constraints"):
        study.tell(missing.number, 1.0)
    status = study.status()
    assert (status.n_told, status.n_failed, status.n_infeasible) == (3, 1, 1)
    assert [row["status"] for row in study.rows()] == ["failed", "infeasible", "ok"]
    assert study.rows()[0]["error"] == "broke"
    assert study.rows()[1]["constraint_2"] == 0.5


def test_a_value_is_on_disk_when_tell_returns(tmp_path):
    path = tmp_path / "run.jsonl"
    with make(path) as study:
        number = study.ask()[0].number
        study.tell(number, 0.1 + 0.2)
        other = Study.open(path, read_only=True)
        assert other.best["value"] == 0.1 + 0.2
        assert other.best["number"] == number


def test_a_study_that_is_opened_again_goes_on_as_if_it_had_not_been_closed(tmp_path):
    def go_on(study, n):
        for suggestion in study.ask(n):
            study.tell(suggestion.number, loss(suggestion.parameters))

    whole, path = make(n_initial=4), tmp_path / "run.jsonl"
    go_on(whole, 5)
    with make(path, n_initial=4) as study:
        go_on(study, 5)
    go_on(whole, 2)
    with Study.open(path) as study:
        go_on(study, 2)
        assert study.rows()[6]["gain"] == whole.rows()[6]["gain"]
        assert study.optimizer.state() == whole.optimizer.state()


def test_the_file_is_a_journal_of_the_optimiser_too(tmp_path):
    path = tmp_path / "run.jsonl"
    with make(path) as study:
        for suggestion in study.ask(2):
            study.tell(suggestion.number, 1.0 + suggestion.number)
        study.withdraw(study.ask()[0].number)
    assert read_journal(path).header["study"]["space"]
    assert Optimizer.resume(path).n_told == 2


def test_a_new_study_does_not_overwrite_and_a_foreign_file_is_refused(tmp_path):
    path = tmp_path / "run.jsonl"
    make(path).close()
    before = path.read_bytes()
    with pytest.raises(JournalError, match="must not overwrite"):
        make(path)
    assert path.read_bytes() == before
    with pytest.raises(JournalError, match="no study"):
        Study.open(tmp_path / "absent.jsonl")
    (tmp_path / "other").write_text("hello\n")
    with pytest.raises(JournalError, match="not a journal"):
        Study.open(tmp_path / "other")
    Study.open(path).close()  # The lock was given back.


def test_parameters_that_were_edited_in_the_file_are_refused(tmp_path):
    """All its points lie in the cube: with another range they would be other settings."""
    path = tmp_path / "run.jsonl"
    with make(path) as study:
        study.tell({"gain": 1.0, "angle": 10.0}, 1.0)
    written = path.read_text()
    path.write_text(written.replace("10.0", "20.0", 1))
    with pytest.raises(JournalError, match=r"in line 1 of .*run\.jsonl they were edited"):
        Study.open(path)
    head, rest = written.split("\n", 1)
    values = json.loads(head)
    gain = values["study"]["space"]["parameters"]["gain"]
    gain["high"] = int(gain["high"])  # as other programs write 10.0
    path.write_text(json.dumps(values) + "\n" + rest)
    Study.open(path).close()
    del values["study"]["digest"]  # as earlier versions wrote it
    path.write_text(json.dumps(values) + "\n" + rest)
    with Study.open(path) as study:
        assert study.best["parameters"] == {"gain": 1.0, "angle": 10.0}


@pytest.mark.parametrize("is_old", [False, True])
@pytest.mark.parametrize(
    "edit", [{"lower": [-2.0, -1.0]}, {"lower": [-1.0] * 3, "upper": [1.0] * 3}]
)
def test_a_cube_that_was_edited_in_the_file_is_refused(tmp_path, edit, is_old):
    path = tmp_path / "run.jsonl"
    make(path).close()
    values = json.loads(path.read_text())
    values["space"].update(edit)
    if is_old:
        del values["study"]["digest"]
    path.write_text(json.dumps(values) + "\n")
    with pytest.raises(
        JournalError, match=r"cube \[-1, 1\]\^2; the bounds in line 1 of .*run\.jsonl"
    ):
        Study.open(path)


def test_no_folder_is_made_for_a_mistyped_path(tmp_path):
    with pytest.raises(JournalError, match="needs a folder that exists"):
        make(tmp_path / "rnus" / "run.jsonl")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("path", "message"),
    [("x" * 300, "name too long"), ("a\x00b", "null"), (5, "received 5"), (b"a", "received b'a'")],
)
def test_what_no_file_can_be_called_is_refused(path, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises((InvalidInputError, JournalError), match=rf"path.*{message}.* Pass"):
        make(path)
    with pytest.raises((InvalidInputError, JournalError), match=rf"path.*{message}.* Pass"):
        Study.open(path)
    with pytest.raises((InvalidInputError, JournalError), match=rf"path.*{message}.* Pass"):
        boring.minimize(sum, [(0, 1)] * 2, 2, journal=path)
    assert not list(tmp_path.iterdir())


def test_a_table_in_place_of_its_path_is_refused():
    with pytest.raises(InvalidInputError, match="cannot be read"):
        make().add("gain,angle,value\n" + "1,2,3\n" * 100)


def test_a_journal_without_names_is_not_a_study(tmp_path):
    from boring import BoringOptimizer

    path = tmp_path / "plain.jsonl"
    BoringOptimizer([[0, 1]], direction="minimize").start_journal(path)
    with pytest.raises(JournalError, match="without names"):
        Study.open(path)


def test_reading_needs_no_lock_and_writes_nothing(tmp_path):
    path = tmp_path / "run.jsonl"
    with make(path) as study:
        study.ask()
        before = path.read_bytes()
        reader = Study.open(path, read_only=True)
        for act in (reader.ask, lambda: reader.tell(0, 1.0), lambda: reader.withdraw(0)):
            with pytest.raises(InvalidInputError, match="reading only"):
                act()
        assert path.read_bytes() == before
        assert reader.status().writer["pid"] == os.getpid()
    assert reader.status().writer is None


HOLD = """
import sys
from boring.study import Study
study = Study.open(sys.argv[1])
print("open", flush=True)
sys.stdin.readline()
"""


def test_a_second_process_is_refused_until_the_first_is_gone(tmp_path):
    path = tmp_path / "run.jsonl"
    make(path).close()
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdout.readline() == "open\n"
        with pytest.raises(StudyLockedError, match=f"process {holder.pid} on .*, since 20"):
            Study.open(path, wait=0.1)
        waiting = threading.Timer(0.3, holder.kill)
        waiting.start()
        Study.open(path, wait=20.0).close()  # Waits, then takes its turn.
        waiting.join()


def test_a_full_disk_keeps_the_value_and_writes_it_later(tmp_path, monkeypatch):
    path = tmp_path / "run.jsonl"
    study = make(path)
    first, second = study.ask(2)
    real, is_full = os.write, True

    def write(descriptor, data):
        if is_full:
            real(descriptor, bytes(data)[:7])  # A disk fills up in the middle of a line.
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(descriptor, data)

    monkeypatch.setattr(os, "write", write)
    with pytest.raises(JournalError, match="No space left"):
        study.tell(first.number, 4.0)
    assert study.best["value"] == 4.0
    with pytest.raises(JournalError, match="No space left"):
        study.close()
    is_full = False
    study.tell(second.number, 5.0)
    study.close()
    assert [row["value"] for row in Study.open(path, read_only=True).rows()] == [4.0, 5.0]


def test_earlier_data_are_the_initial_design(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"gain": rng.uniform(1, 9, 6), "angle": rng.uniform(-80, 80, 6)})
    frame["loss"] = [loss(row) for row in frame.to_dict("records")]
    frame["remark"] = "from the old rig"
    study = make(n_initial=6)
    with pytest.warns(BoringWarning, match=r"columns \['remark'\], which were left out"):
        assert study.add(frame, value="loss") == 6
    del frame["remark"]
    study.ask()
    assert study.optimizer.state().history.asks[0].phase not in {"initial", "space-filling"}
    frame.to_csv(tmp_path / "old.csv", index=False)
    other = make(n_initial=6)
    other.add(frame.to_dict("records"), value="loss")
    third = make(n_initial=6)
    third.add_csv(tmp_path / "old.csv", value="loss")
    assert study.rows() == other.rows() == third.rows()


def test_tables_come_back_bit_for_bit(tmp_path):
    study = make(n_constraints=1)
    one, two, three = study.ask(3)
    study.tell(one.number, 0.1 + 0.2, [-0.7])
    study.tell_failed(two.number, "no, it broke", seconds=2.5)
    study.tell(three.number, 1e-300, [float("nan")])
    study.to_csv(tmp_path / "data.csv")
    other = make(n_constraints=1)
    assert other.add_csv(tmp_path / "data.csv") == 3
    pd.testing.assert_frame_equal(
        study.to_dataframe().drop(columns=["number", "phase", "seconds"]),
        other.to_dataframe().drop(columns=["number", "phase", "seconds"]),
    )
    frame = study.to_dataframe()
    assert frame["number"].tolist() == [0, 1, 2]
    assert frame["seconds"].tolist()[1] == 2.5
    assert list(make().to_dataframe().columns)[:4] == ["number", "gain", "angle", "value"]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"gain": 1.0, "angle": 0.0, "value": 1.0}, {"gain": 1.0, "value": 2.0}], "Row 1 .*angle"),
        ([{"gain": 1.0, "angle": 0.0}], "no 'value'"),
        ([{"gain": 1.0, "angle": 200.0, "value": 1.0}], "Row 0 .*angle"),
        ([{"gain": 1.0, "angle": 0.0, "value": "fast"}], "value must be a number"),
        ([3], "must be a dictionary"),
        ({"gain": 1.0}, "list of dictionaries"),
    ],
)
def test_wrong_data_are_refused_as_a_whole(rows, message):
    study = make()
    with pytest.raises(InvalidInputError, match=message):
        study.add(rows)
    assert study.status().n_told == 0


def test_a_parameter_may_be_called_like_a_column():
    study = Study(
        {"number": (0.0, 1.0), "status": (0.0, 1.0)}, direction="minimize", n_initial=9, seed=0
    )
    suggestion = study.ask()[0]
    study.tell(suggestion.number, 1.0)
    row = study.rows()[0]
    assert row["number"] == suggestion.parameters["number"]
    assert row["number_"] == 0
    assert row["status_"] == "ok"
    assert len(study.to_dataframe().columns) == len(row)


def test_events_of_a_study_are_lines_of_json(tmp_path):
    path = tmp_path / "run.jsonl"
    with make(path) as study:
        study.tell(study.ask()[0].number, 1.0, seconds=3.0)
        study.withdraw(study.ask()[0].number)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line.get("event") for line in lines] == [None, "ask", "tell", "ask", "withdraw"]
    assert lines[2]["info"]["seconds"] == 3.0


def test_threads_share_a_study(tmp_path):
    study, numbers = make(tmp_path / "run.jsonl"), []

    def work():
        for _ in range(5):
            suggestion = study.ask()[0]
            numbers.append(suggestion.number)
            study.tell(suggestion.number, loss(suggestion.parameters))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    study.close()
    assert sorted(numbers) == list(range(20))
    assert Study.open(study.path, read_only=True).status().n_told == 20


def test_a_space_given_on_opening_must_be_the_same(tmp_path):
    path = tmp_path / "run.jsonl"
    make(path).close()
    Study.open(path, space=SPACE).close()
    with pytest.raises(JournalError, match="keeps its parameters"):
        Study.open(path, space={"gain": (0.1, 9.0), "angle": (-90.0, 90.0)})
    with pytest.raises(JournalError, match="another order"):
        Study.open(path, space=dict(reversed(SPACE.items())))
    Study.open(path).close()


def test_a_space_of_functions_is_wanted_again_on_opening(tmp_path):
    path = tmp_path / "run.jsonl"
    parameters = [Real("gain", 0.1, 10.0), Real("angle", -90.0, 90.0)]
    space = ParameterSpace(parameters, [lambda setting: setting["gain"] < 5.0])
    Study(space, direction="minimize", path=path).close()
    with pytest.raises(InvalidInputError, match=r"Study.open space=.*The command boring cannot"):
        Study.open(path)
    with Study.open(path, space=space) as study:
        assert study.space == space


def test_typed_parameters_come_back_from_a_file_and_a_table(tmp_path):
    from boring.parameters import Categorical, Fixed, Integer, ParameterSpace, Real

    space = ParameterSpace(
        [
            Real("gain", 0.1, 10, log=True, unit="dB"),
            Integer("layers", 1, 8),
            Categorical("kind", ["1", "b"]),
            Categorical("flag", [True, False]),
            Real("depth", 0.0, 1.0, when="kind == 'b'"),
            Fixed("mode", 3),
        ]
    )
    rng, path = np.random.default_rng(0), tmp_path / "run.jsonl"
    told = space.decode(rng.uniform(-1.0, 1.0, (6, space.dim)))
    assert {row["kind"] for row in told} == {"1", "b"}
    options = {"n_initial": 20, "effective_dim": 1}
    with Study(space, direction="minimize", path=path, seed=0, **options) as study:
        for i, configuration in enumerate(told):
            study.tell(configuration, float(i))
        study.to_csv(tmp_path / "data.csv")
    with Study.open(path) as again:
        names = space.names
        rows = [{k: row[k] for k in names if k in row} for row in again.rows()]
        assert rows == told
        (suggestion,) = again.ask()
        assert isinstance(suggestion.parameters["layers"], int)
        again.tell(suggestion.number, 1.0)
        assert again.report().units == {"gain": "dB"}
    other = Study(space, direction="minimize", seed=0)
    other.add_csv(tmp_path / "data.csv")
    assert [{k: row[k] for k in names if k in row} for row in other.rows()] == told


@pytest.mark.parametrize("when", [None, "kind == 'b'"])
@pytest.mark.parametrize("low", [2**63 - 2, 2**70, -(2**63) - 2])
def test_integers_beyond_64_bits_are_whole_in_tables(low, when):
    space = [Integer("h", low, low + 5, when=when), Categorical("kind", ["a", "b"])]
    study, other = (Study(space, direction="minimize", seed=0) for _ in range(2))
    study.tell({"h": low + 5, "kind": "b"}, 1.0)
    study.tell({"kind": "a"} if when else {"h": low, "kind": "a"}, 2.0)
    frame = study.to_dataframe()
    assert frame["h"].dtype == object
    other.add(frame)
    assert [row.get("h") for row in other.rows()] == [row.get("h") for row in study.rows()]
    np.testing.assert_array_equal(
        study.space.encode(frame[study.space.names]), study.optimizer.history.X
    )


def test_a_neighbour_of_a_wide_integer_is_not_its_answer():
    space = [Integer("n", 1, 10**12), Categorical("kind", [True, 1, "1"])]
    study = Study(space, direction="minimize", optimizer="sobol", seed=0)
    asked = study.ask()[0]
    near = {**asked.parameters, "n": asked.parameters["n"] + 1}
    study.tell(near, 1.0)
    assert [s.number for s in study.outstanding] == [0]
    assert study.best["parameters"] == near
    kinds = {repr(kind): {**asked.parameters, "kind": kind} for kind in (True, 1, "1")}
    same = kinds.pop(repr(asked.parameters["kind"]))
    for other in kinds.values():
        study.tell(other, 2.0)
    assert [s.number for s in study.outstanding] == [0]
    study.tell(same, 3.0)
    assert study.outstanding == []


def test_values_that_round_to_one_are_one():
    study = Study([Real("x", 1.0, 1.0 + 1e-11)], direction="minimize", optimizer="random", seed=0)
    resolution = study.optimizer.domain.resolution[0]
    assert 1e-6 < resolution < 1e-3 * 2
    for suggestion in study.ask(20):
        study.tell(suggestion.number, suggestion.parameters["x"])
    assert len({row["x"] for row in study.rows()}) == 20


@pytest.mark.parametrize(
    "choices", [["a", None], [True, 1, "1"], ["", "None", None], [[1, 2], "b", 3.5], ["x", False]]
)
def test_choices_of_any_kind_come_back_from_tables(tmp_path, choices):
    space = [
        Categorical("kind", choices),
        Real("error", 0.0, 1.0),
        Real("constraint_1", 0.0, 1.0),
        Real("depth", 0.0, 1.0, when=f"kind == {json.dumps(choices[0])}")
        if isinstance(choices[0], str)
        else Real("depth", 0.0, 1.0),
    ]
    made = [
        Study(space, direction="minimize", optimizer="sobol", seed=0, n_constraints=1)
        for _ in range(4)
    ]
    study = made[0]
    for suggestion in study.ask(12):
        study.tell(suggestion.number, 1.0 + suggestion.number, [-0.5])
    study.tell_failed(study.ask()[0].number, "no \udcff file\n'a', \"b\"")
    study.to_csv(tmp_path / "data.csv")
    made[1].add_csv(tmp_path / "data.csv")
    made[2].add(study.rows())
    made[3].add(study.to_dataframe())
    wanted = [(json.dumps(row["kind"]), row.get("depth"), row["status"]) for row in study.rows()]
    assert len({kind for kind, _, _ in wanted}) == len(choices)
    for other in made[1:]:
        found = [(json.dumps(row["kind"]), row.get("depth"), row["status"]) for row in other.rows()]
        assert found == wanted
        assert [row["constraint_1_"] for row in other.rows()][:12] == [-0.5] * 12
    assert made[2].rows()[-1]["error_"] == study.rows()[-1]["error_"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"optimizer": int}, "optimizer must be a registered name or an Optimizer subclass"),
        ({"optimizer": None}, "optimizer must be a registered name or an Optimizer subclass"),
        ({"domain": None}, "The domain of a study is that of its space"),
    ],
)
def test_what_cannot_make_a_study_is_refused_by_its_rule(options, message):
    with pytest.raises(InvalidInputError, match=message):
        Study({"x": (0.0, 1.0)}, direction="minimize", **options)


def test_an_unknown_option_of_a_study_is_met_with_what_a_study_takes():
    with pytest.raises(UnknownNameError, match="Did you mean 'path'") as caught:
        Study({"x": (0.0, 1.0)}, direction="minimize", optimizer="sobol", pathh="a.jsonl")
    listed = str(caught.value).partition("Known: ")[2].rstrip(".").split(", ")
    own = set(signature(Study).parameters) - {"space", "options"}
    assert set(listed) == {*own, "repeats"}  # no domain, which is refused


def test_seconds_of_an_evaluation_must_be_a_number():
    study = Study({"x": (0.0, 1.0)}, direction="minimize", seed=0)
    with pytest.raises(InvalidInputError, match="seconds must be a finite real number"):
        study.tell({"x": 0.5}, 1.0, seconds="long")
    assert study.status().n_told == 0


def test_numbers_of_numpy_withdraw_as_they_tell_and_what_is_no_number_is_refused(tmp_path):
    with make(tmp_path / "study.jsonl") as study:
        study.ask(3)
        study.withdraw(np.arange(3)[0])
        for wrong in (True, 2.0, "2", 0):
            with pytest.raises(InvalidInputError, match="Only a pending ask can be withdrawn"):
                study.withdraw(wrong)
        study.tell(np.int64(1), 5.0)
    opened = Study.open(tmp_path / "study.jsonl", read_only=True)
    assert (opened.status().n_told, opened.status().outstanding) == (1, (2,))


class Optics(str, enum.Enum):  # noqa: UP042 (whose str() is no text of it)
    OLD = "old"
    NEW = "new"


def test_members_of_a_text_enumeration_are_their_texts_before_and_after_a_file(tmp_path):
    space = [
        Categorical("optics", list(Optics)),
        Fixed("mode", Optics.NEW),
        Ordinal("step", [1, 2]),
    ]
    with Study(space, direction="minimize", path=tmp_path / "s.jsonl", seed=0) as study:
        study.tell({"optics": Optics.OLD, "mode": Optics.NEW, "step": 1}, 1.0)
        before = study.ask(2)
    with Study.open(tmp_path / "s.jsonl") as study:
        assert [one.parameters for one in study.outstanding] == [one.parameters for one in before]
        study.tell({"optics": Optics.OLD, "mode": "new", "step": 2}, 2.0)
        rows = study.rows()
    assert [row["optics"] for row in rows] == ["old", "old"]
    values = [value for one in before for value in (one.parameters["optics"], rows[0]["mode"])]
    assert {type(value) for value in values} == {str}
    assert study.best["parameters"]["mode"] == "new"


def test_a_copy_of_the_optimiser_and_a_closed_studys_write_no_file(tmp_path):
    path = tmp_path / "study.jsonl"
    study = make(path)
    study.tell(study.ask()[0], 1.0)
    for twin in (copy.deepcopy(study.optimizer), pickle.loads(pickle.dumps(study.optimizer))):
        twin.tell(twin.ask(), [-999.0])
    study.tell(study.ask()[0], 3.0)
    study.close()
    study.optimizer.tell(np.zeros(2), -999.0)
    assert Study.open(path, read_only=True).optimizer.history.y.tolist() == [1.0, 3.0]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_does_not_write(tmp_path):
    study = make(tmp_path / "study.jsonl")
    numbers = [suggestion.number for suggestion in study.ask(2)]
    child = os.fork()
    if child == 0:
        try:
            study.tell(numbers[0], 9.0)
        except JournalError as error:
            os._exit(7 if "made from it" in str(error) else 1)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    study.tell(numbers[1], 2.0)
    study.close()
    assert Study.open(study.path, read_only=True).best["value"] == 2.0


def test_a_file_is_where_it_was_when_the_objective_changes_the_folder(tmp_path, monkeypatch):
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path)

    def wander(parameters):
        os.chdir(tmp_path / "work")
        return loss(parameters)

    with make("study.jsonl") as study:
        study.run(wander, 2, progress=False)
    assert Study.open(tmp_path / "study.jsonl", read_only=True).status().n_told == 2
    assert sorted(one.name for one in (tmp_path / "work").iterdir()) == []
    os.chdir(tmp_path)
    boring.minimize(
        lambda x: wander({"gain": x[0], "angle": 0.0}),
        [(0, 1)],
        2,
        method="sobol",
        journal="run.jsonl",
        seed=0,
    )
    assert read_journal(tmp_path / "run.jsonl").history.n_told == 2


@pytest.mark.parametrize("content", [b"hello\n", b"number,a,value\r\n", b"\xff\xfe", None])
def test_no_lock_is_left_beside_what_is_no_study(tmp_path, content):
    path = tmp_path / "notes.txt"
    path.mkdir() if content is None else path.write_bytes(content)
    with pytest.raises(JournalError):
        Study.open(path)
    with pytest.raises(JournalError):
        Study({"a": (0.0, 1.0)}, direction="minimize", path=path)
    assert [file.name for file in tmp_path.iterdir()] == ["notes.txt"]
    assert content is None or path.read_bytes() == content


def test_a_file_is_not_opened_with_choices_that_python_alone_calls_equal(tmp_path):
    path = tmp_path / "study.jsonl"

    def space(*choices):
        return ParameterSpace([Categorical("a", choices), Real("x", 0, 1)])

    Study(space(1, "b"), path=path, direction="minimize", seed=0).close()
    Study.open(path, space=space(1.0, "b")).close()
    for other in (space(True, "b"), space([1], "b"), space("b", 1)):
        with pytest.raises(JournalError, match="others than the space"):
            Study.open(path, space=other)


def test_choices_that_python_calls_equal_keep_their_values(tmp_path):
    space = ParameterSpace([Categorical("k", [[0], [False], "x"]), Real("x", 0, 1)])
    study = Study(space, direction="minimize", seed=0)
    for number, choice in enumerate(space.parameters["k"].choices):
        study.tell({"k": choice, "x": 0.5}, number)
    study.to_csv(tmp_path / "rows.csv")
    again = Study(space, direction="minimize", seed=0)
    again.add(tmp_path / "rows.csv")
    assert [repr(row["k"]) for row in again.rows()] == ["[0]", "[False]", "'x'"]
