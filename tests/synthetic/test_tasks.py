"""Problems with real data: definitions checked against independent computations."""

import pickle
import sys
import time

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_digits
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.gaussian_process.kernels import RBF
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Lasso

from boring.exceptions import InvalidInputError, UnknownNameError
from synthetic import get_problem
from synthetic.tasks import boosting, lasso_synthetic
from synthetic.tasks._data import diabetes, digits, folds
from synthetic.tasks.lasso import PENALTY_RANGE

NAMES = {
    "lasso-diabetes-65": 65,
    "lasso-breast-cancer-30": 30,
    "lasso-simple-60": 60,
    "lasso-medium-100": 100,
    "lasso-high-300": 300,
    "kernel-digits-64": 64,
    "boosting-diabetes-11": 11,
    "forest-digits-14": 14,
    "cascade-digits-10": 10,
    "completion-digits-3": 3,
}
LASSO = [name for name in NAMES if name.startswith("lasso")]


def sample(problem, n, seed=0):
    return problem.space.sample(n, np.random.default_rng(seed))


@pytest.mark.parametrize("name", NAMES)
def test_shape_determinism_and_what_is_known(name):
    problem, again = get_problem(name, seed=0), get_problem(name, seed=9)
    assert (problem.name, problem.dim, problem.direction) == (name, NAMES[name], "minimize")
    assert problem.optimum is None
    assert problem.effective_dim is None
    assert problem.noise_std == 0.0
    X = sample(problem, 3)
    before = np.random.get_state()  # noqa: NPY002
    start = time.perf_counter()
    y = problem(X)
    print(f"{name}: {(time.perf_counter() - start) / 3:.3f} s a call")
    assert y.shape == (3,)
    assert np.all(np.isfinite(y))
    assert np.all(y > 0.0)
    assert len(set(y)) == 3
    assert problem(X[1]) == y[1]
    np.testing.assert_array_equal(again(X), y)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(problem))(X[:1]), y[:1])
    after = np.random.get_state()  # noqa: NPY002
    np.testing.assert_array_equal(after[1], before[1])
    assert after[2:] == before[2:]
    assert problem(np.empty((0, problem.dim))).shape == (0,)


@pytest.mark.parametrize("name", ["lasso-breast-cancer-30", "kernel-digits-64"])
def test_gradient_agrees_to_second_order(name):
    problem = get_problem(name)
    rng = np.random.default_rng(2)
    middle = problem.space.unscale(np.full(problem.dim, 0.2))
    x = middle + 0.2 * rng.standard_normal(problem.dim)
    v = rng.standard_normal(problem.dim)
    steps = np.array([1e-2, 3e-3, 1e-3])
    base, slope = problem(x), problem.gradient(x) @ v

    def errors(slope):
        return np.array([abs(problem(x + step * v) - base - step * slope) for step in steps])

    def order(slope):
        return np.polyfit(np.log(steps), np.log(errors(slope)), 1)[0]

    assert order(slope) == pytest.approx(2.0, abs=0.3)
    assert order(1.05 * slope) < 1.5  # the check can fail


@pytest.mark.parametrize("name", LASSO)
def test_lasso_gradient_agrees_with_central_differences(name):
    problem = get_problem(name)
    x = problem.space.unscale(np.linspace(-0.3, 0.4, problem.dim))
    gradient = problem.gradient(x)
    largest = np.argsort(-np.abs(gradient))[:3]
    for j in largest:
        e = 1e-4 * np.eye(problem.dim)[j]
        assert gradient[j] == pytest.approx((problem(x + e) - problem(x - e)) / 2e-4, rel=1e-2)


@pytest.mark.parametrize("name", LASSO)
def test_coefficients_satisfy_the_optimality_conditions(name):
    problem = get_problem(name)
    for x in (*sample(problem, 1), problem.space.lower, problem.space.upper):
        fold = problem.formula.folds[0]
        beta = problem.formula.coefficients(x, fold)
        residual = fold.y_train - fold.X_train @ beta
        pull = fold.X_train.T @ residual / len(residual)
        weights = np.exp(x)
        slack = 1e-3 * weights.max()
        assert np.all(np.abs(pull) <= weights + slack)
        active = beta != 0.0
        np.testing.assert_allclose(
            pull[active], (weights * np.sign(beta))[active], rtol=0, atol=slack
        )


