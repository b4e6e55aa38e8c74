"""Values of before: other spaces, other studies, tables as people write them."""

import json
import re
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from boring.exceptions import (
    BoringWarning,
    DuplicatePointWarning,
    InvalidInputError,
    JournalError,
    OutsideSpaceError,
)
from boring.parameters import Categorical, Fixed, Integer, ParameterSpace, Real
from boring.parameters.encoding import Encoding
from boring.study import Study
from boring.study.cli import main

SPACE = {"gain": (0.1, 10.0), "angle": (-90.0, 90.0)}
ROWS = [
    {"gain": 1.0, "angle": 0.0, "value": 4.0},
    {"gain": 9.0, "angle": 10.0, "value": 36.0},
    {"gain": 2.0, "angle": -45.0, "value": None, "error": "no beam"},
]


def make(space=SPACE, path=None):
    return Study(space, direction="minimize", path=path, seed=0, n_initial=50)


@pytest.fixture
def old(tmp_path):
    with make(path=tmp_path / "old.jsonl") as study:
        study.add(ROWS)
        study.ask()
    return study


def test_a_wider_space_takes_the_study_of_a_narrower_one(old):
    wide = make({"gain": (0.1, 20.0), "angle": (-180.0, 180.0)})
    assert wide.add(old) == 3
    assert [row["value"] for row in wide.rows()[:2]] == [4.0, 36.0]
    assert [row["error"] for row in wide.rows()] == [None, None, "no beam"]
    assert wide.outstanding == []
    again = make(wide.space)
    assert again.add(old.path) == 3
    assert str(again.rows()) == str(wide.rows())


def test_a_narrower_space_refuses_what_is_outside_or_leaves_it_out_and_says_so(old):
    narrow = make({"gain": (0.1, 5.0), "angle": (-90.0, 90.0)})
    with pytest.raises(OutsideSpaceError, match=r"Row 1 .*'gain'.*received 9.0.*outside='skip'"):
        narrow.add(old)
    assert narrow.status().n_told == 0
    with pytest.warns(BoringWarning, match=r"1 of 3 rows .* left out.*Row 1 .*'gain'"):
        assert narrow.add(old, outside="skip") == 2
    assert [row["gain"] for row in narrow.rows()] == [1.0, 2.0]


def test_a_new_parameter_is_what_it_was_and_one_that_is_fixed_now_keeps_its_rows(old):
    more = make([Real("gain", 0.1, 10.0), Real("angle", -90.0, 90.0), Real("bias", 0.0, 1.0)])
    with pytest.raises(
        InvalidInputError, match=r"Row 0 .*'bias' is missing.* fill={'bias': \.\.\.}"
    ):
        more.add(old)
    assert more.add(old, fill={"bias": 0.25}) == 3
    assert {row["bias"] for row in more.rows()} == {0.25}
    fixed = make([Real("gain", 0.1, 10.0), Fixed("angle", 0.0)])
    with pytest.warns(BoringWarning, match="2 of 3 rows"):
        assert fixed.add(old, outside="skip") == 1


def test_what_a_row_says_comes_before_what_is_filled_in():
    study = make()
    study.add(
        [{"gain": 3.0, "value": 1.0}, {"gain": 3.0, "angle": 5.0, "value": 2.0}], fill={"angle": 7}
    )
    assert [row["angle"] for row in study.rows()] == [7.0, 5.0]


def test_only_active_parameters_are_filled_in():
    study = make(
        [Categorical("optics", ["old", "new"]), Real("tilt", 0, 1, when="optics == 'new'")]
    )
    study.add([{"optics": "old", "value": 1}, {"optics": "new", "value": 2}], fill={"tilt": 0.5})
    assert [row.get("tilt") for row in study.rows()] == [None, 0.5]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"fill": {"gian": 1.0}}, "gain"),
        ({"fill": {"gain": 99.0}}, "'gain'.*between"),
        ({"fill": [1]}, "fill must be a dict"),
        ({"outside": "ignore"}, "'refuse' or 'skip'.*'ignore'"),
    ],
)
def test_wrong_arguments_are_refused(arguments, message):
    study = make()
    with pytest.raises(InvalidInputError, match=message):
        study.add(ROWS, **arguments)
    assert study.status().n_told == 0


