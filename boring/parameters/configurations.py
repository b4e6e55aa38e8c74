"""Whether a configuration is one of a space: its names, what is active in it, its values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from boring._brief import in_brief
from boring.exceptions import InvalidInputError, OutsideSpaceError, UnknownNameError
from boring.parameters.base import Configuration, is_missing, plain
from boring.parameters.encoding import Encoding
from boring.parameters.margins import INACTIVE
from boring.validation import suggest

__all__ = ["active_names", "checked_configuration"]


def checked_configuration(configuration: Mapping[str, Any], encoding: Encoding) -> Configuration:
    """Return a configuration as its space holds it, or say what is wrong with it.

    Parameters
    ----------
    configuration : mapping of name to value
    encoding : Encoding
        Of the space.

    Raises
    ------
    UnknownNameError
        If a name is not known; the message suggests the nearest.
    InvalidInputError
        If a parameter is missing, inactive but given, or has a wrong value.
    """
    if not isinstance(configuration, Mapping):
        raise InvalidInputError(
            f"A configuration must be a dict of name to value; received {in_brief(configuration)}."
        )
    parameters = encoding.parameters
    for name in configuration:
        if name not in parameters:
            raise UnknownNameError(
                f"There is no parameter {name!r}. {suggest(str(name), parameters)}"
            )
    checked: Configuration = {}
    active = _active(configuration, encoding, checked)
    for name in parameters:
        if name in active:
            _take(name, configuration, encoding, checked)
        elif name in configuration and not _is_nothing(configuration[name]):
            raise OutsideSpaceError(
                f"Parameter {name!r} is inactive here: it needs "
                f"{parameters[name].when!r}. Leave it out."
            )
    return {name: checked[name] for name in parameters if name in checked}


def active_names(configuration: Mapping[str, Any], encoding: Encoding) -> set[str]:
    """Return the names of the parameters that a configuration must have a value of.

    Parameters
    ----------
    configuration : mapping of name to value
        With a value of every parameter on which conditions depend.
    encoding : Encoding
        Of the space.
    """
    return _active(configuration, encoding, {})


def _active(
    configuration: Mapping[str, Any], encoding: Encoding, checked: Configuration
) -> set[str]:
    """Return the active names; the values that decide it are checked on the way."""
    active = {name for name in encoding.parameters if name not in encoding.conditions}
    for name in encoding.conditional:
        condition = encoding.conditions[name]
        columns = {}
        for parent in condition.names:
            if parent in active:
                _take(parent, configuration, encoding, checked)
            columns[parent] = encoding.column_of(parent, checked.get(parent, INACTIVE))
        if condition.margin(columns)[0] <= 0.0:
            active.add(name)
    return active


def _take(
    name: str, configuration: Mapping[str, Any], encoding: Encoding, checked: Configuration
) -> None:
    """Put the value of an active parameter among the checked ones, once."""
    if name in checked:
        return
    parameter = encoding.parameters[name]
    if name in configuration:
        checked[name] = parameter.check(configuration[name])
    elif parameter.n_columns == 0:
        checked[name] = parameter.decode(np.empty((1, 0)))[0]
    else:
        raise InvalidInputError(
            f"Parameter {name!r} is missing. Give each parameter a value, but for those whose "
            "condition does not hold."
        )


def _is_nothing(value: Any) -> bool:
    return value is None or is_missing(plain(value))
