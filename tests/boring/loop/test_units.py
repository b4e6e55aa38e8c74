"""Units of what the loop remembers."""

import numpy as np
import pytest

from boring.loop.algorithm import BoringOptimizer
from boring.loop.units import in_units


def test_memories_follow_the_exponent_of_the_values_and_come_back() -> None:
    start = {"number": 1, "local": {"best": -2.0, "gain": 0.25, "radius": 0.1}}
    memory = {
        "local": {"best": 8.0, "gain": 1.0, "promised": 4.0, "noise_std": 2.0, "radius": 0.5},
        "credit": {"rates": {"local": 4.0}, "best": 8.0, "n": 9, "kind": "plain"},
        "fresh start": start,
        "turn": 3,
    }
    assert in_units(memory, 0) is memory
    halves = in_units(memory, 1)
    assert halves["local"] == {
        "best": 4.0,
        "gain": 0.5,
        "promised": 2.0,
        "noise_std": 1.0,
        "radius": 0.5,
    }
    assert halves["credit"] == {"rates": {"local": 2.0}, "best": 4.0, "n": 9, "kind": "plain"}
    assert halves["fresh start"]["local"] == {"best": -1.0, "gain": 0.125, "radius": 0.1}
    assert in_units(halves, 0) == {**memory, "exponent": 0}
    assert np.isfinite(in_units(memory, -2000)["credit"]["best"])
    assert in_units({}, 3) == {"exponent": 3}


def test_a_penalty_beyond_all_measure_does_not_make_gains_of_everything() -> None:
    def run(penalty: float) -> BoringOptimizer:
        early = {"local_from": 5, "subspace_every": 0}
        optimizer = BoringOptimizer([[-1, 1]] * 2, direction="minimize", seed=1, **early)
        for number in range(9):
            x = optimizer.ask()[0]
            value = 1e8 * (3.0 + float(np.sum((x - 0.3) ** 2)))
            optimizer.tell(x, penalty if number == 7 else value)
        optimizer.ask()
        return optimizer

    large, beyond = run(1e100), run(1.7e308)
    np.testing.assert_allclose(beyond.history.X, large.history.X, atol=1e-4)
    phases = [ask.phase for ask in beyond.history.asks]
    assert "local" in phases
    assert "portfolio" in phases
    scale = 2.0 ** beyond.memory["exponent"]
    assert scale > 1e6
    for kind, rate in beyond.memory["credit"]["rates"].items():
        expected = large.memory["credit"]["rates"][kind]
        assert scale * rate == pytest.approx(expected, rel=1e-3)


def a_run_in_known_noise(unit: float, noise_std: float) -> BoringOptimizer:
    options = {"noise_std": noise_std, "local_from": 5, "subspace_every": 0}
    optimizer = BoringOptimizer([[-1, 1]], direction="maximize", seed=0, **options)
    for x in (-0.9, -0.4, 0.1, 0.5, 0.8):
        optimizer.tell([x], -unit * (x - 0.3) ** 2)
    for _ in range(3):
        x = optimizer.ask()[0]
        optimizer.tell(x, -unit * float(x[0] - 0.3) ** 2)
    optimizer.ask()
    return optimizer


def test_known_noise_is_luck_in_the_units_of_the_values() -> None:
    plain, tiny = (a_run_in_known_noise(unit, unit) for unit in (1.0, 2.0**-900))
    assert set(plain.memory["credit"]["rates"].values()) == {0.0}, "noise can have brought as much"
    assert tiny.memory["credit"]["rates"] == plain.memory["credit"]["rates"]


@pytest.mark.parametrize(("unit", "noise_std"), [(1e-100, 1e130), (1.0, 1e308), (1e300, 1e-300)])
def test_known_noise_may_be_beyond_all_measure(unit, noise_std) -> None:
    optimizer = a_run_in_known_noise(unit, noise_std)
    assert {"local", "portfolio"} <= {ask.phase for ask in optimizer.history.asks}
