import json
from dataclasses import fields, replace

import numpy as np
import pytest

from boring.exceptions import JournalWarning
from experiments.records import (
    ADDED_FIELDS,
    RecordError,
    RunRecord,
    append_record,
    latest,
    open_for_append,
    read_records,
    to_jsonable,
)


def test_round_trip_is_exact(record):
    awkward = replace(
        record, y=(0.1 + 0.2, 1e-300, -0.0, 3.0), seed=2**60, error='Traceback\n"x"\n'
    )
    assert RunRecord.from_line(awkward.to_line()) == awkward


def test_a_line_is_strict_json_even_with_non_finite_numbers(record):
    special = replace(record, y=(float("nan"), float("inf"), float("-inf"), 1.0))
    line = special.to_line()
    assert "\n" not in line

    def refuse(constant):
        raise AssertionError(f"{constant} is not JSON")

    json.loads(line, parse_constant=refuse)
    back = RunRecord.from_line(line)
    assert np.isnan(back.y[0])
    assert back.y[1:] == (np.inf, -np.inf, 1.0)


def test_missing_parts_stay_none(record):
    bare = replace(
        record,
        basis=None,
        true_basis=None,
        largest_angle_degrees=None,
        optimum=None,
        simple_regret=None,
        x_best=None,
        y_best=None,
        importance=None,
        trusted=None,
    )
    assert RunRecord.from_line(bare.to_line()) == bare


def test_to_jsonable_converts_arrays_and_dataclasses(record):
    assert to_jsonable({"a": np.arange(2), "b": np.float64(np.inf), "c": np.bool_(True)}) == {
        "a": [0, 1],
        "b": "Infinity",
        "c": True,
    }
    assert set(to_jsonable(record)) == {entry.name for entry in fields(record)}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("nonsense", "JSON"),
        ("[1]", "object"),
        ('{"a": 1}', "schema"),
        ('{"schema": 99}', "schema version 99"),
        ('{"schema": 1, "method": "boring"}', "known fields"),
    ],
)
def test_foreign_lines_are_refused_with_file_and_line(tmp_path, record, line, message):
    path = tmp_path / "x.jsonl"
    path.write_text(record.to_line() + "\n" + line + "\n")
    with pytest.raises(RecordError, match=message) as caught:
        read_records(path)
    assert "line 2" in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_missing_file_is_an_error_that_names_it(tmp_path):
    with pytest.raises(RecordError, match=r"nowhere\.jsonl"):
        read_records(tmp_path / "nowhere.jsonl")


@pytest.mark.parametrize("cut", [1, 2, 40])
def test_a_torn_last_line_is_left_out_and_cut_off_before_appending(tmp_path, record, cut):
    path = tmp_path / "x.jsonl"
    append_record(path, record)
    append_record(path, replace(record, seed=1))
    path.write_bytes(path.read_bytes()[:-cut])
    with pytest.warns(JournalWarning, match="torn"):
        assert read_records(path) == (record,)
    with pytest.warns(JournalWarning, match="torn"):
        assert open_for_append(path) == (record,)
    append_record(path, replace(record, seed=2))
    assert [entry.seed for entry in read_records(path)] == [0, 2]


def test_opening_makes_the_folder_and_an_empty_file(tmp_path):
    path = tmp_path / "a" / "b" / "x.jsonl"
    assert open_for_append(path) == ()
    assert path.read_bytes() == b""


def test_the_latest_record_of_a_run_counts(record):
    failed = replace(record, status="failed", error="boom")
    other = replace(record, seed=1)
    assert latest([failed, other, record]) == (record, other)


def test_lines_of_the_first_version_are_read_without_the_fields_added_since(record):
    content = json.loads(replace(record, peak_memory_mib=12.5).to_line())
    assert content["schema"] == 3
    content |= {"value": content["y"], "simple_regret": record.simple_regret}
    for name in ADDED_FIELDS[3]:
        del content[name]
    assert RunRecord.from_line(json.dumps({**content, "schema": 2})).peak_memory_mib == 12.5
    del content["peak_memory_mib"]
    for version, missing in ((3, "learned_dim"), (2, "peak_memory_mib")):
        with pytest.raises(RecordError, match=missing):
            RunRecord.from_line(json.dumps({**content, "schema": version}))
    old = RunRecord.from_line(json.dumps({**content, "schema": 1}))
    assert old == record
    assert old.peak_memory_mib is None
