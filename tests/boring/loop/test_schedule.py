"""Whose turn it is."""

from collections import Counter
from typing import Any

import numpy as np
import pytest

from boring.loop.schedule import (
    DEEP_GAIN,
    DEEP_RADIUS,
    FAILURES_IN_A_ROW,
    KNOWN_NOISY,
    LONGEST_STREAK,
    MANY_INPUTS,
    NOISY,
    SETTLED_PROMISE,
    SETTLED_RADIUS,
    SEVERAL_INPUTS,
    TELLING_POINTS,
    has_settled,
    is_rugged,
    kind_before_local,
    kind_of_turn,
    sees_noise,
    speaker,
    spread_of_first,
)
from boring.loop.trust_region import patience

X = np.array([[0.0, 0.0], [0.5, 0.5], [0.1, -0.2]])
y = np.array([-1.0, -2.0, -0.5])


def _memory(**changes: Any) -> dict[str, Any]:
    """Return the memory of a local model whose last step is among the older points."""
    memory = {
        "radius": 0.1,
        "gain": 0.1,
        "best": -0.5,
        "n": 3,
        "proposed": [0.1, -0.2],
        "steps": 20,
        "streak": 0,
        "failures": 0,
    }
    return memory | changes


def _shares(memory: dict[str, Any] | None, **more: Any) -> Counter[str]:
    return Counter(kind_of_turn(number, X, y, memory, 1.0, **more) for number in range(40))


def test_a_search_shares_its_turns_with_the_local_model_alone() -> None:
    for memory in (None, {}, _memory()):
        assert _shares(memory) == {"portfolio": 20, "local": 20}


def test_a_settled_search_pays_a_quarter_and_a_deep_one_half() -> None:
    assert _shares(_memory(radius=0.005))["fresh start"] == 10
    assert _shares(_memory(gain=1e-6))["fresh start"] == 10
    assert _shares(_memory(radius=1e-4, failures=FAILURES_IN_A_ROW))["fresh start"] == 20


def test_a_step_to_the_best_mean_that_promises_little_has_settled() -> None:
    assert has_settled(_memory(promised=0.5 * SETTLED_PROMISE), 1.0, 2)
    assert not has_settled(_memory(promised=2 * SETTLED_PROMISE), 1.0, 2)


def test_after_a_streak_of_local_steps_another_search_has_its_turn() -> None:
    ended = _memory(n=2, streak=LONGEST_STREAK, best=-1.0)
    assert _shares(ended) == {"portfolio": 40}
    settled = _shares(_memory(n=2, streak=LONGEST_STREAK, best=-1.0, radius=0.005))
    assert settled["local"] == 0
    assert settled["fresh start"] >= 10


def test_no_search_has_settled_before_as_many_local_steps_as_inputs() -> None:
    assert _shares(_memory(radius=1e-4, steps=1)) == {"portfolio": 20, "local": 20}


def test_polishing_stops_at_the_digits_until_the_incumbent_rises() -> None:
    digits = 0.1 * DEEP_GAIN
    assert _shares(_memory(gain=digits)) == {"portfolio": 20, "fresh start": 20}
    assert _shares(_memory(gain=digits, best=-0.8))["local"] > 0


def test_a_good_local_step_goes_on_at_once_but_not_for_ever() -> None:
    good = {"n": 2, "best": -1.0}
    assert _shares(_memory(**good)) == {"local": 40}
    assert _shares(_memory(**good, gain=3.0))["portfolio"] == 20


def test_a_failing_local_model_steps_back_until_it_has_settled() -> None:
    assert _shares(_memory(failures=FAILURES_IN_A_ROW - 1))["local"] == 20
    assert _shares(_memory(failures=FAILURES_IN_A_ROW)) == {"portfolio": 30, "local": 10}
    assert _shares(_memory(failures=FAILURES_IN_A_ROW, radius=0.005))["fresh start"] == 10


def test_in_noise_fresh_starts_keep_to_a_quarter_and_half_the_rest_is_the_plain_processs() -> None:
    deep = _memory(radius=1e-4, n=2, best=-1.0)
    assert _shares(deep, noisy=True) == dict.fromkeys(
        ("local", "portfolio", "plain", "fresh start"), 10
    )
    for memory in ({}, _memory()):
        assert _shares(memory, noisy=True) == {"local": 20, "portfolio": 10, "plain": 10}
    assert Counter(kind_before_local(n, True) for n in range(20)) == {"portfolio": 10, "plain": 10}
    assert {kind_before_local(n, False) for n in range(20)} == {"portfolio"}


