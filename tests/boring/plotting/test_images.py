"""A few figures look as they did: compared with pictures on file, within a tolerance.

The estimates are made by hand, so that nothing is searched and the figures are exact. Text is drawn
anew by every version of matplotlib; the pictures hold for the version named below.
``python -m pytest tests/boring/plotting/test_images.py --basetemp=DIR`` leaves what was drawn in
DIR; look at it, then copy it to ``baseline``.
"""

import dataclasses
from pathlib import Path

import matplotlib
import pytest
from matplotlib.testing.compare import compare_images

from boring import plotting
from boring.subspace.stiefel import orthonormalize

BASELINE = Path(__file__).with_name("baseline")
DRAWN_WITH = "3.11"
TOLERANCE = 2.0  # root mean square of the differences, of 255
DPI = 50

pytestmark = pytest.mark.skipif(
    not matplotlib.__version__.startswith(f"{DRAWN_WITH}."),
    reason=f"the pictures on file were drawn with matplotlib {DRAWN_WITH}",
)


def loadings(make, background, estimate=None):
    figure = plotting.new_figure(background=background)
    plotting.plot_loadings(estimate or make.estimate(6, 2)[0], figure)
    return figure


def importance(make, background):
    estimate, _, _ = make.estimate(6, 2)
    figure = plotting.new_figure(background=background)
    plotting.plot_importance(estimate, figure.add_subplot())
    return figure


def spectrum(make, background):
    estimate, _, _ = make.estimate(8, 2)
    figure = plotting.new_figure(background=background)
    plotting.plot_spectrum(estimate, figure.add_subplot())
    return figure


def parallel(make, background):
    figure = plotting.new_figure(background=background)
    plotting.plot_parallel_coordinates(make.run(5), ax=figure.add_subplot())
    return figure


DRAW = {f.__name__: f for f in (loadings, importance, spectrum, parallel)}


@pytest.mark.parametrize("background", ["light", "dark"])
@pytest.mark.parametrize("name", DRAW)
def test_figure_looks_as_on_file(name, background, make, tmp_path):
    figure = DRAW[name](make, background)
    path = plotting.save(figure, tmp_path / f"{name}-{background}.png", dpi=DPI)
    expected = tmp_path / "expected.png"  # the comparison writes beside it
    expected.write_bytes((BASELINE / path.name).read_bytes())
    assert compare_images(str(expected), str(path), TOLERANCE) is None


def test_the_comparison_can_fail(make, tmp_path):
    estimate, _, _ = make.estimate(6, 2)
    W = estimate.active_basis.copy()
    W[0] += 0.3
    changed = dataclasses.replace(estimate, active_basis=orthonormalize(W))
    figure = loadings(make, "light", changed)
    path = plotting.save(figure, tmp_path / "changed.png", dpi=DPI)
    expected = tmp_path / "expected.png"
    expected.write_bytes((BASELINE / "loadings-light.png").read_bytes())
    assert "RMS" in compare_images(str(expected), str(path), TOLERANCE)
