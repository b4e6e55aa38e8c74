"""Section 5.2: the five settings in which the thesis compares optimisers."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping

from boring.exceptions import InvalidInputError

from ..config import DEFAULT_METHODS, Experiment, get_experiment

__all__ = ["RELATED", "SETTINGS", "THESIS_METHODS", "quick_setting", "setting_experiments"]

SETTINGS: Mapping[int, str] = {
    1: "camelback-2-in-3",
    2: "camelback-2-in-10",
    3: "rosenbrock-5-in-25",
    4: "exact-structure-2-in-5",
    5: "accelerator-5",
}
"""Experiment of each setting, by the thesis's number; it does not name functions, so that these are
choices made here."""

TOLD_DIM = 2
"""d that REMBO and the thesis preset are told on the accelerator, where there is no true one: the
author's code fixes it to 2."""

THESIS_METHODS = DEFAULT_METHODS

RELATED = (
    "active-embedding",
    "si-bo",
    "tripathy",
    "partition-sampling",
    "overlapping-groups",
    "elastic-gp",
    "dropout",
    "additive-stiefel",
)
"""The other methods that chapters 2 and 4 of the thesis describe, in its order."""

QUICK_BUDGET = 16
"""Evaluations of a run of the quick version: the commands work, the figures mean nothing."""

ACCELERATOR_NOTE = (
    "SwissFEL's data were never published. A synthetic beam line of five knobs with noise stands "
    f"in for them; it has no exact subspace, and REMBO and boring-thesis are told d = {TOLD_DIM}."
)


def setting_experiments(numbers: Iterable[int] = tuple(SETTINGS)) -> tuple[Experiment, ...]:
    """Return the experiments of some settings, in their order.

    Raises
    ------
    InvalidInputError
        If there is no setting of such a number.
    """
    wanted = set(numbers)
    if not wanted or not wanted <= set(SETTINGS):
        raise InvalidInputError(
            f"settings are numbered {', '.join(map(str, SETTINGS))}; received "
            f"{', '.join(map(str, sorted(wanted))) or 'none'}."
        )
    return tuple(_setting(name) for number, name in SETTINGS.items() if number in wanted)


def _setting(name: str) -> Experiment:
    experiment = get_experiment(name)
    if name != SETTINGS[5]:
        return experiment
    options = {method: dict(given) for method, given in experiment.options.items()}
    for method in ("rembo", "boring-thesis"):
        options[method] = {**options.get(method, {}), "effective_dim": TOLD_DIM}
    return dataclasses.replace(experiment, options=options, description=ACCELERATOR_NOTE)


def quick_setting(experiment: Experiment) -> Experiment:
    """Return an experiment with the budget of the quick version."""
    return experiment.with_budget(QUICK_BUDGET)
