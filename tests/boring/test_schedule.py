"""Whose turn it is."""

from collections import Counter

from boring.schedule import has_settled, kind_of_turn, spread_of_first


def _shares(memory: dict | None) -> Counter:
    return Counter(kind_of_turn(number, memory, 1.0) for number in range(40))


def test_a_search_shares_its_turns_with_the_local_model_alone() -> None:
    for memory in (None, {}, {"radius": 0.1, "gain": 0.1}):
        assert _shares(memory) == {"portfolio": 20, "local": 20}


def test_a_settled_search_pays_a_quarter_and_a_deep_one_half() -> None:
    assert _shares({"radius": 0.005, "gain": 0.1})["fresh start"] == 10
    assert _shares({"radius": 0.1, "gain": 1e-6})["fresh start"] == 10
    assert _shares({"radius": 1e-4, "gain": 0.1})["fresh start"] == 20
    assert _shares({"radius": 0.1, "gain": 0.0})["fresh start"] == 20


def test_gains_count_in_units_of_the_spread() -> None:
    memory = {"radius": 0.1, "gain": 1e-4}
    assert not has_settled(memory, 1.0)
    assert has_settled(memory, 100.0)


def test_the_spread_is_that_of_the_first_values() -> None:
    import numpy as np

    y = np.array([-4.0, -2.0, -3.0, 1.0, 1.0, 1.0])
    assert spread_of_first(y, 3) == 4.0
    assert spread_of_first(np.ones(4), 2) == 1.0
