"""Components of an additive model

Active and passive terms of the preset of the thesis, each with a band of two standard
deviations; marks at the foot are the data.
"""

from matplotlib.figure import Figure

from boring import plotting
from boring.plotting._canvas import Background

from ._data import NAMES, additive_model


def draw(background: Background = "light") -> Figure:
    """Return the figure."""
    figure = plotting.new_figure(9.0, 3.6, background=background)
    plotting.plot_components(additive_model(), figure, names=NAMES, most=3)
    return figure
