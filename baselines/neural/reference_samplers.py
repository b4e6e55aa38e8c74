r"""Samplers to check others against: random-walk Metropolis and Gibbs.

Both are background of Agrawal, Bayesian Optimisation using Neural Networks, Cambridge 2016, sect.
3.2, which rules them out for networks: the walk is too slow there, and weights have no
conditionals to draw from. Metropolis is BlackJAX's; Gibbs draws are a few lines for each model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from baselines.neural._chains import Target
from baselines.neural._jax import double_precision, load, random_key
from baselines.neural.network import N_PROGRAMS
from boring.typing import FloatArray

__all__ = ["gaussian_conditionals", "gibbs", "linear_model_conditionals", "metropolis"]

Conditional = Callable[[FloatArray, np.random.Generator], None]


def metropolis(
    target: Target,
    positions: FloatArray,
    step: float,
    n_draws: int,
    data: Any,
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray]:
    """Walk with normal steps; return draws (chains, n_draws, p) and acceptance rates (chains,).

    Parameters
    ----------
    target : Target
    positions : ndarray, shape (chains, p)
    step : float
        Standard deviation of a step in every coordinate.
    n_draws : int
        Of each chain, repetitions included.
    data : Any
        Handed to the target.
    rng : numpy.random.Generator
        Consumed.
    """
    with double_precision():
        keys = load("jax.random").split(random_key(rng), len(positions))
        draws, accepted = _walk(target, n_draws)(keys, positions, step, data)
        return np.asarray(draws), np.asarray(accepted)


@lru_cache(maxsize=N_PROGRAMS)
def _walk(target: Target, n_draws: int) -> Any:
    jax, blackjax = load("jax"), load("blackjax")
    walk = load("blackjax.mcmc.random_walk")
    kernel = blackjax.additive_step_random_walk.build_kernel()

    def chain(key: Any, position: Any, step: Any, data: Any) -> Any:
        def density(q: Any) -> Any:
            return target.log_density(q, data)

        propose = walk.normal(step * jax.numpy.ones_like(position))

        def move(state: Any, key: Any) -> Any:
            state, info = kernel(key, state, density, propose)
            return state, (state.position, info.acceptance_rate)

        first = blackjax.additive_step_random_walk.init(position, density)
        _, (draws, accepted) = jax.lax.scan(move, first, jax.random.split(key, n_draws))
        return draws, accepted.mean()

    return jax.jit(jax.vmap(chain, in_axes=(0, 0, None, None)))


def gibbs(
    conditionals: Sequence[Conditional],
    state: FloatArray,
    n_draws: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Draw from each conditional in turn; return the states after each sweep (n_draws, p).

    Parameters
    ----------
    conditionals : sequence of callable
        Each replaces its own entries of the state, in place, by a draw given the others.
    state : ndarray, shape (p,)
        Where to begin; left as it is.
    n_draws : int
    rng : numpy.random.Generator
        Consumed.
    """
    state = np.array(state, dtype=np.float64)
    draws = np.empty((n_draws, state.size))
    for k in range(n_draws):
        for draw in conditionals:
            draw(state, rng)
        draws[k] = state
    return draws


def gaussian_conditionals(mean: FloatArray, precision: FloatArray) -> list[Conditional]:
    """Return the conditionals of each coordinate of N(mean, precision^-1)."""

    def of(k: int) -> Conditional:
        def draw(state: FloatArray, rng: np.random.Generator) -> None:
            pull = precision[k] @ (state - mean) - precision[k, k] * (state[k] - mean[k])
            centre = mean[k] - pull / precision[k, k]
            state[k] = rng.normal(centre, 1.0 / np.sqrt(precision[k, k]))

        return draw

    return [of(k) for k in range(len(mean))]


def linear_model_conditionals(
    X: FloatArray, y: FloatArray, shape: float, rate: float
) -> list[Conditional]:
    r"""Return the conditionals of a linear model with learned precisions.

    Parameters
    ----------
    X : ndarray, shape (n, p)
    y : ndarray, shape (n,)
    shape, rate : float
        Of the Gamma prior of both precisions.

    Returns
    -------
    list of callable
        On states (p + 2,): weights, precision :math:`\tau_p` of the weights, :math:`\tau_n` of
        the noise.

    Notes
    -----
    :math:`\tau_p \mid w \sim \mathrm{Gamma}(a + p/2, b + |w|^2/2)`,
    :math:`\tau_n \mid w \sim \mathrm{Gamma}(a + n/2, b + |y - Xw|^2/2)`, and the weights are
    normal with precision :math:`\tau_p I + \tau_n X'X`.
    """
    n, p = X.shape
    gram, moment = X.T @ X, X.T @ y

    def weights(state: FloatArray, rng: np.random.Generator) -> None:
        tau_p, tau_n = state[p], state[p + 1]
        factor = np.linalg.cholesky(tau_p * np.eye(p) + tau_n * gram)
        centre = np.linalg.solve(factor.T, np.linalg.solve(factor, tau_n * moment))
        state[:p] = centre + np.linalg.solve(factor.T, rng.standard_normal(p))

    def weight_precision(state: FloatArray, rng: np.random.Generator) -> None:
        state[p] = rng.gamma(shape + p / 2, 1.0 / (rate + state[:p] @ state[:p] / 2))

    def noise_precision(state: FloatArray, rng: np.random.Generator) -> None:
        residual = y - X @ state[:p]
        state[p + 1] = rng.gamma(shape + n / 2, 1.0 / (rate + residual @ residual / 2))

    return [weights, weight_precision, noise_precision]
