import itertools
import warnings

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import ConstantKernel, Matern

from boring import BoringOptimizer
from boring.acquisition.improvement import LogExpectedImprovement, LogProbabilityAbove
from boring.data import Observations
from boring.exceptions import NonFiniteWarning
from boring.feasibility import (
    Feasibility,
    LogSum,
    Told,
    fit_constraint,
    margin_warp,
)
from boring.loop.local_turn import fit_local
from boring.models.gp import GaussianProcessModel
from boring.testing import check_gradient

NAN = float("nan")


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def half_space(X):
    return X @ np.array([0.6, 0.8, 0.0, 0.0, 0.0])[: X.shape[1]] - 0.2


def observed(n, dim, rng, *, fails=True):
    X = rng.uniform(-1, 1, (n, dim))
    y = np.where(half_space(X) > 0, NAN, X.sum(axis=1)) if fails else X.sum(axis=1)
    constraints = np.column_stack([X[:, 0] ** 2 + X[:, 1] - 0.5, -X[:, 1] - 0.9])
    return Observations(X, y, constraints)


def values_at(feasibility):
    def value_and_gradient(u):
        value, gradient = feasibility.value_and_gradient(u[None, :])
        return float(value[0]), gradient[0]

    return value_and_gradient


def test_gradients_of_failures_and_constraints_together(rng):
    feasibility = Feasibility(observed(25, 3, rng), rng.uniform(-1, 1, (2, 3)))
    for u in rng.uniform(-0.8, 0.8, (3, 3)):
        check_gradient(values_at(feasibility), u, rng, scale=0.1)


def test_gradients_in_a_neighbourhood(rng):
    # Without failures: next to their jump the model is too steep for a slope to show.
    feasibility = Feasibility(observed(25, 3, rng, fails=False))
    near = feasibility.near(np.array([0.5, 0.2, 0.0]), 0.3, 20, fit_local)
    assert len(near.members) >= 2

    def value_and_gradient(u):
        value, gradient = near.value_and_gradient(u[None, :])
        return float(value[0]), gradient[0]

    check_gradient(value_and_gradient, np.array([0.3, -0.2, 0.1]), rng, scale=0.1)


def test_it_adds_to_log_expected_improvement_and_is_a_log_probability(rng):
    data = observed(25, 3, rng)
    feasibility = Feasibility(data)
    U = rng.uniform(-1, 1, (200, 3))
    value, gradient = feasibility.value_and_gradient(U)
    assert value.shape == (200,)
    assert gradient.shape == (200, 3)
    assert np.all(value <= 0)
    assert np.isfinite(value).all()
    assert np.isfinite(gradient).all()
    np.testing.assert_allclose(feasibility.value(U), value, rtol=1e-7)
    posterior = fit_constraint(data.X, data.constraints[:, 0])
    improvement = LogExpectedImprovement(posterior, 0.0)
    total = LogSum([improvement, feasibility])
    np.testing.assert_allclose(total.value(U), improvement.value(U) + value, rtol=1e-7)


def test_constraints_of_pending_points_are_known_with_their_mean(rng):
    data = observed(15, 3, rng, fails=False)
    one = Observations(data.X, data.y, data.constraints[:, :1])
    pending, U = np.array([[0.9, -0.9, 0.9]]), rng.uniform(-1, 1, (20, 3))
    posterior = fit_constraint(data.X, data.constraints[:, 0])
    for x in pending:
        posterior = posterior.append(x, posterior.predict(x[None])[0][0])
    expected = LogProbabilityAbove(posterior, extra_variance=posterior.noise_variance).value(U)
    np.testing.assert_allclose(Feasibility(one, pending).value(U), expected, rtol=1e-6)
    assert np.abs(Feasibility(one).value(U) - expected).max() > 1e-3


def test_a_neighbourhood_has_as_many_points_with_a_value_however_many_fail(rng):
    X = np.linspace(0.0, 0.9, 10)[:, None]
    y = np.where(np.isin(np.arange(10), [1, 2, 4]), NAN, 1.0)
    seen = []

    def fit(offsets, margins):
        seen.append(offsets)
        return fit_local(offsets, margins, in_metric=False)

    Feasibility(Observations(X, y, X - 0.35)).near(X[0], 0.1, 5, fit)
    np.testing.assert_allclose(seen[0][:, 0], np.arange(8.0))


def calibration(probability, truth):
    """Return the mean log loss, and the expected calibration error over ten bins."""
    p = np.clip(probability, 1e-6, 1 - 1e-6)
    bins = np.digitize(p, np.linspace(0, 1, 11)[1:-1])
    gaps = [
        abs(p[bins == b].mean() - truth[bins == b].mean()) * np.mean(bins == b)
        for b in np.unique(bins)
    ]
    return -np.mean(np.where(truth, np.log(p), np.log1p(-p))), sum(gaps)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("dim", "n"), [(2, 30), (5, 60), (20, 60)])
def test_failures_are_foretold_as_well_as_by_another_library(dim, n):
    ours, theirs = [], []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        w = rng.standard_normal(dim)
        w /= np.linalg.norm(w)
        X, U = rng.uniform(-1, 1, (n, dim)), rng.uniform(-1, 1, (1000, dim))
        succeeded, truth = X @ w <= 0.2, U @ w <= 0.2
        data = Observations(X, np.where(succeeded, 0.0, NAN))
        ours.append(calibration(np.exp(Feasibility(data).value(U)), truth))
        kernel = ConstantKernel(1.0, (1e-2, 1e3)) * Matern(np.sqrt(dim), (5e-2, 1e3), nu=2.5)
        other = GaussianProcessClassifier(kernel).fit(X, succeeded)
        theirs.append(calibration(other.predict_proba(U)[:, 1], truth))
    ours, theirs = np.mean(ours, axis=0), np.mean(theirs, axis=0)
    assert ours[0] < 1.15 * theirs[0]
    assert ours[1] < theirs[1] + 0.03


