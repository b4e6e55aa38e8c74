from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.optimize import linprog

from baselines.embeddings.features import EmbeddedPosterior, get_features
from baselines.embeddings.rembo import RemboOptimizer, draw_embeddings
from boring.acquisition.base import Posterior
from boring.embedding import RandomEmbedding, back_project
from boring.exceptions import InvalidInputError, UnknownNameError
from boring.kernels import MATERN52, AdditiveKernel, Isotropic, KernelTerm
from boring.models.gp import GaussianProcessModel

#: Branin's three minimisers, its domain [-5, 10] x [0, 15] scaled to [-1, 1]^2.
BRANIN = np.array([[-np.pi, 12.275], [np.pi, 2.275], [9.42478, 2.475]])
BRANIN = np.stack([(BRANIN[:, 0] - 2.5) / 7.5, (BRANIN[:, 1] - 7.5) / 7.5], axis=1)
KERNELS = ["y", "x", "psi"]


def embedding(dim=8, d=2, seed=0):
    return RandomEmbedding.gaussian(dim, d, np.random.default_rng(seed))


# -- hit rates -------------------------------------------------------------------------


def contains_optimum(candidate, half_width):
    """Whether some z of the search box has both leading coordinates at a minimiser."""
    rows = candidate.A[:2]
    if rows.shape[1] == 2:
        Z = np.linalg.solve(rows, BRANIN.T)
        return bool(np.any(np.abs(Z).max(axis=0) <= half_width))
    box = [(-half_width, half_width)] * rows.shape[1]
    return any(
        linprog(np.zeros(rows.shape[1]), A_eq=rows, b_eq=x, bounds=box).status == 0 for x in BRANIN
    )


@pytest.mark.parametrize(
    ("dim", "d", "k", "width", "expected", "n"),
    [
        (25, 2, 1, None, 0.714, 4000),
        (25, 2, 4, None, 1 - 0.0067, 2000),
        (25, 2, 1, 1.04, 0.612, 4000),
        (25, 2, 1, 2 * np.sqrt(2), 0.858, 4000),
        (25, 4, 1, None, 0.997, 300),
    ],
)
def test_search_boxes_hold_an_optimum_as_often_as_known(dim, d, k, width, expected, n):
    hits = 0
    for entropy in range(n):
        runs = draw_embeddings(entropy, dim, d, k)
        hits += any(contains_optimum(run, width or run.half_width) for run in runs)
    deviation = np.sqrt(expected * (1 - expected) / n)
    # The expectation is itself an estimate to three digits.
    assert abs(hits / n - expected) < 3 * deviation + 5e-4


@pytest.mark.parametrize(
    ("dim", "width", "expected"),
    [
        (5, np.sqrt(2), 0.51),
        (25, np.sqrt(2), 0.032),
        (10, 1.02, 0.063),
    ],
)
def test_an_orthonormal_embedding_misses_the_optimum(dim, width, expected):
    n, rng = 3000, np.random.default_rng(1)
    hits = sum(contains_optimum(RandomEmbedding.orthonormal(dim, 2, rng), width) for _ in range(n))
    assert abs(hits / n - expected) < 3 * np.sqrt(expected * (1 - expected) / n) + 5e-3


@pytest.mark.parametrize(
    ("dim", "d", "expected"),
    [
        (20, 1, 0.49),
        (20, 2, 0.10),
        (20, 3, 0.013),
        (100, 1, 0.37),
        (100, 2, 0.053),
        (100, 3, 0.005),
    ],
)
def test_few_points_of_the_box_are_inside_the_cube(dim, d, expected):
    n, rng = 4000, np.random.default_rng(2)
    inside = 0
    for _ in range(n):
        candidate = RandomEmbedding.gaussian(dim, d, rng)
        inside += bool(np.abs(candidate.unclipped(candidate.sample(1, rng))).max() < 1)
    # The expectations are estimates to two digits.
    slack = 3 * np.sqrt(expected * (1 - expected) / n) + 0.05 * expected
    assert abs(inside / n - expected) < slack


# -- back-projection -------------------------------------------------------------------


@pytest.mark.parametrize(("dim", "d"), [(1, 1), (2, 2), (6, 1), (10, 2), (30, 4), (60, 6)])
def test_images_are_reproduced_exactly_whether_clipped_or_not(dim, d):
    source = embedding(dim, d)
    Z = source.sample(200, np.random.default_rng(1))
    X = source.up(Z)
    found, error = back_project(source, X)
    assert found.shape == (200, d)
    assert error.max() < 1e-9
    unclipped = np.all(np.abs(X) < 1, axis=1)
    np.testing.assert_allclose(found[unclipped], Z[unclipped], atol=1e-9)


