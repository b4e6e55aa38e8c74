"""From fitted models to a point: log-EI over the whole box, and what to say about the search."""

from __future__ import annotations

import numpy as np

from boring.acquisition.base import Acquisition
from boring.acquisition.domain_maximizer import maximize_in_domain
from boring.acquisition.improvement import LogExpectedImprovement
from boring.acquisition.maximizer import (
    REPEATED,
    MaximizerResult,
    duplicates,
    maximize_acquisition,
)
from boring.effort import FULL, Effort
from boring.feasibility import LogSum
from boring.models.posterior import GaussianProcess, best_in_noise, best_value, with_fantasies
from boring.proposal import ProposalContext
from boring.result import InfoValue
from boring.typing import BoolArray, FloatArray


def improvement(
    posterior: GaussianProcess,
    context: ProposalContext,
    eligible: BoolArray | None = None,
    *,
    trusts_values: bool = False,
) -> Acquisition:
    """Return the log-EI of a posterior over its incumbent.

    For the incumbent see `boring.models.posterior.best_in_noise`; with ``trusts_values`` it is the
    best value whatever noise the posterior sees. A point that is out for evaluation counts with its
    posterior mean: what it is expected to reach is no improvement any more. Where there is a model
    of feasibility, it says what to think of failures.
    """
    incumbent = (best_value if trusts_values else best_in_noise)(posterior, eligible)
    failing = context.data.failing_X if context.feasibility is None else context.data.X[:0]
    posterior = with_fantasies(posterior, context.pending, failing)
    if len(context.pending):
        incumbent = max(incumbent, float(posterior.y[-len(context.pending) :].max()))
    return LogExpectedImprovement(posterior, incumbent)


def search_box(
    acquisition: Acquisition,
    incumbent: FloatArray,
    basis: FloatArray | None,
    context: ProposalContext,
    effort: Effort = FULL,
) -> MaximizerResult:
    """Maximise an acquisition over the box, away from every point that is known or awaited.

    Parameters
    ----------
    acquisition : Acquisition
        A log: that of the probability of feasibility is added, where there is one.
    incumbent : ndarray, shape (D,), scaled units
    basis : ndarray, shape (D, d), or None
        Directions along which starts are spread.
    context : ProposalContext
    effort : Effort, optional

    Notes
    -----
    In a domain with a lattice or constraints, among its points only.
    """
    if context.feasibility is not None:
        acquisition = LogSum([acquisition, context.feasibility])
    if not context.domain.is_plain:
        return maximize_in_domain(
            acquisition,
            context.domain,
            incumbent=incumbent,
            rng=context.rng,
            basis=basis,
            avoid=np.vstack([context.data.X, context.pending]),
            **effort.search,
        )
    return maximize_acquisition(
        acquisition,
        context.data.dim,
        incumbent=incumbent,
        rng=context.rng,
        basis=basis,
        avoid=np.vstack([context.data.X, context.pending]),
        given=None,
        **effort.search,
    )


def is_taken(x: FloatArray, context: ProposalContext) -> bool:
    """Tell whether a point repeats an old one to a few digits of rounding."""
    x = context.space.returned(x)
    return duplicates(x, np.vstack([context.data.X, context.pending]), REPEATED)


def search_info(found: MaximizerResult) -> dict[str, InfoValue]:
    """Return the acquisition's value, and from which start it was reached."""
    return {"acquisition": found.value, "start": found.family}
