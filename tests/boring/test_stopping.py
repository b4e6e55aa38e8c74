import numpy as np
import pytest

from boring.exceptions import InvalidInputError
from boring.stopping import AnyOf, MaxEvaluations, MaxSeconds, RunStatus, Stagnation, Target


def status(best=(3.0, 2.0, 1.0), seconds=1.0, direction="minimize"):
    return RunStatus(len(best), len(best), seconds, np.array(best), direction)


def test_evaluations():
    assert MaxEvaluations(3).check(status()) == {"n_evaluations": 3.0}
    assert MaxEvaluations(4).check(status()) == {}


def test_seconds():
    assert MaxSeconds(1.0).check(status()) == {"seconds": 1.0}
    assert MaxSeconds(1.1).check(status()) == {}


def test_target_follows_the_direction():
    assert Target(1.0).check(status()) == {"target": 1.0}
    assert Target(0.9).check(status()) == {}
    assert Target(1.1).check(status(direction="maximize")) == {}
    assert Target(1.0).check(status(direction="maximize")) == {"target": 1.0}
    assert Target(1.0).check(status(best=())) == {}
    assert Target(1.0).check(status(best=(np.nan,))) == {}


def test_stagnation():
    assert Stagnation(2).check(status((3.0, 1.0, 1.0, 1.0))) == {"stagnation": 2.0}
    assert Stagnation(2).check(status((3.0, 1.1, 1.0, 1.0))) == {}
    assert Stagnation(2, tolerance=0.2).check(status((3.0, 1.1, 1.0, 1.0))) == {"stagnation": 2.0}
    assert Stagnation(3).check(status((1.0, 1.0, 1.0))) == {}
    assert Stagnation(2).check(status((np.nan, np.nan, np.nan))) == {}


def test_combinations():
    both = Target(1.0) & MaxEvaluations(3)
    assert both.check(status()) == {"target": 1.0, "n_evaluations": 3.0}
    assert (Target(0.0) & MaxEvaluations(3)).check(status()) == {}
    assert (Target(0.0) | MaxEvaluations(3)).check(status()) == {"n_evaluations": 3.0}
    assert (Target(0.0) | MaxEvaluations(9)).check(status()) == {}


@pytest.mark.parametrize(
    ("make", "rule"),
    [
        (lambda: MaxEvaluations(0), "n must be an integer of at least 1"),
        (lambda: MaxSeconds(0), "seconds must be positive"),
        (lambda: MaxSeconds(float("nan")), "seconds must be positive"),
        (lambda: MaxSeconds("60"), "seconds must be positive"),
        (lambda: Target(float("nan")), "target must be finite"),
        (lambda: Target("0"), "target must be finite"),
        (lambda: Stagnation(2, "0"), "tolerance must be"),
        (lambda: Stagnation(0), "n must be an integer"),
        (lambda: Stagnation(2, -1.0), "tolerance must not be negative"),
        (lambda: Target(0.0) | 60, "joined with others; received 60"),
        (lambda: Target(0.0) & None, "joined with others; received None"),
        (lambda: AnyOf(Target), "joined with others; received <class"),
        (lambda: Target(0.0) or MaxSeconds(60), r"Target\(value=0.0\) .* by & and \|"),
        (lambda: Target(0.0) and MaxSeconds(60), r"by & and \|"),
        (lambda: not Target(0.0), r"by & and \|"),
    ],
)
def test_wrong_arguments(make, rule):
    with pytest.raises(InvalidInputError, match=rule):
        make()
