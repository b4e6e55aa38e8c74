import copy
import json
import pickle
import sys
import threading
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import baselines  # noqa: F401
from boring.data import Observations
from boring.exceptions import (
    BudgetWarning,
    ConstantObjectiveWarning,
    DuplicatePointWarning,
    EvaluationError,
    FitError,
    InvalidInputError,
    NonFiniteWarning,
    SubspaceWarning,
    UnknownNameError,
)
from boring.optimizer import Optimizer
from boring.proposal import Proposal
from boring.registry import get_optimizer
from boring.result import OptimizerState
from boring.space import Box
from boring.stopping import MaxEvaluations, Target

BOX = Box([0.0, -5.0], [1.0, 5.0])


@dataclass(frozen=True)
class StepOptions:
    step: float = 0.1
    centre: tuple[float, ...] | None = None


class Stepper(Optimizer):
    """Steps away from the best point; remembers how often it did."""

    name: ClassVar[str] = "stepper"
    options_type: ClassVar[type] = StepOptions

    def _propose(self, context):
        assert context.data.is_informative
        count = context.memory.get("count", 0) + 1
        best = context.data.X[np.argmax(np.where(context.data.finite, context.data.y, -np.inf))]
        x = best + self.options.step * context.rng.standard_normal(self.space.dim)
        memory = {"count": count, "best": best, "odd": (np.float64(0.1), float("nan"))}
        return Proposal(x, memory, {"n_pending": len(context.pending), "phase": "step"})


def stepper(**changes):
    arguments = {"direction": "minimize", "n_initial": 3, "seed": 0, **changes}
    return Stepper(BOX, **arguments)


def bowl(x):
    return float((x[0] - 0.3) ** 2 + x[1] ** 2)


def drive(optimizer, n, fun=bowl):
    for _ in range(n):
        x = optimizer.ask()[0]
        optimizer.tell(x, fun(x))
    return optimizer


# Asking and telling.


def test_phases_follow_the_design():
    records = drive(stepper(), 6).result().records
    assert [record.phase for record in records] == ["initial"] * 3 + ["step"] * 3
    assert [record.index for record in records] == list(range(6))
    assert all(record.seconds >= 0 for record in records)
    assert records[3].info == {"n_pending": 0}


def test_design_is_the_same_for_every_optimizer_and_direction():
    class Other(Stepper):
        name: ClassVar[str] = "other"

    first = stepper().ask(3)
    np.testing.assert_array_equal(
        first, Other(BOX, direction="maximize", n_initial=7, seed=0).ask(3)
    )


def test_pending_points_reach_the_proposal():
    optimizer = drive(stepper(), 3)
    X = optimizer.ask(3)
    optimizer.tell(X, [bowl(x) for x in X])
    assert [record.info["n_pending"] for record in optimizer.result().records[3:]] == [0, 1, 2]
    assert optimizer.pending.shape == (0, 2)


def test_more_points_than_the_design_before_any_value():
    X = stepper().ask(6)
    assert len(np.unique(X, axis=0)) == 6


def test_answers_may_come_out_of_order_and_slightly_rounded():
    optimizer = stepper()
    X = optimizer.ask(3)
    optimizer.tell(X[2], 2.0).tell(X[0] * (1 + 1e-12), 0.0)
    np.testing.assert_array_equal(optimizer.pending, X[1:2])
    np.testing.assert_array_equal(optimizer.result().X, X[[2, 0]])


def test_told_points_count_as_design():
    optimizer = stepper()
    optimizer.tell(BOX.sample(3, np.random.default_rng(0)), [1.0, 2.0, 3.0])
    optimizer.tell(optimizer.ask(), 0.5)
    assert [r.phase for r in optimizer.result().records] == ["told"] * 3 + ["step"]


def test_arrays_are_copied_in():
    optimizer = stepper()
    x = np.array([0.5, 1.0])
    optimizer.tell(x, 1.0)
    x[:] = 0.0
    optimizer.ask()[...] = 0.0
    np.testing.assert_array_equal(optimizer.result().X, [[0.5, 1.0]])
    assert np.any(optimizer.ask() != 0.0)


