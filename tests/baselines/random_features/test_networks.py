import numpy as np
import pytest

from baselines.random_features.bayesian_linear import condition_weights
from baselines.random_features.bayesian_rvfl import BayesianRvflOptimizer, BayesianRvflPosterior
from baselines.random_features.elm import ElmOptimizer, fit_elm
from baselines.random_features.ensemble_rvfl import EnsembleRvflOptimizer
from baselines.random_features.hidden import draw_normalised
from boring.exceptions import InvalidInputError
from boring.testing import check_gradient

VARIANTS = [("tanh", False), ("tanh", True), ("relu", False), ("relu", True)]


def data(n=15, dim=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, dim))
    y = np.sin(2 * X.sum(axis=1)) + X[:, 0]
    return X, (y - y.mean()) / y.std()


def fitted(cls, X, y, **options):
    optimizer = cls([(-1, 1)] * X.shape[1], direction="minimize", seed=0, **options)
    return optimizer._fit(X, y, {}, np.random.default_rng(1)).posterior


def check_moment_gradients(posterior, x, scale):
    for k in (0, 1):

        def moment(v, k=k):
            found = posterior.predict_with_gradient(v[None])
            return float(found[k][0]), found[k + 2][0]

        check_gradient(moment, x, np.random.default_rng(0), scale=scale)


@pytest.mark.parametrize("cls", [BayesianRvflOptimizer, EnsembleRvflOptimizer])
@pytest.mark.parametrize("precision", ["learned", "fixed"])
@pytest.mark.parametrize(("activation", "skip"), VARIANTS)
def test_variants_have_right_gradients_and_one_prediction(cls, precision, activation, skip):
    X, y = data()
    # Little precision, lest a tiny variance next to data be lost in rounding.
    options = {"activation": activation, "skip": skip, "precision": precision, "n_hidden": 60}
    posterior = fitted(cls, X, y, noise_precision=10.0, **options)
    # Relu networks are piecewise linear: the steps stay between two kinks.
    check_moment_gradients(posterior, X[0] + 0.05, 0.3 if activation == "tanh" else 1e-4)
    new = np.random.default_rng(2).uniform(-1, 1, (6, 3))
    for a, b in zip(posterior.predict(new), posterior.predict_with_gradient(new), strict=False):
        np.testing.assert_allclose(a, b, rtol=1e-12)


@pytest.mark.parametrize(("activation", "skip"), VARIANTS)
def test_learned_precision_fits_the_data_and_the_printed_one_does_not(activation, skip):
    X, y = data()
    learned, fixed = (
        fitted(BayesianRvflOptimizer, X, y, activation=activation, skip=skip, precision=precision)
        for precision in ("learned", "fixed")
    )
    assert np.abs(learned.predict(X)[0] - y).max() < 0.15
    # Prior standard deviation of f .02 or less against values of spread 1.
    assert np.abs(fixed.predict(X)[0] - y).max() > 0.3


def test_hidden_weights_have_length_one_and_uniform_direction():
    layer = draw_normalised(np.eye(4), 4000, "tanh", False, np.random.default_rng(0))
    np.testing.assert_allclose(np.linalg.norm(layer.V, axis=0), 1.0)
    np.testing.assert_allclose(layer.V @ layer.V.T / 4000, np.eye(4) / 4, atol=0.02)
    assert abs(layer.b.mean()) < 0.06
    assert layer.b.std() == pytest.approx(1.0, abs=0.04)


def test_features_are_the_formula():
    X, _ = data(5, 2)
    layer = draw_normalised(X, 3, "relu", True, np.random.default_rng(0))
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    for i in range(5):
        hidden = [max(0.0, float(layer.V[:, k] @ Z[i] + layer.b[k])) for k in range(3)]
        np.testing.assert_allclose(layer.features(X)[i], [*hidden, *Z[i]])


def test_large_ensemble_approaches_an_average_of_bayesian_networks():
    # Law of total variance over hidden layers, each with its exact posterior.
    X, y = data(10, 2)
    new = np.random.default_rng(3).uniform(-1, 1, (5, 2))
    alpha, beta = 2.0, 1000.0
    means, variances = [], []
    for seed in range(400):
        layer = draw_normalised(X, 40, "tanh", True, np.random.default_rng(seed))
        weights = condition_weights(layer.features(X), y, alpha, beta)
        mean, variance = BayesianRvflPosterior(layer, weights).predict(new)
        means.append(mean)
        variances.append(variance)
    expected_mean = np.mean(means, axis=0)
    expected = np.mean(variances, axis=0) + np.var(means, axis=0)
    ensemble = fitted_ensemble(X, y, alpha, beta)
    mean, variance = ensemble.predict(new)
    np.testing.assert_allclose(mean, expected_mean, atol=4 * np.sqrt(expected.max() / 400))
    np.testing.assert_allclose(variance, expected, rtol=0.35)


