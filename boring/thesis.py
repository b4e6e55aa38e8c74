"""BORING as the thesis prints it [Yenicelik 2018, Alg. 3], errata corrected.

1. Burn-in: REMBO, a GP with UCB in the low-dimensional box of one random embedding.
2. Every ``refit_every`` points: active basis W by Tripathy's alternation with random
   restarts (Matern-3/2), d by BIC unless it is given.
3. Passive basis V of q columns by Gram-Schmidt [Alg. 4].
4. Kernel: Matern-3/2 ARD on W'x plus q one-dimensional Matern-3/2 terms on v_i'x; all
   parameters by marginal likelihood, jointly.
5. Next point: argmax over x in the box of mean + beta sd.

**Deviations**, each where the text is wrong or silent: Alg. 3 writes ``dot(Q^perp, x)``
for Q'x and refits at every step (``refit_every=1`` here does; 10 is the default, since one
refit takes seconds); it maximises each summand of the likelihood and of the acquisition
by itself, but the likelihood does not split and in rotated coordinates the box is a
polytope, so both are done jointly; q is not given (1, as in the author's code). Points
that were told from outside the embedding enter the burn-in's GP by their least-squares
preimage.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from boring.acquisition.maximizer import MaximizerResult, maximize_acquisition
from boring.acquisition.ucb import AdditiveUpperConfidenceBound, UpperConfidenceBound
from boring.embedding import RandomEmbedding, back_project
from boring.kernels import MATERN32, Ard
from boring.kernels.additive import boring_kernel
from boring.models.gp import GaussianProcessModel
from boring.models.posterior import GaussianProcess
from boring.models.priors import Gaussian, dimension_scaled
from boring.portfolio import NOISE_PRIOR, VARIANCE_PRIOR, prior_mode, single_model
from boring.result import InfoValue
from boring.subspace.dimension import n_free_parameters
from boring.subspace.passive import gram_schmidt_complement
from boring.subspace.tripathy import TripathyOptions, TripathySubspace, tripathy_subspace
from boring.typing import FloatArray
from boring.warping import standardize

FIT_ITERATIONS = 60
BACKENDS = ("native", "gpy")
BOUNDS = {"ucb": UpperConfidenceBound, "additive-ucb": AdditiveUpperConfidenceBound}
# The ascent curve of Tripathy et al. by Cayley steps: as good as pymanopt's conjugate
# gradients from these starts, in half the time.
ALTERNATION = TripathyOptions(basis_method="cayley")


@dataclass(frozen=True, eq=False)
class ThesisStep:
    """A proposal of the thesis preset with what led to it."""

    proposal: MaximizerResult | None
    x: FloatArray
    posterior: GaussianProcess
    memory: dict[str, Any]
    info: dict[str, InfoValue]


def burn_in_step(
    embedding: RandomEmbedding,
    X: FloatArray,
    y: FloatArray,
    beta: float,
    memory: Mapping[str, Any],
    rng: np.random.Generator,
) -> ThesisStep:
    """Propose the next burn-in point: GP-UCB over the low-dimensional box of REMBO.

    Parameters
    ----------
    embedding : RandomEmbedding
        A, shape (D, d).
    X : ndarray, shape (n, D), scaled units
    y : ndarray, shape (n,)
        Larger is better.
    beta : float
    memory : mapping
        Passed on unchanged.
    rng : numpy.random.Generator
    """
    width = embedding.half_width
    U = np.clip(back_project(embedding, X)[0] / width, -1.0, 1.0)
    values = standardize(y)
    model = single_model(
        Ard(embedding.effective_dim), dimension_scaled(embedding.effective_dim), MATERN32
    )
    fit = model.fit(U, values, prior_mode(model), max_iterations=FIT_ITERATIONS)
    posterior = model.condition(fit.theta, U, values)
    found = maximize_acquisition(
        UpperConfidenceBound(posterior, beta),
        embedding.effective_dim,
        incumbent=U[int(np.argmax(y))],
        rng=rng,
        avoid=U,
    )
    x = embedding.up(found.x[None, :] * width)[0]
    info: dict[str, InfoValue] = {"phase": "burn-in", "acquisition": found.value}
    return ThesisStep(found, x, posterior, dict(memory), info)


def learn_basis(
    X: FloatArray,
    y: FloatArray,
    effective_dim: int | None,
    max_effective_dim: int,
    n_restarts: int,
    rng: np.random.Generator,
) -> TripathySubspace:
    """Learn W by Tripathy's alternation; d by BIC, stopping at its first rise.

    Parameters
    ----------
    X : ndarray, shape (n, D), scaled units
    y : ndarray, shape (n,), standardised
    effective_dim : int or None
    max_effective_dim : int
        Largest d tried when ``effective_dim`` is None.
    n_restarts : int
    rng : numpy.random.Generator
    """
    if effective_dim is not None:
        return tripathy_subspace(
            X, y, effective_dim, rng=rng, n_restarts=n_restarts, options=ALTERNATION
        )
    best, best_bic = None, np.inf
    for d in range(1, max_effective_dim + 1):
        candidate = learn(d)
        m = n_free_parameters(X.shape[1], d) + 2
        bic = -candidate.log_likelihood + 0.5 * m * np.log(len(X))
        if bic >= best_bic:
            break
        best, best_bic = candidate, bic
    assert best is not None
    return best


def thesis_model(W: FloatArray, V: FloatArray, backend: str = "native") -> GaussianProcessModel:
    """Return the additive Matern-3/2 model on [W V] with the loop's priors.

    Parameters
    ----------
    W : ndarray, shape (D, d)
    V : ndarray, shape (D, q)
    backend : {"native", "gpy"}
        Whose arithmetic the model uses; both agree to 1e-6.
    """
    active, passive = dimension_scaled(W.shape[1]), dimension_scaled(1)
    kernel = boring_kernel(
        W,
        V,
        MATERN32,
        variance_prior=VARIANCE_PRIOR,
        lengthscale_prior=active,
        passive_variance_prior=Gaussian(-2.5, 1.5),
        passive_lengthscale_prior=passive,
    )
    if backend == "gpy":
        from boring.models.gpy_backend import GPyAdditiveGP

        return GPyAdditiveGP(kernel, NOISE_PRIOR)
    return GaussianProcessModel(kernel, NOISE_PRIOR)


def boring_step(
    X: FloatArray,
    y: FloatArray,
    options: Any,
    memory: Mapping[str, Any],
    rng: np.random.Generator,
) -> ThesisStep:
    """Propose the next point after burn-in [thesis Alg. 3, second loop].

    Parameters
    ----------
    X : ndarray, shape (n, D), scaled units
    y : ndarray, shape (n,)
        Larger is better.
    options : ThesisOptions
    memory : mapping
        Holds W, V and when they were learned.
    rng : numpy.random.Generator
    """
    n, dim = X.shape
    values = standardize(y)
    if "W" not in memory or n - int(memory["learned_at"]) >= options.refit_every:
        max_dim = min(options.max_effective_dim, dim)
        learned = learn_basis(X, values, options.effective_dim, max_dim, options.n_restarts, rng)
        W, learned_at = learned.active_basis, n
        n_passive = min(options.n_passive, dim - W.shape[1])
        V = gram_schmidt_complement(W, n_passive, rng)
        theta = None
    else:
        W, V = np.array(memory["W"]), np.array(memory["V"]).reshape(dim, -1)
        learned_at = int(memory["learned_at"])
        theta = np.array(memory["theta"])
    model = thesis_model(W, V, options.backend)
    starts = [prior_mode(model)] if theta is None else [theta]
    fit = model.fit_best(X, values, starts, max_iterations=FIT_ITERATIONS)
    posterior = model.condition(fit.theta, X, values)
    found = maximize_acquisition(
        BOUNDS[options.acquisition](posterior, options.beta),
        dim,
        incumbent=X[int(np.argmax(y))],
        rng=rng,
        basis=W,
        avoid=X,
    )
    info: dict[str, InfoValue] = {
        "phase": "boring",
        "acquisition": found.value,
        "effective_dim": int(W.shape[1]),
        "log_likelihood": posterior.log_marginal_likelihood,
    }
    remembered = {
        "W": W.tolist(),
        "V": V.tolist(),
        "learned_at": learned_at,
        "theta": fit.theta.tolist(),
    }
    return ThesisStep(found, found.x, posterior, remembered, info)
