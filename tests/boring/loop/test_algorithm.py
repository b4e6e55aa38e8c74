"""The default loop: what it finds, what it says, and that it carries on where it stopped."""

import functools
from types import SimpleNamespace

import numpy as np
import pytest

from boring import box_search
from boring.exceptions import InvalidInputError
from boring.loop import algorithm
from boring.loop.algorithm import BoringOptimizer
from boring.space import Box
from boring.subspace.stiefel import is_orthonormal, largest_angle
from synthetic import get_problem

#: Evaluations of the run that several tests look at: enough for learned directions and a draw of
#: the passive coordinates.
N_CAMELBACK = 44
# When a search has settled depends on the last digits, and these on the processor.
LATEST_DRAW = 80


@functools.cache
def _run(name: str, seed: int, n: int, **options) -> tuple[BoringOptimizer, object]:
    problem = get_problem(name, seed)
    optimizer = BoringOptimizer(problem.space, direction="minimize", seed=seed, **options)
    return _drive(optimizer, problem, n), problem


def _drive(optimizer: BoringOptimizer, fun, n: int) -> BoringOptimizer:
    """Run until n are told."""
    optimizer.run(fun, n - optimizer.n_told, progress=False)
    return optimizer


@functools.cache
def _finds(seed: int, n: int) -> bool:
    """Whether a run of n evaluations finds five digits, and the subspace by its rank and angle."""
    optimizer, problem = _run("camelback-2-in-5", seed, n)
    result = optimizer.result()
    W = result.subspace.active_basis
    assert is_orthonormal(W, 1e-10)
    named = W.shape[1] == 2 and np.rad2deg(largest_angle(W, problem.true_basis)) < 10
    return bool(named and result.y_best - problem.optimum < 1e-5)


def test_finds_many_digits_and_the_subspace_of_the_embedded_camelback() -> None:
    assert _finds(1, N_CAMELBACK) or _finds(0, N_CAMELBACK)


@pytest.mark.slow
@pytest.mark.statistical
def test_finds_them_in_two_of_three_seeds() -> None:
    assert sum(_finds(seed, 60) for seed in (1, 0, 2)) >= 2


def test_phases_weights_and_gate_are_on_record() -> None:
    optimizer, _ = _run("parabola-1-in-5", 0, 25, effective_dim=1)
    records = optimizer.history.asks
    phases = {record.phase for record in records}
    assert {"initial", "portfolio", "local"} <= phases
    searches = [r for r in records if r.phase in ("portfolio", "subspace")]
    last = searches[-1].info
    weights = [value for key, value in last.items() if key.startswith("weight ")]
    assert sum(weights) == pytest.approx(1)
    assert last["gate"] is not None
    angles = [r.info["angle to previous"] for r in searches]
    assert sum(angle is not None for angle in angles) >= 3
    local = [r for r in records if r.phase == "local"]
    assert all(0 < r.info["trust region"] <= 1 and r.info["expected gain"] > 0 for r in local)
    assert optimizer.subspace.angle_to_previous is not None
    assert records[optimizer.n_initial].info["gate"] is None, "no subspace before its time"


@pytest.mark.usefixtures("quick_subspaces")
def test_switching_the_subspace_off_leaves_the_portfolio() -> None:
    optimizer, _ = _run("parabola-1-in-3", 1, 20, subspace_every=0, local_from=0, effective_dim=1)
    assert {ask.phase for ask in optimizer.history.asks} == {"initial", "portfolio"}
    assert optimizer.memory["subspace"] == {}
    assert optimizer.subspace is not None, "the account does not need the turns"


def test_local_steps_say_along_how_many_learned_directions_they_look() -> None:
    def directions(optimizer):
        asks = optimizer.history.asks
        return [ask.info["directions"] for ask in asks if ask.phase == "local"]

    run, problem = _run("camelback-2-in-5", 1, N_CAMELBACK)
    looked = directions(run)
    assert looked[0] is None, "too few points"
    assert 2 in looked
    assert set(looked) <= {None, 1, 2, 3, 4, 5}
    assert set(directions(_run("camelback-2-in-5", 1, N_CAMELBACK, subspace_every=0)[0])) == {None}
    known = BoringOptimizer(problem.space, direction="minimize", seed=1, effective_dim=3)
    known.tell(run.history.X[:36], run.history.y[:36])
    while not directions(known):
        _drive(known, problem, known.n_told + 1)
    assert directions(known) == [3]


