"""Spaces from whatever already describes one.

`space_of` takes a `ParameterSpace`; a list of parameters; the JSON form (see
`boring.parameters.files`); a ``ConfigSpace.ConfigurationSpace``; or a dict of name to

- ``(low, high)``: a `Real` between them, integers included, as everywhere in this library;
- a list: the choices of a `Categorical`;
- a parameter, whose own name must agree;
- the JSON form of a parameter;
- an Optuna distribution, or ``uniform``, ``loguniform`` or ``randint`` of scipy.stats;
- a ConfigSpace hyperparameter.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from boring._brief import in_brief
from boring.exceptions import InvalidInputError
from boring.parameters.base import Parameter, is_number, plain
from boring.parameters.choices import Categorical
from boring.parameters.exchange import (
    from_configspace,
    from_distribution,
    from_hyperparameter,
)
from boring.parameters.files import parameter_from_dict, space_from_dict
from boring.parameters.real import Real
from boring.parameters.space import ParameterSpace
from boring.parameters.whole import Integer

__all__ = ["space_of"]


def space_of(given: Any, constraints: Sequence[Any] = ()) -> ParameterSpace:
    """Return a space from any of the forms above, with further constraints.

    Raises
    ------
    InvalidInputError
        If it is of none of these forms, or something in it is wrong.
    """
    if _is_of(given, "ConfigSpace", "ConfigurationSpace"):
        space = from_configspace(given)
    elif isinstance(given, ParameterSpace):
        space = given
    elif isinstance(given, Mapping):
        space = _from_mapping(given)
    elif isinstance(given, Sequence) and not isinstance(given, str):
        space = ParameterSpace(given)
    else:
        raise InvalidInputError(
            "A space must be a list of parameters, a dict of name to (low, high), choices, "
            "parameter or Optuna distribution, or a ConfigSpace.ConfigurationSpace; received "
            f"{type(given).__name__}."
        )
    if not constraints:
        return space
    if isinstance(constraints, str) or callable(constraints):
        constraints = [constraints]
    return ParameterSpace(list(space.parameters.values()), [*space.constraints, *constraints])


def _from_mapping(given: Mapping[str, Any]) -> ParameterSpace:
    inner = given.get("parameters")
    if isinstance(inner, Mapping) and not isinstance(inner.get("type"), str):
        return space_from_dict(given)
    return ParameterSpace([_parameter(name, form) for name, form in given.items()])


def _parameter(name: str, form: Any) -> Parameter:
    if isinstance(form, Parameter):
        if form.name != name:
            raise InvalidInputError(
                f"The parameter under {name!r} calls itself {form.name!r}. Use one of the names."
            )
        return form
    if isinstance(form, Mapping):
        return parameter_from_dict(name, form)
    if _is_of(form, "optuna", "BaseDistribution"):
        return from_distribution(name, form)
    if _is_of(form, "ConfigSpace", "Hyperparameter"):
        return replace(from_hyperparameter(form), name=name)
    if _is_of(form, "scipy", "rv_frozen"):
        return _from_scipy(name, form)
    if isinstance(form, tuple) and len(form) == 2 and all(is_number(plain(end)) for end in form):
        return Real(name, *form)
    if isinstance(form, list):
        return Categorical(name, tuple(form))
    several = isinstance(form, Iterable) and not isinstance(form, str | bytes)
    raise InvalidInputError(
        f"Parameter {name!r} must be (low, high), a list of choices, a parameter, an object with "
        f"a 'type', or a distribution of Optuna or scipy.stats; received {type(form).__name__} "
        f"{in_brief(form)}. "
        + (
            "Choices stand in a list: [...] or list(...)."
            if several
            else f"Use Fixed({name!r}, value), in JSON {{'type': 'fixed', 'value': ...}}, for a "
            "value that does not vary."
        )
    )


def _from_scipy(name: str, form: Any) -> Parameter:
    """Return the parameter of a distribution of scipy.stats, such as RandomizedSearchCV takes."""
    kind = form.dist.name
    low, high = form.support()
    if kind == "randint":
        return Integer(name, int(low), int(high))
    if kind in ("uniform", "loguniform", "reciprocal"):
        return Real(name, float(low), float(high), log=kind != "uniform")
    raise InvalidInputError(
        f"Parameter {name!r}: of scipy.stats, uniform, loguniform and randint are ranges; received "
        f"{kind}. Write Real({name!r}, low, high)."
    )


def _is_of(given: Any, package: str, name: str) -> bool:
    """Say whether something is an instance of a class of a package that may not be installed."""
    return any(
        base.__name__ == name and base.__module__.split(".")[0] == package
        for base in type(given).__mro__
    )
