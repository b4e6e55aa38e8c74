r"""Adversarial training of an implicit model against a reference, a likelihood and an order.

The generator's loss is [Aryan, PhD thesis, Victoria University of Wellington 2020, ch. 6]

.. math:: -E_q[C(\theta)] - E_q[\log p(y | \theta)] + \kappa L_o,

the critic's that of :mod:`baselines.neural.implicit.critic`, with draws of the reference p and of
the generator; they take turns. One program does the whole of it, compiled once for each
:class:`Target`: data come in as arguments whose shapes do not change within a bucket, and so do
the number of steps, the rates and :math:`\kappa`.

**Deviations**

* The optimiser is not printed: Adam, first moment .5, with a rate that falls to nothing along a
  cosine.
* The generator's loss is multiplied by ``target.weight``, the variance of the noise in a
  regression. Adam does not mind a scale, but it minds one that grows by five orders of magnitude
  while the noise is annealed.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import cache
from typing import Any, NamedTuple, Protocol

import numpy as np

from baselines.neural._jax import load
from baselines.neural.implicit.critic import critic_loss, log_ratio
from baselines.neural.implicit.order import order_loss

__all__ = ["Target", "Trained", "Training", "program", "sample", "train"]


#: Decay of Adam's first moment (chosen here; usual where two networks take turns).
FIRST_MOMENT = 0.5


class Training(NamedTuple):
    """How to train. A program is compiled for each ``batch`` and ``critic_steps`` only.

    Parameters
    ----------
    steps : int
        Of the generator.
    critic_steps : int
        Of the critic, before each of the generator.
    batch : int
        Draws in a step, even.
    rate, critic_rate : float
        Learning rates at the start.
    kappa : float
        Weight of the order; 0 leaves it out.
    """

    steps: int
    critic_steps: int
    batch: int
    rate: float
    critic_rate: float
    kappa: float


class Target(Hashable, Protocol):
    """What a generator is trained for; hashable. ``data`` is a tuple of arrays."""

    def initial(self, key: Any) -> tuple[Any, Any]:
        """Return parameters of the generator and of the critic."""
        ...

    def draw(self, generator: Any, key: Any, n: int, data: Any) -> tuple[Any, Any]:
        """Return n draws (n, P) and the log density (n,) of their codes."""
        ...

    def reference(self, key: Any, n: int, data: Any) -> Any:
        """Return n draws (n, P) of p."""
        ...

    def cost(self, theta: Any, data: Any, progress: Any) -> Any:
        """Return -log p(y | theta) (n,) where ``progress``, in [0, 1], of training is done."""
        ...

    def utility(self, theta: Any, ratio: Any, cost: Any, data: Any) -> Any:
        """Return u (n,), by which draws are ordered; lower is preferred."""
        ...

    def weight(self, progress: Any) -> Any:
        """Return a factor on the generator's loss."""
        ...


class Trained(NamedTuple):
    """Parameters after training."""

    generator: Any
    critic: Any


def train(target: Target, training: Training, key: Any, data: Any) -> Trained:
    """Train a generator and its critic; call it in single precision.

    Parameters
    ----------
    target : Target
    training : Training
    key : jax.Array
        Random key.
    data : tuple of arrays
        Passed on to the target.
    """
    run = program(target, training.batch, training.critic_steps)
    return Trained(
        *run(
            key,
            data,
            np.int32(training.steps),
            np.float32(training.rate),
            np.float32(training.critic_rate),
            np.float32(training.kappa),
        )
    )


def sample(target: Target, generator: Any, key: Any, n: int, data: Any) -> Any:
    """Return n draws (n, P) of a generator; call it in single precision."""
    return _sampler(target, n)(generator, key, data)


@cache
def _sampler(target: Target, n: int) -> Any:
    def run(generator: Any, key: Any, data: Any) -> Any:
        return target.draw(generator, key, n, data)[0]

    return load("jax").jit(run)


@cache
def program(target: Target, batch: int, critic_steps: int) -> Any:
    """Return the compiled program that :func:`train` runs."""
    jax, jnp, optax = load("jax"), load("jax.numpy"), load("optax")
    # Layer by layer: for all in one flat vector, a step takes seven times as long.
    rule = optax.scale_by_adam(b1=FIRST_MOMENT)

    def moved(slope: Any, state: Any, parameters: Any, rate: Any) -> Any:
        update, state = rule.update(slope, state)
        return jax.tree.map(lambda a, b: a - rate * b, parameters, update), state

    def run(key: Any, data: Any, steps: Any, rate: Any, critic_rate: Any, kappa: Any) -> Any:
        def loss(generator: Any, critic: Any, key: Any, progress: Any) -> Any:
            theta, log_code = target.draw(generator, key, batch, data)
            ratio = log_ratio(critic, theta)
            cost = target.cost(theta, data, progress)
            order = order_loss(log_code, target.utility(theta, ratio, cost, data))
            return target.weight(progress) * (jnp.mean(cost - ratio) + kappa * order)

        def step(index: Any, carry: Any) -> Any:
            generator, critic, state, critic_state, key = carry
            keys = jax.random.split(key, 2 + 2 * critic_steps)
            progress = index / jnp.maximum(steps - 1, 1)
            falling = 0.5 + 0.5 * jnp.cos(jnp.pi * index / steps)

            def critic_step(inner: int, carry: Any) -> Any:
                critic, state = carry
                from_q = target.draw(generator, keys[2 + 2 * inner], batch, data)[0]
                from_p = target.reference(keys[3 + 2 * inner], batch, data)
                slope = jax.grad(critic_loss)(critic, from_p, from_q)
                return moved(slope, state, critic, falling * critic_rate)

            critic, critic_state = jax.lax.fori_loop(
                0, critic_steps, critic_step, (critic, critic_state)
            )
            slope = jax.grad(loss)(generator, critic, keys[1], progress)
            generator, state = moved(slope, state, generator, falling * rate)
            return generator, critic, state, critic_state, keys[0]

        first, key = jax.random.split(key)
        generator, critic = target.initial(first)
        start = (generator, critic, rule.init(generator), rule.init(critic), key)
        return jax.lax.fori_loop(0, steps, step, start)[:2]

    return jax.jit(run)
