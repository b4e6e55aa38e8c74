import json
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.optimize import minimize

from baselines.neural._chains import pack, unpack
from baselines.neural._jax import double_precision, load
from baselines.neural.convergence import effective_sample_size, split_r_hat
from baselines.neural.hmc import HmcSettings, sample_hmc
from baselines.neural.network import Network, NetworkPosterior
from baselines.neural.nuts import NutsSettings, sample_nuts
from baselines.neural.priors import NetworkModel, Noise, WeightPrior, padded
from baselines.neural.reference_samplers import (
    gaussian_conditionals,
    gibbs,
    linear_model_conditionals,
    metropolis,
)
from baselines.neural.sghmc import SghmcSettings, sample_sghmc
from baselines.neural.surrogate import stan_positions
from baselines.neural.variational import VariationalSettings, fit_variational
from boring.exceptions import InvalidInputError


@dataclass(frozen=True)
class Normal:
    """N(mean, precision^-1); the data are both."""

    def log_density(self, q, data):
        mean, precision = data
        return -0.5 * (q - mean) @ precision @ (q - mean)


@dataclass(frozen=True)
class Ring:
    """Radius N(radius, sd^2), any angle."""

    def log_density(self, q, data):
        radius, sd = data
        norm = load("jax.numpy").sqrt((q**2).sum())
        return -0.5 * ((norm - radius) / sd) ** 2


@dataclass(frozen=True)
class Funnel:
    """Neal's: v ~ N(0, sd^2), the others N(0, exp(v)); the data are sd."""

    def log_density(self, q, sd):
        v, x = q[0], q[1:]
        scaled = (x**2).sum() * load("jax.numpy").exp(-v)
        return -0.5 * ((v / sd) ** 2 + scaled + v * x.size)


@dataclass(frozen=True)
class Schools:
    """Eight schools (Rubin 1981): mu ~ N(0, 5^2), tau ~ half-Cauchy(5), effects mu + tau z."""

    def log_density(self, q, data):
        jnp = load("jax.numpy")
        effects, errors = data
        mu, log_tau, z = q[0], q[1], q[2:]
        residual = (effects - mu - jnp.exp(log_tau) * z) / errors
        prior = -0.5 * (mu / 5.0) ** 2 - jnp.log1p(jnp.exp(2.0 * log_tau) / 25.0) + log_tau
        return prior - 0.5 * ((z**2).sum() + (residual**2).sum())


@dataclass(frozen=True)
class TwoNormals:
    """w N(first mean, precision^-1) + (1 - w) N(second, same precision); the data are all."""

    def log_density(self, q, data):
        first, second, precision, w = data
        a, b = (-0.5 * (q - mean) @ precision @ (q - mean) for mean in (first, second))
        jnp = load("jax.numpy")
        return jnp.logaddexp(a + jnp.log(w), b + jnp.log(1.0 - w))


@dataclass(frozen=True)
class Location:
    """Mean of normal values of unit spread, flat prior; the data count as those of a network."""

    def log_density(self, q, data):
        _, y, counts = data
        return -0.5 * (counts * (y - q[0]) ** 2).sum()


MEAN = np.array([1.0, -2.0])
COVARIANCE = np.array([[1.0, 1.2], [1.2, 4.0]])
GAUSSIAN = (MEAN, np.linalg.inv(COVARIANCE))
#: The same for TwoNormals, so that one compiled program of HMC serves several tests.
ONE_OF_TWO = (MEAN, MEAN, np.linalg.inv(COVARIANCE), 0.5)
HMC = HmcSettings(300, 2000, 1, 5, 0.9)


def check_moments(chains, mean, covariance, errors=4.0):
    """Means within so many standard errors; covariance within 20 per cent of its scale."""
    size = effective_sample_size(chains)
    assert size.min() > 100
    flat = chains.reshape(-1, chains.shape[-1])
    sd = np.sqrt(np.diag(covariance))
    assert np.all(np.abs(flat.mean(axis=0) - mean) < errors * sd / np.sqrt(size))
    assert np.abs(np.cov(flat.T) - covariance).max() < 0.2 * covariance.max()


def starts(n, p=2):
    return np.random.default_rng(9).standard_normal((n, p))


