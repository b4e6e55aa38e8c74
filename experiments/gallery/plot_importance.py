"""Importance

The share of each parameter in the variation of the function, with 90 per cent intervals.
"""

from matplotlib.figure import Figure

from boring import plotting
from boring.plotting._canvas import Background

from ._data import NAMES, estimate


def draw(background: Background = "light") -> Figure:
    """Return the figure."""
    figure = plotting.new_figure(background=background)
    plotting.plot_importance(estimate(), figure.add_subplot(), names=NAMES)
    return figure
