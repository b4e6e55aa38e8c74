"""Section 5.3.1: whether the matrix is found when the input goes through a polynomial first.

Equation 5.1 approximates f(W [(x - x_0)^2; (x - x_1)^2]) by a Gaussian process. Multiplied out,
each square is x_i^2 - 2 a_i x_i + a_i^2: f is a function of one direction among the features x_i^2
and x_i, known up to its sign, and a constant. The author's code takes two inputs, f(t) = -t^2,
weights (.589, .808), offsets (-.1, .1), 50 points and a constant feature. A stationary kernel does
not see a constant, so that its weight cannot be found; both cases are measured.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from boring.rng import keyed_generator, single_blas_thread
from boring.subspace.estimation import estimate_active_subspace
from boring.typing import FloatArray

from ..tables import markdown
from .study import Record, Study, by_cell, count_failed, format_spread, succeeded

__all__ = ["CELLS", "STUDY", "PolynomialCell", "cosine", "polynomial_data"]

AUTHOR_WEIGHTS = (0.589, 0.808)
AUTHOR_OFFSETS = (-0.1, 0.1)
OFFSET_RANGE = 0.3
"""Of the offsets that a seed draws, to either side (chosen here)."""


@dataclass(frozen=True)
class PolynomialCell:
    """Number of inputs and of points, and whether a constant is among the features.

    Attributes
    ----------
    n_inputs, n : int
    constant : bool
    """

    n_inputs: int
    n: int
    constant: bool = False

    @property
    def name(self) -> str:
        """Such as ``2-inputs-50`` or ``2-inputs-50-constant``."""
        return f"{self.n_inputs}-inputs-{self.n}{'-constant' if self.constant else ''}"


CELLS = {
    cell.name: cell
    for cell in (
        *(PolynomialCell(2, n) for n in (10, 25, 50, 100)),
        PolynomialCell(2, 50, constant=True),
        *(PolynomialCell(5, n) for n in (25, 50, 100)),
    )
}


def polynomial_data(cell: PolynomialCell, seed: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the features (n, p), the values (n,) and the true direction (p,), of length 1.

    Two inputs take the author's weights and offsets; more draw them by the seed.
    """
    rng = keyed_generator(seed, "polynomial input", cell.n_inputs, cell.n)
    if cell.n_inputs == len(AUTHOR_WEIGHTS):
        weights, offsets = np.array(AUTHOR_WEIGHTS), np.array(AUTHOR_OFFSETS)
    else:
        weights = np.abs(rng.standard_normal(cell.n_inputs))
        offsets = rng.uniform(-OFFSET_RANGE, OFFSET_RANGE, cell.n_inputs)
    x = rng.uniform(-1.0, 1.0, (cell.n, cell.n_inputs))
    features, direction = [x**2, x], [weights, -2.0 * weights * offsets]
    if cell.constant:
        features.append(np.ones((cell.n, 1)))
        direction.append(np.array([weights @ offsets**2]))
    values = -(((x - offsets) ** 2 @ weights) ** 2)
    truth = np.concatenate(direction)
    return np.hstack(features), values, truth / np.linalg.norm(truth)


def cosine(u: FloatArray, v: FloatArray) -> float:
    """Return |u'v| / (|u| |v|), at most 1."""
    return min(1.0, float(abs(u @ v) / (np.linalg.norm(u) * np.linalg.norm(v))))


def run(cell: str, seed: int, method: str) -> dict[str, Any]:
    """Learn the direction and return how near it is to the true one."""
    settings = CELLS[cell]
    features, values, truth = polynomial_data(settings, seed)
    rng = keyed_generator(seed, "polynomial input", cell, method)
    start = time.process_time()
    with single_blas_thread():
        learned = estimate_active_subspace(
            features, values, 1, rng=rng, method=method, check=False
        ).active_basis[:, 0]
    record: dict[str, Any] = {"seconds": time.process_time() - start}
    if settings.constant:
        record["cosine_with_constant"] = cosine(learned, truth)
        learned, truth = learned[:-1], truth[:-1]
    record["cosine"] = cosine(learned, truth)
    record["angle"] = float(np.degrees(np.arccos(record["cosine"])))
    return record


def table(records: Sequence[Record]) -> str:
    """Return angles and cosines, as Markdown."""
    rows = []
    for (cell, method), group in by_cell(records, tuple(CELLS)).items():
        good = succeeded(group)
        whole = [r["cosine_with_constant"] for r in good if "cosine_with_constant" in r]
        rows.append(
            [
                cell,
                method,
                count_failed(group),
                format_spread(r["angle"] for r in good),
                format_spread((r["cosine"] for r in good), 4),
                format_spread(whole, 3),
                f"{np.median([r['seconds'] for r in good]):.2f}" if good else "–",
            ]
        )
    header = [
        "inputs and points",
        "learner",
        "runs",
        "angle / °",
        "cosine",
        "with constant",
        "CPU / s",
    ]
    return markdown(header, rows)


def draw(records: Sequence[Record], folder: Path) -> list[Path]:
    """Draw nothing: the table says it."""
    return []


STUDY = Study(
    name="polynomial",
    title="5.3.1: the matrix behind polynomial features",
    about=(
        "f(t) = -t^2 of one direction among x_i^2 and x_i (equation 5.1 multiplied out); median "
        "and quartiles of the angle and the cosine between the learned and the true direction, a "
        "constant feature left out of both; `with constant`: the cosine with it."
    ),
    cells=tuple(CELLS),
    methods=("full-rank", "tripathy"),
    run=run,
    table=table,
    draw=draw,
    quick=("2-inputs-25", "2-inputs-50-constant"),
)
