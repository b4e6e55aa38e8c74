"""Speed: likelihood against GPy, learner against Tripathy's, and the time to ask.

Run ``python -m experiments.speed`` from the root of the checkout. Everything is timed in one
process with one BLAS thread. What is compared is timed in alternation, block by block, and the
ratios are taken within blocks, so that a busy machine slows both sides alike.
"""

from __future__ import annotations

import cProfile
import pstats
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

from boring.kernels import MATERN32, AdditiveKernel, Ard, Free, KernelTerm
from boring.models.gp import GaussianProcessModel
from boring.rng import keyed_generator, single_blas_thread
from boring.space import Box
from boring.subspace.alternation import LENGTHSCALE_BOUNDS, NOISE_CEILING, SIGNAL_BOUNDS
from boring.subspace.likelihood import Hyperparameters, StiefelLikelihood
from boring.subspace.stiefel import random_frame
from boring.typing import FloatArray

from .metrics import largest_angle_degrees, quartiles
from .script import run_script
from .tables import format_number, markdown

__all__ = [
    "AskTimes",
    "alternate",
    "ask_table",
    "learner_table",
    "likelihood_table",
    "profile_likelihood",
    "run_speed",
    "time_asks",
]

SEED = 20260101
LIKELIHOOD_SIZES = (50, 100)
LIKELIHOOD_DIM, LIKELIHOOD_EFFECTIVE_DIM = 10, 2
BLOCKS, CALLS_PER_BLOCK = 40, 15

LEARNER_SEEDS = 3
LEARNER_PROBLEM, LEARNER_DIM, LEARNER_POINTS = "camelback", 5, 100

NOISE_FLOOR = 0.01
"""Of both learners, in units of var(y): the default of Tripathy's path."""

ASK_SIZES = ((10, 100), (100, 200))
ASK_REPEATS = 10
"""Enough for five turns of the subspace, which comes every second time."""

PROFILE_ROWS = 12


def alternate(
    functions: Sequence[Callable[[], object]], blocks: int = BLOCKS, calls: int = CALLS_PER_BLOCK
) -> FloatArray:
    """Time functions in alternation.

    Parameters
    ----------
    functions : sequence of callable
        Each is called once before the clock starts.
    blocks, calls : int
        In each block every function is called ``calls`` times in a row, the order reversed from
        block to block.

    Returns
    -------
    ndarray, shape (blocks, n_functions)
        Seconds for one call.
    """
    for function in functions:
        function()
    seconds = np.empty((blocks, len(functions)))
    for block in range(blocks):
        order = range(len(functions)) if block % 2 == 0 else reversed(range(len(functions)))
        for index in order:
            function = functions[index]
            start = time.perf_counter()
            for _ in range(calls):
                function()
            seconds[block, index] = (time.perf_counter() - start) / calls
    return seconds


def _likelihood_functions(n: int) -> tuple[list[Callable[[], object]], float]:
    """Return our two likelihoods and GPy's, and how far their values lie apart."""
    from boring.models.gpy_backend import to_gpy

    rng = keyed_generator(SEED, "likelihood", n)
    X = rng.uniform(-1.0, 1.0, (n, LIKELIHOOD_DIM))
    W = random_frame(LIKELIHOOD_DIM, LIKELIHOOD_EFFECTIVE_DIM, rng)
    Z = X @ W
    y = np.sin(3.0 * Z[:, 0]) + Z[:, 1] ** 2 + 0.1 * rng.standard_normal(n)
    log_lengthscales, log_signal, log_noise = np.log([0.8, 1.3]), 0.1, np.log(0.02)
    factor = W / np.exp(log_lengthscales)
    ours = GaussianProcessModel(
        AdditiveKernel([KernelTerm(MATERN32, Free(LIKELIHOOD_DIM, LIKELIHOOD_EFFECTIVE_DIM))])
    )
    theta = np.concatenate([[log_signal], factor.ravel(), [log_noise]])
    stiefel = StiefelLikelihood(X, y, MATERN32)
    parameters = Hyperparameters(log_lengthscales, log_signal, float(log_noise))
    on_z = GaussianProcessModel(
        AdditiveKernel([KernelTerm(MATERN32, Ard(LIKELIHOOD_EFFECTIVE_DIM))])
    )
    theta_z = np.concatenate([[log_signal], log_lengthscales, [log_noise]])
    gpy = to_gpy(on_z.condition(theta_z, Z, y))
    point = np.array(gpy.optimizer_array)

    def evaluate_gpy() -> object:
        gpy.optimizer_array = point
        return gpy.objective_function(), gpy.objective_function_gradients()

    values = [
        ours.negative_log_likelihood(theta, X, y)[0],
        -stiefel.value(W, parameters),
        float(gpy.objective_function()),
    ]
    functions: list[Callable[[], object]] = [
        lambda: ours.negative_log_likelihood(theta, X, y),
        lambda: stiefel.evaluate(W, parameters),
        evaluate_gpy,
    ]
    return functions, float(np.ptp(values))


