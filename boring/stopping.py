"""Conditions that end a run; combine them with ``&`` and ``|``.

Examples
--------
>>> condition = Target(1e-3) | (Stagnation(20) & MaxEvaluations(50))
>>> status = RunStatus(3, 3, 0.5, np.array([1.0, 0.1, 1e-4]), "minimize")
>>> condition.check(status)
{'target': 0.0001}
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ._brief import fields_in_brief, in_brief
from .exceptions import InvalidInputError
from .typing import Direction, FloatArray
from .validation import as_positive_int, as_real

__all__ = [
    "AllOf",
    "AnyOf",
    "ExpectedImprovementBelow",
    "MaxEvaluations",
    "MaxSeconds",
    "RunStatus",
    "Stagnation",
    "StoppingCondition",
    "Target",
]


@dataclass(frozen=True, eq=False)
class RunStatus:
    """Where a run stands.

    Parameters
    ----------
    n_told : int
        Points told in all, those of earlier runs included.
    n_evaluations : int
        Evaluations of this run.
    seconds : float
        Wall time of this run.
    best_so_far : ndarray, shape (n_told,), caller's sign and units
        NaN until the first finite value.
    direction : {"minimize", "maximize"}
    remaining_improvement : callable, optional
        Returns the largest expected improvement left, caller's units, or None as long as there
        is no model; it is called only where a condition asks, since it fits a model.
    """

    n_told: int
    n_evaluations: int
    seconds: float
    best_so_far: FloatArray
    direction: Direction
    remaining_improvement: Callable[[], float | None] | None = None

    __repr__ = fields_in_brief


class StoppingCondition(ABC):
    """A reason to end a run before its budget does."""

    @abstractmethod
    def check(self, status: RunStatus) -> dict[str, float]:
        """Return the reasons to stop, with the values that gave them; empty to carry on.

        Parameters
        ----------
        status : RunStatus

        Returns
        -------
        dict of str to float
        """

    def __and__(self, other: StoppingCondition) -> StoppingCondition:
        """Stop when both conditions hold."""
        return AllOf((self, other))

    def __or__(self, other: StoppingCondition) -> StoppingCondition:
        """Stop when either condition holds."""
        return AnyOf((self, other))

    def __bool__(self) -> bool:
        """Raise: ``and`` and ``or`` would drop one of two conditions without a word."""
        raise InvalidInputError(
            f"A condition is neither true nor false before the run; received {self!r} in an 'and', "
            "'or', 'not' or 'if'. Join conditions by & and |, and ask whether one is None."
        )


@dataclass(frozen=True)
class AllOf(StoppingCondition):
    """Stop when every condition holds; usually written with ``&``.

    Parameters
    ----------
    conditions : tuple of StoppingCondition
    """

    conditions: tuple[StoppingCondition, ...]

    def __post_init__(self) -> None:
        """Check that all are conditions."""
        _check_conditions(self.conditions)

    def check(self, status: RunStatus) -> dict[str, float]:
        """Return all reasons together, or none."""
        reasons = [condition.check(status) for condition in self.conditions]
        return _merge(reasons) if all(reasons) else {}


@dataclass(frozen=True)
class AnyOf(StoppingCondition):
    """Stop when some condition holds; usually written with ``|``.

    Parameters
    ----------
    conditions : tuple of StoppingCondition
    """

    conditions: tuple[StoppingCondition, ...]

    def __post_init__(self) -> None:
        """Check that all are conditions."""
        _check_conditions(self.conditions)

    def check(self, status: RunStatus) -> dict[str, float]:
        """Return the reasons of the conditions that hold."""
        return _merge([condition.check(status) for condition in self.conditions])


@dataclass(frozen=True)
class MaxEvaluations(StoppingCondition):
    """Stop after a number of evaluations, those of earlier runs included.

    Parameters
    ----------
    n : int
    """

    n: int

    def __post_init__(self) -> None:
        """Check the number."""
        as_positive_int(self.n, "n")

    def check(self, status: RunStatus) -> dict[str, float]:
        """Return ``n_evaluations`` once the number is reached."""
        return {"n_evaluations": float(status.n_told)} if status.n_told >= self.n else {}


@dataclass(frozen=True)
class MaxSeconds(StoppingCondition):
    """Stop once a run has taken a wall time; the evaluation under way is finished first.

    Parameters
    ----------
    seconds : float
        Not part of a journal: a resumed run starts its own clock.
    """

    seconds: float

    def __post_init__(self) -> None:
        """Check the time."""
        if self.seconds != math.inf and not as_real(self.seconds, "seconds", "positive") > 0:
            raise InvalidInputError(
                f"seconds must be positive; received {self.seconds!r}. Pass for example 60."
            )

    def check(self, status: RunStatus) -> dict[str, float]:
        """Return ``seconds`` once the time is up."""
        return {"seconds": status.seconds} if status.seconds >= self.seconds else {}


@dataclass(frozen=True)
class Target(StoppingCondition):
    """Stop once the best value is as good as a target.

    Parameters
    ----------
    value : float, caller's sign and units
    """

    value: float

    def __post_init__(self) -> None:
        """Check the value."""
        as_real(self.value, "A target", "finite")

    def check(self, status: RunStatus) -> dict[str, float]:
        """Return ``target`` with the best value once it is reached."""
        if not status.best_so_far.size:
            return {}
        best = float(status.best_so_far[-1])
        reached = best <= self.value if status.direction == "minimize" else best >= self.value
        return {"target": best} if reached else {}


@dataclass(frozen=True)
class Stagnation(StoppingCondition):
    """Stop when the best value has not improved for a number of evaluations.

    Parameters
    ----------
    n : int
        Length of the window.
    tolerance : float, default 0, units of the objective
        Improvements up to this size do not count.
    """

    n: int
    tolerance: float = 0.0

    def __post_init__(self) -> None:
        """Check window and tolerance."""
        as_positive_int(self.n, "n")
        if not as_real(self.tolerance, "tolerance") >= 0:
            raise InvalidInputError(
                f"tolerance must not be negative; received {self.tolerance!r}. Pass 0 or more."
            )

    def check(self, status: RunStatus) -> dict[str, float]:
        """Return ``stagnation`` with the length of the window once nothing improved in it."""
        best = status.best_so_far
        if best.size <= self.n or not np.isfinite(best[-1 - self.n]):
            return {}
        improvement = abs(float(best[-1]) - float(best[-1 - self.n]))
        return {"stagnation": float(self.n)} if improvement <= self.tolerance else {}


@dataclass(frozen=True)
class ExpectedImprovementBelow(StoppingCondition):
    """Stop when the model of all values expects no improvement worth the evaluation, anywhere.

    It takes long in many dimensions, where much is unknown to the end: join `Stagnation` by ``|``
    if runs are to end that no longer improve. See `boring.outlook.remaining_improvement`.

    Parameters
    ----------
    floor : float, units of the objective
        Improvements smaller than this are not worth an evaluation.
    every : int, default 5
        Told points between two looks, since each fits a model.
    n_min : int, default 20
        Told points before the first look: a model of few points may be sure of the wrong thing.
    """

    floor: float
    every: int = 5
    n_min: int = 20

    def __post_init__(self) -> None:
        """Check floor and numbers."""
        if not as_real(self.floor, "floor") > 0:
            raise InvalidInputError(
                f"floor must be positive; received {self.floor!r}. Pass the smallest improvement "
                "that is worth an evaluation."
            )
        as_positive_int(self.every, "every")
        as_positive_int(self.n_min, "n_min")

    def check(self, status: RunStatus) -> dict[str, float]:
        """Return ``expected_improvement`` with its largest value once it is below the floor."""
        look = status.n_told >= self.n_min and (status.n_told - self.n_min) % self.every == 0
        if not look or status.remaining_improvement is None:
            return {}
        left = status.remaining_improvement()
        return {"expected_improvement": left} if left is not None and left < self.floor else {}


def _check_conditions(conditions: object) -> None:
    for condition in conditions if isinstance(conditions, tuple | list) else (conditions,):
        if not isinstance(condition, StoppingCondition):
            raise InvalidInputError(
                f"Stopping conditions are joined with others; received {in_brief(condition)}. "
                "Build each from boring.stopping, such as Target(0.1) | MaxSeconds(60)."
            )


def _merge(reasons: list[dict[str, float]]) -> dict[str, float]:
    return {name: value for reason in reasons for name, value in reason.items()}
