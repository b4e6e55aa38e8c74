"""Pictures that show which combinations of parameters matter (extra ``plot``: matplotlib).

Every function returns what it drew on: axes, or a figure whose axes are labelled
(``axes.get_label()``). None shows a window, opens one, or changes matplotlib's settings; colours
suit the background of the axes, light or dark, and survive colour blindness and a print in grey.

=============================  ====================================================================
`plot_convergence`             best value over the evaluations, median and quartiles of repetitions
`plot_sufficient_summary`      values over the first one or two active coordinates, with a GP
`plot_surrogate`               surrogate against truth over the active coordinates
`plot_loadings`                which combinations the directions are, with errors
`plot_spectrum`                singular values, or eigenvalues with bootstrap bands
`plot_dimension`               BIC over the number of directions
`plot_importance`              importance of each parameter, with intervals
`plot_angles`                  how far the subspace moved during a run, or was from the truth
`plot_components`              active and passive components of an additive model
`plot_slices`                  the surrogate along each parameter, through the incumbent
`plot_parallel_coordinates`    evaluated points as lines, coloured by value
=============================  ====================================================================

Where an optimiser is taken a `boring.study.Study` is, too; its columns bring their names, and
slices and parallel coordinates are in the units of its parameters.
`SubspaceTrace` is a callback that remembers the bases of a run, for `plot_angles` against a truth.
`new_figure` makes a figure of either background without pyplot; `save` writes a figure or axes.

Examples
--------
>>> import boring
>>> from boring import plotting
>>> result = boring.minimize(lambda x: float((x[0] - x[1]) ** 2), [(-1, 1)] * 3, 8, seed=0)
>>> axes = plotting.plot_convergence(result, ylabel="loss (m)")
>>> axes.get_xlabel()
'number of evaluations'
"""

from ._canvas import new_figure, save
from ._theme import LINE_STYLES, MARKERS, PALETTE
from .components import plot_components
from .dimension import plot_dimension, plot_spectrum
from .parallel import plot_parallel_coordinates
from .runs import plot_angles, plot_convergence
from .slices import plot_slices
from .subspace import plot_importance, plot_loadings
from .summary import plot_sufficient_summary
from .surrogate import plot_surrogate, plot_surrogate_values
from .trace import SubspaceTrace

__all__ = [
    "LINE_STYLES",
    "MARKERS",
    "PALETTE",
    "SubspaceTrace",
    "new_figure",
    "plot_angles",
    "plot_components",
    "plot_convergence",
    "plot_dimension",
    "plot_importance",
    "plot_loadings",
    "plot_parallel_coordinates",
    "plot_slices",
    "plot_spectrum",
    "plot_sufficient_summary",
    "plot_surrogate",
    "plot_surrogate_values",
    "save",
]
