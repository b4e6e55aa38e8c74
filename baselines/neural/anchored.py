r"""Networks that follow the data and stay near where they were drawn: where chains begin.

A position is drawn, from the prior as a rule, and each value is moved by noise; then

.. math:: \log p(y + \epsilon | z) - \tfrac12 |z - z_0|^2, \qquad z_0 \sim p(z),

in whitened coordinates, is climbed by Adam (optax). For a linear model with normal weights the
maxima are draws of the posterior [Bardsley, Solonen, Haario and Laine, SIAM J. Sci. Comput. 36,
2014]; for networks they are near it [Pearce, Leibfried and Brintrup, AISTATS 2020], and where
the data say nothing they are as far from each other as the prior is wide. From draws of a prior
that also learns its scales the climb does not arrive (:mod:`baselines.neural.bnn_hmc`).
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
    model: NetworkModel, anchors: FloatArray, n_steps: int, data: Data, rng: np.random.Generator
) -> FloatArray:
    """Return positions, shape (n, n_coordinates), after so many steps of Adam.

    Parameters
    ----------
    model : NetworkModel
    anchors : ndarray, shape (n, n_coordinates)
        Where the steps begin, and what they stay near.
    n_steps : int
    data : tuple
        Padded.
    rng : numpy.random.Generator
        Consumed.
    """
    with double_precision():
        keys = load("jax.random").split(random_key(rng), len(anchors))
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
