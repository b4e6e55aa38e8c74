"""Spectrum

Singular values of the learned metric. The gap after the d-th shows how clearly d directions
stand out.
"""

from matplotlib.figure import Figure

from boring import plotting
from boring.plotting._canvas import Background

from ._data import estimate


def draw(background: Background = "light") -> Figure:
    """Return the figure."""
    figure = plotting.new_figure(background=background)
    plotting.plot_spectrum(estimate(), figure.add_subplot())
    return figure
