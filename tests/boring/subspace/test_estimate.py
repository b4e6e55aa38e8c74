"""The public estimate: contents, units, checks of input, warnings."""

import copy
import pickle
import warnings

import numpy as np
import pytest

from boring.exceptions import (
    InvalidInputError,
    NonFiniteWarning,
    SubspaceWarning,
    UnknownNameError,
)
from boring.space import Box
from boring.subspace.estimate import SubspaceEstimate
from boring.subspace.estimation import estimate_active_subspace
from boring.subspace.stiefel import is_orthonormal, largest_angle, random_frame


def generator():
    return np.random.default_rng(0)


def ridge(dim=5, n=40, seed=0):
    rng = np.random.default_rng(seed)
    W = random_frame(dim, 2, rng)
    X = rng.uniform(-1, 1, (n, dim))
    Z = X @ W
    return W, X, np.sin(3 * Z[:, 0]) + 2 * np.exp(-1.5 * (Z[:, 1] - 0.3) ** 2)


@pytest.fixture(scope="module")
def estimate():
    _, X, y = ridge()
    return estimate_active_subspace(X, y, rng=generator())


def test_contents(estimate):
    W, _, _ = ridge()
    assert isinstance(estimate, SubspaceEstimate)
    assert estimate.effective_dim == 2
    assert is_orthonormal(estimate.active_basis, 1e-10)
    assert largest_angle(estimate.active_basis, W) < np.deg2rad(10)
    assert estimate.trusted
    assert estimate.importance.sum() == pytest.approx(1.0)
    assert estimate.importance_interval.shape == (5, 2)
    assert np.all(estimate.importance_interval[:, 0] <= estimate.importance)
    assert np.all(estimate.importance <= estimate.importance_interval[:, 1])
    assert estimate.singular_values.shape == (5,)
    assert np.all(np.diff(estimate.singular_values) <= 0)
    assert np.all(np.diff(estimate.lengthscales) >= 0)
    assert estimate.method == "full-rank"
    assert estimate.angle_to_previous is None
    assert estimate.factor.shape == (5, 2)
    with pytest.raises(ValueError, match="read-only"):
        estimate.active_basis[0, 0] = 0.0


def test_summary_names_parameters_and_verdict(estimate):
    with pytest.raises(InvalidInputError, match="one name for each of the 5 parameters; received"):
        estimate.summary(["a"])
    text = estimate.summary(["a", "b", "c", "d", "e"], top=2)
    assert "2 of 5 dimensions" in text
    assert "trusted" in text
    assert "BIC" in text
    top = "abcde"[int(np.argmax(estimate.importance))]
    assert f"  {top} " in text


def test_a_summary_keeps_its_columns_under_a_long_name(estimate):
    rows = estimate.summary(["cavity voltage (kV)", "b", "c", "d", "e"]).splitlines()[-5:]
    assert len({row.index(" [") for row in rows}) == 1


def test_units_of_y_change_nothing_but_variances(estimate):
    # The variances are flat in the likelihood: where their fit ends depends on the last digits.
    _, X, y = ridge()
    other = estimate_active_subspace(X, -3.0 * y + 100.0, rng=generator())
    assert largest_angle(other.active_basis, estimate.active_basis) < 1e-3
    assert other.signal_variance == pytest.approx(9.0 * estimate.signal_variance, rel=0.5)
    np.testing.assert_allclose(other.importance, estimate.importance, atol=1e-3)
    mean, variance = estimate.predictor.predict(X[:3])
    other_mean, other_variance = other.predictor.predict(X[:3])
    np.testing.assert_allclose(other_mean, -3.0 * mean + 100.0, rtol=1e-3)
    np.testing.assert_allclose(other_variance, 9.0 * variance, rtol=0.5)


