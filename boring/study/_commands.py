"""What the commands do: each returns text for people and values for machines."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

from boring._whole_file import whole_file
from boring.exceptions import BoringError, InvalidInputError
from boring.parameters.base import Parameter

from ._command_input import (
    UsageError,
    integer,
    json_object,
    options,
    plain,
    real,
    space_argument,
)
from .report import make_report
from .status import Suggestion
from .study import Study


class NothingYetError(BoringError):
    """There is nothing to show yet."""


Answer: TypeAlias = tuple[str, Any]

VALUE_WORDS = {
    **dict.fromkeys(("convergence", "slices", "summary"), "ylabel"),
    "parallel": "label",
}
"""What the pictures that show values call their label."""


def init(args: argparse.Namespace) -> Answer:
    with Study(
        space_argument(args.space),
        direction=args.direction,
        path=args.file,
        optimizer=args.optimizer,
        seed=args.seed,
        n_initial=args.n_initial,
        n_constraints=args.n_constraints,
        noise_std=args.noise_std,
        wait=args.wait,
        **options(args.options),
    ) as study:
        names = list(study.space.names)
        values = {
            "path": str(args.file),
            "parameters": names,
            "direction": study.direction,
            "optimizer": study.optimizer.name,
            "seed": str(study.optimizer.entropy),
        }
        lines = [
            f"New study {args.file}: {_count(len(names), 'parameter')}, {args.optimizer}.",
            *(f"  {name}: {_kind_of(study.space.parameters[name])}" for name in names),
            *(f"  always {constraint.describe()}" for constraint in study.space.constraints),
        ]
    return "\n".join(lines), values


def ask(args: argparse.Namespace) -> Answer:
    with _writing(args) as study:
        suggestions = study.ask(args.n, fixed=json_object(args.fixed, "--fixed"))
    return "\n".join(map(_line_of, suggestions)), {
        "suggestions": [suggestion.to_dict() for suggestion in suggestions]
    }


def tell(args: argparse.Namespace) -> Answer:
    words = list(args.number_and_value)
    wanted = (args.parameters is None) + (args.failed is None)
    if len(words) != wanted:
        raise UsageError(
            "tell takes NUMBER VALUE, NUMBER --failed REASON, --parameters JSON VALUE, or "
            f"--parameters JSON --failed REASON; beside the file, it received "
            f"{' '.join(words) if words else 'nothing'}. Say 'boring tell --help'."
        )
    what: Any
    if args.parameters is None:
        what = integer(words[0])
    else:
        what = json_object(args.parameters, "--parameters")
    with _writing(args) as study:
        if args.failed is not None:
            study.tell_failed(what, args.failed)
        else:
            study.tell(what, real(words[-1], "VALUE"), args.constraints)
        status = study.status()
    return f"Told: {_count(status.n_told, 'value')}.", {
        "n_told": status.n_told,
        "best": status.best,
    }


def withdraw(args: argparse.Namespace) -> Answer:
    with _writing(args) as study:
        study.withdraw(args.number)
        outstanding = list(study.status().outstanding)
    return f"Withdrawn: {args.number}.", {"outstanding": outstanding}


def status(args: argparse.Namespace) -> Answer:
    study = _reading(args)
    status, outstanding = study.status(), study.outstanding
    n_bad = status.n_failed + status.n_infeasible
    best = "none yet" if status.best is None else f"{status.best['value']:.10g}"
    lines = [
        f"{status.path}: {status.direction} by {status.optimizer}",
        f"{_count(status.n_told, 'value')}: {status.n_told - n_bad} good, "
        f"{status.n_failed} failed, {status.n_infeasible} infeasible",
        f"best value: {best}",
        f"outstanding: {', '.join(map(str, status.outstanding)) or 'none'}",
        *map(_line_of, outstanding),
    ]
    if status.writer is not None:
        writer = f"process {status.writer['pid']} on {status.writer['host']}"
        lines.append(f"open for writing by {writer}")
    return "\n".join(lines), {
        **status.to_dict(),
        "suggestions": [suggestion.to_dict() for suggestion in outstanding],
    }


def best(args: argparse.Namespace) -> Answer:
    study = _reading(args)
    if args.by_mean:
        mean = study.best_by_mean
        if mean is None:
            raise NothingYetError(
                "There is no best value by mean: the values show no noise, or are too few, or the "
                "optimiser has no such model. Leave --by-mean out."
            )
        settings = _settings(mean["parameters"])
        return f"{mean['mean']:.10g}\t{mean['sd']:.3g}\t{settings}", mean
    best = study.best
    if best is None:
        wanted = " that meets the constraints" if study.n_constraints else ", and no failure"
        raise NothingYetError(f"There is no best value yet: tell one{wanted}.")
    return f"{best['value']:.10g}\t{_settings(best['parameters'])}", best


def predict(args: argparse.Namespace) -> Answer:
    study = _reading(args)
    if not study.optimizer.observed.is_informative:
        raise NothingYetError("There is no model yet: tell two values that differ.")
    mean, sd = study.predict(json_object(args.parameters, "--parameters"))
    return f"{mean[0]:.10g}\t{sd[0]:.3g}", {"mean": float(mean[0]), "sd": float(sd[0])}


def subspace(args: argparse.Namespace) -> Answer:
    study = _reading(args)
    estimate = study.subspace
    if estimate is None:
        raise NothingYetError("There is no subspace yet: too few values, or an optimiser without.")
    labels = [label for _, label in study.space.columns]
    values = {
        "effective_dim": estimate.effective_dim,
        "trusted": bool(estimate.trusted),
        "columns": labels,
        "active_basis": estimate.active_basis,
        "singular_values": estimate.singular_values,
        "importance": study.space.importance_by_parameter(estimate.importance),
    }
    return estimate.summary(labels), values


def plot(args: argparse.Namespace) -> Answer:
    from boring import plotting

    study = _reading(args)
    kind = args.kind
    if kind in ("importance", "loadings", "spectrum", "dimension") and study.subspace is None:
        raise NothingYetError(f"There is no subspace yet to draw for --kind {kind}.")
    name = {"summary": "sufficient_summary", "parallel": "parallel_coordinates"}.get(kind, kind)
    label = args.value_label if kind in VALUE_WORDS else None
    words = {} if label is None else {VALUE_WORDS[kind]: label}
    picture = getattr(plotting, f"plot_{name}")(study, **words)
    plotting.save(picture, args.output)
    return f"Drawn: {args.output}", {"path": str(args.output), "kind": kind}


def export(args: argparse.Namespace) -> Answer:
    study = _reading(args)
    suffix = Path(args.output).suffix.lower()
    rows = study.rows()
    if suffix == ".csv":
        study.to_csv(args.output)
    elif suffix == ".json":
        text = json.dumps(plain({"direction": study.direction, "evaluations": rows}), indent=1)
        with whole_file(args.output) as file:
            file.write(text + "\n")
    else:
        raise InvalidInputError(
            f"The name of an export must end in .csv or .json; received {args.output!r}."
        )
    return f"Written: {_count(len(rows), 'row')} to {args.output}", {
        "path": str(args.output),
        "rows": len(rows),
    }


def add(args: argparse.Namespace) -> Answer:
    with _writing(args) as study:
        n = study.add(
            Path(args.data),
            value=args.value,
            fill=json_object(args.fill, "--fill"),
            outside="skip" if args.skip_outside else "refuse",
        )
    return f"Added: {_count(n, 'row')}.", {"rows": n}


def report(args: argparse.Namespace) -> Answer:
    if args.output is None:
        if args.watch is not None:
            raise UsageError("--watch writes a page: it needs -o REPORT.html")
        report = make_report(_reading(args), with_subspace=not args.quick)
        return str(report), report.to_dict()
    from boring.report import watch_html_report, write_html_report

    manner = {
        "title": args.title,
        "value_label": args.value_label,
        "with_subspace": not args.quick,
    }
    if args.watch is not None:
        watch_html_report(args.file, args.output, args.watch, on_page=_say_page, **manner)
    path = write_html_report(_reading(args), args.output, **manner)
    size = path.stat().st_size
    return f"Written: {path}, {size / 1e6:.1f} MB", {"path": str(path), "bytes": size}


def _say_page(n_told: int) -> None:
    sys.stderr.write(f"boring: page written, {n_told} values\n")


def _line_of(suggestion: Suggestion) -> str:
    return f"{suggestion.number}\t{_settings(suggestion.parameters)}"


def _settings(parameters: Mapping[str, Any]) -> str:
    """Return JSON in the letters that standard output knows; what it does not know is escaped."""
    text = json.dumps(plain(parameters), ensure_ascii=False)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return json.dumps(plain(parameters))
    return text


def _writing(args: argparse.Namespace) -> Study:
    return Study.open(args.file, wait=args.wait)


def _reading(args: argparse.Namespace) -> Study:
    return Study.open(args.file, read_only=True)


def _kind_of(parameter: Parameter) -> str:
    """Return how a parameter was understood, such as ``real, low 0.1, high 10, unit dB``."""
    kind, *details = parameter.to_dict().items()
    shown = (f"{name} {json.dumps(value, ensure_ascii=False)}" for name, value in details)
    return ", ".join([kind[1], *shown])


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}{'' if n == 1 else 's'}"
