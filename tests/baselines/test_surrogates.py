"""Which optimisers have a model of the objective, and what those of embeddings say."""

import numpy as np
import pytest

import baselines  # noqa: F401 (registers the names)
from boring.optimizer import Optimizer, optimizer_class
from boring.registry import get_optimizer, optimizer_names
from boring.surrogate import ObjectivePosterior, ObjectiveProcess

NO_MODEL = {"random", "sobol"}
NO_MODEL_OF_THE_OBJECTIVE = {
    *("bore-mlp", "bore-forest", "bore-trees", "bore-svm", "tpe", "kde-ratio", "boggn"),
    *("dropout", "goal-seeking"),
}


def test_every_optimizer_with_a_model_of_the_objective_has_a_surrogate():
    names = [name for name in optimizer_names() if not name.startswith("peer-")]
    kinds = {name: optimizer_class(get_optimizer(name)) for name in names}
    without = {name for name, kind in kinds.items() if kind.surrogate is Optimizer.surrogate}
    assert without == NO_MODEL | NO_MODEL_OF_THE_OBJECTIVE
    for name in NO_MODEL_OF_THE_OBJECTIVE:
        texts = [kind.__doc__ or "" for kind in kinds[name].__mro__[:-1]]
        assert any("``surrogate`` is None" in text for text in texts), name


def value(X):
    return 100.0 + 10.0 * (X[:, 0] - 1.2) ** 2 - X[:, 1]


def told(name, dim=6, n=24, **options):
    """Return an optimiser that was told points of its embeddings, in turn."""
    optimizer = get_optimizer(name)([(0.0, 2.0)] * dim, direction="minimize", seed=2, **options)
    rng = np.random.default_rng(0)
    X = np.vstack([f.up(f.sample(n, rng)) for f in optimizer.features])
    X = optimizer.space.unscale(X)
    return optimizer.tell(X, value(X))


@pytest.mark.filterwarnings("ignore::boring.exceptions.DuplicatePointWarning")  # of corners
@pytest.mark.parametrize("name", ["rembo", "rembo-reverse", "hesbo", "alebo"])
def test_models_of_embeddings_know_their_embedding(name):
    optimizer = told(name, n_embeddings=2, effective_dim=2)
    surrogate = optimizer.surrogate
    assert isinstance(surrogate, ObjectivePosterior)
    rng = np.random.default_rng(1)
    for features in optimizer.features:
        X = optimizer.space.unscale(features.up(features.sample(20, rng)))
        mean, variance = surrogate.predict(X)
        assert np.corrcoef(mean, value(X))[0, 1] > 0.75
        assert (np.abs(mean - value(X)) < 5.0 * np.sqrt(variance) + 0.05 * np.ptp(value(X))).all()


def test_the_run_that_owns_a_point_speaks_and_else_all_of_them():
    optimizer = told("rembo", n_embeddings=3)
    posterior = optimizer.surrogate.posterior
    assert len(posterior.models) == 3

    def of_run(run, X):
        features, model, units = posterior.models[run]
        mean, variance = model.predict(features.of_points(X))
        return units.values(mean), units.variances(variance)

    rng = np.random.default_rng(1)
    own = optimizer.features[1].up(optimizer.features[1].sample(5, rng))
    foreign = rng.uniform(-1.0, 1.0, (5, 6))
    mean, variance = posterior.predict(np.vstack([own, foreign]))
    np.testing.assert_allclose(mean[:5], of_run(1, own)[0])
    np.testing.assert_allclose(variance[:5], of_run(1, own)[1])
    means, variances = zip(*(of_run(run, foreign) for run in range(3)), strict=True)
    np.testing.assert_allclose(mean[5:], np.mean(means, axis=0))
    spread = np.mean(variances, axis=0) + np.var(means, axis=0)
    np.testing.assert_allclose(variance[5:], spread)


def test_a_model_of_preimages_says_nothing_of_points():
    assert told("rembo", n=8, kernel="y").surrogate is None
    assert told("rembo", n=8, kernel="x").surrogate is not None


def test_before_there_are_two_values_there_is_no_surrogate():
    for name in ("elastic-gp", "line-bo", "tripathy", "active-embedding", "rembo", "si-bo"):
        optimizer = get_optimizer(name)([(0.0, 2.0)] * 3, direction="maximize", seed=0)
        assert optimizer.surrogate is None
        assert optimizer.tell([1.0, 1.0, 1.0], 3.0).surrogate is None


@pytest.mark.parametrize("name", ["si-bo", "coordinate-differences"])
def test_two_phases_have_a_surrogate_in_the_second(name):
    optimizer = get_optimizer(name)(
        [(0.0, 2.0)] * 4, direction="maximize", seed=0, effective_dim=1, n_centers=3
    )

    def slope(x):
        return 1000.0 - (x[0] + x[1]) ** 2

    optimizer.run(slope, optimizer.n_sampling, progress=False)
    assert optimizer.surrogate is None
    optimizer.run(slope, 12, progress=False)
    surrogate = optimizer.surrogate
    assert isinstance(surrogate, ObjectiveProcess)
    X = optimizer.space.sample(30, np.random.default_rng(0))
    truth = np.array([slope(x) for x in X])
    mean, _ = surrogate.predict(X)
    assert np.abs(mean - truth).mean() < 0.1 * np.ptp(truth)


def test_the_elastic_process_keeps_a_given_target():
    optimizer = get_optimizer("elastic-gp")(
        [(0.0, 2.0)] * 2, direction="minimize", seed=0, lengthscale=0.7
    )
    X = optimizer.space.sample(12, np.random.default_rng(0))
    optimizer.tell(X, value(X))
    assert optimizer.surrogate.posterior.theta[1] == np.log(0.7)


@pytest.mark.parametrize("name", ["active-embedding", "alebo", "elastic-gp", "tripathy"])
def test_no_points_have_no_values(name):
    optimizer = get_optimizer(name)([(0.0, 2.0)] * 3, direction="minimize", seed=0)
    X = optimizer.space.sample(10, np.random.default_rng(0))
    optimizer.tell(X, value(X)).ask()
    mean, variance = optimizer.surrogate.predict(np.empty((0, 3)))
    assert mean.shape == variance.shape == (0,)
