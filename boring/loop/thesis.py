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

from dataclasses import dataclass
from typing import Any

import numpy as np

from boring.acquisition.base import Acquisition
from boring.acquisition.improvement import LogExpectedImprovement
from boring.acquisition.maximizer import duplicates, maximize_acquisition
from boring.acquisition.ucb import (
    DEFAULT_BETA,
    AdditiveUpperConfidenceBound,
    UpperConfidenceBound,
)
from boring.embedding import RandomEmbedding, back_project
from boring.exceptions import InvalidInputError, UnknownNameError
from boring.kernels import MATERN32, Ard
from boring.kernels.additive import boring_kernel
from boring.loop.portfolio import (
    NOISE_PRIOR,
    SECOND_VARIANCE_PRIOR,
    VARIANCE_PRIOR,
    single_model,
)
from boring.models.gp import GaussianProcessModel, prior_mode
from boring.models.posterior import GaussianProcess, with_fantasies
from boring.models.priors import dimension_scaled
from boring.proposal import Proposal, ProposalContext
from boring.result import InfoValue
from boring.subspace.passive import gram_schmidt_complement
from boring.subspace.tripathy import (
    TripathyOptions,
    TripathySubspace,
    tripathy_by_bic,
    tripathy_subspace,
)
from boring.typing import FloatArray
from boring.validation import as_positive_int, as_real, suggest
from boring.warping import half_rank_warp, standardize

FIT_ITERATIONS = 60
MAX_REDRAWS = 20
WARPS = {"none": standardize, "half-rank": half_rank_warp}
CHOICES = {
    "acquisition": ("ucb", "additive-ucb", "log-ei"),
    "backend": ("native", "gpy"),
    "burn_in_design": ("rembo", "sobol"),
    "warp": tuple(WARPS),
}
# The ascent curve of Tripathy et al. by Cayley steps: as good as pymanopt's conjugate
# gradients from these starts, in half the time.
ALTERNATION = TripathyOptions(basis_method="cayley")


@dataclass(frozen=True)
class ThesisOptions:
    """Options of the thesis preset.

    Attributes
    ----------
    effective_dim : int, optional
        d, where it is known; None lets Tripathy's BIC choose.
    max_effective_dim : int, default 3
        Largest d that is tried.
    burn_in : int, default 50
        Points of REMBO before the first subspace [thesis Alg. 3].
    embedding_dim : int, optional
        d of REMBO's embedding; default ``effective_dim``, else 2.
    refit_every : int, default 10
        Evaluations between two estimates of W; the thesis has 1 [chosen here, for time].
    n_restarts : int, default 10
        Random restarts of Tripathy's alternation [the author's code].
    n_passive : int, default 1
        q, number of one-dimensional passive terms [the author's code].
    acquisition : {"ucb", "additive-ucb", "log-ei"}, default "ucb"
        Mean plus beta times the exact sd, or times the sum of the components' sds; or, for
        ablations, the default loop's log-EI.
    beta : float, default 2
        Weight of the standard deviation.
    backend : {"native", "gpy"}, default "native"
        Whose arithmetic the additive surrogate uses.
    burn_in_design : {"rembo", "sobol"}, default "rembo"
        "sobol" replaces the burn-in by space-filling points, for ablations.
    warp : {"none", "half-rank"}, default "none"
        Output warp of the default loop, for ablations.
    """

    effective_dim: int | None = None
    max_effective_dim: int = 3
    burn_in: int = 50
    embedding_dim: int | None = None
    refit_every: int = 10
    n_restarts: int = 10
    n_passive: int = 1
    acquisition: str = "ucb"
    beta: float = DEFAULT_BETA
    backend: str = "native"
    burn_in_design: str = "rembo"
    warp: str = "none"

    def __post_init__(self) -> None:
        """Check the ranges."""
        for name in ("effective_dim", "embedding_dim"):
            if getattr(self, name) is not None:
                as_positive_int(getattr(self, name), name)
        for name in ("max_effective_dim", "burn_in", "refit_every", "n_restarts"):
            as_positive_int(getattr(self, name), name)
        as_positive_int(self.n_passive, "n_passive", minimum=0)
        for name, known in CHOICES.items():
            value = getattr(self, name)
            if value not in known:
                raise UnknownNameError(
                    f"{name} must be one of {sorted(known)}; received {value!r}. "
                    f"{suggest(str(value), known)}"
                )
        if not as_real(self.beta, "beta") >= 0:
            raise InvalidInputError(f"beta must be at least 0; received {self.beta!r}.")


