import numpy as np
import pytest
from scipy.optimize import linprog

from baselines.embeddings.alebo import AleboOptimizer, PolytopeFeatures, hypersphere_projection
from baselines.embeddings.features import EmbeddedPosterior
from baselines.embeddings.hesbo import HesboOptimizer
from boring.exceptions import InvalidInputError
from boring.kernels import SQUARED_EXPONENTIAL, AdditiveKernel, Free, KernelTerm
from boring.models.gp import GaussianProcessModel
from boring.testing import check_gradient


def rng(seed=0):
    return np.random.default_rng(seed)


def polytope(dim=12, d=3, seed=0):
    return PolytopeFeatures(hypersphere_projection(dim, d, rng(seed)))


def test_columns_lie_on_the_sphere():
    B = hypersphere_projection(50, 4, rng())
    np.testing.assert_allclose(np.linalg.norm(B, axis=0), 1.0)


def test_the_cube_is_mapped_one_to_one_onto_the_polytope():
    features = polytope()
    U = rng(1).uniform(-1, 1, (200, 3))
    Y = features.of_search(U)[0]
    X = features.up(U)
    np.testing.assert_allclose(X, Y @ features.inverse.T, atol=1e-12)  # nothing was clipped
    np.testing.assert_allclose(np.abs(X).max(axis=1), np.abs(U).max(axis=1), atol=1e-12)
    back, error = features.down(X)
    np.testing.assert_allclose(back, U, atol=1e-12)
    assert error.max() < 1e-12
    np.testing.assert_allclose(features.of_points(X), Y, atol=1e-12)


def test_the_polytope_is_filled():
    # The farthest y in any direction, by linear programming, is reached.
    features = polytope()
    constraints = np.vstack([features.inverse, -features.inverse])
    U = rng(1).uniform(-1, 1, (4000, 3))
    Y = features.of_search(U / np.abs(U).max(axis=1, keepdims=True))[0]
    for direction in rng(2).standard_normal((10, 3)):
        best = linprog(-direction, A_ub=constraints, b_ub=np.ones(24), bounds=(None, None))
        assert -best.fun >= (Y @ direction).max() - 1e-9
        assert (Y @ direction).max() > 0.9 * -best.fun


def test_the_middle_maps_to_the_middle():
    Y, jacobian = polytope().of_search(np.zeros((1, 3)))
    np.testing.assert_array_equal(Y, 0.0)
    assert np.all(np.isfinite(jacobian))


def test_gradient_in_the_cube():
    features, random = polytope(), rng(3)
    F = features.of_points(features.up(features.sample(15, random)))
    term = KernelTerm(SQUARED_EXPONENTIAL, Free(3, 3))
    model = GaussianProcessModel(AdditiveKernel([term]))
    theta = np.concatenate([[0.0], (0.5 * random.standard_normal((3, 3))).ravel(), [-5.0]])
    posterior = EmbeddedPosterior(features, model.condition(theta, F, np.sin(F[:, 0])))
    n_checked = 0
    for u in random.uniform(-1, 1, (30, 3)):
        sizes, reach = np.sort(np.abs(u)), np.sort(np.abs(features.inverse @ u))
        if sizes[-1] - sizes[-2] < 0.03 or reach[-1] - reach[-2] < 0.03:
            continue  # a kink close by

        def value_and_gradient(x):
            mean, _, slope, _ = posterior.predict_with_gradient(x[None])
            return float(mean[0]), slope[0]

        check_gradient(value_and_gradient, u, random, scale=0.01)
        n_checked += 1
    assert n_checked >= 3


def test_the_fit_does_not_see_a_rotation_of_the_embedding():
    options = {"direction": "minimize", "seed": 0, "effective_dim": 3}
    optimizer = AleboOptimizer([(-1, 1)] * 12, **options)
    (features,) = optimizer.features
    X = features.up(features.sample(25, rng(1)))
    y = np.sin(2 * X[:, 0])
    model = optimizer._fit(features, X, y).model
    turn = np.linalg.qr(rng(2).standard_normal((3, 3)))[0]
    M = rng(3).standard_normal((3, 3))
    theta = np.concatenate([[0.1], M.ravel(), [-4.0]])
    turned = np.concatenate([[0.1], (turn @ M).ravel(), [-4.0]])
    F = features.of_points(X)
    np.testing.assert_allclose(
        model.negative_log_posterior(theta, F, y)[0],
        model.negative_log_posterior(turned, F @ turn.T, y)[0],
        rtol=1e-10,
    )


@pytest.mark.statistical
def test_the_full_metric_predicts_better_than_a_lengthscale_each():
    # One input decides: on the embedding, f varies along one oblique direction.
    better = 0
    for seed in range(6):
        optimizer = AleboOptimizer([(-1, 1)] * 12, direction="minimize", seed=seed)
        (features,) = optimizer.features
        X = features.up(features.sample(90, rng(seed)))
        y = np.sin(6 * X[:, 0])
        y = (y - y.mean()) / y.std()
        posterior = optimizer._fit(features, X[:40], y[:40])
        full = np.sqrt(np.mean((posterior.predict(features.of_points(X[40:]))[0] - y[40:]) ** 2))
        ard = HesboOptimizer([(-1, 1)] * 12, direction="minimize", seed=seed)._fit(
            features, X[:40], y[:40]
        )
        separate = np.sqrt(np.mean((ard.predict(features.of_points(X[40:]))[0] - y[40:]) ** 2))
        better += full < separate
    assert better >= 5


def test_proposals_are_never_clipped_and_lie_on_the_embedding():
    optimizer = AleboOptimizer([(-1, 1)] * 9, direction="minimize", seed=1, n_embeddings=2)
    result = optimizer.run(lambda x: float(np.sum((x[:2] - 0.2) ** 2)), 14, progress=False)
    for i, x in enumerate(result.X):
        assert optimizer.features[i % 2].down(x[None])[1][0] < 1e-9


@pytest.mark.parametrize(
    "options", [{"effective_dim": 5}, {"n_embeddings": 0}, {"acquisition": "ei"}, {"initial": "x"}]
)
def test_bad_options_are_rejected(options):
    with pytest.raises(InvalidInputError):
        AleboOptimizer([(-1, 1)] * 4, direction="minimize", **options)
