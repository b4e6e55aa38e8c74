import json
import warnings

import numpy as np
import pytest

import baselines  # noqa: F401
from boring.data import Observations, total_violation
from boring.exceptions import (
    ConstantObjectiveWarning,
    EvaluationError,
    InvalidInputError,
    JournalError,
    NonFiniteWarning,
)
from boring.history import History, Tell
from boring.loop.algorithm import BoringOptimizer
from boring.optimizer import Optimizer
from boring.proposal import Proposal
from boring.registry import get_optimizer
from boring.result import OptimizerState
from boring.stopping import Stagnation, Target

NAN = float("nan")
BOX = [[-1.0, 1.0]] * 3


@pytest.fixture
def rng():
    return np.random.default_rng(0)


class Watcher(Optimizer):
    """Random proposals; remembers nothing and weighs nothing."""

    name = "watcher"

    def _propose(self, context):
        assert context.feasibility is None
        return Proposal(context.rng.uniform(-1, 1, 3), {}, {})


def watcher(**changes):
    return Watcher(BOX, **{"direction": "minimize", "seed": 0, "n_constraints": 2, **changes})


def bowl(x):
    return float(((x - 0.4) ** 2).sum())


def limits(x):
    return [x[0] + x[1] - 0.2, -x[2]]


def drive(optimizer, n, *, fails=lambda x: False):
    for _ in range(n):
        x = optimizer.ask()[0]
        if fails(x):
            optimizer.tell_failed(x, "it broke")
        else:
            optimizer.tell(x, bowl(x), constraints=limits(x) if optimizer.n_constraints else None)
    return optimizer


def test_a_result_of_failures_alone_says_so():
    optimizer = watcher(n_constraints=0)
    with pytest.warns(NonFiniteWarning):
        optimizer.tell([0.1, 0, 0], NAN)
    assert "NO EVALUATION SUCCEEDED" in repr(optimizer.result())


def test_the_best_is_feasible_or_else_said_not_to_be():
    optimizer = watcher()
    optimizer.tell([0.1, 0, 0], 1.0, constraints=[2.0, -1.0])
    optimizer.tell([0.2, 0, 0], 5.0, constraints=[1.0, -1.0])
    unmet = optimizer.result()
    assert not unmet.is_feasible
    assert unmet.y_best == 5.0
    assert "NO FEASIBLE" in repr(unmet)
    assert np.isnan(unmet.best_so_far()).all()
    optimizer.tell([[0.3, 0, 0], [0.4, 0, 0]], [7.0, 0.0], constraints=[[0.0, -1.0], [NAN, -1]])
    result = optimizer.result()
    assert result.is_feasible
    assert result.y_best == 7.0
    assert result.x_best[0] == 0.3
    assert result.feasible.tolist() == [False, False, True, False]
    assert [r.is_feasible for r in result.records] == [False, False, True, False]
    assert result.best_so_far()[-1] == 7.0
    assert result.constraints.shape == (4, 2)
    assert not result.constraints.flags.writeable


def test_of_equal_violations_the_better_value_wins():
    optimizer = watcher(direction="maximize", n_constraints=1)
    optimizer.tell([[0.1, 0, 0], [0.2, 0, 0], [0.3, 0, 0]], [1, 3, 9], constraints=[[1], [1], [2]])
    assert optimizer.result().y_best == 3.0


def test_violations_have_no_units():
    c = np.array([[1.0, -1.0], [2.0, 3.0], [NAN, -1.0], [-1.0, 0.0]])
    np.testing.assert_array_equal(total_violation(c), total_violation(c * [2.0**900, 2.0**-900]))
    assert np.isinf(total_violation(c)[2])
    assert total_violation(c)[3] == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda o: o.tell([0, 0, 0], 1.0), "must come with those of the 2 constraints"),
        (lambda o: o.tell([0, 0, 0], 1.0, constraints=[1.0]), "2 values for each of the 1"),
        (lambda o: o.tell([0, 0, 0], 1.0, constraints=["a", "b"]), "real numbers"),
        (lambda o: o.tell_failed([0, 0, 0], reason=3), "reason must be text"),
        (lambda o: watcher(n_constraints=-1), "n_constraints must be"),
        (lambda o: watcher(noise_std=0.1), "learns its own"),
        (lambda o: BoringOptimizer(BOX, direction="minimize", noise_std=-1.0), "0 or more"),
    ],
)
def test_bad_outcomes_are_refused(call, message):
    optimizer = watcher()
    with pytest.raises(InvalidInputError, match=message):
        call(optimizer)
    assert optimizer.n_told == 0


