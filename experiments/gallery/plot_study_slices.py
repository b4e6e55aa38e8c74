"""Slices of a study

Parameters in their own units: logarithmic axes, names of choices, a mark and a bar for each value
where there are few.
"""

from matplotlib.figure import Figure

from boring import plotting
from boring.plotting._canvas import Background

from ._data import typed_study


def draw(background: Background = "light") -> Figure:
    """Return the figure."""
    figure = plotting.new_figure(9.0, 3.2, background=background)
    plotting.plot_slices(typed_study(), figure, top=3, ylabel="yield (per cent)")
    return figure
