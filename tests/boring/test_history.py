"""The history of a run as a value: its arrays are kept, and nobody can change them."""

import copy
import pickle

import numpy as np
import pytest

from boring.history import Ask, History, Tell, frozen_point


def told(history, n):
    """Return the history with n more points asked and told, and one withdrawn."""
    for _ in range(n):
        number, index = len(history.asks), history.n_told
        x = frozen_point([number, -0.5])
        history = history.with_ask(Ask(number, x, "proposal", {}, {"n": number}, 0.0))
        history = history.with_tells([Tell(index, x, number / 4, number, None)])
    number = len(history.asks)
    left = Ask(number, frozen_point([9.0, 9.0]), "proposal", {}, None, 0.0)
    return history.with_ask(left).with_withdrawal(number)


@pytest.mark.parametrize("is_read", [False, True])
def test_arrays_grow_with_the_tells(is_read):
    history = History(2)
    expected: list[int] = []
    for n in (0, 3, 1):
        if is_read:
            assert history.X.shape == (len(expected), 2)
            assert history.y.shape == (len(expected),)
        start = len(history.asks)
        expected += range(start, start + n)
        before, history = history, told(history, n)
        assert len(before.X) == len(history.X) - n
    numbers = np.array(expected, dtype=float)
    np.testing.assert_array_equal(history.X, np.stack([numbers, np.full(4, -0.5)], axis=1))
    np.testing.assert_array_equal(history.y, numbers / 4)


def test_arrays_are_made_once_and_read_only():
    history = told(History(2), 3)
    assert history.X is history.X
    assert history.y is history.y
    for array in (history.X, history.y, told(history, 2).X, told(history, 2).y):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 7.0


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, copy.copy, lambda h: pickle.loads(pickle.dumps(h))]
)
def test_copies_hold_the_events_alone(copied):
    history = told(History(2), 3)
    n_bytes = len(pickle.dumps(history))
    X, y = history.X, history.y
    assert len(pickle.dumps(history)) == n_bytes
    other = copied(history)
    np.testing.assert_array_equal(other.X, X)
    np.testing.assert_array_equal(other.y, y)
    assert not other.X.flags.writeable
    assert [event.to_dict() for event in other.events] == [e.to_dict() for e in history.events]
