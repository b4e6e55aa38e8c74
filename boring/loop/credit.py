"""Credit: what each of three searches has lately gained, as far as it was not luck.

Where the portfolio sees noise it may be noise, or a function so rugged that it looks like noise
from afar. No predictive score tells which search suits such a function: the portfolio foresees the
values of Ackley's function better than the plain Gaussian process does on that process's own path,
and yet it descends and they do not. What a search *gains* tells: its turns' gains are averaged,
and the search ahead takes two turns of three. A gain counts only beyond what noise could have
brought, by the noise that the local model has fitted near the incumbent: from close by, a ripple
is smooth and its noise is none, true noise stays; so the credit steers in ripples and is silent in
noise.

Credit and the patience of the trust region where its model sees noise (`boring.loop.trust_region`)
were measured together: development runs, median without and with.

    Ackley in 20 inputs               10     2.8     4 runs
    the same off centre               6.6    4.4     4
    Ackley 5-in-25                    .28    .04     4
    Levy 4-in-20                      1.3    1.2     4
    noise of 1 %, camelback 2-in-10   9e-4   9e-5    4
    sine-exponential 2-in-5           3e-4   1e-4    6
    noise of 10 %, camelback 2-in-10  .008   .03     6
    camelback 2-in-5                  .002   .002    6

It helps only where noise is seen: on the first four of the README's seeds the portfolio took the
ripples of Ackley in 20 inputs for structure, and ended at 17 to 19 with credit and without, until
its shared lengthscales were kept from being short (`boring.loop.portfolio`).

Credit without patience, four runs each: Ackley 10 (two at 2 and 4), off centre 5; patience alone:
6.4 and 4.0, Ackley 5-in-25 .11. With patience wherever the *portfolio* sees noise Ackley off
centre ends at 1.9, but Branin 2-in-25, in which it sees noise by mistake, at 1.2e-3 instead of
2.1e-4 (eight runs; without credit, too, 1e-4).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from boring.typing import FloatArray

__all__ = ["COMPETITORS", "credit_after", "leader", "turn_of"]

#: The searches that compete for turns.
COMPETITORS = ("local", "portfolio", "plain")
# A search's gain per turn is averaged over about so many of its turns. [chosen here]
TURNS_REMEMBERED = 5.0
# Standard deviations of the noise that a gain has to exceed before it counts. [chosen here]
LUCK = 2.0
# Gain per turn, in units of the spread of the first values, below which none leads. [chosen here]
WORTH = 5e-4
# Of so many turns the others have one, by turns.
SHARED_EVERY = 3


def credit_after(memory: Mapping[str, Any], y: FloatArray, noise_std: float) -> dict[str, Any]:
    """Return the credit after the values that came since the last turn.

    Parameters
    ----------
    memory : mapping
        What was returned last, with the ``kind`` of the turn that followed; empty at first.
    y : ndarray, shape (n,)
        Larger is better.
    noise_std : float
        Of the observations, units of y.

    Notes
    -----
    With several points out at a time, all that came is put down to the search that spoke last.
    """
    rates = dict(memory.get("rates", {}))
    kind, best = memory.get("kind"), float(y.max())
    if kind in COMPETITORS and len(y) > int(memory["n"]):
        gain = max(0.0, best - float(memory["best"]) - LUCK * noise_std)
        before = float(rates.get(kind, 0.0))
        rates[kind] = before + (gain - before) / TURNS_REMEMBERED
    return {"rates": rates, "n": len(y), "best": best}


def leader(credit: Mapping[str, Any], spread: float) -> str | None:
    """Return the search with the largest gain per turn; None if none is worth following.

    Parameters
    ----------
    credit : mapping
        See `credit_after`.
    spread : float
        See `boring.loop.schedule.spread_of_first`.
    """
    rates = {kind: float(credit["rates"].get(kind, 0.0)) for kind in COMPETITORS}
    ahead = max(COMPETITORS, key=rates.__getitem__)
    return ahead if rates[ahead] > WORTH * spread else None


def turn_of(number: int, leads: str) -> str:
    """Return whose turn an evaluation (by number) is where a search leads."""
    if number % SHARED_EVERY < SHARED_EVERY - 1:
        return leads
    others = [kind for kind in COMPETITORS if kind != leads]
    return others[number // SHARED_EVERY % len(others)]
