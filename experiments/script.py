"""Modules that are run by themselves, as ``python -m experiments.recovery`` is."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from boring.exceptions import BoringError

__all__ = ["OK", "RUN_ERROR", "USAGE_ERROR", "draw_into", "run_script", "status_of"]

OK, RUN_ERROR, USAGE_ERROR = 0, 1, 2


def status_of(act: Callable[[], object]) -> int:
    """Act, and return the exit status; what cannot be done is one line and no traceback.

    Parameters
    ----------
    act : callable
        Takes nothing; a number that it returns is the status.
    """
    try:
        found = act()
    except (BoringError, ImportError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return USAGE_ERROR if isinstance(error, ValueError) else RUN_ERROR
    return found if isinstance(found, int) else OK


def run_script(main: Callable[[], object]) -> NoReturn:
    """Run the ``main`` of a module as a program, and end it."""
    sys.exit(status_of(main))


def draw_into(
    draw: Callable[[Path], object],
    name: str,
    description: str | None,
    *,
    default: Path | None = None,
    argv: Sequence[str] | None = None,
) -> None:
    """Draw into the path that the command line names, and print what was drawn.

    Parameters
    ----------
    draw : callable
        From a path to that of what was written.
    name : str
        Of the module.
    description : str
        For ``--help``.
    default : path-like, optional
        Without one the path has to be given.
    argv : sequence of str, optional
        In place of the command line.
    """
    parser = argparse.ArgumentParser(
        prog=f"python -m {name}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    where = "what is written" + (f" (default {default})" if default else "")
    parser.add_argument(
        "path", type=Path, help=where, default=default, nargs=None if default is None else "?"
    )
    print(draw(parser.parse_args(argv).path))