def test_leapfrog_is_reversible_keeps_volume_and_has_an_energy_error_of_second_order():
    model = NetworkModel(Network(2, (4,)), WeightPrior(), Noise("fixed", 0.3))
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (9, 2))
    data = padded(X, np.sin(3 * X[:, 0]))
    q, p = rng.standard_normal((2, model.n_coordinates))
    with double_precision():
        jax = load("jax")
        integrators = load("blackjax.mcmc.integrators")

        def density(q):
            return model.log_density(q, data)

        step = integrators.velocity_verlet(density, lambda p, **_: 0.5 * (p**2).sum())

        @jax.jit
        def run(q, p, size, n):
            first = integrators.IntegratorState(q, p, *jax.value_and_grad(density)(q))
            last = jax.lax.fori_loop(0, n, lambda _, state: step(state, size), first)
            change = 0.5 * (last.momentum**2).sum() - last.logdensity
            return last.position, last.momentum, change - 0.5 * (p**2).sum() + first.logdensity

        q1, p1, error = run(q, p, 0.01, 40)
        back, momentum, _ = run(q1, -p1, 0.01, 40)
        np.testing.assert_allclose(back, q, atol=1e-10)
        np.testing.assert_allclose(-momentum, p, atol=1e-10)
        assert np.abs(q1 - q).max() > 0.1
        # Volume: the determinant of the map of (q, p), by central differences.
        h, size, columns = 1e-4, len(q), []
        for shift in h * np.eye(2 * size):
            ahead, behind = (
                np.concatenate(run(q + s * shift[:size], p + s * shift[size:], 0.01, 40)[:2])
                for s in (1, -1)
            )
            columns.append((ahead - behind) / (2 * h))
        assert np.linalg.det(columns) == pytest.approx(1.0, abs=1e-4)
        errors = [float(run(q, p, 0.04 / n, 10 * n)[2]) for n in (1, 2, 4, 8, 16)]
    assert abs(float(error)) > 0
    slope = np.polyfit(np.log([1, 1 / 2, 1 / 4, 1 / 8, 1 / 16]), np.log(np.abs(errors)), 1)[0]
    assert slope == pytest.approx(2.0, abs=0.2)


@pytest.mark.parametrize("first", [0.07, 7.0])
def test_hmc_finds_its_step_size_and_the_moments(first):
    # About .7 is right: it starts ten times too small, and ten times too large.
    chains = sample_hmc(
        TwoNormals(), starts(4), np.full(4, first), HMC, ONE_OF_TWO, np.random.default_rng(0)
    )
    assert chains.draws.shape == (4, 2000, 2)
    np.testing.assert_allclose(chains.acceptance.mean(), 0.9, atol=0.05)
    check_moments(chains.draws, MEAN, COVARIANCE)
    assert split_r_hat(chains.draws).max() < 1.02
    assert chains.n_divergent == 0


def linear_model():
    """Data, model and exact posterior of a linear model, whose weights have prior N(0, 1)."""
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, (12, 2))
    y = X @ [1.0, -0.5] + 0.3 + 0.4 * rng.standard_normal(12)
    design = np.column_stack([X, np.ones(12)])
    covariance = np.linalg.inv(np.eye(3) + design.T @ design / 0.4**2)
    mean = covariance @ design.T @ y / 0.4**2
    model = NetworkModel(Network(2, ()), WeightPrior(), Noise("fixed", 0.4))
    return X, y, model, mean, covariance


def test_nuts_has_the_moments_of_a_linear_model():
    X, y, model, mean, covariance = linear_model()
    settings = NutsSettings(300, 600, 1, 6)
    chains = sample_nuts(
        model, starts(2, 3), np.full(2, 0.1), settings, padded(X, y), np.random.default_rng(0)
    )
    check_moments(chains.draws, mean, covariance)
    assert split_r_hat(chains.draws).max() < 1.05


@pytest.mark.slow
def test_chains_of_a_network_agree_in_predictions_and_not_in_weights():
    # Units can change places, and each chain keeps to its own order of them.
    rng = np.random.default_rng(0)
    x = np.linspace(-0.9, 0.9, 15)
    y = np.sin(4.0 * x) + 0.1 * rng.standard_normal(15)
    model = NetworkModel(Network(1, (8,)), WeightPrior("gaussian", 2.0), Noise("fixed", 0.1))
    chains = sample_nuts(
        model,
        stan_positions(model, 4, rng),
        np.full(4, 0.05),
        NutsSettings(300, 400, 1, 7),
        padded(x[:, None], y),
        rng,
    )
    grid = np.linspace(-1, 1, 41)[:, None]
    outputs = NetworkPosterior(model.network, model.weights(chains.pooled)).members(grid)
    assert split_r_hat(outputs.T.reshape(4, 400, -1)).max() < 1.05
    of_weights = split_r_hat(chains.draws)
    assert np.median(of_weights) > 1.1
    assert of_weights.max() > 1.5