def likelihood_table(blocks: int = BLOCKS) -> str:
    """Return the table of the likelihood with its gradients, ours against GPy's.

    Ours gives the gradient in every entry of M (or W) besides the hyperparameters; GPy's works on
    Z = X W with W fixed and gives that of the hyperparameters alone, so it does less.
    """
    rows = []
    for n in LIKELIHOOD_SIZES:
        functions, apart = _likelihood_functions(n)
        seconds = alternate(functions, blocks)
        milliseconds = 1e3 * np.median(seconds, axis=0)
        low, ratio, high = quartiles(seconds[:, 2] / seconds[:, 0])
        rows.append(
            [
                str(n),
                *(f"{value:.3f}" for value in milliseconds),
                f"{ratio:.2f} [{low:.2f}, {high:.2f}]",
                f"{np.median(seconds[:, 2] / seconds[:, 1]):.2f}",
                f"{apart:.0e}",
            ]
        )
    header = [
        "N",
        "factor M / ms",
        "W and l / ms",
        "GPy / ms",
        "GPy : factor [quartiles]",
        "GPy : W and l",
        "values apart",
    ]
    title = (
        f"### Likelihood with gradients, Matern-3/2, D = {LIKELIHOOD_DIM}, "
        f"d = {LIKELIHOOD_EFFECTIVE_DIM}\n\n"
    )
    return title + markdown(header, rows)


def profile_likelihood(W: FloatArray, X: FloatArray, y: FloatArray, noise_floor: float) -> float:
    """Return the log likelihood of a basis, maximised over everything else.

    Parameters
    ----------
    W : ndarray, shape (D, d)
    X : ndarray, shape (n, D), scaled units
    y : ndarray, shape (n,), standardised
    noise_floor : float
        Least noise variance.

    Returns
    -------
    float
        Nats, Matern-3/2 on X W: the same model for every method, so that the bases can be
        compared whatever each method fitted them with.
    """
    likelihood = StiefelLikelihood(X, y, MATERN32)
    d = W.shape[1]
    box = [*[tuple(np.log(LENGTHSCALE_BOUNDS))] * d, tuple(np.log(SIGNAL_BOUNDS))]
    box.append((float(np.log(noise_floor)), float(np.log(NOISE_CEILING))))

    def objective(vector: FloatArray) -> tuple[float, FloatArray]:
        found = likelihood.evaluate(W, Hyperparameters.from_vector(vector))
        return -found.value, -found.hyperparameter_gradient

    starts = [np.append(np.full(d, np.log(length)), [0.0, -2.0]) for length in (0.5, 2.5)]
    fits = [minimize(objective, start, jac=True, method="L-BFGS-B", bounds=box) for start in starts]
    return float(max(-fit.fun for fit in fits))


def learner_table() -> str:
    """Return the table of the default learner against Tripathy's alternation.

    Both under one model, Matern-3/2 with the noise floor of Tripathy's default, and without the
    trust check, which refits either several times. Bases are judged by
    :func:`profile_likelihood` under that same model.
    """
    from boring.subspace.estimation import estimate_active_subspace
    from synthetic import recovery_problem

    rows = []
    for seed in range(LEARNER_SEEDS):
        problem = recovery_problem(LEARNER_PROBLEM, LEARNER_DIM, seed)
        X = problem.space.sample(LEARNER_POINTS, keyed_generator(seed, "learner"))
        y = np.asarray(problem(X))
        scaled, standard = problem.space.scale(X), (y - y.mean()) / y.std()
        truth = problem.true_basis
        assert truth is not None  # every recovery problem has one
        seconds, angles = [], []
        values = []
        for method in ("full-rank", "tripathy"):
            rng = keyed_generator(seed, "learner", method)
            start = time.perf_counter()
            W = estimate_active_subspace(
                scaled,
                y,
                problem.effective_dim,
                rng=rng,
                method=method,
                kernel=MATERN32,
                noise_floor=NOISE_FLOOR,
                check=False,
            ).active_basis
            seconds.append(time.perf_counter() - start)
            angles.append(largest_angle_degrees(W, truth))
            values.append(profile_likelihood(W, scaled, standard, NOISE_FLOOR))
        rows.append(
            [
                str(seed),
                *(f"{value:.2f}" for value in seconds),
                f"{seconds[1] / seconds[0]:.1f}",
                f"{values[0]:.2f} : {values[1]:.2f}",
                f"{angles[0]:.2f} : {angles[1]:.2f}",
            ]
        )
    header = [
        "seed",
        "full-rank / s",
        "Tripathy / s",
        "ratio",
        "log likelihood",
        "angle / °",
    ]
    title = (
        f"### Full-rank learner : Tripathy's, {LEARNER_PROBLEM} 2-in-{LEARNER_DIM}, "
        f"N = {LEARNER_POINTS}\n\n"
    )
    return title + markdown(header, rows)


