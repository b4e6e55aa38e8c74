"""What a study found, in plain language and as figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from boring._digits import digits_among
from boring.parameters import Real

from ._findings import (
    directions_of,
    estimate_of,
    importances_of,
    noise_of,
    outlook_of,
    rest_of,
    unknown_of,
)
from ._report_values import (
    DirectionReport,
    ImportanceReport,
    OutlookReport,
    RestReport,
    StudyReport,
)
from ._report_words import DIGITS

if TYPE_CHECKING:
    from .recorded import RecordedStudy

__all__ = [
    "DirectionReport",
    "ImportanceReport",
    "OutlookReport",
    "RestReport",
    "StudyReport",
    "make_report",
]


def make_report(study: RecordedStudy, *, with_subspace: bool = True) -> StudyReport:
    """Return the account of a study.

    Parameters
    ----------
    study : Study
    with_subspace : bool, default True
        Whether to estimate the active subspace, which takes longest.

    Returns
    -------
    StudyReport
    """
    status = study.status()
    history = study.optimizer.history
    estimate, why = (
        estimate_of(study) if with_subspace else (None, "It was left out of this report.")
    )
    noise = noise_of(study)
    directions = () if estimate is None else directions_of(study.space, estimate)
    units = {name: parameter.unit for name, parameter in study.space.parameters.items()}
    failures: dict[str, int] = {}
    for tell in history.tells:
        if not np.isfinite(tell.y):
            reason = tell.error or "no reason given"
            failures[reason] = failures.get(reason, 0) + 1
    return StudyReport(
        direction=study.direction,
        optimizer=status.optimizer,
        n_told=status.n_told,
        n_failed=status.n_failed,
        n_infeasible=status.n_infeasible,
        n_outstanding=len(status.outstanding),
        failures=dict(sorted(failures.items(), key=lambda item: -item[1])),
        best=status.best,
        units={name: unit for name, unit in units.items() if unit},
        directions=directions,
        effective_dim=None if estimate is None else estimate.effective_dim,
        subspace_trusted=estimate is not None and estimate.trusted,
        why_no_subspace=why,
        importances=() if estimate is None else importances_of(study.space, estimate),
        noise_std=noise,
        unknown=tuple(unknown_of(study, estimate, noise)),
        outlook=outlook_of(study),
        rest=rest_of(study, directions),
        digits={} if status.best is None else _digits(study, status.best["parameters"]),
        best_by_mean=study.best_by_mean,
    )


def _digits(study: RecordedStudy, parameters: Mapping[str, Any]) -> dict[str, int]:
    """Return the digits of decimal numbers that need more than usual, their range being narrow."""
    wanted = {
        name: digits_among(parameters[name], parameter.high - parameter.low, DIGITS)
        for name, parameter in study.space.parameters.items()
        if isinstance(parameter, Real) and name in parameters
    }
    return {name: digits for name, digits in wanted.items() if digits > DIGITS}
