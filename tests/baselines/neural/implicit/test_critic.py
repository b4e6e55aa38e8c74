"""The critic finds the log ratio of two densities, and a generator that follows it nears p."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.stats import norm

from baselines.neural._jax import load
from baselines.neural.implicit.critic import critic_loss, initial_critic, log_ratio
from baselines.neural.implicit.layers import random_seed, single_precision
from baselines.neural.implicit.training import Training, train

pytest.importorskip("jax")

WIDTH = 32


@dataclass(frozen=True)
class Affine:
    """A generator a + exp(s) z of one normal variable, for the target N(0, 1).

    The data are what a and s begin at: one program, compiled once, serves all beginnings.
    """

    def initial(self, key):
        return load("jax.numpy").zeros(2), initial_critic(key, 1, WIDTH)

    def draw(self, generator, key, n, data):
        z = load("jax.random").normal(key, (n,))
        mean, log_sd = data[0] + generator
        return (mean + load("jax.numpy").exp(log_sd) * z)[:, None], -0.5 * z**2

    def reference(self, key, n, data):
        return load("jax.random").normal(key, (n, 1))

    def cost(self, theta, data, progress):
        return load("jax.numpy").zeros(len(theta))

    def utility(self, theta, ratio, cost, data):
        return 0.5 * theta[:, 0] ** 2

    def weight(self, progress):
        return 1.0


def begun(mean, sd):
    return (np.array([mean, np.log(sd)], dtype=np.float32),)


def divergence(mean, log_sd):
    return 0.5 * (np.exp(2 * log_sd) + mean**2 - 1.0) - log_sd


def test_loss_is_the_cross_entropy_of_telling_p_from_q():
    rng = np.random.default_rng(0)
    with single_precision():
        critic = initial_critic(random_seed(rng), 2, 5)
        p, q = rng.standard_normal((7, 2)), rng.standard_normal((9, 2)) + 1
        p, q = (one.astype(np.float32) for one in (p, q))
        loss = float(critic_loss(critic, p, q))
        on_p, on_q = (np.asarray(log_ratio(critic, one), dtype=float) for one in (p, q))
    expected = -np.log(1 / (1 + np.exp(-on_p))).mean() - np.log(1 / (1 + np.exp(on_q))).mean()
    assert loss == pytest.approx(expected, rel=1e-5)


def test_critic_is_the_log_ratio_of_p_to_q_on_the_bulk():
    settings = Training(300, 2, 512, rate=0.0, critic_rate=4e-3, kappa=0.0)
    points = np.linspace(*norm.ppf([0.1, 0.9], 0.3, 1.15), 40)
    with single_precision():
        key = random_seed(np.random.default_rng(1))
        trained = train(Affine(), settings, key, begun(0.6, 1.3))
        found = np.asarray(log_ratio(trained.critic, points[:, None].astype(np.float32)))
    ratio = norm.logpdf(points) - norm.logpdf(points, 0.6, 1.3)
    assert np.ptp(ratio) > 0.5
    assert np.abs(found - ratio).max() < 0.1


def test_divergence_falls_when_the_generator_follows_the_critic():
    settings, start = Training(600, 2, 512, rate=1e-2, critic_rate=4e-3, kappa=0.0), begun(1.5, 0.6)
    with single_precision():
        trained = train(Affine(), settings, random_seed(np.random.default_rng(2)), start)
    before = divergence(1.5, np.log(0.6))
    after = divergence(*(start[0] + np.asarray(trained.generator, dtype=float)))
    assert before > 1.0
    assert after < 0.03
