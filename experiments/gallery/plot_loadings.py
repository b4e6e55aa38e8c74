"""Loadings

Which combinations of parameters the directions are, turned to the form with the fewest large
entries. The lines tell how much each loading differs between parts of the data.
"""

from matplotlib.figure import Figure

from boring import plotting
from boring.plotting._canvas import Background

from ._data import NAMES, estimate


def draw(background: Background = "light") -> Figure:
    """Return the figure."""
    figure = plotting.new_figure(background=background)
    plotting.plot_loadings(estimate(), figure, names=NAMES)
    return figure
