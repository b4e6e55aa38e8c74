"""What passes between the base of an optimiser and its algorithm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ._brief import fields_in_brief
from .data import Observations
from .domain import Domain
from .history import Ask
from .result import InfoValue
from .space import Box
from .typing import FloatArray

if TYPE_CHECKING:
    from .feasibility import Feasibility

__all__ = ["NoOptions", "Proposal", "ProposalContext"]


@dataclass(frozen=True)
class NoOptions:
    """Options of an optimiser that has none."""


@dataclass(frozen=True, eq=False)
class ProposalContext:
    """All that a proposal may depend on.

    Parameters
    ----------
    data : Observations
        Told points in scaled units, values with larger is better.
    pending : ndarray, shape (m, D), scaled units
        Points out for evaluation, oldest first.
    memory : mapping
        What the algorithm left at its last proposal, as JSON returns it.
    rng : numpy.random.Generator
        Keyed by the run's entropy and the numbers of told and pending points.
    entropy : int
        For generators that are to be the same at every proposal.
    domain : Domain
        Where points may be asked. The base sees to it whatever is proposed, but an algorithm that
        searches there proposes better.
    space : Box
        Of the raw units. A point that is to be known again once it is told is remembered as it
        comes back from them (`Box.returned`).
    asks : sequence of Ask
        All earlier ones, oldest first, with what was said of them and the seconds they took.
    feasibility : Feasibility or None
        Log probability that an evaluation succeeds and satisfies every constraint; None where
        there is nothing to weigh, and for optimisers that do not weigh.
    noise_std : float or None
        Known standard deviation of the noise, units of the objective.
    n_withdrawn : int
        Asks that were taken back.
    """

    data: Observations
    pending: FloatArray
    memory: Mapping[str, Any]
    rng: np.random.Generator
    entropy: int
    domain: Domain
    space: Box
    asks: Sequence[Ask] = ()
    feasibility: Feasibility | None = None
    noise_std: float | None = None
    n_withdrawn: int = 0

    __repr__ = fields_in_brief

    @property
    def n_points(self) -> int:
        """Number of points told or out."""
        return len(self.data) + len(self.pending)

    @property
    def position(self) -> int:
        """Number of points told, out, or taken back: no two asks of a run share it."""
        return self.n_points + self.n_withdrawn


@dataclass(frozen=True, eq=False)
class Proposal:
    """What an algorithm proposes.

    Parameters
    ----------
    x : ndarray, shape (D,), scaled units
        Clipped to [-1, 1].
    memory : mapping of str to JSON-able values, default {}
        What to remember for the next proposal.
    info : mapping of str to number, text or None, default {}
        What to say about the point; a ``"phase"`` in it names the phase of the record.
    """

    x: FloatArray
    memory: Mapping[str, Any] = field(default_factory=dict)
    info: Mapping[str, InfoValue] = field(default_factory=dict)

    __repr__ = fields_in_brief
