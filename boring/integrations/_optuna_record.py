"""What a trial remembers of its ask, in its system attributes.

Optuna's relational storage takes 2045 characters, so that what is longer is kept in pieces. The
header is written last: an ask is either whole or not there.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from boring._json import canonical, dumps, loads
from boring.history import Ask, frozen_point
from boring.typing import FloatArray

__all__ = ["HEADER", "StoredAsk", "read_ask", "set_attribute", "write_ask"]

HEADER = "boring:ask"
PIECE = "boring:{}:{}"
MAX_LENGTH = 2045
"""Longest attribute, as JSON, in Optuna's relational storage."""


@dataclass(frozen=True, eq=False)
class StoredAsk:
    """The ask of a trial.

    Parameters
    ----------
    turn : int
        Its place in the order of asks.
    n_told : int
        How many outcomes were known.
    x : ndarray, shape (D,), scaled units
        The point of the configuration that is evaluated.
    phase, info, seconds
        As in `boring.history.Ask`.
    memory : str or None
        JSON of what the algorithm remembers.
    """

    turn: int
    n_told: int
    x: FloatArray
    phase: str
    info: dict[str, Any]
    seconds: float
    memory: str | None

    def as_ask(self, number: int, *, with_memory: bool) -> Ask:
        """Return the event of a history."""
        memory = loads(self.memory) if with_memory and self.memory is not None else None
        return Ask(number, frozen_point(self.x), self.phase, self.info, memory, self.seconds)


def set_attribute(study: Any, trial: Any, key: str, value: Any) -> None:
    """Store one system attribute of a running trial."""
    study._storage.set_trial_system_attr(trial._trial_id, key, value)


def write_ask(study: Any, trial: Any, run: str, turn: int, n_told: int, ask: Ask) -> None:
    """Store an ask with its trial.

    Parameters
    ----------
    study : optuna.Study
    trial : optuna.trial.FrozenTrial
    run : str
        Identifies space, optimiser and options; asks of other runs are not continued.
    turn, n_told : int
        As in `StoredAsk`.
    ask : Ask
    """
    values = {"x": ask.x, "phase": ask.phase, "info": ask.info, "seconds": ask.seconds}
    header: dict[str, Any] = {
        "run": run,
        "turn": turn,
        "told": n_told,
        "ask": dumps(canonical(values, "ask")),
    }
    if ask.memory is not None:
        header["memory"] = dumps(dict(ask.memory))
    for part in ("memory", "ask"):
        if part in header and _length(header) > MAX_LENGTH:
            pieces = _pieces(header[part])
            for index, piece in enumerate(pieces):
                set_attribute(study, trial, PIECE.format(part, index), piece)
            header[part] = len(pieces)
    set_attribute(study, trial, HEADER, header)


def read_ask(trial: Any, run: str) -> StoredAsk | None:
    """Return the ask of a trial, None if it has none of this run."""
    header = trial.system_attrs.get(HEADER)
    if not header or header["run"] != run:
        return None
    values = loads(_text(trial, header, "ask"))
    return StoredAsk(
        turn=header["turn"],
        n_told=header["told"],
        x=np.array(values["x"], dtype=np.float64),
        phase=values["phase"],
        info=values["info"],
        seconds=values["seconds"],
        memory=_text(trial, header, "memory") if "memory" in header else None,
    )


def _text(trial: Any, header: dict[str, Any], part: str) -> str:
    """Return a part of an ask, which is in the header or in so many pieces."""
    stored = header[part]
    if isinstance(stored, str):
        return stored
    return "".join(trial.system_attrs[PIECE.format(part, index)] for index in range(stored))


def _length(value: Any) -> int:
    """Return the length of what the storage writes."""
    return len(json.dumps(value))


def _pieces(text: str) -> list[str]:
    pieces = []
    while text:
        n = MAX_LENGTH - 2  # the quotes around it
        while _length(text[:n]) > MAX_LENGTH:
            n -= 64
        pieces.append(text[:n])
        text = text[n:]
    return pieces