def test_proposals_are_clipped_into_the_box():
    X = drive(stepper(step=50.0), 3).ask(20)
    assert BOX.contains(X).all()
    assert np.any((X == BOX.lower) | (X == BOX.upper)), "nothing was clipped"


@given(st.integers(0, 2**64), st.integers(1, 5))
def test_asked_points_lie_in_the_box(seed, n):
    assert BOX.contains(drive(stepper(seed=seed), 3).ask(n)).all()


@pytest.mark.parametrize(
    ("x", "y", "rule"),
    [
        ([1.1, 0.0], 1.0, r"must lie in the box; coordinate 0 of row 0 is .*1.1.*, outside \["),
        ([[0.5, 0.0], [0.5, 6.0]], [1.0, 1.0], "coordinate 1 of row 1"),
        ([0.5], 1.0, r"x must have shape \(n, 2\), or \(2,\) for one point"),
        ([0.5, np.nan], 1.0, "x must hold finite coordinates"),
        ([0.5, 0.5], [1.0, 2.0], r"y must hold one value for each of the 1 points"),
        ([0.5, 0.5], 1j, "y must hold real numbers; received dtype complex128"),
        ([0.5, 0.5], "low", "y must hold real numbers; received dtype <U3"),
        ([0.5, 0.5], None, "y must hold real numbers; received NoneType 'None'"),
    ],
)
def test_wrong_tells_change_nothing(x, y, rule):
    optimizer = drive(stepper(), 2)
    before = optimizer.state()
    with pytest.raises(InvalidInputError, match=rule):
        optimizer.tell(x, y)
    assert optimizer.state() == before


def test_rounding_outside_the_box_is_clipped():
    optimizer = stepper().tell([1.0 + 1e-12, 5.0 + 1e-11], 1.0)
    np.testing.assert_array_equal(optimizer.result().X, [[1.0, 5.0]])


@pytest.mark.parametrize("n", [0, -1, 1.5, "2"])
def test_ask_wants_a_positive_integer(n):
    with pytest.raises(InvalidInputError, match="n must be an integer of at least 1"):
        stepper().ask(n)


# Values that are not ordinary.


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_non_finite_values_are_recorded_and_left_out(bad, direction):
    optimizer = drive(stepper(direction=direction), 3)
    with pytest.warns(NonFiniteWarning, match="left out of fits"):
        optimizer.tell([0.5, 0.5], bad)
    result = optimizer.result()
    np.testing.assert_array_equal(result.y[-1], bad)
    assert np.isfinite(result.y_best)
    assert np.isfinite(result.best_so_far()).all()
    assert optimizer.data.finite.sum() == 3


def test_duplicates_are_kept_and_reported():
    optimizer = stepper().tell([0.5, 0.5], 1.0)
    with pytest.warns(DuplicatePointWarning, match="told before"):
        optimizer.tell([0.5, 0.5], 2.0)
    with pytest.warns(DuplicatePointWarning):
        optimizer.tell([[0.1, 0.1], [0.1, 0.1]], [3.0, 4.0])
    np.testing.assert_array_equal(optimizer.result().y, [1.0, 2.0, 3.0, 4.0])


def test_whoever_tells_a_rounded_point_again_is_told_of_the_ask_that_is_still_out():
    optimizer = stepper()
    x = optimizer.ask()[0]
    rounded = np.round(x + 0.004, 2)
    optimizer.tell(rounded, 1.0)
    assert (optimizer.ask()[0] == x).all()
    with pytest.warns(DuplicatePointWarning, match=r"answers the asks \[0\].*: withdraw\(0\)\."):
        optimizer.tell(rounded, 1.0)
    assert (optimizer.withdraw(0).ask()[0] != x).any()
    with pytest.warns(DuplicatePointWarning, match=r"average noise\.$"):
        optimizer.tell([rounded, optimizer.ask()[0]], [1.0, 2.0])


def test_many_duplicates_are_reported_once():
    X = [[0.1, 0.1], [0.2, 0.2], [0.3, 0.3]]
    optimizer = stepper().tell(X, [1.0, 2.0, 3.0])
    with pytest.warns(
        DuplicatePointWarning, match=r"3 points were told before, the first is x = \[0.1, 0.1\]"
    ) as seen:
        optimizer.tell(X, [1.5, 2.5, 3.5])
    assert len(seen) == 1


