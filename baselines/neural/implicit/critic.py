r"""A logistic critic: the log ratio of two densities from draws of both.

Minimising

.. math:: -E_p[\log\sigma(C)] - E_q[\log(1 - \sigma(C))], \qquad \sigma(c) = 1/(1 + e^{-c}),

over all functions C gives :math:`C = \log p/q` [Aryan, PhD thesis, Victoria University of
Wellington 2020, ch. 6]. A generator that draws from q then lowers KL(q, p) by raising
:math:`E_q[C]`.

**Deviation**: eq. 6.3 of the thesis, minimised as printed, has no bound, and maximised gives
log q/p, with the wrong sign for its eq. 6.4 and 6.13.
"""

from __future__ import annotations

from typing import Any

from baselines.neural._jax import load
from baselines.neural.implicit.layers import apply_layers, initial_layers

__all__ = ["critic_loss", "initial_critic", "log_ratio"]

#: Hidden layers of the critic [thesis ch. 6].
N_HIDDEN = 3


def initial_critic(key: Any, dim: int, width: int) -> Any:
    """Return a critic with three hidden layers.

    Parameters
    ----------
    key : jax.Array
        Random key.
    dim : int
        Of what the densities are of.
    width : int
        Units of each hidden layer.
    """
    return initial_layers(key, [dim, *[width] * N_HIDDEN, 1])


def log_ratio(critic: Any, points: Any) -> Any:
    """Return C (n,) at points (n, dim), an estimate of log p/q."""
    return apply_layers(critic, points)[:, 0]


def critic_loss(critic: Any, from_p: Any, from_q: Any) -> Any:
    """Return the loss, a scalar, for draws (n, dim) of p and of q."""
    jax, jnp = load("jax"), load("jax.numpy")
    on_p = jax.nn.softplus(-log_ratio(critic, from_p))
    return jnp.mean(on_p) + jnp.mean(jax.nn.softplus(log_ratio(critic, from_q)))
