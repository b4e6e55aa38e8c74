"""How many directions

The Bayesian information criterion over d, in nats above the best, for subspaces of any
orientation and for those on coordinate axes.
"""

from matplotlib.figure import Figure

from boring import plotting
from boring.plotting._canvas import Background

from ._data import estimate


def draw(background: Background = "light") -> Figure:
    """Return the figure."""
    figure = plotting.new_figure(background=background)
    plotting.plot_dimension(estimate(), figure.add_subplot())
    return figure
