"""The command ``boring``: a study from a shell, one command at a time.

Each command opens the file, acts and closes it; commands that write take their turn. Results go to
standard output, everything else to standard error.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

import boring
from boring.exceptions import BoringError, BoringWarning, InvalidInputError
from boring.parameters import ParameterSpace

from ._lock import StudyLockedError
from .report import make_report
from .study import Study

__all__ = ["main"]

OK, FAILED, USAGE, LOCKED, NOTHING_YET, INTERRUPTED = 0, 1, 2, 3, 4, 130
"""Exit codes; the help explains them."""

DEFAULT_WAIT = 60.0
"""Seconds for which a command waits for its turn (chosen here: an ask may take some)."""

DESCRIPTION = """\
Find the best settings of something that is slow or costly to try.

A study is one file. Ask it for the next settings, try them, tell it the value;
it proposes better settings as it learns which of them matter.
Several machines may work on one file: commands take turns, no number is given
twice, and a value is on disk when 'tell' comes back.
"""

EPILOG = """\
A loop in a shell, for a program that reads its settings as JSON and prints its loss:

  boring init run.jsonl --direction minimize --space '{"gain": [0.1, 10], "angle": [-90, 90]}'
  for i in $(seq 30); do
    asked=$(boring ask run.jsonl --json)
    number=$(echo "$asked" | jq '.suggestions[0].number')
    parameters=$(echo "$asked" | jq -c '.suggestions[0].parameters')
    if value=$(./try-it "$parameters"); then
      boring tell run.jsonl "$number" "$value"
    else
      boring tell run.jsonl "$number" --failed "try-it ended with an error"
    fi
  done
  boring best run.jsonl
  boring report run.jsonl

With --json a command prints one JSON object; numbers that JSON does not know are
written "nan", "inf" and "-inf". Errors then are JSON on standard error, {"error": ...},
and so are notes, {"note": ...}; each is one line.

Exit codes:
    0  done
    1  refused: wrong input, or a file that cannot be read or written
    2  the command line is not understood
    3  another process has the study open, and did not finish within --wait seconds
    4  there is nothing to show yet: no best value, or no subspace
  130  interrupted
"""

KINDS = (
    "convergence",
    "importance",
    "loadings",
    "spectrum",
    "dimension",
    "slices",
    "summary",
    "parallel",
)


class _NothingYetError(BoringError):
    """There is nothing to show yet."""


class _UsageError(Exception):
    """The command line is not understood."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise _UsageError(f"{message}. Say '{self.prog} --help'.")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    arguments : sequence of str, optional
        None takes those of the process.

    Returns
    -------
    int
        The exit code.
    """
    words = [_shielded(word) for word in (sys.argv[1:] if arguments is None else arguments)]
    as_json = "--json" in words
    with suppress(ImportError):
        import_module("baselines")  # Registers names alone.
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", BoringWarning)
            warnings.showwarning = partial(_show_warning, as_json)
            parsed = _parsed(words)
            text, values = parsed.act(parsed)
    except _UsageError as error:
        return _complain(error, USAGE, as_json)
    except StudyLockedError as error:
        return _complain(error, LOCKED, as_json)
    except _NothingYetError as error:
        return _complain(error, NOTHING_YET, as_json)
    except KeyboardInterrupt as error:
        return _complain(error, INTERRUPTED, as_json, "Interrupted.")
    except (BoringError, OSError, ImportError) as error:
        return _complain(error, FAILED, as_json)
    except Exception as error:
        message = f"{type(error).__name__}: {error}. This is a defect of the command: report it."
        return _complain(error, FAILED, as_json, message)
    try:
        sys.stdout.write(json.dumps(_plain(values), allow_nan=False) if as_json else text)
        sys.stdout.write("\n")
        sys.stdout.flush()
    except BrokenPipeError:  # Of a reader such as head, which has seen enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return OK


def _parsed(words: list[str]) -> argparse.Namespace:
    """Return the arguments; of ``tell``, words may follow options."""
    parsed, more = _parser().parse_known_args(words)
    is_tell = getattr(parsed, "act", None) is _tell
    if more and not (is_tell and all(not word.startswith("-") for word in more)):
        raise _UsageError(f"unrecognized arguments: {' '.join(more)}")
    if more:
        parsed.number_and_value += more
    return parsed


def _shielded(word: str) -> str:
    """Let argparse take a negative number, such as -1e-5 or -inf, for a value."""
    if word.startswith("-"):
        with suppress(ValueError):
            float(word)
            return " " + word
    return word


def _complain(error: BaseException, code: int, as_json: bool, message: str = "") -> int:
    message = message or str(error) or type(error).__name__
    kind = type(error).__name__.lstrip("_")
    shown = (
        json.dumps({"error": {"type": kind, "message": message, "exit_code": code}})
        if as_json
        else f"boring: {message}"
    )
    sys.stderr.write(shown + "\n")
    return code


def _show_warning(as_json: bool, message: Warning | str, *details: Any) -> None:
    shown = json.dumps({"note": str(message)}) if as_json else f"boring: note: {message}"
    sys.stderr.write(shown + "\n")


def _plain(value: Any) -> Any:
    """Return a value as strict JSON knows it."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    return value


