r"""Three targets in the plane for implicit models: a grid of modes, modes of all sizes, a circle.

Aryan, PhD thesis, Victoria University of Wellington 2020, ch. 6, shows a generator with two
inputs, :math:`z \sim N(0, 1)` and :math:`\epsilon \sim U[0, 2\pi]`, with the order-preserving
loss and without. The cost by which draws are ordered is minus the log density of the target.

**Deviations**: counts, places and standard deviations of the modes are not printed, nor are the
networks; all are chosen here. The angle enters as its sine and cosine, so that a level set, the
curve drawn by :math:`\epsilon` at one z, is closed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from baselines.neural._jax import load
from baselines.neural.implicit.critic import initial_critic
from baselines.neural.implicit.layers import apply_layers, initial_layers
from boring.typing import FloatArray

__all__ = ["TOYS", "PlanarTarget", "circle_of_modes", "grid_of_modes", "modes_of_all_sizes"]


@dataclass(frozen=True)
class PlanarTarget:
    """A mixture of equally likely round normal densities in the plane, as a training target.

    Parameters
    ----------
    centres : tuple of (float, float)
    sds : tuple of float
        One for each centre.
    width : int, default 64
        Units of each hidden layer of generator and critic.
    """

    centres: tuple[tuple[float, float], ...]
    sds: tuple[float, ...]
    width: int = 64

    def initial(self, key: Any) -> tuple[Any, Any]:
        """Return parameters of the generator and of the critic."""
        one, two = load("jax.random").split(key)
        generator = initial_layers(one, [3, self.width, self.width, 2])
        return generator, initial_critic(two, 2, self.width)

    def generate(self, generator: Any, z: Any, angle: Any) -> Any:
        """Return points (n, 2) for codes z (n,) and angles (n,)."""
        jnp = load("jax.numpy")
        return apply_layers(generator, jnp.stack([z, jnp.cos(angle), jnp.sin(angle)], axis=1))

    def draw(self, generator: Any, key: Any, n: int, data: Any) -> tuple[Any, Any]:
        """Return n points and the log density of their codes."""
        random = load("jax.random")
        one, two = random.split(key)
        z = random.normal(one, (n,))
        angle = random.uniform(two, (n,), maxval=2.0 * np.pi)
        return self.generate(generator, z, angle), -0.5 * z**2

    def reference(self, key: Any, n: int, data: Any) -> Any:
        """Return n points (n, 2) of the target."""
        random, jnp = load("jax.random"), load("jax.numpy")
        one, two = random.split(key)
        which = random.randint(one, (n,), 0, len(self.sds))
        spread = jnp.asarray(self.sds)[which][:, None]
        return jnp.asarray(self.centres)[which] + spread * random.normal(two, (n, 2))

    def log_density(self, points: Any) -> Any:
        """Return the log density (n,) of the target at points (n, 2)."""
        jax, jnp = load("jax"), load("jax.numpy")
        sds = jnp.asarray(self.sds)
        squares = ((points[:, None, :] - jnp.asarray(self.centres)) ** 2).sum(axis=-1)
        logs = -squares / (2.0 * sds**2) - jnp.log(2.0 * np.pi * sds**2 * len(self.sds))
        return jax.scipy.special.logsumexp(logs, axis=1)

    def cost(self, theta: Any, data: Any, progress: Any) -> Any:
        """Return zeros (n,): the target is all in the reference."""
        return load("jax.numpy").zeros(len(theta))

    def utility(self, theta: Any, ratio: Any, cost: Any, data: Any) -> Any:
        """Return minus the log density of the target (n,)."""
        return -self.log_density(theta)

    def weight(self, progress: Any) -> Any:
        """Return 1."""
        return 1.0

    def covered(self, points: FloatArray) -> int:
        """Return how many modes have, within 2 sd, a fifth of their share of points (n, 2)."""
        squares = ((points[:, None, :] - np.array(self.centres)) ** 2).sum(axis=-1)
        shares = (squares < (2.0 * np.array(self.sds)) ** 2).mean(axis=0)
        return int((shares > 0.2 / len(self.sds)).sum())


def grid_of_modes() -> PlanarTarget:
    """Return nine modes of sd .3 on a square grid."""
    places = (-2.0, 0.0, 2.0)
    return PlanarTarget(tuple((a, b) for a in places for b in places), (0.3,) * 9)


def modes_of_all_sizes() -> PlanarTarget:
    """Return four modes of sds .2, .4, .6 and .8 at the corners of a square."""
    centres = ((-1.5, -1.5), (1.5, -1.5), (-1.5, 1.5), (1.5, 1.5))
    return PlanarTarget(centres, (0.2, 0.4, 0.6, 0.8))


def circle_of_modes() -> PlanarTarget:
    """Return eight modes of sd .3 on a circle of radius 2."""
    turns = 2.0 * np.pi * np.arange(8) / 8
    centres = tuple((float(2.0 * np.cos(t)), float(2.0 * np.sin(t))) for t in turns)
    return PlanarTarget(centres, (0.3,) * 8)


#: The three targets by name.
TOYS = {"grid": grid_of_modes, "sizes": modes_of_all_sizes, "circle": circle_of_modes}
