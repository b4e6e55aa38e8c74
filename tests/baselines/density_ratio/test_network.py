"""Derivatives of the network by hand against autograd and by the order of their error."""

from __future__ import annotations

import autograd.numpy as anp
import numpy as np
import pytest
from autograd import grad, jacobian

from baselines.density_ratio.network import Network
from boring.testing import check_gradient

NETWORK = Network((3, 5, 4, 1))


def by_autograd(theta, x):
    a, start = x, 0
    for index, (rows, columns) in enumerate(NETWORK.shapes):
        layer = anp.reshape(theta[start : start + rows * columns], (rows, columns))
        start += rows * columns
        a = anp.dot(a, layer[:-1]) + layer[-1]
        if index < len(NETWORK.shapes) - 1:
            a = anp.tanh(a)
    return a[0]


@pytest.fixture
def setting():
    rng = np.random.default_rng(0)
    return 1.5 * NETWORK.draw(rng), rng.uniform(-1, 1, (6, 3)), rng


def test_size():
    assert NETWORK.n_parameters == 4 * 5 + 6 * 4 + 5
    assert Network((2, 32, 32, 1)).n_parameters == 32 * 2 + 1121


def test_values_and_jacobian_equal_automatic_differentiation(setting):
    theta, X, _ = setting
    J, f = NETWORK.jacobian(theta, X)
    assert f == pytest.approx([by_autograd(theta, x) for x in X], abs=1e-13)
    assert np.allclose(J, [grad(by_autograd)(theta, x) for x in X], atol=1e-12)
    assert np.array_equal(NETWORK.value(theta, X), f)


def test_input_gradient_equals_automatic_differentiation(setting):
    theta, X, _ = setting
    f, slope = NETWORK.input_gradient(theta, X)
    assert np.array_equal(f, NETWORK.value(theta, X))
    assert np.allclose(slope, [grad(by_autograd, 1)(theta, x) for x in X], atol=1e-12)


def test_tangent_gradient_equals_the_mixed_second_derivative(setting):
    theta, X, rng = setting
    V = rng.standard_normal((len(X), NETWORK.n_parameters))
    value, slope = NETWORK.tangent_gradient(theta, X, V)
    assert value == pytest.approx(np.sum(NETWORK.jacobian(theta, X)[0] * V, axis=1), abs=1e-11)
    mixed = jacobian(grad(by_autograd), 1)
    assert np.allclose(slope, [v @ mixed(theta, x) for x, v in zip(X, V, strict=True)], atol=1e-11)


def test_tangent_gradient_by_the_order_of_its_error(setting):
    theta, X, rng = setting
    V = rng.standard_normal((1, NETWORK.n_parameters))

    def function(x):
        value, slope = NETWORK.tangent_gradient(theta, x[None, :], V)
        return float(value[0]), slope[0]

    assert check_gradient(function, X[0], rng).slope > 1.8
    with pytest.raises(AssertionError):
        check_gradient(lambda x: (function(x)[0], 1.01 * function(x)[1]), X[0], rng)


def test_a_network_without_hidden_layer_is_linear():
    network = Network((2, 1))
    theta, X = np.array([2.0, -1.0, 0.5]), np.array([[1.0, 1.0], [0.0, 3.0]])
    J, f = network.jacobian(theta, X)
    assert f.tolist() == [1.5, -2.5]
    assert np.array_equal(J, np.hstack([X, np.ones((2, 1))]))
    value, slope = network.tangent_gradient(theta, X, np.ones((2, 3)))
    assert value.tolist() == [3.0, 4.0]
    assert np.array_equal(slope, np.ones((2, 2)))
