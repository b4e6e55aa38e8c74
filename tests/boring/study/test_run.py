"""Runs of a study: here, in threads, in processes that die, on Dask."""

import os
import signal
import sys
import threading
import time
from concurrent.futures import (
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from contextlib import nullcontext, suppress
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from boring.exceptions import (
    EvaluationError,
    InvalidInputError,
    JournalError,
    NonFiniteWarning,
)
from boring.parameters import ParameterSpace, Real
from boring.stopping import ExpectedImprovementBelow, Target
from boring.study import Study

SPACE = {"a": (0.0, 1.0), "b": (-1.0, 1.0)}


def make(path=None, **options):
    options = {"direction": "minimize", "seed": 0, "n_initial": 100, **options}
    return Study(SPACE, path=path, **options)


def loss(parameters):
    return parameters["a"] ** 2 + parameters["b"] ** 2


def die_once(folder, parameters):
    """Kill the worker the first time that a point of the upper half is tried."""
    mark = folder / f"{parameters['a']:.17g}"
    time.sleep(0.02)
    if parameters["b"] > 0.0 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return loss(parameters)


def die_first(folder, parameters):
    """Kill the first worker that comes here."""
    try:
        (folder / "died").touch(exist_ok=False)
    except FileExistsError:
        return loss(parameters)
    os.kill(os.getpid(), signal.SIGKILL)


def die_of(limit, parameters):
    if parameters["b"] > limit:
        os.kill(os.getpid(), signal.SIGKILL)
    return loss(parameters)


def check_values(study):
    """Every value stands at its own parameters, and no number has two."""
    numbers = [row["number"] for row in study.rows()]
    assert len(set(numbers)) == len(numbers)
    for row in study.rows():
        if row["status"] == "ok":
            assert row["value"] == loss(row)


@pytest.mark.parametrize("how", ["here", "workers", "threads", "factory"])
def test_as_many_values_as_wanted_each_once(how):
    study = make()
    with ThreadPoolExecutor(3) as pool:
        options = {
            "here": {},
            "workers": {"workers": 3},
            "threads": {"executor": pool},
            "factory": {"executor": partial(ThreadPoolExecutor, 2)},
        }[how]
        status = study.run(loss, 9, **options)
    assert status.n_told == 9
    assert status.outstanding == ()
    assert status.stop_reason == {"n_evaluations": 9.0}
    check_values(study)


def test_a_free_worker_does_not_wait_for_a_slow_one():
    study, lock, slow = make(), threading.Lock(), threading.Event()

    def fun(parameters):
        with lock:
            is_first = not fun.called
            fun.called = True
        if is_first:
            assert slow.wait(20.0)  # Until all others are told.
        return loss(parameters)

    fun.called = False

    def callback(study, number):
        if study.status().n_told == 7:
            slow.set()

    study.run(fun, 8, workers=2, callback=callback)
    assert [row["number"] for row in study.rows()] == [1, 2, 3, 4, 5, 6, 7, 0]


def test_what_was_outstanding_is_evaluated_first_and_counts():
    study = make()
    left = [s.number for s in study.ask(3)]
    study.run(loss, 2)
    assert [row["number"] for row in study.rows()] == left[:2]
    study.run(loss, 2)
    assert [row["number"] for row in study.rows()] == [0, 1, 2, 3]


def test_exceptions_are_recorded_or_raised():
    def fun(parameters):
        if parameters["b"] > 0.0:
            raise RuntimeError("too hot")
        return loss(parameters)

    study = make()
    status = study.run(fun, 8)
    assert 0 < status.n_failed < 8
    failed = next(row for row in study.rows() if row["status"] == "failed")
    assert failed["error"] == "RuntimeError: too hot"
    other = make()
    with pytest.raises(EvaluationError, match="too hot"):
        other.run(fun, 8, workers=2, on_error="raise")
    assert other.status().n_failed == 0
    assert len(other.outstanding) >= 1
    check_values(other)


@pytest.mark.parametrize("wrong", [None, "1.0", [1.0, 2.0]])
def test_what_is_no_number_ends_the_run(wrong):
    study = make()
    with pytest.raises(EvaluationError, match="must return numbers"):
        study.run(lambda parameters: wrong, 3)
    assert study.status().n_told == 0


def test_constraints_come_with_the_value():
    study = make(n_constraints=1)
    study.run(lambda p: (loss(p), [p["a"] - 0.5]), 6, workers=2)
    assert study.status().n_infeasible > 0
    assert study.best["parameters"]["a"] <= 0.5
    with pytest.raises(EvaluationError, match="1 constraints in place of 2"):
        make(n_constraints=2).run(lambda p: (loss(p), [1.0]), 1)


def test_reasons_to_stop():
    study = make()
    status = study.run(loss, 50, stopping=Target(1.0))
    assert set(status.stop_reason) == {"target"}
    assert study.run(loss, 5, callback=lambda study, number: True).stop_reason["callback"] >= 0
    flat = make(n_initial=3)
    status = flat.run(loss, 40, stopping=ExpectedImprovementBelow(1e3, every=1, n_min=4))
    assert set(status.stop_reason) == {"expected_improvement"}
    assert status.n_told == 4


@pytest.mark.parametrize("workers", [1, 2])
def test_a_long_evaluation_fails_and_the_run_goes_on(workers):
    study, release = make(), threading.Event()

    def fun(parameters):
        if not fun.called:
            fun.called = True
            release.wait(20.0)
        return loss(parameters)

    fun.called = False
    try:
        status = study.run(fun, 4, workers=workers, timeout=0.2)
    finally:
        release.set()
    assert (status.n_told, status.n_failed) == (4, 1)
    assert "longer than 0.2 s" in next(row["error"] for row in study.rows() if row["error"])


def swallow(parameters):
    """Take .3 seconds, come what may."""
    end = time.perf_counter() + 0.3
    while time.perf_counter() < end:
        with suppress(Exception):
            time.sleep(max(0.0, end - time.perf_counter()))
    return loss(parameters)


def run_in_a_thread(study, *args, **options):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(study.run, *args, **options).result()


@pytest.mark.parametrize("on_error", ["record", "raise"])
@pytest.mark.parametrize("how", ["here", "in a thread", "threads", "processes"])
def test_a_value_that_comes_after_its_time_is_a_failure_wherever_it_was_computed(how, on_error):
    study = make()
    options = {
        "threads": {"workers": 2},
        "processes": {"executor": partial(ProcessPoolExecutor, 2)},
    }
    run = partial(run_in_a_thread, study) if how == "in a thread" else study.run
    status = run(swallow, 2, timeout=0.1, on_error=on_error, **options.get(how, {}))
    assert (status.n_told, status.n_failed) == (2, 2)
    for row in study.rows():
        assert row["error"] == "TimeoutError: the evaluation took longer than 0.1 s"
        assert row["seconds"] >= 0.3


def test_an_evaluation_that_is_interrupted_in_time_is_a_failure_whatever_on_error_says():
    study = make()
    status = study.run(lambda p: time.sleep(20.0), 1, timeout=0.1, on_error="raise")
    assert (status.n_told, status.n_failed) == (1, 1)


def test_a_late_value_is_not_told_after_an_interruption():
    study, both = make(), threading.Barrier(2)

    def fun(parameters):
        both.wait(20.0)
        time.sleep(0.2)
        return loss(parameters)

    def callback(study, number):
        time.sleep(0.3)  # The other one ends meanwhile.
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        study.run(fun, 2, workers=2, timeout=0.1, callback=callback)
    assert all(row["status"] == "failed" for row in study.rows())


def test_an_interruption_loses_nothing_that_was_told(tmp_path):
    study = make(tmp_path / "run.jsonl")

    def callback(study, number):
        if study.status().n_told == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        study.run(loss, 9, workers=2, callback=callback)
    study.close()
    with Study.open(study.path) as study:
        left = study.status()
        assert left.n_told >= 3
        assert left.n_told + len(left.outstanding) <= 5, "two were under way at most"
        study.run(loss, 9 - left.n_told)
        assert study.status().n_told == 9
        check_values(study)


def test_processes_whose_worker_is_killed_lose_no_innocent_value(tmp_path):
    study = make()
    with ProcessPoolExecutor(2) as pool:
        status = study.run(partial(die_once, tmp_path), 6, executor=pool, retries=1)
    assert (status.n_told, status.n_failed) == (6, 0)
    assert any(tmp_path.iterdir())  # It did die.
    check_values(study)


def test_processes_whose_worker_is_killed_every_time_fail_alone():
    study = make()
    with ProcessPoolExecutor(2) as pool:
        status = study.run(partial(die_of, 0.3), 6, executor=pool)
    assert status.n_told == 6
    assert 0 < status.n_failed < 6
    for row in study.rows():
        assert (row["status"] == "failed") == (row["b"] > 0.3)
        assert row["status"] == "ok" or "worker died" in row["error"]


class Breaking(Executor):
    """Evaluates at once; of the number given the worker dies, which shows at the next submit."""

    _max_workers = 2

    def __init__(self, deadly, seen):
        self.deadly, self.seen, self.dying = deadly, seen, None

    def submit(self, fn, *args):
        parameters = args[1]
        if parameters not in self.seen:
            self.seen.append(parameters)
        future = Future()
        if self.dying is not None:
            if not self.dying.done():
                self.dying.set_exception(BrokenExecutor("a worker died"))
            raise BrokenExecutor("a worker died")
        if self.seen.index(parameters) == self.deadly:
            self.dying = future
        else:
            future.set_result(fn(*args))
        return future

    def shutdown(self, wait=True, *, cancel_futures=False):
        if self.dying is not None and not self.dying.done():
            self.dying.set_exception(BrokenExecutor("a worker died"))


def test_what_a_broken_pool_refuses_did_not_break_it():
    study, seen = make(), []
    status = study.run(loss, 5, executor=lambda: Breaking(2, seen))
    assert (status.n_told, status.n_failed) == (5, 1)
    failed = [row["number"] for row in study.rows() if row["status"] == "failed"]
    assert failed == [2]
    check_values(study)


def test_a_pool_that_was_broken_before_the_run_is_replaced():
    study = make()
    with ProcessPoolExecutor(1) as pool:
        with suppress(BrokenExecutor):
            pool.submit(os._exit, 3).result()
        status = study.run(loss, 2, executor=pool)
    assert (status.n_told, status.n_failed) == (2, 0)


def test_functions_that_cannot_travel_are_refused_before_anything_is_asked():
    study = make()
    with (
        ProcessPoolExecutor(1) as pool,
        pytest.raises(InvalidInputError, match="top level of a module"),
    ):
        study.run(lambda parameters: 1.0, 3, executor=pool)
    assert study.outstanding == []


class Backwards(Executor):
    """Evaluates at once, but answers only when three are there, the last one first."""

    _max_workers = 3

    def __init__(self):
        self.waiting = []

    def submit(self, fn, *args):
        future = Future()
        self.waiting.append((future, partial(fn, *args)))
        if len(self.waiting) == 3:
            for future_, call in reversed(self.waiting):
                future_.set_result(call())
            self.waiting = []
        return future


def test_any_executor_will_do():
    study = make()
    assert study.run(loss, 6, executor=Backwards()).n_told == 6
    check_values(study)


def test_a_disk_that_is_full_for_a_while_costs_nothing(tmp_path, monkeypatch):
    study = make(tmp_path / "run.jsonl")
    real, failures = os.write, []

    def write(descriptor, data):
        n_told = study.status().n_told
        if n_told in (3, 5) and n_told not in failures:  # full again at once would end the run
            failures.append(n_told)
            raise OSError(28, "No space left on device")
        return real(descriptor, data)

    monkeypatch.setattr(os, "write", write)
    assert study.run(loss, 8, workers=2).n_told == 8
    assert failures == [3, 5]
    study.close()
    assert Study.open(study.path, read_only=True).status().n_told == 8
    check_values(study)


def test_a_disk_that_stays_full_ends_the_run_and_keeps_what_was_under_way(tmp_path, monkeypatch):
    study = make(tmp_path / "run.jsonl")
    real = os.write

    def write(descriptor, data):
        if study.status().n_told >= 3:
            raise OSError(28, "No space left on device")
        return real(descriptor, data)

    monkeypatch.setattr(os, "write", write)
    with pytest.raises(JournalError, match="No space left"):
        study.run(loss, 8, workers=2)
    n_told = study.status().n_told
    assert n_told >= 3
    monkeypatch.undo()
    study.close()
    assert Study.open(study.path, read_only=True).status().n_told == n_told


def test_arguments_that_make_no_sense_are_refused():
    study = make()
    with pytest.raises(InvalidInputError, match="executor must be"):
        study.run(loss, 1, executor=3)
    with pytest.raises(InvalidInputError, match="timeout"):
        study.run(loss, 1, timeout=0.0)
    with pytest.raises(InvalidInputError, match="on_error"):
        study.run(loss, 1, on_error="ignore")
    with pytest.raises(InvalidInputError, match="fun must be callable"):
        study.run(1.0, 1)
    with pytest.raises(InvalidInputError, match="callback must be callable; received int"):
        study.run(loss, 1, callback=3)
    with pytest.raises(InvalidInputError, match=r"called as callback\(study, number\); .*\(one\)"):
        study.run(loss, 1, callback=lambda one: None)
    assert study.status().n_told == 0


def test_a_dask_cluster_that_loses_a_worker(tmp_path):
    distributed = pytest.importorskip("distributed")
    import dask

    settings = {
        "distributed.scheduler.allowed-failures": 0,
        "distributed.worker.daemon": True,
        "distributed.admin.tick.limit": "60s",
    }
    with (
        dask.config.set(settings),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            silence_logs="CRITICAL",
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        study = make()
        status = study.run(partial(die_first, tmp_path), 6, executor=client, retries=3)
    assert (status.n_told, status.n_failed) == (6, 0)
    assert any(tmp_path.iterdir())
    check_values(study)


def end_program(code, limit, parameters):
    if parameters["b"] > limit:
        sys.exit(code)
    return loss(parameters)


@pytest.mark.parametrize(("code", "told"), [(None, None), (3, 3), (["x"], "SystemExit: ['x']")])
@pytest.mark.parametrize("how", ["here", "threads", "processes"])
def test_an_exit_of_the_objective_ends_the_program_and_keeps_the_values(how, code, told):
    executors = {
        "here": nullcontext,
        "threads": partial(ThreadPoolExecutor, 2),
        "processes": partial(ProcessPoolExecutor, 2),
    }
    study = make()
    with executors[how]() as pool, pytest.raises(SystemExit) as ended:
        study.run(partial(end_program, code, 0.3), 50, executor=pool, retries=1)
    assert ended.value.code == told
    status = study.status()
    assert status.n_failed == 0
    assert any(suggestion.parameters["b"] > 0.3 for suggestion in study.outstanding)
    assert study.run(loss, 50 - status.n_told).n_told == 50
    check_values(study)


def test_integers_beyond_floats_and_errors_without_a_text_are_outcomes():
    class MuteError(Exception):
        def __str__(self):
            raise RuntimeError("no words")

    def strange(parameters):
        if len(returned) < 2:
            returned.append(10**400 * (-1) ** len(returned))
            return returned[-1]
        raise MuteError

    returned = []
    study = make()
    with pytest.warns(NonFiniteWarning, match="all 3 of this run failed"):
        study.run(strange, 3)
    rows = study.rows()
    assert [row["value"] for row in rows[:2]] == [float("inf"), float("-inf")]
    assert rows[2]["error"] == "MuteError: (it has no text)"
    assert study.status().n_failed == 3


def test_a_study_that_is_done_runs_the_rest_of_its_budget_which_is_none(tmp_path):
    def loss(parameters):
        return parameters["gain"] ** 2

    budget, path = 3, tmp_path / "study.jsonl"
    knobs = ParameterSpace([Real("gain", -1.0, 1.0)])
    with Study(knobs, direction="minimize", path=path, seed=0) as study:
        study.run(loss, budget)
    study = Study.open(path)
    status = study.run(loss, budget - study.status().n_told)
    assert status.n_told == budget
    assert status.stop_reason == {"n_evaluations": 3.0}
    with pytest.raises(InvalidInputError, match="n_evaluations must be an integer of at least 0"):
        study.run(loss, -1)


@pytest.mark.parametrize("timeout", [np.float32(60.0), Fraction(60), 1e300])
def test_a_limit_of_time_may_be_any_number(timeout):
    study = make()
    assert study.run(loss, 2, timeout=timeout, progress=False).n_failed == 0
