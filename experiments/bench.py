"""The benchmark: tables of optimisation, of subspace recovery, and of speed."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from .config import DEFAULT_SEEDS, OPTIMISATION_TABLE, get_experiment
from .progress import RunProgress
from .records import RunRecord
from .report import write_report
from .runner import run_experiment

__all__ = ["PARTS", "optimisation_tables", "recovery_table", "run_bench"]

PARTS = ("optimisation", "recovery", "speed")

RECOVERY_SEEDS = 10
"""As many data sets a cell as the acceptance figures count in."""


def optimisation_tables(folder: Path, seeds: int, jobs: int) -> str:
    """Run the experiments of the README's table, going on where they were, and return the tables.

    Parameters
    ----------
    folder : Path
        For the records, the table and the plots.
    seeds : int
        Number of paired seeds.
    jobs : int
        Processes.
    """
    path = folder / "optimisation.jsonl"
    records: list[RunRecord] = []
    for name in OPTIMISATION_TABLE:
        with RunProgress(name) as progress:
            records.extend(
                run_experiment(
                    get_experiment(name), path, seeds=range(seeds), jobs=jobs, progress=progress
                )
            )
    text, _ = write_report(records, folder / "optimisation")
    return text


def recovery_table(folder: Path, seeds: int) -> str:
    """Run the default learner's recovery study, going on where it was, and return its table.

    Tripathy's path takes an hour or more and is not part of this; ask for it by
    ``python -m experiments.recovery --methods full-rank,tripathy,tripathy-equal-cpu``.
    """
    from . import recovery

    captured = io.StringIO()
    path = folder / "recovery.jsonl"
    with contextlib.redirect_stdout(captured):
        recovery.main(["--seeds", str(seeds), "--methods", "full-rank", "--out", str(path)])
    return captured.getvalue().rstrip()


def run_bench(
    directory: str | os.PathLike[str],
    *,
    seeds: int | None = None,
    jobs: int = 2,
    only: Sequence[str] | None = None,
) -> tuple[Path, ...]:
    """Run the benchmarks, print each table when it is ready, and write it to the folder.

    Parameters
    ----------
    directory : path-like
    seeds : int, optional
        Of optimisation and recovery; their own numbers by default.
    jobs : int, default 2
        Processes of optimisation. Recovery and speed are timed alone.
    only : sequence of {"optimisation", "recovery", "speed"}, optional
        All by default.

    Returns
    -------
    tuple of Path
        The tables written.
    """
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    makers: dict[str, Callable[[], str]] = {
        "optimisation": lambda: optimisation_tables(folder, seeds or DEFAULT_SEEDS, jobs),
        "recovery": lambda: recovery_table(folder, seeds or RECOVERY_SEEDS),
        "speed": lambda: _speed(folder),
    }
    written = []
    for part in PARTS:
        if only and part not in only:
            continue
        text = makers[part]()
        print(f"\n## {part.capitalize()}\n\n{text}", flush=True)
        path = folder / f"{part}.md"
        path.write_text(text + "\n", encoding="utf-8")
        written.append(path)
    return tuple(written)


def _speed(folder: Path) -> str:
    from .growth import growth_table, plot_growth, run_growth
    from .speed import run_speed

    tables = run_speed()
    times = run_growth()
    plot_growth(times, folder / "growth.png")
    return f"{tables}\n\n{growth_table(times)}"
