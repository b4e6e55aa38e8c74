"""The optimiser: spread away from data, compilations, options."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from baselines.neural.implicit.ivbnn import IvbnnOptimizer, IvbnnOptions, fit_networks
from boring.exceptions import InvalidInputError
from boring.testing import check_optimizer

jax = pytest.importorskip("jax")

#: What is not here, and the number of inputs, is as in the fits of sinusoids: a program takes ten
#: seconds to compile, and one serves nearly all of these tests.
QUICK = {"steps": 20}


def four_points():
    X = np.array([[-0.8], [-0.35], [0.1], [0.7]])
    return X, np.sin(4.0 * X[:, 0])


@pytest.mark.slow
def test_four_points_of_a_sinusoid_spread_away_from_the_data():
    X, y = four_points()
    networks = fit_networks(X, y, IvbnnOptions(), np.random.default_rng(0))
    mean, variance = networks.predict(X)
    grid = np.linspace(-1.2, 1.2, 97)[:, None]
    away = np.abs(grid - X.T).min(axis=1) > 0.15
    assert np.abs(mean - y).max() < 0.1
    at_data = np.sqrt(variance).mean()
    assert np.sqrt(networks.predict(grid[away])[1]).mean() > 1.3 * at_data


def test_networks_follow_sixteen_points_of_a_sinusoid():
    # Where the order outweighs the likelihood they do not: .51 to .70 in four runs.
    rng = np.random.default_rng(0)
    X = np.sort(rng.uniform(-1, 1, (16, 1)), axis=0)
    y = np.sin(6.0 * X[:, 0])
    mean, _ = fit_networks(X, y, IvbnnOptions(), rng).predict(X)
    assert np.sqrt(np.mean((mean - y) ** 2)) < 0.3


def test_networks_state_the_noise_with_which_training_ends():
    X, y = four_points()
    networks = fit_networks(X, 50.0 * y, IvbnnOptions(**QUICK), np.random.default_rng(0))
    assert networks.noise_variance == pytest.approx((0.002 * 50.0 * y.std()) ** 2, rel=1e-9)


def test_nothing_is_compiled_anew_within_a_bucket_of_observations():
    compiled = []

    def listen(event, seconds, **_):
        if "backend_compile" in event:
            compiled.append(event)

    jax.monitoring.register_event_duration_secs_listener(listen)
    rng = np.random.default_rng(1)
    options = IvbnnOptions(**QUICK)
    fit_networks(rng.uniform(-1, 1, (4, 1)), rng.standard_normal(4), options, rng)
    compiled.clear()
    for n in (5, 11, 16):
        fit_networks(rng.uniform(-1, 1, (n, 1)), rng.standard_normal(n), options, rng)
    assert compiled == []
    jax.jit(lambda x: 2 * x)(1.0)
    assert compiled, "the listener hears what is compiled"


@pytest.mark.parametrize("acquisition", ["log-ei", "ucb", "empirical-ei"])
def test_proposes_in_the_box_by_each_acquisition(acquisition):
    optimizer = IvbnnOptimizer(
        [(0, 4)], direction="minimize", seed=0, acquisition=acquisition, **QUICK
    )
    result = optimizer.run(lambda x: float((x[0] - 1) ** 2), 8, progress=False)
    assert result.X.shape == (8, 1)
    assert (result.X >= 0).all()
    assert (result.X <= 4).all()
    assert np.isfinite(optimizer.surrogate.predict(np.zeros((1, 1)))[0]).all()


def test_works_in_one_dimension():
    # Here rather than with the other conformance checks: the program is compiled.
    assert check_optimizer(partial(IvbnnOptimizer, **QUICK), ["works_in_one_dimension"])


def test_draws_depend_on_the_generator_alone_and_jax_is_left_as_found():
    X, y = four_points()
    options = IvbnnOptions(**QUICK)
    before = jax.config.jax_enable_x64
    one, two, other = (
        fit_networks(X, y, options, np.random.default_rng(seed)).members(X) for seed in (3, 3, 4)
    )
    np.testing.assert_array_equal(one, two)
    assert np.abs(one - other).max() > 1e-3
    assert jax.config.jax_enable_x64 == before


def test_options_reach_the_training():
    training = IvbnnOptions(kappa=0.5, steps=9, critic_steps=3, batch=4).training()
    assert training[:3] == (9, 3, 4)
    assert training.kappa == 0.5
    with pytest.raises(InvalidInputError, match="kappa"):
        IvbnnOptions(kappa=-1.0)
    with pytest.raises(InvalidInputError, match="order"):
        IvbnnOptions(order="prior")
    with pytest.raises(InvalidInputError, match="n_members"):
        IvbnnOptions(n_members=1)
    with pytest.raises(InvalidInputError, match="acquisition"):
        IvbnnOptions(acquisition="mixture-ei")
