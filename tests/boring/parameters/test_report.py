"""Directions of a subspace in the units of the parameters, against hand computation."""

from types import SimpleNamespace

import numpy as np
import pytest

from boring import estimate_active_subspace
from boring.exceptions import InvalidInputError
from boring.parameters import Categorical, Fixed, Integer, Ordinal, ParameterSpace, Real
from boring.parameters.report import describe_subspace, readable_directions


def estimate_of(W, lengthscales=None):
    W = np.asarray(W, float)
    importance = (W**2).sum(axis=1) / (W**2).sum()
    scales = np.ones(W.shape[1]) if lengthscales is None else np.asarray(lengthscales)
    return SimpleNamespace(active_basis=W, lengthscales=scales, importance=importance, trusted=True)


SPACE = ParameterSpace(
    [
        Real("gain", 0, 20, unit="dB"),
        Real("pos", -30, 30, unit="mm"),
        Real("rate", 1e-4, 1, log=True, unit="1/s"),
        Integer("layers", 1, 9),
        Ordinal("size", ["s", "m", "l"]),
        Categorical("kind", ["a", "b", "c"]),
        Categorical("on", [False, True]),
        Fixed("mode", 3),
    ]
)


def test_steps_shares_and_effects():
    w = np.array([0.6, -0.4, 0.3, 0.2, 0.1, 0.5, -0.2, 0.0, 0.2])
    w /= np.linalg.norm(w)
    rows = {
        row.parameter: row for row in describe_subspace(estimate_of(w[:, None], [0.5]), SPACE).rows
    }
    assert set(rows) == set(SPACE.names) - {"mode"}
    assert sum(row.share for row in rows.values()) == pytest.approx(1.0)
    assert rows["kind"].share == pytest.approx((w[5:8] ** 2).sum())
    assert rows["kind"].loading is None
    base = {
        "gain": 10.0, "pos": 0.0, "rate": 0.01, "layers": 5, "size": "m", "kind": "b", "on": False,
    }  # fmt: skip
    moved = {
        "gain": ("+1 dB", 11.0), "pos": ("+1 mm", 1.0), "rate": ("x 2", 0.02),
        "layers": ("+1", 6), "size": ("+1 place", "l"),
        "kind": ("'b' -> 'a'", "a"), "on": ("False -> True", True),
    }  # fmt: skip
    for name, (step, value) in moved.items():
        change = (SPACE.encode({**base, name: value}) - SPACE.encode(base))[0] @ w / 0.5
        assert rows[name].step == step
        assert rows[name].effect == pytest.approx(change, rel=1e-9)


def test_exchanges_leave_the_direction_where_it_was():
    w = np.zeros((9, 1))
    w[[0, 1], 0] = 0.8, -0.6
    text = describe_subspace(estimate_of(w), SPACE).text
    assert "Direction 1 (lengthscale 1): gain 64%, pos 36%" in text
    # 0.8 * 2/20 = 0.08 for a dB, -0.6 * 2/60 = -0.02 for a mm.
    assert "+1 dB of gain does what -4 mm of pos does" in text
    w = np.zeros((9, 1))
    w[[0, 2], 0] = 0.8, 0.6
    text = describe_subspace(estimate_of(w), SPACE).text
    # A factor r of rate: 0.6 * 2 / log10(1e4) * log10(r) = 0.08, so r = 10^(0.2666).
    assert "+1 dB of gain does what x 1.85 of rate does" in text


def test_a_real_estimate_with_a_category_is_described():
    rng = np.random.default_rng(0)
    space = ParameterSpace(
        [Real("a", 0, 10, unit="V"), Real("b", 0, 1), Categorical("k", ["x", "y"])]
    )
    U = space.snap(rng.uniform(-1, 1, (60, 3)))
    y = np.sin(2 * (U[:, 0] + 0.5 * U[:, 2]))
    estimate = estimate_active_subspace(U, y, 1, rng=rng, check=False)
    described = describe_subspace(estimate, space)
    first = described.rows[0]
    assert first.parameter == "a"
    assert first.share == pytest.approx(0.8, abs=0.1)
    assert "do not vouch for this subspace (not checked)" in str(described)
    assert "of k does" in described.text
    assert "k=y" in estimate.summary(space.column_names)


def test_an_estimate_of_another_space_is_refused():
    with pytest.raises(InvalidInputError, match="of 2 columns, the space has 9"):
        describe_subspace(estimate_of(np.eye(2)[:, :1]), SPACE)


def test_lengthscales_are_those_along_the_turned_directions():
    """The model's metric W diag(1 / l^2) W' has the same form along the columns shown."""
    angle = np.deg2rad(30.0)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    W = np.eye(4)[:, :2] @ turn
    shown, lengthscales = readable_directions(estimate_of(W, [0.5, 2.0]))
    np.testing.assert_allclose(np.abs(shown), np.eye(4)[:, :2], atol=1e-9)
    metric = W @ np.diag([4.0, 0.25]) @ W.T
    np.testing.assert_allclose(lengthscales**-2.0, np.diag(shown.T @ metric @ shown))
