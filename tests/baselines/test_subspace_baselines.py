"""SI-BO, coordinate differences, Tripathy's model and active embeddings as optimisers."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from baselines.subspace.active_embedding import ActiveEmbeddingOptimizer
from baselines.subspace.coordinate_differences import CoordinateDifferencesOptimizer
from baselines.subspace.si_bo import SiBoOptimizer, recover_gradients
from baselines.subspace.tripathy import TripathyOptimizer
from boring.exceptions import BoringWarning, BudgetWarning, InvalidInputError, SubspaceWarning
from boring.subspace.stiefel import largest_angle, random_frame
from boring.testing import OPTIMIZER_CHECKS, check_optimizer

W8 = random_frame(8, 2, np.random.default_rng(0))


def ridge(x):
    u, v = (np.asarray(x) @ W8).tolist()
    return float((u - 0.4) ** 2 + 0.5 * (v + 0.2) ** 2 + 0.3 * u * v)


class ShortSi(SiBoOptimizer):
    def __init__(self, space, **arguments):
        super().__init__(
            space, **{"effective_dim": 1, "n_centers": 1, "n_directions": 3, **arguments}
        )


class ShortCoordinate(CoordinateDifferencesOptimizer):
    def __init__(self, space, **arguments):
        super().__init__(space, **{"effective_dim": 1, "n_centers": 1, **arguments})


@pytest.mark.parametrize("make", [ShortSi, ShortCoordinate])
@pytest.mark.parametrize("check", OPTIMIZER_CHECKS)
def test_the_contract_holds_in_the_search_too(make, check):
    assert check_optimizer(make, [check]) == (check,)


@pytest.mark.parametrize("make", [ShortSi, ShortCoordinate])
def test_short_designs_reach_the_search_within_the_checks(make):
    optimizer = make([(-1, 1)] * 3, direction="minimize", seed=0)
    assert optimizer.n_sampling == 4
    result = optimizer.run(lambda x: float(np.sin(x[0] + x[1])), 7, progress=False)
    assert [record.phase for record in result.records][-3:] == ["search"] * 3


@pytest.mark.parametrize(
    ("make", "cost"),
    [
        (partial(SiBoOptimizer, n_centers=4, n_directions=50), None),
        (partial(SiBoOptimizer, n_centers=4, sum_centers=False), None),
        (partial(SiBoOptimizer, solver="nuclear-norm", centers="sphere"), None),
        (CoordinateDifferencesOptimizer, 3 * 9),
        (partial(CoordinateDifferencesOptimizer, scheme="central", n_centers=2), 2 * 17),
    ],
)
def test_sampling_costs_what_it_says_and_finds_the_plane(make, cost):
    optimizer = make([(-1, 1)] * 8, direction="minimize", seed=1)
    if cost is None:  # random signs may repeat in eight dimensions
        m, s, _ = optimizer.design.offsets.shape
        cost = optimizer.n_sampling
        assert 0.8 * m / 3 * (1 + s) < cost <= m / 3 * (1 + s)
    assert optimizer.n_sampling == cost
    result = optimizer.run(ridge, cost + 15, progress=False)
    phases = [record.phase for record in result.records]
    assert phases.count("search") == 15
    assert set(phases[:cost]) == {"initial", "sampling"}
    assert optimizer.active_basis.shape == (8, 2)
    assert largest_angle(optimizer.active_basis, W8) < np.radians(8)
    assert result.y[cost:].min() < -0.02  # the optimum is -.0336


@pytest.mark.parametrize(
    ("make", "n"),
    [(SiBoOptimizer, 54), (CoordinateDifferencesOptimizer, 15), (ActiveEmbeddingOptimizer, 50)],
)
def test_a_budget_within_the_phase_of_learning_is_reported(make, n):
    arguments = {"direction": "minimize", "seed": 0, "effective_dim": 1, "n_initial": 2}
    optimizer = make([(-1, 1)] * 4, **arguments)
    assert optimizer.n_before_search == n
    message = f"3 evaluations end inside the phase of learning of {n}"
    with pytest.warns(BudgetWarning, match=message):
        optimizer.run(lambda x: float(np.sum(x)), 3, progress=False)
    assert make([(-1, 1)] * 4, **{**arguments, "n_initial": 70}).n_before_search == 70


def test_the_design_lies_in_the_box_and_is_asked_once():
    for make in (SiBoOptimizer, CoordinateDifferencesOptimizer):
        optimizer = make([(-1, 1)] * 3, direction="minimize", seed=3, effective_dim=1)
        result = optimizer.run(lambda x: float(np.sum(x**2)), optimizer.n_sampling, progress=False)
        assert {record.phase for record in result.records} == {"initial", "sampling"}
        assert len(np.unique(result.X, axis=0)) == optimizer.n_sampling


def test_a_failed_centre_is_replaced_and_its_steps_left_out():
    optimizer = CoordinateDifferencesOptimizer([(-1, 1)] * 8, direction="minimize", seed=1)
    first = optimizer.ask()[0]

    def fails_there(x):
        return float("nan") if np.linalg.norm(x - first) < 0.1 else ridge(x)

    with pytest.warns(BoringWarning, match="finite"):
        result = optimizer.run(fails_there, 1 + optimizer.n_sampling + 1, progress=False)
    assert np.isnan(result.y).sum() == 1
    assert result.records[-1].phase == "search"
    assert largest_angle(optimizer.active_basis, W8) < np.radians(8)


def test_without_a_direction_it_says_so_and_searches_everything():
    # Differences vanish, values do not: a staircase.
    optimizer = CoordinateDifferencesOptimizer([(-1, 1)] * 4, direction="minimize", seed=0)
    with pytest.warns(SubspaceWarning, match="no direction"):
        optimizer.run(lambda x: float(np.floor(x[0] * 1.5)), optimizer.n_sampling + 3)
    assert optimizer.active_basis is None


def test_recovery_of_sums_equals_least_squares_where_they_determine_it():
    rng = np.random.default_rng(0)
    G = np.outer(rng.standard_normal(6), rng.standard_normal(3))
    directions = rng.choice([-1.0, 1.0], (3, 60, 6)) / np.sqrt(60)
    differences = np.einsum("jia,aj->ji", directions, G)
    for together in (True, False):
        found = recover_gradients(directions, differences, 1e-3, sum_centers=together)
        np.testing.assert_allclose(found, G, atol=0.02 * np.abs(G).max())
    np.testing.assert_array_equal(recover_gradients(directions, 0.0 * differences, 1e-3), 0.0)


@pytest.mark.parametrize(
    ("make", "phase", "reached"),
    [
        (
            partial(TripathyOptimizer, effective_dim=2, n_restarts=3, refit_every=15),
            "proposal",
            -0.01,
        ),
        (
            partial(TripathyOptimizer, n_restarts=2, refit_every=20, acquisition="ucb"),
            "proposal",
            0.2,
        ),
        (partial(ActiveEmbeddingOptimizer, n_learning=30), "search", -0.01),
    ],
)
def test_learns_and_searches(make, phase, reached):
    optimizer = make([(-1, 1)] * 8, direction="minimize", seed=2)
    assert optimizer.active_basis is None
    result = optimizer.run(ridge, 35, progress=False)
    assert result.y_best < reached
    assert result.records[-1].phase == phase
    W = optimizer.active_basis
    np.testing.assert_allclose(W.T @ W, np.eye(W.shape[1]), atol=1e-10)


@pytest.mark.parametrize(
    ("make", "options", "message"),
    [
        (SiBoOptimizer, {"effective_dim": 3}, "effective_dim"),
        (SiBoOptimizer, {"n_centers": 1}, "n_centers"),
        (SiBoOptimizer, {"solver": "lasso"}, "solver"),
        (SiBoOptimizer, {"radius": 1.0}, "radius"),
        (SiBoOptimizer, {"centers": "ball"}, "centers"),
        (CoordinateDifferencesOptimizer, {"step": 2.0}, "step"),
        (CoordinateDifferencesOptimizer, {"scheme": "both"}, "scheme"),
        (TripathyOptimizer, {"effective_dim": 3}, "effective_dim"),
        (TripathyOptimizer, {"acquisition": "ei"}, "acquisition"),
        (ActiveEmbeddingOptimizer, {"effective_dim": 3}, "effective_dim"),
        (ActiveEmbeddingOptimizer, {"n_learning": -1}, "n_learning"),
    ],
)
def test_bad_options_are_refused(make, options, message):
    with pytest.raises(InvalidInputError, match=message):
        make([(-1, 1)] * 2, direction="minimize", **options)


def test_log_ei_gets_closer_than_ucb_after_the_same_sampling():
    reached = {}
    for acquisition in ("ucb", "log-ei"):
        optimizer = CoordinateDifferencesOptimizer(
            [(-1, 1)] * 8, direction="minimize", seed=4, acquisition=acquisition
        )
        reached[acquisition] = optimizer.run(ridge, 45, progress=False).y_best
    assert reached["log-ei"] < reached["ucb"]
    assert reached["log-ei"] < -0.0335
