"""Helpers of :class:`boring.optimizer.Optimizer`, apart so that the class stays readable."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping
from copy import copy
from functools import cache, partial
from importlib import metadata
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from . import __version__
from ._brief import in_brief
from ._json import canonical
from ._warn import warn
from .domain import Domain
from .exceptions import (
    FitError,
    InvalidInputError,
    JournalError,
    SubspaceWarning,
)
from .history import History, Tell
from .initial_design import space_filling
from .journal import JournalContents
from .proposal import Proposal
from .registry import get_optimizer
from .result import IterationRecord, OptimizationResult, best_index
from .rng import keyed_generator
from .state import OptimizerState, stated_outcomes
from .typing import FloatArray
from .validation import as_points

if TYPE_CHECKING:
    from .optimizer import Optimizer
    from .recorded import RecordedRun
    from .subspace.estimate import SubspaceEstimate

RunT = TypeVar("RunT", bound="RecordedRun")


class Design:
    """The initial design of a run, and the sequence that goes on behind it.

    The sequence is that of :func:`boring.initial_design.space_filling`.

    Parameters
    ----------
    dim : int
    n_initial : int
        Length of the design.
    entropy : int
        Of the run; optimisers with the same entropy share the sequence.
    draw : callable
        ``draw(n, rng)`` returns the design, shape (n, D), scaled units.
    """

    def __init__(
        self,
        dim: int,
        n_initial: int,
        entropy: int,
        draw: Callable[[int, np.random.Generator], FloatArray],
    ) -> None:
        self._dim = dim
        self._n_initial = n_initial
        self._entropy = entropy
        self._draw = draw
        self._points: FloatArray | None = None
        self._sequence: FloatArray = np.empty((0, dim))

    def point(self, index: int) -> tuple[FloatArray, str]:
        """Return one point, shape (D,), scaled units, and its phase."""
        if index >= self._n_initial:
            return self.sequence_point(index), "space-filling"
        if self._points is None:
            points = as_points(self._draw(self._n_initial, self._rng()), self._dim, "the design")
            if len(points) != self._n_initial:
                raise FitError(
                    f"An initial design must hold {self._n_initial} points; it holds {len(points)}."
                    " Mend _initial_points."
                )
            self._points = np.clip(points, -1.0, 1.0)
        return self._points[index], "initial"

    def sequence_point(self, index: int) -> FloatArray:
        """Return one point of the run's sequence, shape (D,), scaled units."""
        point: FloatArray = self.sequence_points(index, index + 1)[0]
        return point

    def sequence_points(self, start: int, stop: int) -> FloatArray:
        """Return points of the run's sequence, shape (stop - start, D), scaled units."""
        if stop > len(self._sequence):
            self._sequence = space_filling(1 << stop.bit_length(), self._dim, self._rng())
        return self._sequence[start:stop]

    def _rng(self) -> np.random.Generator:
        return keyed_generator(self._entropy, "initial design")


def checked_proposal(proposal: Proposal, dim: int, name: str) -> Proposal:
    """Return a proposal with its point checked and clipped to the cube."""
    if not isinstance(proposal, Proposal):
        raise FitError(
            f"_propose must return a Proposal; that of optimiser {name!r} returned "
            f"{type(proposal).__name__}. Return Proposal(x), with x of shape ({dim},) in scaled "
            "units."
        )
    for what in ("memory", "info"):
        if not isinstance(value := getattr(proposal, what), Mapping):
            raise FitError(
                f"{what} of a proposal must be a mapping of text to values; that of optimiser "
                f"{name!r} is {type(value).__name__}. Leave it out where there is none."
            )
    x = np.asarray(proposal.x, dtype=np.float64)
    if x.shape != (dim,) or not np.all(np.isfinite(x)):
        raise FitError(
            f"A proposal must be {dim} finite coordinates; optimiser {name!r} proposed "
            f"{in_brief(x)}. This is a defect of the optimiser: please report it with the journal "
            "or the state."
        )
    return Proposal(np.clip(x, -1.0, 1.0), proposal.memory, proposal.info)


def records(history: History) -> tuple[IterationRecord, ...]:
    """Return one record for each told point."""
    return tuple(_record(history, tell) for tell in history.tells)


def last_record(history: History) -> IterationRecord:
    """Return the record of the last told point."""
    return _record(history, history.tells[-1])


def _record(history: History, tell: Tell) -> IterationRecord:
    ask = None if tell.ask is None else history.asks[tell.ask]
    info: dict[str, Any] = {} if ask is None else dict(ask.info)
    if tell.error is not None:
        info["error"] = tell.error
    return IterationRecord(
        index=tell.index,
        phase="told" if ask is None else ask.phase,
        x=tell.x,
        y=tell.y,
        seconds=0.0 if ask is None else ask.seconds,
        info=info,
        constraints=tell.constraints,
    )


def account_of(optimizer: Optimizer) -> SubspaceEstimate | None:
    """Return the subspace for a result; one that cannot be told is reported, and is None.

    The values are paid for, and outlive whatever the account of the subspace meets in them.
    """
    try:
        return optimizer.subspace
    except Exception as error:
        warn(
            f"The result should name the subspace; its estimate raised {type(error).__name__}: "
            f"{error}. The result holds everything else; .subspace of the optimiser raises the "
            "same.",
            SubspaceWarning,
        )
        return None