def test_garbage_is_refused_even_where_rows_outside_are_left_out():
    study = make()
    with pytest.raises(InvalidInputError, match=r"Row 1 .*must be a number; received 'much'"):
        study.add([ROWS[0], {"gain": "much", "angle": 0.0, "value": 1.0}], outside="skip")
    assert study.status().n_told == 0


def test_a_whole_number_is_wanted_of_what_is_an_integer_now():
    study = make([Integer("gain", 1, 8), Real("angle", -90, 90)])
    rows = [{"gain": 2.0, "angle": 0, "value": 1}, {"gain": 2.5, "angle": 0, "value": 2}]
    with pytest.warns(BoringWarning, match="1 of 2 rows"):
        assert study.add(rows, outside="skip") == 1


def test_a_table_of_lists_is_refused_with_its_remedy():
    with pytest.raises(InvalidInputError, match=r"pandas.DataFrame\(data\)"):
        make().add({"gain": [1.0], "angle": [0.0], "value": [1.0]})


def test_a_study_does_not_take_its_own_values(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    in_memory = make()
    in_memory.add(ROWS)
    with pytest.raises(InvalidInputError, match=r"received itself, in memory"):
        in_memory.add(in_memory)
    with make(path="a.jsonl") as study:
        study.add(ROWS)
        (tmp_path / "link.jsonl").symlink_to("a.jsonl")
        for itself in ("a.jsonl", tmp_path / "link.jsonl", study):
            with pytest.raises(InvalidInputError, match=r"received itself, .*jsonl"):
                study.add(itself)
        assert study.status().n_told == len(ROWS)
    assert main(["import", "a.jsonl", "./a.jsonl"]) == 1
    assert "received itself" in capsys.readouterr().err
    (tmp_path / "b.jsonl").write_bytes((tmp_path / "a.jsonl").read_bytes())
    assert make().add("b.jsonl") == len(ROWS)


def test_a_none_that_pandas_read_as_a_gap_is_explained(written):
    space = [Real("gain", 0, 10), Categorical("kind", [None, "sgd"]), Categorical("n", [1, None])]
    path = written("gain,kind,n,value\n1,None,1,3\n2,sgd,None,4\n")
    study = make(space)
    with pytest.raises(
        InvalidInputError, match=r"'kind' is missing.*NaN for \['kind'\].*keep_default"
    ):
        study.add(pd.read_csv(path))
    study.add(path)
    assert [(row["kind"], row["n"]) for row in study.rows()] == [(None, 1), ("sgd", None)]
    with pytest.raises(InvalidInputError) as caught:
        make(space).add(pd.DataFrame({"gain": [1.0], "kind": ["sgd"], "value": [3.0]}))
    assert "keep_default" not in str(caught.value)


def test_json_that_is_no_study_is_refused_with_a_remedy(old, tmp_path):
    assert main(["export", str(old.path), "-o", str(tmp_path / "data.json")]) == 0
    with pytest.raises(JournalError, match=r"data.json is JSON of another kind. Export it as"):
        make().add(tmp_path / "data.json")


def test_a_frame_with_a_column_twice_is_refused():
    study = make()
    frame = pd.DataFrame([[1.0, 2.0, 0.0, 4.0]], columns=["gain", "gain", "angle", "value"])
    with pytest.raises(InvalidInputError, match="the data has 'gain' twice"):
        study.add(frame)
    assert study.status().n_told == 0


def test_another_files_trouble_is_told(tmp_path):
    path = tmp_path / "torn.jsonl"
    path.write_text('{"format": "something else"}\n')
    with pytest.raises(JournalError, match=r"torn\.jsonl"):
        make().add(path)


def test_repetitions_are_named_as_the_caller_knows_them_and_counted():
    study = make()
    study.add([row for row in ROWS if row["value"]])
    with pytest.warns(
        BoringWarning, match=r"2 points were told before.*'gain': 1.0, 'angle': 0.0"
    ) as seen:
        study.add([row for row in ROWS if row["value"]])
    assert len(seen) == 1
    with pytest.warns(BoringWarning, match=r"\{'gain': 1.0, 'angle': 0.0\} was told before"):
        study.tell({"gain": 1.0, "angle": 0.0}, 4.5)


def test_repetitions_of_what_was_asked_for_are_noticed_however_they_come(tmp_path):
    space = [Real("gain", 0.1, 10.0, log=True), Real("angle", -90, 90), Integer("n", 1, 10**6)]
    with make(space, tmp_path / "run.jsonl") as study:
        for value, asked in enumerate(study.ask(5)):
            study.tell(asked, value)
        study.to_csv(tmp_path / "run.csv")
        copy = tmp_path / "copy.jsonl"
        copy.write_bytes(study.path.read_bytes())
        rows = [{k: v for k, v in row.items() if k != "seconds"} for row in study.rows()]
        for data in (copy, tmp_path / "run.csv", rows):
            with pytest.warns(DuplicatePointWarning, match="5 points were told before"):
                study.add(data)
        with pytest.warns(DuplicatePointWarning, match="was told before"):
            study.tell(asked.parameters, 2.0)
        near = {**asked.parameters, "angle": asked.parameters["angle"] * (1 - 1e-9)}
        study.tell(near, 3.0)


def test_configurations_that_break_a_known_constraint_are_counted_and_kept():
    space = ParameterSpace([Real("x", 0, 1), Real("y", 0, 1)], constraints=["x <= 0.5", "y < 0.9"])
    study = make(space)
    rows = [{"x": 0.9, "y": y, "value": y - 5} for y in (0.0, 0.5, 0.95)]
    rows.append({"x": 0.5, "y": 0.5, "value": 1})
    with pytest.warns(
        BoringWarning, match=r"3 of 4 .* 'x <= 0.5' \(3\), 'y < 0.9' \(1\)\. .*count as told"
    ) as seen:
        assert study.add(rows) == 4
    assert len(seen) == 1
    assert study.best["parameters"] == {"x": 0.9, "y": 0.0}
    with pytest.warns(BoringWarning, match=r"1 of 1 .* 'x <= 0.5' \(1\)"):
        study.tell({"x": 0.6, "y": 0.0}, 2.0)
    study.tell({"x": 0.2, "y": 0.0}, 2.0)
    for asked in study.ask(3):
        study.tell(asked, 1.0 + asked.number)
    assert study.status().n_told == 9


# CSV files as people and programs write them.


@pytest.fixture
def written(tmp_path):
    def write(text):
        path = tmp_path / "data.csv"
        path.write_text(text)
        return path

    return write


def test_spaces_around_cells_and_empty_lines_do_not_matter(written):
    study = make([Real("gain", 0, 10), Categorical("optics", ["old", "new"])])
    study.add(written("gain, optics , value\n\n1.5, new, 3\n\n2.5,old , 4\n"))
    assert [(row["gain"], row["optics"], row["value"]) for row in study.rows()] == [
        (1.5, "new", 3.0),
        (2.5, "old", 4.0),
    ]


def test_a_file_of_another_encoding_is_refused_with_a_remedy(tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes("gain,angle,value,Öl\n1,0,3,1\n".encode("latin-1"))
    with pytest.raises(InvalidInputError, match=r"must be CSV in UTF-8; .*Save it so"):
        make().add(path)


@pytest.mark.parametrize("case", [str, str.upper, str.lower, lambda word: f" {word.swapcase()} "])
def test_true_and_false_are_also_as_other_programs_write_them(written, case):
    study = make([Real("gain", 0, 10), Categorical("on", [True, False]), Fixed("dry", True)])
    yes, no = case("True"), case("False")
    study.add(written(f"gain,on,dry,value\n1,{yes},{yes},3\n2,{no},True,4\n"))
    assert [(row["on"], row["dry"]) for row in study.rows()] == [(True, True), (False, True)]
    # A choice that is this very text comes first, and JSON's spelling where texts would be equal.
    study = make([Real("gain", 0, 10), Categorical("on", [True, "TRUE", "no"])])
    study.add(written("gain,on,value\n1,TRUE,3\n2,True,4\n3,true,5\n"))
    assert [row["on"] for row in study.rows()] == ["TRUE", True, True]
    study = make([Real("gain", 0, 10), Categorical("on", [False, "False", True])])
    study.add(written('gain,on,value\n1,"""False""",3\n2,FALSE,4\n3,false,5\n'))
    assert [row["on"] for row in study.rows()] == ["False", False, False]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gain;angle;value\n1,5;0;2\n", "commas between its cells.*';'.*pandas.read_csv"),
        ("gain\tangle\tvalue\n1\t0\t2\n", r"commas between its cells.*'\\t'"),
        ("gain,angle,gain,value\n1,0,2,3\n", "'gain' twice"),
        ("gain,angle,Value\n1,0,3\n", "Line 2 of .*Did you mean 'Value'.*--value"),
        ("gain,angle,value\n1,0,3\n\n50,0,3\n", "Line 4 of .*'gain'.*--skip-outside"),
        ("gain,angle,value\n1,0,much\n", "Line 2 of .*value must be a number; received 'much'"),
        ("gain,angle,value\n1,0,3,9\n", "Line 2 of .*more cells"),
    ],
)
def test_what_a_file_has_wrong_is_said_with_its_line(written, text, message):
    study = make()
    with pytest.raises(InvalidInputError, match=message):
        study.add(written(text))
    assert study.status().n_told == 0


