"""A row of beads that is struck at one end: how hard the wall at the other end is hit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from scipy.integrate import solve_ivp

from boring.exceptions import InvalidInputError
from boring.space import Box
from boring.typing import FloatArray

from ..base import TestProblem, WithoutGradient

__all__ = ["GranularChain", "Motion", "granular"]

RADIUS = (1.0, 3.0)
"""Range of the radii, mm; the beads of Daraio et al. (2006) have 2.38 (range chosen here)."""

MODULUS = (60.0, 200.0)
"""Range of Young's moduli, GPa: from aluminium and glass to steel, 193 in Daraio et al. (2006)."""

VELOCITY = (0.1, 1.0)
"""Range of the velocity at which the first bead is struck, m/s (chosen here)."""

DENSITY = 8000.0
POISSON_RATIO = 0.3
"""Of all beads and of the wall: steel, kg/m^3 and dimensionless (Daraio et al. 2006)."""

WALL_MODULUS = 193.0
"""Young's modulus of the wall, GPa."""

REFERENCE_RADIUS = 2.0
REFERENCE_MODULUS = 130.0
"""mm and GPa: bead that gives the units of the computation."""

TIME_PER_BEAD = 3.0
"""Duration of the computation by bead, in the time unit m^(2/5) / (k^(2/5) v^(1/5)) of the
reference bead. A pulse needs 2.5 to cross one of the softest and largest beads, and 1.2 one of the
reference (measured; chosen here)."""

RELATIVE_TOLERANCE = 1e-6
ABSOLUTE_TOLERANCE = 1e-8
"""Of the solver, in the units of the computation (chosen here)."""


@dataclass(frozen=True, eq=False)
class Motion:
    """How a chain moves, in units of the reference bead.

    Parameters
    ----------
    masses : ndarray, shape (n,)
    stiffness : ndarray, shape (n,)
        Of the contact of each bead with the next, the last with the wall.
    times : ndarray, shape (k,)
    displacements, velocities : ndarray, shape (k, n)
    wall_peak : float
        Largest force on the wall.
    """

    masses: FloatArray
    stiffness: FloatArray
    times: FloatArray
    displacements: FloatArray
    velocities: FloatArray
    wall_peak: float

    @property
    def energies(self) -> FloatArray:
        """Kinetic plus elastic energy, shape (k,)."""
        squeezed = _compression(self.displacements)
        kinetic = 0.5 * self.velocities**2 @ self.masses
        energies: FloatArray = kinetic + 0.4 * squeezed**2.5 @ self.stiffness
        return energies