def test_a_settled_search_starts_afresh_and_comes_back() -> None:
    optimizer, _ = _run("parabola-1-in-2", 0, 44, n_initial=2, subspace_every=0)
    records = optimizer.history.asks
    fresh = [r for r in records if r.phase.startswith("fresh")]
    assert {"fresh design", "fresh portfolio"} <= {r.phase for r in fresh}
    assert [r.info["points of the start"] for r in fresh][:3] == [0, 1, 2]
    memory = optimizer.memory["fresh start"]
    own = optimizer.data.X[memory["told"]]
    assert len(own) >= optimizer.n_initial
    first = optimizer.data.X[: optimizer.n_initial]
    assert np.min(np.linalg.norm(own[:, None] - first, axis=2)) > 1e-6, "points of its own"


def test_a_settled_search_draws_the_passive_coordinates_anew() -> None:
    optimizer, problem = _run("camelback-2-in-5", 1, N_CAMELBACK)
    while "passive draw" not in {ask.phase for ask in optimizer.history.asks}:
        assert optimizer.n_told < LATEST_DRAW
        _drive(optimizer, problem, optimizer.n_told + 1)
    X, y, asks = optimizer.history.X, optimizer.history.y, optimizer.history.asks
    last = max(i for i, ask in enumerate(asks) if ask.phase == "passive draw")
    best = np.argmin(y[:last])
    assert asks[last].info["directions"] == 2
    assert np.linalg.norm(X[last] - X[best]) > 0.1
    assert y[last] - y[best] < 0.01 * (np.median(y[:8]) - problem.optimum)
    without, _ = _run("camelback-2-in-5", 1, N_CAMELBACK, subspace_every=0)
    assert "passive draw" not in {ask.phase for ask in without.history.asks}


def _phases_after(n_told: int, n_asks: int, dim: int, **options) -> list[str]:
    """Return whose turn each ask is on a parabola of three inputs, after told random points."""
    X = np.random.default_rng(0).uniform(-1, 1, (n_told, dim))
    optimizer = BoringOptimizer(
        [(-1, 1)] * dim, direction="minimize", seed=0, subspace_every=0, **options
    )
    optimizer.tell(X, (X[:, :3] ** 2).sum(axis=1))
    optimizer.run(lambda x: float((x[:3] ** 2).sum()), n_asks, progress=False)
    return [ask.phase for ask in optimizer.history.asks]


@pytest.mark.parametrize(("noise_std", "is_noise"), [(1e-9, False), (0.3, True)])
def test_known_noise_counts_where_it_is_large_against_the_values(noise_std, is_noise) -> None:
    space, early = [[-1, 1]] * 2, {"local_from": 20, "subspace_every": 0}
    optimizer = BoringOptimizer(space, direction="minimize", noise_std=noise_std, seed=0, **early)
    for _ in range(10):
        x = optimizer.ask()[0]
        optimizer.tell(x, float(np.sum((x - 0.3) ** 2)))
    assert ("plain" in {ask.phase for ask in optimizer.history.asks[6:]}) == is_noise
    assert optimizer.best_by_mean is not None


@pytest.mark.parametrize(("dim", "local_from"), [(30, 0), (30, 20), (29, 0)])
def test_of_many_inputs_the_plain_process_speaks_without_noise_too(dim, local_from) -> None:
    phases = _phases_after(30, 6, dim, local_from=local_from)
    assert "portfolio" in phases
    assert ("plain" in phases) == (dim >= 30)


@pytest.mark.parametrize(
    ("dim", "noise_std", "rugged"), [(15, None, True), (15, 0.1, False), (14, None, False)]
)
def test_what_looked_like_noise_once_keeps_the_plain_process_among_the_speakers(
    dim, noise_std, rugged, monkeypatch
) -> None:
    seen = iter([True, *[False] * 20])
    monkeypatch.setattr(algorithm, "sees_noise", lambda *_: next(seen))
    trusted = []

    def improvement(*args, trusts_values: bool = False):
        trusted.append(trusts_values)
        return box_search.improvement(*args, trusts_values=trusts_values)

    monkeypatch.setattr(algorithm, "improvement", improvement)
    phases = _phases_after(51, 6, dim, noise_std=noise_std)
    assert "portfolio" in phases
    assert ("plain" in phases[1:]) == rugged
    assert set(trusted) <= {rugged}


