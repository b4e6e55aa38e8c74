"""The picture of the README's section "See it", made anew.

``python -m experiments.see_it`` minimises the README's function and draws, beside its convergence,
what uniform points say about the subspace. A minute or two.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import boring
from boring import plotting
from boring.typing import FloatArray
from experiments.script import draw_into, run_script

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "images" / "see-it.png"
N_EVALUATIONS = 100
N_POINTS = 150
OPTIMUM = -0.31


def loss(x: FloatArray) -> float:
    """Return the README's function: two hidden mixtures of three knobs each."""
    a = x[0] + x[3] + x[7]
    b = x[2] - x[5] + x[8]
    return float((a - 0.5) ** 2 + 2.0 * (b + 0.4) ** 2 + a * b)


def draw(
    path: Path = PICTURE, n_evaluations: int = N_EVALUATIONS, n_points: int = N_POINTS
) -> Path:
    """Run, estimate and draw.

    Parameters
    ----------
    path : path-like
        Of the PNG.
    n_evaluations, n_points : int
        Of the optimisation, and of the estimate.
    """
    result = boring.minimize(loss, [(-1.0, 1.0)] * 10, n_evaluations, seed=1)
    rng = np.random.default_rng(1)
    X = rng.uniform(-1.0, 1.0, (n_points, 10))
    y = [loss(x) for x in X]
    estimate = boring.estimate_active_subspace(X, y, rng=rng)

    figure: Any = plotting.new_figure(10.5, 7.4, background="light")
    (left, right), (below, last) = figure.subfigures(2, 2)
    plotting.plot_loadings(estimate, left, title="Which combinations of knobs matter")
    plotting.plot_sufficient_summary(
        estimate,
        X,
        y,
        right.add_subplot(),
        direction="minimize",
        ylabel="loss",
        title="The loss over both",
    )
    plotting.plot_importance(estimate, below.add_subplot(), title="How much each knob matters")
    plotting.plot_convergence(
        result,
        last.add_subplot(),
        optimum=OPTIMUM,
        ylabel="gap to the optimum",
        title="A run that was told nothing",
    )
    return plotting.save(figure, path, dpi=110)


def main(argv: Sequence[str] | None = None) -> None:
    """Draw into the file that the command line names."""
    draw_into(draw, "experiments.see_it", __doc__, default=PICTURE, argv=argv)


if __name__ == "__main__":
    run_script(main)
