"""The chain of beads: conservation, closed forms of a collision, scaling."""

import numpy as np
import pytest

from synthetic import get_problem
from synthetic.physics.granular import (
    DENSITY,
    POISSON_RATIO,
    WALL_MODULUS,
    GranularChain,
)


def random_chain(n, seed=0):
    rng = np.random.default_rng(seed)
    return rng.uniform(1.0, 3.0, n), rng.uniform(60.0, 200.0, n)


def test_one_bead_hits_the_wall_as_in_hertz():
    radius, modulus, velocity = 2.5e-3, 90e9, 0.4
    mass = 4.0 / 3.0 * np.pi * DENSITY * radius**3
    effective = 1.0 / ((1.0 - POISSON_RATIO**2) * (1.0 / modulus + 1.0 / (WALL_MODULUS * 1e9)))
    stiffness = 4.0 / 3.0 * effective * np.sqrt(radius)
    # All kinetic energy is elastic, 2/5 k d^(5/2), when the force k d^(3/2) is largest.
    deepest = (1.25 * mass * velocity**2 / stiffness) ** 0.4
    problem = get_problem("granular-3")
    value = problem([2.5, 90.0, 0.4])
    assert value == pytest.approx(np.log10(stiffness * deepest**1.5), abs=1e-6)


def test_one_bead_bounces_back_after_the_time_of_hertz():
    motion = GranularChain.motion(np.array([2.0]), np.array([WALL_MODULUS]))
    stiffness = motion.stiffness[0]
    deepest = (1.25 / stiffness) ** 0.4
    gone = motion.times[np.flatnonzero(motion.displacements[1:, 0] <= 0.0)[0] + 1]
    assert motion.velocities[-1, 0] == pytest.approx(-1.0, abs=1e-4)
    before = motion.times[motion.displacements[:, 0] > 0.0].max()
    # 2.943 is 4/5 times the beta function of 2/5 and 1/2.
    assert before - 0.05 <= 2.9432 * deepest <= gone + 0.05


def test_equal_beads_hand_their_velocity_on():
    radii = np.full(2, 2.0)
    motion = GranularChain.motion(radii, np.full(2, 130.0))
    untouched = motion.displacements[:, 1] <= 0.0
    k = motion.stiffness[0]
    assert k == pytest.approx(1.0)
    squeezed = motion.displacements[:, 0] - motion.displacements[:, 1]
    # Reduced mass 1/2; the wall is touched from the start, so it yields a little less.
    assert squeezed.max() < (1.25 * 0.5 / k) ** 0.4 * 1.05
    assert untouched[0]
    assert motion.energies[-1] == pytest.approx(0.5, abs=1e-4)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_energy_is_kept_and_momentum_is_what_the_wall_took(seed):
    radii, moduli = random_chain(15, seed)
    motion = GranularChain.motion(radii, moduli)
    assert np.abs(motion.energies / motion.energies[0] - 1.0).max() < 1e-3
    momentum = motion.velocities @ motion.masses
    force = motion.stiffness[-1] * np.maximum(motion.displacements[:, -1], 0.0) ** 1.5
    quiet = np.cumsum(force) < 1e-6
    np.testing.assert_allclose(momentum[quiet], momentum[0], rtol=1e-4)
    assert np.all(np.diff(momentum) <= 1e-9)  # the wall only pushes back
    lost = momentum[0] - momentum[-1]
    assert np.trapezoid(force, motion.times) == pytest.approx(lost, rel=0.05)
    assert force.max() <= motion.wall_peak * (1.0 + 1e-9)
    assert force.max() == pytest.approx(motion.wall_peak, rel=0.05)


def test_velocity_enters_with_the_power_six_fifths():
    problem = get_problem("granular-11")
    x = problem.space.unscale(np.full(11, 0.2))
    slow, fast = x.copy(), x.copy()
    slow[-1], fast[-1] = 0.1, 1.0
    assert problem(fast) - problem(slow) == pytest.approx(1.2, abs=1e-9)


def test_lengths_scale_force_with_their_square():
    # Hertz: force ~ radius^2 for the same velocity and material.
    small = get_problem("granular-11")(np.r_[np.full(5, 1.2), np.full(5, 100.0), 0.5])
    large = get_problem("granular-11")(np.r_[np.full(5, 2.4), np.full(5, 100.0), 0.5])
    assert large - small == pytest.approx(2.0 * np.log10(2.0), abs=1e-5)


def test_a_soft_light_bead_in_the_middle_shields_the_wall():
    radii, moduli = np.full(15, 2.0), np.full(15, 150.0)
    plain = GranularChain.motion(radii, moduli).wall_peak
    radii[5:10], moduli[5:10] = 1.0, 60.0
    assert GranularChain.motion(radii, moduli).wall_peak < 0.95 * plain


def test_pulse_of_the_slowest_chain_arrives_in_time():
    n = 47
    motion = GranularChain.motion(np.full(n, 3.0), np.full(n, 60.0))
    force = motion.displacements[:, -1]
    assert motion.times[force.argmax()] < 0.85 * motion.times[-1]
