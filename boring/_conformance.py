"""The named checks of :func:`boring.testing.check_optimizer`.

Each takes a factory and raises AssertionError. Budgets are small: five dimensions at most, a
design of four points, a few proposals.
"""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
import warnings
from collections.abc import Callable, Iterator
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from .exceptions import (
    BoringWarning,
    ConstantObjectiveWarning,
    DuplicatePointWarning,
    NonFiniteWarning,
    UnknownNameError,
)
from .optimizer import Optimizer
from .space import Box
from .typing import FloatArray

OptimizerMaker: TypeAlias = Callable[..., Optimizer]

N_INITIAL = 4
N_EVALUATIONS = 7
_BOX = Box([-1.0, 0.0, 10.0], [2.0, 0.5, 30.0])


def smooth(x: FloatArray) -> float:
    """Return a smooth function of a point of the box, least inside it."""
    u = _BOX.scale(x)
    return float((u[0] - 0.3) ** 2 + 0.5 * (u[1] + u[2]) ** 2 + np.sin(3.0 * u[0]))


def _make(make: OptimizerMaker, space: Any = _BOX, **changes: Any) -> Optimizer:
    arguments = {"direction": "minimize", "n_initial": N_INITIAL, "seed": 5, **changes}
    return make(space, **arguments)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Let warnings of the library pass; they are not what the check is about."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BoringWarning)
        yield


def _drive(optimizer: Optimizer, n: int, fun: Callable[[FloatArray], float] = smooth) -> Optimizer:
    for _ in range(n):
        x = optimizer.ask()[0]
        optimizer.tell(x, fun(x))
    return optimizer


class RunOnce:
    """A factory whose run with nothing changed is made once, for all checks that compare with it.

    Parameters
    ----------
    make : callable
        The factory.
    """

    def __init__(self, make: OptimizerMaker) -> None:
        self._make = make

    @classmethod
    def of(cls, make: OptimizerMaker) -> RunOnce:
        """Return the factory wrapped, or as it is if it is wrapped already."""
        return make if isinstance(make, cls) else cls(make)

    def __call__(self, *arguments: Any, **options: Any) -> Optimizer:
        """Return what the factory makes."""
        return self._make(*arguments, **options)

    @cached_property
    def plain_run(self) -> Optimizer:
        """The optimiser after the run; only to be read."""
        return _drive(_make(self), N_EVALUATIONS)


def _plain_run(make: OptimizerMaker) -> Optimizer:
    """Return an optimiser after the run with nothing changed; only to be read."""
    return RunOnce.of(make).plain_run


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise AssertionError(message)


def shapes_and_bounds(make: OptimizerMaker) -> None:
    """Asked points have shape (n, D), lie in the box, and results are in the caller's units."""
    with _quiet():
        optimizer = _make(make)
        for n in (1, 1, 1, 1, 1, 2):
            points = optimizer.ask(n)
            _require(points.shape == (n, 3), f"ask({n}) has shape {points.shape}")
            _require(points.dtype == np.float64, f"ask has dtype {points.dtype}")
            _require(bool(_BOX.contains(points).all()), f"{points} leaves the box")
            optimizer.tell(points, [smooth(x) for x in points])
        result = optimizer.result()
    _require(result.X.shape == (7, 3), f"X has shape {result.X.shape}")
    _require(result.y_best == min(map(smooth, result.X)), "y_best is not the least value told")
    _require(smooth(result.x_best) == result.y_best, "x_best does not have the value y_best")
    _require(not result.X.flags.writeable, "X of a result is writeable")


def ask_is_repeatable(make: OptimizerMaker) -> None:
    """Asking again without telling returns the same points; more may follow them."""
    with _quiet():
        optimizer = _drive(_make(make), N_INITIAL + 1)
        first = optimizer.ask()
        _require(np.array_equal(first, optimizer.ask()), "ask() twice differs")
        more = optimizer.ask(3)
        _require(np.array_equal(more[:1], first), "ask(3) does not begin with the pending point")
        _require(len(np.unique(more, axis=0)) == 3, "pending points coincide")
        optimizer.tell(more[1], smooth(more[1]))
        _require(np.array_equal(optimizer.pending, more[[0, 2]]), "tell cleared the wrong point")


