"""How well a learned active subspace predicts real data, against models without one.

Run ``python -m experiments.regression --data diabetes,digits --seeds 10``, or with files of your
own, ``--data communities=communities.data,ct-slices=slice_localization_data.csv``. Each line of the
output is one (data set and number of points, seed, method); what is there already is not run again.
The table is printed at the end, and alone with ``--seeds 0``.

Methods: ``subspace-2`` is the learner of active subspaces with d = 2, as in Garnett, Osborne and
Hennig (2014); ``subspace`` chooses d and falls back on ``isotropic``, one lengthscale over all
inputs, unless the subspace has proved itself; ``ridge`` is a linear model whose penalty is chosen
by cross-validation.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from boring.exceptions import SubspaceWarning
from boring.rng import keyed_generator, single_blas_thread
from boring.subspace.estimation import estimate_active_subspace
from boring.subspace.trust import ISOTROPIC_CANDIDATES, isotropic_posterior
from boring.typing import FloatArray
from experiments.arguments import non_negative, positive
from experiments.lines import append_line, read_cells
from experiments.script import run_script
from experiments.tables import markdown
from synthetic.tasks.regression_data import BUNDLED, LOADERS, RegressionData, load_bundled

N_TRAINING = 100
"""Points learned from (chosen here)."""

MAX_TEST = 1000
"""Most points that predictions are compared on (chosen here)."""

PENALTIES = np.logspace(-3.0, 4.0, 29)

IndexArray = np.ndarray[Any, np.dtype[np.int64]]


class Prediction(NamedTuple):
    """What a method says of rows that it has not seen.

    Parameters
    ----------
    mean : ndarray, shape (m,)
    variance : ndarray, shape (m,), or None
        Of new observations, if the method has any.
    further : mapping
        What else is to be recorded.
    log_density : callable, optional
        Of m observations, one of each row; the normal density of mean and variance by default.
    """

    mean: FloatArray
    variance: FloatArray | None
    further: Mapping[str, Any]
    log_density: Callable[[FloatArray], FloatArray] | None = None


def split(data: RegressionData, n: int, seed: int) -> tuple[IndexArray, IndexArray]:
    """Return row numbers to learn from, (n,), and to predict.

    Rows that belong together stay together where there are groups: those to predict are then of
    other groups than those learned from, if there is more than one group.
    """
    rng = keyed_generator(seed, "regression", data.name)
    order = rng.permutation(len(data.y))
    groups = None if data.groups is None else np.unique(data.groups)
    if data.groups is None or groups is None or len(groups) < 2:
        return order[:n], order[n : n + MAX_TEST]
    for_training = rng.permutation(groups)[: max(1, round(0.7 * len(groups)))]
    known = np.isin(data.groups[order], for_training)
    return order[known][:n], order[~known][:MAX_TEST]


def _subspace(
    X: FloatArray, y: FloatArray, X_test: FloatArray, rng: np.random.Generator, d: int | None
) -> Prediction:
    estimate = estimate_active_subspace(X, y, d, rng=rng, check=d is None)
    mean, variance = estimate.predictor.predict(X_test)
    further = {"d": estimate.effective_dim, "trusted": estimate.trusted}
    return Prediction(mean, variance, further)


def _isotropic(
    X: FloatArray, y: FloatArray, X_test: FloatArray, rng: np.random.Generator
) -> Prediction:
    posterior = isotropic_posterior(X, (y - y.mean()) / y.std(), ISOTROPIC_CANDIDATES)
    mean, variance = posterior.predict(X_test)
    noisy = (variance + posterior.noise_variance) * y.var()
    return Prediction(y.mean() + y.std() * mean, noisy, {})


def _ridge(
    X: FloatArray, y: FloatArray, X_test: FloatArray, rng: np.random.Generator
) -> Prediction:
    from sklearn.linear_model import RidgeCV

    return Prediction(RidgeCV(PENALTIES).fit(X, y).predict(X_test), None, {})


METHODS: Mapping[str, Callable[..., Prediction]] = {
    "subspace-2": lambda X, y, X_test, rng: _subspace(X, y, X_test, rng, 2),
    "subspace": lambda X, y, X_test, rng: _subspace(X, y, X_test, rng, None),
    "isotropic": _isotropic,
    "ridge": _ridge,
}


def run(data: RegressionData, n: int, seed: int, method: str) -> dict[str, Any]:
    """Learn from n rows, predict others, and return the record.

    Errors are mean squares by the variance of the rows predicted, so that 1 is no better than
    their mean; densities are nats a row, of y standardised by the rows learned from.
    """
    train, test = split(data, n, seed)
    X, y, X_test, y_test = data.X[train], data.y[train], data.X[test], data.y[test]
    rng = keyed_generator(seed, "regression", data.name, method)
    with warnings.catch_warnings(), single_blas_thread():
        warnings.simplefilter("ignore", SubspaceWarning)
        start = time.process_time()
        prediction = METHODS[method](X, y, X_test, rng)
        seconds = time.process_time() - start
    record: dict[str, Any] = {
        "cell": f"{data.name}-{n}",
        "seed": seed,
        "method": method,
        "dim": data.X.shape[1],
        "seconds": seconds,
        **prediction.further,
    }
    return record | scores(prediction, y, y_test)


def scores(prediction: Prediction, y: FloatArray, y_test: FloatArray) -> dict[str, float]:
    """Return the error and, if there is one, the mean log density of a prediction.

    Parameters
    ----------
    prediction : Prediction
    y : ndarray, shape (n,)
        Learned from; its standard deviation is the unit of the density.
    y_test : ndarray, shape (m,)
    """
    mean, variance, _, log_density = prediction
    found = {"error": float(np.mean((mean - y_test) ** 2) / y_test.var())}
    if log_density is not None:
        found["log_density"] = float(np.mean(log_density(y_test)) + np.log(y.std()))
    elif variance is not None:
        logs = -0.5 * ((mean - y_test) ** 2 / variance + np.log(2.0 * np.pi * variance))
        found["log_density"] = float(np.mean(logs) + np.log(y.std()))
    return found


def table(records: Iterable[dict[str, Any]]) -> str:
    """Return medians and quartiles over seeds, as Markdown."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for record in records:
        groups.setdefault((record["cell"], record["method"]), []).append(record)
    rows = []
    for (cell, method), group in groups.items():
        errors = [record["error"] for record in group]
        low, median, high = np.percentile(errors, [25, 50, 75])
        densities = [record["log_density"] for record in group if "log_density" in record]
        trusted = [record["trusted"] for record in group if method == "subspace"]
        chosen = [record["d"] for record in group if "d" in record]
        rows.append(
            [
                cell,
                str(group[0]["dim"]),
                method,
                f"{median:.3f}",
                f"{low:.3f} to {high:.3f}",
                f"{np.median(densities):.2f}" if densities else "",
                f"{np.median(chosen):g}" if chosen else "",
                f"{sum(trusted)}/{len(trusted)}" if trusted else "",
                f"{np.median([record['seconds'] for record in group]):.2f}",
            ]
        )
    header = [
        "data-n",
        "D",
        "method",
        "squared error / variance",
        "quartiles",
        "log density",
        "d",
        "trusted",
        "CPU / s",
    ]
    return markdown(header, rows)


