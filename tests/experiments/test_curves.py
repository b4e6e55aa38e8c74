import numpy as np
import pytest

from boring.exceptions import InvalidInputError
from experiments.curves import BestSoFarCurves, regret_curves, value_curves


def test_a_rising_curve_is_refused_and_located():
    with pytest.raises(InvalidInputError, match=r"run 1 goes from 1\.0 to 2\.0 at evaluation 3"):
        BestSoFarCurves(np.array([[3.0, 2.0, 1.0], [3.0, 1.0, 2.0]]))


def test_a_falling_curve_is_refused_when_maximising():
    BestSoFarCurves(np.array([[1.0, 1.0, 2.0]]), "maximize")
    with pytest.raises(InvalidInputError, match="never fall"):
        BestSoFarCurves(np.array([[2.0, 1.0]]), "maximize")


@pytest.mark.parametrize("shape", [(3,), (0, 3), (3, 0), (1, 2, 3)])
def test_other_shapes_are_refused(shape):
    with pytest.raises(InvalidInputError, match="shape"):
        BestSoFarCurves(np.zeros(shape))


def test_nan_is_refused():
    with pytest.raises(InvalidInputError, match="NaN"):
        BestSoFarCurves(np.array([[1.0, np.nan]]))


def test_values_are_copied_and_read_only():
    values = np.array([[2.0, 1.0]])
    curves = BestSoFarCurves(values)
    values[0, 0] = 9.0
    assert curves.values[0, 0] == 2.0
    with pytest.raises(ValueError, match="read-only"):
        curves.values[0, 0] = 5.0


def test_summary_by_hand():
    curves = BestSoFarCurves(np.array([[5.0, 1.0], [4.0, 2.0], [3.0, 3.0]]))
    lower, median, upper = curves.summary()
    assert lower.tolist() == [3.5, 1.5]
    assert median.tolist() == [4.0, 2.0]
    assert upper.tolist() == [4.5, 2.5]


def test_a_failed_run_carries_its_last_best_on(make_record):
    whole = make_record([3.0, 1.0, 0.0])
    failed = make_record([2.0], budget=3, seed=1, status="failed", error="boom")
    nothing = make_record([], budget=3, seed=2, status="failed", error="boom")
    curves = regret_curves([whole, failed, nothing])
    assert curves.values.tolist() == [[4.0, 2.0, 1.0], [3.0, 3.0, 3.0], [np.inf] * 3]
    assert curves.n_failed == 2
    assert value_curves([whole, failed]).final().tolist() == [0.0, 2.0]


def test_unknown_optimum_and_mixed_budgets_are_refused(make_record):
    with pytest.raises(InvalidInputError, match="optimum"):
        regret_curves([make_record([1.0], optimum=None)])
    with pytest.raises(InvalidInputError, match="budget"):
        regret_curves([make_record([1.0]), make_record([1.0, 0.5])])
