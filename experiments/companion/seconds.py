"""Seconds of a suggestion of every companion surrogate, with the time to compile apart."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from boring.plotting._canvas import LIGHT
from boring.registry import get_optimizer
from boring.rng import keyed_generator, single_blas_thread

from ..plots import new_figure, save
from ..single_run import register_methods
from ..tables import format_number, markdown
from ..thesis.study import Record, Study, by_cell, succeeded
from ..variants import check_variant

__all__ = ["SIZES", "seconds_study", "seconds_table"]

SIZES = (20, 50, 100, 200)
PROBLEM = "hartmann6-6"
REPEATS = 4
"""Suggestions after the first; each is evaluated and told, so that the data grow."""


def run(cell: str, seed: int, method: str) -> dict[str, Any]:
    """Tell n points, then time suggestions: the first, and the median of those that follow.

    Processor seconds of all threads, and wall seconds, which say something only of an idle machine.
    What JAX has compiled before is forgotten first.
    """
    from synthetic import get_problem

    n = int(cell)
    problem = get_problem(PROBLEM)
    register_methods()
    _forget_compiled()
    variant = check_variant(method)
    optimizer: Any = get_optimizer(variant.method)(
        problem.space, direction=problem.direction, seed=seed, **variant.options
    )
    X = problem.space.sample(n, keyed_generator(seed, "companion-seconds", n))
    optimizer.tell(X, problem(X))
    processor, wall = [], []
    with single_blas_thread():
        for _ in range(1 + REPEATS):
            begin, begin_wall = time.process_time(), time.perf_counter()
            x = optimizer.ask()[0]
            processor.append(time.process_time() - begin)
            wall.append(time.perf_counter() - begin_wall)
            optimizer.tell(x, problem(x))
    return {
        "first": processor[0],
        "later": processor[1:],
        "seconds": float(np.median(processor[1:])),
        "wall": float(np.median(wall[1:])),
        "first_wall": wall[0],
    }


def _forget_compiled() -> None:
    jax = sys.modules.get("jax")
    if jax is not None:
        jax.clear_caches()


def seconds_table(records: Sequence[Record]) -> str:
    """Return median processor seconds by n, and what the first suggestion took beyond them."""
    groups = by_cell(succeeded(records), tuple(map(str, SIZES)))
    sizes = [n for n in SIZES if any(cell == str(n) for cell, _ in groups)]
    methods = list(dict.fromkeys(method for _, method in groups))
    usual = {key: float(np.median([r["seconds"] for r in group])) for key, group in groups.items()}
    order = sorted(methods, key=lambda method: (method != "gp", _last(usual, method)))
    rows = []
    for method in order:
        row = [method]
        for n in sizes:
            row.append(format_number(usual.get((str(n), method)), 2))
        extra = [
            float(np.median([r["first"] - r["seconds"] for r in group]))
            for (_, one), group in groups.items()
            if one == method
        ]
        slowest = [
            max(r["later"]) / r["seconds"]
            for (_, one), group in groups.items()
            if one == method
            for r in group
        ]
        mine, plain = usual.get(("100", method)), usual.get(("100", "gp"))
        ratio = None if mine is None or plain is None else mine / plain
        row += [format_number(max(extra), 2), format_number(max(slowest), 2)]
        rows.append([*row, format_number(ratio, 2)])
    header = [
        "method",
        *(f"n = {n}" for n in sizes),
        "first, extra",
        "slowest / median",
        "times the GP at 100",
    ]
    notes = (
        f"Processor seconds of a suggestion on {PROBLEM}, the median of {REPEATS} after the first; "
        "the first takes longer by 'first, extra' (the largest over n), which holds compiling and "
        "choosing hyperparameters anew. A program compiled again as n grows would show in 'slowest "
        "/ median'."
    )
    return f"{markdown(header, rows)}\n\n{notes}"


def _last(usual: dict[tuple[str, str], float], method: str) -> float:
    return max(seconds for (_, one), seconds in usual.items() if one == method)


def draw(records: Sequence[Record], folder: Path) -> list[Path]:
    """Draw median seconds over n."""
    groups = by_cell(succeeded(records), tuple(map(str, SIZES)))
    if not groups:
        return []
    figure = new_figure(8.0, 5.0)
    axes = figure.add_subplot()
    for position, method in enumerate(dict.fromkeys(method for _, method in groups)):
        found = {
            int(cell): float(np.median([r["seconds"] for r in group]))
            for (cell, one), group in groups.items()
            if one == method
        }
        axes.plot(
            list(found),
            list(found.values()),
            label=method,
            markersize=4,
            linewidth=2.2 if method == "gp" else 1.1,
            **LIGHT.style(position),
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks([], minor=True)
    axes.set_xticks(SIZES, [str(n) for n in SIZES])
    axes.set_xlabel("number of points")
    axes.set_ylabel("processor seconds a suggestion")
    axes.grid(True, which="major", linewidth=0.4, alpha=0.6)
    axes.legend(fontsize="x-small", loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    return [save(figure, folder / "seconds.png")]


def seconds_study(methods: Sequence[str]) -> Study:
    """Return the study of these methods; one with ``"gp"`` compares with it."""
    return Study(
        name="seconds",
        title="Seconds per suggestion",
        about="Every companion surrogate against the plain GP, in six inputs.",
        cells=tuple(map(str, SIZES)),
        methods=tuple(methods),
        run=run,
        table=seconds_table,
        draw=draw,
        quick=("20",),
    )
