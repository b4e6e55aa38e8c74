import numpy as np
import pytest

from experiments.growth import (
    GrowthCell,
    GrowthTimes,
    growth_table,
    plot_growth,
    run_growth,
    slope,
    time_cell,
)
from experiments.tables import MISSING


def _times(dim, n, seconds, memory=100.0):
    return GrowthTimes(GrowthCell(dim, n), 10 * seconds, (seconds,) * 3, memory)


def test_slope_is_the_power():
    x = np.array([5.0, 10.0, 80.0])
    assert slope(x, 0.3 * x**2.5) == pytest.approx(2.5)
    assert np.isnan(slope([3.0], [1.0]))


def test_table_and_picture_hold_what_was_measured(tmp_path):
    times = [
        _times(dim, n, 1e-6 * n**2 * dim)
        for dim in (5, 50)
        for n in (20, 40)
        if (dim, n) != (50, 40)
    ]
    text = growth_table(times)
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in text.splitlines()]
    five, fifty, last = rows[-3:]
    assert five == ["5", "0.002 (0.02; 100)", "0.008 (0.08; 100)", "2"]
    assert fifty[2:] == [MISSING, MISSING]
    assert last[:2] == ["slope in D", "1"]
    assert plot_growth(times, tmp_path / "growth.png").stat().st_size > 1000


def test_a_cell_is_timed_in_a_process_of_its_own():
    (times,) = run_growth([GrowthCell(3, 12)])
    assert times.cell == GrowthCell(3, 12)
    assert times.first > 0
    assert all(seconds > 0 for seconds in times.seconds)
    assert times.memory is None or 20.0 < times.memory < 1000.0


def test_first_is_a_turn_that_looks_at_the_whole_box():
    assert time_cell(GrowthCell(3, 20)).first > 0