def test_equal_weights_are_the_plain_lasso():
    problem = get_problem("lasso-breast-cancer-30")
    x = problem.space.unscale(np.zeros(30))
    errors = []
    for fold in problem.formula.folds:
        plain = Lasso(alpha=float(np.exp(x[0])), fit_intercept=False, tol=1e-10)
        plain.fit(fold.X_train, fold.y_train)
        errors.append(np.mean((plain.predict(fold.X_test) - fold.y_test) ** 2))
    assert problem(x) == pytest.approx(np.mean(errors), rel=1e-6)


def test_penalty_box_runs_from_the_least_that_silences_everything():
    for name in LASSO:
        problem = get_problem(name)
        np.testing.assert_allclose(problem.space.width, np.log(PENALTY_RANGE))
    problem = get_problem("lasso-diabetes-65")
    X = np.vstack([fold.X_test for fold in problem.formula.folds])
    y = np.concatenate([fold.y_test for fold in problem.formula.folds])
    a = np.exp(problem.space.upper[0])
    for factor, silent in ((1.0001, True), (0.95, False)):
        plain = Lasso(alpha=factor * a, fit_intercept=False, tol=1e-9).fit(X, y)
        assert np.all(plain.coef_ == 0.0) == silent


def test_diabetes_has_its_quadratic_terms():
    raw, target = load_diabetes(return_X_y=True)
    problem = get_problem("lasso-diabetes-65")
    fold = problem.formula.folds[0]
    rows = np.arange(442) % 5 == 0
    assert fold.X_test.shape == (89, 65)
    standard = (raw - raw.mean(axis=0)) / raw.std(axis=0)
    np.testing.assert_allclose(fold.X_test[:, :10], standard[rows])
    correlations = np.corrcoef(fold.X_test[:, 10:].T, (standard[:, 3] * standard[:, 7])[rows])[-1]
    assert np.isclose(np.abs(correlations[:-1]), 1.0).sum() == 1
    np.testing.assert_allclose(fold.y_test, ((target - target.mean()) / target.std())[rows])


def test_folds_test_every_row_once():
    X = np.arange(22.0).reshape(11, 2)
    parts = folds(X, X[:, 0], 3)
    np.testing.assert_array_equal(np.sort(np.concatenate([p.y_test for p in parts])), X[:, 0])
    for part in parts:
        assert len(part.y_train) + len(part.y_test) == 11
        assert not set(part.y_train) & set(part.y_test)