@pytest.mark.slow
def test_hmc_has_the_moments_of_a_linear_model():
    X, y, model, mean, covariance = linear_model()
    settings = HmcSettings(300, 1500, 1, 10)
    chains = sample_hmc(
        model, starts(4, 3), np.full(4, 0.1), settings, padded(X, y), np.random.default_rng(0)
    )
    check_moments(chains.draws, mean, covariance)


def within_errors(chains, mean, sd, errors=4.0):
    """Whether means and second moments are within so many standard errors of the true ones."""
    flat = chains.reshape(-1, chains.shape[-1])
    off = np.abs(flat.mean(axis=0) - mean) * np.sqrt(effective_sample_size(chains)) / sd
    squares = (chains - mean) ** 2
    spread = squares.reshape(flat.shape).std(axis=0) / np.sqrt(effective_sample_size(squares))
    off_squares = np.abs(((flat - mean) ** 2).mean(axis=0) - sd**2) / spread
    return max(off.max(), off_squares.max()) < errors


def schools_by_quadrature(effects, errors):
    """Mean and sd of mu, log tau and the eight effects; all but mu and tau are integrated out."""
    mu, log_tau = np.linspace(-25, 35, 301)[:, None], np.linspace(-12, 7, 951)[None]
    tau = np.exp(log_tau)
    logs = -0.5 * (mu / 5.0) ** 2 - np.log1p((tau / 5.0) ** 2) + log_tau
    for effect, error in zip(effects, errors, strict=True):
        variance = error**2 + tau**2
        logs = logs - 0.5 * (np.log(variance) + (effect - mu) ** 2 / variance)
    weights = np.exp(logs - logs.max())
    moments = [(mu, mu**2), (log_tau, log_tau**2)]
    for effect, error in zip(effects, errors, strict=True):
        variance = 1.0 / (error**-2.0 + tau**-2.0)
        centre = variance * (effect / error**2 + mu / tau**2)
        moments.append((centre, variance + centre**2))
    first, second = np.array(
        [[(weights * part).sum() / weights.sum() for part in pair] for pair in moments]
    ).T
    return first, np.sqrt(second - first**2)


@pytest.mark.slow
def test_nuts_on_the_eight_schools_agrees_with_quadrature():
    effects = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
    errors = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])
    chains = sample_nuts(
        Schools(),
        starts(2, 10),
        np.full(2, 0.1),
        NutsSettings(500, 1500, 1, 6),
        (effects, errors),
        np.random.default_rng(1),
    )
    mu, log_tau, z = np.split(chains.draws, [1, 2], axis=2)
    quantities = np.concatenate([mu, log_tau, mu + np.exp(log_tau) * z], axis=2)
    assert within_errors(quantities, *schools_by_quadrature(effects, errors))
    assert split_r_hat(quantities).max() < 1.05
    assert effective_sample_size(quantities).min() > 500


@pytest.mark.slow
def test_nuts_covers_a_mild_funnel_and_r_hat_tells_of_neals():
    settings = NutsSettings(500, 1000, 1, 7, 0.95)
    mild, steep = (
        sample_nuts(
            Funnel(), starts(4, 10), np.full(4, 0.1), settings, sd, np.random.default_rng(0)
        ).draws[:, :, :1]
        for sd in (1.0, 3.0)
    )
    assert within_errors(mild, 0.0, 1.0)
    assert split_r_hat(mild).max() < 1.05
    # No single step size suits both ends of v ~ N(0, 9): the chains differ, and it is seen.
    assert split_r_hat(steep).max() > 1.05


def test_hmc_has_the_moments_of_a_mixture():
    # sd of either coordinate: 1 + 3/16 * 3^2 = 2.6875.
    data = (np.full(2, -1.5), np.full(2, 1.5), np.eye(2), 0.75)
    chains = sample_hmc(
        TwoNormals(), starts(4), np.full(4, 0.1), HMC, data, np.random.default_rng(0)
    )
    assert within_errors(chains.draws, -0.75, np.sqrt(2.6875))
    assert split_r_hat(chains.draws).max() < 1.02


def test_metropolis_has_the_moments():
    draws, accepted = metropolis(Normal(), starts(8), 1.5, 6000, GAUSSIAN, np.random.default_rng(0))
    check_moments(draws[:, 500:], MEAN, COVARIANCE)
    assert 0.2 < accepted.mean() < 0.7


