"""The demonstration: a Camelback hidden in ten inputs, found and explained.

``python -m experiments demo`` runs BORING, REMBO, a plain Gaussian process and Sobol search on the
same problem instances, prints a table, draws three pictures and says in words what was found.
"""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from boring.exceptions import InvalidInputError
from boring.kernels import MATERN52, AdditiveKernel, KernelTerm, ProjectedArd
from boring.models.gp import GaussianProcessModel
from boring.models.posterior import GaussianProcess
from boring.models.priors import Gaussian, dimension_scaled
from boring.rng import keyed_generator, single_blas_thread
from boring.subspace.estimation import estimate_active_subspace
from boring.typing import FloatArray

from .account import judged_angle
from .config import Experiment, get_experiment
from .grouping import group_by_method
from .metrics import largest_angle_degrees
from .plots import plot_surrogate, save
from .progress import RunProgress
from .records import RunRecord, as_matrix
from .report import TABLE_FILE, convergence_figure, median_record, subspace_figure
from .runner import run_experiment
from .tables import results_table

__all__ = ["DEMO_EXPERIMENT", "DEMO_METHODS", "DEMO_SEEDS", "describe_subspace", "run_demo"]

DEMO_EXPERIMENT = "camelback-2-in-10"
DEMO_METHODS = ("boring", "rembo", "gp", "sobol")
DEMO_SEEDS = 5
"""Enough for quartiles that mean something, few enough for two minutes on two cores."""

N_TRAINING = 100
N_UNSEEN = 400
"""Points of the surrogate picture; 100 for training as in Figures 5.1 to 5.4 of the thesis."""

SHOWN_LOADING = 0.2
"""Loadings below this are left out when a direction is named in words."""

FIT_ITERATIONS = 80

CHANCE_ANGLE = 81
"""Median largest principal angle, degrees, of two random planes in ten dimensions (3000 pairs)."""


def demo_experiment() -> Experiment:
    """Return the experiment that the demo runs."""
    return dataclasses.replace(get_experiment(DEMO_EXPERIMENT), methods=DEMO_METHODS)


def surrogate_data(
    experiment: Experiment, seed: int, method: str = "full-rank"
) -> tuple[FloatArray, FloatArray, FloatArray, float]:
    """Learn W and a GP on Z = X W from uniform points, and predict at unseen ones.

    Parameters
    ----------
    experiment : Experiment
        Its problem is to be minimised and has a true basis.
    seed : int
        Of the problem instance and of the points.
    method : {"full-rank", "tripathy"}
        That learns W; see `boring.estimate_active_subspace`.

    Returns
    -------
    Z : ndarray, shape (n, d)
        Learned coordinates of the unseen points, those with true coordinates |z_i| <= 1, where
        the inner function has its structure.
    real, mean : ndarray, shape (n,)
        Real values, and the GP's mean mapped back to their units.
    angle : float
        Largest principal angle to the truth, degrees.

    Notes
    -----
    Outside |z_i| <= 1 the Camelback climbs to hundreds, which would leave nothing of its six
    humps in standardised values. W and the GP are therefore learned on
    t = log(1 + (y - min y) / median gap), as in the optimisation loop.
    """
    problem = experiment.problem(seed)
    truth = problem.true_basis
    if truth is None:
        raise InvalidInputError(f"{problem.name} has no true subspace to compare with.")
    rng = keyed_generator(seed, "surrogate picture")
    X = problem.space.sample(N_TRAINING, rng)
    scaled, y = problem.space.scale(X), np.asarray(problem(X))
    lowest = float(y.min())
    gap = float(np.median(y)) - lowest
    warped = np.log1p((y - lowest) / gap)
    with single_blas_thread():
        W = np.asarray(
            estimate_active_subspace(
                scaled, warped, problem.effective_dim, rng=rng, method=method
            ).active_basis
        )
        posterior, center, spread = _gp_on_projection(scaled, warped, W)
        unseen = problem.space.sample(4 * N_UNSEEN, rng)
        inside = np.all(np.abs(problem.space.scale(unseen) @ truth) <= 1.0, axis=1)
        unseen = unseen[inside][:N_UNSEEN]
        mean = center + spread * posterior.predict(problem.space.scale(unseen))[0]
    back = lowest + gap * np.expm1(mean)
    Z = problem.space.scale(unseen) @ W
    return Z, np.asarray(problem(unseen)), back, largest_angle_degrees(W, truth)


def _gp_on_projection(
    X: FloatArray, y: FloatArray, W: FloatArray
) -> tuple[GaussianProcess, float, float]:
    """Return a GP of the standardised values on X W, and the mean and sd taken out of them."""
    d = W.shape[1]
    term = KernelTerm(
        MATERN52,
        ProjectedArd(W),
        "active",
        variance_prior=Gaussian(0.0, 1.5),
        map_prior=dimension_scaled(d),
    )
    model = GaussianProcessModel(AdditiveKernel([term], constant_variance=1.0))
    center, spread = float(y.mean()), float(y.std())
    start = np.concatenate([[0.0], np.log(np.full(d, 0.7 * np.sqrt(d))), [-7.0]])
    values = (y - center) / spread
    fit = model.fit(X, values, start, max_iterations=FIT_ITERATIONS)
    return model.condition(fit.theta, X, values), center, spread


