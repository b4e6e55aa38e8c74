"""Stacks of dense layers on JAX, in single precision.

Training needs no more than single precision, which is several times quicker here; the networks
that come out are evaluated in double precision elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import numpy as np

from baselines.neural._jax import load

__all__ = ["apply_layers", "initial_layers", "random_seed", "single_precision"]

#: Variance of initial weights times the number of inputs of a layer [Aryan 2020, ch. 6, where it
#: is called a standard deviation of 2.0; He et al. 2015].
INITIAL_SCALE = 2.0


@contextmanager
def single_precision() -> Iterator[None]:
    """Compute with 32 bits inside this block, whatever the caller's setting."""
    with load("jax").enable_x64(False):
        yield


def random_seed(rng: np.random.Generator) -> Any:
    """Return a key of JAX, for one draw of a generator; call it in single precision."""
    # This kind of key compiles and draws several times quicker than JAX's usual one.
    return load("jax.random").key(int(rng.integers(2**31)), impl="rbg")


def initial_layers(key: Any, sizes: Sequence[int], scale: float = INITIAL_SCALE) -> Any:
    """Return weights and biases of dense layers.

    Parameters
    ----------
    key : jax.Array
        Random key.
    sizes : sequence of int
        Inputs, hidden units, ..., outputs.
    scale : float, default 2
        Variance of a weight times its layer's inputs; biases are zero.

    Returns
    -------
    list of (array (a, b), array (b,))
    """
    jax, jnp = load("jax"), load("jax.numpy")
    layers = []
    pairs = list(pairwise(sizes))
    for one, (a, b) in zip(jax.random.split(key, len(pairs)), pairs, strict=True):
        layers.append((jnp.sqrt(scale / a) * jax.random.normal(one, (a, b)), jnp.zeros(b)))
    return layers


def apply_layers(layers: Any, inputs: Any) -> Any:
    """Return outputs (n, k) of dense layers at inputs (n, d): rectified units, then linear ones."""
    jax = load("jax")
    for W, b in layers[:-1]:
        inputs = jax.nn.relu(inputs @ W + b)
    W, b = layers[-1]
    return inputs @ W + b
