"""From a fitted portfolio to a point, and what to say about it."""

from __future__ import annotations

from boring.acquisition.improvement import LogImprovementMixture
from boring.acquisition.maximizer import MaximizerResult
from boring.box_search import improvement, search_box
from boring.effort import FULL, Effort
from boring.loop.portfolio import Portfolio
from boring.proposal import ProposalContext
from boring.result import InfoValue
from boring.typing import BoolArray, FloatArray


def search_by_portfolio(
    portfolio: Portfolio,
    incumbent: FloatArray,
    effective_dim: int,
    context: ProposalContext,
    effort: Effort = FULL,
    eligible: BoolArray | None = None,
) -> MaximizerResult:
    """Maximise the log of the summed EI of the members that steer; see `search_box`.

    Starts are spread along the ``effective_dim`` leading directions of the portfolio.
    """
    mixture = LogImprovementMixture(
        [improvement(member.posterior, context, eligible) for member in portfolio.speakers()]
    )
    directions = portfolio.directions[:, :effective_dim]
    return search_box(mixture, incumbent, directions, context, effort)


def portfolio_info(portfolio: Portfolio) -> dict[str, InfoValue]:
    """Return the weight of each member."""
    pairs = zip(portfolio.members, portfolio.weights, strict=True)
    return {f"weight {one.name}": float(weight) for one, weight in pairs}
