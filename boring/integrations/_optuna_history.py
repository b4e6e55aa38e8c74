"""The history of a run from the trials of a study."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from boring.exceptions import InvalidInputError
from boring.history import Ask, History, Tell, frozen_point
from boring.integrations._optuna_record import StoredAsk, read_ask
from boring.parameters import ParameterSpace
from boring.typing import FloatArray

__all__ = ["history_of", "trial_constraints"]

SAME_POINT = 1e-9
"""Scaled units within which a trial's parameters are those that were asked."""

CONSTRAINTS = "constraints"
"""Key of Optuna's constraint values: a list, or one key with ``:name`` for each."""


@dataclass(frozen=True)
class Outcome:
    """What came of a trial: its point, and its value or the reason why there is none."""

    trial: Any
    x: FloatArray
    is_asked: bool
    y: float
    error: str | None


def trial_constraints(trial: Any) -> dict[str, float]:
    """Return the constraint values of a trial by name; by number if they came as a list."""
    values = trial.system_attrs.get(CONSTRAINTS) or ()
    found = {str(index): float(value) for index, value in enumerate(values)}
    prefix = f"{CONSTRAINTS}:"
    for key, value in trial.system_attrs.items():
        if key.startswith(prefix):
            found[key.removeprefix(prefix)] = float(value)
    return found


def history_of(
    trials: Sequence[Any], space: ParameterSpace, run: str, pruned: str
) -> tuple[History, int]:
    """Return what was asked and told, and the number of constraints.

    Parameters
    ----------
    trials : sequence of optuna.trial.FrozenTrial
        All but the one that is to be proposed.
    space : ParameterSpace
    run : str
        Of the asks to continue.
    pruned : {"last", "failed"}
        What a pruned trial counts as.

    Notes
    -----
    Asks are ordered by their turn, outcomes by the time at which their trials ended, and an ask
    follows the outcomes that were known to it. An ask whose trial went another way, such as by
    values of `enqueue_trial`, is withdrawn; the trial counts as told.
    """
    stored = {trial.number: read_ask(trial, run) for trial in trials}
    asks = {number: ask for number, ask in stored.items() if ask is not None}
    points = _points(trials, space)
    given = {
        trial.number: points[trial.number]
        for trial in trials
        if trial.state.name == "RUNNING" and trial.number not in asks and trial.number in points
    }
    outcomes = _outcomes(trials, points, set(space.names), asks, pruned)
    names = sorted({name for outcome in outcomes for name in trial_constraints(outcome.trial)})
    numbers = _numbered(asks, given)
    history = _assembled(space.dim, asks, given, numbers, outcomes, names)
    running = {
        numbers[t.number] for t in trials if t.state.name == "RUNNING" and t.number in numbers
    }
    for number in sorted(set(history.pending) - running):
        history = history.with_withdrawal(number)
    return history, len(names)


def _numbered(asks: Mapping[int, StoredAsk], given: Mapping[int, FloatArray]) -> dict[int, int]:
    """Return the numbers of the asks in their order, by the number of their trials."""
    order = sorted(asks, key=lambda number: (asks[number].turn, number))
    return {number: index for index, number in enumerate([*order, *sorted(given)])}


def _assembled(
    dim: int,
    asks: Mapping[int, StoredAsk],
    given: Mapping[int, FloatArray],
    numbers: Mapping[int, int],
    outcomes: Sequence[Outcome],
    names: Sequence[str],
) -> History:
    tells = [_tell(index, outcome, numbers, names) for index, outcome in enumerate(outcomes)]
    remembering = [number for number in numbers if number in asks and asks[number].memory]
    history = History(dim)
    for number, index in numbers.items():
        if number in asks:
            history = history.with_tells(_known_to(asks[number], index, tells, history.n_told))
            with_memory = bool(remembering) and number == remembering[-1]
            history = history.with_ask(asks[number].as_ask(index, with_memory=with_memory))
        else:
            x = frozen_point(given[number])
            history = history.with_ask(Ask(index, x, "given", {}, None, 0.0))
    return history.with_tells(tells[history.n_told :])


def _known_to(ask: StoredAsk, index: int, tells: Sequence[Tell], n_told: int) -> Sequence[Tell]:
    """Return the tells that come before an ask and were not placed yet."""
    end = n_told
    while end < min(ask.n_told, len(tells)):
        answered = tells[end].ask
        if answered is not None and answered >= index:
            break
        end += 1
    return tells[n_told:end]


def _tell(index: int, outcome: Outcome, numbers: Mapping[int, int], names: Sequence[str]) -> Tell:
    more: dict[str, Any] = {}
    if names:
        values = trial_constraints(outcome.trial)
        more["constraints"] = tuple(values.get(name, math.nan) for name in names)
    return Tell(
        index=index,
        x=frozen_point(outcome.x),
        y=outcome.y,
        ask=numbers[outcome.trial.number] if outcome.is_asked else None,
        error=outcome.error,
        **more,
    )


def _outcomes(
    trials: Sequence[Any],
    points: Mapping[int, FloatArray],
    names: set[str],
    asks: Mapping[int, StoredAsk],
    pruned: str,
) -> list[Outcome]:
    retried = {n for trial in trials for n in trial.system_attrs.get("retry_history", ())}
    finished = [t for t in trials if t.state.is_finished() and t.number not in retried]
    found = []
    for trial in sorted(finished, key=lambda t: (t.datetime_complete, t.number)):
        ask, x = asks.get(trial.number), points.get(trial.number)
        if x is None and ask is not None and not trial.params.keys() >= names:
            x = ask.x  # it ended before all parameters were suggested
        if x is not None:
            is_asked = ask is not None and bool(np.all(np.abs(x - ask.x) <= SAME_POINT))
            y, error = _value(trial, pruned)
            at = ask.x if is_asked and ask is not None else x
            found.append(Outcome(trial, at, is_asked, y, error))
    return found


def _value(trial: Any, pruned: str) -> tuple[float, str | None]:
    state = trial.state.name
    if state == "COMPLETE":
        return float(trial.value), None
    if state == "PRUNED" and pruned == "last" and trial.intermediate_values:
        return float(trial.intermediate_values[max(trial.intermediate_values)]), None
    return math.nan, f"trial {trial.number}: {state}"


def _points(trials: Sequence[Any], space: ParameterSpace) -> dict[int, FloatArray]:
    """Return the points of the trials that have one, by their numbers.

    A running trial may have values of `enqueue_trial` that it has not come to yet.
    """
    configurations = {}
    for trial in trials:
        is_finished = trial.state.is_finished()
        fixed = {} if is_finished else trial.system_attrs.get("fixed_params", {})
        values = {**fixed, **trial.params}
        if values.keys() >= set(space.names):
            configurations[trial.number] = {name: values[name] for name in space.names}
    try:  # all at once, which is much quicker
        return dict(zip(configurations, space.encode([*configurations.values()]), strict=True))
    except InvalidInputError:
        pairs = ((number, _point(space, c)) for number, c in configurations.items())
        return {number: x for number, x in pairs if x is not None}


def _point(space: ParameterSpace, configuration: Mapping[str, Any]) -> FloatArray | None:
    """Return the point of a configuration, None if it is not in the space."""
    try:
        point: FloatArray = space.encode(configuration)[0]
    except InvalidInputError:
        return None
    return point
