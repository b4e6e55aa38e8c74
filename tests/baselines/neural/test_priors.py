import numpy as np
import pytest
from scipy import stats

from baselines.neural._jax import double_precision
from baselines.neural.network import Network, NetworkPosterior
from baselines.neural.priors import NetworkModel, Noise, WeightPrior, padded
from baselines.neural.surrogate import posterior_at
from boring.exceptions import InvalidInputError

NETWORK = Network(2, (3,))
N = NETWORK.n_parameters
RNG = np.random.default_rng(0)
X, Y = RNG.uniform(-1, 1, (6, 2)), RNG.standard_normal(6)


def log_density(model, position):
    with double_precision():
        return float(model.log_density(position, padded(X, Y)))


def log_likelihood(theta, sd):
    outputs = NetworkPosterior(NETWORK, theta[None]).members(X)[:, 0]
    return stats.norm.logpdf(Y, outputs, sd).sum()


def test_gaussian_posterior_is_the_papers_energy():
    # E = tau_p / 2 |theta|^2 + tau_n / 2 |y - f|^2, up to a constant.
    model = NetworkModel(NETWORK, WeightPrior("gaussian", 0.7), Noise("fixed", 0.3))
    found, expected = [], []
    for seed in (1, 2):
        z = np.random.default_rng(seed).standard_normal(N)
        outputs = NetworkPosterior(NETWORK, 0.7 * z[None]).members(X)[:, 0]
        energy = (0.7 * z) @ (0.7 * z) / (2 * 0.7**2) + ((Y - outputs) ** 2).sum() / (2 * 0.3**2)
        found.append(-log_density(model, z))
        expected.append(energy)
    assert found[1] - found[0] == pytest.approx(expected[1] - expected[0], rel=1e-10)


def test_learned_noise_and_scales_have_the_densities_of_their_logarithms():
    model = NetworkModel(NETWORK, WeightPrior("hierarchical"), Noise("gamma", 2.0, 200.0))
    found, expected = [], []
    for seed in (1, 2):
        position = model.draw(np.random.default_rng(seed), 1)[0]
        z, log_scales, log_noise = position[:N], position[N:-1], position[-1]
        scales = np.exp(log_scales)
        theta = np.concatenate(
            [s * z[g.slice] for s, g in zip(scales, NETWORK.groups, strict=True)]
        )
        total = log_likelihood(theta, np.exp(log_noise)) + stats.norm.logpdf(z).sum()
        total += (stats.gamma.logpdf(scales, 2, scale=50) + log_scales).sum()
        total += stats.gamma.logpdf(np.exp(log_noise), 2, scale=1 / 200) + log_noise
        found.append(log_density(model, position))
        expected.append(total)
    assert found[1] - found[0] == pytest.approx(expected[1] - expected[0], rel=1e-9)


def test_cauchy_and_log_normal_densities():
    noise = Noise("log-normal", -6.0, 1.5)
    model = NetworkModel(NETWORK, WeightPrior("cauchy", 2.0), noise)
    position = model.draw(np.random.default_rng(3), 1)[0]
    start = NETWORK.groups[-2].start
    z = position[:N]
    scales = np.full(N, 2.0)
    scales[NETWORK.groups[-2].slice] = 2.0 / 3  # 1 / H
    total = stats.norm.logpdf(z[:start]).sum() + stats.cauchy.logpdf(z[start:]).sum()
    total += stats.norm.logpdf(position[-1], -3.0, 0.75)
    total += log_likelihood(scales * z, np.exp(position[-1]))
    assert log_density(model, position) == pytest.approx(total, rel=1e-10)


def test_scales_of_groups():
    fan_in = NetworkModel(NETWORK, WeightPrior("fan-in", 3.0))
    each = NetworkModel(NETWORK, WeightPrior("gaussian", (1.0, 2.0, 3.0, 4.0)))
    weights = fan_in.weights(np.ones((1, N)))[0]
    listed = each.weights(np.ones((1, N)))[0]
    root = np.sqrt([2, 2, 3, 3])
    for k, group in enumerate(NETWORK.groups):
        np.testing.assert_allclose(weights[group.slice], 3.0 / root[k])
        np.testing.assert_allclose(listed[group.slice], k + 1.0)


