"""What a run leaves behind: records and results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ._brief import fields_in_brief, in_brief
from ._json import dumps
from .data import total_violation
from .exceptions import InvalidInputError
from .extras import require
from .space import Box
from .state import OptimizerState
from .typing import BoolArray, Direction, FloatArray

if TYPE_CHECKING:
    from .subspace.estimate import SubspaceEstimate

__all__ = ["BestByMean", "InfoValue", "IterationRecord", "OptimizationResult", "OptimizerState"]

InfoValue: TypeAlias = float | int | str | bool | None
"""What an optimiser may say about a proposal."""


@dataclass(frozen=True, eq=False)
class BestByMean:
    """The visited point whose value is best once noise is averaged out.

    Parameters
    ----------
    x : ndarray, shape (D,), raw units
    mean : float, caller's sign and units
        Posterior mean of the objective there.
    sd : float, caller's units
        Posterior standard deviation, noise not included.
    """

    x: FloatArray
    mean: float
    sd: float

    __repr__ = fields_in_brief


@dataclass(frozen=True, eq=False)
class IterationRecord:
    """One evaluation.

    Parameters
    ----------
    index : int
        Position among the told points, from 0.
    phase : str
        Where the point came from: ``"initial"``, ``"space-filling"`` (fallback when there is
        nothing to model), ``"proposal"`` (or what the optimiser calls its phases), ``"given"``
        (``x0`` of :func:`boring.minimize`), ``"told"`` (unasked).
    x : ndarray, shape (D,), raw units
    y : float, caller's sign and units
    seconds : float
        Time the optimiser took to suggest the point; not part of equality.
    info : mapping of str to number, text or None
        What the optimiser said about the point; ``"error"`` holds the text of an exception that
        was recorded in place of a value.
    constraints : tuple of float or None
        Values of the black-box constraints, each satisfied where it is <= 0; None in a run that
        has none.
    """

    index: int
    phase: str
    x: FloatArray
    y: float
    seconds: float
    info: Mapping[str, InfoValue] = field(default_factory=dict)
    constraints: tuple[float, ...] | None = None

    __repr__ = fields_in_brief

    @property
    def is_feasible(self) -> bool:
        """Whether the value is finite and every constraint is satisfied."""
        return bool(np.isfinite(self.y)) and all(c <= 0 for c in self.constraints or ())

    def to_dict(self) -> dict[str, Any]:
        """Return the record as JSON-able values, time left out."""
        values = {
            "index": self.index,
            "phase": self.phase,
            "x": self.x.tolist(),
            "y": float(self.y),
            "info": dict(self.info),
        }
        if self.constraints is not None:
            values["constraints"] = list(self.constraints)
        return values

    def __eq__(self, other: object) -> bool:
        """Compare everything but the time, bit for bit."""
        if not isinstance(other, IterationRecord):
            return NotImplemented
        return dumps(self.to_dict()) == dumps(other.to_dict())

    def __hash__(self) -> int:
        """Hash of position and point."""
        return hash((self.index, self.x.tobytes()))


@dataclass(frozen=True, eq=False)
class OptimizationResult:
    """The outcome of a run, in the caller's units and sign.

    Parameters
    ----------
    x_best : ndarray, shape (D,)
        Best point with a finite value that satisfies every constraint; where none does, the
        point with a finite value and the least violation (`boring.data.total_violation`), and
        ``is_feasible`` is False; NaN everywhere if no value is finite.
    y_best : float
        Its value; NaN if there is none.
    X : ndarray, shape (n, D)
        Every evaluated point, in the order of evaluation.
    y : ndarray, shape (n,)
        Every value, non-finite ones included.
    direction : {"minimize", "maximize"}
    stop_reason : mapping of str to float
        Why the run ended, such as ``{"n_evaluations": 60.0}``.
    account : callable
        Without arguments, returns the `subspace`: called once, when that is first read.
    records : tuple of IterationRecord
    options : mapping
        Options with their defaults resolved.
    provenance : mapping of str to str
        Optimiser, seed entropy, versions.
    space : Box or None
        The box that was searched.
    constraints : ndarray, shape (n, m), or None
        Values of the m black-box constraints, each satisfied where it is <= 0.
    best_by_mean : BestByMean or None
        Where an optimiser sees noise: the visited point with the best posterior mean, among the
        feasible ones. The best of many noisy values is too good to be true; this one is not.
    """

    x_best: FloatArray
    y_best: float
    X: FloatArray
    y: FloatArray
    direction: Direction
    stop_reason: Mapping[str, float]
    account: Callable[[], SubspaceEstimate | None]
    records: tuple[IterationRecord, ...]
    options: Mapping[str, object]
    provenance: Mapping[str, str]
    space: Box | None = None
    constraints: FloatArray | None = None
    best_by_mean: BestByMean | None = None

    def __post_init__(self) -> None:
        """Freeze arrays and mappings."""
        for name in ("x_best", "X", "y"):
            array = np.array(getattr(self, name), dtype=np.float64)
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        if self.constraints is not None:
            constraints = np.array(self.constraints, dtype=np.float64)
            constraints.flags.writeable = False
            object.__setattr__(self, "constraints", constraints)
        for name in ("stop_reason", "options", "provenance"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def __reduce__(self) -> tuple[Any, ...]:
        """Rebuild from the fields, so that a result can be pickled.

        What it says of the subspace is worked out first: where it is read, neither the optimiser's
        class nor this version need be at hand.
        """
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        values["account"] = partial(_itself, self.subspace)
        plain = (dict(v) if isinstance(v, MappingProxyType) else v for v in values.values())
        return type(self), tuple(plain)

    def __copy__(self) -> OptimizationResult:
        """Return a result that takes its `subspace` from this one, once either is read."""
        return replace(self, account=partial(getattr, self, "subspace"))

    @cached_property
    def subspace(self) -> SubspaceEstimate | None:
        """What was learned about the active subspace; None of optimisers that learn none.

        None, too, where the finite values are equal, or fewer than 2 + min(D, 3).

        Worked out of the run's data when first read, which takes some seconds, and then kept.

        Warns
        -----
        SubspaceWarning
            If it could not be estimated; it is then None.
        """
        return self.account()

    @property
    def n_evaluations(self) -> int:
        """Number of evaluated points n."""
        return int(self.y.size)

    @property
    def feasible(self) -> BoolArray:
        """Mask of points with a finite value that satisfy every constraint, shape (n,)."""
        return feasible_rows(self.y, self.constraints)

    @property
    def is_feasible(self) -> bool:
        """Whether any point is feasible, and hence ``x_best``."""
        return bool(self.feasible.any())

    def best_so_far(self) -> FloatArray:
        """Return the best value of a feasible point after each evaluation.

        Returns
        -------
        ndarray, shape (n,), caller's sign and units
            NaN until the first finite value that satisfies every constraint.
        """
        return best_so_far(self.y, self.direction, self.constraints)

    def to_dataframe(self, names: Sequence[str] | None = None) -> Any:
        """Return a pandas data frame with a row for each evaluation, in their order.

        Parameters
        ----------
        names : sequence of str, length D, optional
            Columns of the coordinates; default ``x0``, ``x1`` and so on.

        Returns
        -------
        pandas.DataFrame
            Coordinates in raw units, then ``value`` in the caller's sign, ``best so far``,
            ``constraint_1`` and so on, ``phase`` and ``seconds`` of the suggestion.

        Raises
        ------
        InvalidInputError
            If the names are not D different ones, or one of them is another column's.
        MissingExtraError
            If pandas is not installed.
        """
        pandas = require("pandas", "study", "A data frame")
        constraints = np.empty((self.y.size, 0)) if self.constraints is None else self.constraints
        other: dict[str, Any] = {
            "value": self.y,
            "best so far": self.best_so_far(),
            **{f"constraint_{i}": c for i, c in enumerate(constraints.T, start=1)},
            "phase": [record.phase for record in self.records],
            "seconds": [record.seconds for record in self.records],
        }
        dim = self.X.shape[1]
        given = [f"x{i}" for i in range(dim)] if names is None else [str(name) for name in names]
        if len(given) != dim or len({*given, *other}) != dim + len(other):
            raise InvalidInputError(
                f"names must be {dim} different ones beside {in_brief(list(other))}; received "
                f"{in_brief(given)}. Rename them, or leave them out."
            )
        coordinates: dict[str, Any] = dict(zip(given, self.X.T, strict=True))
        return pandas.DataFrame({**coordinates, **other})

    def __repr__(self) -> str:
        """Return a short summary."""
        unmet = "" if self.is_feasible else "NO FEASIBLE POINT FOUND, "
        if not np.isfinite(self.y).any():
            unmet = "NO EVALUATION SUCCEEDED, "
        return (
            f"OptimizationResult({unmet}y_best={self.y_best!r}, x_best={in_brief(self.x_best)}, "
            f"n_evaluations={self.n_evaluations}, stop_reason={dict(self.stop_reason)!r})"
        )


def _itself(estimate: SubspaceEstimate | None) -> SubspaceEstimate | None:
    return estimate


def feasible_rows(y: FloatArray, constraints: FloatArray | None) -> BoolArray:
    """Return the mask of finite values y (n,) whose constraints (n, m) are all <= 0."""
    finite = np.isfinite(y)
    if constraints is None:
        return finite
    return np.asarray(finite & np.all(constraints <= 0, axis=1))


def sign_of(direction: Direction) -> float:
    """Return 1 if larger values are better, -1 if smaller ones are."""
    return 1.0 if direction == "maximize" else -1.0


def best_so_far(
    y: FloatArray, direction: Direction, constraints: FloatArray | None = None
) -> FloatArray:
    """Return the running best of finite, feasible values, NaN until the first one.

    Parameters
    ----------
    y : ndarray, shape (n,), caller's sign
    direction : {"minimize", "maximize"}
    constraints : ndarray, shape (n, m), optional

    Returns
    -------
    ndarray, shape (n,)
    """
    values = np.where(feasible_rows(y, constraints), y, np.nan)
    accumulate = np.fmin.accumulate if direction == "minimize" else np.fmax.accumulate
    return np.asarray(accumulate(values), dtype=np.float64)


def best_index(
    y: FloatArray, direction: Direction, constraints: FloatArray | None = None
) -> int | None:
    """Return the position of the first best finite value, None if there is none.

    Feasible points come before all others; where there is none, the least violation is best,
    and of equal ones the better value.

    Parameters
    ----------
    y : ndarray, shape (n,), caller's sign
    direction : {"minimize", "maximize"}
    constraints : ndarray, shape (n, m), optional

    Returns
    -------
    int or None
    """
    eligible = np.isfinite(y)
    if not eligible.any():
        return None
    if constraints is not None and constraints.shape[1]:
        feasible = feasible_rows(y, constraints)
        if feasible.any():
            eligible = feasible
        else:
            violation = np.where(eligible, total_violation(constraints), np.inf)
            eligible &= violation == violation.min()
    worst = np.inf if direction == "minimize" else -np.inf
    values = np.where(eligible, y, worst)
    return int(np.argmin(values) if direction == "minimize" else np.argmax(values))