def test_an_empty_file_is_said_to_have_no_rows(written):
    with pytest.warns(BoringWarning, match="should have rows; .*has none below"):
        assert make().add(written("")) == 0


def test_a_constraint_without_a_column_is_missed_and_an_empty_cell_is_not_known(written):
    study = Study(SPACE, direction="minimize", seed=0, n_constraints=1)
    with pytest.raises(InvalidInputError, match=r"Line 2 of .*'constraint_1'.*mean 'constraint 1'"):
        study.add(written("gain,angle,value,constraint 1\n1,0,3,-1\n"))
    with pytest.raises(InvalidInputError, match=r"Row 0 .*'constraint_1' is missing"):
        study.add([{"gain": 1.0, "angle": 0.0, "value": 3.0}])
    assert study.status().n_told == 0
    assert study.add([{"gain": 1.0, "angle": 0.0, "value": None}]) == 1
    assert study.add(written("gain,angle,value,constraint_1\n1,1,3,\n1,2,3,-1\n")) == 2
    assert [row["status"] for row in study.rows()] == ["failed", "infeasible", "ok"]


def test_a_frame_read_elsewhere_is_taken(written):
    path = written("gain;angle;value\n1,5;0;2\n")
    study = make()
    assert study.add(pd.read_csv(path, sep=";", decimal=",")) == 1
    assert study.best["parameters"]["gain"] == 1.5


