"""What a run leaves behind: records, states and results."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ._json import canonical, dumps, loads
from .exceptions import InvalidInputError
from .history import History
from .space import Box
from .typing import Direction, FloatArray

if TYPE_CHECKING:
    from .subspace.estimate import SubspaceEstimate

__all__ = ["InfoValue", "IterationRecord", "OptimizationResult", "OptimizerState"]

InfoValue: TypeAlias = float | int | str | bool | None
"""What an optimiser may say about a proposal."""

STATE_FORMAT = "boring-state"
STATE_SCHEMA = 1


@dataclass(frozen=True, eq=False)
class IterationRecord:
    """One evaluation.

    Parameters
    ----------
    index : int
        Position among the told points, from 0.
    phase : str
        Where the point came from: ``"initial"``, ``"space-filling"`` (fallback when there is
        nothing to model), ``"proposal"`` (or what the optimiser calls its phases), ``"told"``
        (unasked).
    x : ndarray, shape (D,), raw units
    y : float, caller's sign and units
    seconds : float
        Time the optimiser took to suggest the point; not part of equality.
    info : mapping of str to number, text or None
        What the optimiser said about the point; ``"error"`` holds the text of an exception that
        was recorded in place of a value.
    """

    index: int
    phase: str
    x: FloatArray
    y: float
    seconds: float
    info: Mapping[str, InfoValue] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the record as JSON-able values, time left out."""
        return {
            "index": self.index,
            "phase": self.phase,
            "x": self.x.tolist(),
            "y": float(self.y),
            "info": dict(self.info),
        }

    def __eq__(self, other: object) -> bool:
        """Compare everything but the time, bit for bit."""
        if not isinstance(other, IterationRecord):
            return NotImplemented
        return dumps(self.to_dict()) == dumps(other.to_dict())

    def __hash__(self) -> int:
        """Hash of position and point."""
        return hash((self.index, self.x.tobytes()))


