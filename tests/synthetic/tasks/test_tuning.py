"""Forest, cascade and completion against independent computations."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.ensemble import AdaBoostClassifier, RandomForestClassifier
from sklearn.model_selection import PredefinedSplit, cross_val_predict
from sklearn.svm import SVC

from boring.exceptions import InvalidInputError
from synthetic import get_problem
from synthetic.tasks._data import breast_cancer
from synthetic.tasks._hyperparameter import settings
from synthetic.tasks.cascade import COST, DIGIT, N_TRAINING, N_VALIDATION
from synthetic.tasks.completion import COMPLETION, complete
from synthetic.tasks.forest import FOREST, pixel_differences
from synthetic.tasks.support_vectors import N_FOLDS

NAMES = ("forest-digits-14", "cascade-digits-10", "completion-digits-3", "svm-breast-cancer-2")


@pytest.mark.parametrize("name", NAMES)
def test_no_gradient(name):
    problem = get_problem(name)
    with pytest.raises(InvalidInputError, match="no gradient"):
        problem.gradient(problem.space.lower)


def test_pixel_differences_by_hand():
    images = np.random.default_rng(0).random((3, 8, 8))
    zero = np.zeros(2)
    np.testing.assert_allclose(pixel_differences(images, zero, zero), 0.0)
    right = pixel_differences(images, np.array([0.0, 1.0]), zero).reshape(3, 8, 8)
    np.testing.assert_allclose(right[:, :, :-1], images[:, :, 1:] - images[:, :, :-1])
    np.testing.assert_allclose(right[:, :, -1], -images[:, :, -1])
    half = pixel_differences(images, np.array([0.5, 0.0]), np.array([-2.0, 0.0]))
    between = 0.5 * (images[:, 3] + images[:, 4]) - images[:, 1]
    np.testing.assert_allclose(half.reshape(3, 8, 8)[:, 3], between)


def test_forest_is_scikit_learns_on_these_features():
    problem = get_problem("forest-digits-14")
    x = problem.space.unscale(np.full(14, 0.1))
    x[-4:] = (0.0, 1.0, 2.0, -1.0)
    raw, labels = load_digits(return_X_y=True)
    images = np.pad(raw.reshape(-1, 8, 8) / 16.0, ((0, 0), (3, 3), (3, 3)))
    features = images[:, 3:11, 4:12] - images[:, 5:13, 2:10]
    features = features.reshape(len(raw), -1)
    forest = RandomForestClassifier(random_state=0, **settings(FOREST, x[:10]))
    forest.fit(features[:400], labels[:400])
    errors = forest.predict_proba(features[400:1000]) - np.eye(10)[labels[400:1000]]
    assert problem(x) == pytest.approx((errors**2).sum(axis=1).mean(), rel=1e-12)
    # Both offsets the same: nothing to see, and the frequencies of the digits are all it can say.
    x[-4:] = (1.0, 1.0, 1.0, 1.0)
    assert problem(x) == pytest.approx(0.9, abs=0.02)


def test_cascade_row_by_row():
    problem = get_problem("cascade-digits-10")
    x = np.array([0.5, -0.6, 0.7, -0.5, 0.9, -0.4, 1.0, -0.3, 1.1, -0.2])
    raw, labels = load_digits(return_X_y=True)
    X, y = raw / 16.0, labels == DIGIT
    end = N_TRAINING + N_VALIDATION
    alive = np.flatnonzero(np.arange(len(y)) < N_TRAINING)
    stages = []
    for k in range(5):
        stage = AdaBoostClassifier(n_estimators=round(10 ** x[2 * k]), random_state=0)
        share = np.where(y[alive], y[alive].sum(), (~y[alive]).sum())
        stage.fit(X[alive], y[alive], sample_weight=0.5 / share)
        stages.append(stage)
        alive = alive[stage.decision_function(X[alive]) >= x[2 * k + 1]]
        assert 0 < y[alive].sum() < len(alive)
    scores = [stage.decision_function(X[N_TRAINING:end]) for stage in stages]
    accepted, asked = [], 0
    for row in range(N_VALIDATION):
        passed = True
        for k in range(5):
            asked += round(10 ** x[2 * k])
            passed = scores[k][row] >= x[2 * k + 1]
            if not passed:
                break
        accepted.append(passed)
    accepted, truth = np.array(accepted), y[N_TRAINING:end]
    outcome = problem.formula.outcome(x)
    assert outcome.missed == pytest.approx(np.mean(~accepted[truth]))
    assert outcome.false_alarms == pytest.approx(np.mean(accepted[~truth]))
    assert outcome.stumps == pytest.approx(asked / N_VALIDATION)
    error = 0.5 * (outcome.missed + outcome.false_alarms)
    assert problem(x) == pytest.approx(error + COST * outcome.stumps / 100.0)
    assert error < 0.3


def test_cascade_that_accepts_or_rejects_everything():
    problem = get_problem("cascade-digits-10")
    for threshold in (-2.5, 2.5):
        x = np.tile([0.0, threshold], 5)
        outcome = problem.formula.outcome(x)
        assert outcome.missed + outcome.false_alarms == 1.0
        # A cascade that rejects asks the first stage only.
        assert outcome.stumps == (5.0 if threshold < 0.0 else 1.0)


def test_completion_of_a_seen_matrix_is_the_truncated_decomposition():
    rng = np.random.default_rng(0)
    matrix = rng.standard_normal((30, 8)) * np.linspace(3.0, 0.3, 8)
    seen = np.ones(matrix.shape, bool)
    completed = complete(matrix, seen, 3, 1e-10, 1e-9, n_sweeps=200)
    means = matrix.mean(axis=0)
    U, s, Vt = np.linalg.svd(matrix - means, full_matrices=False)
    expected = means + (U[:, :3] * s[:3]) @ Vt[:3]
    np.testing.assert_allclose(completed, expected, atol=1e-5)
    # With a ridge every singular value is shrunk by it (Hastie et al. 2015).
    ridge = 2.0
    shrunk = means + (U * np.maximum(s - ridge, 0.0)) @ Vt
    completed = complete(matrix, seen, 8, ridge, 1e-9, n_sweeps=2000)
    np.testing.assert_allclose(completed, shrunk, atol=1e-4)


def test_completion_does_not_look_at_what_is_hidden():
    problem = get_problem("completion-digits-3")
    matrix, seen = problem.formula.matrix, problem.formula.seen
    assert np.mean(seen) == pytest.approx(0.5, abs=0.01)
    other = np.where(seen, matrix, 1e6)
    np.testing.assert_array_equal(
        complete(matrix, seen, 4, 0.5, 1.0), complete(other, seen, 4, 0.5, 1.0)
    )
    strong = complete(matrix, seen, 4, 1e9, 1e12)
    np.testing.assert_allclose(strong, matrix[seen].mean(), atol=1e-6)


def test_completion_prefers_neither_extreme():
    problem = get_problem("completion-digits-3")
    sides = [p.bounds for p in COMPLETION]
    good = problem([8.0, 0.0, 0.5])
    assert good < 0.65
    assert problem([20.0, sides[1][0], 0.5]) > 1.2 * good
    assert problem([8.0, sides[1][1], 0.5]) > 1.2 * good
    assert problem([1.0, 0.0, 0.5]) > 1.05 * good
    assert problem([8.3, 0.0, 0.5]) == good  # ranks are whole numbers


def test_support_vectors_are_scikit_learns_and_much_of_the_box_is_a_plain():
    problem = get_problem("svm-breast-cancer-2")
    X, y = breast_cancer()
    splits = PredefinedSplit(np.arange(len(y)) % N_FOLDS)
    for x in ([2.0, -4.0], [-8.0, 0.0]):
        C, gamma = np.exp(x)
        guess = cross_val_predict(SVC(C=C, gamma=gamma), X, y > 0, cv=splits)
        assert problem(x) == pytest.approx(100.0 * np.mean(guess != (y > 0)))
    assert problem([2.0, -4.0]) < 4.0
    assert problem([-8.0, 8.0]) == pytest.approx(37.26, abs=0.01)
