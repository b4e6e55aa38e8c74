"""No text that a user meets grows with the number of inputs."""

import pickle
import warnings

import numpy as np
import pytest

import boring
from boring import BoringOptimizer
from boring._brief import in_brief, shortened
from boring.exceptions import BoringError, EvaluationError
from boring.parameters import Categorical, ParameterSpace
from boring.study import Study, Suggestion
from boring.validation import suggest
from synthetic import get_problem

DIM = 300
READABLE = 700
BOX = [(-1.0, 1.0)] * DIM
KNOBS = {f"knob {i}": (0.0, 1.0) for i in range(DIM)}
SETTINGS = dict.fromkeys(KNOBS, 0.3)


def test_few_entries_are_shown_in_full_and_many_by_the_first_and_their_number():
    few = [i / 7 for i in range(20)]
    assert in_brief(few) == repr(few)
    assert in_brief(np.array(few)) == repr(few)
    assert in_brief(tuple(few)) == repr(tuple(few))
    assert in_brief((1,)) == "(1,)"
    assert in_brief({"a": 1, "b": [2]}) == "{'a': 1, 'b': [2]}"
    assert in_brief(list(range(21))) == "[0, 1, 2, 3, 4, 5, ... 21 in all]"
    assert in_brief({"x": np.arange(99)}) == "{'x': [0, 1, 2, 3, 4, 5, ... 99 in all]}"
    assert in_brief(np.empty((0, 2))) == "array of shape (0, 2)"
    assert in_brief("a" * 999) == shortened(repr("a" * 999))
    assert len(shortened("a" * 999)) == 200


def run():
    optimizer = BoringOptimizer(BOX, direction="minimize", seed=0, n_initial=500)
    for _ in range(4):
        x = optimizer.ask()[0]
        optimizer.tell(x, float(x[0]))
    optimizer.ask(40)
    return optimizer


def study():
    found = Study(KNOBS, direction="minimize", seed=0, n_initial=500)
    found.ask(40)
    found.tell(0, 1.0)
    return found


def of_the_core():
    optimizer = run()
    result, history = optimizer.result(), optimizer.history
    yield from (optimizer, result, result.records[0], result.space, optimizer.state())
    yield from (history, history.asks[0], history.tells[0], optimizer.observed, optimizer.data)


def of_a_study():
    found = study()
    report = found.report()
    yield from (found, found.space, found.status(), found.outstanding[0], report)
    yield from report.directions
    yield Categorical("kind", list(range(DIM)))


@pytest.mark.parametrize("objects", [of_the_core, of_a_study])
def test_every_repr_is_short(objects):
    lengths = {type(found).__name__: len(repr(found)) for found in objects()}
    assert max(lengths.values()) <= 2 * READABLE, lengths
    assert len(lengths) >= 6


def failing(x):
    raise ValueError("the lamp broke")


def minimize(objective):
    return boring.minimize(objective, BOX, 2, n_initial=1, seed=0, progress=False)


MISTAKES = {
    "a point that is not finite": lambda: run().tell(np.full(DIM, np.inf), 1.0),
    "no such ask": lambda: run().withdraw(9999),
    "an objective that raises": lambda: minimize(failing),
    "an objective of text": lambda: minimize(lambda x: "a"),
    "a box without ends": lambda: boring.Box(np.full(DIM, np.nan), np.ones(DIM)),
    "names that repeat": lambda: run().result().to_dataframe(["a"] * DIM),
    "a name that is not known": lambda: study().tell({**SETTINGS, "knop": 1.0}, 1.0),
    "no such number": lambda: study().tell(9999, 1.0),
    "a suggestion of another study": lambda: study().tell(Suggestion(99, SETTINGS), 1.0),
    "what is fixed as a list": lambda: study().ask(fixed=[1.0] * DIM),
    "settings that a constraint forbids": lambda: ParameterSpace.of(
        KNOBS, constraints=[" + ".join(f"`{name}`" for name in KNOBS) + " <= 1"]
    ).check(SETTINGS, constraints=True),
    "a constraint that answers with text": lambda: ParameterSpace.of(
        KNOBS, constraints=[lambda settings: "a"]
    ).check(SETTINGS, constraints=True),
    "nothing that varies": lambda: ParameterSpace.of(
        {name: {"type": "fixed", "value": 1} for name in KNOBS}
    ),
    "a table without values": lambda: study().add([SETTINGS]),
    "an objective of a study that raises": lambda: study().run(failing, 1, on_error="raise"),
    "an objective of a study that answers with text": lambda: study().run(lambda x: "a", 1),
    "a problem's box": lambda: get_problem("camelback-2-in-300", 0)(np.full(DIM, 2.0)),
}


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
def test_every_error_is_short(mistake):
    with pytest.raises(BoringError) as caught:
        mistake()
    assert len(str(caught.value)) <= READABLE


def test_every_warning_is_short():
    optimizer, settings = run(), study()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        optimizer.tell(np.full(DIM, 0.5), np.nan)
        optimizer.tell(np.full((2, DIM), 0.5), [1.0, 2.0])
        settings.tell(SETTINGS, 1.0)
        settings.tell(SETTINGS, 2.0)
    assert len(caught) == 3
    assert max(len(str(warning.message)) for warning in caught) <= READABLE


def test_an_error_of_the_objective_keeps_the_whole_point():
    with pytest.raises(EvaluationError, match=r"and the point in \.x") as caught:
        minimize(failing)
    first = BoringOptimizer(BOX, direction="minimize", n_initial=1, seed=0).ask()[0]
    assert np.array_equal(caught.value.x, first)
    assert np.array_equal(pickle.loads(pickle.dumps(caught.value)).x, first)


def test_many_names_are_counted_and_long_ones_cut():
    names = [f"x{i}" for i in range(101)]
    assert suggest("x17", names[:100]).count(",") == 99
    assert suggest("y17", names) == (
        "Did you mean 'x17'? Known: x0, x1, x10, x100, x11, x12, ... 101 in all."
    )
    assert suggest("b", ["a" * 999]) == f"Known: {shortened('a' * 999)}."