@dataclass(frozen=True, eq=False)
class OptimizerState:
    """All that an optimiser is: its configuration, its entropy, and its history.

    Parameters
    ----------
    optimizer : str
        Name of the class.
    space : Box
    direction : {"minimize", "maximize"}
    entropy : int
    n_initial : int
    options : mapping of str to JSON-able value
    history : History
        What was asked and told, and what the algorithm remembers.
    has_domain : bool, default False
        Whether the run has a domain beside the box; the domain itself is not part of the state.
    repeats : bool, default False
        Whether points may be asked again.
    """

    optimizer: str
    space: Box
    direction: Direction
    entropy: int
    n_initial: int
    options: Mapping[str, Any]
    history: History
    has_domain: bool = False
    repeats: bool = False

    def to_json(self) -> str:
        """Return the state as one line of strict JSON, with its schema version."""
        return dumps(self._to_dict(with_seconds=True))

    @classmethod
    def from_json(cls, text: str) -> OptimizerState:
        """Read what :meth:`to_json` wrote.

        Parameters
        ----------
        text : str

        Returns
        -------
        OptimizerState

        Raises
        ------
        InvalidInputError
            If the text is not such a state, or of a schema that this version does not read.
        """
        remedy = "Pass text written by OptimizerState.to_json of the same version."
        try:
            values = loads(text)
            if not isinstance(values, dict):
                raise TypeError(f"it is no dictionary but {str(values)[:60]!r}")
            if values["format"] != STATE_FORMAT or values["schema"] != STATE_SCHEMA:
                raise InvalidInputError(
                    f"A state must have format {STATE_FORMAT!r} and schema {STATE_SCHEMA}; "
                    f"received {values['format']!r} and {values['schema']!r}. {remedy}"
                )
            for name in ("space", "options"):
                if not isinstance(values[name], dict):
                    raise TypeError(f"{name} is no dictionary but {str(values[name])[:60]!r}")
            space = Box(**values["space"])
            history = History.from_events(space.dim, values["events"])
            if not all(space.contains(event.x) for event in history.events):
                raise ValueError("a point lies outside the box")
            return cls(
                optimizer=str(values["optimizer"]),
                space=space,
                direction=values["direction"],
                entropy=int(values["entropy"]),
                n_initial=int(values["n_initial"]),
                options=values["options"],
                history=history,
                has_domain=values.get("domain", False) is True,
                repeats=values.get("repeats", False) is True,
            )
        except (KeyError, TypeError, ValueError) as error:
            if isinstance(error, InvalidInputError):
                raise
            reason = f"the field {error} is missing" if isinstance(error, KeyError) else error
            raise InvalidInputError(
                f"The text is not an optimiser state: {reason}. {remedy}"
            ) from error

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state to a file, replacing it in one step.

        Parameters
        ----------
        path : path-like
        """
        target = Path(path)
        partial = target.with_name(target.name + ".partial")
        with partial.open("w", encoding="utf-8") as file:
            file.write(self.to_json() + "\n")
            file.flush()
            os.fsync(file.fileno())
        partial.replace(target)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> OptimizerState:
        """Read a state from a file that :meth:`save` wrote.

        Parameters
        ----------
        path : path-like

        Returns
        -------
        OptimizerState
        """
        return cls.from_json(Path(path).read_text(encoding="utf-8"))

    def __eq__(self, other: object) -> bool:
        """Compare everything but the times, bit for bit."""
        if not isinstance(other, OptimizerState):
            return NotImplemented
        return dumps(self._to_dict(with_seconds=False)) == dumps(other._to_dict(with_seconds=False))

    def __hash__(self) -> int:
        """Hash of the configuration."""
        return hash((self.optimizer, self.space, self.direction, self.entropy))

    def _to_dict(self, *, with_seconds: bool) -> dict[str, Any]:
        return {
            "format": STATE_FORMAT,
            "schema": STATE_SCHEMA,
            "optimizer": self.optimizer,
            "space": self.space.to_dict(),
            "direction": self.direction,
            "entropy": str(self.entropy),
            "n_initial": self.n_initial,
            "options": canonical(self.options, "options"),
            "events": [event.to_dict(with_seconds=with_seconds) for event in self.history.events],
            **({"domain": True} if self.has_domain else {}),
            **({"repeats": True} if self.repeats else {}),
        }


@dataclass(frozen=True, eq=False)
class OptimizationResult:
    """The outcome of a run, in the caller's units and sign.

    Parameters
    ----------
    x_best : ndarray, shape (D,)
        Best point with a finite value; NaN everywhere if there is none.
    y_best : float
        Its value; NaN if there is none.
    X : ndarray, shape (n, D)
        Every evaluated point, in the order of evaluation.
    y : ndarray, shape (n,)
        Every value, non-finite ones included.
    direction : {"minimize", "maximize"}
    stop_reason : mapping of str to float
        Why the run ended, such as ``{"n_evaluations": 60.0}``.
    subspace : SubspaceEstimate or None
        What was learned about the active subspace, by optimisers that learn one.
    records : tuple of IterationRecord
    options : mapping
        Options with their defaults resolved.
    provenance : mapping of str to str
        Optimiser, seed entropy, versions.
    space : Box or None
        The box that was searched.
    """

    x_best: FloatArray
    y_best: float
    X: FloatArray
    y: FloatArray
    direction: Direction
    stop_reason: Mapping[str, float]
    subspace: SubspaceEstimate | None
    records: tuple[IterationRecord, ...]
    options: Mapping[str, object]
    provenance: Mapping[str, str]
    space: Box | None = None

    def __post_init__(self) -> None:
        """Freeze arrays and mappings."""
        for name in ("x_best", "X", "y"):
            array = np.array(getattr(self, name), dtype=np.float64)
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        for name in ("stop_reason", "options", "provenance"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def __reduce__(self) -> tuple[Any, ...]:
        """Rebuild from the fields, so that a result can be pickled and copied."""
        values = (getattr(self, item.name) for item in fields(self))
        plain = (dict(value) if isinstance(value, MappingProxyType) else value for value in values)
        return type(self), tuple(plain)

    @property
    def n_evaluations(self) -> int:
        """Number of evaluated points n."""
        return int(self.y.size)

    def best_so_far(self) -> FloatArray:
        """Return the best finite value after each evaluation.

        Returns
        -------
        ndarray, shape (n,), caller's sign and units
            NaN until the first finite value.
        """
        return best_so_far(self.y, self.direction)

    def __repr__(self) -> str:
        """Return a short summary."""
        return (
            f"OptimizationResult(y_best={self.y_best!r}, x_best={self.x_best.tolist()!r}, "
            f"n_evaluations={self.n_evaluations}, stop_reason={dict(self.stop_reason)!r})"
        )


def best_so_far(y: FloatArray, direction: Direction) -> FloatArray:
    """Return the running best of finite values, NaN until the first one.

    Parameters
    ----------
    y : ndarray, shape (n,), caller's sign
    direction : {"minimize", "maximize"}

    Returns
    -------
    ndarray, shape (n,)
    """
    values = np.where(np.isfinite(y), y, np.nan)
    accumulate = np.fmin.accumulate if direction == "minimize" else np.fmax.accumulate
    return np.asarray(accumulate(values), dtype=np.float64)


def best_index(y: FloatArray, direction: Direction) -> int | None:
    """Return the position of the first best finite value, None if there is none.

    Parameters
    ----------
    y : ndarray, shape (n,), caller's sign
    direction : {"minimize", "maximize"}

    Returns
    -------
    int or None
    """
    if not np.isfinite(y).any():
        return None
    worst = np.inf if direction == "minimize" else -np.inf
    values = np.where(np.isfinite(y), y, worst)
    return int(np.argmin(values) if direction == "minimize" else np.argmax(values))