def test_in_noise_the_search_that_gains_most_has_two_turns_of_three() -> None:
    shares = _shares(_memory(), noisy=True, leads="plain")
    assert shares["plain"] == pytest.approx(2 * (shares["local"] + shares["portfolio"]), abs=2)
    assert abs(shares["local"] - shares["portfolio"]) <= 1
    assert "plain" not in _shares(_memory(), leads="plain"), "without noise none leads"


def test_gains_count_in_units_of_the_spread() -> None:
    memory = _memory(gain=1e-4)
    assert not has_settled(memory, 1.0, 2)
    assert has_settled(memory, 100.0, 2)


@pytest.mark.parametrize("dim", [2, 10, 40, 1000])
def test_the_radius_that_counts_as_settled_takes_as_many_failures_in_any_dimension(
    dim: int,
) -> None:
    from boring.loop.trust_region import shrunk

    radius, failures = 1.0, 0
    while not has_settled(_memory(radius=radius, gain=1.0), 1.0, dim):
        radius, failures = shrunk(radius, dim), failures + 1
    assert failures == 10
    assert radius == pytest.approx(0.6 ** (10 * patience(dim)))
    assert DEEP_RADIUS < SETTLED_RADIUS


def test_the_spread_is_that_of_the_first_values() -> None:
    values = np.array([-4.0, -2.0, -3.0, 1.0, 1.0, 1.0])
    assert spread_of_first(values, 3) == 4.0
    assert spread_of_first(np.ones(4), 2) == 1.0


def test_noise_is_what_the_portfolio_has_fitted_or_knows() -> None:
    noisy = {"theta": {"iso": [0.0, 0.0, float(np.log(2 * NOISY))]}}
    quiet = {"theta": {"iso": [0.0, 0.0, float(np.log(NOISY / 2))]}}
    assert sees_noise(noisy, None)
    assert not sees_noise(quiet, None)
    assert not sees_noise(None, None)
    assert not sees_noise(noisy, 0.0)
    assert sees_noise(noisy, 0.1)
    assert sees_noise(None, 0.1), "nothing tells yet how much it is"
    assert sees_noise(quiet, 0.1), "which needs no proof"
    faint = {"theta": {"iso": [0.0, 0.0, float(np.log(KNOWN_NOISY / 2))]}}
    assert not sees_noise(faint, 0.1), "known, and too little to matter"


def test_of_many_inputs_the_plain_process_has_every_second_turn_of_the_portfolio() -> None:
    def speakers(kind: str, n: int, dim: int) -> list[str]:
        return [speaker(kind, turn, n, dim) for turn in range(4)]

    shared = speakers("portfolio", TELLING_POINTS, MANY_INPUTS)
    assert sorted(shared) == ["plain", "plain", "portfolio", "portfolio"]
    assert shared[0] != shared[1]
    assert set(speakers("portfolio", TELLING_POINTS, MANY_INPUTS - 1)) == {"portfolio"}
    assert set(speakers("portfolio", TELLING_POINTS - 1, MANY_INPUTS)) == {"portfolio"}
    assert set(speakers("plain", 0, 2)) == {"plain"}


def test_what_looked_like_noise_is_rugged_in_several_inputs_unless_noise_is_known() -> None:
    dims = (SEVERAL_INPUTS - 1, SEVERAL_INPUTS, MANY_INPUTS - 1, MANY_INPUTS)
    assert [is_rugged(True, dim, None) for dim in dims] == [False, True, True, False]
    assert is_rugged(True, SEVERAL_INPUTS, 0.0)
    assert not is_rugged(True, SEVERAL_INPUTS, 0.1)
    assert not is_rugged(False, SEVERAL_INPUTS, None)


def test_of_a_rugged_objective_the_plain_process_has_every_second_turn_of_the_portfolio() -> None:
    shared = [speaker("portfolio", turn, 0, SEVERAL_INPUTS, rugged=True) for turn in range(4)]
    assert shared == ["plain", "portfolio"] * 2
    assert speaker("local", 0, 0, SEVERAL_INPUTS, rugged=True) == "local"
