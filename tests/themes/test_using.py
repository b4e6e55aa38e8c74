"""What users of other libraries ask for around the loop: memory, seeds, tables, pictures."""

import sys
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import boring
from boring import BoringOptimizer, plotting
from boring.exceptions import InvalidInputError
from boring.parameters import Categorical, Integer, Real
from boring.registry import get_optimizer
from boring.study import Study

BOX = [[-1.0, 1.0]] * 3


def sphere(x):
    return float(x @ x)


def test_memory_grows_by_the_evaluation_and_not_by_its_square():
    rng = np.random.default_rng(0)
    optimizer = get_optimizer("random")([[-1.0, 1.0]] * 20, direction="minimize", seed=0)

    def grown(n):
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(n):
            optimizer.tell(optimizer.ask()[0], rng.standard_normal())
        return tracemalloc.get_traced_memory()[0] - before

    tracemalloc.start()
    try:
        grown(20)
        first, second = grown(100), grown(100)
    finally:
        tracemalloc.stop()
    assert second < 1.5 * first
    assert second / 100 < 20 * 1024  # bytes for an evaluation of 20 numbers


def test_many_earlier_evaluations_are_attached_at_once():
    X = np.random.default_rng(0).uniform(-1.0, 1.0, (2000, 10))
    optimizer = BoringOptimizer([[-1.0, 1.0]] * 10, direction="minimize", seed=0)
    tracemalloc.start()
    try:
        optimizer.tell(X, (X**2).sum(axis=1))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 20 * X.nbytes


def test_threads_change_nothing_but_the_order_of_tells():
    """A run of three threads, played again by hand in its order, asks the same points."""
    space = {"a": (-1.0, 1.0), "b": (-1.0, 1.0)}
    study = Study(space, direction="minimize", seed=3, n_initial=4)
    with ThreadPoolExecutor(3) as pool:
        study.run(lambda p: p["a"] ** 2 + p["b"], 10, executor=pool)
    history = study.optimizer.state().history
    again = BoringOptimizer(BOX[:2], direction="minimize", seed=3, n_initial=4)
    for event in history.events:
        if hasattr(event, "y"):
            again.tell(event.x, event.y)
        else:
            assert again.ask(len(again.pending) + 1)[-1] == pytest.approx(event.x, abs=1e-12)


def test_the_best_of_a_maximisation_is_the_largest_in_the_users_sign():
    result = boring.maximize(lambda x: 5.0 - sphere(x), BOX, 8, seed=0)
    assert result.y_best == result.y.max() == result.best_so_far()[-1]
    study = Study({"a": (0.0, 1.0)}, direction="maximize", seed=0)
    for value in (3.0, -7.0, 5.0, 4.0):
        study.tell(study.ask()[0].number, value)
    assert study.best["value"] == 5.0
    with pytest.raises(TypeError, match="direction"):
        Study({"a": (0.0, 1.0)})


def test_rounded_parameters_are_not_suggested_twice():
    space = [Integer("n", 1, 3), Categorical("kind", ["a", "b"]), Real("step", 0, 1, step=0.5)]
    study = Study(space, direction="minimize", seed=0, n_initial=3)
    seen = []
    for _ in range(14):
        suggestion = study.ask()[0]
        seen.append(tuple(suggestion.parameters.values()))
        study.tell(suggestion.number, suggestion.parameters["n"])
    assert len(set(seen)) == 14


def test_a_result_becomes_a_data_frame():
    pandas = pytest.importorskip("pandas")
    result = boring.maximize(sphere, BOX, 6, seed=0)
    frame = result.to_dataframe(["a", "b", "c"])
    assert isinstance(frame, pandas.DataFrame)
    np.testing.assert_array_equal(frame[["a", "b", "c"]].to_numpy(), result.X)
    np.testing.assert_array_equal(frame["value"], result.y)
    assert frame["best so far"].is_monotonic_increasing
    assert list(frame["phase"]) == ["initial"] * 6
    assert list(result.to_dataframe())[:3] == ["x0", "x1", "x2"]
    for wrong in (["a"], ["a", "a", "b"], ["a", "b", "value"]):
        with pytest.raises(InvalidInputError, match="3 different ones"):
            result.to_dataframe(wrong)


def test_constraints_have_columns_and_missing_pandas_is_named(monkeypatch):
    pytest.importorskip("pandas")
    optimizer = BoringOptimizer(BOX, direction="minimize", seed=0, n_constraints=2)
    optimizer.tell(optimizer.ask(2), [1.0, 2.0], constraints=[[1.0, 0.0], [-1.0, -2.0]])
    frame = optimizer.result().to_dataframe(["a", "b", "c"])
    assert list(frame["constraint_2"]) == [0.0, -2.0]
    assert np.isnan(frame["best so far"][0])
    space = dict.fromkeys("abc", (-1.0, 1.0))
    study = Study(space, direction="minimize", n_constraints=2)
    assert study.add(frame) == 2
    assert [row["constraint_1"] for row in study.rows()] == [1.0, -1.0]
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="boring-bo\\[study\\]"):
        optimizer.result().to_dataframe()


@pytest.mark.parametrize("n_told", [1, 4, 9])
def test_an_optimiser_is_drawn_at_any_time(n_told):
    """Outstanding points, and fewer values than the design has, are no obstacle."""
    pytest.importorskip("matplotlib")
    optimizer = BoringOptimizer(BOX, direction="minimize", seed=0)
    for _ in range(n_told):
        x = optimizer.ask()[0]
        optimizer.tell(x, sphere(x))
    optimizer.ask(2)
    result = optimizer.result()
    for source in (optimizer, result):
        plotting.plot_convergence(source if source is result else result)
        plotting.plot_parallel_coordinates(source)
    if n_told > 1:
        plotting.plot_slices(optimizer)
