r"""Scale-adapted stochastic gradient Hamiltonian Monte Carlo.

Springenberg, Klein, Falkner and Hutter, Bayesian Optimization with Robust Bayesian Neural
Networks, NIPS 2016. With :math:`\tilde g` the gradient of the potential from a batch, burn-in
tracks for each coordinate a smoothed gradient g, its mean square V and the window :math:`\tau` of
both,

.. math:: r = \frac{1}{\tau + 1}, \quad \tau \leftarrow \tau + 1 - \tau g^2 / V,
   \quad g \leftarrow g + r(\tilde g - g), \quad V \leftarrow V + r(\tilde g^2 - V),

and every step moves, with friction c and step size :math:`\epsilon`,

.. math:: v \leftarrow v - \epsilon^2 V^{-1/2}\tilde g - c\,v
   + N(0, \max(2\epsilon^2 c V^{-1/2} - \epsilon^4, 0)),
   \quad \theta \leftarrow \theta + v.

After burn-in V is fixed. BlackJAX has no scale-adapted version; this one is written out.

The noise of the batch is taken to have variance V, which is right only while the difference is
positive, :math:`V < (2c/\epsilon^2)^2`; beyond that the chain is too warm. With c = .05 the bound
is 10^6 at the paper's :math:`\epsilon` of .01, but 100 at the .1 that its published code passes
on: there the variance of the mean of 200 values came out 3.6 times too large.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from baselines.neural._chains import Target
from baselines.neural._jax import double_precision, load, random_key
from baselines.neural.network import N_PROGRAMS
from baselines.neural.priors import Data
from boring.typing import FloatArray

__all__ = ["SghmcSettings", "sample_sghmc"]

#: V begins at 1 and stays above this, lest a coordinate without gradient move without bound.
LEAST_SQUARE = 1e-16


@dataclass(frozen=True)
class SghmcSettings:
    """How long the chain runs; hashable, for programs are cached by it.

    Parameters
    ----------
    n_burn_in : int
        Steps in which V is adapted.
    n_draws, thin : int
        Draws kept afterwards, and steps for each.
    batch : int
        Rows drawn, with replacement, for each gradient.
    step_size, friction : float
        epsilon and c.
    """

    n_burn_in: int
    n_draws: int
    thin: int
    batch: int = 20
    step_size: float = 0.01
    friction: float = 0.05


def sample_sghmc(
    target: Target,
    position: FloatArray,
    settings: SghmcSettings,
    data: Data,
    n: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Run one chain; return its draws (n_draws, p).

    Parameters
    ----------
    target : Target
        Whose data are X, y and how often each row counts.
    position : ndarray, shape (p,)
    settings : SghmcSettings
    data : tuple
        Padded.
    n : int
        Rows that are there.
    rng : numpy.random.Generator
        Consumed.
    """
    with double_precision():
        found = _program(target, settings)(random_key(rng), position, data, n)
        return np.asarray(found, dtype=np.float64)


@lru_cache(maxsize=N_PROGRAMS)
def _program(target: Target, settings: SghmcSettings) -> Any:
    jax, jnp = load("jax"), load("jax.numpy")
    square, friction = settings.step_size**2, settings.friction

    def run(key: Any, position: Any, data: Data, n: Any) -> Any:
        X, y, _ = data

        def potential(q: Any, rows: Any) -> Any:
            counts = jnp.full(settings.batch, n / settings.batch)
            return -target.log_density(q, (X[rows], y[rows], counts))

        def move(index: Any, carry: Any) -> Any:
            q, v, tau, g, V = carry
            pick, shake = jax.random.split(jax.random.fold_in(key, index))
            rows = jax.random.randint(pick, (settings.batch,), 0, n)
            gradient = jax.grad(potential)(q, rows)
            r = 1.0 / (tau + 1.0)
            burning = index < settings.n_burn_in
            tau = jnp.where(burning, tau + 1.0 - tau * g**2 / V, tau)
            g = jnp.where(burning, g + r * (gradient - g), g)
            smoothed = jnp.maximum(V + r * (gradient**2 - V), LEAST_SQUARE)
            V = jnp.where(burning, smoothed, V)
            inverse = 1.0 / jnp.sqrt(V)
            variance = jnp.maximum(2.0 * square * friction * inverse - square**2, 0.0)
            noise = jnp.sqrt(variance) * jax.random.normal(shake, q.shape)
            v = v - square * inverse * gradient - friction * v + noise
            return q + v, v, tau, g, V

        def keep(carry: Any, start: Any) -> Any:
            carry = jax.lax.fori_loop(start, start + settings.thin, move, carry)
            return carry, carry[0]

        # Burn-in goes through the same loop, in whole blocks, so that it is compiled once.
        blocks = -(-settings.n_burn_in // settings.thin)
        starts = settings.n_burn_in + settings.thin * jnp.arange(-blocks, settings.n_draws)
        one = jnp.ones_like(position)
        carry = (position, 0.0 * one, one, one, one)
        _, draws = jax.lax.scan(keep, carry, starts)
        return draws[blocks:]

    return jax.jit(run)
