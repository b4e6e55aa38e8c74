"""Slices through the incumbent

The surrogate of a run along each parameter, all others held at the best point.
"""

from matplotlib.figure import Figure

from boring import plotting
from boring.plotting._canvas import Background

from ._data import NAMES, traced_run


def draw(background: Background = "light") -> Figure:
    """Return the figure."""
    figure = plotting.new_figure(9.0, 5.2, background=background)
    _, optimizer, _ = traced_run()
    plotting.plot_slices(optimizer, figure, names=NAMES, ylabel="loss (EUR)")
    return figure
