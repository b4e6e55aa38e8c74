"""Restarts in rounds: who is dropped, who wins, and what a budget does."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boring.exceptions import FitError, InvalidInputError
from boring.subspace.multistart import extrapolated_loss, run_restarts


class Series:
    """A restart that plays back a series of losses."""

    def __init__(self, losses: np.ndarray, fail_at: int | None = None, pause: float = 0.0) -> None:
        self.losses = np.asarray(losses, dtype=float)
        self.position = 0
        self.fail_at = fail_at
        self.pause = pause

    @property
    def loss(self) -> float:
        return float(self.losses[self.position])

    @property
    def finished(self) -> bool:
        return self.rounds_left == 0

    @property
    def rounds_left(self) -> int:
        return len(self.losses) - 1 - self.position

    def advance(self) -> None:
        if self.position + 1 == self.fail_at:
            raise FitError("broken on purpose")
        end = time.perf_counter() + self.pause
        while time.perf_counter() < end:
            pass
        self.position += 1


def decay(limit: float, ratio: float = 0.8, rounds: int = 40, start: float = 10.0) -> Series:
    return Series(limit + start * ratio ** np.arange(rounds + 1))


@given(
    st.floats(-100, 100), st.floats(0.05, 0.9), st.floats(0.1, 1e3), st.sampled_from([3, 5, 9, 11])
)
def test_extrapolation_is_exact_on_a_geometric_series(
    limit: float, ratio: float, start: float, window: int
) -> None:
    losses = limit + start * ratio ** np.arange(window)
    result = extrapolated_loss(losses, 10**9)
    assert result == pytest.approx(limit, abs=1e-7 * max(1.0, abs(limit), start))


def test_extrapolation_of_a_straight_line_and_of_acceleration_is_linear() -> None:
    assert extrapolated_loss(np.arange(10.0)[::-1], 7) == pytest.approx(-7.0)
    falling = -(np.arange(11.0) ** 2)
    assert extrapolated_loss(falling, 4) == pytest.approx(-100.0 - 4 * (100 - 25) / 5)


def test_extrapolation_is_bounded_by_the_rounds_left() -> None:
    slow = 0.999 ** np.arange(10)
    assert extrapolated_loss(slow, 1) > 0.98
    assert extrapolated_loss(slow, 0) == slow[-1]


@given(st.lists(st.floats(-1e3, 1e3), min_size=3, max_size=12), st.integers(0, 100))
def test_extrapolation_never_rises(losses: list[float], rounds_left: int) -> None:
    assert extrapolated_loss(np.array(losses), rounds_left) <= losses[-1]


def test_a_flat_series_is_extrapolated_to_itself_and_short_ones_are_refused() -> None:
    assert extrapolated_loss(np.full(10, 3.0), 100) == 3.0
    with pytest.raises(InvalidInputError, match="three"):
        extrapolated_loss(np.ones(2), 1)


def test_hopeless_restarts_are_dropped_and_the_best_finishes() -> None:
    restarts = [decay(5.0), decay(0.0), decay(8.0), decay(0.01)]
    result = run_restarts(restarts)
    assert result.best is restarts[1]
    assert result.best_index == 1
    assert [h.outcome for h in result.histories][:3] == ["dropped", "finished", "dropped"]
    assert all(h.dropped == (h.outcome == "dropped") for h in result.histories)
    dropped = result.histories[2]
    assert len(dropped.losses) - 1 < 20
    assert len(dropped.losses) > 10
    assert dropped.losses == tuple(restarts[2].losses[: len(dropped.losses)])
    assert len(result.histories[1].losses) == 41


def test_a_late_bloomer_survives_extrapolation() -> None:
    """Worse than the leader for 30 rounds, yet heading below it."""
    leader = decay(1.0, ratio=0.5)
    bloomer = Series(np.linspace(20.0, 0.0, 41))
    result = run_restarts([leader, bloomer])
    assert result.best is bloomer
    assert result.histories[1].outcome == "finished"


def test_none_is_dropped_where_none_shall_be() -> None:
    result = run_restarts([decay(5.0), decay(0.0)], drop_hopeless=False)
    assert [h.outcome for h in result.histories] == ["finished", "finished"]


def test_dropping_does_not_change_the_winner_of_convergent_restarts() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        limits, ratios = rng.uniform(0, 10, 12), rng.uniform(0.3, 0.9, 12)
        with_drops, without = (
            run_restarts(
                [decay(a, r, rounds=80) for a, r in zip(limits, ratios, strict=True)],
                drop_hopeless=drop_hopeless,
            )
            for drop_hopeless in (True, False)
        )
        assert with_drops.best_index == without.best_index == int(np.argmin(limits))
        assert any(h.dropped for h in with_drops.histories)


def test_failures_end_one_restart_only() -> None:
    result = run_restarts([Series(np.zeros(5) - 100, fail_at=2), decay(0.0)])
    assert result.best_index == 1
    assert result.histories[0].outcome == "failed"
    assert "on purpose" in result.histories[0].message
    assert len(result.histories[0].losses) == 2


def test_all_failed_raises_with_history() -> None:
    with pytest.raises(FitError, match="on purpose") as caught:
        run_restarts([decay(0.0).__class__(np.zeros(5), fail_at=1) for _ in range(3)])
    assert [h.outcome for h in caught.value.history] == ["failed"] * 3
    with pytest.raises(FitError, match="not finite"):
        run_restarts([Series(np.full(3, np.inf))])


@pytest.mark.parametrize("cpu_budget", [None, 60.0])
def test_restarts_run_one_after_another_with_a_budget_alone(cpu_budget: float | None) -> None:
    begun: list[Series] = []
    at_once: list[int] = []

    def source() -> Iterator[Series]:
        for limit in (3.0, 2.0, 1.0, 4.0):
            begun.append(decay(limit, rounds=30))
            at_once.append(sum(not s.finished and s.position < 11 for s in begun))
            yield begun[-1]

    result = run_restarts(source(), cpu_budget=cpu_budget)
    assert result.best is begun[2]
    assert len(result.histories) == 4
    assert max(at_once) == (4 if cpu_budget is None else 1)


def test_a_budget_ends_the_run_with_the_best_so_far() -> None:
    restarts = [Series(np.linspace(10.0, i, 1001), pause=0.002) for i in range(3)]
    start = time.perf_counter()
    result = run_restarts(restarts, cpu_budget=0.05)
    assert time.perf_counter() - start < 1.5
    assert len(result.histories) == 1
    history = result.histories[0]
    assert history.outcome == "unfinished"
    assert 2 <= len(history.losses) < 1000
    assert history.seconds > 0.0


def test_a_tiny_budget_still_runs_one_round() -> None:
    result = run_restarts([decay(0.0), decay(1.0)], cpu_budget=1e-9)
    assert [len(history.losses) for history in result.histories] == [2]


def test_a_finished_start_takes_no_round() -> None:
    result = run_restarts([Series(np.array([1.0])), Series(np.array([2.0]))])
    assert result.best_index == 0
    assert [len(h.losses) for h in result.histories] == [1, 1]


@pytest.mark.parametrize("cpu_budget", [0.0, -1.0])
def test_bad_budgets(cpu_budget: float) -> None:
    with pytest.raises(InvalidInputError, match="cpu_budget"):
        run_restarts([decay(0.0)], cpu_budget=cpu_budget)


def test_no_restart_is_an_error() -> None:
    with pytest.raises(InvalidInputError, match="at least one"):
        run_restarts([])