def test_a_constant_objective_is_filled_with_one_warning():
    optimizer = drive(stepper(), 2, lambda x: 1.0)
    with pytest.warns(ConstantObjectiveWarning, match="All 3 finite values so far are equal"):
        drive(optimizer, 1, lambda x: 1.0)
    drive(optimizer, 3, lambda x: 1.0)
    phases = [record.phase for record in optimizer.result().records]
    assert phases == ["initial"] * 3 + ["space-filling"] * 3
    drive(optimizer, 1, bowl)
    drive(optimizer, 1, bowl)
    assert optimizer.result().records[-1].phase == "step"


def test_warnings_as_errors_lose_nothing():
    optimizer = drive(stepper(), 3)
    x = optimizer.ask()[0]
    with pytest.raises(NonFiniteWarning):
        optimizer.tell(x, np.nan)
    assert optimizer.n_told == 4
    assert optimizer.pending.shape == (0, 2)


def test_result_without_a_finite_value():
    empty = stepper().result()
    assert np.isnan(empty.y_best)
    assert np.isnan(empty.x_best).all()
    assert empty.X.shape == (0, 2)
    with pytest.warns(NonFiniteWarning):
        failed = stepper().tell([0.5, 0.5], np.nan).result()
    assert np.isnan(failed.y_best)
    assert failed.best_so_far().shape == (1,)


# Construction.


def test_direction_has_no_default():
    with pytest.raises(TypeError, match="direction"):
        Stepper(BOX)
    with pytest.raises(InvalidInputError, match=r"direction must be .* Did you mean 'minimize'"):
        stepper(direction="minimise")


def test_unknown_options_suggest_the_near_one():
    with pytest.raises(UnknownNameError, match=r"no option 'stp'. Did you mean 'step'\?"):
        stepper(stp=1)
    with pytest.raises(UnknownNameError, match=r"no option 'n_inital'. Did you mean 'n_initial'\?"):
        stepper(n_inital=1)
    with pytest.raises(UnknownNameError, match="Here seed makes a run repeatable"):
        stepper(random_state=1)


@pytest.mark.parametrize("n_initial", [0, -1, 2.0, "3"])
def test_n_initial_is_checked(n_initial):
    with pytest.raises(InvalidInputError, match="n_initial must be an integer of at least 1"):
        stepper(n_initial=n_initial)


def test_default_design_has_d_plus_3_points_within_5_and_10():
    for dim, expected in [(1, 5), (2, 5), (4, 7), (7, 10), (50, 10)]:
        optimizer = Stepper([(0, 1)] * dim, direction="minimize", seed=0)
        assert optimizer.n_initial == expected


def test_base_has_neither_subspace_nor_surrogate():
    assert stepper().subspace is None
    assert stepper().surrogate is None


# Runs.


def test_run_reports_in_the_callers_units_and_sign():
    down = stepper().run(bowl, 8)
    up = stepper(direction="maximize").run(lambda x: -bowl(x), 8)
    np.testing.assert_array_equal(down.X, up.X)
    assert down.y_best == -up.y_best == min(down.y)
    assert bowl(down.x_best) == down.y_best
    np.testing.assert_array_equal(down.best_so_far(), np.minimum.accumulate(down.y))
    np.testing.assert_array_equal(up.best_so_far(), np.maximum.accumulate(up.y))
    assert down.options == {"n_initial": 3, "step": 0.1, "centre": None}
    assert down.provenance["optimizer"] == "stepper"
    assert down.provenance["entropy"] == "0"
    assert "n_evaluations=8" in repr(down)


def test_run_adds_to_what_was_told():
    optimizer = drive(stepper(), 2)
    result = optimizer.run(bowl, 3)
    assert result.n_evaluations == 5
    assert result.stop_reason == optimizer.stop() == {"n_evaluations": 5.0}
    drive(optimizer, 1)
    assert optimizer.stop() == {}


def test_run_stops_on_condition_and_resumed_condition_holds_at_once():
    optimizer = stepper()
    result = optimizer.run(bowl, 50, stopping=Target(1e9) & MaxEvaluations(4))
    assert set(result.stop_reason) == {"target", "n_evaluations"}
    assert result.n_evaluations == 4
    assert optimizer.run(bowl, 50, stopping=MaxEvaluations(4)).n_evaluations == 4


