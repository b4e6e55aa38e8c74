"""The order-preserving loss by hand, and the two costs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from baselines.neural._jax import double_precision
from baselines.neural.implicit.order import order_loss, utility

jax = pytest.importorskip("jax")


def test_loss_is_the_mean_cross_entropy_over_pairs():
    rng = np.random.default_rng(0)
    code, cost = rng.standard_normal(10), rng.standard_normal(10)
    expected = []
    for i in range(5):
        rho = expit(cost[i + 5] - cost[i])
        expected.append(-np.log(rho if code[i] >= code[i + 5] else 1 - rho))
    with double_precision():
        assert float(order_loss(code, cost)) == pytest.approx(np.mean(expected), rel=1e-12)


def test_kept_order_costs_nothing_and_reversed_order_much():
    code = np.array([2.0, 1.0, 0.0, -1.0])
    with double_precision():
        assert float(order_loss(code, -100 * code)) < 1e-12
        assert float(order_loss(code, 100 * code)) == pytest.approx(200.0)


def test_descent_lowers_the_cost_of_the_code_of_larger_density():
    with double_precision():
        slope = jax.grad(lambda cost: order_loss(np.array([1.0, 0.0]), cost))(np.zeros(2))
    assert slope.tolist() == [0.5, -0.5]


def test_one_cost_has_the_prior_and_the_other_the_critic():
    prior, ratio, cost = np.array([1.0, 2.0]), np.array([5.0, -5.0]), np.array([0.5, 0.25])
    assert utility("posterior", prior, ratio, cost).tolist() == [-0.5, -1.75]
    assert utility("divergence", prior, ratio, cost).tolist() == [-4.5, 5.25]
