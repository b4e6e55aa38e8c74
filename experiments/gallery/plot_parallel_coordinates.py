"""Parallel coordinates

Every evaluated point is a line, the best ones on top.
"""

from matplotlib.figure import Figure

from boring import plotting
from boring.plotting._canvas import Background

from ._data import NAMES, traced_run


def draw(background: Background = "light") -> Figure:
    """Return the figure."""
    figure = plotting.new_figure(7.6, 4.4, background=background)
    result, _, _ = traced_run()
    plotting.plot_parallel_coordinates(result, ax=figure.add_subplot(), names=NAMES)
    return figure
