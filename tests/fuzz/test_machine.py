"""A study driven by any sequence of calls, against a plain account of what must hold."""

import math
import warnings
from typing import ClassVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

import baselines  # noqa: F401
from boring.exceptions import InvalidInputError, SpaceExhaustedError
from boring.parameters import Categorical, Integer, Real
from boring.study import Study

SPACE = [
    Real("gain", 0.1, 10.0, log=True),
    Integer("layers", 1, 9),
    Categorical("kind", ["a", None, True]),
    Real("depth", -1.0, 1.0, when="kind == 'a'"),
]
CONSTRAINTS = ["gain * layers <= 40"]
VALUES = st.floats(allow_nan=True, allow_infinity=True)


class StudyMachine(RuleBasedStateMachine):
    optimizers: ClassVar[tuple[str, ...]] = ("sobol", "random")
    most_asks: ClassVar[int] = 4
    folder: ClassVar = None
    count: ClassVar[int] = 0

    @initialize(optimizer=st.integers(0, 1), seed=st.integers(0, 99), m=st.integers(0, 2))
    def start(self, optimizer, seed, m):
        from boring.parameters import ParameterSpace

        warnings.simplefilter("ignore")
        type(self).count += 1
        self.path = self.folder / f"{type(self).__name__}-{self.count}.jsonl"
        self.m = m
        self.study = Study(
            ParameterSpace(SPACE, CONSTRAINTS),
            direction="maximize",
            path=self.path,
            optimizer=self.optimizers[optimizer % len(self.optimizers)],
            seed=seed,
            n_initial=3,
            n_constraints=m,
        )
        self.out = {}
        self.told = []
        self.withdrawn = {}
        self.n_asked = 0

    def choose(self, data, numbers):
        return data.draw(st.sampled_from(sorted(numbers)))

    def rows_of(self, data):
        return data.draw(st.lists(VALUES, min_size=self.m, max_size=self.m))

    @rule(n=st.integers(1, 4))
    def ask(self, n):
        if self.n_asked + n > self.most_asks * 10:
            return
        known = [p for _, p, _ in self.told] + list(self.out.values())
        for number, suggestion in enumerate(self.study.ask(n), start=self.n_asked):
            assert suggestion.number == number
            self.study.space.check(suggestion.parameters, constraints=True)
            assert suggestion.parameters not in known
            known.append(suggestion.parameters)
            self.out[number] = suggestion.parameters
        self.n_asked += n

    @rule(data=st.data(), y=VALUES)
    def tell(self, data, y):
        if self.out:
            number = self.choose(data, self.out)
            parameters = self.out.pop(number)
            if data.draw(st.booleans()):
                self.study.tell(number, y, self.rows_of(data))
            else:
                self.study.tell(parameters, y, self.rows_of(data))
            self.told.append((number, parameters, y))

    @rule(data=st.data(), reason=st.text(max_size=5))
    def tell_failed(self, data, reason):
        if self.out:
            number = self.choose(data, self.out)
            self.study.tell_failed(number, reason)
            self.told.append((number, self.out.pop(number), math.nan))

    @rule(data=st.data())
    def withdraw(self, data):
        if self.out:
            number = self.choose(data, self.out)
            self.study.withdraw(number)
            self.withdrawn[number] = self.out.pop(number)

    @rule(data=st.data(), y=VALUES)
    def tell_what_was_withdrawn(self, data, y):
        if self.withdrawn:
            number = self.choose(data, self.withdrawn)
            parameters = self.withdrawn.pop(number)
            self.study.tell(number, y, self.rows_of(data))
            self.told.append((None, parameters, y))

    @rule(gain=st.floats(0.1, 10.0), layers=st.integers(1, 9), y=VALUES)
    def add(self, gain, layers, y):
        row = {"gain": gain, "layers": layers, "kind": None}
        checked = self.study.space.check(row)
        if checked in self.out.values():
            return
        more = {f"constraint_{i + 1}": -1.0 for i in range(self.m)}
        assert self.study.add([{**row, **more, "value": y}]) == 1
        self.told.append((None, checked, y))

    @rule(data=st.data())
    def refuse(self, data):
        for number in [*[t[0] for t in self.told if t[0] is not None][:2], self.n_asked, -1]:
            with pytest.raises(InvalidInputError):
                self.study.tell(number, 1.0, [0.0] * self.m)
            with pytest.raises(InvalidInputError):
                self.study.withdraw(number)
        with pytest.raises(InvalidInputError):
            self.study.tell({"gain": 1.0}, 1.0, [0.0] * self.m)

    @rule()
    def reopen(self):
        before = self.study.optimizer.state()
        self.study.close()
        self.study = Study.open(self.path)
        assert self.study.optimizer.state() == before

    @rule()
    def ask_as_if_never_closed(self):
        """A copy of the state asks the same."""
        from boring.optimizer import Optimizer
        from boring.result import OptimizerState

        if self.n_asked >= self.most_asks * 10:
            return
        state = OptimizerState.from_json(self.study.optimizer.state().to_json())
        copy = Optimizer.from_state(state, domain=self.study.space.domain)
        wanted = copy.ask(len(self.out) + 1)[-1]
        self.ask(1)
        assert (self.study.optimizer.pending[-1] == wanted).all()

    @invariant()
    def accounts_agree(self):
        if not hasattr(self, "study"):
            return
        assert {s.number: s.parameters for s in self.study.outstanding} == self.out
        rows = self.study.rows()
        names = self.study.space.names
        found = [(r["number"], {k: r[k] for k in names if k in r}, repr(r["value"])) for r in rows]
        assert found == [(number, p, repr(y)) for number, p, y in self.told]
        status = self.study.status()
        assert status.n_told == len(self.told)
        assert status.n_withdrawn == self.n_asked - len(self.out) - sum(
            number is not None for number, _, _ in self.told
        )
        good = [row["value"] for row in rows if row["status"] == "ok"]
        best = None if self.study.best is None else self.study.best["value"]
        assert best == max(good, default=None)

    def teardown(self):
        if hasattr(self, "study"):
            self.study.close()
            assert len(Study.open(self.path, read_only=True).rows()) == len(self.told)


class BoringMachine(StudyMachine):
    optimizers = ("boring",)
    most_asks = 1


def run(machine, folder, n_examples, n_steps):
    from hypothesis.stateful import run_state_machine_as_test

    machine.folder = folder
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=n_examples,
            stateful_step_count=n_steps,
            deadline=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.filterwarnings("ignore::boring.exceptions.BoringWarning")
def test_any_sequence_of_calls(tmp_path):
    run(StudyMachine, tmp_path, 12, 20)


@pytest.mark.filterwarnings("ignore::boring.exceptions.BoringWarning")
def test_any_sequence_of_calls_of_boring(tmp_path):
    run(BoringMachine, tmp_path, 6, 12)


def test_an_exhausted_study_says_so_and_goes_on(tmp_path):
    study = Study([Integer("n", 1, 3)], direction="minimize", path=tmp_path / "run.jsonl", seed=0)
    study.ask(2)
    with pytest.raises(SpaceExhaustedError):
        study.ask(2)
    assert sorted(s.parameters["n"] for s in study.outstanding) == [1, 2, 3]
    study.withdraw(1)
    assert len(study.ask()) == 1