def same_seed_same_run(make: OptimizerMaker) -> None:
    """Require the same run from the same seed, and another from another."""
    with _quiet():
        first = _plain_run(make).history.X
        second = _drive(_make(make), N_EVALUATIONS).history.X
        _require(np.array_equal(first, second), "the same seed gave different points")
        other = _make(make, seed=6)
        while other.n_told < N_EVALUATIONS:
            _drive(other, 1)
            if not np.array_equal(first[: other.n_told], other.history.X):
                return  # No need to go on.
    raise AssertionError("different seeds gave the same points")


def resumes_from_state(make: OptimizerMaker) -> None:
    """Rebuild an optimiser from JSON before every step; it must equal one that lives on."""
    with _quiet():
        whole = _plain_run(make)
        rebuilt = _make(make)
        for _ in range(N_EVALUATIONS):
            rebuilt = _rebuild(rebuilt)
            x = rebuilt.ask()[0]
            rebuilt = _rebuild(rebuilt)
            rebuilt.tell(x, smooth(x))
    _require(rebuilt.state() == whole.state(), "the rebuilt run differs from the whole one")


def _rebuild(optimizer: Optimizer) -> Optimizer:
    state = optimizer.state()
    read = type(state).from_json(state.to_json())
    _require(read == state, "the state changed on its way through JSON")
    return type(optimizer).from_state(read)


def resumes_from_journal(make: OptimizerMaker) -> None:
    """Resume an optimiser from its journal before every step; it must equal one that lives on."""
    with _quiet(), tempfile.TemporaryDirectory() as folder:
        whole = _plain_run(make)
        path = Path(folder) / "run.jsonl"
        resumed = _make(make).start_journal(path)
        for _ in range(N_EVALUATIONS):
            resumed = type(resumed).resume(path)
            x = resumed.ask()[0]
            resumed = type(resumed).resume(path)
            resumed.tell(x, smooth(x))
        _require(type(resumed).resume(path).state() == whole.state(), "the resumed run differs")


def run_is_ask_and_tell(make: OptimizerMaker) -> None:
    """``run`` is the loop of ask, evaluate and tell, in one go or in two."""
    with _quiet():
        by_hand = _plain_run(make)
        by_run = _make(make)
        by_run.run(smooth, 3, progress=False)
        result = by_run.run(smooth, N_EVALUATIONS - 3, progress=False)
    _require(by_hand.state() == by_run.state(), "run and ask/tell give different histories")
    _require(result.records == by_hand.result().records, "run and ask/tell differ in records")
    _require("n_evaluations" in result.stop_reason, f"stop_reason is {result.stop_reason}")


def directions_mirror(make: OptimizerMaker) -> None:
    """Minimising f and maximising -f visit the same points."""
    with _quiet():
        down = _plain_run(make).history
        optimizer = _make(make, direction="maximize")
        up = _drive(optimizer, N_EVALUATIONS, lambda x: -smooth(x)).result()
    _require(np.array_equal(down.X, up.X), "the points differ")
    _require(down.y.min() == -up.y_best, "the best values differ")


def units_of_values_do_not_matter(make: OptimizerMaker) -> None:
    """Values near the ends of the floats, here times 2^-1000 and 2^1000, give the same points."""
    with _quiet():
        plain = _plain_run(make).history
        for unit in (2.0**-1000, 2.0**1000):
            scaled = _drive(_make(make), N_EVALUATIONS, partial(_in_unit, unit)).history
            _require(np.array_equal(scaled.X, plain.X), f"the points differ in units of {unit}")


def _in_unit(unit: float, x: FloatArray) -> float:
    return unit * smooth(x)


def surrogate_is_of_the_objective(make: OptimizerMaker) -> None:
    """Take a surrogate, if there is one, at its word: raw inputs, the caller's units and sign."""
    # A lattice and powers of two, so that rounding does not tell the two runs apart.
    U = np.random.default_rng(0).integers(-8, 9, (16, 3)) / 8.0
    y = U @ [4.0, 2.0, 1.0]
    cube, box = Box([-1.0] * 3, [1.0] * 3), Box([-1.0, 0.0, 16.0], [3.0, 0.5, 32.0])
    offset, unit = 2.0**20, -(2.0**10)
    with _quiet():
        plain = _predicted(_make(make, cube), U, y)
        if plain is None:
            return
        other = _make(make, box, direction="maximize")
        odd = _predicted(other, box.unscale(U), offset + unit * y)
    if odd is None:
        raise AssertionError("there is a surrogate where values are minimised only")
    mean, variance = plain
    _require(mean.shape == variance.shape == y.shape, f"shapes {mean.shape}, {variance.shape}")
    _require(bool(np.all(variance >= 0.0)), f"the least variance is {variance.min()}")
    width, correlation = np.ptp(y), np.corrcoef(mean, y)[0, 1]
    _require(correlation > 0.5, f"means and values told have a correlation of {correlation:.2f}")
    near = np.abs(mean - 0.5 * (y.min() + y.max())) <= 0.75 * width
    _require(near.mean() > 0.75, f"{near.sum()} of {len(y)} means are near the values told")
    for name, found, wanted in (
        ("means", (odd[0] - offset) / unit, mean),
        ("standard deviations", np.sqrt(odd[1]) / abs(unit), np.sqrt(variance)),
    ):
        error = float(np.abs(found - wanted).max() / width)
        _require(error < 1e-3, f"{name} change with box, unit and direction by {error:.1g}")


