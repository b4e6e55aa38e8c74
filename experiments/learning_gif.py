"""The moving picture of the README: a run learns its subspace.

``python -m experiments.learning_gif [FILE]`` minimises the README's function and draws a frame
after every few evaluations. Left: contours of the function over its two true mixtures, and the
evaluated points where the basis of the moment puts them, so that points and contours agree in
colour once it is right. Middle: the loadings, the true ones outlined. Right: gap to the optimum,
and angle to the truth.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import boring
from boring import plotting
from boring.plotting import SubspaceTrace
from boring.plotting._canvas import LIGHT, dress
from boring.subspace.stiefel import largest_angle
from boring.typing import FloatArray

from .script import draw_into, run_script
from .see_it import OPTIMUM, loss

__all__ = ["closest_basis", "draw"]

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "images" / "learning.gif"
N_EVALUATIONS, FIRST_FRAME, EVERY = 72, 6, 2
FRAMES_PER_SECOND, LAST_FRAMES = 4, 8
"""How many times the last frame is shown."""
DPI = 80
DIM = 10
TRUTH = np.zeros((DIM, 2))
TRUTH[[0, 3, 7], 0] = 3**-0.5
TRUTH[[2, 5, 8], 1] = 3**-0.5, -(3**-0.5), 3**-0.5
GRID = 80
GAP_FLOOR = 1e-9


def closest_basis(basis: FloatArray, truth: FloatArray) -> FloatArray:
    """Return the columns within the span of a basis that are closest to the true ones.

    Parameters
    ----------
    basis : ndarray, shape (D, d)
    truth : ndarray, shape (D, k), orthonormal columns

    Returns
    -------
    ndarray, shape (D, k)
        Only turned within its span, which the data leave open. Where d < k there are but d
        independent columns among them.
    """
    U, _, Vt = np.linalg.svd(basis.T @ truth, full_matrices=False)
    return np.asarray(basis @ U @ Vt)


def _surface() -> tuple[FloatArray, FloatArray]:
    """Return ticks of the true coordinates, and the function over them."""
    ticks = np.linspace(-(3**0.5), 3**0.5, GRID)
    points = np.stack(np.meshgrid(ticks, ticks), axis=-1).reshape(-1, 2) @ TRUTH.T
    return ticks, np.array([loss(x) for x in points]).reshape(GRID, GRID)


def draw(path: Path = PICTURE, n_evaluations: int = N_EVALUATIONS, every: int = EVERY) -> Path:
    """Run, and draw the frames.

    Parameters
    ----------
    path : path-like
        Of the GIF.
    n_evaluations, every : int
        Length of the run, and evaluations from frame to frame.
    """
    from matplotlib.animation import PillowWriter

    trace = SubspaceTrace()
    box = [(-1.0, 1.0)] * DIM
    result = boring.minimize(loss, box, n_evaluations, seed=1, callback=trace, progress=False)
    counts = [*range(FIRST_FRAME, n_evaluations, every), *[n_evaluations] * LAST_FRAMES]
    surface = _surface()
    figure: Any = plotting.new_figure(10.0, 3.7, background="light")
    writer = PillowWriter(fps=FRAMES_PER_SECOND)
    path.parent.mkdir(parents=True, exist_ok=True)
    with writer.saving(figure, str(path), dpi=DPI):
        for count in counts:
            figure.clear()
            _frame(figure, count, result, trace, surface)
            writer.grab_frame(facecolor=figure.get_facecolor())
    return path


def _basis_after(count: int, trace: SubspaceTrace) -> FloatArray | None:
    known = [basis for at, basis in zip(trace.counts, trace.bases, strict=True) if at <= count]
    return known[-1] if known else None


def _frame(
    figure: Any,
    count: int,
    result: boring.OptimizationResult,
    trace: SubspaceTrace,
    surface: tuple[FloatArray, FloatArray],
) -> None:
    plane, bars, right = figure.subfigures(1, 3, width_ratios=(1.15, 1.0, 1.0))
    basis = _basis_after(count, trace)
    shown = None if basis is None else closest_basis(basis, TRUTH)
    _plane(plane.add_subplot(), result.X[:count], result.y[:count], shown, surface)
    _bars(bars, shown)
    gap, angle = right.subplots(2, 1, sharex=True)
    longest = len(result.y)
    _curve(gap, range(1, count + 1), result.best_so_far()[:count] - OPTIMUM, longest)
    gap.set_yscale("log")
    gap.set_ylim(GAP_FLOOR / 2, 10.0)
    gap.set_title("gap to the optimum", loc="left", fontsize="small")
    at = [n for n in trace.counts if n <= count]
    angles = [np.degrees(largest_angle(b, TRUTH)) for b in trace.bases[: len(at)]]
    _curve(angle, at, angles, longest)
    angle.set_ylim(0.0, 95.0)
    angle.set_title("angle to the truth (degrees)", loc="left", fontsize="small")
    angle.set_xlabel("number of evaluations")
    for axes in (gap, angle):
        dress(axes, LIGHT)
    figure.suptitle(f"after {count} evaluations", fontsize="medium")


def _plane(
    axes: Any,
    X: FloatArray,
    y: FloatArray,
    basis: FloatArray | None,
    surface: tuple[FloatArray, FloatArray],
) -> None:
    ticks, values = surface
    levels = OPTIMUM + np.geomspace(0.02, 30.0, 12)
    colours: dict[str, Any] = {"cmap": LIGHT.cmap, "vmin": -4.0, "vmax": 3.5}
    with np.errstate(divide="ignore"):
        axes.contourf(
            ticks,
            ticks,
            np.log(np.maximum(values - OPTIMUM, 0.02)),
            np.log(levels - OPTIMUM),
            alpha=0.55,
            extend="both",
            **colours,
        )
    if basis is None:
        axes.text(0.5, 0.5, "no subspace yet", transform=axes.transAxes, ha="center")
    else:
        Z = X @ basis
        shade = np.log(np.maximum(y - OPTIMUM, 0.02))
        axes.scatter(*Z.T, c=shade, s=26, edgecolors=LIGHT.ink, linewidths=0.6, **colours)
    axes.set_xlim(ticks[0], ticks[-1])
    axes.set_ylim(ticks[0], ticks[-1])
    axes.set_aspect("equal")
    axes.set_xlabel("first mixture")
    axes.set_ylabel("second mixture")
    axes.set_title("contours: true; points: as learned", loc="left", fontsize="small")
    dress(axes, LIGHT, grid=None)


def _bars(part: Any, basis: FloatArray | None) -> None:
    for index, axes in enumerate(part.subplots(1, 2, sharey=True)):
        rows = np.arange(DIM)
        if basis is not None:
            axes.barh(rows, basis[:, index], 0.7, color=LIGHT.real)
        axes.barh(rows, TRUTH[:, index], 0.7, fill=False, edgecolor=LIGHT.ink, linewidth=0.9)
        axes.set_xlim(-0.8, 0.8)
        axes.set_ylim(DIM - 0.4, -0.6)
        axes.set_yticks(rows, [f"knob {row}" for row in rows])
        axes.set_title(("first", "second")[index], loc="left", fontsize="small")
        dress(axes, LIGHT, grid="x")
    part.supxlabel("loadings (outlined: true)", fontsize="medium")


def _curve(axes: Any, x: Sequence[int], y: Sequence[float] | FloatArray, longest: int) -> None:
    values = np.maximum(np.asarray(y, dtype=np.float64), GAP_FLOOR)
    axes.plot(x, values, drawstyle="steps-post", color=LIGHT.real, linewidth=1.8)
    axes.set_xlim(0, longest)


def main(argv: Sequence[str] | None = None) -> None:
    """Draw into the file that the command line names."""
    draw_into(draw, "experiments.learning_gif", __doc__, default=PICTURE, argv=argv)


if __name__ == "__main__":
    run_script(main)
