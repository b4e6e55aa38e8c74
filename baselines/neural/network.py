"""Multilayer perceptrons with one output, their parameters in one flat vector.

All members of an ensemble are evaluated in one compiled program, at numbers of points that are
padded to buckets: a new number of points compiles nothing unless its bucket is new.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from baselines._members import EnsemblePosterior
from baselines._options import check_choice
from baselines.neural._jax import bucket, double_precision, load, pad_rows
from boring.exceptions import InvalidInputError
from boring.typing import FloatArray
from boring.validation import as_positive_int

__all__ = ["ACTIVATIONS", "Activation", "Group", "Network", "NetworkPosterior", "check_hidden"]

Activation = Literal["tanh", "sigmoid", "relu", "step"]
ACTIVATIONS = ("tanh", "sigmoid", "relu", "step")
#: Points that a compiled program takes at once; more come in pieces, to bound its memory.
LARGEST_PIECE = 512
#: Programs kept; each holds one network, and as many compiled shapes as buckets were met.
N_PROGRAMS = 64


@dataclass(frozen=True)
class Group:
    """Parameters of one kind in one layer, contiguous in the flat vector.

    Attributes
    ----------
    start, size : int
    fan_in : int
        Inputs of the layer.
    kind : {"weights", "biases"}
    last : bool
        Whether the layer is the output's.
    """

    start: int
    size: int
    fan_in: int
    kind: Literal["weights", "biases"]
    last: bool

    @property
    def slice(self) -> slice:
        """Its place in the flat vector."""
        return slice(self.start, self.start + self.size)


@dataclass(frozen=True)
class Network:
    """A perceptron with a linear output; hashable, so that programs are cached by it.

    Parameters
    ----------
    dim : int
        Inputs.
    hidden : tuple of int
        Units of each hidden layer; empty for a linear model.
    activation : {"tanh", "sigmoid", "relu", "step"}
        "step" is the sign of its input, for draws from priors: it has no useful gradient.

    Raises
    ------
    InvalidInputError
        If a number is not positive, or the activation unknown.
    """

    dim: int
    hidden: tuple[int, ...]
    activation: Activation = "tanh"

    def __post_init__(self) -> None:
        """Check the shape."""
        as_positive_int(self.dim, "dim")
        check_hidden(self.hidden)
        check_choice(self.activation, "activation", ACTIVATIONS)

    @property
    def layers(self) -> tuple[tuple[int, int], ...]:
        """Inputs and outputs of each layer."""
        widths = (self.dim, *self.hidden, 1)
        return tuple(pairwise(widths))

    @property
    def n_parameters(self) -> int:
        """Weights and biases in all."""
        return sum(fan_in * width + width for fan_in, width in self.layers)

    @property
    def groups(self) -> tuple[Group, ...]:
        """Weights and biases of each layer, in the order of the flat vector."""
        groups, start = [], 0
        for k, (fan_in, width) in enumerate(self.layers):
            last = k == len(self.layers) - 1
            groups.append(Group(start, fan_in * width, fan_in, "weights", last))
            groups.append(Group(start + fan_in * width, width, fan_in, "biases", last))
            start += fan_in * width + width
        return tuple(groups)

    def outputs(self, theta: Any, X: Any) -> Any:
        """Return the outputs (n,) at X (n, dim); arrays of JAX, in double precision."""
        activate = _activation(self.activation)
        value = X
        for weights, biases in zip(self.groups[::2], self.groups[1::2], strict=True):
            matrix = theta[weights.slice].reshape(weights.fan_in, biases.size)
            value = value @ matrix + theta[biases.slice]
            if not weights.last:
                value = activate(value)
        return value[:, 0]


def check_hidden(hidden: tuple[int, ...]) -> None:
    """Raise InvalidInputError unless these are numbers of units of hidden layers."""
    if not isinstance(hidden, tuple):
        raise InvalidInputError(
            f"hidden must be a tuple with the number of units of each hidden layer; received "
            f"{hidden!r}. Pass for instance (50, 50, 50)."
        )
    for width in hidden:
        as_positive_int(width, "each number in hidden")


def _activation(name: Activation) -> Any:
    jax, jnp = load("jax"), load("jax.numpy")
    if name == "step":
        return jnp.sign
    return {"tanh": jnp.tanh, "sigmoid": jax.nn.sigmoid, "relu": jax.nn.relu}[name]


@lru_cache(maxsize=N_PROGRAMS)
def _values(network: Network) -> Any:
    jax = load("jax")
    return jax.jit(jax.vmap(network.outputs, in_axes=(0, None)))


@lru_cache(maxsize=N_PROGRAMS)
def _values_and_gradients(network: Network) -> Any:
    jax = load("jax")

    def one(theta: Any, X: Any) -> Any:
        # Row i of the outputs depends on row i of X alone: the gradient of their sum has all.
        values, pull = jax.vjp(lambda X: network.outputs(theta, X), X)
        return values, pull(jax.numpy.ones_like(values))[0]

    return jax.jit(jax.vmap(one, in_axes=(0, None)))


class NetworkPosterior(EnsemblePosterior):
    """The outputs of N networks of one shape, equally likely.

    Parameters
    ----------
    network : Network
    weights : ndarray, shape (N, n_parameters)
    noise_variance : float, default 0
        Of observations about the networks; it is not part of what they predict.
    """

    def __init__(self, network: Network, weights: FloatArray, noise_variance: float = 0.0) -> None:
        self.network = network
        self.noise_variance = noise_variance
        self.weights = np.asarray(weights, dtype=np.float64)
        if self.weights.ndim != 2 or self.weights.shape[1] != network.n_parameters:
            raise InvalidInputError(
                f"weights must have shape (N, {network.n_parameters}); received "
                f"{self.weights.shape}. Pass one row for each network."
            )

    def members(self, X: FloatArray) -> FloatArray:
        """Return the outputs (n, N) at X (n, D)."""
        with double_precision():
            program = _values(self.network)
            found = [np.asarray(program(self.weights, rows))[:, :n] for rows, n in _pieces(X)]
        return np.concatenate(found, axis=1).T

    def members_with_gradient(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the outputs (n, N) and their gradients (n, N, D)."""
        values, slopes = [], []
        with double_precision():
            program = _values_and_gradients(self.network)
            for rows, n in _pieces(X):
                value, slope = program(self.weights, rows)
                values.append(np.asarray(value)[:, :n])
                slopes.append(np.asarray(slope)[:, :n])
        gradients = np.concatenate(slopes, axis=1)
        return np.concatenate(values, axis=1).T, np.swapaxes(gradients, 0, 1)


def _pieces(X: FloatArray) -> Iterator[tuple[FloatArray, int]]:
    """Yield padded rows of X with how many of them count."""
    for start in range(0, len(X), LARGEST_PIECE):
        piece = X[start : start + LARGEST_PIECE]
        yield pad_rows(piece, bucket(len(piece))), len(piece)
