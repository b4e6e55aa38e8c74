"""The mixture: its map to the simplex, and limits of the energy with a closed form."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax

from synthetic import get_problem
from synthetic.physics.alloy import EDGE, AlloyEnergy, fractions


def ideal(pure):
    k = len(pure)
    return AlloyEnergy(np.asarray(pure, float), np.zeros((k, k)), np.zeros((k, k)))


def test_fractions_are_uniform_on_the_simplex():
    rng = np.random.default_rng(0)
    P = fractions(rng.uniform(EDGE, 1.0 - EDGE, (40_000, 13)))
    np.testing.assert_allclose(P.sum(axis=1), 1.0, rtol=1e-12)
    assert P.min() > 0.0
    # Dirichlet(1, ..., 1): means, variances and the survival of one fraction, (1 - t)^12.
    np.testing.assert_allclose(P.mean(axis=0), 1.0 / 13.0, atol=2e-3)
    np.testing.assert_allclose(P.var(axis=0), 12.0 / (13.0**2 * 14.0), rtol=0.06)
    for t in (0.05, 0.2):
        assert np.mean(P[:, 3] > t) == pytest.approx((1.0 - t) ** 12, abs=0.012)


def test_every_element_is_within_reach_pure_or_in_pairs():
    problem = get_problem("alloy-13")
    for i in range(13):
        x = problem.space.lower.copy()
        x[i] = problem.space.upper[i]
        p = fractions(x[np.newaxis])[0]
        assert p[i] > 1.0 - 1e-5
        assert problem(x) == pytest.approx(problem.formula.pure[i], abs=1e-4)


def test_ideal_mixture_is_softmax():
    pure = np.array([0.3, -1.2, 0.8, 0.0])
    formula = ideal(pure)
    best = softmax(-pure)
    x = 1.0 - np.exp(-best)
    np.testing.assert_allclose(fractions(x[np.newaxis])[0], best, rtol=1e-12)
    assert formula.value(x[np.newaxis])[0] == pytest.approx(-logsumexp(-pure), abs=1e-12)
    np.testing.assert_allclose(formula.gradient(x[np.newaxis]), 0.0, atol=1e-12)
    X = np.random.default_rng(0).uniform(EDGE, 1.0 - EDGE, (5000, 4))
    assert formula.value(X).min() >= -logsumexp(-pure)


def test_two_components_separate_above_the_critical_coefficient():
    # Symmetric regular solution: p log p + q log q + L p q has its spinodal at L = 2.
    for L, curvature in ((1.9, 1.0), (2.1, -1.0)):
        formula = AlloyEnergy(np.zeros(2), np.array([[0.0, L], [0.0, 0.0]]), np.zeros((2, 2)))
        p = np.array([0.49, 0.5, 0.51])
        energy = formula.of_fractions(np.column_stack((p, 1.0 - p)))
        assert np.sign(np.diff(energy, n=2)[0]) == curvature
        assert energy[1] == pytest.approx(np.log(0.5) + L / 4.0)
    skewed = AlloyEnergy(np.zeros(2), np.zeros((2, 2)), np.array([[0.0, 3.0], [0.0, 0.0]]))
    P = np.array([[0.7, 0.3]])
    expected = 0.7 * np.log(0.7) + 0.3 * np.log(0.3) + 0.21 * 3.0 * 0.4
    assert skewed.of_fractions(P)[0] == pytest.approx(expected)


def test_scaling_the_lengths_changes_nothing():
    problem = get_problem("alloy-13")
    x = np.random.default_rng(1).uniform(0.1, 0.6, 13)
    assert problem(1.0 - (1.0 - x) ** 1.7) == pytest.approx(problem(x), rel=1e-12)
    ray = -(1.0 - x) * np.log1p(-x)
    assert problem.gradient(x) @ ray == pytest.approx(0.0, abs=1e-12)


def test_it_has_several_basins():
    problem = get_problem("alloy-13")
    bounds = np.column_stack((problem.space.lower, problem.space.upper))
    found = [
        minimize(problem, x, jac=problem.gradient, bounds=bounds, method="L-BFGS-B").fun
        for x in problem.space.sample(12, np.random.default_rng(0))
    ]
    assert np.ptp(found) > 0.2
    assert len(np.unique(np.round(found, 2))) >= 3
