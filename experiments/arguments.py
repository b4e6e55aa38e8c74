"""Arguments that several commands share, and how they are read."""

from __future__ import annotations

import argparse
from pathlib import Path

from boring.exceptions import UnknownNameError
from boring.validation import suggest

from .config import DEFAULT_METHODS, DEFAULT_SEEDS, EXPERIMENTS, GROUPS, Experiment
from .peers import PEERS
from .variants import split_names

__all__ = [
    "QUICK_SEEDS",
    "add_runs",
    "add_study_runs",
    "method_names",
    "non_negative",
    "positive",
    "positive_minutes",
    "positives",
    "seeds_of",
    "select_experiments",
]

METHOD_GROUPS = {"peers": PEERS, "default": DEFAULT_METHODS}
ALL = "all"
QUICK_SEEDS = 1
"""Of a command that makes studies, with ``--quick``."""


def add_runs(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that say which runs to make: seeds, and evaluations of each."""
    parser.add_argument(
        "--seeds",
        type=positive,
        default=DEFAULT_SEEDS,
        help="number of paired seeds (default %(default)s)",
    )
    parser.add_argument(
        "--first-seed", type=non_negative, default=0, help="the first of them (default %(default)s)"
    )
    parser.add_argument(
        "--budget", type=positive, help="evaluations of each run (default: the experiment's own)"
    )


def add_study_runs(
    parser: argparse.ArgumentParser, folder: Path, quick_folder: Path, quick_help: str
) -> None:
    """Add the arguments of a command that makes studies with one report, from --seeds to --quiet.

    Without ``--seeds`` and ``--out`` they are None: `QUICK_SEEDS` or `DEFAULT_SEEDS`, and the
    folder that goes with ``--quick``, are for the command to take.
    """
    parser.add_argument(
        "--seeds",
        type=positive,
        help=f"number of paired seeds (default {DEFAULT_SEEDS}; quick {QUICK_SEEDS})",
    )
    parser.add_argument(
        "--first-seed", type=non_negative, default=0, help="the first of them (default %(default)s)"
    )
    parser.add_argument("--jobs", type=positive, default=1, help="processes (default %(default)s)")
    parser.add_argument(
        "--time-limit",
        type=positive_minutes,
        metavar="MINUTES",
        help="start no further run after so long",
    )
    parser.add_argument("--quick", action="store_true", help=quick_help)
    parser.add_argument("--retry-failed", action="store_true", help="repeat runs on file as failed")
    parser.add_argument(
        "--out", type=Path, metavar="FOLDER", help=f"(default {folder}; quick {quick_folder})"
    )
    parser.add_argument(
        "--report-only", action="store_true", help="run nothing, report on what is in the folder"
    )
    parser.add_argument("--quiet", action="store_true", help="print nothing")


def seeds_of(arguments: argparse.Namespace) -> range:
    """Return the seeds that `add_runs` was given."""
    return range(arguments.first_seed, arguments.first_seed + arguments.seeds)


def positive(text: str) -> int:
    """Read an integer of at least 1."""
    return _at_least(text, 1)


def positives(text: str) -> tuple[int, ...]:
    """Read integers of at least 1 with commas between."""
    return tuple(map(positive, text.split(",")))


def non_negative(text: str) -> int:
    """Read an integer of at least 0."""
    return _at_least(text, 0)


def _at_least(text: str, least: int) -> int:
    try:
        number = int(text)
    except ValueError:
        number = least - 1
    if number < least:
        raise argparse.ArgumentTypeError(
            f"must be an integer of at least {least}; received {text!r}"
        )
    return number


def positive_minutes(text: str) -> float:
    """Read a positive number of minutes."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not number > 0.0:
        raise argparse.ArgumentTypeError(f"must be a positive number of minutes; received {text!r}")
    return number


def method_names(text: str) -> tuple[str, ...]:
    """Split a list of methods; "peers" and "default" in it stand for all of them.

    A member of a group that is named by itself, too, comes once.

    Examples
    --------
    >>> method_names("boring[subspace_every=0],gp")
    ('boring[subspace_every=0]', 'gp')
    """
    named = split_names(text)
    names: list[str] = []
    for name in named:
        members = METHOD_GROUPS.get(name)
        fresh = [] if members is None else [one for one in members if one not in (*names, *named)]
        names += [name] if members is None else fresh
    return tuple(names)


def select_experiments(names: tuple[str, ...]) -> tuple[Experiment, ...]:
    """Return experiments by their names or those of their groups, each once.

    Parameters
    ----------
    names : tuple of str
        Names of experiments, names of groups, or "all". A minus in front leaves one out.

    Raises
    ------
    UnknownNameError
        If there is no such experiment or group; the message suggests the nearest.

    Examples
    --------
    >>> [one.name for one in select_experiments(("no-subspace", "-ackley-20"))][:1]
    ['ackley-off-center-20']
    """
    chosen: dict[str, Experiment] = {}
    dropped: set[str] = set()
    for name in names:
        wanted = name.removeprefix("-")
        if wanted == ALL:
            members: tuple[str, ...] = tuple(EXPERIMENTS)
        elif wanted in GROUPS:
            members = GROUPS[wanted]
        elif wanted in EXPERIMENTS:
            members = (wanted,)
        else:
            known = (*EXPERIMENTS, *GROUPS, ALL)
            raise UnknownNameError(
                f"There is no experiment or group {wanted!r}. {suggest(wanted, known)}"
            )
        if wanted != name:
            dropped.update(members)
        else:
            chosen.update({member: EXPERIMENTS[member] for member in members})
    return tuple(one for name, one in chosen.items() if name not in dropped)
