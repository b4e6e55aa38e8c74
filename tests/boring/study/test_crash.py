"""Runs that are killed, and disks that are full: no value that was told is lost."""

import os
import random
import signal
import subprocess
import sys
import time
import warnings
from contextlib import suppress
from pathlib import Path

import pytest

import baselines  # noqa: F401
from boring.exceptions import JournalError, JournalWarning
from boring.parameters import Categorical, ParameterSpace, Real
from boring.study import Study

ROOT = Path(__file__).resolve().parents[3]

RUN = """
import os, sys, time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from boring.study import Study

def fun(folder, parameters):
    with open(folder + "/workers", "a") as file:
        file.write(f"{os.getpid()}\\n")
    time.sleep(0.02)
    return parameters["a"] + parameters["b"]

def callback(study, number):
    value = next(row["value"] for row in reversed(study.rows()) if row["number"] == number)
    with open(sys.argv[1] + "/told", "a") as file:
        file.write(f"{number} {value!r}\\n")

path = sys.argv[1] + "/run.jsonl"
if __name__ == "__main__":
    if os.path.exists(path):
        study = Study.open(path)
    else:
        space = {"a": (0.0, 1.0), "b": (0.0, 1.0)}
        study = Study(space, direction="minimize", path=path, seed=0, n_initial=10000)
    with ProcessPoolExecutor(4) as pool:
        study.run(partial(fun, sys.argv[1]), int(sys.argv[2]), executor=pool, callback=callback)
"""


def start(folder, n):
    script = folder / "run.py"
    script.write_text(RUN)
    return subprocess.Popen(
        [sys.executable, str(script), str(folder), str(n)],
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "BORING_PROGRESS": "0"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def end_workers(folder):
    """End the workers of a killed run, which hang about without their parent."""
    for line in set((folder / "workers").read_text().split()):
        with suppress(ProcessLookupError, PermissionError):
            os.kill(int(line), signal.SIGKILL)


def told(folder):
    path = folder / "told"
    lines = path.read_text().splitlines() if path.exists() else []
    # The kill may tear the last line of this log, too.
    whole = [line.split() for line in lines if len(line.split()) == 2]
    return {int(number): value for number, value in whole[:-1]} if whole else {}


@pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
def test_no_told_value_is_lost_when_a_run_of_four_workers_is_killed(tmp_path):
    rng = random.Random(0)
    path = tmp_path / "run.jsonl"
    n_before = 0
    for _ in range(2):
        process = start(tmp_path, 10000)
        while len(told(tmp_path)) < n_before + 10:
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.01)
        time.sleep(rng.uniform(0.0, 0.1))
        process.kill()
        process.wait()
        process.stderr.close()
        # Workers that outlive their parent do not keep the study locked, and a torn line is mended.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", JournalWarning)
            Study.open(path, wait=5.0).close()
        end_workers(tmp_path)
        study = Study.open(path, read_only=True)
        rows = {row["number"]: row for row in study.rows()}
        assert len(rows) == study.status().n_told
        for number, value in told(tmp_path).items():
            assert repr(rows[number]["value"]) == value
        assert all(row["value"] == row["a"] + row["b"] for row in rows.values())
        outstanding = study.status().outstanding
        assert len(outstanding) <= 5
        n_before = len(rows)
    process = start(tmp_path, 8)
    assert process.wait(timeout=120) == 0, process.stderr.read()
    process.stderr.close()
    after = Study.open(path, read_only=True)
    assert after.status().n_told == n_before + 8
    numbers = [row["number"] for row in after.rows()]
    assert len(set(numbers)) == len(numbers)
    assert set(outstanding) <= set(numbers[n_before:])
    assert after.status().outstanding == ()


LIMITED = """
import resource, signal, sys
from boring.exceptions import JournalError
from boring.study import Study

def allow(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
study = Study({"a": (0.0, 1.0)}, direction="minimize", path=sys.argv[1], seed=0, n_initial=100)
n_told, is_full = 0, False
while not is_full:
    number = study.ask()[0].number
    allow(3000)
    try:
        study.tell(number, float(number))
    except JournalError as error:
        assert "cannot be written" in str(error), error
        is_full = True
    n_told += 1
    allow(resource.RLIM_INFINITY)
assert study.status().n_told == n_told
study.close()
print(n_told)
"""


@pytest.mark.skipif(os.name != "posix", reason="needs limits of file sizes")
def test_a_file_that_may_not_grow_is_a_full_disk(tmp_path):
    path = tmp_path / "run.jsonl"
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(path)],
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    n_told = int(done.stdout)
    rows = Study.open(path, read_only=True).rows()
    assert n_told >= 3
    assert [row["value"] for row in rows] == [float(number) for number in range(n_told)]


def test_a_file_cut_anywhere_opens_with_every_value_before_the_cut(tmp_path):
    path, cut = tmp_path / "run.jsonl", tmp_path / "cut.jsonl"
    space = ParameterSpace([Real("a", 0.0, 1.0), Categorical("b", ["x", "é", None])])
    with Study(
        space, direction="minimize", path=path, optimizer="sobol", seed=0, n_constraints=1
    ) as study:
        for suggestion in study.ask(3):
            study.tell(suggestion.number, float(suggestion.number), [-1.0])
        study.withdraw(study.ask()[0].number)
        study.tell_failed({"a": 0.5, "b": "é"}, "it brøke")
        rows = study.rows()
    content = path.read_bytes()
    ends = [i for i, byte in enumerate(content) if byte == ord("\n")]
    tells = [line.startswith(b'{"event":"tell"') for line in content.splitlines()]
    assert sum(tells) == len(rows) == 4
    # Around every end of a line and every byte of a letter outside ASCII; elsewhere some sizes.
    sizes = {*range(0, len(content), 4), *range(0, len(content), 13), len(content)}
    for i, byte in enumerate(content):
        if byte == ord("\n") or byte > 127:
            sizes |= {*range(i - 2, min(i + 3, len(content)))}
    for size in sorted(sizes):
        cut.write_bytes(content[:size])
        # A line is whole with its last brace.
        n_lines = sum(end <= size for end in ends)
        if not n_lines:
            with pytest.raises(JournalError, match="must begin with a whole line"):
                Study.open(cut, read_only=True)
            continue
        wanted = repr(rows[: sum(tells[:n_lines])])
        assert repr(Study.open(cut, read_only=True).rows()) == wanted
        assert cut.read_bytes() == content[:size]
        if size % 13 and min(abs(size - end) for end in ends) > 1:
            continue
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with Study.open(cut) as study:
                assert repr(study.rows()) == wanted
        is_torn = size not in ends and size - 1 not in ends
        assert [w.category for w in caught] == [JournalWarning] * is_torn
        assert cut.read_bytes() == content[: ends[n_lines - 1] + 1]


def test_a_new_study_takes_the_place_of_one_that_never_began(tmp_path):
    path = tmp_path / "run.jsonl"
    for beginning in (b"", b'{"format":"boring-journal","sch'):
        path.write_bytes(beginning)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", JournalWarning)
            Study({"a": (0.0, 1.0)}, direction="minimize", path=path, seed=0).close()
        assert Study.open(path, read_only=True).status().n_told == 0
        path.unlink()