def test_constraints_are_calibrated_and_know_their_half_space(rng):
    X, U = rng.uniform(-1, 1, (60, 5)), rng.uniform(-1, 1, (1000, 5))
    data = Observations(X, np.zeros(60), half_space(X)[:, None])
    p = np.exp(Feasibility(data).value(U))
    truth = half_space(U) <= 0
    loss, error = calibration(p, truth)
    assert np.mean((p > 0.5) == truth) > 0.97
    assert loss < 0.1
    assert error < 0.05


def test_one_accident_does_not_forbid_its_neighbourhood(rng):
    X = rng.uniform(-1, 1, (40, 4))
    y = X.sum(axis=1)
    y[7] = NAN
    here = Feasibility(Observations(X, y)).value(X[[7]] + 1e-3)
    assert np.exp(here[0]) > 0.5
    y[half_space(X) > 0.1] = NAN
    deep = np.full((1, 4), 0.9)
    assert np.exp(Feasibility(Observations(X, y)).value(deep)[0]) < 0.2


def test_failures_around_one_spot_forbid_it(rng):
    X = np.vstack([rng.uniform(-1, 1, (12, 2)), [-0.89, -0.12] + 0.01 * rng.normal(size=(8, 2))])
    y = np.where(X[:, 0] < 0.2, NAN, X.sum(axis=1))
    assert Feasibility(Observations(X, y)).value(np.array([[-0.89, -0.12]]))[0] < np.log(0.03)


def test_a_failure_that_a_constraint_explains_is_no_failure_of_its_own(rng):
    X = rng.uniform(-1, 1, (30, 3))
    c = X[:, [0]]
    explained = Observations(X, np.where(c[:, 0] > 0, NAN, 1.0), c)
    known = Observations(X, np.ones(30), c)
    U = rng.uniform(-1, 1, (50, 3))
    np.testing.assert_array_equal(Feasibility(explained).value(U), Feasibility(known).value(U))


@pytest.mark.parametrize("unit", [1e-300, 1e300])
def test_units_of_constraints_do_not_matter(rng, unit):
    X = rng.uniform(-1, 1, (25, 3))
    U = rng.uniform(-1, 1, (20, 3))
    c = half_space(np.pad(X, ((0, 0), (0, 2))))[:, None]
    plain = Feasibility(Observations(X, np.zeros(25), c))
    scaled = Feasibility(Observations(X, np.zeros(25), unit * c))
    np.testing.assert_allclose(scaled.value(U), plain.value(U), rtol=1e-3, atol=1e-6)
    near = scaled.near(X[0], 0.3, 20, fit_local).value(U)
    assert np.isfinite(near).all()


def test_of_very_many_points_a_sample_fits_a_constraint_and_all_foretell_it(rng, monkeypatch):
    fitted, fit = [], GaussianProcessModel.fit

    def counted(self, X, y, *arguments, **named):
        fitted.append(len(X))
        return fit(self, X, y, *arguments, **named)

    monkeypatch.setattr(GaussianProcessModel, "fit", counted)
    X = rng.uniform(-1, 1, (600, 3))
    posterior = fit_constraint(X, half_space(X))
    assert fitted == [500] * 4
    assert len(posterior.X) == 600
    others = rng.uniform(-1, 1, (200, 3))
    agree = (posterior.predict(others)[0] > 0) == (half_space(others) < 0)
    assert agree.mean() > 0.98


def test_the_warp_keeps_signs_and_takes_infinities():
    margins = margin_warp(np.array([-np.inf, -1.0, 0.0, 2.0, np.inf, 1e300]))
    assert np.isfinite(margins).all()
    np.testing.assert_array_equal(np.sign(margins), [1, 1, 0, -1, -1, -1])
    assert margin_warp(np.zeros(3)).tolist() == [0, 0, 0]
    assert np.sign(margin_warp(np.array([np.inf, -np.inf]))).tolist() == [-1, 1]


def test_what_cannot_be_had_sets_no_scale_and_wins_nothing():
    data = Observations(np.zeros((4, 1)), [0.0, 1.0, 1e9, -5.0], [[-1], [0], [1], [NAN]])
    told = Told.of(data)
    assert told.y[:2].tolist() == [0.0, 1.0]
    assert told.y[3] == -5.0
    assert 1.0 < told.y[2] < 30.0
    assert np.argmax(told.judged) == 1
    assert told.judged[2] < 0.0
    assert told.judged[3] == -5.0
    everything = Told.of(Observations(data.X, data.y))
    assert everything.eligible is None
    assert everything.judged is everything.y
    none = Told.of(Observations(data.X, data.y, np.ones((4, 1))))
    assert not none.has_incumbent


def test_a_run_leaves_the_wall_that_it_ran_into():
    """Without certainty about failures it stayed for 25 evaluations in a row."""
    optimizer = BoringOptimizer([[-1, 1]] * 2, direction="minimize", seed=0)
    failed = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NonFiniteWarning)
        for _ in range(30):
            x = optimizer.ask()[0]
            failed.append(x[0] < 0.2)
            optimizer.tell(x, NAN if failed[-1] else float(((x - 0.1) ** 2).sum()))
    runs = [len(list(group)) for fails, group in itertools.groupby(failed) if fails]
    assert max(runs) <= 10
    assert np.nanmin(optimizer.history.y) < 0.02
