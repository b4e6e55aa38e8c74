r"""Variational inference by a Gaussian with diagonal covariance, or by a mixture of such.

The evidence lower bound of :math:`q = \sum_k \pi_k N(m_k, \mathrm{diag}(s_k^2))`,

.. math:: \mathrm{ELBO} = \sum_k \pi_k\,\mathrm{E}\left[\log p(\theta_k) - \log q(\theta_k)\right],
   \qquad \theta_k = m_k + s_k\varepsilon, \quad \varepsilon \sim N(0, I),

is climbed by Adam (optax) on reparametrised draws of every component; the weights :math:`\pi`
enter exactly. Aryan, PhD thesis, Victoria University of Wellington 2020, ch. 2, shows both on a
ring. BlackJAX has the single Gaussian alone, hence one short objective here for both.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from baselines.neural._chains import Target
from baselines.neural._jax import double_precision, load, random_key
from baselines.neural.network import N_PROGRAMS
from boring.typing import FloatArray

__all__ = ["GaussianMixture", "VariationalSettings", "fit_variational"]


@dataclass(frozen=True)
class VariationalSettings:
    """How long to climb; hashable, for programs are cached by it.

    Parameters
    ----------
    n_steps : int
    n_samples : int
        Draws of each component for one gradient.
    learning_rate : float
        Of Adam; it falls to nothing along a cosine.
    """

    n_steps: int
    n_samples: int = 4
    learning_rate: float = 0.01


@dataclass(frozen=True, eq=False)
class GaussianMixture:
    """The approximation, and how it was found.

    Attributes
    ----------
    log_weights : ndarray, shape (K,)
    means, log_sds : ndarray, shape (K, p)
    bound : ndarray, shape (n_steps,)
        Estimates of the ELBO on the way, noisy.
    """

    log_weights: FloatArray
    means: FloatArray
    log_sds: FloatArray
    bound: FloatArray

    def draw(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Return n draws, shape (n, p)."""
        weights = np.exp(self.log_weights)
        k = rng.choice(len(weights), size=n, p=weights / weights.sum())
        noise = rng.standard_normal((n, self.means.shape[1]))
        return np.asarray(self.means[k] + np.exp(self.log_sds[k]) * noise)


def fit_variational(
    target: Target,
    means: FloatArray,
    log_sds: FloatArray,
    settings: VariationalSettings,
    data: Any,
    rng: np.random.Generator,
) -> GaussianMixture:
    """Climb from the components given, with equal weights.

    Parameters
    ----------
    target : Target
    means, log_sds : ndarray, shape (K, p)
    settings : VariationalSettings
    data : Any
        Handed to the target; programs are compiled for each of its shapes.
    rng : numpy.random.Generator
        Consumed.
    """
    with double_precision():
        logits, *found = _program(target, settings)(random_key(rng), means, log_sds, data)
        log_weights = np.asarray(load("jax.nn").log_softmax(logits))
        return GaussianMixture(log_weights, *(np.asarray(part) for part in found))


@lru_cache(maxsize=N_PROGRAMS)
def _program(target: Target, settings: VariationalSettings) -> Any:
    jax, jnp, optax = load("jax"), load("jax.numpy"), load("optax")
    logsumexp = load("jax.scipy.special").logsumexp
    adam = optax.adam(optax.cosine_decay_schedule(settings.learning_rate, settings.n_steps))

    def run(key: Any, means: Any, log_sds: Any, data: Any) -> Any:
        def bound(q: Any, key: Any) -> Any:
            logits, means, log_sds = q
            log_weights = jax.nn.log_softmax(logits)

            def log_q(theta: Any) -> Any:
                scaled = (theta - means) * jnp.exp(-log_sds)
                logs = -0.5 * (scaled**2 + jnp.log(2.0 * jnp.pi)) - log_sds
                return logsumexp(log_weights + logs.sum(axis=1))

            noise = jax.random.normal(key, (settings.n_samples, *means.shape))
            theta = (means + jnp.exp(log_sds) * noise).reshape(-1, means.shape[1])
            log_p = jax.vmap(lambda one: target.log_density(one, data))(theta)
            gain = (log_p - jax.vmap(log_q)(theta)).reshape(settings.n_samples, len(means))
            return (jnp.exp(log_weights) * gain.mean(axis=0)).sum()

        def climb(carry: Any, key: Any) -> Any:
            q, state = carry
            value, slope = jax.value_and_grad(bound)(q, key)
            descent = jax.tree.map(jnp.negative, slope)
            updates, state = adam.update(descent, state)
            return (optax.apply_updates(q, updates), state), value

        first = (jnp.zeros(len(means)), means, log_sds)
        keys = jax.random.split(key, settings.n_steps)
        (q, _), values = jax.lax.scan(climb, (first, adam.init(first)), keys)
        return *q, values

    return jax.jit(run)