def test_callback_sees_every_record_and_stops():
    seen = []

    def callback(optimizer, record):
        seen.append((optimizer.n_told, record.index, record.y))
        return record.index == 4

    result = stepper().run(bowl, 10, callback=callback)
    assert [entry[0] for entry in seen] == [1, 2, 3, 4, 5]
    assert [entry[2] for entry in seen] == list(result.y)
    assert result.stop_reason == {"callback": 4.0}


def test_budget_within_the_design_is_reported():
    with pytest.warns(BudgetWarning, match="2 evaluations end inside a design of 3"):
        stepper().run(bowl, 2)
    stepper().run(bowl, 3)


def test_objective_may_change_its_input():
    def vandal(x):
        y = bowl(x)
        x[:] = 99.0
        return y

    np.testing.assert_array_equal(stepper().run(vandal, 6).X, stepper().run(bowl, 6).X)


@pytest.mark.parametrize(
    "value", [1, 1.5, True, np.float32(2), np.int64(3), np.array(1.0), np.array([[2.0]])]
)
def test_real_scalars_in_any_form(value):
    result = stepper(n_initial=1).run(lambda x: value, 1)
    assert result.y[0] == float(np.asarray(value).reshape(()))


@pytest.mark.parametrize(
    ("value", "came"),
    [
        (np.zeros(2), r"an array of shape \(2,\)"),
        (np.array([1j]), r"an array of shape \(1,\) and dtype complex128"),
        (None, "NoneType 'None'"),
        ("3.0", "str '3.0'"),
        (1j, "complex '1j'"),
        ([1.0], r"list '\[1.0\]'"),
        ([10**5000], r"list \(it has no text\)"),
    ],
)
@pytest.mark.parametrize("on_error", ["raise", "record"])
def test_other_values_are_an_error_that_keeps_the_result(value, came, on_error):
    optimizer = stepper()
    calls = []

    def fun(x):
        calls.append(x)
        return bowl(x) if len(calls) < 5 else value

    with pytest.raises(EvaluationError, match="must return numbers.*" + came) as caught:
        optimizer.run(fun, 10, on_error=on_error)
    assert caught.value.result.n_evaluations == optimizer.n_told == 4
    np.testing.assert_array_equal(optimizer.pending, [calls[-1]])


def _fails_at(n):
    count = iter(range(100))

    def fun(x):
        if next(count) == n:
            raise OSError("the rig is on fire")
        return bowl(x)

    return fun


def test_an_exception_keeps_the_result_and_the_run_can_go_on():
    optimizer = stepper()
    with pytest.raises(EvaluationError, match="OSError: the rig is on fire") as caught:
        optimizer.run(_fails_at(4), 10)
    assert isinstance(caught.value.__cause__, OSError)
    assert caught.value.result.n_evaluations == 4
    optimizer.run(bowl, 6)
    assert optimizer.state() == drive(stepper(), 10).state()


def test_an_exception_may_be_recorded():
    with pytest.warns(NonFiniteWarning, match="OSError: the rig is on fire"):
        result = stepper().run(_fails_at(4), 8, on_error="record")
    assert result.n_evaluations == 8
    assert np.isnan(result.y[4])
    assert result.records[4].info["error"] == "OSError: the rig is on fire"
    assert "error" not in result.records[5].info


def test_an_exception_without_a_text_is_recorded_too():
    class MuteError(Exception):
        def __str__(self):
            raise RuntimeError("mute")

    def objective(x):
        raise MuteError

    with pytest.warns(NonFiniteWarning, match="MuteError"):
        result = stepper().run(objective, 3, on_error="record")
    assert result.records[0].info["error"] == "MuteError: (it has no text)"
    with pytest.raises(EvaluationError, match="MuteError") as caught:
        stepper().run(objective, 3)
    assert caught.value.result.n_evaluations == 0


def test_on_error_is_checked_before_anything_is_paid():
    optimizer = stepper()
    with pytest.raises(InvalidInputError, match="on_error must be 'raise' or 'record'"):
        optimizer.run(bowl, 3, on_error="ignore")
    assert optimizer.n_told == 0


