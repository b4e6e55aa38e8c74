"""Rebuild the table and the plot of an experiment from its records, without running anything."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from .curves import regret_curves, value_curves
from .grouping import group_by_experiment, group_by_method, present
from .plots import new_figure, plot_convergence, plot_subspace, save
from .records import RunRecord, as_matrix, latest
from .tables import DEFAULT_REFERENCE, results_table

__all__ = ["convergence_figure", "median_record", "subspace_figure", "write_report"]

TABLE_FILE = "table.md"


def convergence_figure(records: Iterable[RunRecord], path: str | os.PathLike[str]) -> Path:
    """Draw the convergence of every method of one experiment into a file.

    Methods whose package was not installed have no curve; the table names them.
    """
    runs = present(records)
    known = all(record.simple_regret is not None for record in runs)
    make = regret_curves if known else value_curves
    curves = {name: make(group) for name, group in group_by_method(runs).items()}
    first = runs[0]
    figure = new_figure()
    plot_convergence(
        curves,
        figure.add_subplot(),
        n_initial=first.n_initial,
        log=known,
        ylabel=(
            "simple regret (units of the objective)"
            if known
            else f"best value, {first.direction} (units of the objective)"
        ),
        title=first.experiment,
    )
    return save(figure, path)


def median_record(records: Iterable[RunRecord]) -> RunRecord | None:
    """Return the run whose angle is the (lower) median among those that learned a subspace."""
    learned = [
        (record.largest_angle_degrees, record.seed, record)
        for record in records
        if record.largest_angle_degrees is not None
    ]
    if not learned:
        return None
    return sorted(learned, key=lambda entry: entry[:2])[(len(learned) - 1) // 2][2]


def subspace_figure(record: RunRecord, path: str | os.PathLike[str]) -> Path:
    """Draw the learned against the true subspace of one run into a file."""
    learned, truth = as_matrix(record.basis), as_matrix(record.true_basis)
    if learned is None or truth is None:
        raise ValueError(f"{record.key} has no learned or no true subspace to draw.")
    figure = plot_subspace(
        learned,
        truth,
        title=f"{record.experiment}, {record.method}, seed {record.seed}, "
        f"{len(record.y)} evaluations",
    )
    return save(figure, path)


def write_report(
    records: Sequence[RunRecord],
    directory: str | os.PathLike[str],
    reference: str = DEFAULT_REFERENCE,
) -> tuple[str, tuple[Path, ...]]:
    """Write one table and, for each experiment, one convergence plot.

    Parameters
    ----------
    records : sequence of RunRecord
        Of one or more experiments; a repeated run counts once, the later record.
    directory : path-like
        Made if it does not exist.
    reference : str, default "boring"
        Method that the others are paired with.

    Returns
    -------
    text : str
        The table, as written to ``table.md``.
    files : tuple of Path
        Everything written.
    """
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    groups = group_by_experiment(latest(records))
    text = "\n\n".join(results_table(group, reference) for group in groups.values())
    table = folder / TABLE_FILE
    table.write_text(text + "\n", encoding="utf-8")
    files = [table]
    for name, group in groups.items():
        if not present(group):
            continue
        files.append(convergence_figure(group, folder / f"convergence-{name}.png"))
    return text, tuple(files)
