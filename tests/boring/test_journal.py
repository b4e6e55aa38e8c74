import json
import os
import warnings

import numpy as np
import pytest

from boring.exceptions import (
    BoringError,
    InvalidInputError,
    JournalError,
    JournalWarning,
    NonFiniteWarning,
)
from boring.journal import journal_exists, read_journal
from boring.optimizer import Optimizer
from boring.proposal import Proposal
from boring.space import Box

BOX = Box([0.0, -5.0], [1.0, 5.0])


class Wanderer(Optimizer):
    """Random proposals that carry some memory."""

    name = "wanderer"

    def _propose(self, context):
        x = context.rng.uniform(-1, 1, 2)
        return Proposal(x, {"last": x, "n": len(context.data)}, {"norm": float(x @ x)})


def wanderer(**changes):
    return Wanderer(BOX, **{"direction": "minimize", "n_initial": 2, "seed": 0, **changes})


def bowl(x):
    return float((x[0] - 0.3) ** 2 + x[1] ** 2)


def drive(optimizer, n):
    for _ in range(n):
        x = optimizer.ask()[0]
        optimizer.tell(x, bowl(x))
    return optimizer


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.jsonl"


def test_lines_are_strict_json_and_on_disk_at_once(path):
    optimizer = wanderer().start_journal(path)
    counts = []
    for y in (1.0, float("nan"), float("inf"), -float("inf")):
        x = optimizer.ask()[0]
        counts.append(path.read_text().count("\n"))
        if np.isfinite(y):
            optimizer.tell(x, y)
        else:
            with pytest.warns(NonFiniteWarning):
                optimizer.tell(x, y)
        counts.append(path.read_text().count("\n"))
    assert counts == [2, 3, 4, 5, 6, 7, 8, 9]

    def refuse(constant):
        raise AssertionError(f"{constant} is not strict JSON")

    lines = [json.loads(line, parse_constant=refuse) for line in path.read_text().splitlines()]
    header, events = lines[0], lines[1:]
    assert header["format"] == "boring-journal"
    assert header["schema"] == 1
    assert header["optimizer"] == "wanderer"
    assert header["entropy"] == "0"
    assert header["space"] == {"lower": [0.0, -5.0], "upper": [1.0, 5.0]}
    assert [event["y"] for event in events if event["event"] == "tell"] == [
        1.0,
        "nan",
        "inf",
        "-inf",
    ]
    assert Wanderer.resume(path).state() == optimizer.state()


def test_resume_at_every_event_equals_the_whole_run(path):
    whole = drive(wanderer(), 6).state()
    content = drive(wanderer().start_journal(path), 6) and path.read_bytes()
    ends = [i + 1 for i, byte in enumerate(content) if byte == ord("\n")]
    for end in ends:
        path.write_bytes(content[:end])
        resumed = Wanderer.resume(path)
        assert drive(resumed, 6 - resumed.n_told).state() == whole
        assert Wanderer.resume(path).state() == whole


def test_a_torn_last_line_is_removed_and_reported_wherever_it_is_torn(path):
    whole = drive(wanderer(), 4).state()
    drive(wanderer().start_journal(path), 4)
    content = path.read_bytes()
    header_end = content.index(b"\n") + 1
    for end in range(header_end, len(content), 7):
        path.write_bytes(content[:end])
        if content[end - 1 : end + 1].startswith(b"\n") or content[end : end + 1] == b"\n":
            resumed = Wanderer.resume(path)
        else:
            with pytest.warns(JournalWarning, match=r"was torn \(\d+ bytes"):
                resumed = Wanderer.resume(path)
        assert path.read_bytes().endswith(b"\n")
        assert drive(resumed, 4 - resumed.n_told).state() == whole


def test_bytes_that_are_not_text_count_as_torn(path):
    drive(wanderer().start_journal(path), 2)
    with path.open("ab") as file:
        file.write(b"\x00\xff\x00")
    with pytest.warns(JournalWarning):
        assert Wanderer.resume(path).n_told == 2


def test_a_whole_last_line_without_its_end_is_kept(path):
    optimizer = drive(wanderer().start_journal(path), 3)
    path.write_bytes(path.read_bytes()[:-1])
    resumed = Wanderer.resume(path)
    assert resumed.state() == optimizer.state()
    assert drive(resumed, 1).n_told == 4
    assert Wanderer.resume(path).n_told == 4


def _replace_line(path, number, line):
    lines = path.read_bytes().split(b"\n")
    lines[number - 1] = line
    path.write_bytes(b"\n".join(lines))


