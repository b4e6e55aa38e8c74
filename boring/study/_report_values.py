"""What a study found, as figures."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from boring._brief import fields_in_brief

from ._report_words import outlook_in_words, report_in_words

__all__ = ["DirectionReport", "ImportanceReport", "OutlookReport", "RestReport", "StudyReport"]

N_RECENT = 10
"""Evaluations over which the recent gain is told (chosen here)."""


@dataclass(frozen=True)
class ImportanceReport:
    """Importance of one parameter.

    Parameters
    ----------
    parameter : str
    importance : float
        Share of the mean squared derivative over the whole space; all sum to 1.
    low, high : float or None
        Ends of an interval of nominally 90 percent; None where it was not worked out.
    """

    parameter: str
    importance: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class DirectionReport:
    """One direction of the active subspace.

    Parameters
    ----------
    loadings : dict of str to float
        From columns to their weights, largest first, small ones left out; squares of all sum to 1.
        Of several directions the data identify the span alone; these are turned so that each has
        few large weights.
    strength : float
        Slope of the model along the direction, one over its lengthscale.
    parameters : tuple of str
        That the columns belong to, in their order.
    exchanges : tuple of str
        What a step of one parameter does, in steps of the others.
    """

    loadings: dict[str, float]
    strength: float
    parameters: tuple[str, ...] = ()
    exchanges: tuple[str, ...] = ()

    __repr__ = fields_in_brief


@dataclass(frozen=True)
class RestReport:
    """What the parameters that no direction names do together.

    Parameters
    ----------
    parameters : tuple of str
    std : float
        Standard deviation of what they change the result by over the whole space, the others
        being held, as the model sees it; units of the objective.
    """

    parameters: tuple[str, ...]
    std: float

    __repr__ = fields_in_brief


@dataclass(frozen=True)
class OutlookReport:
    """How far more evaluations are expected to help.

    Parameters
    ----------
    expected_improvement : float or None
        Largest over the whole box of a single evaluation, as the model of all values sees it, units
        of the objective: of an evaluation that is put there, and not of the next proposal.
    recent_gain : float or None
        By how much the best value improved over the last ``n_recent`` evaluations.
    n_recent : int
    spread : float or None
        Standard deviation of all values, to compare with.
    """

    expected_improvement: float | None
    recent_gain: float | None
    n_recent: int
    spread: float | None

    def sentences(self) -> list[str]:
        """Return the outlook in words."""
        return outlook_in_words(self)


@dataclass(frozen=True)
class StudyReport:
    """The account of a study.

    Parameters
    ----------
    direction, optimizer : str
    n_told, n_failed, n_infeasible, n_outstanding : int
    failures : dict of str to int
        Reasons of failures, most frequent first.
    best : dict or None
        ``parameters``, ``value`` and ``number``.
    units : dict of str to str
        Of the parameters that have one.
    directions : tuple of DirectionReport
        Of the active subspace; empty if none is named.
    effective_dim : int or None
    subspace_trusted : bool
    why_no_subspace : str or None
    importances : tuple of ImportanceReport
        Most important first.
    noise_std : float or None
        Of one evaluation, as the model sees it, units of the objective.
    unknown : tuple of str
        What is not known yet, in sentences.
    outlook : OutlookReport
    rest : RestReport or None
        None where all parameters are named, or none.
    digits : dict of str to int
        In which the best setting is told, of the parameters that need more than six.
    best_by_mean : dict or None
        ``parameters``, ``mean`` and ``sd`` of the best on average; None where no noise is seen.
    """

    direction: str
    optimizer: str
    n_told: int
    n_failed: int
    n_infeasible: int
    n_outstanding: int
    failures: dict[str, int]
    best: dict[str, Any] | None
    units: dict[str, str]
    directions: tuple[DirectionReport, ...]
    effective_dim: int | None
    subspace_trusted: bool
    why_no_subspace: str | None
    importances: tuple[ImportanceReport, ...]
    noise_std: float | None
    unknown: tuple[str, ...]
    outlook: OutlookReport = field(
        default_factory=lambda: OutlookReport(None, None, N_RECENT, None)
    )
    rest: RestReport | None = None
    digits: dict[str, int] = field(default_factory=dict)
    best_by_mean: dict[str, Any] | None = None

    __repr__ = fields_in_brief

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON-able values."""
        return asdict(self)

    def __str__(self) -> str:
        """Return the report as text, for reading aloud."""
        return report_in_words(self)
