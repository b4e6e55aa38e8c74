"""What the data of a study say: its subspace, its importances, its noise, and what is open."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from boring._spread import mean_and_spread, root_mean_square
from boring.result import best_so_far

from ._report_values import (
    N_RECENT,
    DirectionReport,
    ImportanceReport,
    OutlookReport,
    RestReport,
)

if TYPE_CHECKING:
    from boring.parameters import ParameterSpace
    from boring.subspace.estimate import SubspaceEstimate

    from .recorded import RecordedStudy

__all__ = [
    "directions_of",
    "estimate_of",
    "importances_of",
    "noise_of",
    "outlook_of",
    "rest_of",
    "unknown_of",
]

WORTH_TELLING = 0.02
"""Share of a direction below which a parameter is not named (chosen here)."""

CLOSE_BIC = 3.0
"""Difference of BIC, in nats, up to which another number of directions is not excluded: beyond it
evidence is called strong (Kass and Raftery 1995, "Bayes factors": 6 of twice the nats)."""

CLOSE_RATIO = 1.5
"""Ratio of neighbouring singular values below which directions are not told apart (chosen here)."""

N_PAIRS = 512
"""Pairs of points from which the effect of the other parameters is computed (chosen here)."""

LARGE_NOISE = 0.1
"""Share of the spread of values from which on noise is worth a sentence (chosen here)."""


def estimate_of(study: RecordedStudy) -> tuple[SubspaceEstimate | None, str | None]:
    """Return the subspace, and why there is none or why it is not to be relied on."""
    from boring.loop.account import AGREED_OVERLAP, CHANGED

    optimizer = study.optimizer
    data = optimizer.observed
    if not data.is_informative:
        return None, "There are no two different values to learn from."
    if study.space.dim == 1:
        return None, "There is one parameter alone."
    try:
        estimate = optimizer.subspace
    except Exception as error:
        return None, f"Its estimate failed: {type(error).__name__}: {error}."
    if estimate is None:
        if not _learns_subspace(study):
            return None, f"The optimiser {optimizer.name!r} learns none."
        return None, f"There are too few values ({data.finite_y.size}) to estimate one."
    if estimate.trusted:
        return estimate, None
    reason = "Refits to parts of the data did not agree on it well enough"
    overlap = estimate.trust.get("overlap")
    change = estimate.trust.get("largest_change", 0.0)
    if estimate.effective_dim == study.space.dim:
        reason = "Every direction is kept, so that none is named"
    elif "points_needed" in estimate.trust:
        reason = (
            f"It takes {math.ceil(estimate.trust['points_needed'])} values to tell "
            f"{estimate.effective_dim} of {study.space.dim} axes from chance"
        )
    elif change > CHANGED:
        reason = (
            f"All else drawn anew, the value changed by {change:.0%} of the first values' spread "
            "more than these directions explain"
        )
    elif overlap is not None and overlap >= AGREED_OVERLAP:
        reason = (
            "A model of these directions did not foresee new values better than one without them"
        )
    elif overlap is not None:
        reason += f" (they found {overlap:.0%} of it again)"
    return estimate, f"{reason}; more evaluations, spread over the space, would tell."


def _learns_subspace(study: RecordedStudy) -> bool:
    from boring.optimizer import Optimizer

    return type(study.optimizer).subspace is not Optimizer.subspace


def directions_of(space: ParameterSpace, estimate: SubspaceEstimate) -> tuple[DirectionReport, ...]:
    from boring.parameters.report import describe_subspace, readable_directions

    owners = [name for name, _ in space.columns]
    labels = space.column_names
    basis, lengthscales = readable_directions(estimate)
    exchanges = describe_subspace(estimate, space).exchanges
    found = []
    for weights, lengthscale, lines in zip(basis.T, lengthscales, exchanges, strict=True):
        order = np.argsort(-np.abs(weights), kind="stable")
        named = [i for i in order if weights[i] ** 2 >= WORTH_TELLING]
        found.append(
            DirectionReport(
                {labels[i]: float(weights[i]) for i in named},
                float(1.0 / lengthscale),
                tuple(dict.fromkeys(owners[i] for i in named)),
                lines,
            )
        )
    return tuple(found)


def rest_of(study: RecordedStudy, directions: tuple[DirectionReport, ...]) -> RestReport | None:
    """Return what the other parameters do.

    Half the mean square of the change when they alone are drawn anew (Jansen 1999, "Analysis of
    variance designs for model output").
    """
    from boring.outlook import objective_model
    from boring.rng import keyed_generator

    named = {name for direction in directions for name in direction.parameters}
    others = [name for name, p in study.space.parameters.items() if p.n_columns]
    others = [name for name in others if name not in named]
    model = objective_model(study.optimizer)
    if not named or not others or model is None:
        return None
    rng = keyed_generator(study.optimizer.entropy, "rest", study.optimizer.n_told)
    first, second = rng.uniform(-1.0, 1.0, (2, N_PAIRS, study.space.dim))
    for name in named:
        columns = study.space.slice_of(name)
        second[:, columns] = first[:, columns]
    box = study.optimizer.space
    means = [model.predict(box.unscale(points))[0] for points in (first, second)]
    return RestReport(tuple(others), root_mean_square(means[0] - means[1]) * 0.5**0.5)


def importances_of(
    space: ParameterSpace, estimate: SubspaceEstimate
) -> tuple[ImportanceReport, ...]:
    """Return importances by parameter; the interval of several columns is the sum of theirs."""
    scores = space.importance_by_parameter(estimate.importance)
    ends = [space.importance_by_parameter(column) for column in estimate.importance_interval.T]
    rows = []
    for name, score in sorted(scores.items(), key=lambda item: -item[1]):
        low, high = (float(end[name]) for end in ends)
        is_known = bool(np.isfinite(low))
        rows.append(
            ImportanceReport(
                name,
                float(score),
                low if is_known else None,
                min(high, 1.0) if is_known else None,
            )
        )
    return tuple(rows)


def noise_of(study: RecordedStudy) -> float | None:
    from boring.outlook import objective_model

    model = objective_model(study.optimizer)
    return None if model is None else float(model.noise_std)


def unknown_of(
    study: RecordedStudy, estimate: SubspaceEstimate | None, noise: float | None
) -> list[str]:
    lines = []
    if estimate is not None:
        lines += _unknown_of_subspace(estimate)
        broad = [
            row.parameter
            for row in importances_of(study.space, estimate)
            if row.low is not None and row.high is not None and row.high - row.low > 0.5
        ]
        if broad:
            lines.append(f"The importance of {', '.join(broad)} is uncertain by more than half.")
    values = study.optimizer.observed.finite_y
    if noise is not None and values.size > 1 and noise > LARGE_NOISE * mean_and_spread(values)[1]:
        lines.append(
            f"Evaluations seem to scatter by about {noise:.3g} (one standard deviation), which is "
            "much beside the spread of all values: the best value may be a lucky one. Repeat it."
        )
    status = study.status()
    if status.n_told and status.n_failed + status.n_infeasible > 0.5 * status.n_told:
        what = [("failed", status.n_failed), ("broke a constraint", status.n_infeasible)]
        done = " or ".join(verb for verb, count in what if count)
        lines.append(f"More than half of the evaluations {done}.")
    return lines


def _unknown_of_subspace(estimate: SubspaceEstimate) -> list[str]:
    lines = []
    rows = estimate.dimension_table
    d = estimate.effective_dim
    if len(rows) > 1:
        best = min(row.bic for row in rows)
        close = sorted({row.effective_dim for row in rows if row.bic - best <= CLOSE_BIC})
        if len(close) > 1:
            listed = ", ".join(map(str, close))
            lines.append(
                f"The number of directions is uncertain: {listed} explain the values about equally "
                "well."
            )
    strengths = estimate.singular_values[:d]
    for j in range(d - 1 if estimate.trusted else 0):
        if strengths[j] < CLOSE_RATIO * strengths[j + 1]:
            lines.append(
                f"Directions {j + 1} and {j + 2} are about equally strong: the values tell the "
                "plane of the two; within it, the directions with the fewest parameters are shown."
            )
    return lines


def outlook_of(study: RecordedStudy) -> OutlookReport:
    from boring.outlook import remaining_improvement

    history = study.optimizer.history
    best = best_so_far(history.y, study.direction, history.constraints(study.n_constraints))
    n_recent = min(N_RECENT, max(0, len(best) - 1))
    gain = None
    if n_recent and np.isfinite(best[-1 - n_recent]):
        gain = float(abs(best[-1] - best[-1 - n_recent]))
    finite = history.y[np.isfinite(history.y)]
    return OutlookReport(
        expected_improvement=remaining_improvement(study.optimizer),
        recent_gain=gain,
        n_recent=n_recent,
        spread=mean_and_spread(finite)[1] if finite.size else None,
    )