EVENT = b'{"event":"tell","index":%d,"x":[%s],"y":%s,"ask":%s,"error":null}'


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        (b'{"event":"ask","nu', "must be a JSON object"),
        (b"", "must be a JSON object"),
        (b"[1]", "must be a JSON object"),
        (b"\xff\xfe", "must be a JSON object"),
        (EVENT % (0, b"0.5,0.5", b"NaN", b"null"), "must be a JSON object"),
        (b'{"event":"rest"}', "unknown kind 'rest'"),
        (b'{"event":"tell","index":0}', "the field 'x' is missing"),
        (EVENT % (7, b"0.5,0.5", b"1.0", b"null"), "tell 7 where tell 0 is due"),
        (EVENT % (0, b"0.5", b"1.0", b"null"), "a point that is not 2 finite numbers"),
        (EVENT % (0, b'0.5,"nan"', b"1.0", b"null"), "a point that is not 2 finite numbers"),
        (EVENT % (0, b"0.5,0.5", b'"low"', b"null"), "'low' is not a number"),
        (EVENT % (0, b"0.5,0.5", b"true", b"null"), "True is not a number"),
        (EVENT % (0, b"0.5,0.5", b"1" + b"0" * 400, b"null"), "integer beyond float64"),
        (EVENT % (0, b"0.5,0.5", b"1.0", b"5"), "a tell of ask 5, which is not pending"),
        (EVENT % (0, b"0.5,7.5", b"1.0", b"null"), "outside the box"),
        (EVENT % (0, b"0.5,0.5", b"1.0", b"0"), "a tell of ask 0 at another point"),
    ],
)
def test_a_corrupt_line_is_named_and_the_file_left_alone(path, line, rule):
    drive(wanderer().start_journal(path), 4)
    _replace_line(path, 3, line)
    before = path.read_bytes()
    with pytest.raises(JournalError, match=rf"(?s)Line 3 of the journal .*{rule}.*Restore"):
        Wanderer.resume(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "content",
    [
        b"x,y\n1,2\n",
        b"\x89PNG\r\n\x1a\n\x00\x00",
        b'{"format": "else"}\n',
        b"dear diary",
        b"\n",
        b'{"format":"boring-journalist"}',
    ],
)
def test_foreign_files_are_refused_and_left_alone(path, content):
    path.write_bytes(content)
    for act in (lambda: Wanderer.resume(path), lambda: wanderer().start_journal(path)):
        with pytest.raises(JournalError):
            act()
        assert path.read_bytes() == content
    with pytest.raises(JournalError, match="Line 1 of a journal must be a header"):
        Wanderer.resume(path)


def test_absent_files_and_directories(path, tmp_path):
    with pytest.raises(JournalError, match="cannot be read"):
        Wanderer.resume(path)
    with pytest.raises(JournalError, match="must be a file"):
        journal_exists(tmp_path)
    with pytest.raises(JournalError, match="cannot be written"):
        wanderer().start_journal(tmp_path / "no" / "such" / "folder.jsonl")


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"schema": 99}, "must have schema 1 or 2; it has 99"),
        ({"space": {"lower": [0.0], "upper": [0.0]}}, "must hold valid bounds"),
        ({"space": 3}, "must hold valid bounds"),
        ({"direction": "sideways"}, "unknown direction 'sideways'"),
        ({"entropy": "many"}, "must hold the configuration"),
        ({"options": 3}, "must hold the configuration"),
    ],
)
def test_a_wrong_header_is_named(path, change, rule):
    wanderer().start_journal(path)
    header = json.loads(path.read_text())
    path.write_text(json.dumps({**header, **change}, separators=(",", ":")) + "\n")
    with pytest.raises(JournalError, match=f"Line 1 of the journal .*{rule}"):
        Wanderer.resume(path)


def test_a_header_that_lacks_something(path):
    wanderer().start_journal(path)
    header = json.loads(path.read_text())
    del header["entropy"]
    path.write_text(json.dumps(header, separators=(",", ":")) + "\n")
    with pytest.raises(JournalError, match="it lacks entropy"):
        read_journal(path)


