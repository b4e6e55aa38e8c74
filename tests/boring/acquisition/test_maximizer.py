from __future__ import annotations

import numpy as np
import pytest

from boring.acquisition.improvement import LogExpectedImprovement
from boring.acquisition.maximizer import (
    JointSearch,
    duplicates,
    generate_candidates,
    maximize_acquisition,
)
from boring.acquisition.ucb import UpperConfidenceBound
from boring.exceptions import InvalidInputError, NumericsWarning
from boring.kernels import MATERN52, AdditiveKernel, Isotropic, KernelTerm
from boring.models.gp import GaussianProcessModel


class Bowl:
    """-(x - c)'(x - c), with an optional part of the box where it is not a number."""

    def __init__(self, center, bad=None):
        self.center, self.bad = np.asarray(center, float), bad

    def value(self, X):
        return self.value_and_gradient(X)[0]

    def value_and_gradient(self, X):
        offset = X - self.center
        value = -np.sum(offset**2, axis=1)
        if self.bad is not None:
            value[self.bad(X)] = np.nan
        return value, -2 * offset


def test_finds_an_interior_and_a_corner_maximum():
    rng = np.random.default_rng(0)
    for center in (np.full(8, 0.3), np.full(8, 1.7)):
        found = maximize_acquisition(Bowl(center), 8, incumbent=np.zeros(8), rng=rng)
        np.testing.assert_allclose(found.x, np.clip(center, -1, 1), atol=1e-5)
        assert found.value >= found.candidate_value
        assert not found.replaced


class Needle(Bowl):
    """A bowl that is level beyond a small distance of its centre."""

    def value_and_gradient(self, X):
        value, gradient = super().value_and_gradient(X)
        near = value > -0.01
        return np.where(near, value, -1.0), np.where(near[:, None], gradient, 0.0)


class Misleading(Bowl):
    """A bowl whose gradient points downhill."""

    def value_and_gradient(self, X):
        value, gradient = super().value_and_gradient(X)
        return value, -gradient


def test_the_best_point_is_kept_wherever_the_search_ends():
    starts = np.array([[0.2], [0.5]])
    bowl = Misleading([0.0])
    search = JointSearch(bowl, starts, bowl.value(starts), -1.0)
    search.run(5)
    np.testing.assert_array_equal(search.best_points, starts)
    np.testing.assert_array_equal(search.best_values, bowl.value(starts))


def test_where_it_is_no_number_a_search_backs_away():
    """The first step has length 1, into the part that is none; all values are below zero."""
    starts = np.array([[-0.45]])
    bowl = Bowl([0.4], bad=lambda X: X[:, 0] > 0.5)
    search = JointSearch(bowl, starts, bowl.value(starts), -2.0)
    search.run(20)
    assert search.n_non_finite > 0
    np.testing.assert_allclose(search.best_points, 0.4, atol=1e-5)


def test_given_candidates_are_a_family_of_their_own():
    arguments = {"incumbent": np.zeros(8), "rng": np.random.default_rng(0)}
    needle = Needle(np.full(8, 0.6))
    assert maximize_acquisition(needle, 8, **arguments).value == -1.0
    given = np.vstack([np.full(8, 0.62), np.full(8, 40.0)])
    found = maximize_acquisition(needle, 8, given=given, **arguments)
    assert found.family == "given"
    np.testing.assert_allclose(found.x, 0.6, atol=1e-4)
    with pytest.raises(InvalidInputError, match=r"given must be \(m, 8\)"):
        maximize_acquisition(needle, 8, given=np.zeros((2, 3)), **arguments)


def test_beats_a_large_random_sample_inside_the_box(posterior):
    X = np.random.default_rng(4).uniform(-1, 1, (20_000, 5))
    incumbent = posterior.X[np.argmax(posterior.y)]
    for acquisition in (
        LogExpectedImprovement(posterior, posterior.y.max()),
        UpperConfidenceBound(posterior, 2.0),
    ):
        for seed in range(5):
            found = maximize_acquisition(
                acquisition, 5, incumbent=incumbent, rng=np.random.default_rng(seed)
            )
            assert np.all(np.abs(found.x) <= 1.0)
            assert found.value > acquisition.value(X).max()
            assert found.value == pytest.approx(acquisition.value(found.x[None])[0], rel=1e-9)


@pytest.mark.parametrize("dim", [1, 2])
def test_finds_the_maximum_of_a_dense_grid(dim):
    rng = np.random.default_rng(dim)
    X = rng.uniform(-1, 1, (6 * dim, dim))
    model = GaussianProcessModel(AdditiveKernel([KernelTerm(MATERN52, Isotropic())]))
    posterior = model.condition(np.log([1.0, 0.3, 1e-4]), X, np.sin(7 * X).sum(axis=1))
    line = np.linspace(-1, 1, 2001 if dim == 1 else 201)
    grid = np.stack(np.meshgrid(*[line] * dim), axis=-1).reshape(-1, dim)
    for acquisition in (
        LogExpectedImprovement(posterior, posterior.y.max()),
        UpperConfidenceBound(posterior, 2.0),
    ):
        found = maximize_acquisition(acquisition, dim, incumbent=np.zeros(dim), rng=rng)
        assert found.value >= acquisition.value(grid).max() - 1e-3