def test_without_fresh_starts_there_are_none() -> None:
    options = {"n_initial": 2, "subspace_every": 0}
    with_them, _ = _run("parabola-1-in-2", 0, 44, **options)
    assert "fresh design" in {ask.phase for ask in with_them.history.asks[:30]}
    optimizer, _ = _run("parabola-1-in-2", 0, 30, fresh_starts=False, **options)
    phases = {ask.phase for ask in optimizer.history.asks}
    assert {"initial", "portfolio", "local"} <= phases
    assert phases <= {"initial", "portfolio", "plain", "subspace", "local"}


#: Whose credit a turn's gain is, by its phase; that of any other is the fresh start's.
CREDITED = {"subspace": "portfolio", "portfolio": "portfolio", "plain": "plain", "local": "local"}


def test_who_proposes_has_the_credit() -> None:
    """What an open gate brings is the portfolio's, whoever's turn it takes."""
    problem = get_problem("camelback-2-in-5", 0)
    rng = np.random.default_rng(0)
    optimizer = BoringOptimizer(problem.space, direction="minimize", seed=0, noise_std=0.1)
    phases = set()
    for _ in range(24):
        x = optimizer.ask()[0]
        phase = optimizer.history.asks[-1].phase
        optimizer.tell(x, problem(x) + 0.1 * rng.standard_normal())
        kind = optimizer.memory.get("credit", {}).get("kind")
        if kind is not None:
            phases.add(phase)
            assert kind == CREDITED[phase]
    assert phases == set(CREDITED)


@pytest.mark.parametrize("fresh_starts", [True, False])
def test_the_credit_of_a_settled_search_is_who_proposes_instead(fresh_starts, monkeypatch) -> None:
    optimizer = BoringOptimizer(
        [(-1, 1)] * 2, direction="minimize", seed=0, local_from=8, fresh_starts=fresh_starts
    )
    _drive(optimizer, lambda x: float(x @ x), 9)

    def settled(X, y, local, *_, **__):
        return SimpleNamespace(x=None, memory=local)

    monkeypatch.setattr(algorithm, "kind_of_turn", lambda *_: "local")
    monkeypatch.setattr(algorithm, "local_step", settled)
    optimizer.ask()
    phase = optimizer.history.asks[-1].phase
    assert phase.startswith("fresh") == fresh_starts
    assert optimizer.memory["credit"]["kind"] == CREDITED.get(phase, "fresh start")


@pytest.mark.filterwarnings("ignore::boring.exceptions.NonFiniteWarning")
def test_fresh_starts_survive_failures_and_batches() -> None:
    problem = get_problem("parabola-1-in-2", 1)
    optimizer = BoringOptimizer(problem.space, direction="minimize", seed=4, effective_dim=1)
    _drive(optimizer, problem, 16)
    phases = set()
    for round_ in range(9):
        points = optimizer.ask(2)
        phases |= {record.phase for record in optimizer.history.asks[-2:]}
        optimizer.tell(points[1], problem(points[1]))
        optimizer.tell(points[0], np.nan if round_ % 3 == 0 else problem(points[0]))
    assert any(phase.startswith("fresh") for phase in phases), phases


@pytest.mark.usefixtures("quick_subspaces")
def test_a_rebuilt_optimiser_asks_the_same_at_every_step() -> None:
    problem = get_problem("parabola-1-in-3", 3)
    early = {"local_from": 8, "subspace_from": 8, "effective_dim": 1}
    kept = BoringOptimizer(problem.space, direction="minimize", seed=5, **early)
    for _ in range(16):
        rebuilt = BoringOptimizer.from_state(kept.state())
        x = kept.ask()[0]
        np.testing.assert_array_equal(rebuilt.ask()[0], x)
        kept.tell(x, problem(x))
    assert {ask.phase for ask in kept.history.asks} >= {"portfolio", "local", "subspace"}


