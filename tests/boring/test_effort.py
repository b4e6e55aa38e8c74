"""A budget of seconds an ask: decided from recorded times alone, said, and kept after a resume."""

import pickle

import numpy as np
import pytest

import boring.optimizer
from boring.effort import FULL, MOST_POINTS, PATIENCE, Effort, effort_of
from boring.exceptions import InvalidInputError
from boring.history import Ask
from boring.loop import algorithm
from boring.loop.algorithm import BoringOptimizer
from boring.loop.fresh_start import fresh_point
from boring.models.gp import GaussianProcessModel

BOX = [[-1.0, 1.0]] * 3


class Clock:
    """Seconds pass only when it is looked at: every ask takes ``step`` seconds."""

    def __init__(self, step: float) -> None:
        self.step, self.now = step, 0.0

    def perf_counter(self) -> float:
        self.now += self.step
        return self.now


@pytest.fixture
def clock(monkeypatch) -> Clock:
    clock = Clock(1.0)
    monkeypatch.setattr(boring.optimizer, "time", clock)
    return clock


def _objective(x) -> float:
    return float((x[0] - 0.3) ** 2 + np.sin(3.0 * x[1]))


def _run(optimizer: BoringOptimizer, n: int) -> BoringOptimizer:
    while optimizer.n_told < n:
        x = optimizer.ask()[0]
        optimizer.tell(x, _objective(x))
    return optimizer


def _new(**options) -> BoringOptimizer:
    return BoringOptimizer(BOX, direction="minimize", seed=4, **options)


def _ask(number: int, seconds: float, level: int = 0, phase: str = "portfolio", learned: int = 0):
    info = {"effort": level, "learned": learned, "points": number}
    return Ask(number, np.zeros(1), phase, info, None, seconds)


def test_without_a_budget_time_decides_nothing(clock) -> None:
    slow = _run(_new(), 18)
    clock.step = 1e-6
    fast = _run(_new(), 18)
    np.testing.assert_array_equal(slow.data.X, fast.data.X)
    assert slow.memory == fast.memory
    assert all("effort" not in record.info for record in slow.state().history.asks)
    assert effort_of("whole box", [_ask(9, 1e9)], None, 10) == FULL


def test_a_budget_that_is_never_reached_changes_no_point(clock) -> None:
    clock.step = 1e-6
    free, held = _run(_new(), 18), _run(_new(ask_seconds=1.0), 18)
    np.testing.assert_array_equal(free.data.X, held.data.X)
    efforts = [r.info["effort"] for r in held.state().history.asks if "effort" in r.info]
    assert efforts == [0] * (18 - held.n_initial)
    assert all(r.info.get("left out") is None for r in held.state().history.asks)


def test_slow_asks_are_followed_by_cheaper_ones_that_say_so(clock) -> None:
    optimizer = _run(_new(ask_seconds=0.5), 24)
    records = optimizer.state().history.asks
    wide = [r for r in records if r.phase in ("portfolio", "subspace")]
    local = [r for r in records if r.phase == "local"]
    assert [r.info["effort"] for r in wide][:4] == [0, 1, 2, 2]
    assert [r.info["effort"] for r in local] == [0] + [1] * (len(local) - 1)
    assert wide[0].info["left out"] is None
    assert wide[1].info["left out"].count("refitting") == 3, "all but the best"
    assert wide[2].info["left out"].count("refitting") == 4
    assert "starts of the search" in wide[2].info["left out"]
    assert "learning the subspace" in wide[-1].info["left out"]
    assert "the local metric" in local[-1].info["left out"]
    assert not any(r.info["learned"] for r in wide)
    assert optimizer.memory["subspace"] == {}


def test_only_what_was_not_left_out_has_changed(clock) -> None:
    optimizer = _run(_new(ask_seconds=0.5), 12)  # three asks of the portfolio, level 2 by now
    before = dict(optimizer.memory["portfolio"]["theta"])
    _run(optimizer, 13)
    assert optimizer.memory["portfolio"]["theta"] == before
    assert optimizer.memory["portfolio"]["n"] == 12


def test_points_of_a_batch_share_what_none_of_them_refits(clock, monkeypatch) -> None:
    fits = []
    whole = algorithm.fit_portfolio
    monkeypatch.setattr(algorithm, "fit_portfolio", lambda *a: fits.append(1) or whole(*a))
    together, one_by_one = (_run(_new(ask_seconds=0.5), 12) for _ in range(2))
    fits.clear()
    together.ask(4)
    assert len(fits) == 1
    for n in range(1, 5):
        one_by_one = pickle.loads(pickle.dumps(one_by_one))  # It keeps no portfolio.
        one_by_one.ask(n)
    assert len(fits) == 5
    np.testing.assert_array_equal(together.pending, one_by_one.pending)
    assert together.memory == one_by_one.memory
    asks, others = together.history.asks[-4:], one_by_one.history.asks[-4:]
    assert [ask.info for ask in asks] == [ask.info for ask in others]
    assert {ask.info["effort"] for ask in asks} == {2}
    for x in together.pending:
        together.tell(x, _objective(x))
    together.ask(3)
    assert len(fits) == 6, "new values are seen"


