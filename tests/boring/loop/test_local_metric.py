"""The directions of the local model, and when they are learned."""

import json

import numpy as np
import pytest

from boring.exceptions import FitError
from boring.loop import local_metric
from boring.loop.local_metric import (
    LEARN_FROM,
    LEARN_GROWTH,
    MOST_INPUTS,
    PASSIVE_SCALE,
    directions_map,
    nearby_factors,
    update_directions,
)
from boring.loop.local_turn import fit_local, local_step
from boring.subspace import nearby
from boring.subspace.nearby import learn_nearby_factors, nearest
from boring.subspace.stiefel import random_frame


def _data(n: int, dim: int = 5, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    W = random_frame(dim, 2, rng)
    X = rng.uniform(-1.0, 1.0, (n, dim))
    return X, -np.sum((X @ W - 0.2) ** 2 * [1.0, 5.0], axis=1), W


def _update(X, y, memory, dims=(1, 2, 3)):
    return update_directions(X, y, memory, dims, np.random.default_rng(0))


def test_nothing_is_learned_from_few_points_or_for_many_inputs_or_without_a_choice() -> None:
    X, y, _ = _data(LEARN_FROM)
    assert _update(X[:-1], y[:-1], {}) == {}
    assert _update(X, y, {}, ()) == {}
    wide = np.zeros((LEARN_FROM, MOST_INPUTS + 1))
    assert _update(wide, y, {}) == {}
    assert _update(X, y, {})["effective_dim"] == 2


def test_learned_anew_once_the_data_have_grown() -> None:
    X, y, _ = _data(2 * LEARN_FROM)
    first = _update(X[:LEARN_FROM], y[:LEARN_FROM], {}, (2,))
    due = int(np.ceil(LEARN_GROWTH * LEARN_FROM))
    assert _update(X[: due - 1], y[: due - 1], first, (2,)) == first
    assert _update(X[:due], y[:due], first, (2,))["n"] == due


def test_the_memory_is_json_and_the_neighbours_of_the_last_choice_compete(monkeypatch) -> None:
    X, y, _ = _data(60)
    first = json.loads(json.dumps(_update(X[:40], y[:40], {}, range(1, 6))))
    seen = []

    def learn(X, y, dimensions, *, rng, last, best, most):
        seen.append((list(dimensions), {d: M.shape for d, M in last.factors.items()}))

    monkeypatch.setattr(local_metric, "learn_nearby_factors", learn)
    assert _update(X, y, first, range(1, 6)) == {"n": 60}
    assert seen == [([1, 2, 3], {d: (5, d) for d in range(1, 6)})]


@pytest.mark.filterwarnings("ignore:overflow encountered", "ignore:invalid value encountered")
def test_a_search_that_fails_leaves_the_last_directions_and_ends_no_step() -> None:
    X, y, _ = _data(40, 3)
    first = local_step(X[:35], y[:35], {}, np.random.default_rng(0), effective_dims=(1, 2))
    last = first.memory["directions"]
    assert last["effective_dim"] == 2
    X[np.argsort(-y)[:25]] *= 1e-150  # squares of the other distances, in units of theirs: inf
    with pytest.raises(FitError, match="not finite at the start"):
        learn_nearby_factors(X, y, (1, 2), rng=np.random.default_rng(0))
    assert _update(X, y, {}) == {"n": 40}
    assert _update(X, y, last) == {**last, "n": 40}
    step = local_step(X, y, first.memory, np.random.default_rng(0), effective_dims=(1, 2))
    assert step.x is not None
    assert step.memory["directions"] == {**last, "n": 40}


def test_directions_are_those_around_the_feasible_incumbent(monkeypatch) -> None:
    X, y, _ = _data(40)
    eligible = np.arange(40) != np.argmax(y)
    judged = np.where(eligible, y, y.min() - 1.0)
    centers = []

    def looked_at(X, best, most):
        centers.append(best)
        return nearest(X, best, most)

    monkeypatch.setattr(nearby, "nearest", looked_at)
    step = local_step(
        X, y, {}, np.random.default_rng(0), eligible=eligible, judged=judged, effective_dims=(2,)
    )
    assert step.memory["directions"]["effective_dim"] == 2
    assert centers == [int(np.argmax(judged))]


def test_a_step_that_has_nothing_to_gain_keeps_the_directions() -> None:
    X, y, _ = _data(30)
    first = local_step(X, y, {}, np.random.default_rng(0), effective_dims=(2,))
    step = local_step(X, np.zeros(30), first.memory, np.random.default_rng(0), effective_dims=(2,))
    assert step.x is None
    assert step.memory["directions"] == first.memory["directions"]


def test_a_memory_from_before_there_was_a_table_is_read() -> None:
    memory = {"n": 30, "effective_dim": 1, "factors": {"1": [[1.0], [2.0]]}}
    assert nearby_factors(memory).table == ()
    X, y, _ = _data(30)
    step = local_step(X, y, {}, np.random.default_rng(0))
    before = {key: value for key, value in step.memory.items() if key != "directions"}
    after = local_step(X, y, before, np.random.default_rng(0), effective_dims=(2,))
    assert after.memory["directions"]["effective_dim"] == 2


def test_the_map_stretches_along_the_factor() -> None:
    rng = np.random.default_rng(1)
    W = random_frame(6, 2, rng)
    memory = {"n": 1, "effective_dim": 2, "factors": {"2": (W * [3.0, 0.6]).tolist()}, "table": []}
    np.testing.assert_allclose(nearby_factors(memory).factor, W * [3.0, 0.6])
    root = directions_map(memory).inputs(np.eye(6))
    np.testing.assert_allclose(root @ W, W * [1.0, 0.2], atol=1e-12)
    outside = np.linalg.svd(W)[0][:, 2:]
    np.testing.assert_allclose(root @ outside, PASSIVE_SCALE * outside, atol=1e-12)
    assert directions_map({}) is None
    assert directions_map({"n": 30}) is None


@pytest.mark.parametrize("is_right", [True, False])
def test_the_local_model_takes_directions_if_they_make_its_points_likelier(is_right: bool) -> None:
    X, y, W = _data(25, 8, seed=2)
    best = int(np.argmax(y))
    U, v = X - X[best], (y - y.mean()) / y.std()
    basis = W if is_right else np.linalg.svd(W)[0][:, 2:4]
    memory = {"n": 25, "effective_dim": 2, "factors": {"2": basis.tolist()}, "table": []}
    plain, along = fit_local(U, v), fit_local(U, v, directions=directions_map(memory))
    new = np.random.default_rng(5).uniform(-0.5, 0.5, (50, 8))
    truth = -np.sum(((new + X[best]) @ W - 0.2) ** 2 * [1.0, 5.0], axis=1)
    truth = (truth - y.mean()) / y.std()
    errors = [np.abs(p.predict(new)[0] - truth).mean() for p in (plain, along)]
    if is_right:
        assert errors[1] < 0.05 * errors[0]
    else:
        assert errors[1] == errors[0]
