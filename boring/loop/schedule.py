"""Whose turn it is: the portfolio, the plain process, the local model, or a fresh start.

The portfolio and the local model take turns, and a local model whose step was good goes on at
once. Of the progress of the last two thirds of a run on a smooth function nearly all is the local
model's (Rosenbrock 5-in-10: 0.29 decades by 50 local steps, 0.04 by 32 turns of the portfolio); the
portfolio keeps at least every fourth evaluation, to find where polishing pays. A local model
that fails three times in a row steps back to every fourth evaluation until it succeeds or has
settled: many inputs take many failures, and meanwhile the portfolio gets further (eight
development runs, median without and with: Branin 2-in-25 1.4e-3 and 2.7e-4, Rosenbrock 5-in-10
2.4 and 1.5, camelback 2-in-10 1.9e-6 and 1.1e-7; Ackley 5-in-25 .46 and 1.5, its mean 3.1 and
1.7).

A converged search looks the same in the best basin and in a poor one; only the rest of the box
could tell. So from the moment that the local model has settled, part of the budget is an
insurance: every fourth evaluation is a fresh start's, every second one when the trust region
is tiny. A local model of D inputs that has taken fewer than D steps has not settled, however
often it failed. Once polishing is down to digits it stops, and its turns go to the fresh starts
and to the portfolio, whose points also show the subspace best.

Where the portfolio sees noise, or a function so rugged that it looks like noise, a trust region
shrinks for no reason: the share of fresh starts stays at a quarter. Without this rule Ackley
5-in-25 ends at 1.7 in the median instead of 0.1, and Hartmann 6-in-25 with noise of 1 % at 0.05
instead of 0.02 (five and six development runs). The plain Gaussian process, which takes ripples for
noise and keeps to the trend, then has every second turn of the portfolio, and a search that gains
more than the others has two turns of three (`boring.loop.credit`).

Of thirty inputs or more it has every second turn of the portfolio with noise and without: 200
evaluations seldom show directions of so many, and on real tasks the portfolio then follows what it
takes for structure. Four development runs, median (mean) without, with, and of the plain process
alone; Branin sixteen:

    weighted Lasso, 100 inputs    2.5 (2.9)      .93 (1.8)     .94 (.96)
    the same, 300                 15 (14)        12 (12)       8.6 (10)
    rover, 60                     25 (28)        20 (24)       21 (21)
    Lasso on diabetes, 65         .473 (.473)    .470 (.470)   .468 (.468)
    digits, 64                    .226 (.227)    .219 (.224)   .218 (.216)
    Branin on 2 of 100 axes       .011 (.21)     .016 (.032)   .041 (.15)

From the first proposal on, Branin's 50 evaluations end at .055 (.095) and the Lassos at .90 and 13;
from the fiftieth on the Lassos at .98 and 14. A third of the turns is as good on Lassos and less on
the others. In 15 to 25 inputs, a third of the first fifty gains nothing (seven functions, four to
six runs each).

Of fifteen to thirty inputs an objective that looks noisy is taken for rugged, and one that looked
so with more than fifty points stays rugged though it may look smooth later: once points crowd in
one well the portfolio sees a smooth function again, and without this rule the rest of the run
polishes that well. The plain process then has every second turn of the portfolio, in noise beside
its own, and its acquisition asks for more than the best *value* rather than the best mean
(`boring.box_search.improvement`): ripples are no luck, and what beats a mean lies near it. Three
development runs each, without, with, and of the plain process alone:

    Ackley off centre, 20 inputs  8.2, 2.8, 5.5       2.4, 2.3, 1.2       2.3, 4.8, 2.2
    Ackley, 20 inputs             17, .22, 1.2        2.6, 2.2, 3.8
    Levy 4-in-20                  1.4, 2e-4, 2e-4     .13, 4e-4, 1e-3
    Michalewicz 5-in-20           1.5, 2.3, 1.1       1.5, 1.9, 1.1
    Branin 2-in-25                2e-5, 4e-4, 5e-5    6e-5, 5e-5, 8e-4
    the same with noise of 1 %    .02, .02, .2        .02, .02, .1

Every second turn only while no noise is seen gives Ackley off centre 7.7, 3.2, 5.0; the best value
without more turns 8.7 and 2.0; two turns of three for the plain process, and none for the
portfolio, 7.5, 3.0, 2.8 by the mean and 1.9, 3.4 by the value.
In five inputs true noise is taken for ripples: camelback 2-in-5 with noise of 10 % ends lower in
two of ten runs and higher in five.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from boring.loop.credit import turn_of
from boring.loop.portfolio import fitted_noise
from boring.loop.trust_region import goes_on, patience
from boring.typing import FloatArray

# Evaluations by turns, by their number modulo the length.
SEARCHING = ("local", "portfolio")
FAILING = ("local", "portfolio", "portfolio", "portfolio")
SETTLED = ("local", "fresh start", "local", "portfolio")
DEEP = ("local", "fresh start", "portfolio", "fresh start")
POLISHED = ("portfolio", "fresh start")
BEFORE_LOCAL_IN_NOISE = ("portfolio", "plain")
SEARCHING_IN_NOISE = ("local", "portfolio", "local", "plain")
SETTLED_IN_NOISE = ("local", "portfolio", "plain", "fresh start")
# Half-width of the trust region, scaled units (of ten inputs or fewer; see
# `boring.loop.trust_region.patience`), and expected gain, in units of the spread of the first
# points, below which a search has settled; and further still. [chosen here]
SETTLED_RADIUS, SETTLED_GAIN = 1e-2, 1e-5
DEEP_RADIUS, DEEP_GAIN = 1e-3, 1e-10
# A search whose step to the best bound promises less than this, in the same units, has settled,
# too: it will polish for long.
SETTLED_PROMISE = 1e-2
# Local steps, in units of D, before which no search has settled. [chosen here]
STEPS_PER_DIMENSION = 1.0
# Good local steps that may follow one another out of turn.
LONGEST_STREAK = 3
# Failed local steps in a row after which the local model steps back. [chosen here]
FAILURES_IN_A_ROW = 3
# Noise variance, standardised half-rank warped values, from which the portfolio sees noise:
# without noise its fits end below 1e-4, with noise of 1 % of the range between 2e-3 and 0.2.
NOISY = 3e-3
# The same of noise that is known, which needs no proof.
KNOWN_NOISY = 1e-3
# At least so many first values tell the spread of the objective.
FEWEST_FIRST = 5
# Inputs, and points, from which every second turn of the portfolio is the plain process's.
# [chosen here]
MANY_INPUTS, TELLING_POINTS = 30, 25
# Inputs from which, and up to `MANY_INPUTS`, an objective that looks noisy is rugged. [chosen here]
SEVERAL_INPUTS = 15


def sees_noise(portfolio: Mapping[str, Any] | None, noise_std: float | None) -> bool:
    """Tell whether the portfolio (its memory) has noise, fitted or known; before it, any known.

    Known noise that is small against the values is none to be patient with: 45 evaluations of the
    camelback in five inputs with ``noise_std=1e-10`` ended at 7e-4 and 2e-3 when all that is known
    counted, at 2e-9 and 9e-9 with 0. With noise of 1 % of the range six runs are as before; with a
    sixth of it level (6e-6 to .0014, and 1e-4 to 9e-4). Had known noise to pass `NOISY`, too, the
    point best by mean would be worse in five of ten runs with noise of 1 %, and better in one.
    """
    if not portfolio or noise_std == 0.0:
        return bool(noise_std)
    return fitted_noise(portfolio) > (NOISY if noise_std is None else KNOWN_NOISY)


def is_rugged(looks_noisy: bool, dim: int, noise_std: float | None) -> bool:
    """Tell whether what looks like noise counts as ripples that hide a trend.

    Parameters
    ----------
    looks_noisy : bool
        Whether `sees_noise` is true, or was with so many points that the portfolio's prior no
        longer keeps lengthscales from being short (`boring.loop.portfolio.SURE_UNTIL`).
    dim : int
        D.
    noise_std : float or None
        Known standard deviation of the noise; where there is some, noise is noise.
    """
    return looks_noisy and SEVERAL_INPUTS <= dim < MANY_INPUTS and not noise_std


def kind_before_local(number: int, noisy: bool) -> str:
    """Return "portfolio" or "plain": whose turn it is as long as there is no local model."""
    return BEFORE_LOCAL_IN_NOISE[number % 2] if noisy else "portfolio"


def speaker(kind: str, turn: int, n: int, dim: int, rugged: bool = False) -> str:
    """Return who speaks at a turn in the whole box: of many inputs often the plain process.

    Parameters
    ----------
    kind : str
        Whose turn it is; only the portfolio's are shared.
    turn : int
        Number of turns in the whole box so far; of a rugged objective, of shared ones.
    n : int
        Number of points told.
    dim : int
        D.
    rugged : bool, default False
        See `is_rugged`.
    """
    is_shared = rugged or (dim >= MANY_INPUTS and n >= TELLING_POINTS)
    return "plain" if kind == "portfolio" and is_shared and turn % 2 == 0 else kind


def spread_of_first(y: FloatArray, n_first: int) -> float:
    """Return the median shortfall of the first values against the incumbent, y as it came.

    Parameters
    ----------
    y : ndarray, shape (n,)
        Larger is better.
    n_first : int
    """
    return float(np.median(y.max() - y[:n_first])) or 1.0


def has_settled(memory: Mapping[str, Any] | None, spread: float, dim: int) -> bool:
    """Tell whether a local model (its memory) expects next to nothing, or keeps failing."""
    if memory and memory.get("promised", np.inf) < SETTLED_PROMISE * spread:
        return True
    return _is_small(memory, SETTLED_RADIUS ** patience(dim), SETTLED_GAIN * spread)


def kind_of_turn(
    number: int,
    X: FloatArray,
    y: FloatArray,
    memory: Mapping[str, Any] | None,
    spread: float,
    noisy: bool = False,
    leads: str | None = None,
) -> str:
    """Return "portfolio", "plain", "local" or "fresh start".

    Parameters
    ----------
    number : int
        Of the evaluation.
    X : ndarray, shape (n, D), scaled units
    y : ndarray, shape (n,)
        Larger is better.
    memory : mapping or None
        Of the local model at the incumbent.
    spread : float
        See `spread_of_first`.
    noisy : bool, default False
        See `sees_noise`.
    leads : str, optional
        The search that gains most (`boring.loop.credit.leader`); heard in noise alone.
    """
    if noisy and leads is not None:
        return turn_of(number, leads)
    if memory and not noisy and memory["streak"] < LONGEST_STREAK and goes_on(X, y, memory):
        return "local"
    cycle = _cycle(y, memory, spread, X.shape[1], noisy)
    kind = cycle[number % len(cycle)]
    if kind == "local" and memory and not noisy and _has_had_its_streak(memory, len(y)):
        others = [other for other in cycle if other != "local"]
        return others[(number - int(memory["steps"])) % len(others)]
    return kind


def _has_had_its_streak(memory: Mapping[str, Any], n: int) -> bool:
    """Tell whether the last of n values ended a streak of good local steps."""
    return bool(memory["streak"] >= LONGEST_STREAK and n == memory["n"] + 1)


def _cycle(
    y: FloatArray, memory: Mapping[str, Any] | None, spread: float, dim: int, noisy: bool
) -> tuple[str, ...]:
    """Return the kinds that take turns, in order, given how far the local model has come."""
    if not memory:
        return SEARCHING_IN_NOISE if noisy else SEARCHING
    has_tried = memory["steps"] >= STEPS_PER_DIMENSION * dim
    settled = has_tried and has_settled(memory, spread, dim)
    if noisy:
        return SETTLED_IN_NOISE if settled else SEARCHING_IN_NOISE
    digits = DEEP_GAIN * spread
    if memory["gain"] < digits and float(y.max()) <= float(memory["best"]) + digits:
        return POLISHED
    if not settled:
        return FAILING if memory.get("failures", 0) >= FAILURES_IN_A_ROW else SEARCHING
    is_failing = memory.get("failures", 0) >= FAILURES_IN_A_ROW
    lost = is_failing and memory["radius"] < DEEP_RADIUS ** patience(dim)
    return DEEP if lost or memory["gain"] < digits else SETTLED


def _is_small(memory: Mapping[str, Any] | None, radius: float, gain: float) -> bool:
    """Tell whether a local model's region or its expected gain is below these."""
    return bool(memory and (memory["radius"] < radius or memory["gain"] < gain))