def _predicted(
    optimizer: Optimizer, X: FloatArray, y: FloatArray
) -> tuple[FloatArray, FloatArray] | None:
    """Return what the surrogate says of told points, after a proposal."""
    optimizer.tell(X, y).ask()
    surrogate = optimizer.surrogate
    return None if surrogate is None else surrogate.predict(X)


def models_are_of_the_state(make: OptimizerMaker) -> None:
    """Surrogate and best by mean, told and asked, are those of an optimiser made from the state."""
    with _quiet():
        optimizer = _make(make)
        points = _BOX.sample(2 * N_INITIAL, np.random.default_rng(0))
        optimizer.tell(points, [smooth(x) for x in points])
        _shown(optimizer)  # What it keeps must not outlive the ask.
        optimizer.ask()
        again = type(optimizer).from_state(optimizer.state())
        for shown, anew in zip(_shown(optimizer), _shown(again), strict=True):
            _require(
                np.array_equal(shown, anew, equal_nan=True),
                f"the model says {shown}, made from the state {anew}",
            )


def _shown(optimizer: Optimizer) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return what an optimiser's model says of a point, and the best point by it."""
    surrogate, best = optimizer.surrogate, optimizer.best_by_mean
    middle = _BOX.unscale(np.zeros((1, _BOX.dim)))
    nothing = np.full(1, np.nan)
    mean, variance = (nothing, nothing) if surrogate is None else surrogate.predict(middle)
    return mean, variance, nothing if best is None else best.x


def survives_non_finite_values(make: OptimizerMaker) -> None:
    """NaN and infinities are recorded with a warning, and the search goes on."""
    values = iter([float("nan"), 1.0, float("inf"), 0.5, float("-inf"), 2.0, 0.1])
    optimizer = _make(make)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        _drive(optimizer, N_EVALUATIONS, lambda x: next(values))
        result = optimizer.result()
    n_warned = sum(issubclass(warning.category, NonFiniteWarning) for warning in caught)
    _require(n_warned == 3, f"{n_warned} NonFiniteWarnings for three values")
    _require(result.y_best == 0.1, f"y_best is {result.y_best}")
    _require(result.y.size == N_EVALUATIONS, "a value was lost")


def leaves_a_failing_region(make: OptimizerMaker) -> None:
    """Where the objective fails, twice is enough: the budget is not spent on one spot."""

    def wall(x: FloatArray) -> float:
        u = _BOX.scale(x)
        return float("nan") if u[0] > 0.0 else float(-u[0] - 0.3 * u[1])

    with _quiet():
        told = _drive(_make(make), 2 * N_EVALUATIONS, wall).history
    U = _BOX.scale(told.X)
    distances = np.abs(U[:, None, :] - U).max(axis=2)
    failed = ~np.isfinite(told.y)
    crowd = int((distances[np.ix_(failed, failed)] < 1e-3).sum(axis=1).max(initial=0))
    _require(crowd <= 3, f"{crowd} of {len(U)} points fail at one spot")


def survives_only_failures(make: OptimizerMaker) -> None:
    """With no finite value at all the search goes on and the result says so."""
    with _quiet():
        optimizer = _drive(_make(make), N_EVALUATIONS, lambda x: float("nan"))
        result = optimizer.result()
    _require(np.isnan(result.y_best), f"y_best is {result.y_best}")
    _require(len(np.unique(result.X, axis=0)) == N_EVALUATIONS, "points coincide")