def test_foreign_points_get_the_least_squares_preimage():
    source, rng = embedding(12, 3), np.random.default_rng(2)
    X = rng.uniform(-0.9, 0.9, (20, 12))
    found, error = back_project(source, X)
    np.testing.assert_allclose(found, np.linalg.lstsq(source.A, X.T, rcond=None)[0].T, atol=1e-9)
    assert error.min() > 0.05
    # With faces: no small step lowers the violations that the docstring defines.
    X[:, :4] = rng.choice([-1.0, 1.0], (20, 4))
    found, _ = back_project(source, X)

    def loss(Z):
        rest = Z @ source.A.T - X
        rest[X == 1] = np.minimum(rest[X == 1], 0)
        rest[X == -1] = np.maximum(rest[X == -1], 0)
        return np.sum(rest**2, axis=1)

    for _ in range(50):
        step = 1e-3 * rng.standard_normal(found.shape)
        assert np.all(loss(found + step) > loss(found))


def test_back_projection_of_nothing():
    Z, error = back_project(embedding(5, 2), np.empty((0, 5)))
    assert Z.shape == (0, 2)
    assert error.shape == (0,)


# -- features --------------------------------------------------------------------------


def psi_by_the_book(A, x):
    """Binois et al. 2015, one point at a time, in the coordinates of the ambient space."""
    h = A @ np.linalg.lstsq(A, x, rcond=None)[0]
    m = np.abs(h).max()
    if m <= 1:
        return h
    pivot = h / m
    return pivot * (1 + np.linalg.norm(x - pivot) / np.linalg.norm(pivot))


def test_psi_is_the_published_warp_in_coordinates_of_the_range():
    source = embedding(8, 2)
    features = get_features("psi", source, source.half_width)
    X = source.up(source.sample(300, np.random.default_rng(1)))
    psi = features.of_points(X)
    expected = np.array([psi_by_the_book(source.A, x) for x in X])
    np.testing.assert_allclose(psi @ features.range_basis.T, expected, atol=1e-10)
    outside = np.abs(expected).max(axis=1) > 1 + 1e-9
    assert 30 < outside.sum() < 270


def test_psi_leaves_unclipped_points_and_merges_preimages_of_one_point():
    source = embedding(8, 2)
    features = get_features("psi", source, source.half_width)
    U = 0.05 * np.random.default_rng(0).uniform(-1, 1, (50, 2))
    X = features.up(U)
    np.testing.assert_allclose(features.of_points(X) @ features.range_basis.T, X, atol=1e-12)
    far = np.array([[40.0, 55.0], [80.0, 110.0]])
    np.testing.assert_array_equal(*features.up(far))
    np.testing.assert_allclose(*features.of_search(far)[0], atol=1e-12)
    assert not np.allclose(*get_features("y", source, 1.0).of_search(far)[0])


def test_psi_tells_different_points_apart_and_gives_a_positive_definite_matrix():
    source = embedding(8, 2)
    features = get_features("psi", source, source.half_width)
    X = source.up(source.sample(80, np.random.default_rng(1)))
    psi = features.of_points(X)
    apart = np.linalg.norm(psi[:, None] - psi[None], axis=2) + np.eye(80)
    assert apart.min() > 1e-4
    term = KernelTerm(MATERN52, Isotropic())
    K = AdditiveKernel([term]).matrix(np.zeros(2), psi)
    assert np.linalg.eigvalsh(K).min() > 0


@pytest.mark.parametrize("kernel", KERNELS)
def test_features_of_the_search_box_are_those_of_its_points(kernel):
    source = embedding(8, 2)
    features = get_features(kernel, source, source.half_width)
    U = np.random.default_rng(3).uniform(-1, 1, (60, 2))
    X = features.up(U)
    if kernel == "y":
        keep = np.all(np.abs(X) < 1, axis=1)
        U, X = U[keep], X[keep]
        assert len(U) > 1
    np.testing.assert_allclose(features.of_search(U)[0], features.of_points(X), atol=1e-9)


@pytest.mark.parametrize("kernel", KERNELS)
def test_gradients_in_the_search_box(kernel):
    rng = np.random.default_rng(5)
    source = embedding(8, 2)
    features = get_features(kernel, source, source.half_width)
    F = features.of_points(source.up(source.sample(15, rng)))
    model = GaussianProcessModel(AdditiveKernel([KernelTerm(MATERN52, Isotropic())]))
    gp = model.condition(np.log([1.0, 1.5, 1e-3]), F, np.sin(F[:, 0]))
    posterior = EmbeddedPosterior(features, gp)
    assert isinstance(posterior, Posterior)
    checked = 0
    for u in rng.uniform(-1, 1, (20, 2)):
        linear = np.abs(source.half_width * source.A @ u)
        if np.abs(linear - 1).min() < 0.05:
            continue  # clip(A z) has a kink close by
        direction = rng.standard_normal(2)
        steps = np.logspace(-4.5, -2.5, 9)
        _, _, *slopes = posterior.predict_with_gradient(u[None])
        ahead = posterior.predict(u + steps[:, None] * direction)
        here = posterior.predict(u[None])
        for slope, values, value in zip(slopes, ahead, here, strict=True):
            for factor, good in ((1.0, True), (1.1, False)):
                error = np.abs(values - value - factor * steps * (slope[0] @ direction))
                rate = np.polyfit(np.log(steps), np.log(error + 1e-300), 1)[0]
                if abs(slope[0] @ direction) > 1e-2:
                    assert (rate > 1.8) == good
                    checked += 1
    assert checked >= 20


