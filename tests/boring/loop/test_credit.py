"""Which search has lately gained most, luck aside."""

import json
from collections import Counter
from typing import Any

import numpy as np
import pytest

from boring.loop.credit import COMPETITORS, LUCK, WORTH, credit_after, leader, turn_of


def _run(turns: list[tuple[str, float]], noise_std: float = 0.0) -> dict[str, Any]:
    """Return the credit after turns (kind, value), the first value being 0."""
    values, credit = [0.0], credit_after({}, np.zeros(1), noise_std)
    for kind, value in turns:
        values.append(value)
        credit = credit_after(credit | {"kind": kind}, np.array(values), noise_std)
    return credit


def test_before_any_gain_none_leads() -> None:
    assert leader(_run([]), 1.0) is None
    assert leader(_run([(kind, -1.0) for kind in COMPETITORS]), 1.0) is None


def test_the_search_with_the_larger_gain_per_turn_leads() -> None:
    often = [("local", 0.1 * i) for i in range(1, 10)]
    once = [("plain", 2.0), ("plain", 1.0)]
    assert leader(_run(often), 1.0) == "local"
    assert leader(_run([*often, *once]), 1.0) == "plain"


def test_a_gain_is_forgotten_after_turns_that_bring_nothing() -> None:
    credit = _run([("portfolio", 1.0)] + [("portfolio", 0.0)] * 40)
    assert credit["rates"]["portfolio"] > 0
    assert leader(credit, 1.0) is None


def test_gains_that_noise_could_have_brought_do_not_count() -> None:
    turns = [("local", 0.1), ("plain", 0.2), ("portfolio", 0.3)]
    assert leader(_run(turns, noise_std=0.1 / LUCK * 1.01), 1.0) is None
    assert leader(_run([*turns, ("plain", 1.0)], noise_std=0.1 / LUCK), 1.0) == "plain"


def test_a_gain_is_worth_following_in_units_of_the_spread() -> None:
    credit = _run([("local", 10 * WORTH)])
    assert leader(credit, 1.0) == "local"
    assert leader(credit, 100.0) is None


def test_other_turns_get_no_credit_and_nothing_told_changes_nothing() -> None:
    assert _run([("fresh start", 5.0)])["rates"] == {}
    credit = _run([("local", 1.0)])
    assert credit_after(credit | {"kind": "plain"}, np.array([0.0, 1.0]), 0.0) == credit
    assert json.loads(json.dumps(credit)) == credit


@pytest.mark.parametrize("ahead", COMPETITORS)
def test_the_leader_has_two_of_three_turns_and_the_others_share_the_third(ahead: str) -> None:
    shares = Counter(turn_of(number, ahead) for number in range(60))
    assert shares[ahead] == 40
    assert {shares[kind] for kind in COMPETITORS if kind != ahead} == {10}
