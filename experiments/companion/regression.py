"""How well the surrogates predict functions from few points (Kruse, MSc thesis, DTU 2022, ch. 6).

The figures are his: MRE, the mean of ``|mean(x) - y| / |y|``, and exp-MLPD, the exponential of the
mean log predictive density, in units of y. Mixtures are scored by their exact density, everything
else by the normal density of its mean and variance, noise included where the posterior states its
variance, as networks do: an ensemble that does not is scored by the spread of its members.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from boring.exceptions import InvalidInputError
from boring.plotting._canvas import LIGHT
from boring.registry import get_optimizer
from boring.rng import keyed_generator, single_blas_thread
from boring.typing import FloatArray

from ..plots import new_figure, save
from ..regression import Prediction, scores
from ..single_run import register_methods
from ..tables import format_number, markdown
from ..thesis.study import Record, Study, succeeded
from ..variants import check_variant
from .fits import FIT_SIZE, SHOWN, draw_fit, draw_fits, fit_of

__all__ = ["BASELINE", "functions_study", "predict", "waves_study"]

SIZES = (10, 15, 23, 36, 56, 86, 133, 205, 316)
N_TEST = 10_000
"""Numbers of points, as in the thesis."""

BASELINE = "mean and deviation"
"""The normal distribution of the values seen, whatever x is; in the thesis "empirical"."""

SMALLEST_VARIANCE = 1e-12
"""Of a standardised value, so that every density is finite."""

WAVES = "two-waves-1"
WAVES_NOISE = 0.1
"""Of Agrawal's sinusoid (project report, Cambridge 2016, ch. 5), with 20 points."""

NEAR, FAR = 0.03, 0.1
"""Distances from the nearest point at which Agrawal's picture is judged, raw units."""

FIGURES: Mapping[str, tuple[str, bool]] = {
    "relative_error": ("mean relative error (MRE)", True),
    "density": ("exp of the mean log density, 1/units of y", True),
}
"""Label, and whether the axis is logarithmic."""


def predict(
    method: str,
    X: FloatArray,
    y: FloatArray,
    X_test: FloatArray,
    seed: int,
    *,
    noise: bool = True,
) -> Prediction:
    """Return what a surrogate says of new points.

    Parameters
    ----------
    method : str
        "mean and deviation", "gp", or an optimiser with a surrogate of its own; variants, too.
    X : ndarray, shape (n, D), scaled
    y : ndarray, shape (n,)
    X_test : ndarray, shape (m, D), scaled
    seed : int
    noise : bool, default True
        Predict observations, not the function.

    Raises
    ------
    InvalidInputError
        If the method has no such surrogate.
    """
    center, spread = float(y.mean()), float(y.std()) or 1.0
    if method == BASELINE:
        return Prediction(np.full(len(X_test), center), np.full(len(X_test), spread**2), {})
    posterior = _posterior(method, X, (y - center) / spread, seed)
    mean, variance = posterior.predict(X_test)
    mixture: Callable[[FloatArray, FloatArray], FloatArray] | None
    mixture = getattr(posterior, "log_density", None)
    if mixture is None and noise:
        variance = variance + float(getattr(posterior, "noise_variance", 0.0))
    variance = spread**2 * np.maximum(variance, SMALLEST_VARIANCE)
    return Prediction(
        center + spread * mean, variance, {}, _unscaled(mixture, X_test, center, spread)
    )


def _unscaled(
    mixture: Callable[[FloatArray, FloatArray], FloatArray] | None,
    X_test: FloatArray,
    center: float,
    spread: float,
) -> Callable[[FloatArray], FloatArray] | None:
    """Return the density of values in their own units, if there is one of standardised values."""
    if mixture is None:
        return None
    return lambda values: mixture(X_test, (values - center) / spread) - np.log(spread)