# -- the optimiser ---------------------------------------------------------------------


def sphere(x):
    return float(np.sum((x[:2] - 0.25) ** 2))


@pytest.mark.statistical
@pytest.mark.parametrize("kernel", KERNELS)
def test_reaches_a_small_regret_in_most_seeds(kernel):
    reached = 0
    for seed in range(4):
        optimizer = RemboOptimizer(
            [(-1, 1)] * 12, direction="minimize", seed=seed, kernel=kernel, n_embeddings=2
        )
        reached += optimizer.run(sphere, 30, progress=False).y_best < 2e-2
    assert reached >= 3


def test_ucb_and_maximisation_in_raw_units():
    optimizer = RemboOptimizer(
        [(0, 50)] * 6, direction="maximize", seed=3, acquisition="ucb", effective_dim=3
    )
    result = optimizer.run(lambda x: -sphere(x / 25 - 1), 30, progress=False)
    assert result.y_best > -0.1
    assert np.all((result.X >= 0) & (result.X <= 50))


def test_every_proposal_lies_on_the_embedding_whose_turn_it_is():
    optimizer = RemboOptimizer([(-1, 1)] * 9, direction="minimize", seed=1, n_embeddings=3)
    result = optimizer.run(sphere, 18, progress=False)
    for i, x in enumerate(result.X):
        errors = [back_project(run, x[None])[1][0] for run in optimizer.embeddings]
        assert errors[i % 3] < 1e-9
        assert min(errors[: i % 3] + errors[i % 3 + 1 :]) > 1e-3


@pytest.mark.parametrize("kernel", KERNELS)
def test_points_from_outside_are_used(kernel):
    options = {"direction": "minimize", "seed": 0, "n_initial": 4, "kernel": kernel}
    X = np.random.default_rng(0).uniform(-1, 1, (12, 7))
    y = np.array([sphere(x) for x in X])
    told = RemboOptimizer([(-1, 1)] * 7, **options).tell(X, y)
    x = told.ask()
    assert x.shape == (1, 7)
    assert min(back_project(run, x)[1][0] for run in told.embeddings) < 1e-9
    other = RemboOptimizer([(-1, 1)] * 7, **options).tell(X, -y).ask()
    assert not np.array_equal(x, other)


@pytest.mark.parametrize("kernel", KERNELS)
def test_ask_is_repeatable_batched_and_resumable(kernel):
    def fresh():
        return RemboOptimizer([(-1, 1)] * 5, direction="minimize", seed=7, kernel=kernel)

    first = fresh()
    first.run(sphere, 14, progress=False)
    batch = first.ask(4)
    assert len(np.unique(batch, axis=0)) == 4
    np.testing.assert_array_equal(first.ask(4), batch)
    stepwise = fresh()
    for _ in range(14):
        x = stepwise.ask()
        stepwise.tell(x, [sphere(x[0])])
        stepwise = RemboOptimizer.from_state(stepwise.state())
    np.testing.assert_array_equal(stepwise.ask(4), batch)


def test_initial_design_is_in_the_search_boxes_or_that_of_the_others():
    own = RemboOptimizer([(-1, 1)] * 6, direction="minimize", seed=0)
    X = own.ask(4)
    for x, run in zip(X, own.embeddings, strict=True):
        assert back_project(run, x[None])[1][0] < 1e-9
    sobol = RemboOptimizer([(-1, 1)] * 6, direction="minimize", seed=0, initial="sobol")
    assert min(back_project(run, sobol.ask())[1][0] for run in sobol.embeddings) > 1e-3
    assert json.loads(json.dumps(sobol.option_values()))["initial"] == "sobol"


def test_one_dimension_and_a_run_without_data():
    result = RemboOptimizer([(-1, 1)], direction="minimize", seed=0).run(
        lambda x: float((x[0] - 0.3) ** 2), 20, progress=False
    )
    assert result.y_best < 1e-2
    many = RemboOptimizer([(-1, 1)] * 4, direction="minimize", seed=0, n_initial=2, n_embeddings=6)
    assert many.run(sphere, 9, progress=False).X.shape == (9, 4)


@pytest.mark.parametrize(
    "options",
    [
        {"effective_dim": 5},
        {"effective_dim": 0},
        {"n_embeddings": 0},
        {"kernel": "z"},
        {"acquisition": "ei"},
        {"initial": "random"},
        {"half_width": -1.0},
    ],
)
def test_bad_options_are_rejected(options):
    with pytest.raises(InvalidInputError):
        RemboOptimizer([(-1, 1)] * 4, direction="minimize", **options)


def test_unknown_options_and_kernels_are_suggested():
    with pytest.raises(UnknownNameError, match="n_embeddings"):
        RemboOptimizer([(-1, 1)] * 4, direction="minimize", n_embedding=2)
    with pytest.raises(InvalidInputError, match="psi"):
        get_features("psy", embedding(), 1.0)