def test_the_command_imports_a_study_into_another_space(tmp_path, old, capsys):
    new = tmp_path / "new.jsonl"
    space = '{"gain": [0.1, 5], "angle": [-90, 90], "bias": [0, 1]}'
    assert main(["init", str(new), "--direction", "minimize", "--space", space]) == 0
    assert main(["import", str(new), str(old.path), "--fill", '{"bias": 0.5}']) == 1
    assert "--skip-outside" in capsys.readouterr().err
    words = ["import", str(new), str(old.path), "--fill", '{"bias": 0.5}', "--skip-outside"]
    assert main(words) == 0
    shown = capsys.readouterr()
    assert shown.out == "Added: 2 rows.\n"
    assert "boring: note: 1 of 3 rows lie outside the space" in shown.err
    assert main(["best", str(new), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["parameters"]["bias"] == 0.5


def test_nothing_is_said_where_nothing_is_left_out(old):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make().add(old, outside="skip")


def test_a_number_beyond_the_floats_is_infinite():
    study = make()
    study.add([{"gain": 1.0, "angle": 0.0, "value": 10**400}])
    assert study.status().n_failed == 1


def test_what_a_study_notes_of_its_values_is_no_parameter_of_another():
    source = Study(
        {"gain": (0.1, 10.0), "value": (0.0, 100.0), "constraint_1": (0.0, 1.0)},
        direction="minimize",
        seed=0,
        n_constraints=1,
    )
    for suggestion in source.ask(3):
        source.tell(suggestion, -1.0 - suggestion.number, [-0.5], seconds=0.1)
    source.tell_failed(source.ask()[0], "no beam")
    more = {"number": (0, 9), "seconds": (0.0, 9.0), "phase": (-1.0, 1.0), "error": (0.0, 1.0)}
    kept = {name: 0.5 for name in more} | {"number": 7}
    other = Study({"gain": (0.1, 10.0), **more}, direction="minimize", seed=0, n_constraints=1)
    assert other.add(source, fill=kept) == 4
    for row, old in zip(other.rows(), source.rows(), strict=True):
        assert {name: row[name] for name in kept} == kept
        assert row["gain"] == old["gain"]
        assert (row["status"], row["error_"]) == (old["status"], old["error"])
        assert row["value"] == old["value_"] or old["status"] == "failed"
    assert other.best["value"] == -3.0
    with pytest.raises(InvalidInputError, match="knows its values itself; received 'gain'"):
        other.add(source, value="gain", fill=kept)
    with pytest.raises(InvalidInputError, match=r"Row 0 of the study: .*'number'"):
        other.add(source)


def test_digits_in_groups_are_no_number(written):
    study = make()
    with pytest.raises(InvalidInputError, match="value must be a number; received '1_5'"):
        study.add(written("gain,angle,value\n1,0,1_5\n"))
    with pytest.raises(InvalidInputError, match="received '1_5'"):
        study.add(written("gain,angle,value\n1,1_5,2\n"))


def test_a_failure_without_a_reason_comes_back_without_one(tmp_path):
    study = make()
    study.tell({"gain": 1.0, "angle": 0.0}, float("nan"))
    study.to_csv(tmp_path / "data.csv")
    other = make()
    other.add(tmp_path / "data.csv")
    assert [row["error"] for row in other.rows()] == [None]


MIXED = [
    *(Real(f"gain {i}", 1e-3 * (i + 1), 50.0, log=bool(i % 2)) for i in range(6)),
    Integer("bunches", 1, 900, log=True),
    Categorical("optics", ["old", "new", None]),
    Real("bias", 0.0, 1.0, when="optics == 'new'"),
]


def test_rows_added_together_are_those_told_one_by_one_bit_for_bit():
    source = make(MIXED)
    asked = [suggestion.parameters for suggestion in source.ask(37)]
    together, one_by_one = make(MIXED), make(MIXED)
    for study in (together, one_by_one):
        assert [s.parameters for s in study.ask(3)] == asked[:3]
    rows = [{**settings, "value": float(i)} for i, settings in enumerate([*asked, asked[1]])]
    with pytest.warns(DuplicatePointWarning, match="was told before"):
        together.add(rows)
    for i, settings in enumerate(asked):
        one_by_one.tell(settings, float(i))
    with pytest.warns(DuplicatePointWarning, match="was told before"):
        one_by_one.tell(asked[1], 37.0)
    first, second = together.optimizer.history, one_by_one.optimizer.history
    assert [tell.ask for tell in first.tells] == [0, 1, 2, *[None] * 35]
    assert first.pending == second.pending == ()
    for a, b in zip(first.tells, second.tells, strict=True):
        assert a.to_dict(with_seconds=False) == b.to_dict(with_seconds=False)
        assert a.info.get("parameters") == b.info.get("parameters")
    assert [settings for _, settings in together.told()] == [*asked, asked[1]]
    assert [together.told()[i][1] for i in range(3)] == [s for _, s in one_by_one.told()[:3]]


def test_a_table_is_encoded_and_decoded_at_once(monkeypatch):
    calls = []

    def counted(name):
        whole = getattr(Encoding, name)
        return lambda self, given: calls.append((name, len(given))) or whole(self, given)

    for name in ("encode", "decode"):
        monkeypatch.setattr(Encoding, name, counted(name))
    study = make(MIXED)
    settings = [suggestion.parameters for suggestion in study.ask(30)]
    calls.clear()
    other = make(MIXED)
    other.add([{**row, "value": 1.0} for row in settings])
    study.tell(0, 2.0)
    study.tell(1, 3.0)
    study.told()
    assert [call for call in calls if call[1]] == [("encode", 30), ("decode", 2)]


@pytest.mark.parametrize("head", ["Gain", "gain (dB)", "GAIN_", "gian"])
def test_a_column_that_is_nearly_called_like_a_parameter_is_named(written, head):
    study = make()
    with pytest.raises(InvalidInputError, match=f"none 'gain', but '{re.escape(head)}' is there"):
        study.add(written(f"{head},angle,value\n1,0,2\n"))
    assert study.status().n_told == 0


def test_columns_that_mean_nothing_are_left_out_and_named(written):
    study = make()
    with pytest.warns(BoringWarning, match=r"\['operator', 'room'\], which were left out"):
        study.add(written("room,gain,angle,operator,value\nb,1,0,me,2\n"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        study.add(written("number,gain,angle,value,status,error,phase,seconds\n0,2,0,2,ok,,,\n"))
    assert study.status().n_told == 2


def test_constraints_of_another_study_are_not_dropped_without_a_word(tmp_path):
    with Study(SPACE, direction="minimize", path=tmp_path / "a.jsonl", n_constraints=2) as limited:
        limited.tell({"gain": 1.0, "angle": 0.0}, 0.0, [-1.0, 5.0])
    for data in (limited, limited.path):
        study = make()
        with pytest.warns(BoringWarning, match=r"'constraint_1', 'constraint_2'.* left out"):
            assert study.add(data) == 1
    one = Study(SPACE, direction="minimize", n_constraints=1)
    with pytest.warns(BoringWarning, match=r"\['constraint_2'\], which were left out"):
        one.add(limited)


def test_units_that_differ_are_refused_and_a_table_has_none():
    metres = make([Real("pos", 0, 1, unit="m"), Real("angle", 0, 1)])
    metres.tell({"pos": 0.5, "angle": 0.5}, 1.0)
    study = make([Real("pos", 0, 1000, unit="mm"), Real("angle", 0, 1, unit="deg")])
    with pytest.raises(InvalidInputError, match=r"'pos' is in 'mm' here and in 'm' there.*table"):
        study.add(metres)
    assert study.status().n_told == 0
    study.add(metres.to_dataframe().assign(pos=lambda table: table["pos"] * 1000))
    assert study.rows()[0]["pos"] == 500.0


@pytest.mark.parametrize(
    "value", [2 + 3j, np.complex128(2 + 3j), np.array(1j), np.timedelta64(3, "s"), b"3", object()]
)
@pytest.mark.parametrize("column", ["value", "constraint_1"])
def test_what_is_no_real_number_is_refused_as_tell_does(value, column):
    study = Study(SPACE, direction="minimize", n_constraints=1)
    row = {**ROWS[0], "constraint_1": -1.0, column: value}
    for data in ([row], pd.DataFrame([row])):
        with pytest.raises(InvalidInputError, match=rf"Row 0 of the data: {column} must"):
            study.add(data)
    assert study.status().n_told == 0


@pytest.mark.parametrize("kind", [int, np.float32, Decimal, Fraction, np.array, np.bool_])
def test_numbers_of_any_kind_are_taken_as_tell_does(kind):
    study = make()
    study.add([{**ROWS[0], "value": kind(1)}])
    assert study.rows()[0]["value"] == 1.0


def test_what_is_filled_in_may_not_be_a_series():
    with pytest.raises(InvalidInputError, match="fill must be a dict"):
        make().add([{"gain": 1.0, "value": 1.0}], fill=pd.Series({"angle": 0.0}))