def test_failures_are_recorded_with_their_reason():
    optimizer = watcher()
    x = optimizer.ask()[0]
    with pytest.warns(NonFiniteWarning, match="it broke"):
        optimizer.tell_failed(x, "it broke")
    assert len(optimizer.pending) == 0
    (record,) = optimizer.result().records
    assert np.isnan(record.y)
    assert record.info["error"] == "it broke"
    assert np.isnan(record.constraints).all()
    assert not record.is_feasible


def test_those_who_cannot_weigh_get_values_by_which_nothing_infeasible_wins():
    seen = Observations(np.zeros((4, 1)), [1.0, 2.0, 9.0, -3.0], [[0], [0], [1], [1]])
    assert seen.penalized().y.tolist() == [1.0, 2.0, 1.0, -3.0]
    unmet = Observations(np.zeros((3, 1)), [1.0, NAN, 9.0], [[4], [2], [NAN]]).penalized()
    np.testing.assert_array_equal(unmet.y, [-4 / 3, -2 / 3, NAN])
    plain = Observations(np.zeros((1, 1)), [1.0])
    assert plain.penalized() is plain
    optimizer = watcher(n_constraints=1)
    optimizer.tell([[0, 0, 0], [0.5, 0, 0]], [1.0, 0.0], constraints=[[-1.0], [1.0]])
    assert optimizer.data.y.tolist() == [-1.0, -1.0]


@pytest.mark.parametrize("name", ["gp", "sobol", "rembo"])
def test_baselines_take_constraints(name):
    optimizer = get_optimizer(name)(BOX, direction="minimize", seed=1, n_initial=5, n_constraints=2)
    result = drive(optimizer, 8).result()
    assert result.is_feasible
    assert all(c <= 0 for c in limits(result.x_best))


def test_run_takes_pairs_and_stops_at_feasible_targets_only():
    result = watcher().run(
        lambda x: (bowl(x), limits(x)), 200, stopping=Target(0.5), progress=False
    )
    assert result.y_best <= 0.5
    assert result.is_feasible
    assert "target" in result.stop_reason
    assert np.any(result.y[~result.feasible] <= 0.5)
    stuck = watcher().run(
        lambda x: (bowl(x), [1.0, x[0] + 2.0]), 8, stopping=Stagnation(2), progress=False
    )
    assert stuck.stop_reason == {"n_evaluations": 8.0}
    with pytest.raises(EvaluationError, match="in place of a pair"):
        watcher().run(bowl, 8, progress=False)
    with pytest.raises(EvaluationError, match="returned 1 constraints in place of 2"):
        watcher().run(lambda x: (1.0, [1.0]), 8, progress=False)


def test_states_and_journals_carry_outcomes(tmp_path):
    path = tmp_path / "run.jsonl"
    optimizer = watcher().start_journal(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NonFiniteWarning)
        drive(optimizer, 6, fails=lambda x: x[0] > 0.3)
        optimizer.tell([0, 0, 0.5], NAN, constraints=[1e300, -np.inf])
    read = OptimizerState.from_json(optimizer.state().to_json())
    assert read == optimizer.state()
    assert read.n_constraints == 2
    resumed = Watcher.resume(path)
    assert resumed.state() == optimizer.state()
    np.testing.assert_array_equal(resumed.data.constraints, optimizer.data.constraints)
    header = json.loads(path.read_text().splitlines()[0])
    assert header["schema"] == 2
    assert header["n_constraints"] == 2


