"""Spaces of a study: typed parameters, or a plain box with names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np

from boring.exceptions import InvalidInputError
from boring.space import Box
from boring.typing import FloatArray
from boring.validation import as_real

__all__ = ["BoxSpace", "space_from_dict", "space_of"]


class BoxSpace:
    """Named real parameters within bounds: the interface of a parameter space, for boxes.

    Parameters
    ----------
    bounds : mapping of str to (low, high)
    """

    def __init__(self, bounds: Mapping[str, tuple[float, float]]) -> None:
        self._bounds = {
            str(name): (float(low), float(high)) for name, (low, high) in bounds.items()
        }
        self._box = Box.from_bounds(list(self._bounds.values()))
        self.names = tuple(self._bounds)
        self.dim = len(self.names)
        self.box = Box(-np.ones(self.dim), np.ones(self.dim))
        self.domain = None
        self.units = dict.fromkeys(self.names, "")
        self.columns = [(name, name) for name in self.names]

    def check(self, configuration: Mapping[str, Any]) -> dict[str, float]:
        """Return the values in order; raise InvalidInputError if they are not of this space."""
        missing = [name for name in self.names if name not in configuration]
        unknown = [str(name) for name in configuration if name not in self._bounds]
        if missing or unknown:
            raise InvalidInputError(
                f"A configuration must hold the parameters {', '.join(self.names)}; "
                f"missing: {', '.join(missing) or 'none'}, unknown: {', '.join(unknown) or 'none'}."
            )
        values = {name: as_real(configuration[name], name) for name in self.names}
        for name, value in values.items():
            low, high = self._bounds[name]
            if not low <= value <= high:
                raise InvalidInputError(
                    f"{name} must lie between {low:g} and {high:g}; received {value!r}."
                )
        return values

    def encode(self, configurations: Any) -> FloatArray:
        """Return points (n, D), scaled units, of one configuration or several."""
        rows = [configurations] if isinstance(configurations, Mapping) else list(configurations)
        raw = np.array([list(self.check(row).values()) for row in rows]).reshape(-1, self.dim)
        return self._box.scale(raw)

    def decode(self, U: FloatArray) -> list[dict[str, Any]]:
        """Return the configurations of points (n, D), scaled units."""
        raw = self._box.unscale(np.atleast_2d(U))
        return [dict(zip(self.names, row.tolist(), strict=True)) for row in raw]

    def importance_by_parameter(self, importance: FloatArray) -> dict[str, float]:
        """Return the importance of each parameter."""
        return dict(zip(self.names, np.asarray(importance).tolist(), strict=True))

    def to_dict(self) -> dict[str, Any]:
        """Return the space as JSON-able values."""
        return {"box": {name: list(pair) for name, pair in self._bounds.items()}}


def space_of(space: Any) -> Any:
    """Return a parameter space of anything that describes one."""
    if isinstance(space, BoxSpace):
        return space
    if find_spec("boring.parameters") is not None:
        from boring.parameters import ParameterSpace

        return ParameterSpace.of(space)
    if isinstance(space, Mapping) and all(_is_pair(value) for value in space.values()):
        return BoxSpace(space)
    raise InvalidInputError(
        "A space must be a dictionary of name -> (low, high); received "
        f"{type(space).__name__} {str(space)[:80]!r}."
    )


def space_from_dict(values: Mapping[str, Any]) -> Any:
    """Return the parameter space that a journal holds."""
    if set(values) == {"box"}:
        return BoxSpace({name: (low, high) for name, (low, high) in values["box"].items()})
    from boring.parameters import ParameterSpace

    return ParameterSpace.from_dict(values)


def _is_pair(value: Any) -> bool:
    return (
        isinstance(value, Sequence)
        and len(value) == 2
        and all(isinstance(end, (int, float)) for end in value)
    )
