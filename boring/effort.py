"""How much work an ask may do, where the caller has set a number of seconds for it.

A clock and the promise "the same seed gives the same run, also after a resume" live together as
follows. The clock decides nothing while it runs: the effort of an ask is a function of the
seconds that *earlier* asks took, and these are part of the history, of states and of journals.
A run that is resumed goes on as it would have gone on. Two runs of one seed differ, though, as
soon as their asks take different times; without a budget nothing depends on time.

It follows that a budget is kept on average and not to the letter. The first ask of a kind does
everything, since nothing is known of it yet, and one that took too long is followed by a
cheaper one. But what is learned for the first time, or from more than 500 points, is learned from
no more than an estimate allows, so that a run may begin with many earlier points. Steps of the
search for a point of the whole box:

    0  everything;
    1  hyperparameters are refitted for the best member of the portfolio alone;
    2  nothing is refitted, a batch shares its models, and the search has fewer starts.

The local model has one step down: no further rounds in metrics, and one start. Learning the
subspace anew is decided apart, since it takes as long as many asks, and so is learning the
directions of the local model. Fresh starts have few points of their own, and do everything but
learn directions where the local model would not.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from boring.history import Ask
from boring.result import InfoValue

Kind = Literal["whole box", "local"]

PHASES: Mapping[Kind, frozenset[str]] = {
    "whole box": frozenset({"portfolio", "plain", "subspace"}),
    "local": frozenset({"local"}),
}
LOWEST: Mapping[Kind, int] = {"whole box": 2, "local": 1}
# Learning the subspace takes so many times the seconds of an ask without it (13 to 21 measured,
# D = 10 to 1000), and so do the directions of the local model (14 to 27, D = 5 and 10), as long as
# there is no record of it from when there were nearly as many points.
LEARNING_SHARE = 15.0
RECORD_HOLDS = 1.5
# From more points nothing is learned; that many take about so many seconds, the subspace as well
# as the local model's directions, and fewer the square of their share. [measured, D = 12 and 50:
# 100 points .2 to .7 s, 223 1.5 to 2.3, 500 10 to 14]
MOST_POINTS, FEWEST_POINTS = 500, 50
LEARNING_SECONDS = 12.0
# Seconds grow at most like this power of the number of points. [measured: 1 to 2.3]
GROWTH = 2.0
# After so many asks in a row within half of the budget, a step up is tried.
PATIENCE = 10
# The smaller search of the acquisition.
FEW_CANDIDATES, FEW_STARTS, FEW_ITERATIONS = 128, 2, 10


@dataclass(frozen=True)
class Effort:
    """What an ask may do.

    Attributes
    ----------
    level : int
        0 for everything.
    may_learn : bool
        Whether the subspace, or the local model's directions, may be learned anew, where that is
        due.
    points : int
        From how many points, where there are more.
    """

    level: int = 0
    may_learn: bool = True
    points: int = MOST_POINTS

    @property
    def refits(self) -> Literal["all", "best", "none"]:
        """Whose hyperparameters are refitted; the others keep their last ones."""
        if self.level == 0:
            return "all"
        return "best" if self.level == 1 else "none"

    @property
    def search(self) -> dict[str, int]:
        """Arguments of `maximize_acquisition` that differ from its defaults."""
        if self.level < 2:
            return {}
        return {
            "n_candidates": FEW_CANDIDATES,
            "n_starts": FEW_STARTS,
            "max_iterations": FEW_ITERATIONS,
        }

    def info(self, n: int, left_out: Sequence[str], *, learned: bool) -> dict[str, InfoValue]:
        """Return what to record of an ask, which `effort_of` goes by later.

        Parameters
        ----------
        n : int
            Number of points told or out.
        left_out : sequence of str
            What it did without, in words.
        learned : bool
            Whether it learned the subspace, or the local model's directions, anew.
        """
        if learned and self.points < min(n, MOST_POINTS):
            left_out = (*left_out, "points to learn from")
        return {
            "effort": self.level,
            "points": n,
            "left out": ", ".join(left_out) or None,
            "learned": int(learned),
        }


FULL = Effort()


def effort_of(kind: Kind, asks: Sequence[Ask], ask_seconds: float | None, n: int) -> Effort:
    """Return the effort of the next ask.

    Parameters
    ----------
    kind : {"whole box", "local"}
    asks : sequence of Ask
        All earlier ones, oldest first.
    ask_seconds : float or None
        Budget; None is no limit.
    n : int
        Number of points told or out. Earlier asks have theirs in their info, as "points"; records
        of a former version have not, and count by their number.
    """
    if ask_seconds is None:
        return FULL
    learning = [ask for ask in asks if ask.info.get("learned") and _learns(ask) == kind]
    known = [
        ask
        for ask in asks
        if ask.phase in PHASES[kind] and "effort" in ask.info and not ask.info.get("learned")
    ]
    level = _level(known, n, ask_seconds, LOWEST[kind]) if known else 0
    expected = 0.0
    if learning and n <= RECORD_HOLDS * _points(learning[-1]):
        expected = _expected(learning[-1], n, MOST_POINTS)
    elif known:
        expected = LEARNING_SHARE * _expected(known[-1], n)
    points = MOST_POINTS if learning and n <= MOST_POINTS else _affordable(ask_seconds)
    return Effort(level, expected <= ask_seconds, points)


def _affordable(ask_seconds: float) -> int:
    """Return the number of points from which to learn, by the estimate."""
    share = min(1.0, (ask_seconds / LEARNING_SECONDS) ** (1.0 / GROWTH))
    return max(FEWEST_POINTS, int(share * MOST_POINTS))


def _learns(ask: Ask) -> Kind:
    """Return the kind of ask that learns what this one learned."""
    return "local" if ask.phase in PHASES["local"] else "whole box"


def _level(known: Sequence[Ask], n: int, ask_seconds: float, lowest: int) -> int:
    level = int(known[-1].info["effort"])
    if _expected(known[-1], n) > ask_seconds:
        return min(level + 1, lowest)
    recent = known[-PATIENCE:]
    calm = len(recent) == PATIENCE and all(
        ask.info["effort"] == level and ask.seconds <= 0.5 * ask_seconds for ask in recent
    )
    return max(level - 1, 0) if calm else level


def _points(ask: Ask) -> int:
    """Return how many points there were at an earlier ask."""
    return int(ask.info.get("points", ask.number))


def _expected(ask: Ask, n: int, most: float = math.inf) -> float:
    """Return the seconds that the work of an earlier ask would take now, on at most so many."""
    growth = (min(n, most) + 1) / (min(_points(ask), most) + 1)
    return float(ask.seconds * growth**GROWTH)