def _posterior(method: str, X: FloatArray, y: FloatArray, seed: int) -> Any:
    from baselines._surrogate_loop import SurrogateOptimizer
    from boring.models.plain import fit_plain, plain_model

    if method == "gp":
        model = plain_model(X.shape[1])
        theta, _ = fit_plain(model, X, y, {}, restart_every=1)
        return model.condition(theta, X, y)
    register_methods()
    variant = check_variant(method)
    sides = [(-1.0, 1.0)] * X.shape[1]
    make = get_optimizer(variant.method)
    optimizer = make(sides, direction="maximize", seed=seed, **variant.options)
    if not isinstance(optimizer, SurrogateOptimizer):
        raise InvalidInputError(
            f"{method!r} has no surrogate that predicts values. Choose another method."
        )
    return optimizer.fitted(X, y)


def run_function(cell: str, seed: int, method: str) -> dict[str, Any]:
    """Learn a function, ``<problem>, <n>``, from n uniform points, and predict it at others.

    The points of a smaller n are the first of a larger one. In one variable the fit to 36 points is
    kept, to be drawn.
    """
    from synthetic import get_problem

    name, n = _parts(cell)
    problem = get_problem(name, seed)
    X, X_test = (
        keyed_generator(seed, "companion", name, part).uniform(-1.0, 1.0, (count, problem.dim))
        for part, count in (("train", max(n, SIZES[-1])), ("test", N_TEST))
    )
    y, y_test = (
        problem.observe(problem.space.unscale(Z), keyed_generator(seed, "noise", name, part))
        for part, Z in (("train", X), ("test", X_test))
    )
    X, y = X[:n], y[:n]
    start = time.process_time()
    with single_blas_thread():
        prediction = predict(method, X, y, X_test, seed)
        found = scores(prediction, y, y_test)
    seconds = time.process_time() - start
    log_density = found["log_density"] - np.log(y.std())  # in units of y again
    drawn = {}
    if problem.dim == 1 and n == FIT_SIZE:
        with single_blas_thread():
            shown = predict(method, X, y, X_test[:SHOWN], seed)
        grid = problem.space.unscale(X_test[:SHOWN])
        drawn = {"fit": fit_of(problem.space.unscale(X), y, grid, y_test[:SHOWN], shown)}
    return {
        **found,
        "relative_error": float(np.mean(np.abs(prediction.mean - y_test) / np.abs(y_test))),
        "density": float(np.exp(log_density)),
        "seconds": seconds,
        **drawn,
    }


def run_waves(cell: str, seed: int, method: str) -> dict[str, Any]:
    """Learn two waves from n noisy points: fit, coverage, and where the band is wide.

    The band is of the function, without the noise, as in the report.
    """
    from synthetic import get_problem

    _, n = _parts(cell)
    problem = get_problem(WAVES)
    rng = keyed_generator(seed, "companion", "waves")
    X = rng.uniform(-1.0, 1.0, (n, 1))
    y = problem(X) + WAVES_NOISE * rng.standard_normal(n)
    grid = np.linspace(-1.0, 1.0, 401)[:, np.newaxis]
    start = time.process_time()
    with single_blas_thread():
        prediction = predict(method, X, y, np.vstack([grid, X]), seed, noise=False)
    seconds = time.process_time() - start
    assert prediction.variance is not None
    mean, at_data = prediction.mean[: len(grid)], prediction.mean[len(grid) :]
    deviation = np.sqrt(prediction.variance)[: len(grid)]
    distance = np.abs(grid - X[:, 0]).min(axis=1)
    near, far = distance < NEAR, distance > FAR
    return {
        "training_error": float(np.sqrt(np.mean((at_data - y) ** 2))),
        "error": float(np.sqrt(np.mean((mean - problem(grid)) ** 2))),
        "covered": float(np.mean(np.abs(mean - problem(grid)) <= 2.0 * deviation)),
        "near": float(deviation[near].mean()),
        "far": float(deviation[far].mean()) if far.any() else None,
        "seconds": seconds,
        "grid": np.round(grid[:, 0], 4).tolist(),
        "mean": np.round(mean, 4).tolist(),
        "deviation": np.round(deviation, 4).tolist(),
        "x": X[:, 0].tolist(),
        "y": y.tolist(),
    }


