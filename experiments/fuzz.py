"""Tell optimisers anything, and look whether they go on asking sound questions.

    python -m experiments.fuzz --tells 10000 --output results/fuzz.jsonl

A scenario is a random space (reals, logarithms, steps, integers, ordinals, categories, conditional
parameters, known constraints), an optimiser, and a random sequence of tells, failures, withdrawals
and asks, whose values follow one of the `REGIMES`: from 1e-300 to 1e300, constant, NaN, infinite.
It is right if no call raises anything but `SpaceExhaustedError` where nothing is left indeed, numpy
does not warn, and every suggestion lies in the space, keeps its known constraints and is new.
Scenarios follow from their seeds: a file of results is carried on, and a failure is run again with
``--seed``.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import baselines
from boring.exceptions import BoringWarning, SpaceExhaustedError
from boring.parameters import Categorical, Fixed, Integer, Ordinal, ParameterSpace, Real
from boring.parameters.base import Parameter
from boring.study import Study
from experiments.arguments import non_negative, positive
from experiments.lines import append_line, read_lines

__all__ = ["OPTIMIZERS", "REGIMES", "Fault", "Scenario", "run_scenario"]

OPTIMIZERS = ("boring", "gp", "rembo")
assert baselines.DISTRIBUTION  # registers the names

HUGE = float(np.finfo(float).max)
MANY = 3000
"""Points of a finite space that are counted, to check that it is exhausted indeed."""


class Fault(AssertionError):
    """What a scenario did not expect."""


def _sizes(low: float, high: float) -> Callable[[np.random.Generator, float], float]:
    def value(rng: np.random.Generator, smooth: float) -> float:
        del smooth
        return float(rng.choice([-1.0, 1.0]) * 10.0 ** rng.uniform(low, high))

    return value


REGIMES: dict[str, Callable[[np.random.Generator, float], float]] = {
    "smooth": lambda rng, smooth: smooth,
    "noisy": lambda rng, smooth: smooth + float(rng.standard_normal()),
    "huge": lambda rng, smooth: smooth * 1e300,
    "largest": lambda rng, smooth: float(np.clip(smooth, -1.0, 1.0)) * HUGE,
    "tiny": lambda rng, smooth: smooth * 1e-300,
    "subnormal": lambda rng, smooth: smooth * 1e-320,
    "any size": _sizes(-300.0, 300.0),
    "some sizes": _sizes(-9.0, 9.0),
    "constant": lambda rng, smooth: 3.25,
    "zero": lambda rng, smooth: 0.0,
    "nearly constant": lambda rng, smooth: 1.0 + float(rng.integers(0, 3)) * 2.0**-52,
    "few levels": lambda rng, smooth: float(rng.integers(0, 3)),
    "offset": lambda rng, smooth: 1e15 + smooth,
    "one outlier": lambda rng, smooth: 1e300 if rng.uniform() < 0.05 else smooth,
    "minus outliers": lambda rng, smooth: -1e300 if rng.uniform() < 0.2 else smooth,
    "not a number": lambda rng, smooth: math.nan if rng.uniform() < 0.6 else smooth,
    "never a number": lambda rng, smooth: math.nan,
    "infinite": lambda rng, smooth: (
        float(rng.choice([math.inf, -math.inf])) if rng.uniform() < 0.3 else smooth
    ),
}


def random_space(rng: np.random.Generator) -> ParameterSpace:
    """Return a space of one to seven parameters."""
    kind = rng.choice(["box", "mixed", "lattice"], p=[0.25, 0.5, 0.25])
    n = int(rng.integers(1, 8))
    parameters: list[Parameter] = [_parameter(rng, f"p{i}", str(kind)) for i in range(n)]
    if kind == "mixed" and rng.uniform() < 0.6:
        parameters.append(Categorical("switch", ["on", "off", None]))
        parameters.append(Real("depending", -1.0, 3.0, when="switch == 'on'"))
        parameters.append(
            Integer("far", 1, 4, when="switch == 'on' and depending > 0")
            if rng.uniform() < 0.5
            else Integer("other", 1, 4, when="switch != 'on'")
        )
    if rng.uniform() < 0.3:
        parameters.append(Fixed("fixed", {"a": 1}))
    space = ParameterSpace(parameters)
    if rng.uniform() < 0.4:
        space = ParameterSpace(parameters, constraints=_known_constraints(rng, space))
    return space


def _parameter(rng: np.random.Generator, name: str, kind: str) -> Parameter:
    draws: list[Callable[[], Parameter]] = [
        lambda: Real(name, -5.0, 10.0),
        lambda: Real(name, 1e-300, 1e300, log=True),
        lambda: Real(name, 0.001, 7.0, log=True),
        lambda: Real(name, -1e300, 1e-3),
        lambda: Real(name, 0.0, 1e-300),
        lambda: Integer(name, -3, int(rng.choice([-2, 4, 10**6]))),
        lambda: Integer(name, 1, 2**40, log=True),
        lambda: Real(name, 0.0, 1.0, step=float(rng.choice([0.1, 0.25]))),
        lambda: Ordinal(name, ["small", "medium", 7]),
        lambda: Categorical(name, ["a", "b", True, None][: int(rng.integers(2, 5))]),
    ]
    first, last = {"box": (0, 5), "mixed": (0, 10), "lattice": (5, 10)}[kind]
    return draws[int(rng.integers(first, last))]()


def _known_constraints(rng: np.random.Generator, space: ParameterSpace) -> list[str]:
    """Return one or two constraints that hold at a random point."""
    numeric = [
        p.name
        for p in space.parameters.values()
        if p.when is None and isinstance(p, (Real, Integer))
    ]
    inside = space.decode(space.snap(rng.uniform(-1.0, 1.0, (1, space.dim))))[0]
    found = []
    for name in rng.permutation(numeric)[:2]:
        sign = "<=" if rng.uniform() < 0.5 else ">="
        found.append(f"{name} {sign} {inside[name]!r}")
    if len(numeric) > 1 and rng.uniform() < 0.5:
        one, two = rng.permutation(numeric)[:2]
        limit = inside[one] / 4.0 + inside[two] / 4.0
        found = [f"{one} / 4 + {two} / 4 <= {limit!r}"]
    return found


@dataclass
class Scenario:
    """One random sequence of calls.

    Parameters
    ----------
    seed : int
        Fixes everything but the optimiser.
    optimizer : str
    n_tells : int
    """

    seed: int
    optimizer: str
    n_tells: int
    n_asks: int = field(default=0, init=False)
    description: dict[str, Any] = field(default_factory=dict, init=False)

    def run(self) -> None:
        """Raise Fault, or what a call raised, if anything is not right."""
        rng = np.random.default_rng(self.seed)
        space = random_space(rng)
        self.n_constraints = int(rng.choice([0, 0, 1, 3]))
        self.regimes = [str(r) for r in rng.permutation(list(REGIMES))[: int(rng.integers(1, 3))]]
        self.scales = 10.0 ** rng.uniform(-300.0, 300.0, self.n_constraints)
        repeats = bool(rng.uniform() < 0.1) and not space.domain.is_plain
        direction = "minimize" if rng.uniform() < 0.5 else "maximize"
        noise = float(10.0 ** rng.uniform(-8, 2)) if rng.uniform() < 0.15 else None
        self.description = {
            "space": space.to_dict(),
            "n_constraints": self.n_constraints,
            "regimes": self.regimes,
            "repeats": repeats,
            "direction": direction,
            "noise_std": noise,
        }
        self.rng, self.space, self.repeats = rng, space, repeats
        more: dict[str, Any] = {"repeats": True} if repeats else {}
        if rng.uniform() < 0.7:
            more["n_initial"] = int(rng.integers(1, 8))
        self.study = Study(
            space,
            direction=direction,  # type: ignore[arg-type]
            optimizer=self.optimizer,
            seed=self.seed,
            n_constraints=self.n_constraints,
            noise_std=noise if self.optimizer == "boring" else None,
            **more,
        )
        self.slope = rng.standard_normal(space.dim)
        self.known: dict[str, int] = {}
        self.told: list[dict[str, Any]] = []
        self.withdrawn: list[int] = []
        ask_share = float(rng.choice([0.02, 0.05, 0.15]))
        while self.study.status().n_told < self.n_tells:
            if rng.uniform() < ask_share or (not self.told and not self.study.outstanding):
                self._ask()
            else:
                self._tell()
        self._ask()
        self._check_account()

    def _ask(self) -> None:
        n = int(self.rng.choice([1, 1, 1, 2, 3]))
        before = [s.number for s in self.study.outstanding]
        exhausted = False
        try:
            suggestions = self.study.ask(n)
        except SpaceExhaustedError:
            exhausted = True
            after = self.study.outstanding
            suggestions = [s for s in after if s.number not in before]
            if not suggestions and not self.told:
                self._record_new()
        self.n_asks += len(suggestions)
        for suggestion in suggestions:
            if suggestion.number in before:
                raise Fault(f"number {suggestion.number} was given twice")
            configuration = self.space.check(suggestion.parameters, constraints=True)
            key = _key(configuration)
            if key in self.known and not self.repeats:
                raise Fault(f"suggested again: {configuration}")
            self.known[key] = suggestion.number
        if exhausted:
            self._check_exhausted()

    def _tell(self) -> None:
        rng, study = self.rng, self.study
        outstanding = study.outstanding
        what = rng.uniform()
        if outstanding and what < 0.1:
            chosen = outstanding[int(rng.integers(len(outstanding)))]
            study.withdraw(chosen.number)
            self.known.pop(_key(chosen.parameters), None)
            self.withdrawn.append(chosen.number)
            return
        if outstanding and what < 0.6:
            chosen = outstanding[int(rng.integers(len(outstanding)))]
            self._tell_value(chosen.number, chosen.parameters)
        elif self.told and what < 0.7:
            again = self.told[int(rng.integers(len(self.told)))]
            self._tell_value(again, again)
        elif self.withdrawn and what < 0.73:
            number = self.withdrawn.pop()
            self._tell_value(number, self._configuration(number))
        else:
            self._record_new()

    def _record_new(self) -> None:
        """Tell a point that nobody asked for; it may break known constraints."""
        U = self.rng.uniform(-1.0, 1.0, (1, self.space.dim))
        if self.rng.uniform() < 0.1:
            U = np.sign(U)
        elif self.told and self.rng.uniform() < 0.3:
            near = self.space.encode(self.told[-1])
            U = np.clip(near + 10.0 ** self.rng.uniform(-12, 0) * U, -1.0, 1.0)
        configuration = self.space.decode(self.space.snap(U))[0]
        self._tell_value(configuration, configuration)

    def _configuration(self, number: int) -> dict[str, Any]:
        x = self.study.optimizer.result().X  # an account at any time must not raise
        del x
        ask = self.study.optimizer.history.asks[number]
        return self.space.decode(ask.x[None])[0]

    def _tell_value(self, what: Any, configuration: dict[str, Any]) -> None:
        rng = self.rng
        u = self.space.encode(configuration)[0]
        with np.errstate(all="ignore"):
            smooth = float(np.cos(3.0 * u @ self.slope) + u[0])
            regime = self.regimes[int(rng.integers(len(self.regimes)))]
            y = float(np.float64(REGIMES[regime](rng, smooth)))
        if rng.uniform() < 0.07:
            self.study.tell_failed(what, "no light")
        else:
            self.study.tell(what, y, self._constraint_values(u, y))
        self.told.append(configuration)
        self.known.setdefault(_key(configuration), -1)

    def _constraint_values(self, u: np.ndarray, y: float) -> list[float] | None:
        if not self.n_constraints or (not math.isfinite(y) and self.rng.uniform() < 0.5):
            return None
        with np.errstate(all="ignore"):
            values = self.scales * np.sin(np.arange(1, self.n_constraints + 1) * 2.0 * u.sum())
        strange = self.rng.uniform(size=values.size) < 0.05
        values[strange] = self.rng.choice([math.nan, math.inf, -math.inf, 0.0], int(strange.sum()))
        return [float(v) for v in values]

    def _check_exhausted(self) -> None:
        everything = _all_configurations(self.space)
        if everything is None:
            raise Fault("a space with more points than could be told is called exhausted")
        left = [c for c in everything if _key(c) not in self.known]
        if left and not self.repeats:
            raise Fault(f"called exhausted, but {len(left)} points are left, such as {left[0]}")

    def _check_account(self) -> None:
        """Compare the best value with a search through all."""
        rows = self.study.rows()
        good = [row["value"] for row in rows if row["status"] == "ok"]
        best = self.study.best
        wanted = (min if self.study.direction == "minimize" else max)(good, default=None)
        if (None if best is None else best["value"]) != wanted:
            raise Fault(f"the best value is {wanted!r}, the study says {best!r}")
        self.study.result()


def _key(configuration: dict[str, Any]) -> str:
    return json.dumps(configuration, sort_keys=True)


def _all_configurations(space: ParameterSpace) -> list[dict[str, Any]] | None:
    """Return all allowed configurations of a small finite space; None of any other."""
    columns = []
    for parameter in space.parameters.values():
        n = parameter.n_values
        if parameter.n_columns == 0:
            continue
        if n is None or n > MANY:
            return None
        columns.append(_places(parameter, n))
    if math.prod(len(column) for column in columns) > MANY:
        return None
    points = [np.concatenate(row) for row in itertools.product(*columns)]
    U = space.snap(np.array(points))
    found = {
        _key(c): c for c, good in zip(space.decode(U), space.domain.allowed(U), strict=True) if good
    }
    return list(found.values())


def _places(parameter: Parameter, n: int) -> list[np.ndarray]:
    if isinstance(parameter, (Ordinal, Categorical)):
        return list(parameter.encode(list(parameter.choices)))
    places = parameter.snap(np.linspace(-1.0, 1.0, 20 * n)[:, None])
    return list(np.unique(places, axis=0))


def run_scenario(scenario: Scenario) -> dict[str, Any]:
    """Return what became of a scenario, as JSON."""
    start = time.process_time()
    error = None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", BoringWarning)
        try:
            scenario.run()
        except Exception:
            error = traceback.format_exc()
    return {
        "seed": scenario.seed,
        "optimizer": scenario.optimizer,
        "n_tells": scenario.study.status().n_told if hasattr(scenario, "study") else 0,
        "n_asks": scenario.n_asks,
        "seconds": round(time.process_time() - start, 2),
        "error": error,
        **({} if error is None else scenario.description),
    }


def scenarios(seeds: Iterator[int], optimizers: Sequence[str]) -> Iterator[Scenario]:
    """Return scenarios without end, of 5 to 120 tells."""
    for seed in seeds:
        n_tells = int(np.exp(np.random.default_rng([seed, 1]).uniform(np.log(5), np.log(120))))
        yield Scenario(seed, optimizers[seed % len(optimizers)], n_tells)


def main(argv: Sequence[str] | None = None) -> int:
    """Run scenarios until there are enough tells."""
    parser = argparse.ArgumentParser(prog="python -m experiments.fuzz", description=__doc__)
    parser.add_argument("--tells", type=positive, default=10000)
    parser.add_argument("--seconds", type=float, default=math.inf, help="stop after so many")
    parser.add_argument("--output", type=Path, default=Path("results/fuzz.jsonl"))
    parser.add_argument(
        "--seed", type=non_negative, help="run this scenario alone, with its traceback"
    )
    parser.add_argument("--first", type=non_negative, default=0, help="seed of the first scenario")
    parser.add_argument("--optimizers", nargs="+", default=list(OPTIMIZERS))
    arguments = parser.parse_args(argv)
    if arguments.seed is not None:
        record = run_scenario(next(scenarios(iter([arguments.seed]), arguments.optimizers)))
        print(record.pop("error") or "no fault")
        print(json.dumps(record))
        return 0
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    records = read_lines(arguments.output)
    end = time.monotonic() + arguments.seconds
    first = 1 + max((record["seed"] for record in records), default=arguments.first - 1)
    for scenario in scenarios(itertools.count(first), arguments.optimizers):
        told = sum(record["n_tells"] for record in records)
        if told >= arguments.tells or time.monotonic() > end:
            break
        records.append(run_scenario(scenario))
        append_line(arguments.output, records[-1])
    faults = [record for record in records if record["error"]]
    print(
        f"{sum(record['n_tells'] for record in records)} tells, "
        f"{sum(record['n_asks'] for record in records)} suggestions in {len(records)} scenarios; "
        f"{len(faults)} faults"
    )
    for record in faults:
        print(record["optimizer"], record["seed"], record["error"].strip().splitlines()[-1])
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