def test_gibbs_has_the_moments():
    conditionals = gaussian_conditionals(*GAUSSIAN)
    runs = [
        gibbs(conditionals, np.zeros(2), 3000, np.random.default_rng(seed))[100:]
        for seed in range(2)
    ]
    check_moments(np.array(runs), MEAN, COVARIANCE)


def test_gibbs_on_a_linear_model_agrees_with_quadrature():
    rng = np.random.default_rng(4)
    x = rng.uniform(-1, 1, 8)
    y = 0.8 * x + 0.3 * rng.standard_normal(8)
    a, b = 2.0, 1.0
    draws = gibbs(
        linear_model_conditionals(x[:, None], y, a, b), np.ones(3), 8000, np.random.default_rng(5)
    )[200:]
    # Precisions integrated out, p(w) is a product of two Student densities.
    w = np.linspace(-4, 6, 20001)
    logs = -(a + 0.5) * np.log(b + w**2 / 2)
    sse = ((y[:, None] - x[:, None] * w) ** 2).sum(axis=0)
    logs -= (a + 4.0) * np.log(b + sse / 2)
    weights = np.exp(logs - logs.max())
    mean = (weights * w).sum() / weights.sum()
    sd = np.sqrt((weights * (w - mean) ** 2).sum() / weights.sum())
    size = effective_sample_size(draws[None, :, :1])
    assert abs(draws[:, 0].mean() - mean) < 4 * sd / np.sqrt(float(size))
    assert draws[:, 0].std() == pytest.approx(sd, rel=0.05)


@pytest.mark.slow
@pytest.mark.statistical
def test_hmc_is_worth_more_for_each_gradient_than_metropolis_in_50_dimensions():
    p = 50
    line = np.arange(p)
    covariance = 0.9 ** np.abs(line[:, None] - line)
    data = (np.zeros(p), np.linalg.inv(covariance))
    n_leapfrog, n_draws = 10, 1000
    chains = sample_hmc(
        Normal(),
        starts(4, p),
        np.full(4, 0.1),
        HmcSettings(500, n_draws, 1, n_leapfrog),
        data,
        np.random.default_rng(0),
    )
    per_gradient = effective_sample_size(chains.draws).min() / (4 * n_draws * n_leapfrog)
    walk, _ = metropolis(
        Normal(), starts(4, p), 2.4 / p**0.5 * 0.3, 50_000, data, np.random.default_rng(0)
    )
    per_step = effective_sample_size(walk[:, 10_000:]).min() / (4 * 40_000)
    assert per_gradient > 3 * per_step


def test_stochastic_gradients_have_the_variance_of_a_gaussian():
    # Batches of 20 of 200: most of a gradient's variance is the batch's.
    y = np.random.default_rng(0).standard_normal(200)
    data = padded(np.zeros((200, 1)), y)
    settings = SghmcSettings(2000, 3000, 40, step_size=0.02)
    draws = sample_sghmc(Location(), np.zeros(1), settings, data, 200, np.random.default_rng(1))[
        :, 0
    ]
    assert draws.mean() == pytest.approx(y.mean(), abs=0.02)
    assert draws.var() == pytest.approx(1 / 200, rel=0.1)


RING = (2.0, 0.3)


