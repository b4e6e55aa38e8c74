"""The no-U-turn sampler, with step size and diagonal masses adapted in windows.

Hoffman and Gelman 2014, with Stan's schedule of windows; kernel and adaptation are BlackJAX's. The
tree is at most 2^8 leapfrog steps deep by default, as in Aryan, PhD thesis, Victoria University of
Wellington 2020, ch. 3.
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

__all__ = ["NutsSettings", "sample_nuts"]


@dataclass(frozen=True)
class NutsSettings:
    """How long chains run; hashable, for programs are cached by it.

    Parameters
    ----------
    n_burn_in, n_draws : int
        Transitions with adaptation, and draws kept of each chain.
    thin : int
        Transitions for each draw kept.
    tree_depth : int
        Most doublings of a trajectory.
    target_acceptance : float
        Between 0 and 1.
    """

    n_burn_in: int
    n_draws: int
    thin: int = 1
    tree_depth: int = 8
    target_acceptance: float = 0.8


def sample_nuts(
    target: Target,
    positions: FloatArray,
    step_sizes: FloatArray,
    settings: NutsSettings,
    data: Any,
    rng: np.random.Generator,
) -> Chains:
    """Run the chains from where they are; arguments are those of HMC."""
    return run_chains(_program(target, settings), positions, step_sizes, data, rng)


@lru_cache(maxsize=N_PROGRAMS)
def _program(target: Target, settings: NutsSettings) -> Any:
    jax, blackjax = load("jax"), load("blackjax")
    no_info = load("blackjax.adaptation.base").get_filter_adapt_info_fn()
    kernel = blackjax.nuts.build_kernel()

    def chain(key: Any, position: Any, step_size: Any, data: Any) -> Any:
        def density(q: Any) -> Any:
            return target.log_density(q, data)

        warm, cold = jax.random.split(key)
        adaptation = blackjax.window_adaptation(
            blackjax.nuts,
            density,
            initial_step_size=step_size,
            target_acceptance_rate=settings.target_acceptance,
            adaptation_info_fn=no_info,
            max_num_doublings=settings.tree_depth,
        )
        (state, tuned), _ = adaptation.run(warm, position, settings.n_burn_in)

        def keep(state: Any, keys: Any) -> Any:
            def one(state: Any, key: Any) -> Any:
                state, info = kernel(
                    key,
                    state,
                    density,
                    tuned["step_size"],
                    tuned["inverse_mass_matrix"],
                    settings.tree_depth,
                )
                return state, (info.acceptance_rate, info.is_divergent)

            state, found = jax.lax.scan(one, state, keys)
            return state, (state.position, *found)

        keys = jax.random.split(cold, (settings.n_draws, settings.thin))
        _, (draws, accepted, divergent) = jax.lax.scan(keep, state, keys)
        return draws, tuned["step_size"], accepted.mean(), divergent.sum()

    return jax.jit(jax.vmap(chain, in_axes=(0, 0, 0, None)))