@pytest.mark.parametrize("n_constraints", [0, 2])
def test_integers_beyond_floats_are_infinite_values(n_constraints):
    def fun(x):
        return (-(10**400), [10**400, Fraction(-(10**400))]) if n_constraints else 10**400

    with pytest.warns(NonFiniteWarning):
        result = stepper(n_initial=1, n_constraints=n_constraints).run(fun, 1)
    np.testing.assert_array_equal(result.y, [-np.inf if n_constraints else np.inf])
    np.testing.assert_array_equal(result.constraints[0], [np.inf, -np.inf][:n_constraints])


@pytest.mark.parametrize("on_error", ["raise", "record"])
@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_interrupts_pass_through_with_the_result(kind, on_error):
    def fun(x):
        if optimizer.n_told == 4:
            raise kind
        return bowl(x)

    optimizer = stepper()
    with pytest.raises(kind) as caught:
        optimizer.run(fun, 10, on_error=on_error)
    assert caught.value.result.n_evaluations == 4
    optimizer.run(bowl, 6)
    assert optimizer.state() == drive(stepper(), 10).state()


def test_a_loop_of_ones_own_notes_why_it_stopped():
    optimizer = drive(stepper(), 4)
    optimizer.note_stop({"patience": 4.0})
    assert optimizer.stop() == optimizer.result().stop_reason == {"patience": 4.0}
    assert optimizer.history.n_told == 4
    assert optimizer.tell([0.5, 0.5], 1.0).stop() == {}


@pytest.mark.parametrize(
    "callback", [lambda: None, lambda result: None, lambda a, b, c: None, lambda *, record: None]
)
def test_a_callback_of_other_arguments_is_refused_before_the_first_evaluation(callback):
    optimizer = stepper()
    message = r"called as callback\(optimizer, record\); received one that takes \("
    with pytest.raises(InvalidInputError, match=message):
        optimizer.run(bowl, 10, callback=callback)
    assert optimizer.n_told == 0


@pytest.mark.parametrize("callback", [print, lambda *given: None, lambda a, b, c=1: None])
def test_a_callback_may_take_more(callback):
    assert stepper().run(bowl, 3, callback=callback).n_evaluations == 3


def test_a_failing_callback_keeps_the_result():
    def callback(optimizer, record):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError) as caught:
        stepper().run(bowl, 10, callback=callback)
    assert caught.value.result.n_evaluations == 1


class Broken(Stepper):
    name: ClassVar[str] = "broken"
    x = np.zeros(2)

    def _propose(self, context):
        if self.x is None:
            raise np.linalg.LinAlgError("singular")
        return Proposal(self.x, {}, {})


def test_a_failing_proposal_keeps_the_result():
    optimizer = Broken(BOX, direction="minimize", n_initial=3, seed=0)
    optimizer.x = None
    with pytest.raises(FitError, match="raised LinAlgError: singular") as caught:
        optimizer.run(bowl, 10)
    assert isinstance(caught.value.__cause__, np.linalg.LinAlgError)
    assert caught.value.result.n_evaluations == 3


class Nameless(Stepper):
    name: ClassVar[str] = "nameless"
    error: ClassVar[type[BaseException]] = FitError

    @property
    def subspace(self):
        raise self.error("no fit")


def test_a_result_outlives_the_account_of_its_subspace():
    optimizer = Nameless(BOX, direction="minimize", n_initial=3, seed=0)
    result = optimizer.run(bowl, 4)
    assert result.n_evaluations == 4
    with pytest.warns(SubspaceWarning, match="its estimate raised FitError: no fit"):
        assert result.subspace is None
    with pytest.raises(FitError, match="no fit"):
        optimizer.subspace  # noqa: B018 (asking raises)


class Naming(Stepper):
    """Names as its subspace how many points it was told, and counts how often it was asked."""

    name: ClassVar[str] = "naming"
    asked: ClassVar[list[int]] = []

    @property
    def subspace(self):
        self.asked.append(self.n_told)
        return self.n_told


