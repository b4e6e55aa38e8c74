"""Study: parameters with names and units, an optimiser, and one file that holds all of it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from concurrent.futures import Executor
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from boring import _optimizer_support as support
from boring._brief import in_brief
from boring.exceptions import InvalidInputError, JournalError, SpaceExhaustedError
from boring.journal import journal_path, read_journal
from boring.optimizer import Optimizer, factory_of, optimizer_class
from boring.parameters import ParameterSpace
from boring.stopping import StoppingCondition
from boring.typing import Direction, OnError, SeedLike
from boring.validation import as_positive_int, check_options

from ._file import check_may_be_study, space_of_file, start_file
from ._lock import DEFAULT_WAIT, StudyLock
from .status import StudyStatus, Suggestion
from .written import WrittenStudy

if TYPE_CHECKING:
    from ._runner import StudyCallback

__all__ = ["Study", "StudyStatus", "Suggestion"]

OWN_KEYWORDS = (
    *("direction", "path", "optimizer", "seed", "n_initial"),
    *("n_constraints", "noise_std", "wait", "repeats"),
)
"""Arguments of a study itself, among which a misspelt one may be meant."""

MOST_AT_ONCE = 10_000
"""Configurations of one ask: more are a slip, which would run for days and fill the file."""


class Study(WrittenStudy):
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
        parameters = ParameterSpace.of(space)
        factory = factory_of(optimizer, "optimizer")
        if "domain" in options:
            raise InvalidInputError(
                "The domain of a study is that of its space; received domain, too. Leave it out, "
                "and give the constraints to ParameterSpace."
            )
        kind = optimizer_class(factory)
        if kind is not None:
            allowed = (*OWN_KEYWORDS, *kind.option_names())
            check_options(options, allowed, f"Optimiser {kind.name!r}")
        made = factory(
            parameters.box,
            direction=direction,
            n_initial=n_initial,
            seed=seed,
            n_constraints=n_constraints,
            noise_std=noise_std,
            domain=parameters.domain,
            **options,
        )
        if path is None:
            self._attach(parameters, made)
            return
        target = journal_path(path).absolute()
        check_may_be_study(target, is_new=True)
        lock = StudyLock(target, wait)
        try:
            start_file(target, made, parameters)
        except BaseException:
            lock.release()
            raise
        self._attach(parameters, made, target, lock)

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
        target = journal_path(path).absolute()
        if not target.is_file():
            raise JournalError(f"There is no study {target}. Check the path, or make a new study.")
        if not read_only:
            check_may_be_study(target, is_new=False)
        lock = None if read_only else StudyLock(target, wait)
        try:
            contents = read_journal(target)
            parameters = space_of_file(contents, space)
            state = support.journal_state(contents)
            optimizer: Optimizer = Optimizer.from_state(state, domain=parameters.domain)
            if lock is not None:
                optimizer.continue_journal(contents)
        except BaseException:
            if lock is not None:
                lock.release()
            raise
        study = cls.__new__(cls)
        study._attach(parameters, optimizer, target, lock)
        study._read_only = read_only
        return study

    def ask(self, n: int = 1, *, fixed: Mapping[str, Any] | None = None) -> list[Suggestion]:
        """Return new configurations to evaluate.

        Parameters
        ----------
        n : int, default 1
            At most 10000.
        fixed : mapping of parameter to value, optional
            What these suggestions have to hold, such as the setting of a knob that is stuck
            today; the others are sought for it. Asks without it are as free as before.

        Returns
        -------
        list of Suggestion, of length n
            On disk before they are returned. Those outstanding are not repeated, and the model
            takes them into account.

        Raises
        ------
        InvalidInputError
            If n is not a positive integer or too many, or a fixed value is not of the space.
        SpaceExhaustedError
            If fewer new configurations are left; those that were are outstanding then, and the
            message has their numbers.
        JournalError
            If the file cannot be written.
        """
        n = as_positive_int(n, "n")
        if n > MOST_AT_ONCE:
            raise InvalidInputError(
                f"At most {MOST_AT_ONCE} configurations can be asked for at once; received {n}. "
                "Ask for as many as are evaluated at a time, and tell their values before the next."
            )
        part = None if fixed is None else self._space.domain_with(fixed)
        with self._mutex:
            self._check_writable()
            before = self._optimizer.history.pending
            try:
                self._optimizer.ask(len(before) + n, within=part if fixed else None)
            except SpaceExhaustedError as error:
                left = [k for k in self._optimizer.history.pending if k not in before]
                if not left:
                    raise
                raise SpaceExhaustedError(
                    f"{error} Of the {n} asked for there were {len(left)}, which are outstanding "
                    f"now: {in_brief(left)}. Study.outstanding has them, in a shell 'boring "
                    "status'."
                ) from error
            return self._suggestions(self._optimizer.history.pending[-n:])

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
            To make, beside those already told; 0 makes none, so that a study that is done can be
            run again with what is left.
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
            Seconds that an evaluation may take; then it has failed, whatever ``on_error`` says and
            whatever it still returns. It is interrupted where it runs in the main thread of a
            process; elsewhere it keeps its worker until it ends, is waited for one second more,
            and recorded then. A run in a thread without workers waits until it ends.
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
        KeyboardInterrupt, SystemExit
            Values that are there are told first; the rest stays outstanding for the next run.
            ``fun`` may raise them wherever it runs, ``SystemExit`` by ``sys.exit``: they end the
            program, and are no failures of a configuration.
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
                as_positive_int(n_evaluations, "n_evaluations", minimum=0),
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
