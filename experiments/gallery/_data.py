"""The function, the run and the data that the pictures share, each made once."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

import boring
from boring.plotting import SubspaceTrace
from boring.typing import FloatArray

NAMES = ("heat (K)", "flow (l/s)", "dose (g)", "pH", "stirring (Hz)", "pause (s)")
DIM = len(NAMES)
SPACE = boring.Box(np.full(DIM, -1.0), np.full(DIM, 1.0))
OPTIMUM = -0.31
TRUTH = np.zeros((DIM, 2))
TRUTH[[0, 3], 0] = 1.0
TRUTH[[1, 2, 4], 1] = 1.0, -1.0, 0.6


def yield_loss(x: FloatArray) -> float:
    """Return a loss of two mixtures of five of the six knobs; the pause does nothing."""
    a, b = x @ TRUTH
    return float((a - 0.5) ** 2 + 2.0 * (b + 0.4) ** 2 + a * b)


@cache
def points() -> tuple[FloatArray, FloatArray]:
    """Return uniform points and their values, observed with noise."""
    rng = np.random.default_rng(3)
    X = rng.uniform(-1.0, 1.0, (90, DIM))
    return X, np.array([yield_loss(x) for x in X]) + 0.1 * rng.standard_normal(len(X))


@cache
def estimate() -> boring.SubspaceEstimate:
    """Return what these points say about the subspace."""
    return boring.estimate_active_subspace(*points(), rng=np.random.default_rng(0))


@cache
def traced_run() -> tuple[boring.OptimizationResult, Any, SubspaceTrace]:
    """Return a run, its optimiser, and the bases on its way."""
    trace = SubspaceTrace()
    optimizer = boring.BoringOptimizer(SPACE, direction="minimize", seed=1)
    return optimizer.run(yield_loss, 45, callback=trace, progress=False), optimizer, trace


@cache
def repeated_runs() -> dict[str, list[boring.OptimizationResult]]:
    """Return three runs of two methods."""
    import baselines  # noqa: F401 - registers sobol

    return {
        method: [
            boring.minimize(yield_loss, SPACE, 24, method=method, seed=seed) for seed in range(3)
        ]
        for method in ("boring", "sobol")
    }


@cache
def additive_model() -> Any:
    """Return an optimiser of the thesis's preset, whose surrogate is a sum of components."""
    X, y = points()
    optimizer = boring.BoringOptimizer.thesis(
        SPACE, direction="minimize", seed=0, effective_dim=2, burn_in=8, n_restarts=2
    )
    optimizer.tell(X[:40], y[:40])
    optimizer.ask()
    return optimizer


@cache
def typed_study() -> Any:
    """Return a study of three parameters: one logarithmic, one whole, one of choices."""
    from boring.parameters import Categorical, Integer, Real
    from boring.study import Study

    study = Study(
        [
            Real("rate", 1e-4, 1e0, log=True, unit="1/s"),
            Integer("stages", 1, 6),
            Categorical("solvent", ["water", "ethanol", "toluene"]),
        ],
        direction="maximize",
        seed=3,
        n_initial=14,
    )
    bonus = {"water": 0.0, "ethanol": 9.0, "toluene": 4.0}

    def percent(setting: dict[str, Any]) -> float:
        off = np.log10(setting["rate"]) + 1.7
        return float(
            70.0 - 6.0 * off**2 - 1.5 * (setting["stages"] - 4) ** 2 + bonus[setting["solvent"]]
        )

    study.run(percent, 18, progress=False)
    return study
