"""The values of a run: told, matched with the points that were asked, recorded, remarked upon."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from ._brief import in_brief
from ._warn import warn
from .data import Observations
from .exceptions import (
    BoringWarning,
    ConstantObjectiveWarning,
    DuplicatePointWarning,
    InvalidInputError,
    NonFiniteWarning,
)
from .history import History, Tell, frozen_point
from .recorded import RecordedRun
from .space import Box
from .typing import FloatArray
from .validation import as_constraints, as_points, as_values, is_whole

__all__ = ["ToldRun", "inside"]

MIN_CONSTANT = 3
"""Equal values from which on an objective is called constant (chosen here: two may be chance)."""

BOUND_TOLERANCE = 1e-9
"""How far outside the box, relative to its sides, a told point is taken for rounding."""

Notice = tuple[type[BoringWarning], str]


def _place_of(tell: Tell) -> str:
    """Return where a value belongs, in words."""
    return f"x = {in_brief(tell.x)}"


class ToldRun(RecordedRun):
    """A run that takes values; see :class:`boring.optimizer.Optimizer`.

    Parameters are those of :class:`boring.recorded.RecordedRun`.
    """

    def tell(self, x: ArrayLike, y: ArrayLike, *, constraints: ArrayLike | None = None) -> Self:
        """Take the values of one or more points.

        Parameters
        ----------
        x : array_like, shape (D,) or (n, D), raw units
            Pending points or any others of the box; up to 1e-9 of a side outside it is taken for
            rounding and clipped, and so is the rounding of an array of float32 or float16.
        y : array_like, scalar or shape (n,), caller's sign
            NaN and infinities are recorded and left out of fits.
        constraints : array_like, shape (n, m), or (m,) for one point, optional
            Values of the m = ``n_constraints`` black-box constraints, each satisfied where it is
            <= 0. NaN stands for not known, and makes the point infeasible; known values next to a
            NaN y are learned from. May be left out where no y is finite.

        Returns
        -------
        Self

        Raises
        ------
        InvalidInputError
            If shapes disagree, a point is outside the box, or the values are not real numbers;
            nothing is recorded then.
        JournalError
            If there is a journal and it cannot be written; the values are recorded all the same.

        Warns
        -----
        NonFiniteWarning, DuplicatePointWarning, ConstantObjectiveWarning
        """
        points = as_points(x, self.space.dim, "x")
        values = as_values(y, points.shape[0], "y")
        if constraints is None and self._n_constraints and np.isfinite(values).any():
            raise InvalidInputError(
                f"A value must come with those of the {self._n_constraints} constraints; "
                "constraints is None. Pass constraints=..., NaN where one is not known."
            )
        rows = as_constraints(constraints, points.shape[0], self._n_constraints)
        self._tell(inside(self.space, _unrounded(x, points, self.space)), values, None, rows)
        return self

    def tell_failed(self, x: ArrayLike, reason: str = "") -> Self:
        """Record that the evaluation of one or more points failed.

        Parameters
        ----------
        x : array_like, shape (D,) or (n, D), raw units
            As in :meth:`tell`.
        reason : str, default ""
            Goes into the record, under ``"error"``.

        Returns
        -------
        Self

        Raises
        ------
        InvalidInputError, JournalError
            As in :meth:`tell`.

        Warns
        -----
        NonFiniteWarning, DuplicatePointWarning

        Notes
        -----
        The same as telling NaN; where constraint values are known, tell NaN with them instead.
        """
        if not isinstance(reason, str):
            raise InvalidInputError(
                f"reason must be text; received {type(reason).__name__}. Pass str(...)."
            )
        points = as_points(x, self.space.dim, "x")
        rows = as_constraints(None, len(points), self._n_constraints)
        values = np.full(len(points), np.nan)
        points = inside(self.space, _unrounded(x, points, self.space))
        self._tell(points, values, reason or None, rows)
        return self

    def withdraw(self, number: int) -> Self:
        """Take back a point that is out for evaluation, and will have no value.

        Parameters
        ----------
        number : int
            Of the ask, from 0 in the order of asking; ``history.pending`` has those that are out.

        Returns
        -------
        Self
            It learns nothing from the point, and may propose it again; tell NaN of a point that
            cannot be evaluated.

        Raises
        ------
        InvalidInputError
            If that ask is not pending.
        JournalError
            If there is a journal and it cannot be written; the point is withdrawn all the same.
        """
        with self._mutex:
            if not is_whole(number) or number not in self._history.pending:
                raise InvalidInputError(
                    f"Only a pending ask can be withdrawn; received {number!r}, and pending are "
                    f"{in_brief(list(self._history.pending))}. Ask first, or pass one of these."
                )
            self._history = self._history.with_withdrawal(int(number))
            self.flush()
        return self

    def _tell(
        self,
        points: FloatArray,
        values: FloatArray,
        error: str | None,
        constraints: FloatArray,
    ) -> None:
        """Record checked points (n, D), values (n,) and constraints (n, m)."""
        with self._mutex:
            tells = _answered(self._history, self._space, points, values, constraints, error)
            self.record(tells, asks_again=True)

    def record(
        self,
        tells: Sequence[Tell],
        *,
        expected: tuple[type[BoringWarning], ...] = (),
        place: Callable[[Tell], str] = _place_of,
        rounded: Callable[[FloatArray], FloatArray] = np.asarray,
        asks_again: bool = False,
    ) -> None:
        """Record events that were made and checked elsewhere, as :meth:`tell` does its own.

        Parameters
        ----------
        tells : sequence of Tell
            Numbered on from the history; each clears the ask that it answers.
        expected : tuple of warning categories
            Not to warn of.
        place : callable, optional
            Says in a warning where a value belongs.
        rounded : callable, optional
            Returns points (n, D), raw units, with those that stand for the same made equal.
        asks_again : bool
            Whether who tells gets the pending points first when asking again.

        Raises
        ------
        JournalError
            If there is a journal and it cannot be written; the values are recorded all the same.

        Warns
        -----
        NonFiniteWarning, DuplicatePointWarning, ConstantObjectiveWarning
        """
        with self._mutex:
            history = self._history.with_tells(tells)
            out = history.pending if asks_again else ()
            notices = _notices(self._history.X, tells, place, rounded, out)
            if self._repeats:
                notices = [notice for notice in notices if notice[0] is not DuplicatePointWarning]
            self._history = history
            self._stop_reason = {}
            self.flush()
            if self._is_newly_constant():
                self._has_warned_constant = True
                notices.append(_constant_notice(self.observed, self.is_model_based))
        for category, message in notices:
            if category not in expected:
                warn(message, category)

    def note_stop(self, reasons: Mapping[str, float]) -> None:
        """Take note of why a run ended, for ``stop`` and the result; telling more clears it.

        Parameters
        ----------
        reasons : mapping of str to float
            A name for each, with the number that says when, such as
            ``{"n_evaluations": 60.0}``.
        """
        self._stop_reason = dict(reasons)

    def _is_newly_constant(self) -> bool:
        return (
            not self._has_warned_constant
            and self.observed.finite_y.size >= max(MIN_CONSTANT, self._n_initial)
            and not self.observed.is_informative
        )


def _unrounded(given: ArrayLike, points: FloatArray, space: Box) -> FloatArray:
    """Return points with the coordinates on a bound that a shorter float has rounded beyond it."""
    dtype = getattr(given, "dtype", None)
    if dtype not in (np.float32, np.float16):
        return points
    clipped = space.clip(points)
    slack = np.finfo(dtype).eps * np.abs(clipped)
    return np.where(np.abs(points - clipped) <= slack, clipped, points)


def inside(space: Box, points: FloatArray, name: str = "A told point") -> FloatArray:
    """Return points of the box, clipped within rounding; raise for those outside."""
    outside = np.flatnonzero(~space.contains(points, BOUND_TOLERANCE))
    if outside.size:
        row = int(outside[0])
        x = points[row]
        coordinate = int(np.argmax(np.maximum(space.lower - x, x - space.upper) / space.width))
        raise InvalidInputError(
            f"{name} must lie in the box; coordinate {coordinate} of row {row} is "
            f"{float(x[coordinate])!r}, outside [{float(space.lower[coordinate])!r}, "
            f"{float(space.upper[coordinate])!r}]. Use raw units, or a wider box."
        )
    return space.clip(points)


def _answered(
    history: History,
    space: Box,
    points: FloatArray,
    values: FloatArray,
    constraints: FloatArray,
    error: str | None,
) -> list[Tell]:
    """Return the tells, each with the pending ask that it answers, if any.

    A point within rounding of a pending one is that point.
    """
    free = list(history.pending)
    tells = []
    for position, (point, value) in enumerate(zip(points, values, strict=True)):
        slack = BOUND_TOLERANCE * space.width
        answered = next(
            (a for a in free if np.all(np.abs(history.asks[a].x - point) <= slack)), None
        )
        x = frozen_point(point)
        if answered is not None:
            free.remove(answered)
            x = history.asks[answered].x
        row = tuple(constraints[position].tolist()) or None
        tells.append(Tell(history.n_told + position, x, float(value), answered, error, row))
    return tells


def _notices(
    told: FloatArray,
    tells: Sequence[Tell],
    place: Callable[[Tell], str],
    rounded: Callable[[FloatArray], FloatArray],
    out: Sequence[int],
) -> list[Notice]:
    """Return what is to be said about new tells, given the points told before and asks still out.

    Whoever tells a rounded point in place of the one asked is given that one again and again.
    """
    found: list[Notice] = []
    bad = [tell for tell in tells if not np.isfinite(tell.y)]
    if bad:
        reason = f" ({bad[0].error})" if bad[0].error else ""
        first = f"{bad[0].y} at {place(bad[0])}{reason}"
        rule = f"Values should be finite; {len(bad)} of {len(tells)} told are not, the first is"
        if len(tells) == 1:
            rule = "A value should be finite; told was"
        found.append((NonFiniteWarning, f"{rule} {first}. Recorded and left out of fits."))
    rows = np.ascontiguousarray(rounded(np.vstack([told, *(tell.x for tell in tells)])) + 0.0)
    keys = rows.view(f"V{rows.itemsize * rows.shape[1]}").ravel().tolist()
    known = set(keys[: len(told)])
    again = []
    for tell, key in zip(tells, keys[len(told) :], strict=True):
        if key in known:
            again.append(tell)
        known.add(key)
    if again:
        which = (
            f"{place(again[0])} was told before; both"
            if len(again) == 1
            else f"{len(again)} points were told before, the first is {place(again[0])}; all"
        )
        message = f"{which} values are kept. Repeat points only to average noise."
        if out and any(tell.ask is None for tell in again):
            message += (
                f" No value answers the asks {in_brief(list(out))}, so that ask returns them "
                "again: where a rounded point was tried in place of one, tell its value at the "
                f"point that was asked, or withdraw the ask: withdraw({out[0]})."
            )
        found.append((DuplicatePointWarning, message))
    return found


def _constant_notice(data: Observations, is_model_based: bool) -> Notice:
    """Return what is to be said about a constant objective."""
    remedy = (
        "Points fill the space until the values differ."
        if is_model_based
        else "The search goes on."
    )
    return (
        ConstantObjectiveWarning,
        f"All {data.finite_y.size} finite values so far are equal; there is nothing to learn from. "
        f"{remedy} Check that the objective depends on its input.",
    )
