"""What a study found, in sentences and small tables of HTML."""

from __future__ import annotations

from typing import Any

from boring.parameters import Fixed, Integer, Real
from boring.parameters.base import Parameter
from boring.study._report_words import average_in_words, guess_in_words, no_best_in_words
from boring.study.report import StudyReport
from boring.study.study import Study, StudyStatus

from ._source import Source, combinations
from ._text import escape, number, shown, table, tag

__all__ = ["about", "findings", "settings_on_paper", "state_line"]

OPEN_ROWS = 12
"""Rows up to which the table of the best settings stands open."""

HEADS = ("parameter", "value", "unit", "range")

MOST_OPEN = 8
"""Settings that stand open where there are more rows than that: those of most importance."""

MOST_REASONS = 3


def state_line(status: StudyStatus, as_of: str) -> str:
    """Return a sentence on whether the study goes on, as text."""
    if status.writer is not None:
        state = f"Open for writing by process {status.writer['pid']} on {status.writer['host']}."
    elif status.stop_reason:
        state = f"Stopped: {', '.join(status.stop_reason).replace('_', ' ')}."
    else:
        state = "Nobody is writing to it at this moment."
    return f"{state} As of {as_of}."


def findings(source: Source) -> str:
    """Return the section on what was found."""
    report = source.report
    right = _decides(source) + _unknown(report) + _outlook(report)
    return (
        f'{_figures_at_a_glance(source)}\n<div class="split">\n<div>{_best(source)}</div>\n'
        f"<div>{right}</div>\n</div>"
    )


def _figures_at_a_glance(source: Source) -> str:
    report = source.report
    wanted = "smallest" if report.direction == "minimize" else "largest"
    if report.best is None:
        cells = [("Best value", "none yet", "")]
    else:
        best = number(report.best["value"], spread=report.outlook.spread)
        cells = [(f"Best value ({wanted} wanted)", best, source.label)]
    cells.append(("Evaluations", str(report.n_told), f"by {report.optimizer}"))
    if report.n_failed:
        cells.append(("Failed", str(report.n_failed), ""))
    if report.n_infeasible:
        cells.append(("Against a constraint", str(report.n_infeasible), ""))
    if report.n_outstanding:
        cells.append(("Without a value yet", str(report.n_outstanding), ""))
    if report.effective_dim is not None:
        trust = "can be trusted" if report.subspace_trusted else "not to be trusted yet"
        cells.append(("Directions that decide", str(report.effective_dim), trust))
    items = "".join(
        f"<div>{tag('dt', escape(name))}<dd><b>{escape(value)}</b>"
        f"{tag('small', escape(more)) if more else ''}</dd></div>"
        for name, value, more in cells
    )
    text = f'<dl class="glance">{items}</dl>'
    if report.failures:
        reasons = list(report.failures.items())
        listed = "; ".join(f"{reason} ({n})" for reason, n in reasons[:MOST_REASONS])
        more = f"; and {len(reasons) - MOST_REASONS} more" if len(reasons) > MOST_REASONS else ""
        text += tag("p", escape(f"Reasons of failure: {listed}{more}."))
    return text


def _best(source: Source) -> str:
    heading = tag("h3", "Best settings", id="best")
    if source.report.best is None:
        return heading + tag("p", no_best_in_words(source.report))
    rows, caption = _settings(source)
    whole = table(caption, HEADS, rows, numeric=(1,))
    sentence = average_in_words(source.report)
    average = "" if sentence is None else tag("p", escape(sentence))
    if len(rows) <= OPEN_ROWS:
        return heading + whole + average
    most = [row.parameter for row in source.report.importances[:MOST_OPEN]]
    first = ""
    if most:
        by_name = {row[0]: row for row in rows}
        chosen = [by_name[name] for name in most]
        first = table(f"{caption}: the most important", HEADS, chosen, numeric=(1,))
    note = tag("p", "All settings stand in the last section.", class_="on-paper")
    summary = f"<summary>All {len(rows)} settings</summary>"
    return f"{heading}{first}{note}<details>{summary}{whole}</details>{average}"


