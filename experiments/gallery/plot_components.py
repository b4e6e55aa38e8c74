"""Components of an additive model

Active and passive terms of the preset of the thesis, each with a band of two standard
deviations; marks at the foot are the data.
"""

from matplotlib.figure import Figure

import boring
from boring import plotting
from boring.plotting._canvas import Background

from ._data import DIM, NAMES, SPACE, points


def draw(background: Background = "light") -> Figure:
    """Return the figure."""
    figure = plotting.new_figure(9.0, 3.6, background=background)
    X, y = points()
    optimizer = boring.BoringOptimizer.thesis(
        SPACE, direction="minimize", seed=0, effective_dim=2, n_initial=DIM
    )
    optimizer.tell(X[:50], y[:50])
    plotting.plot_components(optimizer, figure, names=NAMES, most=3)
    return figure
