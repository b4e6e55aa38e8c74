"""The subspace's surrogate and its gate."""

import json
from itertools import pairwise

import numpy as np
import pytest

from boring.loop import subspace_turn
from boring.loop.subspace_turn import (
    RELEARN_GROWTH,
    factor_start,
    keep_score,
    subspace_model,
    take_turn,
    update_gate,
    without_score,
)
from boring.subspace.stiefel import largest_angle, random_frame
from boring.warping import standardize

NOTHING_OUT = np.empty((0, 1))


def _data(n: int, dim: int, seed: int, d: int = 1):
    rng = np.random.default_rng(seed)
    W = random_frame(dim, d, rng)
    X = rng.uniform(-1, 1, (n, dim))
    z = X @ W
    return X, standardize(np.sin(3 * z[:, 0]) + (z[:, -1] ** 2 if d > 1 else 0)), W


def test_a_turn_finds_the_direction_and_opens_the_gate() -> None:
    X, y, W = _data(60, 6, seed=0)
    memory: dict = {}
    for n in range(20, 61, 10):
        member = take_turn(X[:n], y[:n], None, 3, memory, NOTHING_OUT, np.random.default_rng(n))
        memory = json.loads(json.dumps(member.memory))
    assert member.gate > 5
    assert np.rad2deg(largest_angle(member.basis, W)) < 3
    assert memory["effective_dim"] == 1


def test_the_subspace_is_learned_anew_when_the_data_have_grown(monkeypatch) -> None:
    X, y, W = _data(30, 4, seed=1)
    monkeypatch.setattr(subspace_turn, "choose_and_learn", lambda *_, **__: W)
    memory: dict = {}
    learned = []
    for n in range(10, 20):
        member = take_turn(X[:n], y[:n], 1, 1, memory, NOTHING_OUT, np.random.default_rng(0))
        memory = member.memory
        if member.learned:
            learned.append(n)
        assert memory["learned_at"] == learned[-1]
    assert learned == [10, 12, 14, 17]
    assert all(b >= RELEARN_GROWTH * a > b - 1 for a, b in pairwise(learned))


def test_noise_keeps_the_gate_shut() -> None:
    shut = 0
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X, y = rng.uniform(-1, 1, (40, 6)), rng.standard_normal(40)
        memory: dict = {}
        for n in (16, 28, 40):
            member = take_turn(X[:n], standardize(y[:n]), 2, 2, memory, NOTHING_OUT, rng)
            memory = member.memory
        shut += member.gate <= 0
    assert shut == 3


def test_scoring_alone_keeps_parameters_and_moves_the_gate() -> None:
    X, y, _ = _data(30, 5, seed=2)
    member = take_turn(X[:20], y[:20], 1, 1, {}, NOTHING_OUT, np.random.default_rng(0))
    assert member.gate == 0
    kept = keep_score(X[:25], y[:25], member.memory, NOTHING_OUT)
    assert kept.posterior is None
    assert kept.memory["theta"] == member.memory["theta"]
    assert kept.memory["n"] == 25
    assert kept.gate == pytest.approx(update_gate(X[:25], y[:25], member.memory))
    again = keep_score(X[:25], y[:25], kept.memory, NOTHING_OUT)
    assert again.gate == kept.gate, "nothing new, nothing to score"
    assert keep_score(X, y, {}, NOTHING_OUT).memory == {}


def test_points_of_the_local_model_leave_the_gate_as_it_is() -> None:
    X, y, _ = _data(30, 5, seed=2)
    member = take_turn(X[:20], y[:20], 1, 1, {}, NOTHING_OUT, np.random.default_rng(0))
    memory = without_score(without_score(member.memory, X[20]), X[25])
    one_told = keep_score(X[:21], y[:21], memory, X[25:26])
    assert one_told.gate == member.gate
    assert one_told.memory["unscored"] == [X[25].tolist()]
    scored = keep_score(X[:26], y[:26], one_told.memory, NOTHING_OUT)
    assert scored.gate != keep_score(X[:26], y[:26], member.memory, NOTHING_OUT).gate
    assert scored.memory["unscored"] == []
    withdrawn = keep_score(X[:21], y[:21], memory, NOTHING_OUT)
    assert withdrawn.gate == member.gate
    assert withdrawn.memory["unscored"] == [], "the other one will have no value"
    assert without_score({}, X[0]) == {}


def test_factor_start_round_trip() -> None:
    M = np.arange(6.0).reshape(3, 2)
    theta = factor_start(M)
    model = subspace_model(3, 2)
    assert len(theta) == model.n_parameters
    term, _, parameters = model.kernel.split(theta)[0]
    np.testing.assert_array_equal(term.feature_map.factor(parameters), M)