def surrogate_figure(experiment: Experiment, seed: int, path: str | os.PathLike[str]) -> Path:
    """Draw the surrogate against the truth over Z, after Fig. 5.3 of the thesis."""
    Z, real, mean, angle = surrogate_data(experiment, seed)
    figure = plot_surrogate(
        Z,
        real,
        mean,
        title=f"{experiment.name}, seed {seed}: GP on Z = X W, W learned from "
        f"{N_TRAINING} random points ({angle:.1f}° from the truth)",
    )
    return save(figure, path)


def describe_subspace(record: RunRecord) -> list[str]:
    """Return sentences that name the subspace of a run and the parameters that matter.

    Parameters
    ----------
    record : RunRecord
        Of a method that learns a subspace.

    Returns
    -------
    list of str
        One sentence if there is none.
    """
    W = as_matrix(record.basis)
    if W is None or record.importance is None:
        return [f"{record.method} did not name a subspace in this run."]
    count = "one direction" if W.shape[1] == 1 else f"{W.shape[1]} directions"
    lines = [f"It says that {count} of the {W.shape[0]} parameters decide the value:"]
    for column in range(W.shape[1]):
        order = np.argsort(-np.abs(W[:, column]))
        terms = [
            f"{W[index, column]:+.2f} x{index}"
            for index in order
            if abs(W[index, column]) >= SHOWN_LOADING
        ]
        lines.append(f"  z{column + 1} = {' '.join(terms)} + smaller terms")
    order = np.argsort(-np.asarray(record.importance))
    knobs = [f"x{index} ({record.importance[index]:.0%})" for index in order[:4]]
    lines.append(f"The parameters that matter most: {', '.join(knobs)}.")
    if record.trusted is not None:
        lines.append(
            "Its own check of the data trusts this subspace."
            if record.trusted
            else "Its own check does NOT trust this subspace: take it as a hint only."
        )
    angle = judged_angle(record)
    if angle is not None:
        lines.append(
            f"The true subspace, which it was never told, is {angle:.1f}° "
            "away (largest principal angle)."
        )
    return lines


def _told_in_words(records: Sequence[RunRecord], chosen: RunRecord | None) -> list[str]:
    groups = group_by_method(records)
    lines = []
    medians = {
        method: float(np.median([r.simple_regret[-1] for r in group if r.simple_regret]))
        for method, group in groups.items()
        if any(r.simple_regret for r in group)
    }
    best = min(medians, key=lambda method: medians[method])
    ranking = ", ".join(
        f"{method} {medians[method]:.1e}" for method in sorted(medians, key=lambda m: medians[m])
    )
    lines.append(f"Median gap to the optimum: {ranking}. Smallest: {best}.")
    if chosen is not None:
        lines.append("")
        lines.append(
            f"BORING, seed {chosen.seed} (the median angle): best value {chosen.y_best:.6f}, "
            f"optimum {chosen.optimum:.6f}."
        )
        lines.extend(describe_subspace(chosen))
        lines.append(f"(Two random planes in ten dimensions are about {CHANCE_ANGLE}° apart.)")
    return lines


def run_demo(
    directory: str | os.PathLike[str], *, n_seeds: int = DEMO_SEEDS, jobs: int = 2
) -> tuple[RunRecord, ...]:
    """Run the demo and print what it found; the records and pictures go to a folder.

    Parameters
    ----------
    directory : path-like
        Earlier records of the demo in it are replaced.
    n_seeds : int, default 5
        Paired seeds.
    jobs : int, default 2
        Processes.

    Returns
    -------
    tuple of RunRecord
    """
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "records.jsonl"
    path.unlink(missing_ok=True)
    experiment = demo_experiment()
    start = time.perf_counter()
    print(
        f"The six-hump Camelback, a function of two variables, hidden in ten inputs by a random\n"
        f"rotation. REMBO is told that two directions matter; BORING is told nothing.\n"
        f"{len(experiment.methods)} methods, {experiment.budget} evaluations each, "
        f"{n_seeds} paired seeds, {jobs} processes: a minute or two.\n",
        flush=True,
    )
    with RunProgress("demo") as progress:
        records = run_experiment(
            experiment, path, seeds=range(n_seeds), jobs=jobs, progress=progress
        )
    table = results_table(records)
    (folder / TABLE_FILE).write_text(table + "\n", encoding="utf-8")
    print(table)
    chosen = median_record(record for record in records if record.method == "boring")
    pictures = [convergence_figure(records, folder / "convergence.png")]
    if chosen is not None:
        pictures.append(subspace_figure(chosen, folder / "subspace.png"))
    seed = 0 if chosen is None else chosen.seed
    pictures.append(surrogate_figure(experiment, seed, folder / "surrogate.png"))
    print("\nWhat was found\n--------------")
    print("\n".join(_told_in_words(records, chosen)))
    print(f"\n{time.perf_counter() - start:.0f} s. Pictures:")
    for picture in pictures:
        print(f"  {picture}")
    print(f"Table and records: {folder / TABLE_FILE}, {path}")
    return records
