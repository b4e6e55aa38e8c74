r"""Hamiltonian Monte Carlo with several chains and an adapted step size.

Agrawal, Bayesian Optimisation using Neural Networks, Cambridge 2016, sect. 3.3: momenta are drawn
anew, L leapfrog steps follow, and the end is accepted with probability
:math:`\min(1, \exp(H - H^*))`. The kernel and the adaptation are BlackJAX's.

**Deviations**: the step size is adapted by dual averaging (Hoffman and Gelman 2014), which comes
back from a tenfold error in tens of draws where the report's moving average, at 2 per cent a
draw, takes a hundred; and it is frozen after burn-in, since adapting on leaves the target.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from baselines.neural._chains import Chains, Target, run_chains
from baselines.neural._jax import load
from baselines.neural.network import N_PROGRAMS
from boring.typing import FloatArray

__all__ = ["HmcSettings", "sample_hmc"]


@dataclass(frozen=True)
class HmcSettings:
    """How long chains run; hashable, for programs are cached by it.

    Parameters
    ----------
    n_burn_in, n_draws : int
        Draws with adaptation, which are left out, and draws kept, of each chain.
    thin : int
        Transitions for each draw.
    n_leapfrog : int
    target_acceptance : float
        Between 0 and 1.
    """

    n_burn_in: int
    n_draws: int
    thin: int = 1
    n_leapfrog: int = 20
    target_acceptance: float = 0.9


def sample_hmc(
    target: Target,
    positions: FloatArray,
    step_sizes: FloatArray,
    settings: HmcSettings,
    data: Any,
    rng: np.random.Generator,
) -> Chains:
    """Run the chains from where they are.

    Parameters
    ----------
    target : Target
    positions : ndarray, shape (chains, p)
    step_sizes : ndarray, shape (chains,)
        To adapt from.
    settings : HmcSettings
    data : Any
        Handed to the target; programs are compiled for each of its shapes.
    rng : numpy.random.Generator
        Consumed.
    """
    return run_chains(_program(target, settings), positions, step_sizes, data, rng)


@lru_cache(maxsize=N_PROGRAMS)
def _program(target: Target, settings: HmcSettings) -> Any:
    jax, jnp, blackjax = load("jax"), load("jax.numpy"), load("blackjax")
    adaptation = load("blackjax.adaptation.step_size")
    start, update, finish = adaptation.dual_averaging_adaptation(settings.target_acceptance)
    kernel = blackjax.hmc.build_kernel()

    def chain(key: Any, position: Any, step_size: Any, data: Any) -> Any:
        def density(q: Any) -> Any:
            return target.log_density(q, data)

        def move(carry: Any, step: Any) -> Any:
            state, sizes = carry
            key, adapting = step
            # One copy of the kernel serves both phases: its program is what takes long to compile.
            size = jnp.where(adapting, jnp.exp(sizes.log_step_size), finish(sizes))
            state, info = kernel(key, state, density, size, masses, settings.n_leapfrog)
            updated = update(sizes, info.acceptance_rate)
            sizes = jax.tree.map(lambda new, old: jnp.where(adapting, new, old), updated, sizes)
            return (state, sizes), (info.acceptance_rate, info.is_divergent)

        def block(carry: Any, steps: Any) -> Any:
            carry, (accepted, divergent) = jax.lax.scan(move, carry, steps)
            return carry, (carry[0].position, accepted.mean(), divergent.sum())

        masses = jnp.ones_like(position)
        n_blocks = settings.n_burn_in + settings.n_draws
        keys = jax.random.split(key, (n_blocks, settings.thin))
        adapting = jnp.broadcast_to(
            jnp.arange(n_blocks)[:, None] < settings.n_burn_in, (n_blocks, settings.thin)
        )
        first = (blackjax.hmc.init(position, density), start(step_size))
        (_, sizes), (draws, accepted, divergent) = jax.lax.scan(block, first, (keys, adapting))
        kept = slice(settings.n_burn_in, None)
        return draws[kept], finish(sizes), accepted[kept].mean(), divergent[kept].sum()

    return jax.jit(jax.vmap(chain, in_axes=(0, 0, 0, None)))
