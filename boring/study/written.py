"""What goes into a study: values, failures, withdrawals, earlier data."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from os.path import samefile
from pathlib import Path
from typing import Any, Literal

from numpy.typing import ArrayLike

from boring._brief import in_brief, listed, shortened
from boring._warn import warn
from boring.exceptions import BoringWarning, InvalidInputError, NonFiniteWarning
from boring.history import Tell

from . import _earlier
from ._translation import Entry, notes_of, number_of, parameters_of, tells
from .recorded import RecordedStudy
from .status import Suggestion

__all__ = ["WrittenStudy"]


class WrittenStudy(RecordedStudy):
    """A study that takes values, each on disk before the next word."""

    def tell(
        self,
        what: int | Suggestion | Mapping[str, Any],
        value: float,
        constraints: ArrayLike | None = None,
        *,
        seconds: float | None = None,
    ) -> None:
        """Take a value; it is on disk when this returns.

        Parameters
        ----------
        what : int, Suggestion or mapping
            A suggestion or its number, in any order and however late; or a configuration, which
            answers the suggestion that it equals, or else is recorded as not asked for. The
            value of a withdrawn number is recorded likewise.
        value : float
            NaN stands for a failure.
        constraints : array_like, shape (m,), optional
            One for each constraint, satisfied where <= 0.
        seconds : float, optional
            That the evaluation took; kept for `to_dataframe`.

        Raises
        ------
        InvalidInputError
            If the number is unknown or has its value already, or something is not of the space.
        JournalError
            If the file cannot be written; the value is kept, and written at the next chance.

        Warns
        -----
        BoringWarning
            If the configuration breaks a known constraint: it counts as told all the same, also
            for `best`. `DuplicatePointWarning` if it was told before.
        """
        self._record([(what, value, constraints, None, notes_of(seconds=seconds))])

    def tell_failed(
        self,
        what: int | Suggestion | Mapping[str, Any],
        reason: str = "",
        *,
        seconds: float | None = None,
    ) -> None:
        """Record that an evaluation failed.

        Parameters
        ----------
        what : int, Suggestion or mapping
            As in `tell`.
        reason : str
        seconds : float, optional

        Raises
        ------
        InvalidInputError, JournalError
            As in `tell`.
        """
        notes = notes_of(seconds=seconds)
        self._record([(what, float("nan"), None, str(reason) or "failed", notes)])

    def withdraw(self, number: int | Suggestion) -> None:
        """Take back a suggestion that will not be evaluated; nothing is learned from it.

        Parameters
        ----------
        number : int or Suggestion

        Raises
        ------
        InvalidInputError
            If it is not outstanding.
        JournalError
            If the file cannot be written.
        """
        with self._mutex:
            self._check_writable()
            self._optimizer.withdraw(number_of(number, self._space, self._optimizer.history))

    def add(
        self,
        data: Any,
        *,
        value: str = "value",
        fill: Mapping[str, Any] | None = None,
        outside: Literal["refuse", "skip"] = "refuse",
    ) -> int:
        """Take earlier evaluations, as a start; they count as the initial design.

        Parameters
        ----------
        data : list of dict, DataFrame, Study, or path of a CSV file or of a study
            One row an evaluation: a column for each parameter, one for the value, and
            ``constraint_1``, ``constraint_2``, ... where there are constraints, empty where one is
            not known. Other columns, and constraints of a study that are unknown here, are left
            out, with a warning. A missing value stands for a failure, described by a column
            ``error``. Of a study, its parameters and what it was told are taken; of a table, every
            column that is called like a parameter is that parameter.
        value : str, default "value"
            Column of the value; of a table alone.
        fill : mapping of parameter to value, optional
            Where a row does not say: what a parameter was that the data do not know yet.
        outside : {"refuse", "skip"}, default "refuse"
            What to do with a row that the space does not hold, as when a range is narrower now:
            refuse all, or leave that row out, with a warning that counts them.

        Returns
        -------
        int
            Number of rows taken.

        Raises
        ------
        InvalidInputError
            If a row is not of the space, or another study has another unit for a parameter; none
            is recorded then.
        JournalError
            If the file cannot be written, or that of the other study cannot be read.

        Warns
        -----
        BoringWarning
            If rows or columns were left out, or configurations break known constraints.
        """
        if _earlier.is_study_file(data):
            from .study import Study

            data = Study.open(data, read_only=True)
        self._check_is_another(data)
        found = _earlier.entries(
            _earlier.rows_of(data, self._space),
            self._space,
            self.n_constraints,
            value=value,
            fill=fill,
            outside=outside,
        )
        self._record([(x, y, c, error, {"source": "data"}) for x, y, c, error in found])
        return len(found)

    def add_csv(self, path: str | os.PathLike[str], *, value: str = "value") -> int:
        """Take the evaluations of a CSV file, such as `to_csv` writes; see `add`."""
        return self.add(Path(path), value=value)

    def flush(self) -> None:
        """Bring to disk what a full disk kept in memory; raise JournalError if it still cannot."""
        with self._mutex:
            self._optimizer.flush()

    def close(self) -> None:
        """Write what is left, and let others open the study; the study can then only be read.

        Raises
        ------
        JournalError
            If something is left that cannot be written; the study stays open then.
        """
        with self._mutex:
            if not self._read_only:
                self._optimizer.end_journal()
            if self._lock is not None:
                self._lock.release()
                self._lock = None
                self._read_only = True

    def _check_writable(self) -> None:
        if self._read_only:
            raise InvalidInputError(
                f"The study {self._path} is open for reading only. Open it with Study.open(path)."
            )

    def _check_is_another(self, data: Any) -> None:
        """Refuse this very study: its values would come twice, and look free of noise."""
        if not isinstance(data, RecordedStudy):
            return
        is_this = data is self
        if data.path is not None and self.path is not None:
            with suppress(OSError):
                is_this |= samefile(data.path, self.path)
        if is_this:
            raise InvalidInputError(
                f"A study takes the values of others; received itself, {data.path or 'in memory'}. "
                "Pass another study or its path, or a table of further values."
            )

    def _record(self, entries: Sequence[Entry]) -> None:
        """Check entries, then record all of them."""
        with self._mutex:
            self._check_writable()
            history = self._optimizer.history
            events = tells(entries, self._space, history, self.n_constraints)
            broken = self._broken_by(events)
            # Asks are not rounded to what their configurations stand for; what is told is.
            self._optimizer.record(
                events,
                expected=(NonFiniteWarning,),
                place=self._place,
                rounded=self._space.snap,
            )
        if broken:
            warn(broken, BoringWarning)

    def _broken_by(self, events: Sequence[Tell]) -> str:
        """Return what is to be said of points that known constraints do not allow, or nothing."""
        told = [event.x for event in events if event.ask is None]  # what was asked for is allowed
        if not told or not self._space.constraints:
            return ""
        try:
            breaks = ~(self._optimizer.domain.values(told) <= 0.0)
        except InvalidInputError:  # a constraint that raises; an ask says so, and no value is lost
            return ""
        n = int(breaks.any(axis=1).sum())
        counts = zip(self._space.constraints, breaks.sum(axis=0), strict=True)
        which = [f"{shortened(each.describe())} ({count})" for each, count in counts if count]
        if not n:
            return ""
        return (
            f"{n} of {len(events)} configurations told break known constraints: "
            f"{listed(which, str)}. They count as told, and one may be the best; leave them out if "
            "it must not be."
        )

    def _place(self, tell: Tell) -> str:
        return in_brief(parameters_of(tell, self._space))
