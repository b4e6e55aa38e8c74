"""Command line of the experiments; see ``python -m experiments --help``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from boring.exceptions import InvalidInputError
from boring.validation import suggest

from .arguments import add_runs, method_names, positive, seeds_of
from .config import EXPERIMENTS, GROUPS, get_experiment
from .own import own_modules
from .peers import PEERS
from .script import RUN_ERROR, status_of

__all__ = ["main"]

DESCRIPTION = """\
Compare optimisers on problems whose optimum and hidden subspace are known.

Runs are kept as JSON lines; a stopped experiment goes on where it was when the command is
repeated, and tables and plots are rebuilt from the lines at any time.
"""

EXAMPLES = """\
examples:
  python -m experiments list
  python -m experiments demo
  python -m experiments run camelback-2-in-5 --seeds 5 --jobs 2 --out results/camelback.jsonl
  python -m experiments report results/camelback.jsonl --out results/camelback
  python -m experiments run branin-2-in-25 --methods boring,peers --jobs 2
  python -m experiments run camelback-2-in-5 --methods 'boring,boring[subspace_every=0]'
  python -m experiments arena --experiments thesis --seeds 5 --jobs 2 --time-limit 60
  python -m experiments arena --report-only
  python -m experiments --import my_optimizer run camelback-2-in-5 --methods boring,hill-climb
  python -m experiments thesis --quick
  python -m experiments companion mixtures-bo density-ratio --quick
  python -m experiments tuning --tasks svm-digits --seeds 3
