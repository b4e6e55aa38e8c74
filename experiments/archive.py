"""Keep records in the repository: one small compressed file that pages and tables are made from.

``python -m experiments.archive FOLDER...`` reads every file of records in these folders, and the
archive itself, and writes ``experiments/measured/arena.jsonl.gz``: what was measured can be read,
paired and plotted without running anything again.

Values keep `VALUE_DIGITS` significant digits, everything else `DIGITS`; points and bases are left
out, since seed and method tell them. The same records give the same bytes.
"""

from __future__ import annotations

import argparse
import dataclasses
import gzip
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from .records import RunRecord, latest, read_folders, regrets_of
from .script import run_script

__all__ = ["ARCHIVE", "compact", "main", "write_archive"]

ARCHIVE = Path(__file__).resolve().parent / "measured" / "arena.jsonl.gz"
VALUE_DIGITS, DIGITS = 12, 3
LEFT_OUT = ("X", "x_best", "basis", "true_basis")
IN_FULL = ("optimum", "y_best")


def compact(record: RunRecord) -> RunRecord:
    """Return the record with fewer digits, without points and bases.

    Regrets are those of the shortened values, so that they need not be stored.
    """
    given = {
        entry.name: getattr(record, entry.name)
        for entry in dataclasses.fields(record)
        if entry.name not in IN_FULL
    }
    shortened: dict[str, Any] = {name: _shortened(value, DIGITS) for name, value in given.items()}
    shortened |= {name: _shortened(given[name], VALUE_DIGITS) for name in ("y", "value")}
    shortened |= dict.fromkeys(LEFT_OUT)
    if record.simple_regret is not None:
        shortened["simple_regret"] = regrets_of(
            shortened["value"], record.optimum, record.direction
        )
    return dataclasses.replace(record, **shortened)


def _shortened(value: Any, digits: int) -> Any:
    if isinstance(value, float):
        return float(f"{value:.{digits}g}")
    if isinstance(value, tuple):
        return tuple(_shortened(entry, digits) for entry in value)
    if isinstance(value, Mapping):
        return {name: _shortened(entry, digits) for name, entry in value.items()}
    return value


def write_archive(records: Iterable[RunRecord], file: Path = ARCHIVE) -> int:
    """Write the records, a repeated run once (the last one), and return their number."""
    kept = sorted(latest(records), key=lambda record: record.key)
    content = "".join(compact(record).to_line() + "\n" for record in kept)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(gzip.compress(content.encode("utf-8"), mtime=0))
    return len(kept)


def main(argv: Sequence[str] | None = None) -> None:
    """Read the folders named on the command line into the archive."""
    parser = argparse.ArgumentParser(prog="python -m experiments.archive", description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path, help="of the arena's records")
    parser.add_argument("--file", type=Path, default=ARCHIVE, help=f"default: {ARCHIVE.name}")
    parser.add_argument(
        "--anew", action="store_true", help="leave out what the archive holds already"
    )
    arguments = parser.parse_args(argv)
    before = [] if arguments.anew or not arguments.file.exists() else [arguments.file.parent]
    number = write_archive(read_folders([*before, *arguments.folders]), arguments.file)
    print(f"{arguments.file}: {number} runs, {arguments.file.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    run_script(main)
