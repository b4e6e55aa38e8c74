r"""Priors over the parameters of a network, and the posterior's log density.

Chains move in *whitened* coordinates z, with :math:`\theta = s z` for a prior of scale s, so that
one step size suits every parameter; behind z come the logarithms of what else is learned (scales
of groups, standard deviation of the noise). All densities are those of these coordinates, the
Jacobian included.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from baselines._options import check_choice, check_positive
from baselines.neural._jax import bucket, load, pad_rows
from baselines.neural.network import Group, Network
from boring.exceptions import InvalidInputError
from boring.typing import FloatArray

__all__ = ["Data", "NetworkModel", "Noise", "WeightPrior", "padded"]

Data = tuple[Any, Any, Any]
LOG_TWO_PI = float(np.log(2.0 * np.pi))


@dataclass(frozen=True)
class WeightPrior:
    """Prior of weights and biases.

    Parameters
    ----------
    kind : {"gaussian", "fan-in", "cauchy", "hierarchical"}
        "gaussian": independent N(0, scale^2). "fan-in": N(0, scale^2 / inputs of the layer).
        "cauchy": Cauchy in the last layer, with scale ``scale`` for its bias and scale / H for
        its weights from H units, so that f keeps a limit as H grows; N(0, scale^2) below.
        "hierarchical": N(0, s_g^2) with s_g ~ Gamma(shape, rate) for each group g, weights or
        biases of one layer.
    scale : float or tuple of float, default 1
        A tuple has one for each group, from the first layer's weights to the last one's bias;
        for "gaussian" alone. "hierarchical" ignores it.
    shape, rate : float, default 2 and 0.02
        Of the Gamma density; mean 100 (thesis, ch. 3).

    Notes
    -----
    Cauchy: Neal, Bayesian Learning for Neural Networks, 1996, as reviewed in Agrawal's report;
    hierarchical: Aryan, PhD thesis, Victoria University of Wellington 2020, ch. 3.
    """

    kind: Literal["gaussian", "fan-in", "cauchy", "hierarchical"] = "gaussian"
    scale: float | tuple[float, ...] = 1.0
    shape: float = 2.0
    rate: float = 0.02

    def __post_init__(self) -> None:
        """Check the numbers."""
        check_choice(self.kind, "kind", ("gaussian", "fan-in", "cauchy", "hierarchical"))
        if isinstance(self.scale, tuple) and self.kind != "gaussian":
            raise InvalidInputError(
                f"a scale for each group needs kind='gaussian'; received kind={self.kind!r}. "
                "Pass one number."
            )
        for number in self.scale if isinstance(self.scale, tuple) else (self.scale,):
            check_positive(number, "scale")
        check_positive(self.shape, "shape")
        check_positive(self.rate, "rate")

    def scale_of(self, group: Group, index: int) -> float:
        """Return the scale of a group's parameters, whose place among the groups is given."""
        if isinstance(self.scale, tuple):
            return self.scale[index]
        if self.kind == "fan-in":
            return self.scale / float(np.sqrt(group.fan_in))
        if self.kind == "cauchy" and group.last and group.kind == "weights":
            return self.scale / group.fan_in
        return self.scale


@dataclass(frozen=True)
class Noise:
    """Standard deviation of the noise: fixed, or learned under a prior.

    Parameters
    ----------
    kind : {"fixed", "gamma", "log-normal"}
        "gamma": sd ~ Gamma(a, b), rate b. "log-normal": log sd^2 ~ N(a, b^2).
    a, b : float
        The value itself is ``a`` if fixed.
    """

    kind: Literal["fixed", "gamma", "log-normal"] = "fixed"
    a: float = 0.05
    b: float = 1.0

    def __post_init__(self) -> None:
        """Check the numbers."""
        check_choice(self.kind, "kind", ("fixed", "gamma", "log-normal"))
        if self.kind != "log-normal":
            check_positive(self.a, "a")
        check_positive(self.b, "b")