@pytest.mark.parametrize("exponent", [-1000, 1022])
def test_values_of_any_size(estimate, exponent):
    _, X, y = ridge()
    huge = estimate_active_subspace(X, np.ldexp(y, exponent), rng=generator())
    np.testing.assert_allclose(huge.active_basis, estimate.active_basis, atol=1e-9)
    assert huge.trusted
    mean, variance = huge.predictor.predict(X[:5])
    expected, _ = estimate.predictor.predict(X[:5])
    np.testing.assert_allclose(np.ldexp(mean, -exponent), expected, rtol=1e-6)
    squared = np.inf if exponent > 0 else 0.0
    np.testing.assert_array_equal([*variance, huge.signal_variance], [squared] * 6)


def test_raw_inputs_with_their_space(estimate):
    _, X, y = ridge()
    space = Box(np.arange(5.0), np.arange(5.0) + 10.0)
    pairs = np.stack([space.lower, space.upper], axis=1)
    other, again = (
        estimate_active_subspace(space.unscale(X), y, 2, space=given, rng=generator(), check=False)
        for given in (space, pairs)
    )
    np.testing.assert_array_equal(again.active_basis, other.active_basis)
    assert largest_angle(other.active_basis, estimate.active_basis) < 1e-3


def test_the_same_generator_gives_the_same_estimate_and_global_state_is_kept(estimate):
    _, X, y = ridge()
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    X_before, y_before = X.copy(), y.copy()
    again = estimate_active_subspace(X, y, rng=generator())
    np.testing.assert_array_equal(again.active_basis, estimate.active_basis)
    np.testing.assert_array_equal(again.importance_std, estimate.importance_std)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002
    np.testing.assert_array_equal(X, X_before)
    np.testing.assert_array_equal(y, y_before)


def test_previous_basis_warm_start_and_no_check(estimate):
    _, X, y = ridge()
    again = estimate_active_subspace(
        X,
        y,
        2,
        rng=generator(),
        starts=[estimate.factor],
        previous_basis=estimate.active_basis,
        check=False,
        noise_floor=1e-6,
        kernel="matern52",
    )
    assert again.profile == "matern52"
    assert again.angle_to_previous < np.deg2rad(5)
    assert not again.trusted
    assert not again.trust
    assert np.isnan(again.importance_std).all()
    assert "not checked" in again.summary()
    assert "dimensions, not checked; summary()" in repr(again)


def test_polish_reduces_the_certificate():
    _, X, y = ridge(n=40)
    options = {"kernel": "matern32", "noise_floor": 0.01, "check": False}
    plain = estimate_active_subspace(X, y, 2, rng=generator(), **options)
    polished = estimate_active_subspace(X, y, 2, rng=generator(), polish=True, **options)
    assert polished.gradient_norm < 1e-3
    assert polished.gradient_norm <= plain.gradient_norm
    assert polished.log_posterior >= plain.log_posterior - 1e-6
    assert largest_angle(polished.active_basis, plain.active_basis) < 1e-2


def test_certificate_agrees_with_finite_differences_along_the_manifold():
    from boring.subspace.likelihood import Hyperparameters, StiefelLikelihood
    from boring.subspace.stiefel import orthonormalize

    _, X, y = ridge(n=40)
    found = estimate_active_subspace(
        X, y, 2, rng=generator(), kernel="matern32", noise_floor=0.01, check=False
    )
    likelihood = StiefelLikelihood(X, (y - y.mean()) / y.std())
    parameters = Hyperparameters(
        np.log(found.lengthscales),
        float(np.log(found.signal_variance / y.var())),
        float(np.log(found.noise_variance / y.var())),
    )
    W = found.active_basis
    direction = generator().standard_normal(W.shape)
    direction -= W @ (W.T @ direction)
    direction /= np.linalg.norm(direction)
    ends = [
        likelihood.value(orthonormalize(W + step * direction), parameters) for step in (1e-4, -1e-4)
    ]
    assert abs(ends[0] - ends[1]) / 2e-4 <= found.gradient_norm + 1e-2


def test_tripathys_method():
    W, X, y = ridge(n=60)
    found = estimate_active_subspace(
        X, y, 2, rng=generator(), method="tripathy", n_restarts=4, check=False
    )
    assert found.method == "tripathy"
    assert is_orthonormal(found.active_basis)
    assert largest_angle(found.active_basis, W) < np.deg2rad(15)