def test_without_outcomes_nothing_is_written_that_older_versions_do_not_read(tmp_path):
    path = tmp_path / "run.jsonl"
    drive(watcher(n_constraints=0).start_journal(path), 2)
    header, *events = map(json.loads, path.read_text().splitlines())
    assert header["schema"] == 1
    assert not {"n_constraints", "noise_std"} & header.keys()
    assert not any("constraints" in event for event in events)
    assert json.loads(watcher(n_constraints=0).state().to_json())["schema"] == 1


def test_a_tell_of_another_number_of_constraints_is_corrupt(tmp_path):
    path = tmp_path / "run.jsonl"
    drive(watcher().start_journal(path), 1)
    text = path.read_text()
    head, tail = text.rsplit('"constraints":[', 1)
    path.write_text(head + '"constraints":[0.0,' + tail)
    with pytest.raises(JournalError, match="3 constraints in a run of 2"):
        Watcher.resume(path)
    state = json.loads(watcher().state().to_json())
    state["events"] = [Tell(0, np.zeros(3), 1.0, None, None).to_dict()]
    with pytest.raises(InvalidInputError, match="0 constraints in a run of 2"):
        OptimizerState.from_json(json.dumps(state))


def test_history_of_unknown_constraints():
    history = History(1).with_tells([Tell(0, np.zeros(1), NAN, None, None)])
    assert history.constraints(0).shape == (1, 0)
    assert np.isnan(history.constraints(2)).all()


# What BORING makes of it.


def boring(**changes):
    # One direction is given, for its number takes seconds to learn and nothing here is about it.
    given = {"direction": "minimize", "seed": 0, "n_initial": 5, "effective_dim": 1}
    return BoringOptimizer(BOX, **{**given, **changes})


@pytest.mark.filterwarnings("ignore::boring.exceptions.NonFiniteWarning")
def test_a_resumed_run_with_constraints_and_failures_is_the_same_bit_for_bit(tmp_path):
    path = tmp_path / "run.jsonl"

    def fails(x):
        return x[0] > 0.5

    options = {"n_constraints": 2, "local_from": 7, "subspace_from": 8}
    whole = drive(boring(**options), 12, fails=fails)
    resumed = drive(boring(**options).start_journal(path), 7, fails=fails)
    for _ in range(5):
        resumed = drive(BoringOptimizer.resume(path), 1, fails=fails)
    assert resumed.state() == whole.state()
    phases = {ask.phase for ask in whole.history.asks}
    assert {"local", "portfolio"} <= phases


@pytest.mark.filterwarnings("ignore::boring.exceptions.NonFiniteWarning")
def test_a_failed_point_is_never_proposed_again():
    optimizer = drive(boring(local_from=7, subspace_every=0), 20, fails=lambda x: x.sum() > 0.3)
    X, y = optimizer.history.X, optimizer.history.y
    distances = np.linalg.norm(X[:, None] - X, axis=2)
    np.fill_diagonal(distances, np.inf)
    assert distances[~np.isfinite(y)].min() > 1e-10
    assert np.isfinite(y[12:]).any()


@pytest.mark.filterwarnings("ignore::boring.exceptions.NonFiniteWarning")
@pytest.mark.parametrize("n_constraints", [0, 1])
def test_a_run_in_which_all_fails_goes_on(n_constraints):
    optimizer = boring(n_constraints=n_constraints)
    for _ in range(12):
        optimizer.tell_failed(optimizer.ask()[0])
    result = optimizer.result()
    assert len(np.unique(result.X, axis=0)) == 12
    assert not result.is_feasible
    assert np.isnan(result.y_best)


@pytest.mark.filterwarnings("ignore::boring.exceptions.NonFiniteWarning")
def test_constraints_alone_lead_to_a_small_feasible_region():
    found = 0
    for seed in range(3):
        rng = np.random.default_rng(seed)
        center = rng.uniform(-0.6, 0.6, 5)
        optimizer = BoringOptimizer([[-1, 1]] * 5, direction="minimize", seed=seed, n_constraints=1)
        for _ in range(30):
            x = optimizer.ask()[0]
            # A ball of one per cent of the box.
            c = float(((x - center) ** 2).sum()) - 0.57**2
            optimizer.tell(x, NAN if c > 0 else 1.0, constraints=[c])
            if c <= 0:
                found += 1
                break
    assert found >= 2