def test_parameters_of_all_positions_are_those_of_each():
    for prior in (WeightPrior("cauchy", 2.0), WeightPrior("hierarchical")):
        model = NetworkModel(NETWORK, prior, Noise("gamma", 2.0, 200.0))
        positions = model.draw(np.random.default_rng(7), 2)
        with double_precision():
            expected = [np.asarray(model.parameters(position)) for position in positions]
        np.testing.assert_allclose(model.weights(positions), expected, rtol=1e-12)


def test_padding_changes_nothing():
    model = NetworkModel(NETWORK)
    z = np.random.default_rng(4).standard_normal(N)
    with double_precision():
        bare = float(model.log_density(z, (X, Y, np.ones(6))))
    assert log_density(model, z) == pytest.approx(bare, rel=1e-12)
    assert padded(X, Y)[0].shape == (16, 2)


def draws_of_step_networks(kind, units, n):
    network = Network(1, (units,), "step")
    model = NetworkModel(network, WeightPrior(kind, 1.0))
    positions = model.draw(np.random.default_rng(5), n)
    if kind == "gaussian":  # sd 1 / sqrt(H) of the output weights
        positions[:, network.groups[-2].slice] /= np.sqrt(units)
    weights = model.weights(positions)
    return NetworkPosterior(network, weights).members(np.linspace(-3, 3, 400)[:, None])


def test_draws_jump_at_any_width_under_cauchy_priors_but_not_under_gaussian_ones():
    jump = {}
    for kind in ("gaussian", "cauchy"):
        for units in (30, 1000):
            f = draws_of_step_networks(kind, units, 40)
            share = np.abs(np.diff(f, axis=0)).max(axis=0) / np.ptp(f, axis=0)
            jump[kind, units] = np.median(share)
    assert jump["gaussian", 1000] < 0.6 * jump["gaussian", 30]
    assert jump["cauchy", 1000] > 2 * jump["gaussian", 1000]
    assert jump["cauchy", 1000] > 0.6 * jump["cauchy", 30]


def test_prior_spread_of_three_layers_is_the_papers():
    # Kruse 2022, ch. 3: three layers of 50 tanh units, all weights and biases N(0, 1).
    model = NetworkModel(Network(1, (50, 50, 50)), WeightPrior("gaussian", 1.0))
    weights = model.weights(model.draw(np.random.default_rng(8), 1000))
    f = NetworkPosterior(model.network, weights).members(np.array([[0.5]]))[0]
    assert f.std() == pytest.approx(6.6, rel=0.1)


def test_wide_networks_with_gaussian_priors_are_gaussian():
    excess = []
    for units in (2, 500):
        # Small weights below, so that hidden units are nearly normal: excess about 6 / H.
        prior = WeightPrior("gaussian", (0.3, 0.3, float(units**-0.5), 0.01))
        model = NetworkModel(Network(1, (units,)), prior)
        positions = model.draw(np.random.default_rng(6), 4000)
        weights = model.weights(positions)
        f = NetworkPosterior(model.network, weights).members(np.array([[0.8]]))[0]
        excess.append(stats.kurtosis(f))
    assert excess[0] > 1.5
    assert abs(excess[1]) < 0.4


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: WeightPrior("laplace"), "kind must be one of"),
        (lambda: WeightPrior("cauchy", (1.0, 2.0)), "needs kind='gaussian'"),
        (lambda: WeightPrior("gaussian", -1.0), "scale"),
        (lambda: Noise("fixed", 0.0), "a must be"),
        (lambda: NetworkModel(NETWORK, WeightPrior("gaussian", (1.0, 2.0))), "4 groups"),
    ],
)
def test_bad_priors_are_refused(make, match):
    with pytest.raises(InvalidInputError, match=match):
        make()


def test_variance_of_the_noise_is_the_mean_over_positions():
    network = Network(1, (2,), "tanh")
    learned = NetworkModel(network, WeightPrior(), Noise("log-normal", -2.0, 1.0))
    positions = np.zeros((3, learned.n_coordinates))
    positions[:, -1] = np.log([0.1, 0.2, 0.4])  # logarithms of standard deviations
    expected = (0.01 + 0.04 + 0.16) / 3
    assert learned.noise_variance(positions) == pytest.approx(expected, rel=1e-12)
    assert posterior_at(learned, positions).noise_variance == pytest.approx(expected, rel=1e-12)
    fixed = NetworkModel(network, WeightPrior(), Noise("fixed", 0.3))
    assert fixed.noise_variance(positions[:, :-1]) == pytest.approx(0.09, rel=1e-12)
