"""Do chains agree? Asked of predictions, since weights of a network are not identified.

Both figures are BlackJAX's; R-hat is split here: each chain counts as two, its halves.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from baselines.neural._jax import double_precision, load
from boring.exceptions import InvalidInputError
from boring.typing import FloatArray

__all__ = ["effective_sample_size", "split_r_hat"]


def split_r_hat(chains: FloatArray) -> FloatArray:
    """Return R-hat of halves of chains, at least about 1, and near 1 where they agree.

    Parameters
    ----------
    chains : ndarray, shape (chains, draws) or (chains, draws, m)
        Of m quantities, for instance predictions at m points. An odd last draw is left out.

    Returns
    -------
    ndarray, shape () or (m,)

    Raises
    ------
    InvalidInputError
        If there are fewer than four draws.

    Notes
    -----
    Gelman et al., Bayesian Data Analysis, 3rd ed. 2013, sect. 11.4.
    """
    chains = _checked(chains)
    half = chains.shape[1] // 2
    halves = np.concatenate([chains[:, :half], chains[:, half : 2 * half]])
    with double_precision():
        found = load("blackjax.diagnostics").potential_scale_reduction(halves)
        return np.asarray(found, dtype=np.float64)


def effective_sample_size(chains: FloatArray) -> FloatArray:
    """Return the number of independent draws that all chains together are worth.

    Parameters
    ----------
    chains : ndarray, shape (chains, draws) or (chains, draws, m)

    Returns
    -------
    ndarray, shape () or (m,)

    Raises
    ------
    InvalidInputError
        If there are fewer than four draws.
    """
    chains = _checked(chains)
    with double_precision():
        return np.asarray(_size_program()(chains), dtype=np.float64)


@lru_cache(maxsize=1)
def _size_program() -> Any:
    return load("jax").jit(load("blackjax.diagnostics").effective_sample_size)


def _checked(chains: FloatArray) -> FloatArray:
    chains = np.asarray(chains, dtype=np.float64)
    if chains.ndim not in (2, 3) or chains.shape[1] < 4:
        raise InvalidInputError(
            f"chains must have shape (chains, draws) or (chains, draws, m), with at least 4 draws; "
            f"received shape {chains.shape}. Pass longer chains."
        )
    return chains
