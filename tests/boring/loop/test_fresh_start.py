"""Fresh starts: which points are a start's own, whoever is told first."""

import json

import numpy as np

from boring.loop.fresh_start import (
    LOCAL_AFTER,
    FreshStart,
    recall,
    start_portfolio,
    wants_local,
    with_point,
)


def test_points_are_found_again_in_whatever_order_they_come() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (6, 3))
    a, b = rng.uniform(-1, 1, (2, 3))
    start = with_point(with_point(FreshStart(1, seen=6), a, 6), b, 6)
    assert start.size == 2
    stored = json.loads(json.dumps(start.memory()))
    later = recall(stored, np.vstack([X, b]), a[None, :])
    assert later.told == (6,)
    assert later.awaited == (tuple(a),)
    again = recall(json.loads(json.dumps(later.memory())), np.vstack([X, b, X[0], a]), X[:0])
    assert set(again.told) == {6, 8}
    assert again.awaited == ()
    assert again.size == 2


def test_a_withdrawn_point_is_no_point_of_the_start() -> None:
    X = np.random.default_rng(0).uniform(-1, 1, (6, 3))
    start = with_point(with_point(FreshStart(1, seen=4), X[4], 4), X[5], 4)
    later = recall(start.memory(), X[:4], X[5:])
    assert later.awaited == (tuple(X[5]),)
    assert later.size == 1


def test_nothing_is_recalled_from_nothing() -> None:
    assert recall({}, np.zeros((3, 2)), np.zeros((0, 2))) is None


def test_the_local_model_speaks_every_second_time_after_a_while() -> None:
    def start(size: int) -> FreshStart:
        return FreshStart(1, told=tuple(range(size)))

    spoken = [size for size in range(30) if wants_local(start(size), 8)]
    assert min(spoken) >= 8 + LOCAL_AFTER
    assert np.all(np.diff(spoken) == 2)


def test_odd_starts_measure_by_their_initial_points() -> None:
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (30, 3))
    y = np.where(np.arange(30) < 8, rng.normal(-10, 5, 30), rng.normal(0, 0.01, 30))
    wide, zoomed = (
        start_portfolio(FreshStart(number), X, y, 1, 0, 8).members[0].posterior.y
        for number in (1, 2)
    )
    crowd = slice(8, None)
    assert np.ptp(wide[crowd]) < 0.1 * np.ptp(zoomed[crowd])