def test_a_result_names_the_subspace_of_its_own_data_once_it_is_read():
    Naming.asked.clear()
    optimizer = Naming(BOX, direction="minimize", n_initial=3, seed=0)
    result = optimizer.run(bowl, 4)
    optimizer.run(bowl, 2)
    assert Naming.asked == [], "nobody has read it"
    assert (result.subspace, result.subspace) == (4, 4)
    assert Naming.asked == [4]
    assert pickle.loads(pickle.dumps(result)).subspace == 4
    assert pickle.loads(pickle.dumps(optimizer.result())).subspace == 6


def test_a_copy_of_a_result_takes_its_subspace_from_it_and_asks_for_none_before():
    Naming.asked.clear()
    result = Naming(BOX, direction="minimize", n_initial=3, seed=0).run(bowl, 4)
    twin = copy.copy(copy.copy(result))
    assert Naming.asked == [], "nobody has read it"
    assert (twin.subspace, result.subspace, copy.copy(result).subspace) == (4, 4, 4)
    assert Naming.asked == [4]
    np.testing.assert_array_equal(twin.X, result.X)
    assert twin.records == result.records
    assert not twin.X.flags.writeable


class Overtaken(Naming):
    """One more value is told, as if by another thread, while its result is made."""

    name: ClassVar[str] = "overtaken"
    those_told: ClassVar[list[Optimizer]] = []

    @property
    def best_by_mean(self):
        while self.those_told:
            self.those_told.pop().tell([0.5, 0.5], 1.0)


def test_a_result_is_of_one_moment_whatever_is_told_while_it_is_made():
    optimizer = Overtaken(BOX, direction="minimize", n_initial=3, seed=0)
    optimizer.tell([[0.1, 0.2], [0.3, 0.4]], [1.0, 2.0])
    Overtaken.those_told.append(optimizer)
    result = optimizer.result()
    assert optimizer.n_told == 3
    assert (result.n_evaluations, result.subspace) == (2, 2)


def test_the_result_of_an_interrupted_run_names_the_subspace_too():
    def interrupted(x):
        if len(values) == 4:
            raise KeyboardInterrupt
        values.append(bowl(x))
        return values[-1]

    values = []
    with pytest.raises(KeyboardInterrupt) as caught:
        Naming(BOX, direction="minimize", n_initial=3, seed=0).run(interrupted, 9)
    assert caught.value.result.subspace == 4


@pytest.mark.parametrize("x", [np.zeros(3), np.array([np.nan, 0.0])])
def test_a_wrong_proposal_is_reported(x):
    optimizer = Broken(BOX, direction="minimize", n_initial=3, seed=0)
    optimizer.x = x
    with pytest.raises(FitError, match="must be 2 finite coordinates; optimiser 'broken'"):
        optimizer.run(bowl, 10)


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"fun": 3}, "fun must be callable; received int"),
        ({"callback": 3}, "callback must be callable; received int"),
        ({"stopping": 3}, "stopping must be a StoppingCondition; received int"),
        ({"n_evaluations": 0}, "n_evaluations must be an integer of at least 1"),
    ],
)
def test_run_checks_its_arguments_first(change, rule):
    optimizer = stepper()
    with pytest.raises(InvalidInputError, match=rule):
        optimizer.run(**{"fun": bowl, "n_evaluations": 3, **change})
    assert optimizer.pending.shape == (0, 2)


# States.


def test_state_survives_json_with_everything():
    optimizer = drive(stepper(centre=(0.1, 1 / 3)), 5)
    with pytest.warns(NonFiniteWarning):
        optimizer.tell([0.25, 1 / 3], -np.inf)
    optimizer.ask(2)
    state = OptimizerState.from_json(optimizer.state().to_json())
    assert state == optimizer.state()
    rebuilt = Stepper.from_state(state)
    assert rebuilt.memory["count"] == optimizer.memory["count"] == 4
    assert np.isnan(rebuilt.memory["odd"][1])
    np.testing.assert_array_equal(rebuilt.pending, optimizer.pending)
    np.testing.assert_array_equal(rebuilt.ask(4), optimizer.ask(4))
    assert rebuilt.state() == optimizer.state()


def test_state_files(tmp_path):
    optimizer = drive(stepper(), 4)
    path = tmp_path / "state.json"
    optimizer.state().save(path)
    optimizer.state().save(path)
    assert OptimizerState.load(path) == optimizer.state()
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(InvalidInputError, match=r"none\.json cannot be read"):
        OptimizerState.load(tmp_path / "none.json")