def test_tripathys_method_says_how_d_was_chosen():
    _, X, y = ridge(n=60)
    options = {"method": "tripathy", "n_restarts": 1, "check": False}
    found = estimate_active_subspace(X, y, rng=generator(), max_effective_dim=3, **options)
    best = min(found.dimension_table, key=lambda row: row.bic)
    assert found.effective_dim == best.effective_dim
    assert {row.effective_dim for row in found.dimension_table} == {1, 2, 3}
    given = estimate_active_subspace(X, y, 2, rng=generator(), **options)
    assert given.dimension_table == ()


@pytest.mark.parametrize(("n", "dim", "columns"), [(30, 4, 6), (10, 20, 15)])
def test_a_warm_start_may_have_any_number_of_columns(n, dim, columns):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (n, dim))
    start = rng.standard_normal((dim, columns))
    found = estimate_active_subspace(
        X, X[:, 0] ** 2, 1, rng=rng, starts=[start], check=False, n_hops=0
    )
    assert is_orthonormal(found.active_basis)


def test_a_subspace_is_not_trusted_for_the_smoothness_that_its_rival_lacks():
    # The last fit of W may be smooth and nearly free of noise; a GP without W can be as smooth.
    rng = np.random.default_rng(6)
    X = rng.uniform(-1, 1, (80, 6))
    y = ((X - 0.2) ** 2) @ np.arange(1.0, 7.0)
    with pytest.warns(SubspaceWarning, match="do not support"):
        found = estimate_active_subspace(X, y, rng=rng)
    assert found.trust["isotropic_error"] < 0.5 * found.trust["error"]
    assert found.trust["isotropic_error"] < 0.01


def test_rejection_warns_and_predicts_without_a_subspace():
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, (24, 12))
    y = rng.standard_normal(24)
    with pytest.warns(SubspaceWarning, match="do not support"):
        found = estimate_active_subspace(X, y, 2, rng=rng)
    assert not found.trusted
    assert found.predictor.posterior.model.kernel.component_names == ("isotropic",)
    assert "NOT trusted" in found.summary()
    assert "NOT trusted; summary()" in repr(found)


def test_a_rejection_names_the_figure_that_it_rests_on():
    """A step along one direction: found by all folds, of smaller error, and far too sure."""
    X = np.random.default_rng(0).uniform(-1, 1, (60, 5))
    Z = X[:, 0] + X[:, 2]
    y = np.sin(2 * Z) + 0.5 * Z > 0
    with pytest.warns(SubspaceWarning, match="do not support") as caught:
        found = estimate_active_subspace(X, y, rng=generator())
    figures = found.trust
    assert figures["error"] < figures["isotropic_error"]
    assert figures["overlap"] > 0.9
    assert figures["log_density"] < figures["isotropic_log_density"]
    for text in (str(caught[0].message), found.summary()):
        for name in ("log_density", "isotropic_log_density"):
            assert f"{figures[name]:.2f}" in text or f"{figures[name]:.3g}" in text


def test_copies_are_read_only_too(estimate):
    for other in (copy.deepcopy(estimate), pickle.loads(pickle.dumps(estimate))):
        assert other.summary() == estimate.summary()
        for array in (other.active_basis, other.importance_interval, *other.fold_bases):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 0.0


def test_the_predictor_takes_points_as_models_do(estimate):
    _, X, _ = ridge()
    mean, variance = estimate.predictor.predict(X[:2])
    one, spread = estimate.predictor.predict(X[1].tolist())
    assert (one, spread) == (pytest.approx(mean[1:]), pytest.approx(variance[1:]))
    with pytest.raises(InvalidInputError, match=r"X must have shape \(n, 5\).*Give each point 5"):
        estimate.predictor.predict(X[:, :3])


