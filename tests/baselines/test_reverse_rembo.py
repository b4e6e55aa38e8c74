import numpy as np
import pytest
from scipy.optimize import minimize

from baselines.embeddings.features import EmbeddedPosterior
from baselines.embeddings.reverse_rembo import (
    ReverseRemboOptimizer,
    ZonotopeFeatures,
    equal_row_embedding,
    reverse_map,
)
from boring.acquisition.base import Posterior
from boring.embedding import RandomEmbedding, back_project
from boring.exceptions import InvalidInputError
from boring.kernels import MATERN52, AdditiveKernel, Isotropic, KernelTerm
from boring.models.gp import GaussianProcessModel
from boring.testing import check_gradient


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.mark.parametrize(("dim", "d"), [(1, 1), (3, 3), (5, 2), (25, 2), (100, 6)])
def test_columns_are_orthonormal_and_rows_of_equal_norm(dim, d):
    A = equal_row_embedding(dim, d, rng()).A
    np.testing.assert_allclose(A.T @ A, np.eye(d), atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(A, axis=1), np.sqrt(d / dim), rtol=1e-3)


def test_reverse_map_solves_its_quadratic_program():
    A, random = equal_row_embedding(7, 3, rng()).A, rng(1)
    n_clipped = 0
    for corner in range(12):
        y = A.T @ (random.uniform(-1, 1, 7) if corner % 2 else 0.9 * np.sign(random.normal(size=7)))
        found = reverse_map(A, y)
        reference = minimize(
            lambda x, y=y: np.sum((x - A @ y) ** 2),
            np.zeros(7),
            jac=lambda x, y=y: 2 * (x - A @ y),
            bounds=[(-1, 1)] * 7,
            constraints={"type": "eq", "fun": lambda x, y=y: A.T @ x - y, "jac": lambda x: A.T},
            method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 500},
        )
        assert reference.success
        np.testing.assert_allclose(found, reference.x, atol=1e-5)
        n_clipped += np.any(np.abs(found) == 1.0)
    assert n_clipped >= 3


@pytest.mark.parametrize(("dim", "d"), [(1, 1), (5, 2), (25, 2), (100, 6)])
def test_points_of_the_embedding_are_reproduced_and_no_shorter_point_exists(dim, d):
    features = ZonotopeFeatures(equal_row_embedding(dim, d, rng()))
    A = features.embedding.A
    for x in features.sample(30, rng(1)):
        np.testing.assert_allclose(reverse_map(A, A.T @ x), x, atol=1e-6)
    for x in rng(2).uniform(-1, 1, (30, dim)):
        found = reverse_map(A, A.T @ x)
        np.testing.assert_allclose(A.T @ found, A.T @ x, atol=1e-9)
        assert np.linalg.norm(found) <= np.linalg.norm(x) + 1e-9


def test_beyond_the_zonotope_lies_its_rim():
    A = equal_row_embedding(9, 2, rng()).A
    x = reverse_map(A, 50.0 * np.ones(2))
    assert np.all(np.abs(x) <= 1)
    assert np.sum(np.abs(x) == 1.0) >= 7


def test_every_optimum_of_two_inputs_is_in_the_zonotope():
    # REMBO's box of half-width sqrt(2) with an orthonormal A holds 3 % of them at D = 25.
    target, n_in_box = np.array([0.6, -0.7]), 0
    for seed in range(40):
        A = equal_row_embedding(25, 2, rng(seed)).A
        z = np.linalg.solve(A[:2], target)
        x = reverse_map(A, A.T @ np.clip(A @ z, -1, 1))
        np.testing.assert_allclose(x[:2], target, atol=1e-5)
        n_in_box += np.abs(z).max() <= np.sqrt(2)
    assert n_in_box < 10


def test_designs_reach_from_the_middle_to_the_rim_where_uniform_points_do_not():
    features = ZonotopeFeatures(equal_row_embedding(50, 2, rng()))
    share = (np.abs(features.sample(400, rng(1))) == 1.0).mean(axis=1)
    assert share.min() < 0.1
    assert share.max() > 0.9
    lengths = np.linalg.norm(features.of_points(features.sample(400, rng(1))), axis=1)
    uniform = np.linalg.norm(features.of_points(rng(2).uniform(-1, 1, (400, 50))), axis=1)
    assert np.quantile(lengths, 0.75) > 2 * np.quantile(uniform, 0.75)


def test_gradient_in_the_cube():
    features, random = ZonotopeFeatures(equal_row_embedding(8, 2, rng())), rng(3)
    F = features.of_points(features.sample(15, random))
    model = GaussianProcessModel(AdditiveKernel([KernelTerm(MATERN52, Isotropic())]))
    posterior = EmbeddedPosterior(features, model.condition(np.log([1, 1.5, 1e-3]), F, F[:, 0]))
    assert isinstance(posterior, Posterior)
    for part in (0, 1):

        def value_and_gradient(x, part=part):
            parts = posterior.predict_with_gradient(x[None])
            return float(parts[part][0]), parts[part + 2][0]

        check_gradient(value_and_gradient, random.uniform(-1, 1, 8), random)


def test_proposals_lie_on_the_embedding_whose_turn_it_is():
    optimizer = ReverseRemboOptimizer([(-1, 1)] * 9, direction="minimize", seed=1, n_embeddings=3)
    result = optimizer.run(lambda x: float(np.sum((x[:2] - 0.25) ** 2)), 18, progress=False)
    for i, x in enumerate(result.X):
        assert back_project(optimizer.features[i % 3].embedding, x[None])[1][0] < 1e-6


@pytest.mark.statistical
def test_reaches_a_small_regret_in_most_seeds():
    def corner(x):  # REMBO's box would have to be wide
        return float(np.sum((x[:2] - [0.9, -0.9]) ** 2))

    reached = 0
    for seed in range(4):
        optimizer = ReverseRemboOptimizer(
            [(-1, 1)] * 15, direction="minimize", seed=seed, n_embeddings=1
        )
        reached += optimizer.run(corner, 18, progress=False).y_best < 5e-2
    assert reached >= 3


@pytest.mark.parametrize(
    "options", [{"effective_dim": 5}, {"n_embeddings": 0}, {"acquisition": "ei"}, {"initial": "x"}]
)
def test_bad_options_are_rejected(options):
    with pytest.raises(InvalidInputError):
        ReverseRemboOptimizer([(-1, 1)] * 4, direction="minimize", **options)


def test_the_box_of_rembo_is_redundant_and_the_zonotope_is_not():
    # Many z of REMBO's box stand for one x; y = A'x tells different x apart.
    embedding = RandomEmbedding(equal_row_embedding(6, 2, rng()).A)
    far = embedding.up([[40.0, 55.0], [80.0, 110.0]])
    np.testing.assert_array_equal(far[0], far[1])
    features = ZonotopeFeatures(embedding)
    X = features.sample(80, rng(1))
    gaps = np.linalg.norm(X[:, None] - X[None], axis=2) + np.eye(80)
    seen = features.of_points(X)
    apart = np.linalg.norm(seen[:, None] - seen[None], axis=2) + np.eye(80)
    assert (apart[gaps > 1e-6]).min() > 0