@pytest.mark.filterwarnings("ignore::boring.exceptions.NonFiniteWarning")
@pytest.mark.parametrize("unit", [1e-300, 1e300])
def test_constraints_of_any_size(unit):
    optimizer = boring(n_constraints=1, local_from=7, subspace_every=0)
    for _ in range(10):
        x = optimizer.ask()[0]
        optimizer.tell(x, bowl(x), constraints=[unit * limits(x)[0]])
    assert optimizer.result().is_feasible


def test_an_active_constraint_is_polished():
    # min sum (x - .4)^2 subject to x_0 + x_1 <= .2: x_0 = x_1 = .1, value .18.
    optimizer = boring(n_constraints=1, local_from=7, subspace_every=0)
    for _ in range(24):
        x = optimizer.ask()[0]
        optimizer.tell(x, bowl(x), constraints=[x[0] + x[1] - 0.2])
    feasible = optimizer.history.constraints(1)[:, 0] <= 0.0
    assert 0.18 - 1e-9 <= optimizer.history.y[feasible].min() < 0.18 + 5e-3


def test_points_out_for_evaluation_differ_while_seeking():
    optimizer = boring(n_constraints=1, n_initial=4)
    for _ in range(5):
        x = optimizer.ask()[0]
        optimizer.tell(x, bowl(x), constraints=[2.0 + x[0]])
    points = optimizer.ask(3)
    assert min(np.linalg.norm(points[i] - points[j]) for i, j in ((0, 1), (0, 2), (1, 2))) > 1e-3


def test_known_noise_is_the_models_noise(rng):
    optimizer = boring(noise_std=0.1, local_from=7)
    for _ in range(11):
        x = optimizer.ask()[0]
        optimizer.tell(x, bowl(x) + 0.1 * rng.standard_normal())
    assert optimizer.surrogate.noise_std == pytest.approx(0.1, rel=1e-6)
    y = -optimizer.data.finite_y[: optimizer.memory["portfolio"]["n"]]
    better = y <= np.median(y)
    from boring.warping import half_rank_warp

    slope = np.ptp(half_rank_warp(-y)[better]) / np.ptp(y[better])
    for theta in optimizer.memory["portfolio"]["theta"].values():
        assert np.exp(0.5 * theta[-1]) == pytest.approx(0.1 * slope, rel=1e-6)
    best = optimizer.result().best_by_mean
    assert optimizer.surrogate.predict(best.x)[0][0] == pytest.approx(best.mean)
    means = optimizer.surrogate.predict(optimizer.result().X)[0]
    assert best.mean == pytest.approx(means.min())
    assert BoringOptimizer.from_state(optimizer.state()).noise_std == 0.1


def test_without_noise_there_is_no_best_by_mean():
    assert drive(boring(), 8).result().best_by_mean is None


def test_equal_violations_are_not_called_a_constant_objective():
    """What an optimiser is given in place of infeasible values is not what the user told."""
    optimizer = watcher(n_constraints=1, n_initial=3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for value in (1.0, 2.0, 3.0):
            optimizer.tell(optimizer.ask()[0], value, constraints=[1.0])
    constant = watcher(n_constraints=1, n_initial=3)
    points, violations = constant.ask(3), [[1.0], [2.0], [3.0]]
    with pytest.warns(ConstantObjectiveWarning, match="All 3 finite values so far are equal"):
        constant.tell(points, [5.0] * 3, constraints=violations)


def test_no_infeasible_point_is_best_by_mean(rng):
    optimizer = boring(noise_std=0.1, n_constraints=1)
    for _ in range(8):
        x = optimizer.ask()[0]
        optimizer.tell(x, bowl(x) + 0.1 * rng.standard_normal(), constraints=[2.0 + x[0]])
    assert optimizer.best_by_mean is None
    optimizer.tell([0.5, 0.5, 0.0], 3.0, constraints=[-1.0])
    assert optimizer.result().best_by_mean.x.tolist() == [0.5, 0.5, 0.0]
