"""The full-rank learner: recovery, invariances, and each of its steps."""

import numpy as np
import pytest

from boring.kernels.profiles import MATERN32
from boring.subspace import clustered, factor_fit, full_rank
from boring.subspace.factor_fit import FactorFit, FactorSettings
from boring.subspace.full_rank import SearchSettings, learn_factor
from boring.subspace.stiefel import largest_angle, random_frame
from boring.testing import check_gradient

TEN_DEGREES = np.deg2rad(10.0)
PLAIN = SearchSettings(FactorSettings(), n_hops=0, final_profiles=(), lower_floor=False)


def camelback(Z):
    x, y = 1.2 * Z[:, 0], 0.8 * Z[:, 1]
    return (4 - 2.1 * x**2 + x**4 / 3) * x**2 + x * y + (-4 + 4 * y**2) * y**2


def standardised(y):
    return (y - y.mean()) / y.std()


def camelback_data(dim, n, seed, axes=False):
    rng = np.random.default_rng(seed)
    W = np.eye(dim)[:, rng.permutation(dim)[:2]] if axes else random_frame(dim, 2, rng)
    X = rng.uniform(-1, 1, (n, dim))
    return W, X, standardised(camelback(X @ W))


@pytest.mark.statistical
def test_camelback_is_found_in_all_of_four_seeds():
    angles = []
    for seed in range(4):
        W, X, y = camelback_data(8, 80, seed)
        learned = learn_factor(X, y, 2, rng=np.random.default_rng(seed))
        assert not learned.axis_aligned
        angles.append(largest_angle(learned.fit.factor, W))
    assert sum(angle < TEN_DEGREES for angle in angles) >= 4


@pytest.mark.statistical
def test_the_result_is_no_worse_than_a_fit_from_the_truth():
    for seed in range(3):
        W, X, y = camelback_data(8, 80, 10 + seed)
        learned = learn_factor(X, y, 2, rng=np.random.default_rng(0), settings=PLAIN)
        truth = factor_fit.fit_thin(X, y, factor_fit.smooth_start(W), PLAIN.fits, 200)
        assert learned.fit.value <= truth.value + 0.1


def test_axes_are_found_exactly_where_rotations_fail():
    W, X, y = camelback_data(50, 80, 3, axes=True)
    learned = learn_factor(X, y, 2, rng=np.random.default_rng(0))
    assert learned.axis_aligned
    assert largest_angle(learned.fit.factor, W) == 0.0
    rotated = learn_factor(
        X, y, 2, rng=np.random.default_rng(0), settings=SearchSettings(axes=False)
    )
    assert not rotated.axis_aligned
    assert largest_angle(rotated.fit.factor, W) > TEN_DEGREES


def test_rotating_the_inputs_rotates_the_factor():
    _, X, y = camelback_data(5, 50, 1)
    Q = random_frame(5, 5, np.random.default_rng(2))
    settings = SearchSettings(n_hops=0, axes=False)
    first = learn_factor(X, y, 2, rng=np.random.default_rng(0), settings=settings)
    second = learn_factor(X @ Q, y, 2, rng=np.random.default_rng(0), settings=settings)
    assert second.fit.value == pytest.approx(first.fit.value, abs=1e-2)
    assert largest_angle(Q @ second.fit.factor, first.fit.factor) < 1e-2
    assert largest_angle(second.fit.factor, first.fit.factor) > 0.1


def test_the_row_span_has_the_same_likelihood_and_lifts_back():
    rng = np.random.default_rng(4)
    X = rng.uniform(-1, 1, (20, 40))
    y = standardised((X[:, 0] - X[:, 3]) ** 2 + X[:, 0])
    coordinates, lift = factor_fit.row_span(X)
    assert coordinates.shape == (20, 20)
    np.testing.assert_allclose(coordinates, X @ lift, atol=1e-12)
    factor = rng.standard_normal((20, 2)) * 0.4
    reduced = factor_fit.thin_model(20, 2, FactorSettings())
    whole = factor_fit.thin_model(40, 2, FactorSettings())
    theta = np.concatenate([[0.1], factor.ravel(), [-3.0]])
    lifted = np.concatenate([[0.1], (lift @ factor).ravel(), [-3.0]])
    a, _ = reduced.negative_log_posterior(theta, coordinates, y)
    b, _ = whole.negative_log_posterior(lifted, X, y)
    assert a == pytest.approx(b, abs=1e-8)


def test_the_row_span_search_ends_in_the_optimum_of_the_whole_space():
    rng = np.random.default_rng(5)
    X = rng.uniform(-1, 1, (30, 34))
    w = random_frame(34, 1, rng)
    y = standardised((X @ w)[:, 0] + 0.2 * (X @ w)[:, 0] ** 2)
    learned = learn_factor(X, y, 1, rng=rng, settings=PLAIN)
    settings = PLAIN.fits
    full = factor_fit.fit_full(X, y, factor_fit.square_start(34), settings)
    direct = factor_fit.truncate(X, y, full, 1, settings)
    direct = factor_fit.fit_thin(X, y, direct, settings, 200)
    assert learned.fit.factor.shape == (34, 1)
    assert learned.fit.value <= direct.value + 0.5


