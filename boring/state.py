"""What an optimiser is, as one line of JSON from which it goes on."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ._json import canonical, dumps, loads
from ._whole_file import whole_file
from .exceptions import InvalidInputError
from .history import History, check_constraints
from .space import Box
from .typing import Direction

__all__ = ["OptimizerState", "stated_outcomes"]

STATE_FORMAT = "boring-state"
STATE_SCHEMA = 1
STATE_SCHEMA_OF_OUTCOMES = 2
"""Written where there are constraints or a known noise; both are read."""


def stated_outcomes(n_constraints: int, noise_std: float | None) -> dict[str, Any]:
    """Return what a state or a journal says of constraints and noise; nothing by default."""
    stated: dict[str, Any] = {}
    if n_constraints:
        stated["n_constraints"] = n_constraints
    if noise_std is not None:
        stated["noise_std"] = noise_std
    return stated


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
    n_constraints : int, default 0
    noise_std : float or None
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
    n_constraints: int = 0
    noise_std: float | None = None

    def __repr__(self) -> str:
        """Return a line; `to_json` has everything."""
        return (
            f"<OptimizerState: {self.optimizer!r}, {self.direction} over {self.space.dim} inputs, "
            f"{self.history.n_told} told, {len(self.history.pending)} pending>"
        )

    def outcomes(self) -> dict[str, Any]:
        """Return the arguments of the optimiser on constraints and noise; none by default."""
        return stated_outcomes(self.n_constraints, self.noise_std)

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
            schemas = (STATE_SCHEMA, STATE_SCHEMA_OF_OUTCOMES)
            if values["format"] != STATE_FORMAT or values["schema"] not in schemas:
                raise InvalidInputError(
                    f"A state must have format {STATE_FORMAT!r} and schema {STATE_SCHEMA} or "
                    f"{STATE_SCHEMA_OF_OUTCOMES}; "
                    f"received {values['format']!r} and {values['schema']!r}. {remedy}"
                )
            for name in ("space", "options"):
                if not isinstance(values[name], dict):
                    raise TypeError(f"{name} is no dictionary but {str(values[name])[:60]!r}")
            space = Box(**values["space"])
            history = History.from_events(space.dim, values["events"])
            if not all(space.contains(event.x) for event in history.events):
                raise ValueError("a point lies outside the box")
            n_constraints = int(values.get("n_constraints", 0))
            for event in history.events:
                check_constraints(event, n_constraints)
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
                n_constraints=n_constraints,
                noise_std=values.get("noise_std"),
            )
        except (KeyError, TypeError, ValueError) as error:
            if isinstance(error, InvalidInputError):
                raise
            reason = f"the field {error} is missing" if isinstance(error, KeyError) else error
            raise InvalidInputError(
                f"The text is not an optimiser state: {reason}. {remedy}"
            ) from error

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state to a file, replacing it in one step; its folder is made.

        Parameters
        ----------
        path : path-like

        Raises
        ------
        JournalError
            If the file is a journal.
        """
        with whole_file(path) as file:
            file.write(self.to_json() + "\n")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> OptimizerState:
        """Read a state from a file that :meth:`save` wrote.

        Parameters
        ----------
        path : path-like

        Returns
        -------
        OptimizerState

        Raises
        ------
        InvalidInputError
            If the file cannot be read, or is no state.
        """
        try:
            text = Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidInputError(
                f"The state {path} cannot be read: {error}. Check the path."
            ) from error
        return cls.from_json(text)

    def __eq__(self, other: object) -> bool:
        """Compare everything but the times, bit for bit."""
        if not isinstance(other, OptimizerState):
            return NotImplemented
        return dumps(self._to_dict(with_seconds=False)) == dumps(other._to_dict(with_seconds=False))

    def __hash__(self) -> int:
        """Hash of the configuration."""
        return hash((self.optimizer, self.space, self.direction, self.entropy))

    def _to_dict(self, *, with_seconds: bool) -> dict[str, Any]:
        outcomes = self.outcomes()
        return {
            "format": STATE_FORMAT,
            "schema": STATE_SCHEMA_OF_OUTCOMES if outcomes else STATE_SCHEMA,
            **outcomes,
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
