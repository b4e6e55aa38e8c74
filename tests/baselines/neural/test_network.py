import numpy as np
import pytest

from baselines.neural._jax import bucket, double_precision, load
from baselines.neural.network import (
    LARGEST_PIECE,
    Network,
    NetworkPosterior,
    _values,
    _values_and_gradients,
)
from boring.acquisition import LowerConfidenceBound, UpperConfidenceBound
from boring.exceptions import InvalidInputError
from boring.testing import check_gradient

ACTIVATE = {
    "tanh": np.tanh,
    "sigmoid": lambda a: 1 / (1 + np.exp(-a)),
    "relu": lambda a: np.maximum(a, 0),
    "step": np.sign,
}


def by_hand(network, theta, x):
    """One output by loops over units, from one flat vector."""
    values, place = list(x), 0
    for k, (fan_in, width) in enumerate(network.layers):
        matrix = theta[place : place + fan_in * width].reshape(fan_in, width)
        biases = theta[place + fan_in * width : place + fan_in * width + width]
        place += fan_in * width + width
        sums = [
            sum(v * matrix[i, j] for i, v in enumerate(values)) + biases[j] for j in range(width)
        ]
        last = k == len(network.layers) - 1
        values = sums if last else [ACTIVATE[network.activation](a) for a in sums]
    assert place == theta.size
    return values[0]


def test_number_of_parameters_is_the_papers():
    assert Network(1, (50, 50, 50)).n_parameters == 5251
    assert Network(2, (50, 50, 50)).n_parameters == 5301
    assert Network(3, ()).n_parameters == 4
    groups = Network(3, (5, 4)).groups
    assert [group.size for group in groups] == [15, 5, 20, 4, 4, 1]
    assert [group.fan_in for group in groups] == [3, 3, 5, 5, 4, 4]
    assert [group.last for group in groups] == [False] * 4 + [True] * 2


@pytest.mark.parametrize("activation", ["tanh", "sigmoid", "relu", "step"])
def test_outputs_are_sums_over_units(activation):
    network = Network(2, (3, 2), activation)
    rng = np.random.default_rng(0)
    weights = rng.standard_normal((4, network.n_parameters))
    X = rng.uniform(-1, 1, (5, 2))
    found = NetworkPosterior(network, weights).members(X)
    expected = [[by_hand(network, theta, x) for theta in weights] for x in X]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_moments_have_right_gradients_in_x():
    network = Network(2, (6,))
    rng = np.random.default_rng(1)
    posterior = NetworkPosterior(network, rng.standard_normal((7, network.n_parameters)))
    for k in (0, 1):

        def moment(v, k=k):
            found = posterior.predict_with_gradient(v[None])
            return float(found[k][0]), found[k + 2][0]

        check_gradient(moment, np.array([0.2, -0.4]), np.random.default_rng(0))
    X = rng.uniform(-1, 1, (3, 2))
    for a, b in zip(posterior.predict(X), posterior.predict_with_gradient(X), strict=False):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_bounds_of_three_networks_by_hand():
    # Lines a x + b: at x = 2 the outputs are 1, 4 and 7.
    posterior = NetworkPosterior(Network(1, ()), np.array([[0.0, 1.0], [1.5, 1.0], [3.0, 1.0]]))
    x = np.array([[2.0]])
    mean, variance = posterior.predict(x)
    assert [mean[0], variance[0]] == pytest.approx([4.0, 6.0])
    assert LowerConfidenceBound(posterior, 2.0).value(x) == pytest.approx([4.0 - 2.0 * 6.0**0.5])
    assert UpperConfidenceBound(posterior, 0.0).value(x) == pytest.approx([4.0])


def test_output_has_right_gradient_in_the_parameters():
    network = Network(2, (4, 3), "sigmoid")
    x = np.array([[0.3, -0.7]])
    with double_precision():
        slope = load("jax").jit(load("jax").value_and_grad(lambda t: network.outputs(t, x)[0]))

    def value(theta):
        with double_precision():
            found, gradient = slope(theta)
            return float(found), np.asarray(gradient)

    theta = np.random.default_rng(2).standard_normal(network.n_parameters)
    check_gradient(value, theta, np.random.default_rng(0))


def test_points_of_one_bucket_share_a_program_and_any_number_of_them_is_taken():
    network = Network(1, (2,))
    weights = np.random.default_rng(0).standard_normal((3, network.n_parameters))
    posterior = NetworkPosterior(network, weights)
    X = np.linspace(-1, 1, LARGEST_PIECE + 5)[:, None]
    whole = posterior.members(X)
    assert whole.shape == (len(X), 3)
    before = _values(network)._cache_size()
    for n in (1, 7, 16):
        np.testing.assert_allclose(posterior.members(X[:n]), whole[:n], rtol=1e-12)
        posterior.members_with_gradient(X[:n])
    assert _values(network)._cache_size() == before
    assert _values_and_gradients(network)._cache_size() == 1
    assert [bucket(n) for n in (1, 16, 17, 33)] == [16, 16, 32, 64]


def test_callers_precision_is_left_alone():
    network = Network(1, (2,))
    NetworkPosterior(network, np.ones((2, network.n_parameters))).members(np.zeros((1, 1)))
    assert load("jax.numpy").zeros(1).dtype == np.float32


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ((0, (3,)), "dim"),
        ((1, [3]), "hidden must be a tuple"),
        ((1, (0,)), "each number in hidden"),
        ((1, (3,), "gelu"), "activation must be one of"),
    ],
)
def test_bad_shapes_are_refused(arguments, match):
    with pytest.raises(InvalidInputError, match=match):
        Network(*arguments)


def test_weights_of_another_network_are_refused():
    with pytest.raises(InvalidInputError, match=r"\(N, 7\)"):
        NetworkPosterior(Network(1, (2,)), np.zeros((3, 8)))
