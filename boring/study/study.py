"""Study: parameters with names and units, an optimiser, and one file that holds all of it."""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from boring import _optimizer_support as support
from boring._json import canonical, dumps
from boring.exceptions import InvalidInputError, JournalError, NonFiniteWarning
from boring.history import Tell, frozen_point
from boring.journal import Journal, JournalContents, journal_exists, read_journal
from boring.optimizer import Optimizer
from boring.parameters import ParameterSpace
from boring.registry import get_optimizer
from boring.result import OptimizationResult, best_index, feasible_rows
from boring.stopping import StoppingCondition
from boring.typing import Direction, FloatArray, OnError, SeedLike
from boring.validation import as_constraints, as_positive_int, as_values

from . import _tables
from ._lock import DEFAULT_WAIT, StudyLock, writer_of

if TYPE_CHECKING:
    from boring.subspace.estimate import SubspaceEstimate

    from ._runner import StudyCallback
    from .report import StudyReport

__all__ = ["Study", "StudyStatus", "Suggestion"]


@dataclass(frozen=True)
class Suggestion:
    """A configuration to evaluate.

    Parameters
    ----------
    number : int
        By which its value is told; from 0, never given twice.
    parameters : dict
        From the names of the parameters to their values.
    """

    number: int
    parameters: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Return the suggestion as JSON-able values."""
        return {"number": self.number, "parameters": dict(self.parameters)}


@dataclass(frozen=True)
class StudyStatus:
    """Where a study stands.

    Parameters
    ----------
    n_told, n_failed, n_infeasible : int
        Values in all; those that are not finite; those that break a constraint.
    outstanding : tuple of int
        Numbers that were asked and have no value yet.
    n_withdrawn : int
    best : dict or None
        ``parameters``, ``value`` and ``number`` (None of a point that was not asked for).
    stop_reason : dict
        Why the last run ended; empty if there was none since the last value was told.
    direction, optimizer : str
    path : str or None
    writer : dict or None
        ``pid``, ``host`` and ``since`` of the process that has the study open for writing.
    """

    n_told: int
    n_failed: int
    n_infeasible: int
    outstanding: tuple[int, ...]
    n_withdrawn: int
    best: dict[str, Any] | None
    stop_reason: dict[str, float]
    direction: Direction
    optimizer: str
    path: str | None
    writer: dict[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the status as JSON-able values."""
        return {**vars(self), "outstanding": list(self.outstanding)}