def test_variance_of_a_new_value_is_that_of_the_joint_gaussian_of_all_values():
    X, y = data(10, 2)
    new = np.random.default_rng(4).uniform(-1, 1, (5, 2))
    posterior = fitted(BayesianRvflOptimizer, X, y, noise_precision=20.0, n_hidden=40)
    features = posterior.layer.features(np.vstack([X, new]))
    joint = features @ features.T / posterior.weights.alpha + np.eye(15) / 20.0
    expected = np.diag(
        joint[10:, 10:] - joint[10:, :10] @ np.linalg.solve(joint[:10, :10], joint[:10, 10:])
    )
    total = posterior.predict(new)[1] + posterior.noise_variance
    np.testing.assert_allclose(total, expected, rtol=1e-8)
    ensemble = fitted(EnsembleRvflOptimizer, X, y, noise_precision=20.0)
    assert ensemble.noise_variance == pytest.approx(1 / 20.0)
    assert fit_elm(X, y, 2, 10, 1.0, np.random.default_rng(0)).noise_variance == 0.0


def fitted_ensemble(X, y, alpha, beta):
    from baselines.random_features.ensemble_rvfl import NetworkEnsemble, anchored_weights

    rng = np.random.default_rng(11)
    layer = draw_normalised(X, 40, "tanh", True, rng, 400)
    return NetworkEnsemble(layer, anchored_weights(layer.features(X), y, alpha, beta, rng))


def test_elm_weights_are_the_minimum_norm_least_squares_solution():
    X, y = data(7)
    ensemble = fit_elm(X, y, 5, 10, 10.0, np.random.default_rng(0))
    np.testing.assert_allclose(ensemble.members(X), np.repeat(y[:, None], 5, axis=1), atol=1e-6)
    for k in range(5):
        H = ensemble.layer.features(X)[k]
        np.testing.assert_allclose(
            ensemble.weights[k], H.T @ np.linalg.solve(H @ H.T, y), rtol=1e-5, atol=1e-6
        )
        assert np.abs(ensemble.layer.V[k]).max() <= 10.0
    longer = fit_elm(*data(30), 2, 10, 10.0, np.random.default_rng(0))
    H = longer.layer.features(data(30)[0])[0]
    np.testing.assert_allclose(
        longer.weights[0], np.linalg.lstsq(H, data(30)[1], rcond=None)[0], rtol=1e-6
    )


def test_elm_has_right_gradients():
    X, y = data(20)
    check_moment_gradients(fit_elm(X, y, 40, 10, 3.0, np.random.default_rng(0)), X[0], 0.05)


def test_the_hidden_layer_is_drawn_anew_for_every_proposal():
    optimizer = BayesianRvflOptimizer([(-1, 1)] * 2, direction="minimize", seed=0)
    optimizer.run(lambda x: float(x @ x), 6, progress=False)
    optimizer.ask()
    first = optimizer.surrogate.posterior.layer
    optimizer.tell(optimizer.ask(), [0.5])
    assert not np.array_equal(first.V, optimizer.surrogate.posterior.layer.V)


@pytest.mark.statistical
def test_finds_the_bottom_of_a_bowl_in_most_seeds():
    reached = sum(
        BayesianRvflOptimizer([(-1, 1)] * 3, direction="minimize", seed=seed)
        .run(lambda x: float(np.sum((x - 0.25) ** 2)), 20, progress=False)
        .y_best
        < 1e-2
        for seed in range(4)
    )
    assert reached >= 3


@pytest.mark.parametrize(
    ("cls", "options"),
    [
        (BayesianRvflOptimizer, {"activation": "sigmoid"}),
        (BayesianRvflOptimizer, {"precision": "guessed"}),
        (BayesianRvflOptimizer, {"noise_precision": 0.0}),
        (BayesianRvflOptimizer, {"skip": 1}),
        (BayesianRvflOptimizer, {"acquisition": "empirical-ei"}),
        (EnsembleRvflOptimizer, {"n_members": 1}),
        (ElmOptimizer, {"half_range": -1.0}),
        (ElmOptimizer, {"acquisition": "mixture-ei"}),
    ],
)
def test_bad_options_are_rejected(cls, options):
    with pytest.raises(InvalidInputError):
        cls([(-1, 1)], direction="minimize", **options)
