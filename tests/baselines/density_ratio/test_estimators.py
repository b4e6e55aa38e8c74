"""Each estimator against scikit-learn, a closed form or known densities."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit, logit
from scipy.stats import ks_1samp, norm
from sklearn.ensemble import RandomForestClassifier
from sklearn.neighbors import KernelDensity as ScikitDensity
from sklearn.svm import SVC

from baselines.density_ratio.bore_forest import ForestScore
from baselines.density_ratio.bore_mlp import fit_scikit_network
from baselines.density_ratio.bore_svm import fit_svm
from baselines.density_ratio.kde_ratio import KdeRatioScore, KernelDensity, density_of
from baselines.density_ratio.labels import relative_ratio
from baselines.density_ratio.tpe import ParzenWindows, parzen_windows
from boring.testing import check_gradient


def rings(n=60, seed=0, dim=3):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, dim))
    return X, np.sum(X**2, axis=1) < np.quantile(np.sum(X**2, axis=1), 1 / 3), rng


def at(score):
    def function(x):
        value, slope = score.value_and_gradient(x[None, :])
        return float(value[0]), slope[0]

    return function


def test_svm_is_scikit_learns_and_its_gradient_is_right():
    X, good, rng = rings()
    score = fit_svm(X, good, cost=2.0)
    machine = SVC(C=2.0, gamma="scale").fit(X, good)
    points = rng.uniform(-1, 1, (20, 3))
    assert score.value(points) == pytest.approx(machine.decision_function(points), abs=1e-9)
    assert score.value_and_gradient(points)[0] == pytest.approx(score.value(points), abs=1e-12)
    check_gradient(at(score), points[0], rng)


def test_network_is_scikit_learns_and_its_gradient_is_right():
    X, good, rng = rings()
    score = fit_scikit_network(X, good, (7, 5), 0.1, 200, seed=3)
    probability = expit(score.value(X))
    assert np.mean((probability > 0.5) == good) == 1.0
    again = fit_scikit_network(X, good, (7, 5), 0.1, 200, seed=3)
    assert np.array_equal(again.theta, score.theta)
    check_gradient(at(score), X[0], rng, scale=0.2)


def test_network_logits_equal_scikit_learns_probabilities(monkeypatch):
    X, good, _ = rings()
    from sklearn.neural_network import MLPClassifier

    kept = []
    original = MLPClassifier.fit

    def fit(self, *arguments):
        kept.append(self)
        return original(self, *arguments)

    monkeypatch.setattr(MLPClassifier, "fit", fit)
    score = fit_scikit_network(X, good, (6,), 0.1, 50, seed=0)
    assert expit(score.value(X)) == pytest.approx(kept[0].predict_proba(X)[:, 1], abs=1e-12)


def test_forest_votes_and_gives_no_gradient():
    X, good, _ = rings()
    forest = RandomForestClassifier(20, random_state=0).fit(X, good)
    score = ForestScore(forest)
    value, slope = score.value_and_gradient(X)
    assert np.array_equal(value, forest.predict_proba(X)[:, 1])
    assert not slope.any()


def test_kernel_density_equals_scikit_learns():
    X, _, rng = rings(n=30)
    points = rng.uniform(-1, 1, (10, 3))
    ours = KernelDensity(X, 0.3, -np.inf).log_density(points)[0]
    theirs = ScikitDensity(bandwidth=0.3).fit(X).score_samples(points)
    assert ours == pytest.approx(theirs, abs=1e-10)


def test_kernel_ratio_gradient_and_its_bound_far_from_all_data():
    X, good, rng = rings()
    reach = np.ones(3)
    score = KdeRatioScore(density_of(X[good], X, reach), density_of(X[~good], X, reach))
    check_gradient(at(score), X[0], rng, scale=0.3)
    far = np.full((1, 3), 30.0)
    # Only the uniform shares are left there.
    assert score.value(far)[0] == pytest.approx(np.log((~good).sum() + 1) - np.log(good.sum() + 1))


def test_a_single_good_point_has_a_density():
    X, _, _ = rings()
    density = density_of(X[:1], X, np.ones(3))
    assert density.width == pytest.approx(np.sqrt(X.var(axis=0).mean()))


def test_parzen_windows_integrate_to_one_and_widths_are_the_larger_gap():
    points = np.array([[-0.5], [0.0], [0.1], [0.9]])
    windows = parzen_windows(points, np.ones(1))
    # Ends of the box are neighbours; the narrowest is a sixth of the side.
    assert windows.widths[:, 0] == pytest.approx([0.5, 0.5, 0.8, 0.8])
    tight = parzen_windows(np.array([[0.1], [0.0], [-0.1]]), np.ones(1))
    assert tight.widths[:, 0] == pytest.approx([0.9, 0.4, 0.9])

    def density(z):
        return float(np.exp(windows.log_density(np.array([[z]])))[0])

    assert quad(density, -1, 1, limit=100)[0] == pytest.approx(1.0, abs=1e-8)


def test_parzen_windows_are_a_product_over_inputs():
    rng = np.random.default_rng(0)
    points, reach = rng.uniform(-1, 1, (5, 2)), np.array([1.0, 2.0])
    both = parzen_windows(points, reach)
    Z = rng.uniform(-1, 1, (4, 2))
    apart = [parzen_windows(points[:, [j]], reach[[j]]).log_density(Z[:, [j]]) for j in range(2)]
    assert both.log_density(Z) == pytest.approx(sum(apart))


def test_draws_follow_the_density():
    windows = parzen_windows(np.array([[-0.9], [0.2], [0.3]]), np.ones(1))
    drawn = windows.draw(2000, np.random.default_rng(1))[:, 0]
    assert np.abs(drawn).max() <= 1.0
    grid = np.linspace(-1, 1, 4001)
    mass = np.cumsum(np.exp(windows.log_density(grid[:, None])))
    mass /= mass[-1]
    assert ks_1samp(drawn, lambda z: np.interp(z, grid, mass)).pvalue > 0.01
    # A window that is wrong is seen.
    wrong = ParzenWindows(windows.centers, 0.3 * windows.widths, windows.reach)
    mass = np.cumsum(np.exp(wrong.log_density(grid[:, None])))
    assert ks_1samp(drawn, lambda z: np.interp(z, grid, mass / mass[-1])).pvalue < 1e-3


def test_draws_come_from_the_uniform_share_too():
    """Two narrow windows at one end: only the uniform third of the mixture reaches the other."""
    windows = ParzenWindows(np.full((2, 1), -3.0), np.full((2, 1), 0.1), np.full(1, 4.0))
    drawn = windows.draw(900, np.random.default_rng(2))[:, 0]
    assert np.mean(drawn > 0.0) == pytest.approx(1 / 6, abs=0.04)


# The two-Gaussian problem of BORE: good .3 N(2, 1) + .7 N(-3, .5^2), bad N(0, 2^2).
SHARE = 0.5


def log_good(x):
    return np.log(0.3 * norm.pdf(x, 2.0, 1.0) + 0.7 * norm.pdf(x, -3.0, 0.5))


def two_gaussians(seed, n=300):
    rng = np.random.default_rng(seed)
    first = rng.random(n) < 0.3
    good = np.where(first, rng.normal(2.0, 1.0, n), rng.normal(-3.0, 0.5, n))
    X = np.concatenate([good, rng.normal(0.0, 2.0, n)])[:, None]
    return X, np.arange(2 * n) < n


def errors_of_ratio(estimate):
    """Mean absolute error of the relative ratio over the data, and the error of its mode."""
    x = np.linspace(-6.0, 6.0, 601)
    log_bad = norm.logpdf(x, 0.0, 2.0)
    exact = relative_ratio(log_good(x), log_bad, SHARE)
    ours = estimate(x[:, None])
    assert ours.max() <= 1 / SHARE + 1e-12
    density = SHARE * np.exp(log_good(x)) + (1 - SHARE) * np.exp(log_bad)
    error = float(np.trapezoid(np.abs(ours - exact) * density, x))
    return error, abs(x[int(np.argmax(ours))] - x[int(np.argmax(exact))])


def network_ratio(seed):
    X, good = two_gaussians(seed)
    score = fit_scikit_network(X / 6.0, good, (32, 32), 0.1, 200, seed)
    return lambda x: expit(score.value(x / 6.0)) / SHARE


def kernel_ratio(seed):
    X, good = two_gaussians(seed)
    parts = [density_of(part, X, np.full(1, 6.0)) for part in (X[good], X[~good])]
    good_density, bad_density = (KernelDensity(p.points, p.width, -np.inf) for p in parts)
    return lambda x: relative_ratio(
        good_density.log_density(x)[0], bad_density.log_density(x)[0], SHARE
    )


@pytest.mark.statistical
def test_the_network_recovers_known_densities_and_kernels_shift_the_mode():
    """Three seeds of 300 + 300 points; over four, medians .06 and .18, modes off by .3 and .6."""
    network = np.array([errors_of_ratio(network_ratio(seed)) for seed in range(3)])
    kernels = np.array([errors_of_ratio(kernel_ratio(seed)) for seed in range(3)])
    assert (network[:, 0] < 0.15).all()
    assert (network[:, 0] < kernels[:, 0]).all()
    assert np.median(kernels[:, 1]) > 0.4


def test_a_class_probability_is_the_probability_of_improvement():
    """y | x normal around sin 3x: P(y >= tau | x) by a network of labels and in closed form."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (5000, 1))
    y = np.sin(3.0 * X[:, 0]) + 0.5 * rng.standard_normal(5000)
    tau = float(np.quantile(y, 2 / 3))
    score = fit_scikit_network(X, y >= tau, (8, 8), 1.0, 300, seed=0)
    grid = np.linspace(-0.95, 0.95, 41)
    closed = norm.sf((tau - np.sin(3.0 * grid)) / 0.5)
    assert np.abs(expit(score.value(grid[:, None])) - closed).mean() < 0.05
    assert np.corrcoef(score.value(grid[:, None]), logit(closed))[0, 1] > 0.98
