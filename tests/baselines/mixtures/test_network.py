"""Sum-product networks against enumeration of their components, and the steps of learning."""

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import invgamma, norm

from baselines.mixtures.network import draw_structure, initial_track, log_leaves
from baselines.mixtures.spn import BETA, SpnMixture, SumProductNetworks, train


def points(n=20, n_variables=3, seed=0):
    rng = np.random.default_rng(seed)
    data = rng.standard_normal((n, n_variables))
    data[:, -1] = np.sin(2 * data[:, 0]) + 0.1 * data[:, -1]
    return data


def network(n_variables, channels, seed=0):
    rng = np.random.default_rng(seed)
    structure = draw_structure(n_variables, rng)
    return initial_track(points(20, n_variables), np.ones((1, 20)), structure, channels, rng)


def drawn(data, n_channels, n_tracks, sample=None, alpha=3.0):
    sample = np.ones((1, len(data))) if sample is None else sample
    return SumProductNetworks.draw(
        data, sample, np.array([alpha]), n_channels, n_tracks, np.random.default_rng(0)
    )


def components(track):
    """Enumerate (weight, leaf of each variable) over all induced trees."""

    def below(depth, region, channel):
        """Yield (weight, {variable: leaf}) under one node; depth -1 is the leaves."""
        if depth < 0:
            yield 1.0, {region: channel}
            return
        members = track.structure.levels[depth][region]
        W = track.weights[depth][region]
        if W is None:
            yield from below(depth - 1, members[0], channel)
            return
        channels = round(W.shape[1] ** 0.5)
        for i, j in itertools.product(range(channels), repeat=2):
            for left, right in itertools.product(
                list(below(depth - 1, members[0], i)), list(below(depth - 1, members[1], j))
            ):
                yield W[0, i * channels + j, channel] * left[0] * right[0], left[1] | right[1]

    return list(below(len(track.structure.levels) - 1, 0, 0))


@pytest.mark.parametrize(("n_variables", "channels"), [(2, 3), (3, 2), (4, 2), (5, 2)])
def test_value_is_the_sum_over_all_components(n_variables, channels):
    track = network(n_variables, channels)
    data = points(4, n_variables, 1)
    parts = components(track)
    assert sum(weight for weight, _ in parts) == pytest.approx(1.0)
    expected = np.zeros(4)
    for weight, leaves in parts:
        assert sorted(leaves) == list(range(n_variables))  # complete and decomposable
        density = np.full(4, weight)
        for variable, leaf in leaves.items():
            sd = np.sqrt(track.variances[0, variable, leaf])
            density *= norm(track.means[0, variable, leaf], sd).pdf(data[:, variable])
        expected += density
    value = track.log_root(log_leaves(data, track.means, track.variances))[0]
    np.testing.assert_allclose(np.exp(value), expected, rtol=1e-10)


def test_two_variables_and_three_channels_make_nine_components():
    assert len(components(network(2, 3))) == 9


@pytest.mark.parametrize("n_variables", [2, 3, 5])
def test_shares_are_derivatives_and_sum_to_one(n_variables):
    track = network(n_variables, 2)
    leaves = log_leaves(points(3, n_variables, 1), track.means, track.variances)
    value, shares = track.log_root_and_shares(leaves)
    np.testing.assert_allclose(shares.sum(axis=3), 1.0, rtol=1e-10)
    step = 1e-6
    for variable, channel in itertools.product(range(n_variables), range(2)):
        moved = leaves.copy()
        moved[:, :, variable, channel] += step
        slope = (track.log_root(moved) - value) / step
        np.testing.assert_allclose(slope, shares[:, :, variable, channel], atol=1e-5)


def test_conditional_weights_are_those_of_enumeration():
    data = points(20, 3)
    networks = drawn(data, 2, 1)
    train(networks, data, np.ones((1, 20)), 20)
    track = networks.tracks[0]
    z = np.array([[0.2, -0.7]])
    expected = np.zeros(2)
    for weight, leaves in components(track):
        for variable in (0, 1):
            sd = np.sqrt(track.variances[0, variable, leaves[variable]])
            weight *= norm(track.means[0, variable, leaves[variable]], sd).pdf(z[0, variable])
        expected[leaves[2]] += weight
    logs, means = SpnMixture(networks).joint(z)
    np.testing.assert_allclose(np.exp(logs[0]), expected, rtol=1e-9)
    np.testing.assert_array_equal(means[0], track.means[0, 2])


@pytest.mark.parametrize("n_tracks", [1, 2])
def test_objective_never_falls(n_tracks):
    data = points(30, 4)
    sample = np.ones((3, 30))
    sample[1, :10] = 0.0
    networks = SumProductNetworks.draw(
        data, sample, np.array([1.0, 5.0, 100.0]), 3, n_tracks, np.random.default_rng(0)
    )
    trace = np.array([networks.step(data, sample) for _ in range(60)])
    gains = np.diff(trace, axis=0)
    assert gains.min() > -1e-6
    assert (trace[-1] - trace[0]).min() > 1.0


def test_leaf_variance_is_the_argmax_of_its_penalised_likelihood():
    # One channel: every leaf has all observations to itself.
    data = points(15, 2)
    networks = drawn(data, 1, 1, alpha=4.0)
    networks.step(data, np.ones((1, 15)))
    track = networks.tracks[0]
    for variable in (0, 1):
        values = data[:, variable]
        assert track.means[0, variable, 0] == pytest.approx(values.mean())

        def penalised(log_variance, values=values):
            variance = np.exp(log_variance)
            density = norm(values.mean(), np.sqrt(variance)).logpdf(values).sum()
            return -density - invgamma(4.0, scale=BETA).logpdf(variance)

        best = np.exp(minimize_scalar(penalised, bounds=(-6, 3), method="bounded").x)
        assert track.variances[0, variable, 0] == pytest.approx(best, rel=1e-4)


def test_left_out_observations_have_no_effect():
    data = points(20, 3)
    sample = np.ones((1, 20))
    sample[0, 15:] = 0.0
    changed = data.copy()
    changed[15:] += 3.0
    found = []
    for one in (data, changed):
        networks = drawn(one, 3, 2, sample)
        train(networks, one, sample, 30)
        found.append(networks.log_density(data[:15]))
    np.testing.assert_allclose(*found, rtol=1e-9)


def test_marginal_is_the_integral_over_y():
    data = points(20, 3)
    networks = drawn(data, 3, 2)
    train(networks, data, np.ones((1, 20)), 10)
    grid = np.linspace(-30, 30, 20001)
    line = np.column_stack([np.tile(data[0, :2], (len(grid), 1)), grid])
    integral = np.trapezoid(np.exp(networks.log_density(line)[0]), grid)
    marginal = networks.log_density(data[:1], marginal=True)[0, 0]
    assert np.log(integral) == pytest.approx(marginal, abs=1e-6)