def load(spec: str) -> RegressionData:
    """Return the data set of ``NAME`` or ``NAME=FILE``."""
    name, given, path = spec.partition("=")
    if name in BUNDLED and not given:
        return load_bundled(name)
    if name in LOADERS and given:
        return LOADERS[name](path)
    raise SystemExit(
        f"--data takes {', '.join(BUNDLED)}, and "
        f"{' and '.join(f'{known}=FILE' for known in LOADERS)}; received {spec!r}."
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is missing, append it, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m experiments.regression", description=__doc__)
    parser.add_argument("--data", default=",".join(BUNDLED), help="names with commas between")
    parser.add_argument("--seeds", type=non_negative, default=10, help="how many")
    parser.add_argument("--train", type=positive, default=N_TRAINING, help="points to learn from")
    parser.add_argument("--methods", default=",".join(METHODS), help=f"of {', '.join(METHODS)}")
    parser.add_argument("--out", type=Path, default=Path("results/regression.jsonl"))
    options = parser.parse_args(arguments)
    methods = options.methods.split(",")
    for name in methods:
        if name not in METHODS:
            parser.error(f"unknown method {name!r}; known: {', '.join(METHODS)}")
    options.out.parent.mkdir(parents=True, exist_ok=True)
    records = read_cells(options.out)
    for data in map(load, options.data.split(",")):
        if options.train >= len(data.y):
            parser.error(f"--train must be less than the {len(data.y)} rows of {data.name}")
        for seed in range(options.seeds):
            for method in methods:
                if (f"{data.name}-{options.train}", seed, method) not in records:
                    record = run(data, options.train, seed, method)
                    records[record["cell"], seed, method] = record
                    append_line(options.out, record)
    print(table(records.values()))
    return 0


if __name__ == "__main__":
    run_script(main)