def test_state_equality_ignores_time_only():
    first, second = drive(stepper(), 5), drive(stepper(), 5)
    assert first.state() == second.state()
    assert first.result().records == second.result().records
    assert first.state().to_json() != second.state().to_json(), "the times happen to be equal"
    assert first.state() != drive(stepper(), 6).state()
    assert first.state() != drive(stepper(seed=1), 5).state()
    assert first.state() != drive(stepper(step=0.2), 5).state()


def test_states_know_their_class():
    class Other(Stepper):
        name: ClassVar[str] = "other"

    state = Other(BOX, direction="minimize", seed=0).state()
    with pytest.raises(UnknownNameError, match=r"called 'other'.*module that registers it"):
        Stepper.from_state(state)


@pytest.mark.parametrize(
    ("name", "value", "rule"),
    [
        ("options", [], r"options is no dictionary but '\[\]'"),
        ("space", 3, "space is no dictionary but '3'"),
        ("entropy", None, "int"),
        ("events", [{}], "the field 'event' is missing"),
    ],
)
def test_wrong_fields_of_a_state(name, value, rule):
    values = json.loads(stepper().state().to_json())
    with pytest.raises(InvalidInputError, match=rule):
        OptimizerState.from_json(json.dumps({**values, name: value}))


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "3", '{"format": "else"}', '{"format": "boring-state", "schema": 99}'],
)
def test_wrong_state_text(text):
    with pytest.raises(InvalidInputError, match="state"):
        OptimizerState.from_json(text)


def test_memory_must_be_storable():
    class Hoarder(Stepper):
        name: ClassVar[str] = "hoarder"

        def _propose(self, context):
            return Proposal(np.zeros(2), {"model": {"parts": [object()]}}, {})

    optimizer = drive(Hoarder(BOX, direction="minimize", n_initial=3, seed=0), 3)
    with pytest.raises(InvalidInputError, match=r"memory.model.parts\[0\] must be storable"):
        optimizer.ask()


def test_fresh_seeds_differ():
    assert stepper(seed=None).entropy != stepper(seed=None).entropy


def test_data_is_what_was_told_in_internal_units():
    optimizer = drive(stepper(), 3)
    assert isinstance(optimizer.data, Observations)
    np.testing.assert_array_equal(optimizer.data.X, BOX.scale(optimizer.result().X))
    np.testing.assert_array_equal(optimizer.data.y, -optimizer.result().y)


@pytest.mark.parametrize("name", ["sobol", "random", "gp", "boring"])
def test_no_point_comes_twice_after_a_withdrawal(name):
    optimizer = get_optimizer(name)([(0, 1), (0, 1)], direction="minimize", n_initial=2, seed=0)
    optimizer.ask(4)
    for number in (0, 2):
        optimizer.withdraw(number)
    points = optimizer.ask(6)
    assert len(np.unique(points, axis=0)) == 6


@pytest.mark.parametrize("name", ["sobol", "random", "gp", "boring"])
def test_points_told_beforehand_are_not_asked_again(name):
    first = get_optimizer(name)([(0, 1), (2, 8)], direction="minimize", n_initial=3, seed=0)
    known = first.ask(2)
    second = get_optimizer(name)([(0, 1), (2, 8)], direction="minimize", n_initial=3, seed=0)
    second.tell(known[::-1], [1.0, 2.0])
    points = second.ask(3)
    assert len(np.unique(np.vstack([known, points]), axis=0)) == 5


def test_a_proposal_that_was_told_before_is_moved_unless_repeats_are_wanted():
    class Stubborn(Optimizer):
        name = "stubborn"

        def _propose(self, context):
            return Proposal(np.zeros(2), {}, {})

    for repeats in (False, True):
        optimizer = Stubborn(
            [(-1, 1), (-1, 1)], direction="minimize", n_initial=1, seed=0, repeats=repeats
        )
        optimizer.tell([[0.0, 0.0], [0.5, 0.5]], [1.0, 2.0])
        points = optimizer.ask(4)
        assert len(np.unique(np.vstack([points, [0.0, 0.0]]), axis=0)) == (1 if repeats else 5)
        assert np.abs(points).max() <= 1.0