def test_points_of_one_embedding_warn():
    rng = np.random.default_rng(4)
    points = np.clip(rng.uniform(-1.4, 1.4, (60, 2)) @ rng.standard_normal((2, 8)), -1, 1)
    y = np.sin(points @ np.full(8, 0.3))
    with pytest.warns(SubspaceWarning, match="hardly leave 2 of 8"):
        estimate_active_subspace(points, y, 1, rng=rng, check=False)


def test_non_finite_values_are_left_out():
    _, X, y = ridge()
    spoiled_X = np.vstack([X, X[:2]])
    spoiled_y = np.append(y, [np.nan, np.inf])
    with pytest.warns(NonFiniteWarning, match="2 of 42"):
        found = estimate_active_subspace(spoiled_X, spoiled_y, 2, rng=generator(), check=False)
    clean = estimate_active_subspace(X, y, 2, rng=generator(), check=False)
    np.testing.assert_array_equal(found.active_basis, clean.active_basis)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": np.zeros(5)}, r"shape \(n, D\)"),
        ({"y": np.zeros(39)}, "one value for each"),
        ({"y": np.zeros(40)}, "y must vary"),
        ({"effective_dim": 6}, "at most D = 5"),
        ({"effective_dim": 0}, "at least 1"),
        ({"effective_dim": 2.5}, "integer"),
        ({"X": np.full((40, 5), np.nan)}, "finite"),
        ({"X": np.full((40, 5), 3.0)}, r"scaled to \[-1, 1\]"),
        ({"y": np.full(40, 1j)}, "real"),
        ({"noise_floor": -1.0}, "noise_floor"),
        ({"previous_basis": np.ones((4, 1))}, "previous_basis"),
        ({"starts": [np.ones((4, 1))]}, "starts"),
        ({"max_effective_dim": 9}, "max_effective_dim"),
        ({"n_hops": -1}, "n_hops"),
        ({"noise_floor": "low"}, "noise_floor"),
        ({"n_restarts": 0, "method": "tripathy"}, "n_restarts must be an integer of at least 1"),
        ({"n_restarts": 3}, "n_restarts belongs to the other method"),
        ({"cpu_budget": 3.0}, "cpu_budget belongs to the other method"),
        ({"cpu_budget": "3", "method": "tripathy"}, "cpu_budget must be positive seconds"),
        ({"starts": [np.ones((5, 1))], "method": "tripathy"}, "starts belongs to the other"),
        ({"rng": 0}, "rng must be a numpy.random.Generator; received int"),
        ({"space": [(-1, 1)] * 4}, r"shape \(n, 4\)"),
    ],
)
def test_bad_input_is_refused(change, message):
    _, X, y = ridge()
    arguments = {"X": X, "y": y, "effective_dim": 2, "rng": generator(), **change}
    with pytest.raises(InvalidInputError, match=message):
        estimate_active_subspace(**arguments)


def test_too_few_points_are_refused():
    _, X, y = ridge()
    with pytest.raises(InvalidInputError, match="at least 3"):
        estimate_active_subspace(X[:2], y[:2], 1, rng=generator())
    with pytest.raises(InvalidInputError, match="less than the number of points"):
        estimate_active_subspace(X[:4], y[:4], 4, rng=generator())


def test_unknown_names_suggest_the_near_one():
    _, X, y = ridge()
    with pytest.raises(UnknownNameError, match="full-rank"):
        estimate_active_subspace(X, y, 2, rng=generator(), method="fullrank")
    with pytest.raises(UnknownNameError, match="matern32"):
        estimate_active_subspace(X, y, 2, rng=generator(), kernel="matern23")


def test_duplicates_three_points_and_one_dimension():
    _, X, y = ridge()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SubspaceWarning)
        doubled = estimate_active_subspace(
            np.vstack([X, X]), np.append(y, y), 2, rng=generator(), check=False
        )
        few = estimate_active_subspace(X[:3], y[:3], rng=generator())
        line = estimate_active_subspace(X[:, :1], X[:, 0] ** 2, rng=generator())
    assert is_orthonormal(doubled.active_basis)
    assert few.active_basis.shape[0] == 5
    assert line.active_basis.shape == (1, 1)
    np.testing.assert_array_equal(line.importance, [1.0])
