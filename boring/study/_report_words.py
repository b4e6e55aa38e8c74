"""What a study found, in words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from boring._digits import digits_among

if TYPE_CHECKING:
    from ._report_values import ImportanceReport, OutlookReport, RestReport, StudyReport

__all__ = [
    "average_in_words",
    "guess_in_words",
    "no_best_in_words",
    "outlook_in_words",
    "report_in_words",
]

BREAKS = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]")
"""Characters of a name, a unit or a reason that end a line or move what follows."""

MANY = 12
"""Parameters above which those that hardly matter are summed up in the text (chosen here)."""

DIGITS = 6
"""Of the best value and its settings, where these suffice."""

DIGITS_OF_MEAN = 2
"""Of a mean that is no larger than its standard deviation."""

GUESSED = 4
"""Parameters that are named of a subspace that is not trusted (chosen here)."""

LEAST_SHOWN = 0.02
"""Importance below which a parameter, of many, is not listed (chosen here)."""


def report_in_words(report: StudyReport) -> str:
    """Return a report as text, for reading aloud."""
    parts = [_evaluations(report), _best(report), _subspace(report), _importances(report)]
    unknown = ["What is not known yet:", *(f"  - {line}" for line in report.unknown)]
    parts.append(unknown if report.unknown else [])
    outlook = report.outlook.sentences()
    parts.append(["Outlook: " + " ".join(outlook)] if outlook else [])
    # A line stays one, even where a name in it has a line end.
    return "\n\n".join(
        "\n".join(BREAKS.sub(" ", line) for line in lines) for lines in parts if lines
    )


def outlook_in_words(outlook: OutlookReport) -> list[str]:
    """Return the outlook in sentences."""
    lines = []
    if outlook.recent_gain is not None:
        change = f"improved the best value by {outlook.recent_gain:.3g}"
        if not outlook.recent_gain:
            change = "did not improve the best value"
        lines.append(f"The last {_count(outlook.n_recent, 'evaluation')} {change}.")
    if outlook.expected_improvement is not None:
        lines.append(
            "One more evaluation, put where the model of all values hopes for most, is expected to "
            f"improve it by {outlook.expected_improvement:.3g} on average; the values so far have "
            f"a standard deviation of {outlook.spread:.3g}."
        )
    return lines


def _evaluations(report: StudyReport) -> list[str]:
    wanted = "smallest" if report.direction == "minimize" else "largest"
    counted = _count(report.n_told, "evaluation")
    text = f"{counted} by {report.optimizer}; wanted: the {wanted} value."
    if report.n_failed:
        text += f" Failed: {report.n_failed}."
    if report.n_infeasible:
        text += f" Against a constraint: {report.n_infeasible}."
    if report.n_outstanding:
        text += f" Asked, and without a value yet: {report.n_outstanding}."
    if report.failures:
        listed = "; ".join(f"{reason} ({n})" for reason, n in list(report.failures.items())[:3])
        return [text, f"Reasons of failure: {listed}."]
    return [text]


def no_best_in_words(report: StudyReport) -> str:
    """Return a sentence on a study without a best value."""
    within = " within the constraints" if report.n_infeasible else ""
    return f"There is no best value yet: no evaluation succeeded{within}."


def _best(report: StudyReport) -> list[str]:
    if report.best is None:
        return [no_best_in_words(report)]
    value = report.best["value"]
    digits = digits_among(value, report.outlook.spread, DIGITS)
    shown, more = _settings(report, report.best["parameters"])
    lines = [f"Best value {value:.{digits}g}, with", *(f"  {setting}" for setting in shown)]
    if more:
        lines.append(f"  and {_count(more, 'other')}, which `best` of the study has.")
    average = average_in_words(report)
    return lines if average is None else [*lines, average]


def average_in_words(report: StudyReport) -> str | None:
    """Return a sentence on what is best on average where values are noisy; None without noise."""
    average = report.best_by_mean
    if average is None:
        return None
    mean, sd = average["mean"], average["sd"]
    shown, more = _settings(report, average["parameters"])
    others = [f"and {_count(more, 'other')} (`best_by_mean` of the study)"] if more else []
    digits = digits_among(mean, sd, DIGITS_OF_MEAN)
    return (
        "Values seem noisy, and the best of them lucky: best on average, by the model, is "
        f"{mean:.{digits}g} (standard deviation {sd:.2g}), with {', '.join([*shown, *others])}."
    )


def _settings(report: StudyReport, parameters: Mapping[str, Any]) -> tuple[list[str], int]:
    """Return the settings as texts, and how many are left out as they hardly matter."""
    rest = report.rest.parameters if report.rest and len(parameters) > MANY else ()
    texts = []
    for name, value in parameters.items():
        if name not in rest:
            unit = f" {report.units[name]}" if report.units.get(name) else ""
            digits = report.digits.get(name, DIGITS)
            shown = f"{value:.{digits}g}" if isinstance(value, float) else str(value)
            texts.append(f"{name} = {shown}{unit}")
    return texts, len(rest)


def _subspace(report: StudyReport) -> list[str]:
    if report.why_no_subspace is not None and not report.directions:
        return [f"Active subspace: none. {report.why_no_subspace}"]
    if not report.subspace_trusted:
        return [guess_in_words(report), *filter(None, [report.why_no_subspace])]
    lines = [f"Active subspace: {_directions(report)}, it can be trusted."]
    for i, direction in enumerate(report.directions, start=1):
        sums = " ".join(f"{weight:+.2f} {name}" for name, weight in direction.loadings.items())
        lines.append(f"  direction {i}: {_together(direction.parameters)}{sums}")
        lines += [f"    {line}" for line in direction.exchanges]
    if report.rest is not None:
        lines.append(_rest(report.rest, report))
    return lines


def guess_in_words(report: StudyReport) -> str:
    """Return a subspace that is not trusted in one sentence, without its figures."""
    named = {name for direction in report.directions for name in direction.parameters}
    most = [row.parameter for row in report.importances if row.parameter in named]
    more = f" and {_count(len(most) - GUESSED, 'other')}" if len(most) > GUESSED else ""
    who = f", made mostly of {', '.join(most[:GUESSED])}{more}" if most else ""
    return f"Active subspace: NOT to be trusted yet; as a guess, {_directions(report)}{who}."


def _directions(report: StudyReport) -> str:
    verb = "decides" if report.effective_dim == 1 else "decide"
    return f"{_count(report.effective_dim or 0, 'direction')} {verb}"


def _rest(rest: RestReport, report: StudyReport) -> str:
    n = len(rest.parameters)
    who = f"The other {n} parameters together change" if n > 1 else "The other one changes"
    text = f"{who} the result by about {rest.std:.2g} (one standard deviation)"
    if report.noise_std is not None and rest.std < report.noise_std:
        return f"{text}, less than the noise of one evaluation, {report.noise_std:.2g}."
    if report.outlook.spread is not None:
        return f"{text}; all values so far have one of {report.outlook.spread:.2g}."
    return f"{text}."


def _importances(report: StudyReport) -> list[str]:
    if not report.importances:
        return []
    guess = "" if report.subspace_trusted else ", a guess as the subspace is"
    lines = [f"Importance of the parameters over the whole space (90 % interval){guess}:"]
    shown = list(report.importances)
    if len(shown) > MANY:
        # What a W on axes leaves out may hold as much as any other parameter that it leaves out.
        floor = min((row.high or 0.0 for row in shown if not row.importance), default=0.0)

        def matters(row: ImportanceReport) -> bool:
            high = (row.high or 0.0) - (0.0 if row.importance else floor)
            return max(row.importance, high) >= LEAST_SHOWN

        shown = list(filter(matters, shown)) or shown[:MANY]
    width = max(len(row.parameter) for row in shown)
    for row in shown:
        interval = "" if row.low is None else f"  [{row.low:.2f}, {row.high:.2f}]"
        lines.append(f"  {row.parameter:<{width}}  {row.importance:.2f}{interval}")
    named = {row.parameter for row in shown}
    left = [row for row in report.importances if row.parameter not in named]
    if left:
        total = sum(row.importance for row in left)
        highest = max(row.high or 0.0 for row in left)
        each = f", each {highest:.2f} at most" if highest >= LEAST_SHOWN else ""
        lines.append(f"  {_count(len(left), 'other')}, together {total:.2g}{each}")
    return lines


def _together(names: tuple[str, ...]) -> str:
    """Return who acts in a direction, in words."""
    if not names:
        return ""
    if len(names) == 1:
        return f"{names[0]} alone, "
    return f"{', '.join(names[:-1])} and {names[-1]} act together, "


def _count(n: int, what: str) -> str:
    return f"{n} {what}" + ("" if n == 1 else "s")
