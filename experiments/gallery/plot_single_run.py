"""Convergence of one run

Every value as a point, the best so far as a line; values beyond the axis are marked at its edge.
"""

from matplotlib.figure import Figure

from boring import plotting
from boring.plotting._canvas import Background

from ._data import traced_run


def draw(background: Background = "light") -> Figure:
    """Return the figure."""
    figure = plotting.new_figure(background=background)
    result, _, _ = traced_run()
    plotting.plot_convergence(result, figure.add_subplot(), ylabel="loss (EUR)")
    return figure
