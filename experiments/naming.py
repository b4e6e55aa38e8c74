"""Whether the readable basis names the parameters that decide, on planted groups of them.

Run ``python -m experiments.naming --seeds 10 --out results/naming.jsonl``. Each seed plants two
groups of three among 30 parameters, with weights of either sign between 0.5 and 1 times the
largest, and evaluates 150 uniform points of a function of the two mixtures, d left to the
estimate. Each line of the output is one (noise, seed); what is there already is not run again. The
table is printed at the end, and alone with ``--seeds 0``.

Two rules are judged. ``top``: the three largest loadings of each of two directions are one group
each. ``named``: the parameters that a report names for the directions, those with a share of
`boring.study._findings.WORTH_TELLING` or more, are the two groups and no others.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from boring.rng import keyed_generator
from boring.study._findings import WORTH_TELLING
from boring.subspace.estimation import estimate_active_subspace
from boring.subspace.rotation import readable_basis
from boring.subspace.stiefel import largest_angle
from boring.typing import FloatArray
from experiments.arguments import non_negative
from experiments.lines import append_line, read_lines
from experiments.script import run_script
from experiments.tables import markdown

__all__ = ["judge", "plant", "run"]

DIM, N_POINTS, SIZE = 30, 150, 3
NOISES = (0.0, 0.1)
"""Standard deviations of the noise, in units of that of the function over the points."""


def plant(seed: int) -> FloatArray:
    """Return two directions of three parameters each, none in both, shape (30, 2)."""
    rng = keyed_generator(seed, "planted groups")
    W = np.zeros((DIM, 2))
    chosen = rng.permutation(DIM)[: 2 * SIZE].reshape(2, SIZE)
    for column, group in enumerate(chosen):
        W[group, column] = rng.uniform(0.5, 1.0, SIZE) * rng.choice([-1.0, 1.0], SIZE)
    return np.asarray(W / np.linalg.norm(W, axis=0))


def value(Z: FloatArray) -> FloatArray:
    """Return a function of two coordinates that act on each other, shape (n,)."""
    a, b = Z.T
    return np.asarray(np.sin(2.0 * a) + (b - 0.3) ** 2 + a * b)


def judge(basis: FloatArray, truth: FloatArray) -> tuple[bool, bool]:
    """Say whether each rule finds the groups.

    Parameters
    ----------
    basis : ndarray, shape (D, d)
        Readable.
    truth : ndarray, shape (D, 2)

    Returns
    -------
    top, named : bool
    """
    groups = {frozenset(np.flatnonzero(column)) for column in truth.T}
    largest = {frozenset(np.argsort(-np.abs(column))[:SIZE]) for column in basis.T}
    told = {frozenset(np.flatnonzero(column**2 >= WORTH_TELLING)) for column in basis.T}
    return basis.shape == truth.shape and largest == groups, told == groups


def run(seed: int, noise: float) -> dict[str, Any]:
    """Return one line of the output."""
    truth = plant(seed)
    rng = keyed_generator(seed, "naming", str(noise))
    X = rng.uniform(-1.0, 1.0, (N_POINTS, DIM))
    f = value(X @ truth)
    y = f + noise * float(f.std()) * rng.standard_normal(N_POINTS)
    start = time.process_time()
    # The trust check comes after the basis, and does not change it.
    estimate = estimate_active_subspace(X, y, rng=rng, check=False)
    seconds = time.process_time() - start
    basis, _ = readable_basis(estimate.active_basis, estimate.lengthscales)
    top, named = judge(basis, truth)
    return {
        "noise": noise,
        "seed": seed,
        "top": top,
        "named": named,
        "d": estimate.effective_dim,
        "degrees": float(np.degrees(largest_angle(basis, truth))),
        "seconds": round(seconds, 2),
        "loadings": [
            {int(i): round(float(column[i]), 3) for i in np.argsort(-np.abs(column))[:6]}
            for column in basis.T
        ],
        "truth": [
            {int(i): round(float(column[i]), 3) for i in np.flatnonzero(column)}
            for column in truth.T
        ],
    }


def table(lines: Sequence[dict[str, Any]]) -> str:
    """Return counts by noise, as Markdown."""
    rows = []
    for noise in sorted({line["noise"] for line in lines}):
        chosen = [line for line in lines if line["noise"] == noise]
        n = len(chosen)
        rows.append(
            [
                f"{noise:.0%}",
                f"{sum(line['top'] for line in chosen)} of {n}",
                f"{sum(line['named'] for line in chosen)} of {n}",
                f"{sum(line['d'] == 2 for line in chosen)} of {n}",
                f"{np.median([line['degrees'] for line in chosen]):.1f}",
                f"{np.median([line['seconds'] for line in chosen]):.0f}",
            ]
        )
    return markdown(["noise", "top", "named", "d = 2", "median degrees", "CPU seconds"], rows)


def main(argv: Sequence[str] | None = None) -> None:
    """Run what is missing and print the table."""
    parser = argparse.ArgumentParser(prog="python -m experiments.naming", description=__doc__)
    parser.add_argument("--seeds", type=non_negative, default=10)
    parser.add_argument("--noises", type=float, nargs="*", default=NOISES)
    parser.add_argument("--out", type=Path, default=Path("results/naming.jsonl"))
    arguments = parser.parse_args(argv)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    lines = read_lines(arguments.out)
    done = {(line["noise"], line["seed"]) for line in lines}
    for noise in arguments.noises:
        for seed in range(arguments.seeds):
            if (noise, seed) not in done:
                lines.append(run(seed, noise))
                append_line(arguments.out, lines[-1])
    print(table(lines))


if __name__ == "__main__":
    run_script(main)
