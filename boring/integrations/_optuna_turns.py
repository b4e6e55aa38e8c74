"""Turns: of several workers on one study, one at a time decides where to evaluate.

A proposal depends on what is pending; two that were made at once would be the same. The workers
share nothing but the storage, so that they queue in it, by Lamport's bakery algorithm ("A new
solution of Dijkstra's concurrent programming problem", 1974): a worker says that it is choosing,
takes a number above all that it sees, and waits for those with lower numbers, and for those that
are choosing. The number also orders the asks.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from boring.integrations._optuna_record import HEADER, set_attribute

__all__ = ["take_turn"]

TURN = "boring:turn"
CHOOSING = 0

PATIENCE = 120.0
CHOOSING_PATIENCE = 5.0
"""Seconds to wait for a worker that is deciding, and for one that is choosing its number, before
it is taken for dead (chosen here: a decision takes seconds, a choice milliseconds)."""

FIRST_DELAY = 0.01
LONGEST_DELAY = 0.3
"""Seconds between two looks at the storage; the delay doubles."""


def take_turn(study: Any, trial: Any) -> tuple[int, list[Any]]:
    """Wait until it is a trial's turn to decide; return its number, from 1, and the other trials.

    The turn ends when the trial's header is stored, or the trial ends. A worker that died in its
    turn is waited for once, as whoever asks later has waited for it already.
    """
    set_attribute(study, trial, TURN, CHOOSING)
    trials = study.get_trials(deepcopy=False)
    turn = 1 + max((other.system_attrs.get(TURN, 0) for other in trials), default=0)
    set_attribute(study, trial, TURN, turn)
    start, delay = time.monotonic(), FIRST_DELAY
    while True:
        trials = study.get_trials(deepcopy=False)
        ahead = turns_ahead(trials, turn, trial.number)
        seconds = time.monotonic() - start
        if not any(seconds < (PATIENCE if t else CHOOSING_PATIENCE) for t in ahead):
            return turn, [other for other in trials if other.number != trial.number]
        time.sleep(delay)
        delay = min(2.0 * delay, LONGEST_DELAY)


def turns_ahead(trials: Sequence[Any], turn: int, number: int) -> list[int]:
    """Return the turns of the running trials that come before this one."""
    running = [t for t in trials if t.state.name == "RUNNING" and t.number != number]
    waiting = [t for t in running if TURN in t.system_attrs and HEADER not in t.system_attrs]
    last = max((_place(t) for t in trials if HEADER in t.system_attrs), default=(0, -1))
    return [
        place[0]
        for place in map(_place, waiting)
        if place[0] == CHOOSING or last < place < (turn, number)
    ]


def _place(trial: Any) -> tuple[int, int]:
    return trial.system_attrs.get(TURN, CHOOSING), trial.number
