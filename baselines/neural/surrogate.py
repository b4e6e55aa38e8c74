"""What the optimisers on networks share: options of the network, and its ensemble of weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from baselines._options import check_choice, check_positive
from baselines._surrogate_loop import Fit, LoopOptions
from baselines.neural._chains import Chains, unpack
from baselines.neural.network import Activation, Network, NetworkPosterior, check_hidden
from baselines.neural.priors import NetworkModel
from boring.exceptions import FitError, InvalidInputError
from boring.result import InfoValue
from boring.typing import FloatArray
from boring.validation import as_real

__all__ = [
    "FIRST_STEP_SIZE",
    "NetworkOptions",
    "check_rate",
    "fit_by_chains",
    "posterior_at",
    "said_of",
    "small_weights",
    "stan_positions",
]

#: Step size that adaptation begins from at the first fit, in whitened coordinates (that of the
#: code which Agrawal's report follows; adaptation recovers from a factor of ten either way).
FIRST_STEP_SIZE = 0.01

#: Half the range of Stan's random starts.
STAN_RANGE = 2.0

Sampler = Callable[[FloatArray, FloatArray], Chains]


@dataclass(frozen=True)
class NetworkOptions(LoopOptions):
    """Options of a network, beside :class:`LoopOptions`.

    Parameters
    ----------
    hidden : sequence of int, default (50, 50, 50)
        Units of each hidden layer (Agrawal 2016; Kruse 2022).
    activation : {"tanh", "sigmoid", "relu"}, default "tanh"
        Kinks of "relu" show in the posterior (Agrawal 2016).
    """

    hidden: tuple[int, ...] = (50, 50, 50)
    activation: Activation = "tanh"

    allowed: ClassVar[tuple[str, ...]] = ("log-ei", "ucb", "empirical-ei")

    def __post_init__(self) -> None:
        """Check the options."""
        super().__post_init__()
        object.__setattr__(self, "hidden", _as_widths(self.hidden))
        check_choice(self.activation, "activation", ("tanh", "sigmoid", "relu"))

    def network(self, dim: int) -> Network:
        """Return the network on this many inputs."""
        return Network(dim, self.hidden, self.activation)


def _as_widths(hidden: object) -> tuple[int, ...]:
    # A resumed run reads a list.
    if not isinstance(hidden, (list, tuple)) or not hidden:
        raise InvalidInputError(
            f"hidden must be a sequence with the number of units of each hidden layer; received "
            f"{hidden!r}. Pass for instance (50, 50, 50)."
        )
    widths = tuple(hidden)
    check_hidden(widths)
    return widths


def check_rate(value: float, name: str) -> None:
    """Raise InvalidInputError unless the value lies between 0 and 1, both excluded."""
    check_positive(value, name)
    if as_real(value, name, "a number below 1") >= 1:
        raise InvalidInputError(f"{name} must be below 1; received {value!r}. Pass a smaller one.")


def posterior_at(model: NetworkModel, positions: FloatArray) -> NetworkPosterior:
    """Return the networks at positions (N, n_coordinates), and the mean variance of their noise.

    Raises
    ------
    FitError
        If a position is not finite.
    """
    if not np.isfinite(positions).all():
        raise FitError(
            "every network's weights must be finite; a chain or an ascent ran off to infinity. "
            "Lower its step size or learning rate, or raise noise_sd."
        )
    weights = model.weights(positions)
    return NetworkPosterior(model.network, weights, model.noise_variance(positions))


def small_weights(model: NetworkModel, n: int, rng: np.random.Generator) -> FloatArray:
    """Return n positions with weights N(0, 1 / inputs of the layer), and biases of 0.

    The usual beginning of an optimiser's walk; for priors that learn no scales.
    """
    positions = np.zeros((n, model.n_coordinates))
    for k, group in enumerate(model.network.groups):
        if group.kind == "weights":
            scale = 1.0 / (np.sqrt(group.fan_in) * model.prior.scale_of(group, k))
            positions[:, group.slice] = scale * rng.standard_normal((n, group.size))
    return positions


def stan_positions(model: NetworkModel, n: int, rng: np.random.Generator) -> FloatArray:
    """Return n positions whose weights, logarithms of scales and of noise are U(-2, 2).

    Where Stan begins by default. From draws of a wide prior, hundreds of standard deviations off
    the data and sure of it, one chain in six stayed there.

    Parameters
    ----------
    model : NetworkModel
    n : int
    rng : numpy.random.Generator
        Consumed.
    """
    positions = rng.uniform(-STAN_RANGE, STAN_RANGE, (n, model.n_coordinates))
    p = model.network.n_parameters
    for k, group in enumerate(model.network.groups):
        if model.n_scales:
            positions[:, group.slice] *= np.exp(-positions[:, p + k, None])
        else:
            positions[:, group.slice] /= model.prior.scale_of(group, k)
    return positions


def fit_by_chains(
    model: NetworkModel,
    sample: Sampler,
    n_chains: int,
    memory: Mapping[str, Any],
    rng: np.random.Generator,
) -> Fit:
    """Sample from where the last fit's chains ended; at the first, from where Stan begins.

    Parameters
    ----------
    model : NetworkModel
    sample : callable
        Runs chains from positions and step sizes.
    n_chains : int
    memory : mapping
        Of the last fit; empty at the first.
    rng : numpy.random.Generator
        Consumed.
    """
    if memory:
        positions, step_sizes = unpack(memory["positions"]), np.array(memory["step_sizes"])
    else:
        positions = stan_positions(model, n_chains, rng)
        step_sizes = np.full(n_chains, FIRST_STEP_SIZE)
    chains = sample(positions, step_sizes)
    return Fit(posterior_at(model, chains.pooled), chains.memory(), said_of(chains))


def said_of(chains: Chains) -> dict[str, InfoValue]:
    """Return what a proposal's info says of its chains."""
    return {
        "acceptance_rate": float(chains.acceptance.mean()),
        "step_size": float(np.median(chains.step_sizes)),
        "n_divergent": chains.n_divergent,
    }