def test_same_generator_same_answer_and_global_state_untouched(posterior):
    acquisition = UpperConfidenceBound(posterior, 2.0)
    before = np.random.get_state()[1].copy()  # noqa: NPY002 - the state under test
    first, second = (
        maximize_acquisition(acquisition, 5, incumbent=np.zeros(5), rng=np.random.default_rng(9))
        for _ in range(2)
    )
    np.testing.assert_array_equal(first.x, second.x)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


@pytest.mark.parametrize("dim", [1, 2, 7, 60])
@pytest.mark.parametrize("with_basis", [False, True])
def test_candidates_come_in_equal_families_inside_the_box(dim, with_basis):
    rng = np.random.default_rng(2)
    basis = np.linalg.qr(rng.standard_normal((dim, min(dim, 2))))[0] if with_basis else None
    incumbent = rng.uniform(-1, 1, dim)
    families = generate_candidates(dim, incumbent=incumbent, rng=rng, basis=basis)
    assert list(families) == ["uniform", "local", "coordinates"] + ["subspace"] * with_basis
    sizes = {len(points) for points in families.values()}
    assert sizes == {128 if with_basis else 170}
    for points in families.values():
        assert points.shape[1] == dim
        assert np.all(np.abs(points) <= 1.0)
    changed = np.sum(families["coordinates"] != incumbent, axis=1)
    assert changed.min() >= 1
    if dim == 60:
        assert 2 < changed.mean() < 5
        assert changed.max() < 20


def test_subspace_candidates_move_within_the_basis():
    rng = np.random.default_rng(2)
    basis = np.linalg.qr(rng.standard_normal((30, 2)))[0]
    moved = generate_candidates(30, incumbent=np.zeros(30), rng=rng, basis=basis)["subspace"]
    inside = moved[np.all(np.abs(moved) < 1.0, axis=1)]
    assert len(inside) > 50
    np.testing.assert_allclose(inside - inside @ basis @ basis.T, 0.0, atol=1e-12)


def test_a_near_duplicate_is_replaced_by_a_step_from_the_incumbent():
    center, incumbent = np.full(4, 0.3), np.full(4, -0.5)
    found = maximize_acquisition(
        Bowl(center),
        4,
        incumbent=incumbent,
        rng=np.random.default_rng(0),
        avoid=np.vstack([center, incumbent]),
    )
    assert found.replaced
    assert found.family == "replacement"
    distance = np.linalg.norm(found.x - incumbent)
    assert 0.0 < distance < 0.4
    assert found.value == pytest.approx(-np.sum((found.x - center) ** 2))


def test_a_clipped_replacement_does_not_repeat_the_corner():
    corner = np.ones(1)
    for seed in range(20):
        found = maximize_acquisition(
            Bowl(2 * corner),
            1,
            incumbent=corner,
            rng=np.random.default_rng(seed),
            avoid=corner[None],
        )
        assert not duplicates(found.x, corner[None])
        assert abs(found.x[0]) <= 1.0


def test_pockets_without_a_number_are_avoided():
    center = np.full(3, 0.4)
    bowl = Bowl(center, bad=lambda X: (X[:, 0] < 0) | (np.abs(X[:, 1]) > 0.9))
    found = maximize_acquisition(bowl, 3, incumbent=np.zeros(3), rng=np.random.default_rng(1))
    np.testing.assert_allclose(found.x, center, atol=1e-4)
    assert found.n_non_finite > 0
    assert np.isfinite(found.value)


def test_an_acquisition_without_any_number_warns_and_steps_from_the_incumbent():
    nothing = Bowl(np.zeros(3), bad=lambda X: np.ones(len(X), bool))
    with pytest.warns(NumericsWarning, match="finite at none"):
        found = maximize_acquisition(
            nothing, 3, incumbent=np.zeros(3), rng=np.random.default_rng(1)
        )
    assert found.value == -np.inf
    assert np.linalg.norm(found.x) < 0.5


def test_zero_iterations_keep_the_best_candidate():
    found = maximize_acquisition(
        Bowl(np.zeros(3)),
        3,
        incumbent=np.full(3, 0.5),
        rng=np.random.default_rng(1),
        max_iterations=0,
    )
    assert found.value == found.candidate_value


@pytest.mark.parametrize(
    "change",
    [
        {"incumbent": np.zeros(2)},
        {"incumbent": np.array([0.0, np.nan, 0.0])},
        {"basis": np.zeros((2, 2))},
        {"avoid": np.zeros((4, 2))},
        {"n_starts": 0},
        {"n_candidates": 0},
        {"max_iterations": -1},
    ],
)
def test_bad_arguments_are_rejected(change):
    arguments = {"incumbent": np.zeros(3), "rng": np.random.default_rng(0), **change}
    with pytest.raises(InvalidInputError):
        maximize_acquisition(Bowl(np.zeros(3)), 3, **arguments)
