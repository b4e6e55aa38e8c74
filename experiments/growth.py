"""How the time and memory of a suggestion grow with the points n and the dimensions D.

Run ``python -m experiments.growth`` from the root of the checkout. Every cell is a process of its
own with one BLAS thread, so that its peak memory is its own; seconds are those of the processor, so
that a busy machine does not count. The slopes are those of a line through the logarithms: 3 is
what a Cholesky factor costs in the limit, 0 what does not grow.
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from boring.plotting._canvas import LIGHT
from boring.rng import keyed_generator

from .arguments import positive
from .memory import peak_memory_mib
from .plots import new_figure, save
from .processes import one_blas_thread_for_children
from .script import run_script
from .tables import format_number, markdown

__all__ = [
    "CELLS",
    "GrowthCell",
    "GrowthTimes",
    "growth_table",
    "plot_growth",
    "run_growth",
    "slope",
    "time_cell",
]

SEED = 20260101
DIMS = (5, 10, 25, 100, 1000)
POINTS = (25, 50, 100, 200)
MANY_POINTS, MANY_POINTS_DIMS = 500, (10, 100, 1000)
REPEATS = 8
"""Suggestions timed in each cell, half of them the local model's."""


@dataclass(frozen=True)
class GrowthCell:
    """A dimension and a number of points told before the clock starts."""

    dim: int
    n: int


CELLS = (
    *(GrowthCell(dim, n) for dim in DIMS for n in POINTS),
    *(GrowthCell(dim, MANY_POINTS) for dim in MANY_POINTS_DIMS),
)


@dataclass(frozen=True)
class GrowthTimes:
    """What one cell took.

    Attributes
    ----------
    cell : GrowthCell
    first : float
        Processor seconds of the first suggestion, in which the subspace is learned.
    seconds : tuple of float
        Processor seconds of the suggestions after it.
    memory : float or None
        Peak resident memory of the process, MiB, imports included; None where the system does not
        tell.
    """

    cell: GrowthCell
    first: float
    seconds: tuple[float, ...]
    memory: float | None

    @property
    def median(self) -> float:
        """Median seconds of a suggestion."""
        return float(np.median(self.seconds))


def time_cell(cell: GrowthCell) -> GrowthTimes:
    """Time the default optimiser on an embedded Camelback, d given, after uniform points."""
    from boring.loop.algorithm import BoringOptimizer
    from boring.rng import single_blas_thread
    from synthetic import get_problem

    problem = get_problem(f"camelback-2-in-{cell.dim}", SEED)
    optimizer = BoringOptimizer(
        problem.space,
        direction=problem.direction,
        seed=SEED,
        effective_dim=problem.effective_dim,
    )
    X = problem.space.sample(cell.n, keyed_generator(SEED, "growth", cell.dim))
    optimizer.tell(X, problem(X))

    def step() -> tuple[str, float]:
        start = time.process_time()
        x = optimizer.ask()[0]
        seconds = time.process_time() - start
        optimizer.tell(x, problem(x))
        return optimizer.history.asks[-1].phase, seconds

    with single_blas_thread():
        phase, first = "local", 0.0
        while phase == "local":  # the first turn that looks at the whole box learns
            phase, first = step()
        seconds = tuple(step()[1] for _ in range(REPEATS))
    return GrowthTimes(cell, first, seconds, peak_memory_mib())


def slope(x: Sequence[float], y: Sequence[float]) -> float:
    """Return the slope of the least-squares line through the logarithms; NaN below two points."""
    if len(x) < 2:
        return float("nan")
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def _at(
    times: Sequence[GrowthTimes], *, dim: int | None = None, n: int | None = None
) -> list[GrowthTimes]:
    """Return the cells of one dimension or of one number of points, in the order of the other."""
    chosen = [one for one in times if dim in (None, one.cell.dim) and n in (None, one.cell.n)]
    return sorted(chosen, key=lambda one: (one.cell.dim, one.cell.n))


def growth_table(times: Sequence[GrowthTimes]) -> str:
    """Return the tables of seconds and memory, with the slopes of the seconds.

    Parameters
    ----------
    times : sequence of GrowthTimes
    """
    dims = sorted({one.cell.dim for one in times})
    points = sorted({one.cell.n for one in times})
    found = {one.cell: one for one in times}
    rows = []
    for dim in dims:
        here = _at(times, dim=dim)
        cells = [found.get(GrowthCell(dim, n)) for n in points]
        grows = slope([one.cell.n for one in here], [one.median for one in here])
        rows.append([str(dim), *(_cell_text(one) for one in cells), format_number(grows, 2)])
    last = ["slope in D"]
    for n in points:
        here = _at(times, n=n)
        last.append(format_number(slope([o.cell.dim for o in here], [o.median for o in here]), 2))
    title = (
        "### Growth of a suggestion, default optimiser, embedded Camelback, d given\n\n"
        "Median processor seconds (of the suggestion that learns the subspace; peak MiB).\n\n"
    )
    header = ["D", *(f"n = {n}" for n in points), "slope in n"]
    return title + markdown(header, [*rows, [*last, ""]])