@dataclass(frozen=True)
class AskTimes:
    """Seconds of single asks of the default optimiser, and where they went.

    Parameters
    ----------
    dim, n : int
        Dimension, and number of told points at the first of them.
    seconds : tuple of float
    profile : tuple of (str, int, float, float)
        Function, calls, seconds within it alone, seconds with what it calls.
    """

    dim: int
    n: int
    seconds: tuple[float, ...]
    profile: tuple[tuple[str, int, float, float], ...]


def time_asks(dim: int, n: int, repeats: int = ASK_REPEATS) -> AskTimes:
    """Time the asks of a run near n observations.

    Parameters
    ----------
    dim : int
        Dimension D of an embedded Camelback.
    n : int
        Points told before the clock starts; a warm-up ask is not counted either.
    repeats : int
        Asks timed without, and again as many with, the profiler.

    Returns
    -------
    AskTimes
    """
    from boring.loop.algorithm import BoringOptimizer
    from synthetic import get_problem

    problem = get_problem(f"camelback-2-in-{dim}", SEED)
    optimizer = BoringOptimizer(
        Box(problem.space.lower, problem.space.upper),
        direction=problem.direction,
        seed=SEED,
        effective_dim=problem.effective_dim,
    )
    X = problem.space.sample(n, keyed_generator(SEED, "ask", dim))
    optimizer.tell(X, problem(X))

    def step() -> float:
        start = time.perf_counter()
        x = optimizer.ask()[0]
        seconds = time.perf_counter() - start
        optimizer.tell(x, problem(x))
        return seconds

    step()
    seconds = tuple(step() for _ in range(repeats))
    profiler = cProfile.Profile()
    for _ in range(repeats):
        profiler.enable()
        x = optimizer.ask()[0]
        profiler.disable()
        optimizer.tell(x, problem(x))
    return AskTimes(dim, n, seconds, _profile_rows(profiler))


def _profile_rows(profiler: cProfile.Profile) -> tuple[tuple[str, int, float, float], ...]:
    """Return the functions with most seconds of their own, as package-relative names."""
    stats = pstats.Stats(profiler)
    entries: dict[tuple[str, int, str], tuple[int, int, float, float, object]] = stats.stats  # type: ignore[attr-defined]
    rows = []
    for (file, line, function), (_, calls, own, total, _) in entries.items():
        rows.append((_place(file, line, function), calls, own, total))
    return tuple(sorted(rows, key=lambda row: -row[2]))


def _place(file: str, line: int, function: str) -> str:
    """Return where a function is, from its package on."""
    if file == "~":
        return function
    parts = Path(file).parts
    for package in ("boring", "scipy", "numpy"):
        if package in parts:
            first = len(parts) - 1 - parts[::-1].index(package)
            return f"{'/'.join(parts[first:])}:{line} {function}"
    return f"{parts[-1]}:{line} {function}"


def ask_table(sizes: Sequence[tuple[int, int]] = ASK_SIZES, repeats: int = ASK_REPEATS) -> str:
    """Return the table of the time to ask, and a profile for each size."""
    rows, profiles = [], []
    for dim, n in sizes:
        times = time_asks(dim, n, repeats)
        low, median, high = quartiles(times.seconds)
        mean = float(np.mean(times.seconds))
        rows.append(
            [str(dim), str(n), f"{median:.3f} [{low:.3f}, {high:.3f}]", format_number(mean)]
        )
        profiles.append(profile_table(times, repeats))
    header = ["D", "n", "s per ask, median [quartiles]", "mean"]
    title = "### Time to ask, default optimiser, embedded Camelback, d given\n\n"
    return "\n\n".join([title + markdown(header, rows), *profiles])


def profile_table(times: AskTimes, repeats: int) -> str:
    """Return the two tables of one profile: by function, and by stage of the loop."""
    everything = sum(own for _, _, own, _ in times.profile)
    functions = [
        [f"`{name}`", str(calls), f"{own:.3f}", f"{own / everything:.0%}", f"{total:.3f}"]
        for name, calls, own, total in times.profile[:PROFILE_ROWS]
    ]
    ours = [row for row in times.profile if row[0].startswith("boring/")]
    stages = [
        [f"`{name}`", str(calls), f"{total:.3f}", f"{total / everything:.0%}"]
        for name, calls, _, total in sorted(ours, key=lambda row: -row[3])[:PROFILE_ROWS]
    ]
    return "\n\n".join(
        [
            f"#### Profile of {repeats} asks at D = {times.dim}, n = {times.n}: by own time",
            markdown(["function", "calls", "own / s", "share", "with callees / s"], functions),
            "By time with callees (nested, so the shares overlap):",
            markdown(["function", "calls", "s", "share"], stages),
        ]
    )


def run_speed() -> str:
    """Return all speed tables; one BLAS thread."""
    with single_blas_thread():
        return "\n\n".join([likelihood_table(), learner_table(), ask_table()])


def main() -> int:
    """Print the tables."""
    print(run_speed())
    return 0


if __name__ == "__main__":
    run_script(main)
