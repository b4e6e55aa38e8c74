r"""The order-preserving loss, and the two costs by which draws can be ordered.

An implicit model :math:`\theta = G(z, \epsilon)` keeps the order if a code z of larger density
gives a :math:`\theta` of lower cost u [Aryan, PhD thesis, Victoria University of Wellington 2020,
ch. 6]. For pairs of draws with :math:`r = u(\theta_j) - u(\theta_i)`,

.. math:: L_o = \text{mean cross-entropy of } 1[p(z_i) \ge p(z_j)] \text{ and } \sigma(r).

Two costs are offered. ``"posterior"`` is :math:`-\log p(\theta) - \log p(y | X, \theta)`: the
order of the target density, what the property is stated for. ``"divergence"`` is the thesis's
:math:`-C(\theta) - \log p(y | X, \theta)` with :math:`C = \log p/q`: how far q exceeds the
posterior, whatever the density there.
"""

from __future__ import annotations

from typing import Any

from baselines.neural._jax import load

__all__ = ["UTILITIES", "order_loss", "utility"]

UTILITIES = ("posterior", "divergence")


def order_loss(log_density_of_code: Any, cost: Any) -> Any:
    """Return L_o, a scalar, pairing each draw of the first half with one of the second.

    Parameters
    ----------
    log_density_of_code : jax.Array, shape (M,)
        log p(z); a constant more or less makes no difference.
    cost : jax.Array, shape (M,)
        u, lower is preferred.
    """
    jax, jnp = load("jax"), load("jax.numpy")
    half = len(cost) // 2
    first, second = slice(None, half), slice(half, 2 * half)
    label = log_density_of_code[first] >= log_density_of_code[second]
    r = cost[second] - cost[first]
    return jnp.mean(jnp.where(label, jax.nn.softplus(-r), jax.nn.softplus(r)))


def utility(choice: str, log_prior: Any, ratio: Any, cost: Any) -> Any:
    """Return u (n,) of draws.

    Parameters
    ----------
    choice : {"posterior", "divergence"}
    log_prior : jax.Array, shape (n,)
        log p(theta).
    ratio : jax.Array, shape (n,)
        The critic's C.
    cost : jax.Array, shape (n,)
        -log p(y | X, theta).
    """
    return cost - (log_prior if choice == "posterior" else ratio)
