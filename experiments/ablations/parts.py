"""The parts of the default loop, each as a change that takes it away or moves it.

A part is a name and its changes: ``options`` of :class:`boring.loop.algorithm.BoringOptimizer`, and
``constants`` by their full names. A name that one module imports from another has to be changed in
the module that uses it. What is changed must exist, or the command says so before any run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from boring.acquisition.maximizer import MaximizerResult, maximize_acquisition
from boring.exceptions import UnknownNameError
from boring.loop.schedule import DEEP, SEARCHING
from boring.models.priors import Gaussian, dimension_scaled, hvarfner
from boring.subspace.nearby import NearbyFactors, learn_nearby_factors
from boring.typing import FloatArray
from boring.validation import suggest
from boring.warping import log_warp, standardize
from experiments.variants import Variant

__all__ = ["DEFAULT", "PARTS", "part", "parts_of"]

DEFAULT = Variant("boring", "boring")
"""What every part is compared with."""


def half_as_long(dim: int) -> Gaussian:
    """Return the lengthscale prior around half the default length."""
    return dimension_scaled(dim, center=0.35)


def twice_as_long(dim: int) -> Gaussian:
    """Return the lengthscale prior around twice the default length."""
    return dimension_scaled(dim, center=1.4)


def open_gate(X: FloatArray, y: FloatArray, memory: Mapping[str, Any]) -> float:
    """Return a score that always lets the subspace have its turn."""
    del X, y, memory
    return 1.0


def closed_gate(X: FloatArray, y: FloatArray, memory: Mapping[str, Any]) -> float:
    """Return a score that never lets the subspace have its turn."""
    del X, y, memory
    return -1.0


def without_hops(*arguments: Any, **named: Any) -> NearbyFactors | None:
    """Return what the points around the incumbent show without hops."""
    return learn_nearby_factors(*arguments, **{**named, "n_hops": 0})


def no_directions(memory: Mapping[str, Any]) -> None:
    """Return that the neighbourhood of the incumbent has shown no directions."""
    del memory


def score_all(memory: Mapping[str, Any], x: FloatArray) -> Mapping[str, Any]:
    """Return the memory as it is: the local model's points count in the gate too."""
    del x
    return memory


def without_polish(*arguments: Any, **named: Any) -> MaximizerResult:
    """Return the best candidate, without following its gradient."""
    return maximize_acquisition(*arguments, **{**named, "max_iterations": 0})


def from_one_start(*arguments: Any, **named: Any) -> MaximizerResult:
    """Return what following the gradient from the best candidate alone finds."""
    return maximize_acquisition(*arguments, **{**named, "n_starts": 1})


def from_eight_starts(*arguments: Any, **named: Any) -> MaximizerResult:
    """Return what following the gradient from eight candidates finds."""
    return maximize_acquisition(*arguments, **{**named, "n_starts": 8})


def part(
    name: str,
    options: Mapping[str, Any] | None = None,
    constants: Mapping[str, Any] | None = None,
) -> Variant:
    """Return a changed default, to be recorded under the name of the part."""
    return Variant(name, DEFAULT.method, options or {}, constants or {})


def _lengthscales(prior: object) -> dict[str, object]:
    places = (
        "portfolio.dimension_scaled",
        "portfolio.shared_lengthscale",
        "subspace_turn.dimension_scaled",
    )
    return {f"boring.loop.{place}": prior for place in places}


def _noise(center: float) -> dict[str, object]:
    prior = Gaussian(center, 2.0)
    return {f"boring.loop.{module}.NOISE_PRIOR": prior for module in ("portfolio", "subspace_turn")}


_MEMBERS = "boring.loop.portfolio.MEMBER_NAMES"
_MAXIMIZER = "boring.box_search.maximize_acquisition"