@dataclass(frozen=True, eq=False)
class GranularChain(WithoutGradient):
    """Logarithm to base 10 of the largest force on the wall, newtons.

    The argument is (radii in mm, Young's moduli in GPa, velocity in m/s), of n, n and 1 entries.
    """

    without_gradient_because = "it is computed by an adaptive solver of differential equations"

    def value(self, X: FloatArray) -> FloatArray:
        """Return the logarithms, shape (n,)."""
        return np.array([self._value(x) for x in X], dtype=np.float64)

    @staticmethod
    def motion(radii: FloatArray, moduli: FloatArray) -> Motion:
        """Solve the equations of motion; in the units of the computation the velocity is 1.

        Parameters
        ----------
        radii, moduli : ndarray, shape (n,)
            mm and GPa.

        Returns
        -------
        Motion
        """
        masses = (radii / REFERENCE_RADIUS) ** 3
        # Hertz: force = 4/3 E* sqrt(R*) compression^(3/2), with 1/R* the sum of the curvatures
        # and 1/E* that of (1 - nu^2) / E; the wall is flat.
        curvature = 1.0 / radii + np.append(1.0 / radii[1:], 0.0)
        softness = 1.0 / moduli + np.append(1.0 / moduli[1:], 1.0 / WALL_MODULUS)
        stiffness = np.sqrt(2.0 / (REFERENCE_RADIUS * curvature)) * 2.0 / REFERENCE_MODULUS
        stiffness /= softness
        n = len(radii)

        def derivative(time: float, state: FloatArray) -> FloatArray:
            squeezed = _compression(state[:n])
            force = stiffness * squeezed * np.sqrt(squeezed)
            slope = np.empty_like(state)
            slope[:n] = state[n:]
            np.negative(force, out=slope[n:])
            slope[n + 1 :] += force[:-1]
            slope[n:] /= masses
            return slope

        def wall_turns(time: float, state: FloatArray) -> float:
            return float(state[-1])

        # The last bead comes to rest: the force is largest.
        cast(Any, wall_turns).direction = -1.0
        start = np.zeros(2 * n)
        start[n] = 1.0
        solved = solve_ivp(
            derivative,
            (0.0, TIME_PER_BEAD * n),
            start,
            method="DOP853",
            rtol=RELATIVE_TOLERANCE,
            atol=ABSOLUTE_TOLERANCE,
            events=wall_turns,
        )
        assert solved.success, solved.message
        last = np.append(solved.y_events[0].reshape(-1, 2 * n)[:, n - 1], solved.y[n - 1])
        peak = stiffness[-1] * max(float(last.max()), 0.0) ** 1.5
        return Motion(masses, stiffness, solved.t, solved.y[:n].T, solved.y[n:].T, peak)

    @classmethod
    def _value(cls, x: FloatArray) -> float:
        n = len(x) // 2
        motion = cls.motion(x[:n], x[n : 2 * n])
        return float(np.log10(motion.wall_peak * _force_unit(float(x[-1]))))


def granular(dim: int) -> TestProblem:
    """Return a chain of beads that is struck at one end, to spare the wall at the other, minimised.

    Raw units: mm, GPa and m/s; units of y: logarithm to base 10 of newtons. With 47 beads some
    0.15 s an evaluation on one core; rounding of the solver moves values by some 1e-5.

    Parameters
    ----------
    dim : int
        D = 2 n + 1 for n beads: radii, Young's moduli, velocity of the first bead. 95 in the
        source.

    Returns
    -------
    TestProblem
        No optimum and no active subspace is known. The velocity v adds exactly ``1.2 log10 v``: a
        row of beads that just touch has no scale of its own.

    Raises
    ------
    InvalidInputError
        If D is even or less than 3.

    Notes
    -----
    Source: Tripathy, Bilionis and Gonzalez (2016), a chain of 47 beads with uncertain
    radii, moduli and velocity; the equations are Nesterenko's (2001): Hertz's contact between
    neighbours that touch, nothing between others, no damping, no load beforehand.

    Deviation: the source learns properties of the pulse that runs along the chain; here what is to
    be made small is the largest force on the wall at its end, within a fixed time after the blow.
    The ranges are chosen here.
    """
    if dim < 3 or dim % 2 == 0:
        raise InvalidInputError(
            f"A chain of n beads has 2 n + 1 variables, 3 at least; received {dim}."
        )
    n = dim // 2
    sides = [RADIUS] * n + [MODULUS] * n + [VELOCITY]
    return TestProblem(
        name=f"granular-{dim}", space=Box.from_bounds(sides), formula=GranularChain()
    )


def _compression(displacements: FloatArray) -> FloatArray:
    """Return by how much each contact is squeezed, (..., n); the wall does not move."""
    squeezed: FloatArray = displacements.copy()
    squeezed[..., :-1] -= displacements[..., 1:]
    return np.maximum(squeezed, 0.0)


def _force_unit(velocity: float) -> float:
    """Return the unit of force, newtons: mass times velocity by time unit."""
    radius, modulus = 1e-3 * REFERENCE_RADIUS, 1e9 * REFERENCE_MODULUS
    mass = 4.0 / 3.0 * np.pi * DENSITY * radius**3
    stiffness = 4.0 / 3.0 * modulus / (2.0 * (1.0 - POISSON_RATIO**2)) * np.sqrt(radius / 2.0)
    time = (mass**2 / (stiffness**2 * velocity)) ** 0.2
    return float(mass * velocity / time)