# The commands: each returns text for people and values for machines.

_Answer = tuple[str, Any]


def _init(args: argparse.Namespace) -> _Answer:
    with Study(
        _space_argument(args.space),
        direction=args.direction,
        path=args.file,
        optimizer=args.optimizer,
        seed=args.seed,
        n_initial=args.n_initial,
        n_constraints=args.n_constraints,
        noise_std=args.noise_std,
        wait=args.wait,
        **_options(args.options),
    ) as study:
        names = list(study.space.names)
        values = {
            "path": str(args.file),
            "parameters": names,
            "direction": study.direction,
            "optimizer": study.optimizer.name,
            "seed": str(study.optimizer.entropy),
        }
    return f"New study {args.file}: {_count(len(names), 'parameter')}, {args.optimizer}.", values


def _options(text: str | None) -> dict[str, Any]:
    """Return options of the optimiser; those that ``init`` has itself would clash."""
    options = _json_object(text, "--options")
    own = ("direction", "optimizer", "seed", "n_initial", "n_constraints", "noise_std", "wait")
    for name in own:
        if name in options:
            raise InvalidInputError(
                f"--options are those of the optimiser alone; received {name!r}. Say "
                f"--{name.replace('_', '-')} instead."
            )
    for name in ("space", "path", "domain"):
        if name in options:
            raise InvalidInputError(
                f"--options are those of the optimiser alone; received {name!r}. Leave it out: "
                "FILE and --space say it."
            )
    return options


def _ask(args: argparse.Namespace) -> _Answer:
    with _writing(args) as study:
        suggestions = study.ask(args.n)
    lines = [f"{s.number}\t{json.dumps(_plain(s.parameters))}" for s in suggestions]
    return "\n".join(lines), {"suggestions": [s.to_dict() for s in suggestions]}


def _tell(args: argparse.Namespace) -> _Answer:
    words = list(args.number_and_value)
    wanted = (args.parameters is None) + (args.failed is None)
    if len(words) != wanted:
        raise _UsageError(
            "tell takes NUMBER VALUE, NUMBER --failed REASON, --parameters JSON VALUE, or "
            f"--parameters JSON --failed REASON; beside the file, it received "
            f"{' '.join(words) if words else 'nothing'}. Say 'boring tell --help'."
        )
    what: Any
    if args.parameters is None:
        what = _integer(words[0])
    else:
        what = _json_object(args.parameters, "--parameters")
    with _writing(args) as study:
        if args.failed is not None:
            study.tell_failed(what, args.failed)
        else:
            study.tell(what, _real(words[-1], "VALUE"), args.constraints)
        status = study.status()
    return f"Told: {_count(status.n_told, 'value')}.", {
        "n_told": status.n_told,
        "best": status.best,
    }


def _withdraw(args: argparse.Namespace) -> _Answer:
    with _writing(args) as study:
        study.withdraw(args.number)
        outstanding = list(study.status().outstanding)
    return f"Withdrawn: {args.number}.", {"outstanding": outstanding}


def _status(args: argparse.Namespace) -> _Answer:
    status = _reading(args).status()
    n_bad = status.n_failed + status.n_infeasible
    best = "none yet" if status.best is None else f"{status.best['value']:.6g}"
    lines = [
        f"{status.path}: {status.direction} by {status.optimizer}",
        f"{_count(status.n_told, 'value')}: {status.n_told - n_bad} good, "
        f"{status.n_failed} failed, {status.n_infeasible} infeasible",
        f"outstanding: {', '.join(map(str, status.outstanding)) or 'none'}",
        f"best value: {best}",
    ]
    if status.writer is not None:
        writer = f"process {status.writer['pid']} on {status.writer['host']}"
        lines.append(f"open for writing by {writer}")
    return "\n".join(lines), status.to_dict()


def _best(args: argparse.Namespace) -> _Answer:
    best = _reading(args).best
    if best is None:
        raise _NothingYetError("There is no best value yet: tell one that meets the constraints.")
    return f"{best['value']:.10g}\t{json.dumps(_plain(best['parameters']))}", best