@dataclass(frozen=True)
class NetworkModel:
    """A network with its prior and its noise; hashable, so that programs are cached by it.

    Parameters
    ----------
    network : Network
    prior : WeightPrior
    noise : Noise

    Raises
    ------
    InvalidInputError
        If there is not one scale for each group.
    """

    network: Network
    prior: WeightPrior = WeightPrior()
    noise: Noise = Noise()

    def __post_init__(self) -> None:
        """Check that the scales fit."""
        scale, n_groups = self.prior.scale, len(self.network.groups)
        if isinstance(scale, tuple) and len(scale) != n_groups:
            raise InvalidInputError(
                f"scale needs one number for each of {n_groups} groups; received {len(scale)}. "
                "Pass weights and biases of each layer in order."
            )

    @property
    def n_scales(self) -> int:
        """Learned scales of groups."""
        return len(self.network.groups) if self.prior.kind == "hierarchical" else 0

    @property
    def n_coordinates(self) -> int:
        """Length of a position."""
        return self.network.n_parameters + self.n_scales + (self.noise.kind != "fixed")

    def parameters(self, position: Any) -> Any:
        """Return the network's flat parameter vector at one position."""
        jnp = load("jax.numpy")
        n = self.network.n_parameters
        groups = self.network.groups
        if self.n_scales:
            scales = [jnp.exp(position[n + k]) for k in range(len(groups))]
        else:
            scales = [self.prior.scale_of(group, k) for k, group in enumerate(groups)]
        return jnp.concatenate(
            [scale * position[group.slice] for scale, group in zip(scales, groups, strict=True)]
        )

    def log_noise(self, position: Any) -> Any:
        """Return the logarithm of the noise's standard deviation at one position."""
        return np.log(self.noise.a) if self.noise.kind == "fixed" else position[-1]

    def noise_variance(self, positions: FloatArray) -> float:
        """Return the noise's variance, the mean over positions (N, n_coordinates)."""
        if self.noise.kind == "fixed":
            return float(self.noise.a) ** 2
        return float(np.mean(np.exp(2.0 * positions[:, -1])))

    def log_prior(self, position: Any) -> Any:
        """Return the log density of the coordinates, constants included but for Gamma's."""
        jnp = load("jax.numpy")
        n = self.network.n_parameters
        z = position[:n]
        if self.prior.kind == "cauchy":
            start = next(group.start for group in self.network.groups if group.last)
            total = _log_normal(z[:start]).sum()
            total += -(jnp.log1p(z[start:] ** 2) + jnp.log(jnp.pi)).sum()
        else:
            total = _log_normal(z).sum()
        for k in range(self.n_scales):
            total += _log_gamma(position[n + k], self.prior.shape, self.prior.rate)
        if self.noise.kind == "gamma":
            total += _log_gamma(position[-1], self.noise.a, self.noise.b)
        elif self.noise.kind == "log-normal":
            # log sd is half of log sd^2, with half its mean and spread.
            spread = 0.5 * self.noise.b
            total += _log_normal((position[-1] - 0.5 * self.noise.a) / spread) - np.log(spread)
        return total

    def log_density(self, position: Any, data: Data) -> Any:
        """Return the log posterior but for a constant.

        Parameters
        ----------
        position : array, shape (n_coordinates,)
        data : tuple
            X (n, D), y (n,) and how often each row counts (n,).
        """
        jnp = load("jax.numpy")
        X, y, counts = data
        log_sd = self.log_noise(position)
        residual = (y - self.network.outputs(self.parameters(position), X)) * jnp.exp(-log_sd)
        logs = _log_normal(residual) - log_sd
        return self.log_prior(position) + (counts * logs).sum()

    def draw(self, rng: np.random.Generator, n: int) -> FloatArray:
        """Return n positions from the prior, shape (n, n_coordinates)."""
        p, groups = self.network.n_parameters, self.network.groups
        position = np.zeros((n, self.n_coordinates))
        position[:, :p] = rng.standard_normal((n, p))
        if self.prior.kind == "cauchy":
            start = next(group.start for group in groups if group.last)
            position[:, start:p] = rng.standard_cauchy((n, p - start))
        if self.n_scales:
            scales = rng.gamma(self.prior.shape, 1.0 / self.prior.rate, (n, self.n_scales))
            position[:, p : p + self.n_scales] = np.log(scales)
        if self.noise.kind == "gamma":
            position[:, -1] = np.log(rng.gamma(self.noise.a, 1.0 / self.noise.b, n))
        elif self.noise.kind == "log-normal":
            position[:, -1] = 0.5 * (self.noise.a + self.noise.b * rng.standard_normal(n))
        return position

    def weights(self, positions: FloatArray) -> FloatArray:
        """Return parameter vectors (N, n_parameters) at positions (N, n_coordinates)."""
        n = self.network.n_parameters
        weights = np.array(positions[:, :n], dtype=np.float64)
        for k, group in enumerate(self.network.groups):
            if self.n_scales:
                weights[:, group.slice] *= np.exp(positions[:, n + k, None])
            else:
                weights[:, group.slice] *= self.prior.scale_of(group, k)
        return weights


def padded(X: FloatArray, y: FloatArray) -> Data:
    """Return the data padded to a bucket; rows that are not there count 0 times."""
    rows = bucket(len(X))
    return pad_rows(X, rows), pad_rows(y, rows), pad_rows(np.ones(len(X)), rows)


def _log_normal(z: Any) -> Any:
    return -0.5 * (z**2 + LOG_TWO_PI)


def _log_gamma(log_value: Any, shape: float, rate: float) -> Any:
    """Log density of the logarithm of a Gamma variable, but for a constant."""
    return shape * log_value - rate * load("jax.numpy").exp(log_value)