def test_a_journal_is_never_overwritten(path):
    drive(wanderer().start_journal(path), 2)
    before = path.read_bytes()
    with pytest.raises(JournalError, match="must not overwrite a file"):
        wanderer().start_journal(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("size", [0, 1, 20, 60])
def test_a_run_killed_before_its_header_was_written_starts_anew(path, size):
    wanderer().start_journal(path)
    path.write_bytes(path.read_bytes()[:size])
    assert not journal_exists(path)
    if size:
        with pytest.warns(JournalWarning):
            optimizer = wanderer().start_journal(path)
    else:
        optimizer = wanderer().start_journal(path)
    drive(optimizer, 2)
    assert Wanderer.resume(path).state() == optimizer.state()


def test_a_journal_may_start_late(path):
    optimizer = drive(wanderer(), 3)
    optimizer.ask(2)
    optimizer.start_journal(path)
    assert Wanderer.resume(path).state() == optimizer.state()
    drive(optimizer, 3)
    assert Wanderer.resume(path).state() == optimizer.state()


def test_a_header_may_hold_more_and_a_read_journal_is_carried_on(path):
    more = {"inputs": ["gain", "angle"], "direction": "maximize"}
    drive(wanderer().start_journal(path, more), 3)
    contents = read_journal(path)
    assert contents.header["inputs"] == more["inputs"]
    assert contents.header["direction"] == "minimize"
    drive(wanderer().continue_journal(contents), 4)
    assert Wanderer.resume(path).state() == drive(wanderer(), 7).state()


def test_what_a_full_disk_refused_is_written_by_flush(path, monkeypatch):
    optimizer = wanderer().start_journal(path)
    x = optimizer.ask()[0]
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", _full_disk)
        with pytest.raises(JournalError, match="cannot be written"):
            optimizer.tell(x, bowl(x))
    assert read_journal(path).history.n_told == 0
    optimizer.flush()
    assert read_journal(path).history.n_told == 1
    wanderer().flush()  # without a journal there is nothing to write


def _full_disk(descriptor, data):
    raise OSError("no space left on device")


def test_two_writers_are_found_out_and_lose_nothing(path):
    first = drive(wanderer().start_journal(path), 2)
    second = drive(Wanderer.resume(path), 1)
    x = first.space.unscale([0.1, 0.2])
    with pytest.raises(JournalError, match="Only one run may write a journal"):
        first.tell(x, 1.0)
    assert first.n_told == 3
    assert Wanderer.resume(path).state() == second.state()


def test_a_removed_journal_is_reported_and_loses_nothing(path):
    optimizer = drive(wanderer().start_journal(path), 2)
    path.unlink()
    with pytest.raises(JournalError, match="cannot be written"):
        optimizer.tell([0.5, 0.5], 1.0)
    assert optimizer.n_told == 3


def test_run_leaves_its_result_on_a_journal_error(path):
    optimizer = wanderer().start_journal(path)

    def fun(x):
        if optimizer.n_told == 3:
            path.unlink()
        return bowl(x)

    with pytest.raises(JournalError) as caught:
        optimizer.run(fun, 6)
    assert caught.value.result.n_evaluations == 4


@pytest.mark.parametrize("cut", [0, 1, 30, None])
def test_an_interrupted_write_is_completed_by_the_next(path, monkeypatch, cut):
    optimizer = drive(wanderer().start_journal(path), 2)
    x = optimizer.ask()[0]
    write = os.write

    def interrupted(descriptor, data):
        write(descriptor, data[:cut])
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "write", interrupted)
    with pytest.raises(KeyboardInterrupt):
        optimizer.tell(x, bowl(x))
    monkeypatch.undo()
    assert optimizer.n_told == 3
    drive(optimizer, 2)
    assert Wanderer.resume(path).state() == optimizer.state() == drive(wanderer(), 5).state()


def test_several_points_told_at_once(path):
    optimizer = wanderer().start_journal(path)
    X = optimizer.ask(4)
    optimizer.tell(X, [bowl(x) for x in X])
    assert Wanderer.resume(path).state() == optimizer.state()


def test_resume_wants_the_right_class(path):
    class Other(Wanderer):
        name = "other"

    wanderer().start_journal(path)
    with pytest.raises(InvalidInputError, match="'wanderer'"):
        Other.resume(path)


def test_random_damage_is_an_error_or_harmless_and_never_spreads(path):
    drive(wanderer().start_journal(path), 3)
    content = path.read_bytes()
    rng = np.random.default_rng(0)
    n_refused = 0
    for _ in range(300):
        damaged = bytearray(content)
        start = int(rng.integers(len(damaged)))
        kind = rng.integers(3)
        if kind == 0:
            damaged[start] = int(rng.integers(256))
        elif kind == 1:
            del damaged[start : start + int(rng.integers(1, 40))]
        else:
            damaged[start:start] = rng.bytes(3)
        path.write_bytes(damaged)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", JournalWarning)
            try:
                Wanderer.resume(path)
            except BoringError:
                n_refused += 1
                assert path.read_bytes() == bytes(damaged)
            else:
                assert bytes(damaged).startswith(path.read_bytes()[:-1])
    assert n_refused > 100
