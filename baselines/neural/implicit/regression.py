r"""Regression by small networks whose weights an implicit model draws.

The main network has one hidden layer of tanh units, or is linear (for which the posterior is
known in closed form). Each weight has the prior :math:`.2\,N(0, 1) + .8\,N(0, 5^2)`, and
:math:`y \sim N(f_\theta(x), \sigma_n^2)` with :math:`\sigma_n` annealed from 1 to .002 while
training [Aryan, PhD thesis, Victoria University of Wellington 2020, ch. 6].

Rows and hidden units are padded to a bucket, and masks say which exist: absent rows have no
likelihood, absent units weights of 0 in p and in q.

**Deviations**: whether the prior's mixture is of each weight or of all together is not printed
(of each, here), nor how the noise is annealed (geometrically). The critic of the thesis is as wide
as the network has weights: 1601 for 100 observations of six inputs, and 2 for a line, too few for
a parabola, so that posteriors came out half as wide as they are; here always 64. Hidden layers of
the generator have the padded number of units.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from baselines._members import EnsemblePosterior
from baselines.neural._jax import bucket, load
from baselines.neural.implicit.critic import initial_critic
from baselines.neural.implicit.generator import (
    draw_code,
    generate,
    initial_generator,
    log_density,
)
from baselines.neural.implicit.order import utility
from boring.typing import FloatArray

__all__ = ["PRIOR", "RegressionTarget", "TanhNetworks", "padded"]

#: (weight, sd) of the components of each weight's prior [thesis ch. 6].
PRIOR = ((0.2, 1.0), (0.8, 5.0))
#: Units of a hidden layer of the critic (chosen here).
CRITIC_WIDTH = 64


@dataclass(frozen=True)
class RegressionTarget:
    """The posterior of a network's weights, as a training target.

    Parameters
    ----------
    dim : int
        d, inputs.
    width : int
        H, hidden units with those that are padding; 0 for a linear network.
    prior : tuple of (float, float), default ((.2, 1), (.8, 5))
        Weights and standard deviations of the components of each weight's prior.
    first_noise, last_noise : float, default 1 and .002
        Of y, at the beginning and at the end of training.
    order : {"posterior", "divergence"}, default "posterior"
        See :mod:`baselines.neural.implicit.order`.
    generator_width : int, optional
        Units of a hidden layer of the generator; H by default.

    Notes
    -----
    ``data`` are X (N, d), y (N,), the mask of rows (N,) and that of weights (P,).
    """

    dim: int
    width: int
    prior: tuple[tuple[float, float], ...] = PRIOR
    first_noise: float = 1.0
    last_noise: float = 0.002
    order: str = "posterior"
    generator_width: int | None = None

    @property
    def heads(self) -> tuple[int, ...]:
        """Numbers of weights of each layer: (d + 1) H and H + 1, or d + 1."""
        if self.width == 0:
            return (self.dim + 1,)
        return ((self.dim + 1) * self.width, self.width + 1)

    @property
    def n_weights(self) -> int:
        """P."""
        return sum(self.heads)

    def initial(self, key: Any) -> tuple[Any, Any]:
        """Return parameters of the generator and of the critic."""
        one, two = load("jax.random").split(key)
        generator = initial_generator(one, self.generator_width or self.width, self.heads)
        return generator, initial_critic(two, self.n_weights, CRITIC_WIDTH)

    def draw(self, generator: Any, key: Any, n: int, data: Any) -> tuple[Any, Any]:
        """Return n networks (n, P) and the log density of their codes."""
        code = draw_code(key, n)
        theta = load("jax.numpy").concatenate(generate(generator, code), axis=1)
        return theta * data[3], log_density(code)

    def reference(self, key: Any, n: int, data: Any) -> Any:
        """Return n networks (n, P) of the prior."""
        random, jnp = load("jax.random"), load("jax.numpy")
        one, two = random.split(key)
        shape = (n, self.n_weights)
        which, sds, below = random.uniform(one, shape), self.prior[0][1], 0.0
        for (share, _), (_, sd) in pairwise(self.prior):
            below += share
            sds = jnp.where(which < below, sds, sd)
        return sds * random.normal(two, shape) * data[3]

    def noise(self, progress: Any) -> Any:
        """Return sigma_n where ``progress``, in [0, 1], of training is done."""
        return self.first_noise * (self.last_noise / self.first_noise) ** progress

    def weight(self, progress: Any) -> Any:
        """Return the variance of the noise."""
        return self.noise(progress) ** 2

    def predict(self, theta: Any, X: Any) -> Any:
        """Return the outputs (n, N) of networks (n, P) at X (N, d)."""
        jnp = load("jax.numpy")
        d, H = self.dim, self.width
        if H == 0:
            return theta[:, :d] @ X.T + theta[:, d:]
        W = theta[:, : d * H].reshape(-1, d, H)
        hidden = jnp.tanh(jnp.einsum("nd,bdh->bnh", X, W) + theta[:, None, d * H : (d + 1) * H])
        return jnp.einsum("bnh,bh->bn", hidden, theta[:, (d + 1) * H : -1]) + theta[:, -1:]

    def cost(self, theta: Any, data: Any, progress: Any) -> Any:
        """Return -log p(y | X, theta) (n,), but for a constant."""
        jnp = load("jax.numpy")
        X, y, rows, _ = data
        noise = self.noise(progress)
        squares = (rows * (self.predict(theta, X) - y) ** 2).sum(axis=1)
        return squares / (2.0 * noise**2) + rows.sum() * jnp.log(noise)

    def log_prior(self, theta: Any, data: Any) -> Any:
        """Return log p(theta) (n,), but for a constant, of the weights that exist."""
        jax, jnp = load("jax"), load("jax.numpy")
        logs = [np.log(share / sd) - 0.5 * (theta / sd) ** 2 for share, sd in self.prior]
        total = jax.scipy.special.logsumexp(jnp.stack(logs), axis=0)
        return (total * data[3]).sum(axis=1)

    def utility(self, theta: Any, ratio: Any, cost: Any, data: Any) -> Any:
        """Return u (n,), by which networks are ordered."""
        return utility(self.order, self.log_prior(theta, data), ratio, cost)


def padded(
    X: FloatArray, y: FloatArray, units_each: int = 2
) -> tuple[int, tuple[FloatArray, FloatArray, FloatArray, FloatArray]]:
    """Return the padded number of hidden units, and data with masks for a tanh network.

    Parameters
    ----------
    X : ndarray, shape (n, d)
    y : ndarray, shape (n,)
    units_each : int, default 2
        Hidden units for each observation: 2 n of them exist.

    Returns
    -------
    width : int
        H, ``units_each`` times the bucket of n.
    data : tuple
        X (N, d), y (N,), the mask of rows (N,) and that of weights (P,), single precision.
    """
    (n, d), N = X.shape, bucket(len(X))
    H = units_each * N
    rows, units = np.zeros(N), np.zeros(H)
    rows[:n], units[: units_each * n] = 1.0, 1.0
    X_padded, y_padded = np.zeros((N, d)), np.zeros(N)
    X_padded[:n], y_padded[:n] = X, y
    weights = np.concatenate([np.tile(units, d + 2), [1.0]])
    arrays = (X_padded, y_padded, rows, weights)
    first, second, third, fourth = (one.astype(np.float32) for one in arrays)
    return H, (first, second, third, fourth)  # type: ignore[return-value]


class TanhNetworks(EnsemblePosterior):
    """Networks with one hidden layer of tanh units, equally likely, in double precision.

    Parameters
    ----------
    theta : ndarray, shape (N, P)
        As in :class:`RegressionTarget`: input weights (d, H), their biases, output weights, bias.
    dim : int
        d.
    centre, scale : ndarray, shape (d,)
        Inputs are standardised by them.
    offset, unit : float
        Outputs are ``offset + unit f``.
    noise_variance : float, default 0
        Of observations about the networks; it is not part of what they predict.
    """

    def __init__(
        self,
        theta: FloatArray,
        dim: int,
        centre: FloatArray,
        scale: FloatArray,
        offset: float = 0.0,
        unit: float = 1.0,
        noise_variance: float = 0.0,
    ) -> None:
        theta = np.asarray(theta, dtype=np.float64)
        H = (theta.shape[1] - 1) // (dim + 2)
        self.inner = theta[:, : dim * H].reshape(-1, dim, H)
        self.bias = theta[:, dim * H : (dim + 1) * H]
        self.outer = theta[:, (dim + 1) * H : -1]
        self.last = theta[:, -1]
        self.centre, self.scale = centre, scale
        self.offset, self.unit = offset, unit
        self.noise_variance = noise_variance

    def members(self, X: FloatArray) -> FloatArray:
        """Return the outputs (n, N) at X (n, d)."""
        outputs = (self._hidden(X) @ self.outer[:, :, None])[:, :, 0] + self.last[:, None]
        return np.asarray(self.offset + self.unit * outputs.T)

    def members_with_gradient(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the outputs (n, N) and their gradients (n, N, d)."""
        hidden = self._hidden(X)
        outputs = (hidden @ self.outer[:, :, None])[:, :, 0] + self.last[:, None]
        slopes = ((1.0 - hidden**2) * self.outer[:, None, :]) @ np.swapaxes(self.inner, 1, 2)
        gradient = np.swapaxes(slopes, 0, 1) * (self.unit / self.scale)
        return np.asarray(self.offset + self.unit * outputs.T), gradient

    def _hidden(self, X: FloatArray) -> FloatArray:
        """Return the hidden units (N, n, H)."""
        inputs = (X - self.centre) / self.scale
        return np.asarray(np.tanh(inputs @ self.inner + self.bias[:, None, :]))
