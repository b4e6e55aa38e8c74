"""Active subspaces by alternating ascent of the likelihood (Tripathy et al. 2016).

Maximises L(W, l, s2, n2) of `boring.subspace.likelihood` by the turns of
`boring.subspace.alternation`, from many random starts, the hopeless ones dropped by
`boring.subspace.multistart`. This is the learner of the thesis [section 4.2.1, Algorithm 2].
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boring._brief import fields_in_brief

from ..exceptions import InvalidInputError
from ..kernels.profiles import MATERN32, RadialProfile, get_profile
from ..typing import FloatArray
from ..validation import as_positive_int, as_values
from ..warping import standardize
from ._riemannian import riemannian_gradient_norm
from .alternation import AlternatingRestart, TripathyOptions
from .checks import refuse_constant
from .dimension import DimensionRow, n_free_parameters, rotated_bic
from .likelihood import Hyperparameters, StiefelLikelihood
from .multistart import RestartHistory, run_restarts
from .stiefel import is_orthonormal, orthonormalize, random_frame

__all__ = [
    "N_RESTARTS",
    "TripathyOptions",
    "TripathySubspace",
    "tripathy_by_bic",
    "tripathy_subspace",
]

N_RESTARTS = 30
"""Random starts. [Tripathy's code: 10 to 20. Measured on camelback 2-in-5, N = 100, 5 data
sets of 10 starts: .92 of the starts end within 10 degrees, .62 with the published settings.
With the defaults, .53 at N = 50; .63 for 2-in-10, N = 100 and .2 for 2-in-25, N = 200.]"""


@dataclass(frozen=True, slots=True)
class TripathySubspace:
    """Outcome of `tripathy_subspace`.

    Attributes
    ----------
    active_basis : ndarray, shape (D, d)
        W, orthonormal columns to 1e-10, the shortest lengthscale first.
    lengthscales : ndarray, shape (d,)
        In units of z = W'x, ascending.
    signal_variance, noise_variance : float
        In units of var(y): y was standardised.
    log_likelihood : float
        Of standardised y, in nats.
    gradient_norm : float
        Riemannian gradient norm of the log likelihood at W, in nats: the certificate.
    history : tuple of RestartHistory
        Losses (negative log likelihoods) and fate of each restart.
    best_restart : int
        Index of the winner in ``history``.
    seconds : float
        Processor time spent in the restarts.
    """

    active_basis: FloatArray
    lengthscales: FloatArray
    signal_variance: float
    noise_variance: float
    log_likelihood: float
    gradient_norm: float
    history: tuple[RestartHistory, ...] = field(repr=False)
    best_restart: int
    seconds: float

    __repr__ = fields_in_brief


def _standardised(X: ArrayLike, y: ArrayLike) -> tuple[FloatArray, FloatArray]:
    inputs = np.array(X, dtype=np.float64)
    if inputs.ndim != 2 or len(inputs) < 2:
        raise InvalidInputError(f"X must have shape (n, D) with n >= 2, got shape {inputs.shape}.")
    values = as_values(y, len(inputs))
    if not (np.all(np.isfinite(inputs)) and np.all(np.isfinite(values))):
        raise InvalidInputError(
            "X and y must be finite; leave points with NaN or infinite values out."
        )
    refuse_constant(values)
    return inputs, standardize(values)


def _starts(
    likelihood: StiefelLikelihood,
    effective_dim: int,
    options: TripathyOptions,
    rng: np.random.Generator,
    n_restarts: int,
    initial_basis: FloatArray | None,
) -> Iterator[AlternatingRestart]:
    if initial_basis is not None:
        yield AlternatingRestart(likelihood, initial_basis, options)
        n_restarts -= 1
    for _ in range(n_restarts):
        frame = random_frame(likelihood.X.shape[1], effective_dim, rng)
        yield AlternatingRestart(likelihood, frame, options)


def tripathy_subspace(
    X: ArrayLike,
    y: ArrayLike,
    effective_dim: int,
    *,
    rng: np.random.Generator,
    n_restarts: int = N_RESTARTS,
    profile: str | RadialProfile = MATERN32,
    options: TripathyOptions | None = None,
    initial_basis: ArrayLike | None = None,
    drop_hopeless: bool = True,
    cpu_budget: float | None = None,
) -> TripathySubspace:
    """Estimate an active subspace by Tripathy's alternation with random restarts.

    Parameters
    ----------
    X : array_like, shape (n, D), scaled units in [-1, 1]
    y : array_like, shape (n,)
        Any unit; standardised inside.
    effective_dim : int, 1 <= d <= D
    rng : numpy.random.Generator
        Draws the starts; consumed. numpy's global state is left as found.
    n_restarts : int, default 30
        Starts in all, ``initial_basis`` included.
    profile : str or RadialProfile, default Matern-3/2 [thesis section 2.4]
    options : TripathyOptions, optional
        Settings of the alternation; ``TripathyOptions.published()`` follows the thesis.
    initial_basis : array_like, shape (D, d), optional
        A first start, such as the previous estimate.
    drop_hopeless : bool, default True
        Drop restarts whose extrapolated loss cannot reach the best so far.
    cpu_budget : float, optional
        Seconds of processor time, spent on one restart after another; results then depend on the
        machine.

    Returns
    -------
    TripathySubspace

    Raises
    ------
    InvalidInputError
        If shapes disagree, values are not finite, y is constant or d > D.
    FitError
        If every restart failed; ``.history`` holds the partial runs.

    Notes
    -----
    Cost O(N^3 + N^2 d + N D d) a likelihood call, some hundred calls a restart.
    Source: [Tripathy, Bilionis & Gonzalez 2016; thesis section 4.2.1, Algorithm 2].
    Deviations are listed in `TripathyOptions` and `boring.subspace.curvilinear`.
    """
    inputs, values = _standardised(X, y)
    dim = inputs.shape[1]
    as_positive_int(n_restarts, "n_restarts")
    if as_positive_int(effective_dim, "effective_dim") > dim:
        raise InvalidInputError(f"effective_dim must be at most D = {dim}, got {effective_dim}.")
    first = None if initial_basis is None else orthonormalize(initial_basis)
    if first is not None and first.shape != (dim, effective_dim):
        raise InvalidInputError(
            f"initial_basis must have shape ({dim}, {effective_dim}), got {first.shape}."
        )
    likelihood = StiefelLikelihood(inputs, values, get_profile(profile))
    outcome = run_restarts(
        _starts(likelihood, effective_dim, options or TripathyOptions(), rng, n_restarts, first),
        drop_hopeless=drop_hopeless,
        cpu_budget=cpu_budget,
    )
    outcome.best.certify()
    W, parameters = _ordered(outcome.best.W, outcome.best.parameters)
    final = likelihood.evaluate(W, parameters)
    return TripathySubspace(
        W,
        np.exp(parameters.log_lengthscales),
        float(np.exp(parameters.log_signal)),
        float(np.exp(parameters.log_noise)),
        final.value,
        riemannian_gradient_norm(W, final.basis_gradient),
        outcome.histories,
        outcome.best_index,
        sum(history.seconds for history in outcome.histories),
    )


def tripathy_by_bic(
    X: ArrayLike,
    y: ArrayLike,
    max_effective_dim: int,
    *,
    rng: np.random.Generator,
    **arguments: Any,
) -> tuple[TripathySubspace, tuple[DimensionRow, ...]]:
    """Learn subspaces of d = 1, 2, ... until BIC rises, and return the one before.

    Parameters
    ----------
    X : array_like, shape (n, D), scaled units
    y : array_like, shape (n,)
    max_effective_dim : int
        Largest d tried.
    rng : numpy.random.Generator
        Consumed.
    **arguments
        Of `tripathy_subspace`, for every d.

    Returns
    -------
    subspace : TripathySubspace
    table : tuple of DimensionRow
        One row for each d tried.

    Notes
    -----
    Tripathy et al. (2016), which the thesis cites as their algorithm 4. **Deviation**: they stop
    where the relative gain of BIC falls below a threshold, we where there is none; parameters
    are counted as in `boring.subspace.dimension`.
    """
    best: TripathySubspace | None = None
    table: list[DimensionRow] = []
    for d in range(1, as_positive_int(max_effective_dim, "max_effective_dim") + 1):
        found = tripathy_subspace(X, y, d, rng=rng, **arguments)
        n, dim = np.shape(X)
        nll = -found.log_likelihood
        bic = rotated_bic(dim, n, d, nll)
        table.append(DimensionRow(d, False, n_free_parameters(dim, d) + 2, nll, bic))
        if best is not None and bic >= table[-2].bic:
            break
        best = found
    assert best is not None
    return best, tuple(table)


def _ordered(W: FloatArray, parameters: Hyperparameters) -> tuple[FloatArray, Hyperparameters]:
    """Sort the columns by lengthscale: the model is the same under permutations."""
    order = np.argsort(parameters.log_lengthscales, kind="stable")
    frame = np.ascontiguousarray(W[:, order])
    if not is_orthonormal(frame):
        frame = orthonormalize(frame)
    return frame, Hyperparameters(
        parameters.log_lengthscales[order], parameters.log_signal, parameters.log_noise
    )
