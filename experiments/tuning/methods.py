"""The tuners, each in the form in which it is used.

All begin with the same configurations: the Sobol points that a `Study` of the same seed asks first.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from boring.exceptions import InvalidInputError, UnknownNameError
from boring.parameters import Categorical, Integer, ParameterSpace, Real
from boring.parameters.margins import INACTIVE
from boring.study import Study
from boring.validation import suggest

from ..single_run import register_methods
from ..variants import Variant, as_variant
from .objective import TuningObjective

__all__ = ["METHODS", "Evaluated", "first_design", "is_active", "tuner_of"]

Configuration = dict[str, Any]


@dataclass
class Evaluated:
    """What a tuner has tried; it grows while the tuner runs, and survives a failure.

    Parameters
    ----------
    loss : TuningObjective
        From a configuration to its loss; NaN is a failure.
    configurations, values, phases : list
        In the order of evaluation; a phase is where the tuner says the point came from.
    """

    loss: TuningObjective
    configurations: list[Configuration] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    phases: list[str] = field(default_factory=list)

    def __call__(self, configuration: Configuration, phase: str = "") -> float:
        """Evaluate a configuration and note it."""
        value = self.loss(configuration)
        self.configurations.append(configuration)
        self.values.append(value)
        self.phases.append(phase)
        return value


Tuner = Callable[[Evaluated, ParameterSpace, int, int, int, Mapping[str, Any]], None]
"""Takes what to fill, the space, the seed, the budget, the length of the design, and options."""


def first_design(space: ParameterSpace, seed: int, n: int) -> list[Configuration]:
    """Return the first configurations of every tuner."""
    register_methods()
    study = Study(space, direction="minimize", optimizer="sobol", seed=seed, n_initial=n)
    return [suggestion.parameters for suggestion in study.ask(n)]


def _by_study(optimizer: str) -> Tuner:
    def tune(
        tried: Evaluated,
        space: ParameterSpace,
        seed: int,
        budget: int,
        n_initial: int,
        options: Mapping[str, Any],
    ) -> None:
        study = Study(
            space,
            direction="minimize",
            optimizer=optimizer,
            seed=seed,
            n_initial=n_initial,
            **options,
        )
        for _ in range(budget):
            suggestion = study.ask()[0]
            phase = study.optimizer.history.asks[-1].phase
            value = tried(suggestion.parameters, phase)
            if np.isfinite(value):
                study.tell(suggestion.number, value)
            else:
                study.tell_failed(suggestion.number)

    return tune


def _by_optuna(make: Callable[..., Any], *, asks_for_all: bool = False) -> Tuner:
    """Return a tuner that asks parameter by parameter; inactive ones are not asked for.

    ``asks_for_all`` gives the sampler the whole space at once; it then suggests values for inactive
    parameters, too, and they are ignored.
    """

    def tune(
        tried: Evaluated,
        space: ParameterSpace,
        seed: int,
        budget: int,
        n_initial: int,
        options: Mapping[str, Any],
    ) -> None:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        distributions = {name: _distribution(p) for name, p in space.parameters.items()}
        more = {"search_space": distributions} if asks_for_all else {}
        sampler = make(seed=seed, n_initial=n_initial, **more, **options)
        study = optuna.create_study(direction="minimize", sampler=sampler)
        for configuration in first_design(space, seed, n_initial):
            study.enqueue_trial(configuration)
        for _ in range(budget):
            trial = study.ask()
            suggested: Configuration = {}
            for name, distribution in distributions.items():
                if asks_for_all or is_active(space, name, suggested):
                    suggested[name] = _suggested(trial, name, distribution)
            value = tried(_active_part(space, suggested) if asks_for_all else suggested)
            if np.isfinite(value):
                study.tell(trial, value)
            else:
                study.tell(trial, state=optuna.trial.TrialState.FAIL)

    return tune


def _tpe(seed: int, n_initial: int, **options: Any) -> Any:
    import optuna

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        return optuna.samplers.TPESampler(seed=seed, n_startup_trials=n_initial, **options)


def _boring_sampler(seed: int, n_initial: int, **options: Any) -> Any:
    from boring.integrations.optuna_sampler import BoringSampler

    return BoringSampler(seed=seed, n_initial=n_initial, **options)


def _search_cv(
    tried: Evaluated,
    space: ParameterSpace,
    seed: int,
    budget: int,
    n_initial: int,
    options: Mapping[str, Any],
) -> None:
    """Let scikit-learn evaluate; losses are not taken from the cache."""
    from .search_cv import search

    found = search(tried.loss, space, seed, budget, n_initial, options)
    tried.configurations, tried.values = found


METHODS: Mapping[str, Tuner] = {
    "boring": _by_study("boring"),
    "random": _by_study("random"),
    "tpe": _by_optuna(_tpe),
    "boring-search-cv": _search_cv,
    "boring-sampler": _by_optuna(_boring_sampler, asks_for_all=True),
}
"""By their names; options come in brackets, such as ``tpe[multivariate=True,group=True]``."""


def tuner_of(name: str) -> tuple[Tuner, Variant]:
    """Return a tuner, and its options.

    Parameters
    ----------
    name : str
        Of `METHODS`, perhaps with options in brackets.

    Raises
    ------
    UnknownNameError
    """
    variant = as_variant(name)
    if variant.method not in METHODS:
        raise UnknownNameError(
            f"There is no tuner {variant.method!r}. {suggest(variant.method, METHODS)}"
        )
    return METHODS[variant.method], variant


def is_active(space: ParameterSpace, name: str, configuration: Mapping[str, Any]) -> bool:
    """Tell whether a parameter is active, given the values of those before it."""
    encoding = space._encoding
    if name not in encoding.conditions:
        return True
    condition = encoding.conditions[name]
    columns = {
        parent: encoding.column_of(parent, configuration.get(parent, INACTIVE))
        for parent in condition.names
    }
    return bool(condition.margin(columns)[0] <= 0.0)


def _active_part(space: ParameterSpace, values: Configuration) -> Configuration:
    active: Configuration = {}
    for name, value in values.items():
        if is_active(space, name, active):
            active[name] = value
    return active


def _suggested(trial: Any, name: str, distribution: Any) -> Any:
    """Ask for one value by its distribution."""
    if hasattr(distribution, "choices"):
        return trial.suggest_categorical(name, distribution.choices)
    suggest_number = trial.suggest_int if isinstance(distribution.low, int) else trial.suggest_float
    return suggest_number(name, distribution.low, distribution.high, log=distribution.log)


def _distribution(parameter: Any) -> Any:
    from optuna import distributions as optuna

    if isinstance(parameter, Real):
        return optuna.FloatDistribution(
            float(parameter.low), float(parameter.high), log=parameter.log
        )
    if isinstance(parameter, Integer):
        return optuna.IntDistribution(parameter.low, parameter.high, log=parameter.log)
    if isinstance(parameter, Categorical):
        return optuna.CategoricalDistribution(list(parameter.choices))
    raise InvalidInputError(
        f"Optuna is given reals, integers and categories here; received {parameter!r}. Add its "
        "distribution in experiments/tuning/methods.py."
    )
