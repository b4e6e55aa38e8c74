"""Distances against closed forms, and a likelihood that knows where its data come from."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize

from synthetic import get_problem
from synthetic.physics.supernovae import LIGHT, PARAMETERS, draw_supernovae, luminosity_distance

Z = np.array([0.01, 0.1, 0.5, 1.0, 1.5])
TRUTH = np.array([true for *_, true in PARAMETERS])


def test_distances_of_universes_with_a_closed_form():
    hubble_distance = LIGHT / 70.0
    de_sitter = luminosity_distance(Z, 70.0, 0.0, 0.0, -1.0, 0.0)
    np.testing.assert_allclose(de_sitter, hubble_distance * Z * (1.0 + Z), rtol=1e-12)
    einstein = luminosity_distance(Z, 70.0, 1.0, 0.0, -1.0, 0.0)
    expected = 2.0 * hubble_distance * (1.0 + Z) * (1.0 - 1.0 / np.sqrt(1.0 + Z))
    np.testing.assert_allclose(einstein, expected, rtol=1e-12)
    milne = luminosity_distance(Z, 70.0, 0.0, 1.0, -1.0, 0.0)
    np.testing.assert_allclose(milne, hubble_distance * (Z + 0.5 * Z**2), rtol=1e-12)
    # Mattig's formula, matter in any amount and nothing else.
    for matter in (0.3, 1.6):
        q = matter / 2.0
        mattig = (q * Z + (q - 1.0) * (np.sqrt(1.0 + 2.0 * q * Z) - 1.0)) / q**2
        computed = luminosity_distance(Z, 70.0, matter, 1.0 - matter, -1.0, 0.0)
        np.testing.assert_allclose(computed, hubble_distance * mattig, rtol=1e-12)


def test_distance_with_moving_dark_energy_agrees_with_adaptive_quadrature():
    matter, curvature, w0, wa = 0.27, -0.15, -0.8, 0.6

    def inverse(z):
        dark = (1 + z) ** (3 * (1 + w0 + wa)) * np.exp(-3 * wa * z / (1 + z))
        rest = 1.0 - matter - curvature
        return (matter * (1 + z) ** 3 + curvature * (1 + z) ** 2 + rest * dark) ** -0.5

    integrals = np.array([quad(inverse, 0.0, z, epsabs=1e-13, epsrel=1e-12)[0] for z in Z])
    root = np.sqrt(-curvature)
    expected = (1 + Z) * LIGHT / 65.0 * np.sin(root * integrals) / root
    computed = luminosity_distance(Z, 65.0, matter, curvature, w0, wa)
    np.testing.assert_allclose(computed, expected, rtol=1e-10)


def test_distance_is_smooth_through_flat_space():
    k = np.linspace(-0.02, 0.02, 41)[:, np.newaxis]
    distances = luminosity_distance(Z, 70.0, 0.3, k, -1.0, 0.0)
    # Across the point where a series takes over, too.
    assert np.abs(np.diff(distances, n=4, axis=0)).max() < 1e-6
    problem = get_problem("supernovae-9")
    gradient = problem.gradient(TRUTH)
    e = 1e-5 * np.eye(9)[2]
    assert gradient[2] == pytest.approx((problem(TRUTH + e) - problem(TRUTH - e)) / 2e-5, rel=1e-6)


def test_expansion_never_turns_around_in_the_box():
    problem = get_problem("supernovae-9")
    corners = np.stack(np.meshgrid(*[(0, 1)] * 9, indexing="ij"), axis=-1).reshape(-1, 9)
    values = problem(problem.space.lower + corners * problem.space.width)
    assert np.all(np.isfinite(values))


def test_data_are_those_of_the_published_values():
    problem = get_problem("supernovae-9")
    data = draw_supernovae()
    assert len(data.redshift) == 300
    # Chi squared of 300 normal errors, and the mean logarithm of their variance.
    variance = 0.12**2 + 0.1**2
    assert problem(TRUTH) == pytest.approx(1.0 + np.log(variance), abs=3.0 * np.sqrt(2.0 / 300.0))
    # Wilks: the best fit of nine parameters is better by about chi squared with nine degrees.
    best = minimize(
        lambda x: problem(problem.space.clip(x)),
        TRUTH,
        jac=lambda x: problem.gradient(problem.space.clip(x)),
        bounds=np.column_stack((problem.space.lower, problem.space.upper)),
        method="L-BFGS-B",
    )
    assert 0.0 < 300 * (problem(TRUTH) - best.fun) < 28.0  # 99.9 per cent
    for j, shift in ((1, 0.15), (6, 0.05), (7, -0.6), (8, 0.1)):
        assert problem(TRUTH + shift * np.eye(9)[j]) > problem(TRUTH)


def test_magnitude_and_hubble_constant_explain_each_other_away():
    problem = get_problem("supernovae-9")
    x = TRUTH.copy()
    x[0] *= 1.1
    x[5] += 5.0 * np.log10(1.1)
    prior = (5.0 * np.log10(1.1) / 0.027) ** 2 / 300
    assert problem(x) - problem(TRUTH) == pytest.approx(prior, rel=1e-9)
