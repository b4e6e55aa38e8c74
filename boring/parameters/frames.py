"""Configurations as pandas data frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from boring._brief import in_brief
from boring.exceptions import InvalidInputError
from boring.extras import require
from boring.parameters.base import is_missing, plain
from boring.parameters.real import Real
from boring.parameters.whole import Integer

if TYPE_CHECKING:
    import pandas

    from boring.parameters.space import ParameterSpace

__all__ = ["from_frame", "to_frame"]


def to_frame(
    configurations: Sequence[Mapping[str, Any]], space: ParameterSpace
) -> pandas.DataFrame:
    """Return a data frame with a column for each parameter; NaN where it is inactive.

    Reals and integers have pandas' types for them (integers ``Int64`` where some are inactive),
    all else is ``object``, so that None, true and integers beyond 64 bits stay what they are.
    """
    pandas = require("pandas", "study", "A data frame")
    missing = float("nan")
    frame = {}
    for name, parameter in space.parameters.items():
        values = [configuration.get(name, missing) for configuration in configurations]
        gaps = any(name not in configuration for configuration in configurations)
        dtype: Any = object
        if isinstance(parameter, Real):
            dtype = "float64"
        elif isinstance(parameter, Integer) and -(2**63) <= parameter.low < parameter.high < 2**63:
            dtype = "Int64" if gaps else "int64"
            values = [pandas.NA if is_missing(value) else value for value in values]
        frame[name] = pandas.Series(values, dtype=dtype)
    return pandas.DataFrame(frame)


def from_frame(frame: pandas.DataFrame) -> list[dict[str, Any]]:
    """Return the rows as dicts; cells that are NaN in a row of which others are not are kept.

    Whether a NaN stands for an inactive parameter is for `ParameterSpace.check` to say.
    """
    names = list(frame.columns)
    if len(set(names)) != len(names):
        raise InvalidInputError(
            f"The columns of a data frame must differ; received {in_brief(names)}. Rename one of "
            "the two."
        )
    series = [frame[name].tolist() for name in names]
    return [
        {name: plain(value) for name, value in zip(names, row, strict=True)}
        for row in zip(*series, strict=True)
    ]
