from __future__ import annotations

from dataclasses import dataclass

from experiments.lines import append_line, read_cells, read_lines, run_missing


@dataclass(frozen=True)
class Run:
    name: str
    seed: int

    @property
    def key(self):
        return (self.name, self.seed)


def record_of(run):
    return {"run": list(run.key), "value": run.seed**2}


def test_a_torn_line_is_left_out_and_closed_by_the_next_record(tmp_path):
    path = tmp_path / "lines.jsonl"
    assert read_lines(path) == []
    append_line(path, {"a": 1})
    with path.open("a") as file:
        file.write('{"a": 2')
    assert read_lines(path) == [{"a": 1}]
    append_line(path, {"a": 3})
    assert read_lines(path) == [{"a": 1}, {"a": 3}]


def test_the_later_record_of_a_cell_counts(tmp_path):
    path = tmp_path / "cells.jsonl"
    for value in (1, 2):
        append_line(path, {"cell": "c", "seed": 0, "method": "m", "value": value})
    assert read_cells(path)["c", 0, "m"]["value"] == 2


def test_only_missing_runs_are_made(tmp_path):
    path = tmp_path / "folder" / "runs.jsonl"
    made = []

    def make(run):
        made.append(run.key)
        return record_of(run)

    wanted = [Run("a", 1), Run("a", 2)]
    assert len(run_missing(make, wanted, 1, path)) == 2
    records = run_missing(make, [*wanted, Run("b", 3)], 1, path)
    assert made == [("a", 1), ("a", 2), ("b", 3)]
    assert sorted(record["value"] for record in records) == [1, 4, 9]
    assert read_lines(path) == records