@pytest.mark.parametrize(("size", "n", "dim", "k"), [("simple", 30, 60, 3), ("high", 150, 300, 15)])
def test_synthetic_lasso_follows_the_design(size, n, dim, k):
    problem = lasso_synthetic(size)
    fold = problem.formula.folds[0]
    rows = len(fold.y_train) + len(fold.y_test)
    assert rows == int(0.85 * n)
    X = np.vstack([f.X_test for f in problem.formula.folds])
    y = np.concatenate([f.y_test for f in problem.formula.folds])
    beta = np.zeros(dim)
    beta[:: dim // k] = (-1.0) ** np.arange(k)
    signal, noise = X @ beta, y - X @ beta
    assert np.count_nonzero(beta) == k
    assert np.linalg.norm(signal) / np.linalg.norm(noise) == pytest.approx(10.0, rel=0.3)
    assert problem.formula.scale == pytest.approx(np.mean(noise**2))
    neighbours = (X[:, :-1] * X[:, 1:]).mean()
    assert neighbours == pytest.approx(0.6, abs=0.15)
    # Penalties that know the support do far better than equal ones.
    wise = np.where(beta != 0.0, problem.space.lower, problem.space.upper)
    assert problem(wise) < 0.7 * problem(problem.space.unscale(np.full(dim, -0.5)))


def test_unknown_synthetic_size():
    with pytest.raises(UnknownNameError, match="medium"):
        lasso_synthetic("huge")


def test_kernel_machine_agrees_with_scikit_learn():
    problem = get_problem("kernel-digits-64")
    X, Y = digits()
    raw, labels = load_digits(return_X_y=True)
    np.testing.assert_array_equal(X, raw / 16.0)
    np.testing.assert_array_equal(Y.argmax(axis=1), labels)
    s = np.random.default_rng(1).uniform(-1.0, 0.0, 64)
    kernel = RBF(length_scale=10.0**-s)
    reference = KernelRidge(alpha=0.01, kernel=kernel).fit(X[:300], Y[:300])
    predictions = reference.predict(X[300:900])
    np.testing.assert_allclose(problem.formula.predict(s), predictions, atol=1e-9)
    expected = ((Y[300:900] - predictions) ** 2).sum(axis=1).mean()
    assert problem(s) == pytest.approx(expected, rel=1e-9)
    assert (predictions.argmax(axis=1) == labels[300:900]).mean() > 0.8


def test_black_pixels_do_not_matter_and_others_do():
    problem = get_problem("kernel-digits-64")
    X, _ = digits()
    black = np.ptp(X[:900], axis=0) == 0.0
    assert set(np.flatnonzero(black)) >= {0, 32, 39}
    x = problem.space.unscale(np.zeros(64))
    moved = np.where(black, problem.space.upper, x)
    assert problem(moved) == pytest.approx(problem(x), rel=1e-9)
    moved = np.where(black, x, x + 0.3)
    assert abs(problem(moved) - problem(x)) > 0.01


def test_boosting_is_scikit_learns_with_integers_rounded():
    problem = get_problem("boosting-diabetes-11")
    x = sample(problem, 1, seed=3)[0]
    settings = problem.formula.settings(x)
    assert type(settings["n_estimators"]) is int
    assert type(settings["max_depth"]) is int
    X, y = diabetes()
    errors = []
    for k in range(3):
        rows = np.arange(442) % 3 == k
        model = GradientBoostingRegressor(loss="huber", random_state=0, **settings)
        model.fit(X[~rows], y[~rows])
        errors.append(np.mean((model.predict(X[rows]) - y[rows]) ** 2))
    assert problem(x) == pytest.approx(np.mean(errors), rel=1e-12)
    # A step too small to change the depth changes nothing, one that does changes the value.
    index = [p.name for p in boosting.HYPERPARAMETERS].index("max_depth")
    x[index] = 3.1
    near, far = x.copy(), x.copy()
    near[index], far[index] = 2.9, 1.2
    assert problem(near) == problem(x)
    assert problem(far) != problem(x)


def test_ends_of_the_box_are_the_ends_of_the_ranges():
    problem = get_problem("boosting-diabetes-11")
    assert 10 <= problem.dim <= 15
    for corner, end in ((problem.space.lower, "lower"), (problem.space.upper, "upper")):
        settings = problem.formula.settings(corner)
        for parameter in boosting.HYPERPARAMETERS:
            assert settings[parameter.name] == pytest.approx(getattr(parameter, end), rel=1e-12)
        assert np.isfinite(problem(corner))


def test_boosting_has_no_gradient():
    problem = get_problem("boosting-diabetes-11")
    with pytest.raises(InvalidInputError, match="no gradient"):
        problem.gradient(problem.space.lower)


def test_a_missing_scikit_learn_is_named_with_its_extra(monkeypatch):
    diabetes.cache_clear()
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    with pytest.raises(ImportError, match=r"boring-bo\[tasks\]"):
        get_problem("lasso-diabetes-65")


def test_noise_of_a_task_is_a_share_of_its_sampled_range():
    noisy = get_problem("lasso-breast-cancer-30-noise10", seed=1)
    X = sample(noisy, 64)
    assert noisy.noise_std == pytest.approx(0.1 * np.ptp(noisy(X)), rel=0.5)
    x = noisy.space.lower
    assert noisy(x) == get_problem("lasso-breast-cancer-30")(x)
    assert noisy.observe(x, np.random.default_rng(0)) != noisy(x)