@pytest.mark.usefixtures("quick_subspaces")
def test_values_are_only_compared_so_sign_and_scale_do_not_matter() -> None:
    problem = get_problem("parabola-1-in-3", 2)
    early = {"local_from": 8, "subspace_from": 8, "effective_dim": 1}
    down = BoringOptimizer(problem.space, direction="minimize", seed=1, **early)
    up = BoringOptimizer(problem.space, direction="maximize", seed=1, **early)
    for _ in range(12):
        x = down.ask()[0]
        np.testing.assert_array_equal(up.ask()[0], x)
        down.tell(x, problem(x))
        up.tell(x, -problem(x))
    assert up.result().y_best == -down.result().y_best
    assert up.subspace.importance == pytest.approx(down.subspace.importance)


def test_points_are_remembered_as_they_are_told_in_columns_far_from_zero() -> None:
    box = Box([-1.0, 1e6], [1.0, 1e6 + 1.0])
    early = {"local_from": 8, "subspace_from": 8}
    optimizer = BoringOptimizer(box, direction="minimize", seed=0, **early)
    phases = set()
    for _ in range(22):
        x = optimizer.ask()[0]
        u = box.scale(x)
        phase, memory = optimizer.history.asks[-1].phase, optimizer.memory
        if phase == "local":
            assert memory["local"]["proposed"] == u.tolist()
            assert memory["subspace"].get("unscored", [u.tolist()]) == [u.tolist()]
        elif phase.startswith("fresh"):
            assert memory["fresh start"]["awaited"] == [u.tolist()]
        phases.add(phase)
        optimizer.tell(x, float((u[0] - 0.3) ** 2 + (u[0] + u[1]) ** 2))
    assert phases >= {"local", "fresh design"}


def test_pending_points_spread_out() -> None:
    optimizer, problem = _run("camelback-2-in-5", 1, 16)
    batch = optimizer.ask(4)
    assert batch.shape == (4, 5)
    gaps = [np.linalg.norm(a - b) for i, a in enumerate(batch) for b in batch[:i]]
    assert min(gaps) > 1e-4
    optimizer.tell(batch[::-1], problem(batch[::-1]))
    assert optimizer.n_told == 20


def test_one_dimension() -> None:
    optimizer = BoringOptimizer([[0.0, 3.0]], direction="minimize", seed=0)
    result = optimizer.run(lambda x: float((x[0] - 2.0) ** 2), 20, progress=False)
    assert result.y_best < 1e-4
    np.testing.assert_array_equal(result.subspace.active_basis, [[1.0]])


def test_noisy_objective_is_not_chased() -> None:
    rng = np.random.default_rng(0)
    optimizer = BoringOptimizer([[-1.0, 1.0]] * 3, direction="minimize", seed=4)
    _drive(optimizer, lambda x: float(x @ x) + 0.1 * rng.standard_normal(), 30)
    late = np.sum(optimizer.history.X[-10:] ** 2, axis=1)
    assert np.median(late) < 0.3


def test_bad_options_are_named() -> None:
    with pytest.raises(InvalidInputError, match="effective_dim must not exceed"):
        BoringOptimizer([[0, 1]] * 3, direction="minimize", effective_dim=4)
    with pytest.raises(InvalidInputError, match="effective_dim"):
        BoringOptimizer([[0, 1]] * 3, direction="minimize", effektive_dim=2)
    with pytest.raises(InvalidInputError, match="subspace_every"):
        BoringOptimizer([[0, 1]] * 3, direction="minimize", subspace_every=-1)


def test_no_account_before_there_are_data() -> None:
    optimizer = BoringOptimizer([[0, 1]] * 3, direction="minimize", seed=0)
    assert optimizer.subspace is None
    assert optimizer.surrogate is None
    optimizer.tell([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]], [1.0, 2.0])
    assert optimizer.subspace is None
    assert optimizer.surrogate is not None


def test_a_result_names_the_subspace_of_its_own_points(monkeypatch: pytest.MonkeyPatch) -> None:
    """The estimate is that of the optimiser at the time, worked out once for both."""
    asked = []

    def account(X, *_):
        asked.append(len(X))
        return object()

    monkeypatch.setattr("boring.loop.account.account_of_subspace", account)
    optimizer = BoringOptimizer([[0, 1]] * 3, direction="minimize", seed=0)
    earlier = optimizer.run(lambda x: float(x @ x), 8, progress=False)
    later = optimizer.run(lambda x: float(x @ x), 1, progress=False)
    assert asked == [], "nobody has read it"
    assert later.subspace is optimizer.subspace
    assert earlier.subspace is earlier.subspace is not later.subspace
    assert asked == [9, 8]