def burn_in_step(embedding: RandomEmbedding, beta: float, context: ProposalContext) -> Proposal:
    """Propose the next burn-in point: GP-UCB over the low-dimensional box of REMBO.

    Parameters
    ----------
    embedding : RandomEmbedding
        A, shape (D, d).
    beta : float
    context : ProposalContext

    Notes
    -----
    Many z share one clipped x. Where the maximiser repeats a point that is already known,
    the embedding's box is sampled until a new one turns up.
    """
    X, y = context.data.finite_X, context.data.finite_y
    width = embedding.half_width
    U = np.clip(back_project(embedding, X)[0] / width, -1.0, 1.0)
    waiting, failing, failed = (
        np.clip(back_project(embedding, points)[0] / width, -1.0, 1.0)
        for points in (context.pending, context.data.failing_X, context.data.failed_X)
    )
    values = standardize(y)
    model = single_model(
        Ard(embedding.effective_dim), dimension_scaled(embedding.effective_dim), MATERN32
    )
    fit = model.fit(U, values, prior_mode(model), max_iterations=FIT_ITERATIONS)
    posterior = with_fantasies(model.condition(fit.theta, U, values), waiting, failing)
    found = maximize_acquisition(
        UpperConfidenceBound(posterior, beta),
        embedding.effective_dim,
        incumbent=U[int(np.argmax(y))],
        rng=context.rng,
        avoid=np.vstack([U, waiting, failed]),
    )
    x = embedding.up(found.x[None, :] * width)[0]
    known = np.vstack([context.data.X, context.pending])
    for _ in range(MAX_REDRAWS):
        if not duplicates(x, known):
            break
        x = embedding.up(embedding.sample(1, context.rng))[0]
    info: dict[str, InfoValue] = {"phase": "burn-in", "acquisition": found.value}
    return Proposal(x, context.memory, info)


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
    settings: dict[str, Any] = {"n_restarts": n_restarts, "options": ALTERNATION}
    if effective_dim is not None:
        return tripathy_subspace(X, y, effective_dim, rng=rng, **settings)
    return tripathy_by_bic(X, y, max_effective_dim, rng=rng, **settings)[0]


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
        passive_variance_prior=SECOND_VARIANCE_PRIOR,
        passive_lengthscale_prior=passive,
    )
    if backend == "gpy":
        from boring.models.gpy_backend import GPyAdditiveGP

        return GPyAdditiveGP(kernel, NOISE_PRIOR)
    return GaussianProcessModel(kernel, NOISE_PRIOR)


def boring_step(options: ThesisOptions, context: ProposalContext) -> Proposal:
    """Propose the next point after burn-in [thesis Alg. 3, second loop].

    Parameters
    ----------
    options : ThesisOptions
    context : ProposalContext
        Its memory holds W, V and when they were learned.
    """
    X, y, memory = context.data.finite_X, context.data.finite_y, context.memory
    n, dim = X.shape
    values = WARPS[options.warp](y)
    theta: FloatArray | None = None
    if "W" not in memory or n - int(memory["learned_at"]) >= options.refit_every:
        limit = min(options.max_effective_dim, dim)
        learned = learn_basis(
            X, values, options.effective_dim, limit, options.n_restarts, context.rng
        )
        W, learned_at = learned.active_basis, n
        n_passive = min(options.n_passive, dim - W.shape[1])
        V = gram_schmidt_complement(W, n_passive, context.rng)
    else:
        W, V = np.array(memory["W"]), np.array(memory["V"]).reshape(dim, -1)
        learned_at = int(memory["learned_at"])
        theta = np.array(memory["theta"])
    model = thesis_model(W, V, options.backend)
    start = prior_mode(model) if theta is None else theta
    fit = model.fit(X, values, start, max_iterations=FIT_ITERATIONS)
    posterior = with_fantasies(
        model.condition(fit.theta, X, values), context.pending, context.data.failing_X
    )
    found = maximize_acquisition(
        _acquisition(options, posterior, float(values.max())),
        dim,
        incumbent=X[int(np.argmax(y))],
        rng=context.rng,
        basis=W,
        avoid=np.vstack([context.data.X, context.pending]),
    )
    info: dict[str, InfoValue] = {
        "phase": "boring",
        "acquisition": found.value,
        "effective_dim": int(W.shape[1]),
        "log_posterior": -fit.value,
    }
    remembered = {
        "W": W.tolist(),
        "V": V.tolist(),
        "learned_at": learned_at,
        "theta": fit.theta.tolist(),
    }
    return Proposal(found.x, remembered, info)


def _acquisition(
    options: ThesisOptions, posterior: GaussianProcess, incumbent: float
) -> Acquisition:
    if options.acquisition == "ucb":
        return UpperConfidenceBound(posterior, options.beta)
    if options.acquisition == "additive-ucb":
        return AdditiveUpperConfidenceBound(posterior, options.beta)
    return LogExpectedImprovement(posterior, incumbent)