def functions_table(records: Sequence[Record]) -> str:
    """Return one table of either figure for each function: medians over seeds."""
    parts = []
    for name, group in _by_problem(records).items():
        sizes = sorted({_parts(r["cell"])[1] for r in group})
        methods = list(dict.fromkeys(r["method"] for r in group))
        for key, (label, _) in FIGURES.items():
            rows = [
                [method, *(_median(group, method, f"{name}, {n}", key) for n in sizes)]
                for method in methods
            ]
            header = ["method", *(f"n = {n}" for n in sizes)]
            parts.append(f"{name}: {label}\n\n{markdown(header, rows)}\n")
    return "\n".join([*parts, f"Medians over {_seeds(records)}."])


def draw_functions(records: Sequence[Record], folder: Path) -> list[Path]:
    """Draw either figure over the number of points, a panel for each function, and the fits."""
    good = succeeded(records)
    if not good:
        return []
    problems = _by_problem(good)
    methods = list(dict.fromkeys(r["method"] for r in good))
    written = []
    for key, (label, logarithmic) in FIGURES.items():
        columns = min(4, len(problems))
        rows = -(-len(problems) // columns)
        figure = new_figure(max(3.4 * columns, 7.0), 2.9 * rows + 0.9)
        panels = figure.subplots(rows, columns, squeeze=False)
        for axes, (name, group) in zip(panels.flat, problems.items(), strict=False):
            for position, method in enumerate(methods):
                _draw_one(axes, group, method, key, position)
            axes.set_xscale("log")
            if logarithmic:
                axes.set_yscale("log")
            axes.set_xticks([], minor=True)
            axes.set_xticks(SIZES, [str(n) for n in SIZES], fontsize="x-small")
            axes.set_title(name, fontsize="medium")
            axes.set_xlabel("number of points", fontsize="small")
            axes.grid(True, which="major", linewidth=0.4, alpha=0.6)
        for axes in list(panels.flat)[len(problems) :]:
            axes.set_visible(False)
        handles, labels = panels.flat[0].get_legend_handles_labels()
        figure.legend(
            handles, labels, loc="outside lower center", ncols=4, fontsize="small", frameon=False
        )
        figure.suptitle(f"{label}; median and quartiles over {_seeds(good)}", fontsize="medium")
        written.append(save(figure, folder / f"regression-{key}.png"))
    return written + draw_fits(good, folder)


def waves_table(records: Sequence[Record]) -> str:
    """Return fit and coverage of each method, medians over seeds."""
    keys = ("training_error", "error", "covered", "near", "far", "seconds")
    cells = list(dict.fromkeys(r["cell"] for r in records))
    methods = list(dict.fromkeys(r["method"] for r in records))
    rows = [
        [f"{cell}: {method}", *(_median(records, method, cell, key) for key in keys)]
        for cell in cells
        for method in methods
    ]
    header = ["points: method", "RMSE at data", "RMSE", "in 2 sd", "sd near", "sd far", "CPU / s"]
    note = f"Near: within {NEAR} of a point; far: more than {FAR} from all. Medians over seeds."
    return f"{markdown(header, rows)}\n\n{note}"


def draw_waves(records: Sequence[Record], folder: Path) -> list[Path]:
    """Draw mean and two deviations of each method, first seed, a row for each number of points."""
    good = succeeded(records)
    first = [r for r in good if r["seed"] == min(s["seed"] for s in good)]
    cells = list(dict.fromkeys(r["cell"] for r in first))
    methods = list(dict.fromkeys(r["method"] for r in first))
    if not first:
        return []
    from synthetic import get_problem

    columns = max(2, len(methods))
    figure = new_figure(3.2 * columns, 2.7 * len(cells) + 0.5)
    panels = figure.subplots(len(cells), columns, squeeze=False, sharex=True, sharey=True)
    found = {(r["cell"], r["method"]): r for r in first}
    for row, cell in zip(panels, cells, strict=True):
        for axes, method in zip(row, methods, strict=False):
            if (cell, method) not in found:
                continue
            record = found[cell, method]
            grid = np.array(record["grid"])
            truth = get_problem(WAVES)(grid[:, np.newaxis])
            axes.plot(grid, truth, color="0.3", linestyle="--", linewidth=1.0, label="truth")
            draw_fit(axes, record)
            axes.set_title(f"{method}, {len(record['x'])} points", fontsize="small")
            axes.set_ylim(-5.0, 5.0)
        for axes in row[len(methods) :]:
            axes.set_visible(False)
    panels[0, 0].legend(fontsize="x-small")
    figure.suptitle(f"sin 7x + cos 17x, seed {first[0]['seed']}", fontsize="medium")
    return [save(figure, folder / "waves.png")]


def functions_study(problems: Sequence[str], methods: Sequence[str], quick: Sequence[str]) -> Study:
    """Return the study of functions; methods besides the baseline."""
    return Study(
        name="functions",
        title="Prediction of functions",
        about=f"From n uniform points, at {N_TEST} others.",
        cells=tuple(f"{name}, {n}" for name in problems for n in SIZES),
        methods=(BASELINE, *methods),
        run=run_function,
        table=functions_table,
        draw=draw_functions,
        quick=tuple(quick),
    )


def waves_study(sizes: Sequence[int], methods: Sequence[str]) -> Study:
    """Return the study of two waves."""
    cells = tuple(f"{WAVES}, {n}" for n in sizes)
    return Study(
        name="waves",
        title="What a surrogate makes of two waves",
        about=f"sin 7x + cos 17x with noise of standard deviation {WAVES_NOISE}.",
        cells=cells,
        methods=tuple(methods),
        run=run_waves,
        table=waves_table,
        draw=draw_waves,
        quick=cells,
    )


def _parts(cell: str) -> tuple[str, int]:
    name, _, n = cell.rpartition(", ")
    return name, int(n)


def _seeds(records: Sequence[Record]) -> str:
    """Return how many seeds stand behind the cells of the table, from the fewest to the most."""
    held: dict[tuple[str, str], set[int]] = {}
    for record in records:
        held.setdefault((record["cell"], record["method"]), set()).add(record["seed"])
    fewest, most = (pick(len(seeds) for seeds in held.values()) for pick in (min, max))
    number = str(most) if fewest == most else f"{fewest} to {most}"
    return f"{number} seed" if number == "1" else f"{number} seeds"


def _by_problem(records: Sequence[Record]) -> dict[str, list[Record]]:
    groups: dict[str, list[Record]] = {}
    for record in records:
        groups.setdefault(_parts(record["cell"])[0], []).append(record)
    return groups


def _figures(records: Sequence[Record], method: str, cell: str, key: str) -> list[float]:
    good = [r for r in succeeded(records) if (r["method"], r["cell"]) == (method, cell)]
    return [r[key] for r in good if r[key] is not None]


def _median(records: Sequence[Record], method: str, cell: str, key: str) -> str:
    values = _figures(records, method, cell, key)
    return format_number(float(np.median(values)) if values else None)


def _draw_one(axes: Any, group: Sequence[Record], method: str, key: str, position: int) -> None:
    """Draw the curve of one method: medians, with bars between the quartiles."""
    cells = sorted({r["cell"] for r in group}, key=lambda cell: _parts(cell)[1])
    found = {_parts(c)[1]: v for c in cells if (v := _figures(group, method, c, key))}
    if not found:
        return
    low, median, high = np.array([np.percentile(v, (25, 50, 75)) for v in found.values()]).T
    axes.errorbar(
        list(found),
        median,
        yerr=(median - low, high - median),
        label=method,
        markersize=4,
        linewidth=1.2,
        elinewidth=0.7,
        **LIGHT.style(position),
    )
