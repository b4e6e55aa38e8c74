"""What a study found, in plain language and as figures."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from boring.account import AGREED_OVERLAP
from boring.result import best_so_far

if TYPE_CHECKING:
    from boring.parameters import ParameterSpace
    from boring.subspace.estimate import SubspaceEstimate

    from .study import Study

__all__ = [
    "DirectionReport",
    "ImportanceReport",
    "OutlookReport",
    "RestReport",
    "StudyReport",
    "make_report",
]

N_RECENT = 10
"""Evaluations over which the recent gain is told (chosen here)."""

WORTH_TELLING = 0.02
"""Share of a direction or of importance below which a parameter is not named (chosen here)."""

CLOSE_BIC = 6.0
"""Difference of BIC up to which another number of directions is not excluded: beyond it evidence
is called strong (Kass and Raftery 1995, "Bayes factors")."""

CLOSE_RATIO = 1.5
"""Ratio of neighbouring singular values below which directions are not told apart (chosen here)."""

MANY = 12
"""Parameters above which those that hardly matter are summed up in the text (chosen here)."""

N_PAIRS = 512
"""Pairs of points from which the effect of the other parameters is computed (chosen here)."""

LARGE_NOISE = 0.1
"""Share of the spread of values from which on noise is worth a sentence (chosen here)."""


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


@dataclass(frozen=True)
class OutlookReport:
    """How far more evaluations are expected to help.

    Parameters
    ----------
    expected_improvement : float or None
        Largest that the model sees for a single next evaluation, units of the objective.
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
        lines = []
        if self.recent_gain is not None:
            change = f"improved the best value by {self.recent_gain:.3g}"
            if not self.recent_gain:
                change = "did not improve the best value"
            lines.append(f"The last {_count(self.n_recent, 'evaluation')} {change}.")
        if self.expected_improvement is not None:
            lines.append(
                "The model expects the next evaluation to improve it by up to "
                f"{self.expected_improvement:.3g}; the values so far have a standard deviation "
                f"of {self.spread:.3g}."
            )
        return lines


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

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON-able values."""
        return asdict(self)

    def __str__(self) -> str:
        """Return the report as text, for reading aloud."""
        parts = [self._evaluations(), self._best(), self._subspace(), self._importances()]
        unknown = ["What is not known yet:", *(f"  - {line}" for line in self.unknown)]
        parts.append("\n".join(unknown) if self.unknown else "")
        parts.append(self._outlook())
        return "\n\n".join(part for part in parts if part)

    def _evaluations(self) -> str:
        wanted = "smallest" if self.direction == "minimize" else "largest"
        counted = _count(self.n_told, "evaluation")
        text = f"{counted} by {self.optimizer}; wanted: the {wanted} value."
        if self.n_failed:
            text += f" Failed: {self.n_failed}."
        if self.n_infeasible:
            text += f" Against a constraint: {self.n_infeasible}."
        if self.n_outstanding:
            text += f" Asked, and without a value yet: {self.n_outstanding}."
        if self.failures:
            listed = "; ".join(f"{reason} ({n})" for reason, n in list(self.failures.items())[:3])
            text += f"\nReasons of failure: {listed}."
        return text

    def _best(self) -> str:
        if self.best is None:
            return "There is no best value yet: no evaluation succeeded within the constraints."
        lines = [f"Best value {self.best['value']:.6g}, with"]
        parameters = self.best["parameters"]
        rest = self.rest.parameters if self.rest and len(parameters) > MANY else ()
        for name, value in parameters.items():
            if name not in rest:
                unit = f" {self.units[name]}" if self.units.get(name) else ""
                shown = f"{value:.6g}" if isinstance(value, float) else str(value)
                lines.append(f"  {name} = {shown}{unit}")
        if rest:
            lines.append(f"  and {_count(len(rest), 'other')}, which `best` of the study has.")
        return "\n".join(lines)

    def _subspace(self) -> str:
        if self.why_no_subspace is not None and not self.directions:
            return f"Active subspace: not yet. {self.why_no_subspace}"
        trust = "it can be trusted" if self.subspace_trusted else "NOT to be trusted yet"
        verb = "decides" if self.effective_dim == 1 else "decide"
        counted = _count(self.effective_dim or 0, "direction")
        lines = [f"Active subspace: {counted} {verb}, {trust}."]
        for i, direction in enumerate(self.directions, start=1):
            sums = " ".join(f"{weight:+.2f} {name}" for name, weight in direction.loadings.items())
            lines.append(f"  direction {i}: {_together(direction.parameters)}{sums}")
            lines += [f"    {line}" for line in direction.exchanges]
        if self.rest is not None:
            lines.append(self._rest(self.rest))
        if self.why_no_subspace is not None:
            lines.append(self.why_no_subspace)
        return "\n".join(lines)

    def _rest(self, rest: RestReport) -> str:
        n = len(rest.parameters)
        who = f"The other {n} parameters together change" if n > 1 else "The other one changes"
        text = f"{who} the result by about {rest.std:.2g} (one standard deviation)"
        if self.noise_std is not None and rest.std < self.noise_std:
            return f"{text}, less than the noise of one evaluation, {self.noise_std:.2g}."
        if self.outlook.spread is not None:
            return f"{text}; all values so far have one of {self.outlook.spread:.2g}."
        return f"{text}."

    def _importances(self) -> str:
        if not self.importances:
            return ""
        lines = ["Importance of the parameters over the whole space (90 % interval):"]
        shown = list(self.importances)
        if len(shown) > MANY:
            shown = [row for row in shown if max(row.importance, row.high or 0.0) >= WORTH_TELLING]
            shown = shown or list(self.importances[:MANY])
        width = max(len(row.parameter) for row in shown)
        for row in shown:
            interval = "" if row.low is None else f"  [{row.low:.2f}, {row.high:.2f}]"
            lines.append(f"  {row.parameter:<{width}}  {row.importance:.2f}{interval}")
        left = self.importances[len(shown) :]
        if left:
            total = sum(row.importance for row in left)
            lines.append(f"  {_count(len(left), 'other')}, together {total:.2g}")
        return "\n".join(lines)

    def _outlook(self) -> str:
        lines = self.outlook.sentences()
        return "Outlook: " + " ".join(lines) if lines else ""


def make_report(study: Study, *, with_subspace: bool = True) -> StudyReport:
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
    history = study.optimizer._history
    estimate, why = _estimate(study) if with_subspace else (None, "It was not asked for.")
    noise = _noise(study)
    directions = () if estimate is None else _directions(study.space, estimate)
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
        units=_units(study.space),
        directions=directions,
        effective_dim=None if estimate is None else estimate.effective_dim,
        subspace_trusted=estimate is not None and estimate.trusted,
        why_no_subspace=why,
        importances=() if estimate is None else _importances(study.space, estimate),
        noise_std=noise,
        unknown=tuple(_unknown(study, estimate, noise)),
        outlook=_outlook(study),
        rest=_rest_of(study, directions),
    )


def _estimate(study: Study) -> tuple[SubspaceEstimate | None, str | None]:
    """Return the subspace, and why there is none or why it is not to be relied on."""
    optimizer = study.optimizer
    data = optimizer.data
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
    if overlap is not None and overlap >= AGREED_OVERLAP:
        reason = (
            "A model of these directions did not foresee new values better than one without them"
        )
    elif overlap is not None:
        reason += f" (they found {overlap:.0%} of it again)"
    return estimate, f"{reason}; more evaluations, spread over the space, would tell."


def _learns_subspace(study: Study) -> bool:
    from boring.optimizer import Optimizer

    return type(study.optimizer).subspace is not Optimizer.subspace


def _directions(space: ParameterSpace, estimate: SubspaceEstimate) -> tuple[DirectionReport, ...]:
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


def _rest_of(study: Study, directions: tuple[DirectionReport, ...]) -> RestReport | None:
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
    return RestReport(tuple(others), float(np.sqrt(0.5 * np.mean((means[0] - means[1]) ** 2))))


def _importances(space: ParameterSpace, estimate: SubspaceEstimate) -> tuple[ImportanceReport, ...]:
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


def _units(space: ParameterSpace) -> dict[str, str]:
    units = {name: parameter.unit for name, parameter in space.parameters.items()}
    return {name: unit for name, unit in units.items() if unit}


def _noise(study: Study) -> float | None:
    from boring.outlook import objective_model

    model = objective_model(study.optimizer)
    return None if model is None else float(model.noise_std)


def _unknown(study: Study, estimate: SubspaceEstimate | None, noise: float | None) -> list[str]:
    lines = []
    if estimate is not None:
        lines += _unknown_of_subspace(estimate)
        broad = [
            row.parameter
            for row in _importances(study.space, estimate)
            if row.low is not None and row.high is not None and row.high - row.low > 0.5
        ]
        if broad:
            lines.append(f"The importance of {', '.join(broad)} is uncertain by more than half.")
    values = study.optimizer.data.finite_y
    if noise is not None and values.size > 1 and noise > LARGE_NOISE * float(values.std()):
        lines.append(
            f"Evaluations seem to scatter by about {noise:.3g} (one standard deviation), which is "
            "much beside the spread of all values: the best value may be a lucky one. Repeat it."
        )
    status = study.status()
    if status.n_told and status.n_failed + status.n_infeasible > 0.5 * status.n_told:
        lines.append("More than half of the evaluations failed or broke a constraint.")
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
    for j in range(d - 1):
        if strengths[j] < CLOSE_RATIO * strengths[j + 1]:
            lines.append(
                f"Directions {j + 1} and {j + 2} are about equally strong: the values tell the "
                "plane of the two; within it, the directions with the fewest parameters are shown."
            )
    return lines


def _outlook(study: Study) -> OutlookReport:
    from boring.outlook import remaining_improvement

    history = study.optimizer._history
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
        spread=float(finite.std()) if finite.size else None,
    )


def _together(names: tuple[str, ...]) -> str:
    """Return who acts in a direction, in words."""
    if not names:
        return ""
    if len(names) == 1:
        return f"{names[0]} alone, "
    return f"{', '.join(names[:-1])} and {names[-1]} act together, "


def _count(n: int, what: str) -> str:
    return f"{n} {what}" + ("" if n == 1 else "s")