def _subspace(args: argparse.Namespace) -> _Answer:
    study = _reading(args)
    estimate = study.subspace
    if estimate is None:
        raise _NothingYetError("There is no subspace yet: too few values, or an optimiser without.")
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


def _plot(args: argparse.Namespace) -> _Answer:
    from boring import plotting

    study = _reading(args)
    labels = [label for _, label in study.space.columns]
    optimizer = study.optimizer
    kind = args.kind
    axes: Any
    if kind == "convergence":
        axes = plotting.plot_convergence(study.result())
    elif kind in ("slices", "parallel"):
        draw = plotting.plot_slices if kind == "slices" else plotting.plot_parallel_coordinates
        axes = draw(optimizer, names=labels)
    elif kind == "summary":
        axes = plotting.plot_sufficient_summary(optimizer)
    else:
        if study.subspace is None:
            raise _NothingYetError(f"There is no subspace yet to draw for --kind {kind}.")
        draw = getattr(plotting, f"plot_{kind}")
        named = {"names": labels} if kind in ("importance", "loadings") else {}
        axes = draw(optimizer, **named)
    plotting.save(_figure_of(axes), args.output)
    return f"Drawn: {args.output}", {"path": str(args.output), "kind": kind}


def _export(args: argparse.Namespace) -> _Answer:
    study = _reading(args)
    suffix = Path(args.output).suffix.lower()
    rows = study.rows()
    if suffix == ".csv":
        study.to_csv(args.output)
    elif suffix == ".json":
        text = json.dumps(_plain({"direction": study.direction, "evaluations": rows}), indent=1)
        Path(args.output).write_text(text + "\n", encoding="utf-8")
    else:
        raise InvalidInputError(
            f"The name of an export must end in .csv or .json; received {args.output!r}."
        )
    return f"Written: {_count(len(rows), 'row')} to {args.output}", {
        "path": str(args.output),
        "rows": len(rows),
    }


def _import(args: argparse.Namespace) -> _Answer:
    with _writing(args) as study:
        n = study.add_csv(args.data, value=args.value)
    return f"Added: {_count(n, 'row')}.", {"rows": n}


def _report(args: argparse.Namespace) -> _Answer:
    if args.output is None:
        if args.watch is not None:
            raise _UsageError("--watch writes a page: it needs -o REPORT.html")
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


def _writing(args: argparse.Namespace) -> Study:
    return Study.open(args.file, wait=args.wait)


def _reading(args: argparse.Namespace) -> Study:
    return Study.open(args.file, read_only=True)


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}{'' if n == 1 else 's'}"


def _figure_of(axes: Any) -> Any:
    first = np.ravel(np.asarray(axes, dtype=object))[0]
    return getattr(first, "figure", first)


def _space_argument(text: str) -> ParameterSpace:
    """Return the space of a JSON or TOML file, or of JSON on the command line."""
    if not text.lstrip().startswith("{"):
        path = Path(text)
        if path.suffix.lower() == ".toml":
            return ParameterSpace.from_file(path)
        try:
            text = path.read_text(encoding="utf-8")
        except OSError as error:
            raise InvalidInputError(
                f"--space must be JSON or the path of a JSON file; {text!r} cannot be read: "
                f"{error}."
            ) from error
    values = _json_object(text, "--space")
    if set(values) <= {"parameters", "constraints"} and isinstance(values.get("parameters"), dict):
        return ParameterSpace.of(values)
    # JSON has no tuples: two numbers are bounds, any other list holds choices.
    return ParameterSpace.of({name: _bounds_or_more(value) for name, value in values.items()})


def _bounds_or_more(value: Any) -> Any:
    is_pair = isinstance(value, list) and len(value) == 2
    if is_pair and all(type(end) in (int, float) for end in value):
        return tuple(value)
    return value


def _json_object(text: str | None, name: str) -> dict[str, Any]:
    if text is None:
        return {}
    try:
        values = json.loads(text)
    except ValueError as error:
        raise InvalidInputError(
            f"{name} must be valid JSON; received {text[:60]!r}: {error}. Put names and text "
            "between double quotation marks, and the whole between single ones."
        ) from error
    if not isinstance(values, dict):
        raise InvalidInputError(f"{name} must be a JSON object, {{...}}; received {text[:60]!r}.")
    return values


def _integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise _UsageError(
            f"NUMBER must be a whole number, as 'boring ask' prints it; received {text!r}."
        ) from None


