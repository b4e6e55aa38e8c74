"""Convergence curves: best so far against the number of evaluations, over several seeds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from boring.exceptions import InvalidInputError
from boring.typing import Direction, FloatArray

from .metrics import best_so_far, quartiles
from .records import RunRecord

__all__ = ["BestSoFarCurves", "regret_curves", "value_curves"]


@dataclass(frozen=True)
class BestSoFarCurves:
    """Best-so-far curves of one method, checked when they are made.

    Parameters
    ----------
    values : ndarray, shape (n_runs, n_evaluations)
        Row r holds the best of run r after 1, 2, ... evaluations. Infinite where nothing finite
        has been seen yet.
    direction : {"minimize", "maximize"}, default "minimize"
        Rows must not rise when minimising and must not fall when maximising.
    n_failed : int
        How many of the runs stopped early; their last best value is carried on.

    Raises
    ------
    InvalidInputError
        If the shape is another one, a value is NaN, or a row moves the wrong way.
    """

    values: FloatArray
    direction: Direction = "minimize"
    n_failed: int = 0

    def __post_init__(self) -> None:
        values = np.array(self.values, dtype=np.float64)
        if values.ndim != 2 or 0 in values.shape:
            raise InvalidInputError(
                "curves must have shape (n_runs, n_evaluations), at least one of each; "
                f"received {values.shape}."
            )
        if np.any(np.isnan(values)):
            raise InvalidInputError("curves must not hold NaN; take the best so far first.")
        sign = 1.0 if self.direction == "minimize" else -1.0
        wrong = np.argwhere(sign * values[:, 1:] > sign * values[:, :-1])
        if wrong.size:
            run, position = (int(entry) for entry in wrong[0])
            way = "rise" if self.direction == "minimize" else "fall"
            raise InvalidInputError(
                f"a best-so-far curve must never {way}; run {run} goes from "
                f"{values[run, position]} to {values[run, position + 1]} at evaluation "
                f"{position + 2}. Accumulate the best before making curves."
            )
        values.setflags(write=False)
        object.__setattr__(self, "values", values)

    @property
    def n_runs(self) -> int:
        """Number of runs."""
        return int(self.values.shape[0])

    @property
    def n_evaluations(self) -> int:
        """Number of evaluations."""
        return int(self.values.shape[1])

    def final(self) -> FloatArray:
        """Return the last value of each run, shape (n_runs,)."""
        return np.array(self.values[:, -1])

    def summary(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return lower quartile, median and upper quartile, each of shape (n_evaluations,)."""
        columns = np.array([quartiles(column) for column in self.values.T])
        return columns[:, 0], columns[:, 1], columns[:, 2]

    def median(self) -> FloatArray:
        """Return the median over runs, shape (n_evaluations,)."""
        return self.summary()[1]


def _padded(trace: FloatArray, length: int, worst: float) -> FloatArray:
    """Carry the last value of a run that stopped early on to the end."""
    last = trace[-1] if trace.size else worst
    return np.concatenate([trace[:length], np.full(max(length - trace.size, 0), last)])


def _check(records: tuple[RunRecord, ...]) -> int:
    if not records:
        raise InvalidInputError("curves need at least one record.")
    budgets = {record.budget for record in records}
    if len(budgets) != 1:
        raise InvalidInputError(
            f"curves of one method need one budget; received {sorted(budgets)}. "
            "Report the experiments apart."
        )
    return budgets.pop()


def regret_curves(records: Iterable[RunRecord]) -> BestSoFarCurves:
    """Return the simple-regret curves of the records of one method.

    Parameters
    ----------
    records : iterable of RunRecord
        Same experiment and method. Failed runs carry on what they had reached, so that a method
        is not rewarded for failing on the hard seeds.

    Returns
    -------
    BestSoFarCurves

    Raises
    ------
    InvalidInputError
        If there are no records, the budgets differ, or an optimum is unknown.
    """
    runs = tuple(records)
    budget = _check(runs)
    rows = []
    for record in runs:
        if record.simple_regret is None:
            raise InvalidInputError(
                f"the optimum of {record.problem!r} is unknown, so there is no regret; "
                "use value_curves."
            )
        rows.append(_padded(np.array(record.simple_regret), budget, np.inf))
    failed = sum(record.status == "failed" for record in runs)
    return BestSoFarCurves(np.array(rows), "minimize", failed)


def value_curves(records: Iterable[RunRecord]) -> BestSoFarCurves:
    """Return the best-value curves of the records of one method; see :func:`regret_curves`."""
    runs = tuple(records)
    budget = _check(runs)
    direction = runs[0].direction
    worst = np.inf if direction == "minimize" else -np.inf
    rows = [_padded(best_so_far(r.value, direction), budget, worst) for r in runs]
    failed = sum(record.status == "failed" for record in runs)
    return BestSoFarCurves(np.array(rows), direction, failed)