def test_every_point_of_a_batch_is_refitted_without_a_budget(monkeypatch) -> None:
    fits = []
    whole = algorithm.fit_portfolio
    monkeypatch.setattr(algorithm, "fit_portfolio", lambda *a: fits.append(1) or whole(*a))
    optimizer = _run(_new(), 12)
    fits.clear()
    optimizer.ask(3)
    assert len(fits) == 3


@pytest.mark.parametrize("n", [9, 17])
def test_a_resumed_run_goes_on_as_it_would_have(clock, n) -> None:
    whole = _run(_new(ask_seconds=0.5), 21)
    halted = _run(_new(ask_seconds=0.5), n)
    resumed = _run(BoringOptimizer.from_state(halted.state()), 21)
    np.testing.assert_array_equal(whole.data.X, resumed.data.X)
    assert whole.memory == resumed.memory
    assert [r.info for r in whole.state().history.asks] == [
        r.info for r in resumed.state().history.asks
    ]


def test_the_times_come_from_the_record_not_from_the_clock(clock) -> None:
    halted = _run(_new(ask_seconds=0.5), 12)
    clock.step = 1e-6  # a faster machine
    resumed = BoringOptimizer.from_state(halted.state())
    x = resumed.ask()[0]
    np.testing.assert_array_equal(x, halted.ask()[0])
    resumed.tell(x, _objective(x))
    assert resumed.state().history.asks[-1].info["effort"] == 2


def test_a_learning_ask_is_foreseen_and_remembered() -> None:
    fast, slow = [_ask(20, 0.01)], [_ask(20, 0.1)]
    assert effort_of("whole box", fast, 1.0, 21).may_learn
    assert not effort_of("whole box", slow, 1.0, 21).may_learn
    seen, overran = ([_ask(18, seconds, learned=1), _ask(20, 0.1)] for seconds in (0.2, 9.0))
    assert effort_of("whole box", seen, 1.0, 21).may_learn, "the record beats the rule of thumb"
    assert effort_of("whole box", overran, 1.0, 21) == Effort(0, False)


def test_what_the_local_model_learns_and_the_subspace_do_not_speak_for_each_other() -> None:
    asks = [_ask(18, 9.0, learned=1), _ask(19, 0.2, phase="local", learned=1)]
    assert not effort_of("whole box", asks, 1.0, 20).may_learn
    assert effort_of("local", asks, 1.0, 20) == FULL
    slow = [_ask(18, 0.2, learned=1), _ask(19, 9.0, phase="local", learned=1)]
    assert effort_of("whole box", slow, 1.0, 21).may_learn
    assert effort_of("local", slow, 1.0, 21) == Effort(0, False), "its metric need not be left out"


def _at_the_local_turn(optimizer: BoringOptimizer, X) -> BoringOptimizer:
    """Return the optimiser told X, and more until the local model has proposed a point."""
    optimizer.tell(X, [_objective(x) for x in X])
    _run(optimizer, optimizer.n_told + 1)
    while optimizer.history.asks[-1].phase != "local":
        _run(optimizer, optimizer.n_told + 1)
    return optimizer


SMALL_AND_LARGE = [(0.001, True), (0.05, False)]


@pytest.mark.parametrize(("seconds", "learns"), SMALL_AND_LARGE)
def test_directions_are_not_learned_where_the_budget_is_too_small_for_it(
    clock, seconds, learns
) -> None:
    clock.step = seconds
    X = np.random.default_rng(0).uniform(-1.0, 1.0, (30, 3))
    optimizer = _at_the_local_turn(_new(ask_seconds=0.5), X[:20])
    assert optimizer.memory["local"]["directions"] == {}, "too few points"
    info = _at_the_local_turn(optimizer, X[20:]).history.asks[-1].info
    assert (info["effort"], info["learned"]) == (0, int(learns))
    assert info["left out"] == (None if learns else "learning the directions")
    assert ("effective_dim" in optimizer.memory["local"]["directions"]) == learns


