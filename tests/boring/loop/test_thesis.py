"""The thesis preset: burn-in inside one embedding, then W, V and the additive kernel."""

import json

import numpy as np
import pytest

from boring import surrogate
from boring.embedding import back_project
from boring.exceptions import ConstantObjectiveWarning, InvalidInputError, UnknownNameError
from boring.kernels.maps import Projected
from boring.loop.algorithm import BoringOptimizer
from boring.loop.thesis import thesis_model
from boring.loop.thesis_optimizer import ThesisOptimizer
from boring.subspace import trust
from boring.subspace.stiefel import is_orthonormal, random_frame

BOX = [[-1.0, 1.0]] * 5
FAST = {"burn_in": 14, "effective_dim": 2, "n_restarts": 1, "refit_every": 4}


def _objective(x) -> float:
    return float((x[0] - 0.3) ** 2 + np.sin(3 * x[1]))


@pytest.fixture(scope="module")
def run() -> ThesisOptimizer:
    optimizer = BoringOptimizer.thesis(BOX, direction="minimize", seed=3, **FAST)
    while optimizer.n_told < 20:
        x = optimizer.ask()[0]
        optimizer.tell(x, _objective(x))
    return optimizer


def test_preset_is_the_registered_class() -> None:
    assert isinstance(BoringOptimizer.thesis(BOX, direction="maximize"), ThesisOptimizer)


def test_burn_in_stays_in_the_image_of_one_embedding(run) -> None:
    X = run.data.X[: FAST["burn_in"]]
    Z, error = back_project(run.embedding, X)
    assert error.max() < 1e-8
    assert np.abs(Z).max() <= run.embedding.half_width * (1 + 1e-8)


def test_after_burn_in_W_and_V_complete_each_other(run) -> None:
    W = np.array(run.memory["W"])
    V = np.array(run.memory["V"]).reshape(5, -1)
    assert W.shape == (5, 2)
    assert V.shape == (5, 1)
    assert is_orthonormal(np.hstack([W, V]), 1e-10)
    assert run.memory["learned_at"] == 18


def test_account_is_by_the_presets_own_method(run, monkeypatch) -> None:
    monkeypatch.setattr(trust, "N_FOLDS_SCARCE", 2)  # of ten, each a search of seconds
    assert BoringOptimizer.thesis(BOX, direction="minimize").subspace is None
    estimate = run.subspace
    assert estimate.method == "tripathy"
    assert estimate.active_basis.shape == (5, 2)
    assert estimate.angle_to_previous is not None


def test_the_surrogate_learns_from_the_best_values(run, monkeypatch) -> None:
    chosen_from = []

    def sample(y):
        chosen_from.append(y)
        return np.arange(len(y))

    monkeypatch.setattr(surrogate, "sample", sample)
    run._fit_surrogate()
    assert np.argmax(chosen_from[0]) == np.argmin(run.history.y)


def test_native_and_gpy_surrogates_agree(run) -> None:
    W, V = np.array(run.memory["W"]), np.array(run.memory["V"]).reshape(5, -1)
    theta = np.array(run.memory["theta"])
    X, y = run.data.X, run.data.y
    X_new = np.random.default_rng(0).uniform(-1, 1, (6, 5))
    native, gpy = (thesis_model(W, V, backend) for backend in ("native", "gpy"))
    for ours, theirs in zip(
        native.condition(theta, X, y).predict(X_new),
        gpy.condition(theta, X, y).predict(X_new),
        strict=True,
    ):
        np.testing.assert_allclose(ours, theirs, atol=1e-6)


def test_gpy_backend_and_additive_bound_propose() -> None:
    optimizer = BoringOptimizer.thesis(
        BOX, direction="minimize", seed=1, backend="gpy", acquisition="additive-ucb",
        burn_in=6, effective_dim=1, n_restarts=1,
    )  # fmt: skip
    while optimizer.n_told < 8:
        x = optimizer.ask()[0]
        optimizer.tell(x, _objective(x))
    assert np.all(np.abs(optimizer.ask()) <= 1)


def test_pending_points_are_told_apart(run) -> None:
    state = run.state()
    points = ThesisOptimizer.from_state(state).ask(3)
    assert len(np.unique(points, axis=0)) == 3


def test_memory_is_json(run) -> None:
    json.dumps(dict(run.memory))


def test_q_one_dimensional_terms() -> None:
    W = random_frame(6, 2, np.random.default_rng(0))
    V = np.linalg.qr(np.hstack([W, np.eye(6)]))[0][:, 2:5]
    model = thesis_model(W, V)
    assert model.kernel.component_names == ("active", "passive 1", "passive 2", "passive 3")
    assert all(isinstance(t.feature_map, Projected) for t in model.kernel.terms[1:])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"acquisition": "additiv-ucb"}, "additive-ucb"),
        ({"backend": "gpx"}, "gpy"),
        ({"beta": -1.0}, "beta"),
        ({"beta": "2"}, "beta"),
        ({"burn_in": 0}, "burn_in"),
        ({"n_restart": 3}, "n_restarts"),
        ({"effective_dim": 6}, "exceed"),
    ],
)
def test_bad_options_are_named(options, message) -> None:
    with pytest.raises((InvalidInputError, UnknownNameError), match=message):
        BoringOptimizer.thesis(BOX, direction="minimize", **options)


def test_no_infeasible_point_can_win():
    """The preset does not weigh feasibility, so the base keeps it from what is forbidden."""

    def objective(x):
        return float((x[0] - 0.8) ** 2 + (x[1] + 0.2) ** 2), [float(x[0] + x[1])]

    optimizer = BoringOptimizer.thesis(
        [(-1.0, 1.0)] * 3,
        direction="minimize",
        seed=0,
        n_constraints=1,
        burn_in=8,
        effective_dim=2,
        n_restarts=1,
        refit_every=4,
    )
    for _ in range(26):
        x = optimizer.ask()[0]
        value, limits = objective(x)
        optimizer.tell(x, value, constraints=limits)
    told = optimizer.history
    # None of these is feasible if constraints are not looked at: the optimum is not.
    assert np.mean(told.constraints(1)[16:] <= 0.0) >= 0.3
    # The surrogate is that of the objective, whatever the search was given.
    assert np.corrcoef(optimizer.surrogate.predict(told.X)[0], told.y)[0, 1] > 0.95


def test_a_run_without_two_feasible_values_fills_the_space():
    optimizer = BoringOptimizer.thesis(
        BOX, direction="minimize", seed=0, n_constraints=1, burn_in=4
    )
    violations = [1.0, 2.0, 3.0, 1.5, 1.2, 2.5]
    told = optimizer.ask(len(violations))
    with pytest.warns(ConstantObjectiveWarning, match="fill the space"):
        optimizer.tell(told, np.ones(6), constraints=np.array(violations)[:, None])
    assert optimizer.n_told == 6
    assert optimizer.subspace is None
    assert optimizer.surrogate is None


def test_known_noise_is_refused_since_the_preset_learns_its_own():
    with pytest.raises(InvalidInputError, match="noise_std is for optimisers whose models"):
        BoringOptimizer.thesis(BOX, direction="minimize", noise_std=0.1)
