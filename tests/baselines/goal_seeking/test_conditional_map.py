import numpy as np
import pytest

from baselines.goal_seeking.conditional_map import ConditionalMapOptimizer
from baselines.goal_seeking.joint_network import JointLoss, seek_goal
from baselines.mixtures.kde import KdeOptimizer
from boring.exceptions import InvalidInputError
from boring.testing import check_gradient


def data(n=8, dim=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, dim))
    y = -((X[:, 0] - 0.3) ** 2) - X[:, 1] ** 2
    return X, (y - y.mean()) / y.std()


@pytest.mark.parametrize("W", [None, np.array([[0.6], [0.8]])])
def test_gradient_in_weights_and_point(W):
    X, y = data()
    loss = JointLoss(X, y, 2.0, W, width=4)
    rng = np.random.default_rng(1)
    vector = np.concatenate([loss.initial_weights(rng) + 0.3, [0.2, -0.4]])
    check_gradient(loss, vector, rng, scale=0.1)


def test_loss_is_the_formula():
    X, y = data()
    loss = JointLoss(X, y, 2.0, width=3)
    w = loss.initial_weights(np.random.default_rng(0)) + 0.1
    W1, b1, W2, b2, w3, b3 = np.split(w, np.cumsum([6, 3, 9, 3, 3]))

    def network(x):
        return w3 @ np.tanh(W2.reshape(3, 3).T @ np.tanh(W1.reshape(2, 3).T @ x + b1) + b2) + b3[0]

    x = np.array([0.2, -0.4])
    errors = sum((network(a) - b) ** 2 for a, b in zip(X, y, strict=True)) + (network(x) - 2) ** 2
    expected = errors / 9 + 5e-5 * (w @ w + np.abs(w).sum())
    assert loss(np.append(w, x))[0] == pytest.approx(expected, rel=1e-6)


def test_goal_is_nearly_reached_in_the_box_at_a_lower_loss():
    X, y = data()
    starts = np.random.default_rng(2).uniform(-1, 1, (3, 2))
    goal = float(y.max()) + 0.3
    found = seek_goal(X, y, goal, starts, np.random.default_rng(3))
    assert found.loss < 0.1 * found.first_loss
    assert np.abs(found.x).max() <= 1.0
    assert found.output == pytest.approx(goal, abs=0.3)
    assert not any(np.array_equal(found.x, start) for start in starts)


def test_point_moves_from_the_acquisitions_and_is_said_to():
    options = {"direction": "minimize", "seed": 0, "n_initial": 5}
    optimizer = ConditionalMapOptimizer([(-1, 1)] * 2, **options)
    optimizer.run(lambda x: float(((x - 0.3) ** 2).sum()), 6, progress=False)
    record = optimizer.result().records[-1]
    assert record.info["moved"] > 0
    plain = ConditionalMapOptimizer([(-1, 1)] * 2, infill="acquisition", **options)
    plain.run(lambda x: float(((x - 0.3) ** 2).sum()), 6, progress=False)
    assert "moved" not in plain.result().records[-1].info


def test_infill_serves_other_surrogates():
    options = {"direction": "minimize", "seed": 0, "n_initial": 5}
    optimizer = KdeOptimizer([(-1, 1)] * 2, infill="conditional-map", **options)
    optimizer.run(lambda x: float(x @ x), 6, progress=False)
    assert "moved" in optimizer.result().records[-1].info


def test_bad_options_are_rejected():
    with pytest.raises(InvalidInputError, match="acquisition"):
        ConditionalMapOptimizer([(-1, 1)], direction="minimize", acquisition="ucb")
    with pytest.raises(InvalidInputError):
        KdeOptimizer([(-1, 1)], direction="minimize", infill="cl")
