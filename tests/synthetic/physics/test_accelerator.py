"""Beam optics: conserved quantities, closed forms, and what is hidden in the knobs."""

import numpy as np
import pytest
from scipy.linalg import expm

from synthetic import get_problem
from synthetic.physics.accelerator import (
    BETA,
    DRIFT,
    EMITTANCE,
    LIGHT_WIDTH,
    QUADRUPOLE,
    STRENGTH,
    BeamLine,
    accelerator,
    drift,
    quadrupole,
)


@pytest.mark.parametrize("strength", [2.0, -2.0, 1e-6, 30.0])
def test_quadrupole_solves_its_equation_of_motion(strength):
    generator = np.array([[0.0, 1.0], [-strength, 0.0]])
    lens = quadrupole(np.array([strength]), 0.3)[0]
    np.testing.assert_allclose(lens, expm(0.3 * generator), rtol=1e-12)
    assert np.linalg.det(lens) == pytest.approx(1.0, abs=1e-13)


def test_thin_strong_lens_has_its_focal_length():
    lens = quadrupole(np.array([1e6]), 1e-6)[0]  # 1 / f = k l = 1 / m
    focus = drift(1.0) @ lens @ np.array([0.7, 0.0])
    assert focus[0] == pytest.approx(0.0, abs=1e-5)


def test_emittance_is_conserved_along_the_line():
    line = accelerator(20, 0).formula
    rng = np.random.default_rng(0)
    strengths, kicks = line._settings(rng.uniform(-1.0, 1.0, (6, 20)))
    for plane in range(2):
        _, covariance = line._enter_channel(strengths, kicks[..., plane], plane)
        np.testing.assert_allclose(np.sqrt(np.linalg.det(covariance)), EMITTANCE, rtol=1e-10)


def test_beam_center_and_size_agree_with_a_cloud_of_tracked_particles():
    line = accelerator(9, 1).formula
    x = np.random.default_rng(1).uniform(-1.0, 1.0, (1, 9))
    strengths, kicks = line._settings(x)
    rng = np.random.default_rng(2)
    for plane in range(2):
        center, covariance = line._enter_channel(strengths, kicks[..., plane], plane)
        sizes = np.sqrt(EMITTANCE * np.array([BETA[plane], 1.0 / BETA[plane]]))
        cloud = line.incoming[plane] + sizes * rng.standard_normal((40_000, 2))
        sign = 1.0 if plane == 0 else -1.0
        for j, offset in enumerate(line.offsets[:, plane]):
            position, angle = cloud.T
            angle = angle + kicks[0, j, plane]
            position = position + DRIFT * angle
            # Small steps through the field, angle by half, position, angle by half.
            step, k = QUADRUPOLE / 100, sign * strengths[0, j]
            for _ in range(100):
                angle = angle - 0.5 * step * k * (position - offset)
                position = position + step * angle
                angle = angle - 0.5 * step * k * (position - offset)
            cloud = np.column_stack((position, angle))
        error = np.abs(cloud.mean(axis=0) - center[0])
        assert np.all(error < 5.0 * cloud.std(axis=0) / np.sqrt(len(cloud)))
        np.testing.assert_allclose(np.cov(cloud.T), covariance[0], rtol=0.04, atol=1e-5)


def test_perfect_beam_in_the_channel_gives_the_overlap_of_its_size():
    line = BeamLine(offsets=np.zeros((2, 2)), incoming=np.zeros((2, 2)))
    value = line.value(np.zeros((1, 5)))[0]
    logarithm = 0.0
    for plane in range(2):
        sign = 1.0 if plane == 0 else -1.0
        beam = EMITTANCE * np.diag([BETA[plane], 1.0 / BETA[plane]])
        F, D = (expm(QUADRUPOLE * np.array([[0, 1], [-s * sign * STRENGTH, 0]])) for s in (1, -1))
        L = np.array([[1.0, DRIFT], [0.0, 1.0]])
        enter = D @ L @ F @ L
        for turn in range(1, 5):
            total = np.linalg.matrix_power(enter, turn) @ enter
            size = (total @ beam @ total.T)[0, 0]
            logarithm += 0.5 * np.log(4 * LIGHT_WIDTH**2 * size / (LIGHT_WIDTH**2 + size) ** 2)
    assert value == pytest.approx(np.exp(logarithm / 8), rel=1e-10)


@pytest.mark.parametrize("dim", [5, 20, 40])
def test_signal_is_a_share_with_light_for_some_random_settings(dim):
    problem = get_problem(f"accelerator-{dim}", seed=3)
    y = problem(problem.space.sample(2000, np.random.default_rng(0)))
    assert np.all((y >= 0.0) & (y <= 1.0))
    assert np.quantile(y, 0.9) > 0.2
    assert y.max() > 10 * problem.noise_std


def test_steering_alone_has_at_most_four_directions():
    # Correctors move the orbit linearly; the channel sees a position and an angle in each plane.
    problem = get_problem("accelerator-40", seed=0)
    steering = np.arange(40) % 3 != 0
    X = np.zeros((60, 40))
    X[:, steering] = np.random.default_rng(0).uniform(-1.0, 1.0, (60, steering.sum()))
    slopes = problem.gradient(X)[:, steering] / problem(X)[:, np.newaxis]
    singular = np.linalg.svd(slopes)[1]
    assert singular[4] < 1e-9 * singular[0]
    assert singular[3] > 1e-3 * singular[0]


def test_observations_have_the_stated_noise():
    problem = get_problem("accelerator-5", seed=0)
    x = np.zeros(5)
    seen = problem.observe(np.tile(x, (4000, 1)), np.random.default_rng(0))
    assert seen.std() == pytest.approx(0.01, rel=0.1)
    assert seen.mean() == pytest.approx(problem(x), abs=1e-3)
