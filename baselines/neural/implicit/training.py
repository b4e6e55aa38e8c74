r"""Adversarial training of an implicit model against a reference, a likelihood and an order.

The generator's loss is [Aryan, PhD thesis, Victoria University of Wellington 2020, ch. 6]

.. math:: -E_q[C(\theta)] - E_q[\log p(y | \theta)] + \kappa L_o,

the critic's that of :mod:`baselines.neural.implicit.critic`, with draws of the reference p and of
the generator; they take turns. One program does the whole of it, compiled once for each
:class:`Target` and :class:`Training`: data come in as arguments whose shapes do not change
within a bucket.

**Deviations**

* The optimiser is not printed: Adam, first moment .5, with a rate that falls to nothing along a
  cosine.
* The generator's loss is multiplied by ``target.weight``, the variance of the noise in a
  regression. Adam does not mind a scale, but it minds one that grows by five orders of magnitude
  while the noise is annealed.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple, Protocol

from baselines.neural._jax import load
from baselines.neural.implicit.critic import critic_loss, log_ratio
from baselines.neural.implicit.order import order_loss

__all__ = ["Target", "Trained", "Training", "program", "sample", "train"]


class Training(NamedTuple):
    """How to train; hashable, since a program is compiled for each.

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


class Target(Protocol):
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
    """Parameters after training, and the losses (steps,) on the way."""

    generator: Any
    critic: Any
    losses: Any


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
    return Trained(*program(target, training)(key, data))


def sample(target: Target, generator: Any, key: Any, n: int, data: Any) -> Any:
    """Return n draws (n, P) of a generator; call it in single precision."""
    return _sampler(target, n)(generator, key, data)


@cache
def _sampler(target: Target, n: int) -> Any:
    def run(generator: Any, key: Any, data: Any) -> Any:
        return target.draw(generator, key, n, data)[0]

    return load("jax").jit(run)


@cache
def program(target: Target, training: Training) -> Any:
    """Return the compiled program, from a key and data to the fields of :class:`Trained`."""
    jax, jnp, optax = load("jax"), load("jax.numpy"), load("optax")
    n = training.batch
    falling = optax.cosine_decay_schedule(training.rate, training.steps)
    critic_falling = optax.cosine_decay_schedule(
        training.critic_rate, training.steps * training.critic_steps
    )
    rule, critic_rule = optax.adam(falling, b1=0.5), optax.adam(critic_falling, b1=0.5)

    def generator_loss(generator: Any, critic: Any, key: Any, data: Any, progress: Any) -> Any:
        theta, log_code = target.draw(generator, key, n, data)
        ratio = log_ratio(critic, theta)
        cost = target.cost(theta, data, progress)
        loss = jnp.mean(cost - ratio)
        if training.kappa:
            loss += training.kappa * order_loss(log_code, target.utility(theta, ratio, cost, data))
        return target.weight(progress) * loss, loss

    def run(key: Any, data: Any) -> Any:
        first, key = jax.random.split(key)
        generator, critic = target.initial(first)

        def critic_step(carry: Any, key: Any) -> Any:
            critic, state, generator = carry
            one, two = jax.random.split(key)
            from_q = target.draw(generator, one, n, data)[0]
            slope = jax.grad(critic_loss)(critic, target.reference(two, n, data), from_q)
            update, state = critic_rule.update(slope, state)
            return (optax.apply_updates(critic, update), state, generator), None

        def step(carry: Any, along: Any) -> Any:
            generator, critic, state, critic_state = carry
            key, progress = along
            one, two = jax.random.split(key)
            (critic, critic_state, _), _ = jax.lax.scan(
                critic_step,
                (critic, critic_state, generator),
                jax.random.split(one, training.critic_steps),
            )
            slope, loss = jax.grad(generator_loss, has_aux=True)(
                generator, critic, two, data, progress
            )
            update, state = rule.update(slope, state)
            return (optax.apply_updates(generator, update), critic, state, critic_state), loss

        start = (generator, critic, rule.init(generator), critic_rule.init(critic))
        keys = jax.random.split(key, training.steps)
        (generator, critic, _, _), losses = jax.lax.scan(
            step, start, (keys, jnp.linspace(0.0, 1.0, training.steps))
        )
        return generator, critic, losses

    return jax.jit(run)
