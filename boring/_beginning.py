"""What a run begins with: points that the caller wants evaluated first, or values known of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ._brief import in_brief
from .domain import Domain
from .exceptions import InvalidInputError, JournalError
from .history import Ask, Event, Tell, frozen_point
from .told import inside
from .typing import BoolArray, FloatArray
from .validation import as_constraints, as_points, as_values

if TYPE_CHECKING:
    from .optimizer import Optimizer

EventT = TypeVar("EventT", Ask, Tell)

PHASE = "given"
"""Of points that the caller wants evaluated first."""


def begin(
    optimizer: Optimizer, x0: ArrayLike | None, y0: Any, n_evaluations: int | None = None
) -> int:
    """Give an optimiser what its run begins with; return how many of its values cost nothing.

    Parameters
    ----------
    optimizer : Optimizer
        New, or carried on from a journal, which must then begin with the same.
    x0, y0
        As in :func:`boring.minimize`.
    n_evaluations : int, optional
        Of the whole run; points to evaluate must not be more.
    """
    if x0 is None:
        if y0 is not None:
            raise InvalidInputError(
                "y0 holds the values of x0; x0 is None. Pass the points too, or leave y0 out."
            )
        return 0
    points = as_points(x0, optimizer.space.dim, "x0")
    points = inside(optimizer.space, points, "x0")
    if y0 is None:
        _check_askable(optimizer, points)
        if n_evaluations is not None and len(points) > n_evaluations:
            raise InvalidInputError(
                f"n_evaluations counts the points of x0 without y0; received {n_evaluations} for "
                f"{len(points)} points. Raise n_evaluations, or pass fewer points."
            )
        asks = [Ask(i, frozen_point(x), PHASE, {}, None, 0.0) for i, x in enumerate(points)]
        for ask in _missing(optimizer, asks):
            optimizer._history = optimizer._history.with_ask(ask)
        return 0
    values, rows = _known(y0, len(points), optimizer.n_constraints)
    tells = [
        Tell(i, frozen_point(x), float(value), None, None, tuple(row.tolist()) or None)
        for i, (x, value, row) in enumerate(zip(points, values, rows, strict=True))
    ]
    if missing := _missing(optimizer, tells):
        optimizer.record(missing)
    return len(tells)


def _check_askable(optimizer: Optimizer, points: FloatArray) -> None:
    """Raise if the domain does not hold a point that is to be evaluated."""
    domain = optimizer.domain
    scaled = optimizer.space.scale(points)
    on_lattice = np.all(np.abs(domain.snap(scaled) - scaled) <= domain.resolution, axis=1)
    refused = np.flatnonzero(~(on_lattice & allowed_within_rounding(domain, scaled)))
    if refused.size:
        row = int(refused[0])
        what = "allows" if on_lattice[row] else "has on its lattice"
        raise InvalidInputError(
            f"x0 must hold points that the domain {what}; row {row} is {in_brief(points[row])}. "
            "Leave it out, or, if it was evaluated already, pass its value in y0."
        )


def allowed_within_rounding(domain: Domain, U: FloatArray) -> BoolArray:
    """Say of points (n, D), scaled units, whether a domain's constraints allow them, shape (n,).

    A point that a caller puts on the edge of a constraint may come out beyond it in scaled units,
    by rounding. So each constraint has to hold at the point, or where one of its coordinates
    differs by no more than the domain's resolution.
    """
    found = domain.allowed(U)
    for row in np.flatnonzero(~found):
        steps = np.diag(domain.resolution)
        near = np.clip(U[row] + np.vstack([steps, -steps]), -1.0, 1.0)
        found[row] = np.all(np.any(domain.values(domain.snap(near)) <= 0.0, axis=0))
    return found


def _known(y0: Any, n: int, n_constraints: int) -> tuple[FloatArray, FloatArray]:
    """Return values (n,) and constraints (n, m) from what the objective returned."""
    if not n_constraints:
        return as_values(y0, n, "y0"), as_constraints(None, n, 0)
    none: tuple[Any, Any] = [], np.empty((0, n_constraints))
    try:
        pairs = [y0] if n == 1 and isinstance(y0, tuple) and len(y0) == 2 else list(y0)
        values, rows = zip(*pairs, strict=True) if pairs else none
    except (TypeError, ValueError) as error:
        raise InvalidInputError(
            f"With {n_constraints} constraints y0 must hold a pair for each point, its value and "
            f"theirs, as the objective returns it; received {str(y0)[:60]!r}. "
            "Pass [(value, [c_1, ...]), ...]."
        ) from error
    return as_values(values, n, "y0"), as_constraints(rows, n, n_constraints, "y0")


def _missing(optimizer: Optimizer, wanted: Sequence[EventT]) -> Sequence[EventT]:
    """Return what the history does not hold yet; it must begin with the rest."""
    held = optimizer.history.events
    for place, (event, other) in enumerate(zip(held, wanted, strict=False)):
        if event.to_dict(with_seconds=False) != other.to_dict(with_seconds=False):
            raise JournalError(
                "A journal carries on one run, which begins with x0 and y0; entry "
                f"{place} of the journal's is {_brief(event)}, and of this run's {_brief(other)}. "
                "Repeat the call that wrote it, or pass another path. The file was left as it is."
            )
    return wanted[len(held) :]


def _brief(event: Event) -> str:
    value = f" with the value {event.y}" if isinstance(event, Tell) else ""
    return f"{in_brief(event.x)}{value}"