@pytest.mark.parametrize(("seconds", "learns"), SMALL_AND_LARGE)
def test_a_fresh_start_learns_no_directions_where_the_local_model_would_not(
    clock, monkeypatch, seconds, learns
) -> None:
    clock.step = seconds
    X = np.random.default_rng(0).uniform(-1.0, 1.0, (20, 3))
    optimizer = _at_the_local_turn(_new(ask_seconds=0.5), X)
    offered = []

    def recorded(*arguments):
        offered.append(list(arguments[-1]))
        return fresh_point(*arguments)

    monkeypatch.setattr(algorithm, "kind_of_turn", lambda *_: "fresh start")
    monkeypatch.setattr(algorithm, "fresh_point", recorded)
    optimizer.ask()
    assert offered == [[1, 2, 3] if learns else []]


def test_after_calm_the_effort_rises_again() -> None:
    asks = [_ask(100 + i, 0.1, level=2) for i in range(PATIENCE)]
    assert effort_of("whole box", asks, 1.0, 110).level == 1
    assert effort_of("whole box", asks[1:], 1.0, 110).level == 2
    assert effort_of("whole box", [_ask(99, 3.0, level=2), *asks[1:]], 1.0, 110).level == 2


def test_records_count_by_their_points_not_by_their_numbers() -> None:
    """After 1,000 earlier points the second ask forgot what the first one took."""
    first = Ask(0, np.zeros(1), "local", {"effort": 0, "learned": 1, "points": 1000}, None, 69.0)
    quick = Ask(1, np.zeros(1), "local", {"effort": 0, "learned": 0, "points": 1001}, None, 0.6)
    for asks in ([first], [first, quick]):
        assert not effort_of("local", asks, 2.0, 1002).may_learn
        assert effort_of("local", asks, 2.0, 1002).level == 0
    assert effort_of("local", [quick], 0.7, 1002).level == 0, "one point more costs little"


def test_the_first_asks_learn_from_as_many_points_as_an_estimate_allows() -> None:
    points = [effort_of("local", [], seconds, 1000).points for seconds in (1e-3, 1.0, 2.0, 60.0)]
    assert points[0] < points[1] < points[2] < points[3] == MOST_POINTS
    assert effort_of("local", [], 2.0, 1000).may_learn
    seen = [_ask(400, 1.5, phase="local", learned=1)]
    assert effort_of("local", seen, 2.0, 410).points == MOST_POINTS, "the record decides"
    assert effort_of("local", seen, 2.0, 501).points == points[2]
    assert effort_of("local", seen, None, 1000) == FULL


def _with_earlier_points(**options) -> BoringOptimizer:
    X = np.random.default_rng(0).uniform(-1.0, 1.0, (600, 3))
    return _new(**options).tell(X, [_objective(x) for x in X])


def test_nothing_is_fitted_to_more_points_than_are_learned_from(monkeypatch) -> None:
    fitted, conditioned = set(), set()
    whole, posterior = GaussianProcessModel.fit, GaussianProcessModel.condition

    def fit(self, X, y, *arguments, **named):
        fitted.add(len(X))
        return whole(self, X, y, *arguments, **named)

    def condition(self, theta, X, y):
        conditioned.add(len(X))
        return posterior(self, theta, X, y)

    monkeypatch.setattr(GaussianProcessModel, "fit", fit)
    monkeypatch.setattr(GaussianProcessModel, "condition", condition)
    optimizer = _run(_with_earlier_points(ask_seconds=0.05), 604)
    assert {"local", "portfolio"} <= {ask.phase for ask in optimizer.history.asks}
    assert max(fitted) == MOST_POINTS
    assert max(conditioned) >= 600, "predictions are made from all points"
    learned = [ask.info for ask in optimizer.history.asks if ask.info["learned"]]
    assert learned
    assert all("points to learn from" in info["left out"] for info in learned)
    assert [ask.info["points"] for ask in optimizer.history.asks] == [600, 601, 602, 603]


def test_a_run_with_many_earlier_points_goes_on_as_it_would_have(clock) -> None:
    whole = _run(_with_earlier_points(ask_seconds=0.05), 602)
    halted = whole.state()
    _run(whole, 604)
    resumed = _run(BoringOptimizer.from_state(halted), 604)
    np.testing.assert_array_equal(whole.data.X, resumed.data.X)
    assert whole.memory == resumed.memory


def test_local_asks_do_not_speak_for_the_whole_box() -> None:
    asks = [_ask(50, 0.1, phase="local")]
    assert effort_of("local", asks, 0.01, 51).level == 1
    assert effort_of("whole box", asks, 0.01, 51).level == 0


@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), "soon"])
def test_the_budget_is_a_positive_number(value) -> None:
    with pytest.raises(InvalidInputError, match="ask_seconds"):
        _new(ask_seconds=value)
