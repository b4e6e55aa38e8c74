"""What the samplers share: targets, results, and states on their way through a memory."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from baselines.neural._jax import double_precision, load, random_key
from boring.typing import FloatArray

__all__ = ["Chains", "Target", "pack", "run_chains", "unpack"]


class Target(Protocol):
    """A log density; frozen and hashable, for programs are cached by it."""

    def log_density(self, position: Any, data: Any, /) -> Any:
        """Return the log density at one position, in functions of JAX."""
        ...

    def __hash__(self) -> int:
        """Equal targets share their programs."""
        ...


@dataclass(frozen=True, eq=False)
class Chains:
    """Draws of several chains.

    Attributes
    ----------
    draws : ndarray, shape (chains, draws, p)
    step_sizes : ndarray, shape (chains,)
        After adaptation.
    acceptance : ndarray, shape (chains,)
        Mean acceptance rate after burn-in.
    n_divergent : int
        Transitions whose energy error exceeded 1000.
    """

    draws: FloatArray
    step_sizes: FloatArray
    acceptance: FloatArray
    n_divergent: int

    @property
    def pooled(self) -> FloatArray:
        """Draws of all chains, shape (chains * draws, p)."""
        return self.draws.reshape(-1, self.draws.shape[-1])

    def memory(self) -> dict[str, Any]:
        """Return last states and step sizes, JSON-able."""
        return {"positions": pack(self.draws[:, -1]), "step_sizes": self.step_sizes.tolist()}


def run_chains(
    program: Any,
    positions: FloatArray,
    step_sizes: FloatArray,
    data: Any,
    rng: np.random.Generator,
) -> Chains:
    """Run a sampler's program, with a key for each chain.

    Parameters
    ----------
    program : callable
        From keys, positions, step sizes and data to draws, step sizes, acceptance rates and
        numbers of divergent transitions, all by chain.
    positions : ndarray, shape (chains, p)
    step_sizes : ndarray, shape (chains,)
    data : Any
    rng : numpy.random.Generator
        Consumed.
    """
    with double_precision():
        keys = load("jax.random").split(random_key(rng), len(positions))
        draws, sizes, accepted, divergent = program(keys, positions, step_sizes, data)
        return Chains(
            np.asarray(draws), np.asarray(sizes), np.asarray(accepted), int(divergent.sum())
        )


def pack(array: FloatArray) -> dict[str, Any]:
    """Return an array as text of its single-precision bytes.

    As decimal numbers the states of a few large networks take a megabyte for each proposal; a
    warm start needs no more than single precision.
    """
    text = b64encode(array.astype("<f4").tobytes()).decode("ascii")
    return {"shape": list(array.shape), "bytes": text}


def unpack(packed: Mapping[str, Any]) -> FloatArray:
    """Return the array that was packed, in double precision."""
    flat = np.frombuffer(b64decode(packed["bytes"]), dtype="<f4")
    return flat.astype(np.float64).reshape(packed["shape"])