def settings_on_paper(source: Source) -> str:
    """Return the table of all settings where the findings have it closed, which paper cannot open.

    Parameters
    ----------
    source : Source

    Returns
    -------
    str
        HTML; empty if the findings show all settings.
    """
    if source.report.best is None:
        return ""
    rows, caption = _settings(source)
    return table(caption, HEADS, rows, numeric=(1,)) if len(rows) > OPEN_ROWS else ""


def _settings(source: Source) -> tuple[list[tuple[str, str, str, str]], str]:
    """Return the rows of the table of the best settings, and its caption."""
    best = source.report.best
    assert best is not None
    rows = []
    for name, parameter in source.study.space.parameters.items():
        is_inactive = name not in best["parameters"]
        value = "inactive" if is_inactive else shown(best["parameters"][name], 12)
        rows.append((name, value, parameter.unit, _range(parameter)))
    asked = best["number"]
    caption = "Settings of the best value" + ("" if asked is None else f", number {asked}")
    return rows, caption


def _range(parameter: Parameter) -> str:
    if isinstance(parameter, (Real, Integer)):
        gap = "\N{NO-BREAK SPACE}"
        low, high = parameter.low, parameter.high
        texts = (number(end, spread=high - low) for end in (low, high))
        ends = f"{gap}to{gap}".join(texts)
        step = getattr(parameter, "step", None)
        stepped = f" by {number(step)}" if step not in (None, 1) else ""
        text = ends + stepped + (", logarithmic" if parameter.log else "")
    elif isinstance(parameter, Fixed):
        text = "fixed"
    else:
        choices: Any = getattr(parameter, "choices", ())
        text = ", ".join(shown(choice) for choice in choices)
    return text + (f"; if {parameter.when}" if parameter.when else "")


def _decides(source: Source) -> str:
    report = source.report
    text = tag("h3", "What decides", id="decides")
    if not report.directions:
        return text + tag("p", escape(f"Active subspace: none. {report.why_no_subspace or ''}"))
    rank = report.effective_dim or 0
    if report.subspace_trusted:
        counted = "one direction decides" if rank == 1 else f"{rank} directions decide"
        text += tag("p", escape(f"Active subspace: {counted}, it can be trusted."))
        listed = "".join(tag("li", escape(line)) for line in combinations(source))
        text += tag("ul", listed, class_="plain")
    else:
        text += tag("p", escape(guess_in_words(report)))
    if report.why_no_subspace:
        text += tag("p", escape(report.why_no_subspace))
    if report.importances:
        rows = [
            (
                row.parameter,
                f"{row.importance:.3f}",
                "" if row.low is None else f"{row.low:.3f} to {row.high:.3f}",
            )
            for row in report.importances
        ]
        caption = "Importance of the parameters over the whole space"
        rows_as_table = table(
            caption, ("parameter", "importance", "90 % interval"), rows, numeric=(1, 2)
        )
        text += f"<details><summary>Importance as numbers</summary>{rows_as_table}</details>"
    return text


def _unknown(report: StudyReport) -> str:
    if not report.unknown:
        return ""
    listed = "".join(tag("li", escape(line)) for line in report.unknown)
    return tag("h3", "What is not known yet") + tag("ul", listed)


def _outlook(report: StudyReport) -> str:
    lines = report.outlook.sentences()
    return tag("h3", "Outlook") + tag("p", escape(" ".join(lines))) if lines else ""


def about(study: Study) -> str:
    """Return what the study is, as text."""
    varying = sum(1 for p in study.space.parameters.values() if p.n_columns)
    counted = [
        f"{count} {kind} constraint{'' if count == 1 else 's'}"
        for count, kind in (
            (len(study.space.constraints), "known"),
            (study.n_constraints, "measured"),
        )
        if count
    ]
    constraints = f", with {' and '.join(counted)}" if counted else ""
    verb = "Minimised" if study.direction == "minimize" else "Maximised"
    return f"{verb} over {varying} parameter{'' if varying == 1 else 's'}{constraints}."
