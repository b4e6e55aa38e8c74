"""Sufficient summary

Values over the two active coordinates, with the mean of a Gaussian process of them. It fades
where the process does not know.
"""

from matplotlib.figure import Figure

from boring import plotting
from boring.plotting._canvas import Background

from ._data import NAMES, estimate, points


def draw(background: Background = "light") -> Figure:
    """Return the figure."""
    figure = plotting.new_figure(6.4, 4.8, background=background)
    X, y = points()
    axes = figure.add_subplot()
    plotting.plot_sufficient_summary(
        estimate(), X, y, axes, names=NAMES, direction="minimize", ylabel="loss (EUR)"
    )
    return figure