def _real(text: str, name: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise _UsageError(
            f"{name} must be a number; received {text!r}. Of a failure, say --failed REASON."
        ) from None


# The command line.


def _parser() -> _Parser:
    raw = argparse.RawDescriptionHelpFormatter
    parser = _Parser("boring", description=DESCRIPTION, epilog=EPILOG, formatter_class=raw)
    parser.add_argument("--version", action="version", version=f"boring {boring.__version__}")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    def command(name: str, act: Any, help: str, *, writes: bool = False) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=help, description=help, formatter_class=raw)
        sub.add_argument("file", metavar="FILE", help="the study")
        sub.add_argument(
            "--json", action="store_true", default=argparse.SUPPRESS, help="print one JSON object"
        )
        if writes:
            sub.add_argument(
                "--wait",
                type=float,
                default=DEFAULT_WAIT,
                metavar="SECONDS",
                help="how long to wait for another process (default: %(default)g)",
            )
        sub.set_defaults(act=act)
        return sub

    init = command("init", _init, "Make a new study.", writes=True)
    init.add_argument(
        "--space",
        required=True,
        help='JSON or a file of it: names with [low, high], such as {"gain": [0.1, 10]}, a list of '
        'choices, or {"type": "integer", "low": 1, "high": 8}; or a TOML file',
    )
    init.add_argument(
        "--direction",
        required=True,
        choices=("minimize", "maximize"),
        help="whether small or large values are good",
    )
    init.add_argument(
        "--optimizer", default="boring", metavar="NAME", help="who proposes (default: boring)"
    )
    init.add_argument(
        "--seed", type=int, metavar="INTEGER", help="makes the study repeatable (default: chance)"
    )
    init.add_argument(
        "--n-initial", type=int, metavar="N", help="points that fill the space before it learns"
    )
    init.add_argument(
        "--n-constraints",
        type=int,
        default=0,
        metavar="N",
        help="how many values beside the main one must be <= 0 (default: 0)",
    )
    init.add_argument(
        "--noise-std",
        type=float,
        metavar="SD",
        help="standard deviation of one value, if it is known",
    )
    init.add_argument("--options", metavar="JSON", help="of the optimiser, names and values")

    ask = command("ask", _ask, "Print the next settings to try: number, tab, JSON.", writes=True)
    ask.add_argument("-n", type=int, default=1, metavar="N", help="how many (default: 1)")

    tell = command("tell", _tell, "Record a value, or a failure.", writes=True)
    tell.add_argument(
        "number_and_value",
        nargs="*",
        metavar="NUMBER VALUE",
        help="number that was asked, and its value; VALUE alone with --parameters",
    )
    tell.add_argument("--parameters", metavar="JSON", help="settings, in place of a number")
    tell.add_argument(
        "--constraints", nargs="+", type=float, metavar="C", help="their values; give them last"
    )
    tell.add_argument("--failed", metavar="REASON", help="there is no value, and why")

    withdraw = command("withdraw", _withdraw, "Take back a number that nobody tries.", writes=True)
    withdraw.add_argument("number", type=int, metavar="NUMBER", help="number that was asked")

    command("status", _status, "Show how many values there are and what is outstanding.")
    command("best", _best, "Print the best value and its settings: value, tab, JSON.")
    command("subspace", _subspace, "Describe the directions that decide.")
    plot = command("plot", _plot, "Draw a picture.")
    plot.add_argument(
        "-o", "--output", required=True, metavar="OUT.png", help="or .svg, .pdf: by its name"
    )
    plot.add_argument(
        "--kind",
        choices=KINDS,
        default="convergence",
        metavar="KIND",
        help=f"{', '.join(KINDS[:-1])} or {KINDS[-1]} (default: %(default)s)",
    )
    export = command("export", _export, "Write all values to a file, CSV or JSON by its name.")
    export.add_argument("-o", "--output", required=True, metavar="DATA.csv", help="or DATA.json")
    add = command("import", _import, "Add earlier values from a CSV file.", writes=True)
    add.add_argument("data", metavar="DATA.csv", help="a column for each parameter, one of values")
    add.add_argument(
        "--value", default="value", metavar="COLUMN", help="column of values (default: value)"
    )
    report = command("report", _report, "Say what was found, in words, or as a page.")
    report.add_argument(
        "-o", "--output", metavar="REPORT.html", help="write one HTML page, with figures"
    )
    report.add_argument(
        "--watch",
        type=float,
        metavar="SECONDS",
        help="write the page again whenever the study changes, until Ctrl-C; browsers follow",
    )
    report.add_argument(
        "--quick", action="store_true", help="leave out the subspace, which takes longest"
    )
    report.add_argument("--title", help="of the page (default: the name of the file)")
    report.add_argument(
        "--value-label",
        default="value",
        metavar="TEXT",
        help='what the values are, such as "loss (m)"',
    )
    return parser
