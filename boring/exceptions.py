"""Exceptions and warning categories of the library.

Every exception derives from :class:`BoringError` and from the built-in exception that a caller
would expect (``ValueError`` or ``RuntimeError``). Every warning derives from
:class:`BoringWarning`, so that one filter silences or escalates all of them. Messages state the
rule, what came, and the remedy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .result import OptimizationResult
    from .typing import FloatArray

__all__ = [
    "BoringError",
    "BoringWarning",
    "BudgetWarning",
    "ConstantObjectiveWarning",
    "DuplicatePointWarning",
    "EvaluationError",
    "FitError",
    "InvalidInputError",
    "JournalError",
    "JournalWarning",
    "NonFiniteWarning",
    "NumericsWarning",
    "OutsideSpaceError",
    "SpaceExhaustedError",
    "SubspaceWarning",
    "UnknownNameError",
]


class BoringError(Exception):
    """Base of every exception that the library raises on purpose.

    Attributes
    ----------
    result : OptimizationResult or None
        Everything that had been evaluated, if the exception ended a run.
    """

    result: OptimizationResult | None = None


class InvalidInputError(BoringError, ValueError):
    """An argument breaks a documented rule."""


class OutsideSpaceError(InvalidInputError):
    """A configuration is understood, and has a value that its space does not hold."""


class UnknownNameError(InvalidInputError):
    """A keyword, option or registered name is not known; the message suggests the nearest."""


class FitError(BoringError, RuntimeError):
    """A model could not be fitted.

    Parameters
    ----------
    message : str
        Rule, what came, remedy.
    history : tuple, optional
        The partial runs, in the form that the raising function documents.
    """

    def __init__(self, message: str, history: tuple[Any, ...] = ()) -> None:
        super().__init__(message)
        self.history = history


class EvaluationError(BoringError, RuntimeError):
    """The objective raised, or returned something that is not a real scalar.

    Parameters
    ----------
    message : str
        Rule, what came, remedy.
    result : OptimizationResult, optional
        Everything that had been evaluated before the failure.
    x : ndarray, shape (D,), optional
        The point, raw units, of which the message may show the beginning alone.
    """

    def __init__(
        self,
        message: str,
        result: OptimizationResult | None = None,
        x: FloatArray | None = None,
    ) -> None:
        super().__init__(message)
        self.result = result
        self.x = x


class JournalError(BoringError, RuntimeError):
    """A journal file is corrupt, foreign, or belongs to another run."""


class SpaceExhaustedError(BoringError, RuntimeError):
    """Every point that may be evaluated has been told or is out for evaluation."""


class BoringWarning(UserWarning):
    """Base of every warning of the library."""


class NumericsWarning(BoringWarning):
    """A computation needed help, such as a large jitter on a Cholesky factor."""


class NonFiniteWarning(BoringWarning):
    """A value of the objective is NaN or infinite; it is recorded and left out of fits."""


class DuplicatePointWarning(BoringWarning):
    """A point was told that had been told before."""


class ConstantObjectiveWarning(BoringWarning):
    """All finite values told so far are equal, so that there is nothing to learn from."""


class BudgetWarning(BoringWarning):
    """The budget ends before the initial design does."""


class JournalWarning(BoringWarning):
    """A journal needed repair, such as the removal of a torn last line."""


class SubspaceWarning(BoringWarning):
    """The data do not identify the active subspace."""