def best_bound_of_one_gaussian():
    """Return the largest evidence lower bound on the ring, by quadrature in the plane."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    z = np.stack(np.meshgrid(nodes, nodes), axis=-1).reshape(-1, 2)
    w = np.outer(weights, weights).ravel() / weights.sum() ** 2

    def cost(parameters):
        mean, log_sd = parameters[:2], parameters[2:]
        radii = np.linalg.norm(mean + np.exp(log_sd) * z, axis=1)
        log_p = -0.5 * ((radii - RING[0]) / RING[1]) ** 2
        return -(w @ log_p + log_sd.sum() + np.log(2 * np.pi) + 1.0)

    starts = ([0.0, 0.0, 0.0, 0.0], [2.0, 0.0, -1.0, -1.0], [1.0, 1.0, -0.5, -0.5])
    return -min(minimize(cost, start, method="Nelder-Mead").fun for start in starts)


def test_a_mixture_has_a_higher_bound_on_a_ring_than_one_gaussian():
    rng = np.random.default_rng(0)
    means, settings = rng.standard_normal((3, 2)), VariationalSettings(1500, 8, 0.02)
    mixture = fit_variational(Ring(), means, np.full_like(means, -1.0), settings, RING, rng)
    assert mixture.bound[-100:].mean() > mixture.bound[:20].mean()
    assert mixture.bound[-300:].mean() > best_bound_of_one_gaussian() + 0.3
    # It does not exceed the log of the integral, 2 pi r sd sqrt(2 pi) to within its tail.
    evidence = np.log(2 * np.pi * 2.0 * 0.3 * np.sqrt(2 * np.pi))
    assert mixture.bound[-300:].mean() < evidence + 0.02
    np.testing.assert_allclose(np.exp(mixture.log_weights).sum(), 1.0)
    radii = np.linalg.norm(mixture.draw(2000, np.random.default_rng(0)), axis=1)
    assert abs(np.median(radii) - 2.0) < 0.4


@pytest.mark.slow
def test_one_gaussian_is_found_exactly_where_the_target_is_one():
    data = (MEAN, np.diag([4.0, 0.25]))
    found = fit_variational(
        Normal(),
        np.zeros((1, 2)),
        np.zeros((1, 2)),
        VariationalSettings(3000, 8, 0.02),
        data,
        np.random.default_rng(0),
    )
    np.testing.assert_allclose(found.means[0], MEAN, atol=0.05)
    np.testing.assert_allclose(np.exp(found.log_sds[0]), [0.5, 2.0], rtol=0.05)


@pytest.mark.slow
def test_nuts_covers_the_ring_and_has_its_radius():
    settings = NutsSettings(500, 3000, 1, 8)
    data = (2.0, 0.2)
    chains = sample_nuts(
        Ring(), starts(4), np.full(4, 0.1), settings, data, np.random.default_rng(0)
    )
    radii = np.linalg.norm(chains.draws, axis=2)
    # Density r exp(-(r - 2)^2 / 2 sd^2) of the radius.
    r = np.linspace(0.5, 3.5, 3001)
    weights = r * np.exp(-0.5 * ((r - 2.0) / 0.2) ** 2)
    mean = (weights * r).sum() / weights.sum()
    variance = (weights * (r - mean) ** 2).sum() / weights.sum()
    assert radii.mean() == pytest.approx(mean, rel=0.05)
    assert radii.var() == pytest.approx(variance, rel=0.1)
    walk, _ = metropolis(Ring(), starts(4), 0.3, 3500, data, np.random.default_rng(0))
    by_nuts = effective_sample_size(chains.draws).min()
    assert by_nuts > 2 * effective_sample_size(walk[:, 500:]).min()


def test_r_hat_by_hand():
    # Halves [0, 2], [1, 3] and [4, 6], [5, 7]: means 1, 2, 5, 6, each of variance 2.
    chains = np.array([[0.0, 2.0, 1.0, 3.0], [4.0, 6.0, 5.0, 7.0]])
    between = np.var([1, 2, 5, 6], ddof=1)
    expected = np.sqrt((2 * between / 2.0 + 1) / 2)
    assert float(split_r_hat(chains)) == pytest.approx(expected, rel=1e-12)
    both = split_r_hat(np.stack([chains, chains + 1], axis=2))
    np.testing.assert_allclose(both, expected)


def test_r_hat_sees_a_drift_that_all_chains_share():
    rng = np.random.default_rng(0)
    steady = rng.standard_normal((4, 400))
    assert float(split_r_hat(steady)) < 1.02
    assert float(split_r_hat(steady + np.linspace(0, 3, 400))) > 1.2


def test_effective_sample_size_of_an_autoregression():
    rng, rho, n = np.random.default_rng(0), 0.8, 8000
    chains = np.zeros((2, n))
    noise = rng.standard_normal((2, n)) * np.sqrt(1 - rho**2)
    for t in range(1, n):
        chains[:, t] = rho * chains[:, t - 1] + noise[:, t]
    expected = 2 * n * (1 - rho) / (1 + rho)
    assert float(effective_sample_size(chains)) == pytest.approx(expected, rel=0.2)


def test_short_chains_are_refused():
    with pytest.raises(InvalidInputError, match="at least 4 draws"):
        split_r_hat(np.zeros((2, 3)))


def test_states_survive_their_packing():
    array = np.random.default_rng(0).standard_normal((2, 3)).astype(np.float32)
    packed = json.loads(json.dumps(pack(array)))
    np.testing.assert_array_equal(unpack(packed), array)
    assert unpack(packed).dtype == np.float64
