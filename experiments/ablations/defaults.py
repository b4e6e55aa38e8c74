"""What each default of BORING contributes: change one at a time, on the same seeds.

``python -m experiments.ablations.defaults --parts 'one speaker,ungated' --experiments thesis
--seeds 10 --jobs 2`` runs the default and the changed ones into one folder and prints a table. Runs
on file are skipped, so that the same command goes on where it was. The parts stand in
:mod:`experiments.ablations.parts`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from boring.exceptions import BoringError
from experiments.arena import read_arena, run_arena
from experiments.arena_command import RunLog, outcome_text
from experiments.arguments import (
    non_negative,
    positive,
    positive_minutes,
    select_experiments,
)
from experiments.config import OPTIMISATION_TABLE
from experiments.grouping import group_by_experiment
from experiments.metrics import quartiles
from experiments.records import RunRecord
from experiments.standings import finals_of
from experiments.tables import format_number, markdown
from experiments.variants import split_names

from .parts import DEFAULT, PARTS, parts_of

__all__ = ["ablation_table", "main"]

DEFAULT_SEEDS = 10


def ablation_table(records: Iterable[RunRecord], parts: Sequence[str]) -> str:
    """Return the table of parts by experiments.

    Parameters
    ----------
    records : iterable of RunRecord
        Of the default and of the parts, each part under its name; whatever there is.
    parts : sequence of str
        Names, in the order of the rows.

    Returns
    -------
    str
        Markdown. Medians and means on the shared seeds; wins are the changed one's; p from
        Wilcoxon's test, not corrected for the number of parts.
    """
    ends = {name: finals_of(group) for name, group in group_by_experiment(records).items()}
    rows = []
    for part in parts:
        for experiment, finals in ends.items():
            if part not in finals or DEFAULT.name not in finals:
                continue
            changed, default = finals[part], finals[DEFAULT.name]
            comparison = changed.against(default)
            if comparison is None:
                continue
            seeds = changed.shared(default)
            cells = [_figures([one.shown[seed] for seed in seeds]) for one in (default, changed)]
            counts = f"{comparison.wins}:{comparison.ties}:{comparison.losses}"
            p = format_number(comparison.p_value, 2)
            rows.append([part, experiment, str(len(seeds)), *cells, counts, p])
    header = ["part", "experiment", "seeds", "default: median (mean)", "changed: median (mean)"]
    return markdown([*header, "win:tie:loss", "p"], rows)


def _figures(values: Sequence[float]) -> str:
    mean = sum(values) / len(values)
    return f"{format_number(quartiles(values)[1], 2)} ({format_number(mean, 2)})"


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.ablations.defaults",
        description="Change one default at a time and compare with the default on the same seeds.",
        epilog=f"parts: {', '.join(part.name for part in PARTS)}",
    )
    parser.add_argument(
        "--parts", type=split_names, default=(), help="comma-separated; all if none"
    )
    parser.add_argument(
        "--experiments",
        type=split_names,
        default=OPTIMISATION_TABLE,
        help=f"names or groups, as of the arena (default {','.join(OPTIMISATION_TABLE)})",
    )
    parser.add_argument("--seeds", type=positive, default=DEFAULT_SEEDS, help="number of seeds")
    parser.add_argument("--first-seed", type=non_negative, default=0, help="the first of them")
    parser.add_argument("--budget", type=positive, help="evaluations of each run")
    parser.add_argument("--jobs", type=positive, default=1, help="processes")
    parser.add_argument(
        "--time-limit", type=positive_minutes, metavar="MINUTES", help="start no run after so long"
    )
    parser.add_argument(
        "--out", type=Path, default=Path("results/ablations"), help="folder (default %(default)s)"
    )
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the study and print its table; 0 fine, 1 failed, 2 wrong input."""
    given = build_parser().parse_args(arguments)
    try:
        parts = parts_of(given.parts)
        outcome = run_arena(
            given.out,
            [one.with_budget(given.budget) for one in select_experiments(given.experiments)],
            [DEFAULT, *parts],
            range(given.first_seed, given.first_seed + given.seeds),
            jobs=given.jobs,
            minutes=given.time_limit,
            progress=RunLog(),
        )
        print(outcome_text(outcome))
        print(ablation_table(read_arena(given.out), [part.name for part in parts]))
    except (BoringError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2 if isinstance(error, ValueError) else 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
