"""The options of the default loop."""

from __future__ import annotations

from dataclasses import dataclass

from boring.exceptions import InvalidInputError
from boring.validation import as_positive_int, as_real

__all__ = ["BoringOptions"]


@dataclass(frozen=True)
class BoringOptions:
    """Options of the default loop.

    Attributes
    ----------
    effective_dim : int, optional
        d, where it is known; None lets the BIC choose.
    max_effective_dim : int, default 5
        Largest d that the BIC may choose.
    subspace_from : int, default 15
        Evaluations from which on the subspace may take turns.
    subspace_every : int, default 1
        The subspace may take every so many of the portfolio's turns; 0 switches it off, and the
        directions of the local model (`boring.loop.local_metric`), too.
    local_from : int, default 15
        Evaluations from which on the local model takes turns (`boring.loop.schedule`), but not
        before there are D/2; 0 switches it off, and the fresh starts with it.
    fresh_starts : bool, default True
        Whether a search that has settled looks for another basin.
    ask_seconds : float, optional
        Seconds that a point should take at most, each of a batch by itself. Judged by the
        recorded times of earlier asks, cheaper work is done where the budget would not do, and
        each point's info says what was left out (`boring.effort`). At first, and beyond
        500 points, an estimate says from how many points directions may be learned: 204 with two
        seconds. A point may exceed the budget: the first ones, and where the least effort takes
        longer (2.5 seconds with 2,000 points). None, the default, sets no limit, and
        no proposal depends on time.
    """

    effective_dim: int | None = None
    max_effective_dim: int = 5
    subspace_from: int = 15
    subspace_every: int = 1
    local_from: int = 15
    fresh_starts: bool = True
    ask_seconds: float | None = None

    def __post_init__(self) -> None:
        """Check the ranges."""
        if self.effective_dim is not None:
            as_positive_int(self.effective_dim, "effective_dim")
        as_positive_int(self.max_effective_dim, "max_effective_dim")
        as_positive_int(self.subspace_from, "subspace_from")
        as_positive_int(self.subspace_every, "subspace_every", minimum=0)
        as_positive_int(self.local_from, "local_from", minimum=0)
        if not isinstance(self.fresh_starts, bool):
            raise InvalidInputError(
                f"fresh_starts must be True or False; received {self.fresh_starts!r}. Pass "
                "fresh_starts=False to stay with one search."
            )
        rule = "a positive number of seconds, or None"
        if self.ask_seconds is not None and not as_real(self.ask_seconds, "ask_seconds", rule) > 0:
            raise InvalidInputError(
                f"ask_seconds must be {rule}; received {self.ask_seconds!r}. Leave it out for no "
                "limit."
            )
