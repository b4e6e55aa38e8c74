"""The subspace during a run

Largest principal angle to the truth. A run keeps its last basis only; the callback
`SubspaceTrace` remembers them all.
"""

from matplotlib.figure import Figure

from boring import plotting
from boring.plotting._canvas import Background

from ._data import TRUTH, traced_run


def draw(background: Background = "light") -> Figure:
    """Return the figure."""
    figure = plotting.new_figure(background=background)
    _, _, trace = traced_run()
    plotting.plot_angles(trace, figure.add_subplot(), truth=TRUTH)
    return figure
