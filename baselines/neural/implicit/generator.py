r"""A deep implicit model with sequential output heads: a network that draws networks.

A code :math:`z \sim N(0, I_5)` and noise :math:`\epsilon` go through hidden layers,

.. math:: z^{(3)} = g_3(\epsilon^{(3)}, z), \qquad z^{(2)} = g_2(z^{(3)}), \qquad
   z^{(1)} = g_1(\epsilon^{(1)}, z^{(2)}),

the noise entering the first and every other one, and then heads, each fed by the one before:
:math:`\theta^{(1)} = h_1(z^{(1)})`, :math:`\theta^{(i)} = h_i(\theta^{(i-1)})`. Layer i's weights
are thus made from layer i - 1's [Aryan, PhD thesis, Victoria University of Wellington 2020, ch. 6,
the hypernetwork].

**Deviations**: activations are not printed: rectified units here, as the initialisation asks for,
and linear heads.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from baselines.neural._jax import load
from baselines.neural.implicit.layers import initial_layers

__all__ = ["CODE_DIM", "Code", "draw_code", "generate", "initial_generator", "log_density"]

#: Dimension of the code, hidden layers, and noise for each of those that take some [thesis ch. 6].
CODE_DIM = 5
N_LAYERS = 3
NOISE_DIM = 1
#: Variances of initial weights times the inputs of a layer.
HIDDEN_SCALE = 2.0
HEAD_SCALE = 1.0

#: The code (n, 5), and the noise (n, 2): one column for each layer that takes some.
Code = tuple[Any, Any]
#: Layers that take noise: the first and every other one.
_NOISY = tuple(range(0, N_LAYERS, 2))


def initial_generator(key: Any, width: int, heads: Sequence[int]) -> Any:
    """Return parameters of a generator.

    Parameters
    ----------
    key : jax.Array
        Random key.
    width : int
        Units of each hidden layer.
    heads : sequence of int
        How many numbers each head puts out.

    Returns
    -------
    dict
        ``"hidden"`` and ``"heads"``: lists of weights and biases.
    """
    first, second = load("jax.random").split(key)
    sizes = [CODE_DIM, *[width] * N_LAYERS]
    hidden = []
    for index, one in enumerate(load("jax.random").split(first, N_LAYERS)):
        inputs = sizes[index] + (NOISE_DIM if index in _NOISY else 0)
        hidden += initial_layers(one, [inputs, sizes[index + 1]], HIDDEN_SCALE)
    return {"hidden": hidden, "heads": initial_layers(second, [width, *heads], HEAD_SCALE)}


def draw_code(key: Any, n: int) -> Code:
    """Return n codes and their noise, standard normal."""
    both = load("jax.random").normal(key, (n, CODE_DIM + NOISE_DIM * len(_NOISY)))
    return both[:, :CODE_DIM], both[:, CODE_DIM:]


def log_density(code: Code) -> Any:
    """Return log p(z) (n,), but for a constant."""
    return -0.5 * (code[0] ** 2).sum(axis=1)


def generate(generator: Any, code: Code) -> list[Any]:
    """Return what the heads put out, arrays (n, size) in their order."""
    jax, jnp = load("jax"), load("jax.numpy")
    z, noise = code
    used = 0
    for index, (W, b) in enumerate(generator["hidden"]):
        if index in _NOISY:
            z = jnp.concatenate([z, noise[:, used : used + NOISE_DIM]], axis=1)
            used += NOISE_DIM
        z = jax.nn.relu(z @ W + b)
    outputs = []
    for W, b in generator["heads"]:
        z = z @ W + b
        outputs.append(z)
    return outputs
