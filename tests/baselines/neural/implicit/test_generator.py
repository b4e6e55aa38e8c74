"""Shapes and dependence of the deep implicit model."""

from __future__ import annotations

import numpy as np
import pytest

from baselines.neural.implicit.generator import (
    CODE_DIM,
    draw_code,
    generate,
    initial_generator,
    log_density,
)
from baselines.neural.implicit.layers import random_seed, single_precision
from baselines.neural.implicit.regression import RegressionTarget, padded

jax = pytest.importorskip("jax")


@pytest.fixture
def key():
    with single_precision():
        return random_seed(np.random.default_rng(0))


def numbers(initial, *arguments):
    """Return normal numbers in the shapes of initial parameters, which nothing compiles for."""
    rng = np.random.default_rng(2)
    shapes = jax.eval_shape(initial, *arguments)
    return jax.tree.map(lambda one: rng.standard_normal(one.shape).astype(np.float32), shapes)


def test_shapes_of_many_inputs_and_observations(key):
    """Of one input and a few observations: `test_ivbnn.py`."""
    d, n = 10, 40
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((n, d)), rng.standard_normal(n)
    width, data = padded(X, y)
    assert width == 2 * len(data[0])
    target = RegressionTarget(d, width)
    assert target.heads == ((d + 1) * width, width + 1)

    @jax.jit
    def drawn(generator):
        theta, code = target.draw(generator, key, 6, data)
        return theta, code, target.reference(key, 6, data), target.predict(theta, data[0])

    with single_precision():
        theta, code, reference, outputs = map(np.asarray, drawn(numbers(target.initial, key)[0]))
    assert reference.shape == theta.shape == (6, (d + 2) * width + 1)
    assert code.shape == (6,)
    assert outputs.shape == (6, len(data[0]))
    # 2 n hidden units exist, with d + 2 weights each, and one bias.
    assert ((theta != 0).sum(axis=1) == (d + 2) * 2 * n + 1).all()
    assert ((reference != 0).sum(axis=1) == (d + 2) * 2 * n + 1).all()


@jax.jit
def drawn(generator, key):
    return generate(generator, draw_code(key, 5))


def test_second_layers_weights_are_made_from_the_first_layers_alone(key):
    with single_precision():
        generator = numbers(lambda key: initial_generator(key, 8, (4, 3)), key)
        first, second = map(np.asarray, drawn(generator, key))
        W, b = generator["heads"][1]
        np.testing.assert_allclose(second, first @ W + b, rtol=1e-5, atol=1e-5)
        # With the first layer's weights held, no code and no noise changes the second's.
        W, b = generator["heads"][0]
        generator["heads"][0] = (0.0 * W, b + 1.0)
        first, second = map(np.asarray, drawn(generator, key))
    assert np.ptp(first, axis=0).max() == 0
    assert np.ptp(second, axis=0).max() == 0


def test_permuted_noise_changes_the_draws_of_the_same_codes(key):
    run = jax.jit(generate)
    with single_precision():
        generator = numbers(lambda key: initial_generator(key, 16, (6, 3)), key)
        z, noise = draw_code(key, 5)
        same, again, other = (run(generator, (z, one)) for one in (noise, noise, noise[::-1]))
    for a, b, c in zip(same, again, other, strict=True):
        assert np.array_equal(a, b)
        changed = np.abs(np.asarray(a) - np.asarray(c)).max(axis=1) > 1e-4
        assert changed.tolist() == [True, True, False, True, True]  # the middle one stays


def test_density_of_the_code_is_that_of_a_standard_normal_but_for_a_constant(key):
    with single_precision():
        code = draw_code(key, 4)
    z = np.asarray(code[0], dtype=float)
    assert z.shape == (4, CODE_DIM)
    np.testing.assert_allclose(log_density(code), -0.5 * (z**2).sum(axis=1), rtol=1e-5)
