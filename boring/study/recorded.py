"""What a study holds, and what can be read from it."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from boring.exceptions import InvalidInputError
from boring.history import Tell
from boring.optimizer import Optimizer
from boring.parameters import ParameterSpace
from boring.result import OptimizationResult, best_index, feasible_rows
from boring.rng import single_blas_thread
from boring.typing import Direction, FloatArray

from . import _tables
from ._lock import StudyLock, writer_of
from ._translation import all_parameters_of, parameters_of, suggestions
from .status import StudyStatus, Suggestion

if TYPE_CHECKING:
    from boring.subspace.estimate import SubspaceEstimate

    from .report import StudyReport

__all__ = ["RecordedStudy"]


class RecordedStudy:
    """Parameters, an optimiser and its file, to be looked at.

    Parameters
    ----------
    space : ParameterSpace
    optimizer : Optimizer
        Of the points of this space.
    """

    def __init__(self, space: ParameterSpace, optimizer: Optimizer) -> None:
        self._attach(space, optimizer)

    def _attach(
        self,
        space: ParameterSpace,
        optimizer: Optimizer,
        path: Path | None = None,
        lock: StudyLock | None = None,
    ) -> None:
        self._space = space
        self._optimizer = optimizer
        self._path = path
        self._lock = lock
        self._mutex = threading.RLock()
        self._read_only = False
        self._is_running = False
        if lock is not None:
            # Of a study that is dropped or left open; a killed process leaves it to the system.
            weakref.finalize(self, lock.release)

    def __repr__(self) -> str:
        """Return where the study stands, in one line."""
        status = self.status()
        best = "none yet" if status.best is None else f"{status.best['value']:.10g}"
        return (
            f"<{type(self).__name__} {status.path or 'in memory'}: {status.direction} "
            f"{len(self._space.names)} parameters by {status.optimizer}; {status.n_told} told, "
            f"{len(status.outstanding)} outstanding; best value {best}>"
        )

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled or copied: a file has one writer."""
        raise InvalidInputError(
            "A study cannot be pickled or copied, since its file has one writer. Pass the path, "
            "and Study.open(path, read_only=True) there; study.optimizer, result() and "
            "to_dataframe() can be pickled."
        )

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
            return self._suggestions(self._optimizer.history.pending)

    @property
    def best(self) -> dict[str, Any] | None:
        """``parameters``, ``value`` and ``number`` of the best feasible value; None without one.

        Black-box constraints say what is feasible; what was told against known ones counts, too.
        """
        with self._mutex:
            history = self._optimizer.history
            constraints = history.constraints(self.n_constraints)
            index = best_index(history.y, self.direction, constraints)
            if index is None or not feasible_rows(history.y, constraints)[index]:
                return None
            told = history.tells[index]
            return {
                "parameters": parameters_of(told, self._space),
                "value": told.y,
                "number": told.ask,
            }

    @property
    def best_by_mean(self) -> dict[str, Any] | None:
        """``parameters``, ``mean`` and ``sd`` of the configuration told that is best on average.

        By the model, which averages noise out, whereas the best of many noisy values is too good
        to be true. None as long as the optimiser sees no noise, or knows no such model.
        """
        with self._mutex:
            found = self._optimizer.best_by_mean
            if found is None:
                return None
            history = self._optimizer.history
            told = next(tell for tell in history.tells if np.array_equal(tell.x, found.x))
            parameters = parameters_of(told, self._space)
            return {"parameters": parameters, "mean": found.mean, "sd": found.sd}

    def predict(self, configurations: Any) -> tuple[FloatArray, FloatArray]:
        """Return what the model expects of configurations, whether they were tried or not.

        Parameters
        ----------
        configurations : dict, list of dict, or pandas.DataFrame
            One configuration, several, or one each row.

        Returns
        -------
        mean, sd : ndarray, shape (n,), units of the values
            Mean and standard deviation of the objective, without the noise of a further
            evaluation, and whatever constraints and failures say. Of values that were added, none
            asked for yet, the subspace is estimated first: some seconds, once.

        Raises
        ------
        InvalidInputError
            If a configuration is not of the space, or there is no model since no two finite
            values differ.
        """
        from boring.outlook import objective_model

        points = self._space.encode(configurations)
        with self._mutex:
            model = objective_model(self._optimizer)
        if model is None:
            raise InvalidInputError(
                "A prediction needs two finite values that differ; the study has "
                f"{np.unique(self._optimizer.observed.finite_y).size}. Tell more values first."
            )
        with single_blas_thread():
            return model.predict_with_sd(points)

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
            history = self._optimizer.history
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
            history = self._optimizer.history
            told = self.told()
            return _tables.rows_of_history(history, told, self._space.names, self.n_constraints)

    def told(self) -> list[tuple[Tell, dict[str, Any]]]:
        """Return what was told, and the configuration of each, in the order of telling."""
        with self._mutex:
            tells = self._optimizer.history.tells
            return list(zip(tells, all_parameters_of(tells, self._space), strict=True))

    def to_dataframe(self) -> Any:
        """Return `rows` as a pandas DataFrame."""
        return _tables.dataframe(self.rows(), self._space, self.n_constraints)

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write `rows` to a CSV file, which `add_csv` of another study reads back bit for bit.

        Parameters
        ----------
        path : path-like
            An older table is overwritten, a study is not.

        Raises
        ------
        JournalError
            If the file is a study or another journal.
        """
        _tables.write_csv(Path(path), self.rows(), self._space, self.n_constraints)

    def _suggestions(self, numbers: Iterable[int]) -> list[Suggestion]:
        return suggestions(self._space, self._optimizer.history, numbers)
