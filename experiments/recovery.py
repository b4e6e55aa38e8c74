"""How well active subspaces are found from points that are uniform in the box.

Run ``python -m experiments.recovery --seeds 10 --out results/recovery.jsonl``. Each line of the
output is one (cell, seed, method); what is there already is not run again. The table is printed
at the end, and alone with ``--seeds 0``.

Methods: ``full-rank`` is the default learner; ``tripathy`` the alternation with 30 random
restarts; ``tripathy-equal-cpu`` the same with the processor time that ``full-rank`` took for
that cell and seed, which must be in the output already or among the methods.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from boring.exceptions import SubspaceWarning
from boring.rng import keyed_generator, single_blas_thread
from boring.subspace.dimension import lowest_bic, score_dimensions
from boring.subspace.estimation import estimate_active_subspace
from boring.subspace.trust import ISOTROPIC_CANDIDATES, isotropic_posterior
from boring.typing import FloatArray
from experiments.arguments import non_negative
from experiments.lines import append_line, read_cells
from experiments.metrics import largest_angle_degrees
from experiments.script import run_script
from experiments.tables import markdown
from synthetic import recovery_problem

HIT_DEGREES = 10.0
N_TEST_POINTS = 400
METHODS = ("full-rank", "tripathy", "tripathy-equal-cpu")
# Held-out log density that a subspace may cost against the isotropic GP, nats a point.
DENSITY_TOLERANCE = 0.2


@dataclass(frozen=True, slots=True)
class Cell:
    """One setting: a function, its placement, the number of points, the noise.

    Attributes
    ----------
    problem : str
        Name for `synthetic.recovery_problem`.
    dim, n : int
    noise : float
        Standard deviation, in units of the standard deviation of f over the points.
    axis_aligned : bool
    """

    problem: str
    dim: int
    n: int
    noise: float = 0.0
    axis_aligned: bool = False

    @property
    def name(self) -> str:
        """For the command line and the records, e.g. ``camelback-10-100-noise0.1``."""
        tail = f"-noise{self.noise:g}" if self.noise else ""
        return f"{self.problem}-{self.dim}-{self.n}{tail}{'-axes' if self.axis_aligned else ''}"


CELLS = (
    Cell("camelback", 5, 50),
    Cell("camelback", 10, 100),
    Cell("camelback", 25, 200),
    Cell("sinexp", 10, 50),
    Cell("sinexp", 25, 200),
    Cell("parabola", 25, 50),
    Cell("parabola", 50, 100),
    Cell("rosenbrock", 10, 200),
    Cell("camelback", 10, 100, noise=0.1),
    Cell("camelback", 50, 100, axis_aligned=True),
    # n = D d: nothing can be found, and the check of trust has to say so.
    Cell("camelback", 25, 50),
)


@dataclass(frozen=True, eq=False, slots=True)
class _Data:
    X: FloatArray
    y: FloatArray
    basis: FloatArray
    X_test: FloatArray
    y_test: FloatArray


def draw(cell: Cell, seed: int) -> _Data:
    """Draw W, points, noise and test points of one seed."""
    problem = recovery_problem(cell.problem, cell.dim, seed, axis_aligned=cell.axis_aligned)
    rng = keyed_generator(seed, "recovery", cell.name)
    X = rng.uniform(-1.0, 1.0, (cell.n, cell.dim))
    X_test = rng.uniform(-1.0, 1.0, (N_TEST_POINTS, cell.dim))
    y = np.asarray(problem(problem.space.unscale(X)))
    y_test = np.asarray(problem(problem.space.unscale(X_test)))
    y = y + cell.noise * float(y.std()) * rng.standard_normal(cell.n)
    assert problem.true_basis is not None
    return _Data(X, y, problem.true_basis, X_test, y_test)


def run(cell: Cell, seed: int, method: str, cpu_budget: float | None = None) -> dict[str, Any]:
    """Estimate the subspace of one data set and return its record.

    Parameters
    ----------
    cell : Cell
    seed : int
    method : str
        One of `METHODS`.
    cpu_budget : float, optional
        Seconds, for ``tripathy-equal-cpu``.
    """
    data = draw(cell, seed)
    d = data.basis.shape[1]
    rng = keyed_generator(seed, "recovery", cell.name, method)
    check = method == "full-rank"
    with warnings.catch_warnings(), single_blas_thread():
        warnings.simplefilter("ignore", SubspaceWarning)
        start = time.process_time()
        estimate = estimate_active_subspace(
            data.X,
            data.y,
            d,
            rng=rng,
            method="full-rank" if check else "tripathy",
            check=False,
            cpu_budget=cpu_budget,
            n_restarts=None if cpu_budget is None else 10_000,
        )
        seconds = time.process_time() - start
        record = {
            "cell": cell.name,
            "seed": seed,
            "method": method,
            "angle": largest_angle_degrees(estimate.active_basis, data.basis),
            "seconds": seconds,
            "log_posterior": estimate.log_posterior,
            "profile": estimate.profile,
            "axis_aligned": estimate.axis_aligned,
            "gradient_norm": estimate.gradient_norm,
            "effective_dim": d,
        }
        if check:
            record |= _checks(data, d, rng)
    return record


def _checks(data: _Data, d: int, rng: np.random.Generator) -> dict[str, Any]:
    """Return the choice of d, and what the check of trust makes of predictions."""
    standard = (data.y - data.y.mean()) / data.y.std()
    estimate = estimate_active_subspace(data.X, data.y, d, rng=rng)
    isotropic = isotropic_posterior(data.X, standard, ISOTROPIC_CANDIDATES)
    spread = float(data.y.std())
    density = float(np.mean(estimate.predictor.log_density(data.X_test, data.y_test)))
    plain = isotropic.log_predictive_density(data.X_test, (data.y_test - data.y.mean()) / spread)
    return {
        "bic_dim": lowest_bic(score_dimensions(data.X, standard)).effective_dim,
        "trusted": estimate.trusted,
        "density": density,
        "isotropic_density": float(np.mean(plain)) - float(np.log(spread)),
        **{f"trust_{key}": value for key, value in estimate.trust.items()},
    }


def table(records: Iterable[dict[str, Any]]) -> str:
    """Return hits, angles, processor time and the checks, as Markdown."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for record in records:
        groups.setdefault((record["cell"], record["method"]), []).append(record)
    order = {cell.name: position for position, cell in enumerate(CELLS)}
    rows = []
    for (cell, method), group in sorted(
        groups.items(), key=lambda item: (order.get(item[0][0], len(order)), item[0])
    ):
        angles = np.array([record["angle"] for record in group])
        low, median, high = np.percentile(angles, [25, 50, 75])
        seconds = float(np.median([record["seconds"] for record in group]))
        n = len(group)
        checked = [record for record in group if "bic_dim" in record]
        right = sum(record["bic_dim"] == record["effective_dim"] for record in checked)
        safe = sum(
            record["density"] >= record["isotropic_density"] - DENSITY_TOLERANCE
            for record in checked
        )
        trusted = sum(record["trusted"] for record in checked)
        rows.append(
            [
                cell,
                method,
                f"{int(np.sum(angles < HIT_DEGREES))}/{n}",
                f"{median:.2f}",
                f"{low:.2f} to {high:.2f}",
                f"{seconds:.2f}",
                f"{right}/{len(checked)}" if checked else "",
                f"{trusted}/{len(checked)}" if checked else "",
                f"{safe}/{len(checked)}" if checked else "",
            ]
        )
    header = [
        "cell (function-D-n)",
        "method",
        f"< {HIT_DEGREES:g}°",
        "median / °",
        "quartiles / °",
        "CPU / s",
        "BIC right",
        "trusted",
        "density held",
    ]
    return markdown(header, rows)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is missing, append it, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m experiments.recovery", description=__doc__)
    parser.add_argument("--seeds", type=non_negative, default=10, help="how many")
    parser.add_argument("--first-seed", type=non_negative, default=0)
    parser.add_argument("--cells", default="all", help="names with commas between, or all")
    parser.add_argument("--methods", default="full-rank", help=f"of {', '.join(METHODS)}")
    parser.add_argument("--out", type=Path, default=Path("results/recovery.jsonl"))
    options = parser.parse_args(arguments)
    by_name = {cell.name: cell for cell in CELLS}
    names = list(by_name) if options.cells == "all" else options.cells.split(",")
    methods = options.methods.split(",")
    for kind, given, known in (("cell", names, by_name), ("method", methods, METHODS)):
        for name in given:
            if name not in known:
                parser.error(f"unknown {kind} {name!r}; known: {', '.join(known)}")
    options.out.parent.mkdir(parents=True, exist_ok=True)
    records = read_cells(options.out)
    for name in names:
        for seed in range(options.first_seed, options.first_seed + options.seeds):
            for method in sorted(methods, key=METHODS.index):
                if (name, seed, method) in records:
                    continue
                budget = None
                if method == "tripathy-equal-cpu":
                    reference = records.get((name, seed, "full-rank"))
                    if reference is None:
                        parser.error("tripathy-equal-cpu needs the full-rank records")
                    budget = float(reference["seconds"])
                record = run(by_name[name], seed, method, budget)
                records[name, seed, method] = record
                append_line(options.out, record)
    print(table(record for record in records.values() if record["cell"] in names))
    return 0


if __name__ == "__main__":
    run_script(main)