def _cell_text(times: GrowthTimes | None) -> str:
    if times is None:
        return format_number(None)
    memory = format_number(times.memory)
    return f"{format_number(times.median, 2)} ({format_number(times.first, 2)}; {memory})"


def plot_growth(times: Sequence[GrowthTimes], path: Path) -> Path:
    """Draw seconds over n for each D, seconds over D for each n, and memory over n.

    Parameters
    ----------
    times : sequence of GrowthTimes
    path : Path
    """
    from matplotlib.ticker import FormatStrFormatter, LogLocator, NullFormatter

    figure = new_figure(10.0, 4.2)
    over_n, over_dim, memory = figure.subplots(1, 3)
    dims = sorted({one.cell.dim for one in times})
    points = sorted({one.cell.n for one in times})
    for position, dim in enumerate(dims):
        here = _at(times, dim=dim)
        style = LIGHT.style(position)
        n = [one.cell.n for one in here]
        grows = slope(n, [one.median for one in here])
        label = _label("D", dim, grows)
        over_n.loglog(n, [one.median for one in here], label=label, **style)
        known = [one for one in here if one.memory is not None]
        memory.semilogx([one.cell.n for one in known], [one.memory for one in known], **style)
    for position, n_points in enumerate(points):
        here = _at(times, n=n_points)
        grows = slope([one.cell.dim for one in here], [one.median for one in here])
        over_dim.loglog(
            [one.cell.dim for one in here],
            [one.median for one in here],
            label=_label("n", n_points, grows),
            **LIGHT.style(position),
        )
    for ax, xlabel, ylabel, ticks in (
        (over_n, "points n", "processor seconds a suggestion, median", points),
        (over_dim, "dimensions D", "processor seconds a suggestion, median", dims),
        (memory, "points n (D as on the left)", "peak resident memory / MiB", points),
    ):
        ax.set_xticks([], minor=True)
        ax.set_xticks(ticks, [str(tick) for tick in ticks])
        ax.set_xlabel(xlabel)
        ax.set_ylabel(ylabel)
        ax.grid(alpha=0.3, which="both")
    memory.set_ylim(bottom=0.0)
    for ax in (over_n, over_dim):
        ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 3.0)))
        ax.yaxis.set_major_formatter(FormatStrFormatter("%g"))
        ax.yaxis.set_minor_formatter(NullFormatter())
        ax.legend(fontsize="small", ncol=2, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    return save(figure, path)


def _label(name: str, value: int, grows: float) -> str:
    return f"{name} = {value}" + ("" if np.isnan(grows) else f", slope {grows:.1f}")


def run_growth(cells: Sequence[GrowthCell] = CELLS, jobs: int = 1) -> list[GrowthTimes]:
    """Time all cells, each in a process of its own.

    Parameters
    ----------
    cells : sequence of GrowthCell
    jobs : int, default 1
        Processes at a time; more than there are free cores spoil the seconds.
    """
    context = multiprocessing.get_context("spawn")
    with (
        one_blas_thread_for_children(),
        ProcessPoolExecutor(jobs, mp_context=context, max_tasks_per_child=1) as pool,
    ):
        return list(pool.map(time_cell, cells))


def _cells(text: str) -> tuple[GrowthCell, ...]:
    try:
        pairs = [cell.split("x") for cell in text.split(",")]
        return tuple(GrowthCell(positive(dim), positive(n)) for dim, n in pairs)
    except (ValueError, argparse.ArgumentTypeError) as error:
        raise argparse.ArgumentTypeError(
            f"must be D times n with commas between, such as 10x100,1000x200; received {text!r}"
        ) from error


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table and draw the picture."""
    parser = argparse.ArgumentParser(prog="python -m experiments.growth", description=__doc__)
    parser.add_argument("--jobs", type=positive, default=1, help="processes (default %(default)s)")
    parser.add_argument(
        "--out", type=Path, default=Path("results/bench"), help="folder of the picture"
    )
    parser.add_argument(
        "--cells",
        type=_cells,
        default=CELLS,
        help="such as 10x100,1000x200 (D times n); default all",
    )
    arguments = parser.parse_args(argv)
    times = run_growth(arguments.cells, arguments.jobs)
    print(growth_table(times))
    print(f"\nPicture: {plot_growth(times, arguments.out / 'growth.png')}")
    return 0


if __name__ == "__main__":
    run_script(main)