def build_result(optimizer: Optimizer, *, data_only: bool = False) -> OptimizationResult:
    """Return the result of an optimiser as it is now, whatever other threads ask and tell.

    Parameters
    ----------
    optimizer : Optimizer
    data_only : bool, default False
        Leave out why it stopped and what is best by mean: the algorithm would be asked for them.
    """
    optimizer = copy(optimizer)
    history = optimizer.history
    X, y, constraints = history.X, history.y, history.constraints(optimizer.n_constraints)
    best = best_index(y, optimizer.direction, constraints)
    return OptimizationResult(
        x_best=np.full(history.dim, np.nan) if best is None else X[best],
        y_best=float("nan") if best is None else float(y[best]),
        X=X,
        y=y,
        direction=optimizer.direction,
        stop_reason={} if data_only else optimizer.stop(),
        account=partial(account_of, optimizer),
        records=records(history),
        options={"n_initial": optimizer.n_initial, **optimizer._resolved_options()},
        provenance={
            "optimizer": optimizer.name,
            "entropy": str(optimizer.entropy),
            **versions(),
        },
        space=optimizer.space,
        constraints=constraints,
        best_by_mean=None if data_only else optimizer.best_by_mean,
    )


@cache
def _installed_versions() -> tuple[tuple[str, str], ...]:
    return (
        ("python", platform.python_version()),
        ("boring", __version__),
        *((name, metadata.version(name)) for name in ("numpy", "scipy")),
    )


def versions() -> dict[str, str]:
    """Return the versions on which a result depends."""
    return dict(_installed_versions())


def checked_domain(domain: object, dim: int) -> Domain:
    """Return the domain of a space with D inputs: the plain cube if none was given."""
    if domain is None:
        return Domain(dim)
    if not isinstance(domain, Domain) or domain.dim != dim:
        received = (
            f"one of {domain.dim} inputs" if isinstance(domain, Domain) else type(domain).__name__
        )
        raise InvalidInputError(
            f"domain must be a Domain of {dim} inputs, as many as the space has; received "
            f"{received}. Pass for example Domain({dim}, lattice), or None."
        )
    return domain


def check_domain_of_state(has_domain: bool, domain: Domain | None) -> None:
    """Raise if a run is to be carried on with a domain that it cannot have had."""
    is_given = domain is not None and not domain.is_plain
    if has_domain and not is_given:
        raise InvalidInputError(
            "A run on a lattice or with known constraints carries on with them; its state and "
            "its journal do not hold them, and none came. Pass domain= as when it began."
        )
    if is_given and not has_domain:
        raise InvalidInputError(
            "A run carries on with the domain that it began with; it began on the plain box, and a "
            "domain with a lattice or constraints was passed. Leave domain out, or start a new run "
            "and tell it the values."
        )


def journal_header(optimizer: RecordedRun) -> dict[str, Any]:
    """Return the configuration of an optimiser as a journal states it.

    What a plain run does not need is left out, so that its journal has its old form.
    """
    more: dict[str, Any] = {"repeats": True} if optimizer.repeats else {}
    if not optimizer.domain.is_plain:
        more["domain"] = True
    return {
        **more,
        "optimizer": optimizer.name,
        "space": optimizer.space.to_dict(),
        "direction": optimizer.direction,
        "entropy": str(optimizer.entropy),
        "n_initial": optimizer.n_initial,
        "options": canonical(optimizer.option_values(), "options"),
        **stated_outcomes(optimizer.n_constraints, optimizer.noise_std),
        "versions": versions(),
    }


def journal_state(contents: JournalContents) -> OptimizerState:
    """Return the state that a journal describes."""
    header = contents.header
    try:
        if header["direction"] not in {"minimize", "maximize"}:
            raise ValueError(f"unknown direction {header['direction']!r}")
        return OptimizerState(
            optimizer=str(header["optimizer"]),
            space=contents.space,
            direction=header["direction"],
            entropy=int(header["entropy"]),
            n_initial=int(header["n_initial"]),
            options=dict(header["options"]),
            history=contents.history,
            has_domain=header.get("domain", False) is True,
            repeats=header.get("repeats", False) is True,
            n_constraints=int(header.get("n_constraints", 0)),
            noise_std=header.get("noise_std"),
        )
    except (TypeError, ValueError) as error:
        raise JournalError(
            f"Line 1 of the journal {contents.path} must hold the configuration of a run; {error}. "
            "Restore the file from a copy, or start a new journal."
        ) from error


def resolve_class(cls: type[RunT], name: str) -> type[RunT]:
    """Return the class that a state names: ``cls`` itself, or a registered subclass of it."""
    if getattr(cls, "name", None) == name:
        return cls
    found = get_optimizer(name)
    if not (isinstance(found, type) and issubclass(found, cls) and found.name == name):
        raise InvalidInputError(
            f"A state must belong to the class that reads it; it belongs to {name!r}, which is not "
            f"{cls.__name__}. Call from_state or resume on Optimizer or on the right class."
        )
    return found