"""

#: Commands with a module of their own, which has `add_arguments`, and what they do in a line.
ELSEWHERE = {
    "arena": (
        "experiments.arena_command",
        "many experiments and methods into one folder, with one report",
    ),
    "thesis": (
        "experiments.thesis.command",
        "the experiments of chapter 5 of the thesis, with one report",
    ),
    "companion": (
        "experiments.companion.command",
        "the experiments of the companion papers, one report for each name",
    ),
    "tuning": (
        "experiments.tuning.command",
        "tune scikit-learn's estimators, against TPE and random search",
    ),
}


class _Parser(argparse.ArgumentParser):
    """A parser that suggests the near name for a mistyped command."""

    commands: Iterable[str] = ()

    def error(self, message: str) -> None:  # type: ignore[override]
        if "invalid choice: '" in message:
            wrong = message.split("invalid choice: '")[1].split("'")[0]
            message = f"unknown command {wrong!r}. {suggest(wrong, self.commands)}"
        super().error(message)


class _CommandParser(argparse.ArgumentParser):
    """The parser of a command; its module is loaded, which may take long, when it is first used."""

    def __init__(self, *, module: str | None = None, **options: Any) -> None:
        super().__init__(**options)
        self._module = module

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        if self._module is not None:
            import_module(self._module).add_arguments(self)
            self._module = None
        return super().parse_known_args(args, namespace)


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = _Parser(
        prog="python -m experiments",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--import",
        dest="modules",
        action="append",
        default=[],
        metavar="MODULE",
        help="of your own, which registers optimisers or adds to experiments.config.EXPERIMENTS; "
        "may be repeated, and stands before the command",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=_CommandParser)
    parser.commands = commands.choices
    _add_run(commands)
    _add_report(commands)
    for name, (module, line) in ELSEWHERE.items():
        commands.add_parser(
            name, help=line, module=module, formatter_class=argparse.RawDescriptionHelpFormatter
        )
    listing = commands.add_parser("list", help="list the experiments and the methods")
    listing.set_defaults(act=_list)
    _add_demo(commands)
    _add_bench(commands)
    return parser


def _add_run(commands: Any) -> None:
    run = commands.add_parser(
        "run", help="run an experiment, or go on with it", description="Run a named experiment."
    )
    run.set_defaults(act=_run)
    run.add_argument("name", help="an experiment; `python -m experiments list` shows them")
    add_runs(run)
    run.add_argument(
        "--methods",
        type=method_names,
        help="comma-separated, such as boring,gp,peers; 'default' and 'peers' stand for all of "
        "those; NAME[option=value,...] changes options (default: the experiment's)",
    )
    run.add_argument(
        "--jobs", type=positive, default=1, help="processes, one BLAS thread each (default 1)"
    )
    run.add_argument("--out", type=Path, help="JSON lines (default results/NAME.jsonl)")
    run.add_argument("--retry-failed", action="store_true", help="repeat runs on file as failed")
    run.add_argument("--quiet", action="store_true", help="no progress bar, no table")


def _run(arguments: argparse.Namespace) -> None:
    from .progress import RunProgress
    from .runner import run_experiment
    from .tables import results_table

    experiment = get_experiment(arguments.name).with_budget(arguments.budget)
    path = arguments.out or Path("results") / f"{experiment.name}.jsonl"
    with RunProgress(experiment.name, enabled=not arguments.quiet) as progress:
        records = run_experiment(
            experiment,
            path,
            seeds=seeds_of(arguments),
            methods=arguments.methods,
            jobs=arguments.jobs,
            retry_failed=arguments.retry_failed,
            progress=progress,
        )
    if not arguments.quiet:
        print(results_table(records))
        print(f"\nRecords: {path}")
        print(f"Plot and table: python -m experiments report {path}")


def _add_report(commands: Any) -> None:
    report = commands.add_parser(
        "report",
        help="rebuild table and plot from records",
        description="Write table.md and one convergence plot for each experiment in the file.",
    )
    report.set_defaults(act=_report)
    report.add_argument("records", type=Path, help="JSON lines written by `run`")
    report.add_argument("--out", type=Path, help="folder (default: beside the records)")
    report.add_argument(
        "--reference",
        default="boring",
        help="method that the others are paired with (default %(default)s)",
    )


def _report(arguments: argparse.Namespace) -> None:
    from .records import read_records
    from .report import write_report

    records = read_records(arguments.records)
    if not records:
        raise InvalidInputError(f"{arguments.records} holds no records yet.")
    methods = {record.method for record in records}
    if arguments.reference != "boring" and arguments.reference not in methods:
        raise InvalidInputError(
            f"{arguments.reference!r} is not in the records. "
            f"{suggest(arguments.reference, methods)}"
        )
    folder = arguments.out or arguments.records.with_suffix("")
    text, files = write_report(records, folder, arguments.reference)
    print(text)
    print("\nWritten: " + ", ".join(str(file) for file in files))


def _list(arguments: argparse.Namespace) -> None:
    from boring.registry import optimizer_names

    from .peers import absence_of
    from .runner import register_methods
    from .tables import markdown

    register_methods()

    rows = [
        [experiment.name, str(experiment.budget), str(experiment.n_initial), experiment.description]
        for experiment in EXPERIMENTS.values()
    ]
    print(markdown(["experiment", "evaluations", "initial", "what it is"], rows))
    print(f"\nMethods: {', '.join(optimizer_names())}")
    for group, members in GROUPS.items():
        print(f"Group {group}: {', '.join(members)}")
    for name in PEERS:
        absence = absence_of(name)
        if absence is not None:
            print(f"Missing: {name}: {absence}")


def _add_demo(commands: Any) -> None:
    demo = commands.add_parser(
        "demo",
        help="the embedded Camelback, with table and pictures, in a few minutes",
        description="BORING against REMBO, a plain GP and Sobol search on a hidden Camelback.",
    )
    demo.set_defaults(act=_demo)
    demo.add_argument("--jobs", type=positive, default=2, help="processes (default %(default)s)")
    demo.add_argument("--seeds", type=positive, help="number of paired seeds")
    demo.add_argument(
        "--out", type=Path, default=Path("results/demo"), help="folder (default %(default)s)"
    )


def _demo(arguments: argparse.Namespace) -> None:
    from .demo import DEMO_SEEDS, run_demo

    run_demo(
        arguments.out,
        n_seeds=arguments.seeds or DEMO_SEEDS,
        jobs=arguments.jobs,
    )


def _add_bench(commands: Any) -> None:
    bench = commands.add_parser(
        "bench",
        help="tables of optimisation, subspace recovery and speed",
        description="Run the three benchmarks; tables are printed and written to the folder.",
    )
    bench.set_defaults(act=_bench)
    bench.add_argument("--seeds", type=positive, help="seeds of optimisation and recovery")
    bench.add_argument("--jobs", type=positive, default=2, help="processes (default %(default)s)")
    bench.add_argument(
        "--out", type=Path, default=Path("results/bench"), help="folder (default %(default)s)"
    )
    bench.add_argument(
        "--only",
        choices=("optimisation", "recovery", "speed"),
        action="append",
        help="one of the three; may be repeated",
    )


def _bench(arguments: argparse.Namespace) -> None:
    from .bench import run_bench

    run_bench(arguments.out, seeds=arguments.seeds, jobs=arguments.jobs, only=arguments.only)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return the exit status: 0 fine, 1 failed, 2 wrong input."""
    arguments = build_parser().parse_args(argv)

    def act() -> None:
        from . import check_siblings

        check_siblings()
        with own_modules(arguments.modules):
            arguments.act(arguments)

    try:
        return status_of(act)
    except KeyboardInterrupt:
        print("\nstopped; finished runs are kept, repeat the command to go on", file=sys.stderr)
        return RUN_ERROR


if __name__ == "__main__":
    sys.exit(main())