class Study:
    """The search for the best configuration of something real.

    Parameters
    ----------
    space : ParameterSpace, or anything that `boring.parameters.ParameterSpace.of` takes
        Such as ``{"gain": (0.1, 10.0), "angle": (-90.0, 90.0)}``.
    direction : {"minimize", "maximize"}
    path : path-like, optional
        The file of the study, which must not hold anything yet (`Study.open` carries on). None
        keeps the study in memory.
    optimizer : str or Optimizer subclass, default "boring"
    seed : int, SeedSequence or None
    n_initial : int, optional
        Space-filling points before the model takes over; earlier data count.
    n_constraints : int, default 0
        Black-box constraints whose values come with each evaluation, satisfied where <= 0.
    noise_std : float, optional
        Known standard deviation of one evaluation.
    wait : float, default 3
        Seconds to wait for another process that has the file open for writing.
    **options
        Of the optimiser.

    Raises
    ------
    InvalidInputError
        If an argument breaks these rules.
    JournalError
        If the file holds something or cannot be written; `StudyLockedError` if another process
        has it open for writing.

    Notes
    -----
    Every value is on disk before `tell` returns. If the disk is full, `tell` raises
    `JournalError`; the value is kept in memory, and written at the next `ask`, `tell`, `flush` or
    `close`. Methods may be called from several threads.

    Examples
    --------
    >>> study = Study({"a": (0.0, 1.0), "b": (-5.0, 5.0)}, direction="minimize", seed=0)
    >>> for suggestion in study.ask(3):
    ...     study.tell(suggestion.number, suggestion.parameters["a"] ** 2)
    >>> study.status().n_told
    3
    """

    def __init__(
        self,
        space: Any,
        *,
        direction: Direction,
        path: str | os.PathLike[str] | None = None,
        optimizer: str | type[Optimizer] = "boring",
        seed: SeedLike = None,
        n_initial: int | None = None,
        n_constraints: int = 0,
        noise_std: float | None = None,
        wait: float = DEFAULT_WAIT,
        **options: Any,
    ) -> None:
        self._space = ParameterSpace.of(space)
        factory = get_optimizer(optimizer) if isinstance(optimizer, str) else optimizer
        made = factory(
            self._space.box,
            direction=direction,
            n_initial=n_initial,
            seed=seed,
            n_constraints=n_constraints,
            noise_std=noise_std,
            domain=self._space.domain,
            **options,
        )
        if path is None:
            self._attach(made, None, None)
            return
        target = Path(path)
        lock = StudyLock(target, wait)
        try:
            if journal_exists(target):
                raise JournalError(
                    f"A new study must not overwrite a file; {target} holds something. Carry on "
                    "with it (Study.open, or 'boring ask' in a shell), or choose another path."
                )
            header = {
                **support.journal_header(made),
                "study": {"space": canonical(self._space.to_dict(), "space")},
            }
            made._journal = Journal(target, header=header)
        except BaseException:
            lock.release()
            raise
        self._attach(made, target, lock)

    def _attach(self, optimizer: Optimizer, path: Path | None, lock: StudyLock | None) -> None:
        self._optimizer = optimizer
        self._path = path
        self._lock = lock
        self._mutex = threading.RLock()
        self._read_only = False
        self._is_running = False
        if lock is not None:
            # Of a study that is dropped or left open; a killed process leaves it to the system.
            weakref.finalize(self, lock.release)

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        space: Any = None,
        read_only: bool = False,
        wait: float = DEFAULT_WAIT,
    ) -> Self:
        """Carry on with the study of a file.

        Parameters
        ----------
        path : path-like
        space : optional
            Needed only where the space holds functions, which a file cannot; it must be the
            space of the study.
        read_only : bool, default False
            Look without locking: nothing can be asked or told.
        wait : float, default 3
            Seconds to wait for another process that has the file open for writing.

        Returns
        -------
        Study

        Raises
        ------
        JournalError
            If the file is no study, or corrupt; `StudyLockedError` if another process has it.

        Warns
        -----
        JournalWarning
            If a torn last line was removed.
        """
        target = Path(path)
        if not target.is_file():
            raise JournalError(f"There is no study {target}. Check the path, or make a new study.")
        lock = None if read_only else StudyLock(target, wait)
        try:
            contents = read_journal(target)
            study = cls.__new__(cls)
            study._space = _space_of_file(contents, space)
            state = support.journal_state(contents)
            optimizer: Optimizer = Optimizer.from_state(state, domain=study._space.domain)
            if lock is not None:
                optimizer._journal = Journal(target, contents=contents)
        except BaseException:
            if lock is not None:
                lock.release()
            raise
        study._attach(optimizer, target, lock)
        study._read_only = read_only
        return study

    # What it is.

    @property
    def space(self) -> ParameterSpace:
        """The parameters."""
        return self._space

    @property
    def optimizer(self) -> Optimizer:
        """The optimiser, whose box is the cube [-1, 1]^D of the encoded parameters."""
        return self._optimizer

    @property
    def path(self) -> Path | None:
        """The file."""
        return self._path

    @property
    def direction(self) -> Direction:
        """What is wanted of the values."""
        return self._optimizer.direction

    @property
    def n_constraints(self) -> int:
        """Number of black-box constraints."""
        return self._optimizer.n_constraints

    @property
    def outstanding(self) -> list[Suggestion]:
        """What was asked and has no value yet, oldest first."""
        with self._mutex:
            return self._suggestions(self._optimizer._history.pending)

    # Ask and tell.

    def ask(self, n: int = 1) -> list[Suggestion]:
        """Return new configurations to evaluate.

        Parameters
        ----------
        n : int, default 1

        Returns
        -------
        list of Suggestion, of length n
            On disk before they are returned. Those outstanding are not repeated, and the model
            takes them into account.

        Raises
        ------
        JournalError
            If the file cannot be written.
        """
        n = as_positive_int(n, "n")
        with self._mutex:
            self._check_writable()
            self._optimizer.ask(len(self._optimizer._history.pending) + n)
            return self._suggestions(self._optimizer._history.pending[-n:])

    def tell(
        self,
        what: int | Mapping[str, Any],
        value: float,
        constraints: Sequence[float] | None = None,
        *,
        seconds: float | None = None,
    ) -> None:
        """Take a value; it is on disk when this returns.

        Parameters
        ----------
        what : int or mapping
            The number of a suggestion, in any order and however late; or a configuration, which
            answers the suggestion that it equals, or else is recorded as not asked for. The
            value of a withdrawn number is recorded likewise.
        value : float
            NaN stands for a failure.
        constraints : sequence of float, optional
            One for each constraint, satisfied where <= 0.
        seconds : float, optional
            That the evaluation took; kept for `to_dataframe`.

        Raises
        ------
        InvalidInputError
            If the number is unknown or has its value already, or something is not of the space.
        JournalError
            If the file cannot be written; the value is kept, and written at the next chance.
        """
        self._record([(what, value, constraints, None, _notes(seconds=seconds))])

    def tell_failed(
        self, what: int | Mapping[str, Any], reason: str = "", *, seconds: float | None = None
    ) -> None:
        """Record that an evaluation failed.

        Parameters
        ----------
        what : int or mapping
            As in `tell`.
        reason : str
        seconds : float, optional

        Raises
        ------
        InvalidInputError, JournalError
            As in `tell`.
        """
        notes = _notes(seconds=seconds)
        self._record([(what, float("nan"), None, str(reason) or "failed", notes)])

    def withdraw(self, number: int) -> None:
        """Take back a suggestion that will not be evaluated; nothing is learned from it.

        Parameters
        ----------
        number : int

        Raises
        ------
        InvalidInputError
            If it is not outstanding.
        JournalError
            If the file cannot be written.
        """
        with self._mutex:
            self._check_writable()
            self._optimizer.withdraw(number)

    def add(self, data: Any, *, value: str = "value") -> int:
        """Take earlier evaluations, as a start; they count as the initial design.

        Parameters
        ----------
        data : list of dict, DataFrame, or path of a CSV file
            One row an evaluation: a column for each parameter, one for the value, and
            ``constraint_1``, ``constraint_2``, ... where there are constraints. Other columns are
            ignored. A missing value stands for a failure, described by a column ``error``.
        value : str, default "value"
            Column of the value.

        Returns
        -------
        int
            Number of rows.

        Raises
        ------
        InvalidInputError
            If a row is not of the space; none is recorded then.
        JournalError
            If the file cannot be written.
        """
        if isinstance(data, (str, os.PathLike)):
            rows = _tables.read_csv(Path(data), self._space)
        else:
            rows = _tables.rows_of(data)
        entries = _tables.entries(rows, self._space, self.n_constraints, value)
        self._record([(x, y, c, error, {"source": "data"}) for x, y, c, error in entries])
        return len(entries)

    def add_csv(self, path: str | os.PathLike[str], *, value: str = "value") -> int:
        """Take the evaluations of a CSV file, such as `to_csv` writes; see `add`."""
        return self.add(Path(path), value=value)

    def flush(self) -> None:
        """Bring to disk what a full disk kept in memory; raise JournalError if it still cannot."""
        with self._mutex:
            self._optimizer._write_journal()

    def close(self) -> None:
        """Write what is left, and let others open the study; the study can then only be read.

        Raises
        ------
        JournalError
            If something is left that cannot be written; the study stays open then.
        """
        with self._mutex:
            if not self._read_only:
                self.flush()
            if self._lock is not None:
                self._lock.release()
                self._lock = None
                self._read_only = True

    def __enter__(self) -> Self:
        """Return the study."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the study."""
        self.close()

    # Runs.

    def run(
        self,
        fun: Any,
        n_evaluations: int,
        *,
        executor: Executor | Any | None = None,
        workers: int | None = None,
        on_error: OnError = "record",
        retries: int = 0,
        timeout: float | None = None,
        stopping: StoppingCondition | None = None,
        callback: StudyCallback | None = None,
        progress: bool | None = None,
    ) -> StudyStatus:
        """Evaluate a function at more configurations, as many at a time as there are workers.

        As soon as one value is there it is told and the next configuration asked for. What an
        earlier run left outstanding is evaluated first: withdraw the numbers that somebody else
        is working on.

        Parameters
        ----------
        fun : callable
            Takes a dictionary of parameters and returns a number; where there are constraints,
            the pair of that number and their values.
        n_evaluations : int
            To make, beside those already told.
        executor : concurrent.futures.Executor, dask.distributed.Client or callable, optional
            A callable makes an executor. None evaluates here, one at a time, or in ``workers``
            threads. Processes need a function that can be pickled.
        workers : int, optional
            Evaluations at a time; None takes as many as the executor has workers.
        on_error : {"record", "raise"}, default "record"
            Whether an exception of ``fun`` is recorded as a failure, or ends the run: then those
            under way are told first, and the number stays outstanding.
        retries : int, default 0
            How often a configuration is tried again whose worker died; then it has failed. If a
            process pool breaks with several configurations under way, each of them is evaluated
            again, alone, to find the one that breaks it; the others lose nothing but time.
        timeout : float, optional
            Seconds that an evaluation may take; then it has failed. It is interrupted where it
            runs in the main thread of a process; elsewhere it keeps its worker until it ends, and
            its value is ignored.
        stopping : StoppingCondition, optional
        callback : callable, optional
            ``callback(study, number)`` after each value is on disk; a true value ends the run.
        progress : bool, optional
            None shows a bar on terminals only.

        Returns
        -------
        StudyStatus
            ``stop_reason`` says why the run ended.

        Raises
        ------
        EvaluationError
            If ``fun`` raises and ``on_error`` is ``"raise"``, or does not return numbers.
        JournalError
            If the file cannot be written: then what is under way is finished and kept in memory.
        KeyboardInterrupt
            Values that are there are told first; the rest stays outstanding for the next run.
        """
        from ._runner import run

        with self._mutex:
            self._check_writable()
            if self._is_running:
                raise InvalidInputError(
                    "A study makes one run at a time; another is under way. Wait for it, or use "
                    "more workers."
                )
            self._is_running = True
        try:
            return run(
                self,
                fun,
                as_positive_int(n_evaluations, "n_evaluations"),
                executor=executor,
                workers=workers,
                on_error=on_error,
                retries=as_positive_int(retries, "retries", minimum=0),
                timeout=timeout,
                stopping=stopping,
                callback=callback,
                progress=progress,
            )
        finally:
            self._is_running = False

    # What came out.

    @property
    def best(self) -> dict[str, Any] | None:
        """``parameters``, ``value`` and ``number`` of the best feasible value; None without one."""
        with self._mutex:
            history = self._optimizer._history
            constraints = history.constraints(self.n_constraints)
            index = best_index(history.y, self.direction, constraints)
            if index is None or not feasible_rows(history.y, constraints)[index]:
                return None
            told = history.tells[index]
            return {
                "parameters": self._parameters(told),
                "value": told.y,
                "number": told.ask,
            }

    @property
    def subspace(self) -> SubspaceEstimate | None:
        """What was learned of the active subspace, over the encoded parameters."""
        return self._optimizer.subspace

    def result(self) -> OptimizationResult:
        """Return everything as the optimiser sees it, over the encoded parameters."""
        return self._optimizer.result()

    def status(self) -> StudyStatus:
        """Return where the study stands."""
        with self._mutex:
            history = self._optimizer._history
            feasible = feasible_rows(history.y, history.constraints(self.n_constraints))
            failed = ~np.isfinite(history.y)
            return StudyStatus(
                n_told=history.n_told,
                n_failed=int(failed.sum()),
                n_infeasible=int((~feasible & ~failed).sum()),
                outstanding=tuple(history.pending),
                n_withdrawn=history.n_withdrawn,
                best=self.best,
                stop_reason=dict(self._optimizer.stop()),
                direction=self.direction,
                optimizer=self._optimizer.name,
                path=None if self._path is None else str(self._path),
                writer=None if self._path is None else writer_of(self._path),
            )

    def report(self) -> StudyReport:
        """Return what the study found, in words and figures; it takes a few seconds."""
        from .report import make_report

        return make_report(self)

    def rows(self) -> list[dict[str, Any]]:
        """Return one dictionary for each value told, in the order of telling.

        Returns
        -------
        list of dict
            ``number``, the parameters, ``value``, ``constraint_1``, ..., ``status`` (``"ok"``,
            ``"failed"`` or ``"infeasible"``), ``error``, ``phase`` and ``seconds``. A name that a
            parameter has already gets an underscore.
        """
        with self._mutex:
            history = self._optimizer._history
            told = [(tell, self._parameters(tell)) for tell in history.tells]
            return _tables.rows_of_history(history, told, self._space.names, self.n_constraints)

    def to_dataframe(self) -> Any:
        """Return `rows` as a pandas DataFrame."""
        return _tables.dataframe(self.rows(), self._space, self.n_constraints)

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write `rows` to a CSV file, which `add_csv` of another study reads back bit for bit."""
        _tables.write_csv(Path(path), self.rows(), self._space, self.n_constraints)

    # The machinery.

    def _check_writable(self) -> None:
        if self._read_only:
            raise InvalidInputError(
                f"The study {self._path} is open for reading only. Open it with Study.open(path)."
            )

    def _suggestions(self, numbers: Iterable[int]) -> list[Suggestion]:
        asks = [self._optimizer._history.asks[number] for number in numbers]
        if not asks:
            return []
        configurations = self._space.decode(np.array([ask.x for ask in asks]))
        return [
            Suggestion(ask.number, dict(configuration))
            for ask, configuration in zip(asks, configurations, strict=True)
        ]

    def _parameters(self, told: Tell) -> dict[str, Any]:
        """Return the configuration of a value: as it was told, or as it was suggested."""
        stored = told.info.get("parameters")
        return dict(self._space.decode(told.x[None])[0] if stored is None else stored)

    def _record(self, entries: Sequence[tuple[Any, Any, Any, str | None, dict[str, Any]]]) -> None:
        """Check entries (what, value, constraints, error, notes), then record all of them."""
        with self._mutex:
            self._check_writable()
            history = self._optimizer._history
            free = list(history.pending)
            tells = []
            for position, (what, value, constraints, error, notes) in enumerate(entries):
                x, number, more = self._place(what, free)
                if number is not None:
                    free.remove(number)
                y = float(as_values(value, 1, "value")[0])
                tells.append(
                    Tell(
                        index=history.n_told + position,
                        x=x,
                        y=y,
                        ask=number,
                        error=error,
                        constraints=self._checked_constraints(constraints, y),
                        info=canonical({**notes, **more}, "notes"),
                    )
                )
            self._optimizer._record(tells, expected=(NonFiniteWarning,))

    def _place(
        self, what: Any, free: Sequence[int]
    ) -> tuple[FloatArray, int | None, dict[str, Any]]:
        """Return the point, the number that it answers, if any, and notes."""
        asks = self._optimizer._history.asks
        if isinstance(what, Mapping):
            configuration = self._space.check(what)
            x = self._space.encode([configuration])[0]
            told = _text_of(configuration)
            for suggestion in self._suggestions(free):
                if _text_of(suggestion.parameters) == told:
                    number = suggestion.number
                    return asks[number].x, number, {}
            return frozen_point(x), None, {"parameters": configuration}
        if isinstance(what, bool) or not isinstance(what, (int, np.integer)):
            raise InvalidInputError(
                "A value belongs to the number of a suggestion or to a dictionary of parameters; "
                f"received {type(what).__name__} {str(what)[:60]!r}."
            )
        number = int(what)
        if number in free:
            return asks[number].x, number, {}
        if not 0 <= number < len(asks):
            raise InvalidInputError(
                f"No suggestion has the number {number}; outstanding are {list(free)}. Ask "
                "first, or tell the parameters as a dictionary."
            )
        if any(tell.ask == number for tell in self._optimizer._history.tells):
            raise InvalidInputError(
                f"The number {number} has its value already; outstanding are {list(free)}. Tell "
                "the parameters as a dictionary to record a repetition."
            )
        return asks[number].x, None, {"withdrawn": number}

    def _checked_constraints(self, constraints: Any, y: float) -> tuple[float, ...] | None:
        n = self.n_constraints
        if constraints is None and n and np.isfinite(y):
            raise InvalidInputError(
                f"A value must come with those of the {n} constraints; constraints is None. Pass "
                "constraints=[...], NaN where one is not known."
            )
        given = None if constraints is None else np.ravel(constraints)
        return tuple(as_constraints(given, 1, n)[0].tolist()) or None


def _text_of(configuration: Mapping[str, Any]) -> str:
    """Return a configuration as text, by which 1 and True differ."""
    return dumps(canonical(configuration, "parameters"))


def _notes(*, seconds: float | None) -> dict[str, Any]:
    notes: dict[str, Any] = {"time": time.time()}
    return notes if seconds is None else {**notes, "seconds": float(seconds)}


def _space_of_file(contents: JournalContents, given: Any) -> ParameterSpace:
    """Return the space of a file, or the one given if it is the same."""
    study = contents.header.get("study")
    if not isinstance(study, Mapping) or "space" not in study:
        raise JournalError(
            f"Line 1 of a study must hold its parameters; {contents.path} is the journal of an "
            "optimiser without names. Use Optimizer.resume, or start a new study and add its data."
        )
    if given is None:
        return ParameterSpace.from_dict(study["space"])
    space = ParameterSpace.of(given)
    if canonical(space.to_dict(), "space") != study["space"]:
        raise JournalError(
            f"A study keeps its parameters; line 1 of {contents.path} has others than the space "
            "that was passed. Pass the same space, or none."
        )
    return space