def survives_duplicates(make: OptimizerMaker) -> None:
    """Tell a point twice: both values stay, with a warning, and the search goes on."""
    with _quiet():
        optimizer = _drive(_make(make), N_INITIAL)
    x = optimizer.history.X[0]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        optimizer.tell(x, smooth(x))
    _require(
        any(issubclass(warning.category, DuplicatePointWarning) for warning in caught),
        "no DuplicatePointWarning",
    )
    with _quiet():
        _drive(optimizer, 2)
    _require(optimizer.n_told == N_INITIAL + 3, "a value was lost")


def survives_a_constant(make: OptimizerMaker) -> None:
    """On a constant objective the search goes on, with one warning."""
    optimizer = _make(make)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        _drive(optimizer, N_EVALUATIONS, lambda x: 3.0)
    n_warned = sum(issubclass(warning.category, ConstantObjectiveWarning) for warning in caught)
    _require(n_warned == 1, f"{n_warned} ConstantObjectiveWarnings")
    X = optimizer.history.X
    _require(len(np.unique(X, axis=0)) == N_EVALUATIONS, "points coincide")


def works_in_one_dimension(make: OptimizerMaker) -> None:
    """D = 1 works."""
    with _quiet():
        optimizer = _make(make, [(-2.0, 3.0)])
        _drive(optimizer, N_EVALUATIONS, lambda x: float((x[0] - 1.0) ** 2))
        result, subspace = optimizer.result(), optimizer.subspace
    _require(result.X.shape == (N_EVALUATIONS, 1), f"X has shape {result.X.shape}")
    _require(subspace is None or subspace.effective_dim == 1, "the subspace is no line")


def works_on_a_tiny_budget(make: OptimizerMaker) -> None:
    """Three evaluations with the default design give a result."""
    with _quiet():
        optimizer = _make(make, n_initial=None)
        result = optimizer.run(smooth, 3, progress=False)
    _require(result.X.shape == (3, 3), f"X has shape {result.X.shape}")
    _require(np.isfinite(result.y_best), f"y_best is {result.y_best}")


def welcomes_told_points(make: OptimizerMaker) -> None:
    """Points that were not asked for count as initial design and leave pending ones alone."""
    with _quiet():
        optimizer = _make(make)
        points = _BOX.sample(N_INITIAL, np.random.default_rng(0))
        pending = optimizer.ask()
        optimizer.tell(points, [smooth(x) for x in points])
        _require(np.array_equal(optimizer.ask(), pending), "the pending point changed")
        _drive(optimizer, 3)
        phases = [record.phase for record in optimizer.result().records]
    _require(phases[:N_INITIAL] == ["told"] * N_INITIAL, f"phases are {phases}")
    _require(phases[-1] not in {"initial", "space-filling"}, f"phases are {phases}")


def leaves_global_state(make: OptimizerMaker) -> None:
    """Numpy's generator, warning filters and environment stay as they were; nothing is printed."""
    before, environment = _global_random_state(), dict(os.environ)
    output = io.StringIO()
    with _quiet():
        filters = list(warnings.filters)
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            optimizer = _drive(_make(make), N_EVALUATIONS)
            optimizer.result()
            _ = optimizer.subspace
        _require(list(warnings.filters) == filters, "the warning filters changed")
    _require(_global_random_state() == before, "numpy's global random state changed")
    _require(dict(os.environ) == environment, "the environment variables changed")
    _require(not output.getvalue(), f"it printed {output.getvalue()[:200]!r}")


def _global_random_state() -> tuple[Any, ...]:
    name, keys, *rest = np.random.get_state()  # noqa: NPY002 (it is what is checked)
    return (name, np.asarray(keys).tobytes(), *rest)


def refuses_unknown_options(make: OptimizerMaker) -> None:
    """Pass an unknown option: that is an error."""
    try:
        _make(make, no_such_option=1)
    except UnknownNameError:
        return
    raise AssertionError("an unknown option was accepted")


OPTIMIZER_CHECKS: dict[str, Callable[[OptimizerMaker], None]] = {
    check.__name__: check
    for check in (
        shapes_and_bounds,
        ask_is_repeatable,
        same_seed_same_run,
        resumes_from_state,
        resumes_from_journal,
        run_is_ask_and_tell,
        directions_mirror,
        units_of_values_do_not_matter,
        surrogate_is_of_the_objective,
        models_are_of_the_state,
        survives_non_finite_values,
        leaves_a_failing_region,
        survives_only_failures,
        survives_duplicates,
        survives_a_constant,
        works_in_one_dimension,
        works_on_a_tiny_budget,
        welcomes_told_points,
        leaves_global_state,
        refuses_unknown_options,
    )
}
"""The conformance checks by name."""
