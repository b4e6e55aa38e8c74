"""Convergence of repeated runs

Median and quartiles of the gap to the optimum; the first points are the initial design.
Pass one result, several, or a mapping of labels to them.
"""

from matplotlib.figure import Figure

from boring import plotting
from boring.plotting._canvas import Background

from ._data import OPTIMUM, repeated_runs


def draw(background: Background = "light") -> Figure:
    """Return the figure."""
    figure = plotting.new_figure(background=background)
    plotting.plot_convergence(repeated_runs(), figure.add_subplot(), optimum=OPTIMUM)
    return figure