PARTS: tuple[Variant, ...] = (
    part("warp none", constants={"boring.loop.algorithm.half_rank_warp": standardize}),
    part("warp log", constants={"boring.loop.algorithm.half_rank_warp": log_warp}),
    part("only iso", constants={_MEMBERS: ("iso",)}),
    part("without ard", constants={_MEMBERS: ("iso", "metric", "mixed")}),
    part("without metric", constants={_MEMBERS: ("iso", "ard", "mixed")}),
    part("without mixed", constants={_MEMBERS: ("iso", "ard", "metric")}),
    part("one speaker", constants={"boring.loop.portfolio.MAX_SPEAKERS": 1}),
    part("score decay 0.8", constants={"boring.loop.portfolio.SCORE_DECAY": 0.8}),
    part("score decay 1", constants={"boring.loop.portfolio.SCORE_DECAY": 1.0}),
    part("min weight 0", constants={"boring.loop.portfolio.MIN_WEIGHT": 0.0}),
    part("min weight 0.4", constants={"boring.loop.portfolio.MIN_WEIGHT": 0.4}),
    part("no subspace", {"subspace_every": 0}),
    part("no subspace turns", constants={"boring.loop.subspace_turn.update_gate": closed_gate}),
    part("no learned directions", constants={"boring.loop.local_metric.MOST_INPUTS": 0}),
    part(
        "directions without hops",
        constants={"boring.loop.local_metric.learn_nearby_factors": without_hops},
    ),
    part("directions never settle", constants={"boring.subspace.nearby.SETTLED_SHARE": -1.0}),
    part("directions of a tenth", constants={"boring.loop.local_metric.PASSIVE_SCALE": 0.1}),
    part("no passive draws", constants={"boring.loop.algorithm.nearby_factors": no_directions}),
    part("subspace from 25", {"subspace_from": 25}),
    part("subspace every 3", {"subspace_every": 3}),
    part("no local model", {"local_from": 0}),
    part("no fresh starts", {"fresh_starts": False}),
    part(
        "isotropic alone",
        {"subspace_every": 0, "local_from": 0},
        {_MEMBERS: ("iso",)},
    ),
    part("no streaks", constants={"boring.loop.schedule.LONGEST_STREAK": 0}),
    part("no stepping back", constants={"boring.loop.schedule.FAILURES_IN_A_ROW": 10**9}),
    part("no steps to the bound", constants={"boring.loop.local_turn.CLOSE_RADIUS": 0.0}),
    part("steps to the bound at once", constants={"boring.loop.local_turn.CLOSE_RADIUS": 2.0}),
    part("steps to the mean", constants={"boring.loop.local_turn.CAUTION": 0.0}),
    part("far points near the end", constants={"boring.loop.local_turn.LEAST_CLOSE_POINTS": 10**6}),
    part("promises unheeded", constants={"boring.loop.schedule.SETTLED_PROMISE": 0.0}),
    part("settled at any step", constants={"boring.loop.schedule.STEPS_PER_DIMENSION": 0.0}),
    part("noise unheeded", constants={"boring.loop.schedule.NOISY": float("inf")}),
    part(
        "no plain turns",
        constants={
            "boring.loop.schedule.BEFORE_LOCAL_IN_NOISE": ("portfolio", "portfolio"),
            "boring.loop.schedule.SEARCHING_IN_NOISE": SEARCHING,
            "boring.loop.schedule.SETTLED_IN_NOISE": ("local", *SEARCHING, "fresh start"),
            "boring.loop.credit.COMPETITORS": SEARCHING,
        },
    ),
    part(
        "portfolio alone",
        constants={
            "boring.loop.schedule.MANY_INPUTS": 10**9,
            "boring.loop.schedule.SEVERAL_INPUTS": 10**9,
        },
    ),
    part("rugged is smooth", constants={"boring.loop.schedule.SEVERAL_INPUTS": 10**9}),
    part("short lengthscales allowed", constants={"boring.loop.portfolio.SURE_UNTIL": 0}),
    part("short lengthscales never", constants={"boring.loop.portfolio.SURE_UNTIL": 10**9}),
    part("no credit", constants={"boring.loop.credit.WORTH": float("inf")}),
    part("impatient in noise", constants={"boring.loop.trust_region.PATIENCE_IN_NOISE": 1.0}),
    part("local noise unsought", constants={"boring.loop.local_turn.NOISE_EVIDENCE": float("inf")}),
    part("polishing for ever", constants={"boring.loop.schedule.POLISHED": DEEP}),
    part("shrink in full", constants={"boring.loop.trust_region.SHRINK_IN_FULL": 10**9}),
    part("local points scored", constants={"boring.loop.algorithm.without_score": score_all}),
    part(
        "four local points per dimension",
        constants={"boring.loop.local_turn.POINTS_PER_DIMENSION": 4},
    ),
    part("ungated", constants={"boring.loop.subspace_turn.update_gate": open_gate}),
    part("relearn always", constants={"boring.loop.subspace_turn.RELEARN_GROWTH": 1.0}),
    part("relearn at 1.5", constants={"boring.loop.subspace_turn.RELEARN_GROWTH": 1.5}),
    part("initial 5", {"n_initial": 5}),
    part("initial 20", {"n_initial": 20}),
    part("no gradient polish", constants={_MAXIMIZER: without_polish}),
    part("one start", constants={_MAXIMIZER: from_one_start}),
    part("eight starts", constants={_MAXIMIZER: from_eight_starts}),
    part("noise prior -4", constants=_noise(-4.0)),
    part("noise prior -10", constants=_noise(-10.0)),
    part("lengthscales halved", constants=_lengthscales(half_as_long)),
    part("lengthscales doubled", constants=_lengthscales(twice_as_long)),
    part("lengthscales of Hvarfner", constants=_lengthscales(hvarfner)),
)
"""Edit freely: the name is the key in the records, so a changed part needs another name or file."""


def parts_of(names: Sequence[str]) -> tuple[Variant, ...]:
    """Return parts by name; none stands for all.

    Raises
    ------
    UnknownNameError
        If there is no part of that name; the message suggests the nearest.
    """
    known = {one.name: one for one in PARTS}
    for name in names:
        if name not in known:
            raise UnknownNameError(f"There is no part {name!r}. {suggest(name, known)}")
    return tuple(known[name] for name in names) if names else PARTS