@pytest.mark.parametrize("rank", [2, 4])
def test_gradients_of_the_log_posterior_have_slope_two(rank):
    rng = np.random.default_rng(6)
    X = rng.uniform(-1, 1, (15, 4))
    y = standardised(rng.standard_normal(15))
    prior = factor_fit.FULL_PRIOR if rank == 4 else factor_fit.thin_prior(rank)
    model = factor_fit.factor_model(4, rank, FactorSettings(), prior)
    theta = np.concatenate([[0.2], rng.standard_normal(4 * rank) * 0.5, [-2.0]])

    def value_and_gradient(theta):
        return model.negative_log_posterior(theta, X, y)

    def perturbed(theta):
        value, gradient = value_and_gradient(theta)
        return value, 1.01 * gradient

    check_gradient(value_and_gradient, theta, rng)
    with pytest.raises(AssertionError):
        check_gradient(
            lambda t: (value_and_gradient(t)[0], 1.01 * value_and_gradient(t)[1]), theta, rng
        )


def test_gradient_reset_keeps_the_range_of_gradients_and_a_floor():
    _, X, y = camelback_data(6, 60, 7)
    fit = factor_fit.fit_full(X, y, factor_fit.square_start(6), FactorSettings())
    start = factor_fit.gradient_reset(X, y, fit, 0.1, FactorSettings())
    singular = np.linalg.svd(start, compute_uv=False)
    assert singular[-1] >= 0.1 * singular[0] * (1 - 1e-9)
    assert singular[0] >= factor_fit.RESET_NORM * (1 - 1e-9)


def test_the_quadratic_start_leads_with_the_gradient_of_a_quadratic():
    rng = np.random.default_rng(8)
    w = random_frame(6, 1, rng)
    X = rng.uniform(-1, 1, (80, 6))
    z = (X @ w)[:, 0]
    start = full_rank.quadratic_reset(X, standardised(z**2 + 0.4 * z), 6)
    U, _, _ = np.linalg.svd(start)
    assert largest_angle(U[:, :1], w) < TEN_DEGREES


def test_a_warm_start_never_makes_it_worse_and_can_rescue():
    W, X, y = camelback_data(15, 80, 11)
    settings = SearchSettings(n_rounds=1, n_hops=0, quadratic_start=False, axes=False)
    cold = learn_factor(X, y, 2, rng=np.random.default_rng(0), settings=settings)
    warm = learn_factor(X, y, 2, rng=np.random.default_rng(0), settings=settings, starts=[0.7 * W])
    assert min(warm.pool) <= min(cold.pool)
    assert len(warm.pool) > len(cold.pool)
    assert largest_angle(warm.fit.factor, W) < TEN_DEGREES


def test_hops_run_only_while_searches_disagree():
    _, X, y = camelback_data(5, 60, 12)
    search = full_rank._Search(X, y, 5, SearchSettings())
    search.chain()
    for fit in tuple(search.full_fits):
        search.truncate(fit, 2)
    assert search.agreed
    n_full = len(search.full_fits)
    full_rank._hop(search, 2, 5, np.random.default_rng(0))
    assert len(search.full_fits) == n_full
    stranger = FactorFit(np.eye(5)[:, :2], 1.0, 0.01, search.best.value - 1.0, 0.0)
    search.pool.append(stranger)
    assert not search.agreed
    full_rank._hop(search, 2, 5, np.random.default_rng(0))
    assert len(search.full_fits) > n_full


def test_the_noise_floor_falls_for_smooth_data_and_stays_for_noisy_ones():
    rng = np.random.default_rng(13)
    _, X, y = camelback_data(5, 80, 13)
    smooth = learn_factor(X, y, 2, rng=rng)
    noisy = learn_factor(X, standardised(y + 0.3 * rng.standard_normal(80)), 2, rng=rng)
    assert smooth.settings.noise_floor < 0.01
    assert noisy.settings.noise_floor == 0.01
    assert noisy.fit.noise > 0.02


def test_columns_are_orthogonal_and_ordered():
    _, X, y = camelback_data(6, 60, 14)
    factor = learn_factor(X, y, 3, rng=np.random.default_rng(0)).fit.factor
    gram = factor.T @ factor
    np.testing.assert_allclose(gram, np.diag(np.diag(gram)), atol=1e-10)
    assert np.all(np.diff(np.diag(gram)) <= 0)


def test_choose_and_learn_ignores_units():
    W, X, y = camelback_data(5, 60, 15)
    first = clustered.choose_and_learn(X, y, None, 3, rng=np.random.default_rng(0))
    second = clustered.choose_and_learn(X, 3.0 * y + 7.0, None, 3, rng=np.random.default_rng(0))
    assert first.shape == (5, 2)
    assert largest_angle(first, W) < TEN_DEGREES
    assert largest_angle(first, second) < 1e-3


def test_full_dimension_and_one_dimension_work():
    rng = np.random.default_rng(16)
    X = rng.uniform(-1, 1, (20, 2))
    y = standardised(np.sin(3 * X[:, 0]) + X[:, 1] ** 2)
    assert learn_factor(X, y, 2, rng=rng).fit.factor.shape == (2, 2)
    line = learn_factor(X[:, :1], standardised(np.sin(3 * X[:, 0])), 1, rng=rng)
    assert line.fit.factor.shape == (1, 1)


def test_the_search_kernel_is_kept_when_no_final_profiles_are_given():
    _, X, y = camelback_data(5, 40, 17)
    learned = learn_factor(X, y, 2, rng=np.random.default_rng(0), settings=PLAIN)
    assert learned.settings == FactorSettings(profile=MATERN32)