# What those who write an optimiser may get wrong.


class Unnamed(Optimizer):
    def _propose(self, context):
        return Proposal(np.zeros(2))


class Bare(Unnamed):
    name: ClassVar[str] = "bare"


class Raw(Optimizer):
    name: ClassVar[str] = "raw"

    def _propose(self, context):
        return np.zeros(2)


def test_an_optimiser_needs_a_name():
    with pytest.raises(InvalidInputError, match=r"must have a name.*Unnamed has none"):
        Unnamed(BOX, direction="minimize")


def test_a_proposal_needs_no_more_than_a_point():
    optimizer = drive(Bare(BOX, direction="minimize", n_initial=2, seed=0), 3)
    assert optimizer.memory == {}
    assert optimizer.result().records[-1].phase == "proposal"


@pytest.mark.parametrize("what", ["memory", "info"])
def test_what_a_proposal_remembers_and_says_are_mappings(what):
    class Listing(Bare):
        def _propose(self, context):
            return Proposal(np.zeros(2), **{what: []})

    optimizer = drive(Listing(BOX, direction="minimize", n_initial=2, seed=0), 2)
    with pytest.raises(FitError, match=f"{what} of a proposal must be a mapping.*'bare' is list"):
        optimizer.ask()


def test_what_is_no_proposal_is_named():
    optimizer = drive(Raw(BOX, direction="minimize", n_initial=2, seed=0), 2)
    with pytest.raises(
        FitError, match=r"must return a Proposal; that of optimiser 'raw' returned ndarray"
    ):
        optimizer.ask()


def test_a_state_is_no_path():
    with pytest.raises(InvalidInputError, match=r"received str.*OptimizerState.load"):
        Stepper.from_state("state.json")


def test_where_a_run_stands_is_said_in_a_line():
    optimizer = stepper(direction="maximize")
    assert repr(optimizer) == (
        "<Stepper: maximize over 2 inputs; 0 told, 0 pending; best value none yet>"
    )
    optimizer.tell(optimizer.ask()[0], 2.5)
    optimizer.ask()
    assert "1 told, 1 pending; best value 2.5" in repr(optimizer)
    assert repr(optimizer.state()) == (
        "<OptimizerState: 'stepper', maximize over 2 inputs, 1 told, 1 pending>"
    )


@pytest.mark.parametrize("name", ["sobol", "gp"])
def test_threads_lose_no_value(name, tmp_path, monkeypatch):
    """Each thread tells its own points, and asks in between; every value is there, and on disk."""
    optimizer = get_optimizer(name)([(-1.0, 1.0)] * 2, direction="minimize", n_initial=500, seed=0)
    optimizer.start_journal(tmp_path / "run.jsonl")
    n_threads, n_each = 6, 20
    points = np.random.default_rng(0).uniform(-1.0, 1.0, (n_threads, n_each, 2))
    interval, errors = sys.getswitchinterval(), []
    monkeypatch.setattr(threading, "excepthook", lambda caught: errors.append(caught.exc_value))

    def work(mine):
        for x in mine:
            optimizer.tell(x, float(x[0]))
            assert len(optimizer.data) > 0
            assert optimizer.ask(1).shape == (1, 2)

    threads = [threading.Thread(target=work, args=(mine,)) for mine in points]
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not errors
    X = optimizer.state().history.X
    assert sorted(map(tuple, X)) == sorted(map(tuple, points.reshape(-1, 2)))
    np.testing.assert_array_equal(optimizer.data.X, optimizer.space.scale(X))
    resumed = type(optimizer).resume(tmp_path / "run.jsonl")
    np.testing.assert_array_equal(resumed.state().history.X, X)


def test_a_copy_and_a_pickled_run_have_their_own_lock():
    optimizer = get_optimizer("sobol")([(-1.0, 1.0)] * 2, direction="minimize", seed=0)
    for other in (copy.deepcopy(optimizer), pickle.loads(pickle.dumps(optimizer))):
        with optimizer._mutex:
            thread = threading.Thread(target=other.tell, args=([0.5, 0.5], 1.0))
            thread.start()
            thread.join(timeout=60)
        assert other.n_told == 1
        assert optimizer.n_told == 0
