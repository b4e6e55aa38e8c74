r"""Networks near draws of the prior that follow the data: where chains begin.

A position is drawn from the prior and each value is moved by noise; then

.. math:: \log p(y + \epsilon | z) - \tfrac12 |z - z_0|^2, \qquad z_0 \sim p(z),

in whitened coordinates, is climbed by Adam (optax). For a linear model with normal weights the
maxima are draws of the posterior [Bardsley, Solonen, Haario and Laine, SIAM J. Sci. Comput. 36,
2014]; for networks they are near it [Pearce, Leibfried and Brintrup, AISTATS 2020], and where
the data say nothing they are as far from each other as the prior is wide.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from baselines.neural._jax import double_precision, load, random_key
from baselines.neural.network import N_PROGRAMS
from baselines.neural.priors import Data, NetworkModel
from boring.typing import FloatArray

__all__ = ["LEARNING_RATE", "anchored_positions"]

#: Of Adam; it falls to nothing along a cosine (chosen here).
LEARNING_RATE = 0.03


def anchored_positions(
    model: NetworkModel, n: int, n_steps: int, data: Data, rng: np.random.Generator
) -> FloatArray:
    """Return n positions, shape (n, n_coordinates), after so many steps of Adam.

    Parameters
    ----------
    model : NetworkModel
    n : int
    n_steps : int
    data : tuple
        Padded.
    rng : numpy.random.Generator
        Consumed.
    """
    anchors = model.draw(rng, n)
    with double_precision():
        keys = load("jax.random").split(random_key(rng), n)
        return np.asarray(_program(model, n_steps)(keys, anchors, data))


@lru_cache(maxsize=N_PROGRAMS)
def _program(model: NetworkModel, n_steps: int) -> Any:
    jax, optax = load("jax"), load("optax")
    adam = optax.adam(optax.cosine_decay_schedule(LEARNING_RATE, n_steps))

    def run(key: Any, anchor: Any, data: Data) -> Any:
        X, y, counts = data
        noise = load("jax.numpy").exp(model.log_noise(anchor))
        moved = (X, y + noise * jax.random.normal(key, y.shape), counts)

        def loss(q: Any) -> Any:
            log_likelihood = model.log_density(q, moved) - model.log_prior(q)
            return 0.5 * ((q - anchor) ** 2).sum() - log_likelihood

        def step(_: int, carry: Any) -> Any:
            q, state = carry
            updates, state = adam.update(jax.grad(loss)(q), state)
            return optax.apply_updates(q, updates), state

        return jax.lax.fori_loop(0, n_steps, step, (anchor, adam.init(anchor)))[0]

    return jax.jit(jax.vmap(run, in_axes=(0, 0, None)))
