"""Surrogate against truth

What the model predicts at points that it has not seen, beside what is true there.
"""

from matplotlib.figure import Figure

from boring import plotting
from boring.plotting._canvas import Background

from ._data import estimate, yield_loss


def draw(background: Background = "light") -> Figure:
    """Return the figure."""
    figure = plotting.new_figure(9.0, 4.2, background=background)
    plotting.plot_surrogate(estimate(), yield_loss, figure=figure, unit="EUR")
    return figure
