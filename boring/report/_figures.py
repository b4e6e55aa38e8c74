"""The figures of a page: what each one draws, with a text for who cannot see it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from boring import plotting
from boring.plotting._sources import points_of
from boring.plotting._sweeps import label_of, parameter_sweeps, range_of, varying_of
from boring.plotting.parallel import by_parameter, draw_parallel, importance_of
from boring.plotting.slices import draw_slices
from boring.subspace.estimate import SubspaceEstimate
from boring.surrogate import ObjectiveProcess

from ._drawing import Draw, Picture
from ._source import Source, combinations
from ._text import number, plain

__all__ = ["pictures"]

MOST_TOLD = 6
"""Parameters that the text of a figure names."""

PARAMETER_ROW = 0.21
"""Inches of a bar."""


def pictures(source: Source) -> dict[str, list[Picture]]:
    """Return the figures that a study has, by section: "course", "matters", "points"."""
    found: dict[str, list[Picture]] = {"course": [], "matters": [], "points": []}
    estimate, model = source.estimate, source.model
    if source.study.optimizer.observed.finite_y.size:
        found["course"].append(_convergence(source))
        found["points"].append(_parallel(source))
    if estimate is not None:
        found["matters"] += [_importance(source, estimate), _loadings(source, estimate)]
        found["matters"].append(_summary(source, estimate))
    if model is not None and source.report.best is not None:
        found["matters"].append(_slices(source, model, source.report.best))
    if estimate is not None:
        found["matters"].append(_spectrum(estimate))
        if estimate.dimension_table:
            found["matters"].append(_dimension(estimate))
    if model is not None and _has_components(model):
        found["matters"].append(_components(source, model))
    return found


def _axes(paint: Callable[[Any], Any]) -> Draw:
    """Return what draws on a figure, from what draws on axes."""
    return lambda figure: paint(figure.add_subplot())


def _convergence(source: Source) -> Picture:
    result = source.study.result()
    best = result.best_so_far()
    known = np.flatnonzero(np.isfinite(best))
    alt = f"{result.n_evaluations} evaluations; no value meets the constraints."
    if known.size:
        first, last = int(known[0]), float(best[-1])
        began, ended = (
            number(v, 4, spread=np.ptp(best[known])) for v in (float(best[first]), last)
        )
        reached = int(np.flatnonzero(best == last)[0]) + 1
        alt = (
            f"Best value so far over {result.n_evaluations} evaluations: from "
            f"{began} at evaluation {first + 1} to {ended}, reached at evaluation {reached}."
        )
    initial = sum(1 for row in source.study.rows() if row.get("phase") in ("initial", "told"))
    is_shaded = initial < result.n_evaluations
    shaded = " Shaded: earlier data and the initial design." if is_shaded else ""
    meets = " that meets the constraints" if source.study.n_constraints else ""
    crosses = ", crosses those that break a constraint" if source.study.n_constraints else ""
    return Picture(
        "convergence",
        "Best value so far",
        alt,
        f"Steps are the best value{meets}; dots are single evaluations, "
        f"triangles those beyond the axis{crosses}.{shaded}",
        _axes(
            lambda ax: plotting.plot_convergence(
                result,
                ax,
                ylabel=source.ylabel,
                n_initial=initial if is_shaded else None,
            )
        ),
        is_wide=True,
    )


def _trust(estimate: SubspaceEstimate) -> str:
    return "" if estimate.trusted else " The subspace is not to be trusted yet."


def _importance(source: Source, estimate: SubspaceEstimate) -> Picture:
    rows = source.report.importances
    by_parameter = replace(
        estimate,
        importance=np.array([row.importance for row in rows]),
        importance_interval=np.array([(row.low, row.high) for row in rows], dtype=np.float64),
    )
    names = [plain(row.parameter) for row in rows]
    told = "; ".join(
        f"{row.parameter} {row.importance:.0%}"
        + ("" if row.low is None else f" ({row.low:.0%} to {row.high:.0%})")
        for row in rows[:MOST_TOLD]
    )
    more = max(0, len(rows) - MOST_TOLD)
    return Picture(
        "importance",
        "Importance of the parameters",
        f"Bars, largest first: {told}{f'; and {more} more' if more else ''}.{_trust(estimate)}",
        "Share of the mean squared slope of the model over the whole space. Lines are intervals "
        "of nominally 90 %.",
        _axes(lambda ax: plotting.plot_importance(by_parameter, ax, names=names)),
        height=float(np.clip(1.1 + PARAMETER_ROW * len(names), 2.2, 4.6)),
        drops="Importance",
    )


def _loadings(source: Source, estimate: SubspaceEstimate) -> Picture:
    assert source.basis is not None
    rank = source.basis.shape[1]
    return Picture(
        "loadings",
        "Directions that decide",
        f"Bars of the weights in each direction. {'; '.join(combinations(source))}.",
        "Weight of each parameter, scaled to its range; negative ones are hatched. Lines are "
        "intervals of nominally 90 %."
        + (
            " The values tell what the directions span together; within it they are turned so that "
            "each has few large weights."
            if rank > 1
            else ""
        ),
        lambda figure: plotting.plot_loadings(estimate, figure, names=source.names),
        height=float(np.clip(1.7 + PARAMETER_ROW * len(source.names), 2.4, 4.6)),
        drops="Active directions",
    )


def _summary(source: Source, estimate: SubspaceEstimate) -> Picture:
    assert source.basis is not None
    rank = source.basis.shape[1]
    over = "z1" if rank == 1 else "z1 and z2"
    return Picture(
        "summary",
        f"Values over {over}",
        f"All values over {over}, with the mean of a model. "
        f"{'; '.join(combinations(source)[:2])}.{_trust(estimate)}",
        (
            "If the direction tells nearly everything, the points follow the line."
            if rank == 1
            else "Points and surface share one scale of colours; where they agree, the directions "
            "tell nearly everything. The surface fades where the model does not know."
        )
        + (" Crosses are points that break a constraint." if source.study.n_constraints else ""),
        _axes(
            lambda ax: plotting.plot_sufficient_summary(
                source.study.optimizer, ax=ax, names=source.names, ylabel=source.ylabel
            )
        ),
        height=4.0,
    )


def _spectrum(estimate: SubspaceEstimate) -> Picture:
    values = ", ".join(number(float(v), 3) for v in estimate.singular_values[:MOST_TOLD])
    return Picture(
        "spectrum",
        "Strength of the directions",
        f"Singular values, largest first: {values}; the first {estimate.effective_dim} are taken "
        f"for active.{_trust(estimate)}",
        "How fast the value changes along each direction. A gap after the filled points says that "
        "the others do not matter.",
        _axes(lambda ax: plotting.plot_spectrum(estimate, ax)),
        drops="Spectrum",
    )


def _dimension(estimate: SubspaceEstimate) -> Picture:
    best = min(row.bic for row in estimate.dimension_table)
    lowest: dict[int, float] = {}
    for row in estimate.dimension_table:
        d = row.effective_dim
        lowest[d] = min(lowest.get(d, np.inf), row.bic - best)
    told = ", ".join(f"{d}: {number(bic, 3)}" for d, bic in sorted(lowest.items())[:MOST_TOLD])
    return Picture(
        "dimension",
        "How many directions",
        f"BIC above the lowest by number of directions: {told}. Taken: {estimate.effective_dim}.",
        "The lowest explains the values best for its size. A difference below 1 decides nothing; "
        "one above 3 is strong evidence.",
        _axes(lambda ax: plotting.plot_dimension(estimate, ax)),
        drops="Evidence for each dimension",
    )


def _slices(source: Source, model: ObjectiveProcess, best: dict[str, Any]) -> Picture:
    sweeps = parameter_sweeps(source.study.space, source.study.space.encode(best["parameters"])[0])
    count = min(len(sweeps), 6)
    value = number(float(best["value"]), 4, spread=source.report.outlook.spread)
    importance = None if source.estimate is None else source.estimate.importance
    which = "that change it most" if importance is None else "of most importance"
    return Picture(
        "slices",
        "Around the best point",
        f"Mean of the model along each of {count} parameters {which}, all others as in the best "
        f"point, whose value is {value}.",
        "Dotted: the best point. Bands and bars: two standard deviations of the model, without "
        "noise.",
        lambda figure: draw_slices(
            figure,
            model,
            sweeps,
            value=float(best["value"]),
            top=count,
            ylabel=source.ylabel,
            importance=importance,
        ),
        height=1.1 + 1.75 * -(-count // 3),
        drops="Slices through the incumbent",
    )


def _has_components(model: ObjectiveProcess) -> bool:
    """Say whether a model has passive components, beside the active one and a constant."""
    return len(model.posterior.model.kernel.terms) > 1


def _components(source: Source, model: ObjectiveProcess) -> Picture:
    names = model.component_names
    return Picture(
        "components",
        "Parts of the model",
        f"The model is a sum of {len(names)} parts: {_listed(names)}.",
        "Each part over its own directions: one with a band of two standard deviations, two as a "
        "map that fades where the model does not know. Marks are the evaluations.",
        lambda figure: plotting.plot_components(
            model,
            figure,
            names=source.names,
            direction=source.study.direction,
            ylabel=f"part of {source.ylabel}",
        ),
        height=5.0,
        drops="Components of the model",
    )


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:MOST_TOLD])
    return shown if len(names) <= MOST_TOLD else f"{shown} and {len(names) - MOST_TOLD} more"


def _parallel(source: Source) -> Picture:
    study = source.study
    run = by_parameter(points_of(study.optimizer).finite(), study.space)
    feasible = run.feasible
    left_out = ""
    if not feasible.any():
        left_out = " No point meets the constraints: all are drawn."
    elif not feasible.all():
        left_out = " Points that break a constraint are left out."
    drawn = int(feasible.sum()) or len(feasible)
    lines = "point as a line" if drawn == 1 else "points as lines"
    return Picture(
        "parallel",
        "All points at once",
        f"{drawn} evaluated {lines} across the parameters, coloured by the rank of their "
        "values. The table below has the same numbers.",
        "Each parameter runs from its lower bound at the foot to its upper bound at the head, and "
        f"stands below where it is inactive; the thick line is the best point.{left_out}",
        _axes(
            lambda ax: draw_parallel(
                ax,
                run,
                [label_of(parameter) for parameter in varying_of(study.space)],
                ranges=[range_of(parameter) for parameter in varying_of(study.space)],
                importance=lambda: importance_of(source.estimate, study.space),
                label=source.ylabel,
            )
        ),
        height=4.4,
        is_wide=True,
    )
