"""Fits of a free factor M in k(x, x') = s2 k(|M'x - M'x'|), the steps of the learner.

M = U diag(s) V' describes the same model as the frame U with lengthscales 1/s, and needs
no manifold. Three steps are enough to find an active subspace
(`boring.subspace.full_rank` composes them):

- `fit_full`: M square, under a nuclear norm on the metric M M'. Evidence over square
  factors has far fewer bad optima than evidence over thin ones: useful directions grow
  multiplicatively from an isotropic start, where a thin M must rotate through flat
  regions.
- `truncate`: keep the top d singular directions and refit a thin M, from the scales
  found and from smooth ones; only the second recovers from a full fit that put its
  noise into passive directions.
- `gradient_reset`: a new square start from the gradients of the posterior mean.

Inputs are scaled to [-1, 1]^D and values standardised throughout.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from boring.kernels.additive import AdditiveKernel, KernelTerm
from boring.kernels.maps import Ard, Free
from boring.kernels.profiles import MATERN32, RadialProfile
from boring.models.gp import FitResult, GaussianProcessModel
from boring.models.posterior import GaussianProcess
from boring.models.priors import Frobenius, Gaussian, LogSingularValues, ParameterPrior
from boring.typing import FloatArray

# Bounds of the log signal variance and ceiling of the noise variance, y standardised.
LOG_VARIANCE_BOUNDS = (-4.0, 5.0)
NOISE_CEILING = 2.0
# Priors [chosen here; success does not depend on the one of the factor]: the signal
# variance is near var(y), the noise variance around 1e-3 with two e-folds, the nuclear
# norm has unit weight, and lengthscales of a thin factor are around 1/2.
VARIANCE_PRIOR = Gaussian(0.0, 1.0)
NOISE_PRIOR = Gaussian(float(np.log(1e-3)), 2.0)
FULL_PRIOR = Frobenius(0.5)
THIN_SCALE_CENTER = 2.0
THIN_SCALE_SD = 1.0
# The second start of a truncation: lengthscale 1.7, noise variance .2.
SMOOTH_SCALE = 0.6
SMOOTH_NOISE = 0.2
# Smallest spectral norm of the start that a gradient reset returns.
RESET_NORM = 0.7
# Axis-aligned fits: log lengthscales N(log sqrt(D), sd sqrt 3), the width of Hvarfner
# et al. (2024); one that stops at the bound is out of the model.
AXIS_LOG_SD = float(np.sqrt(3.0))


@dataclass(frozen=True, slots=True)
class FactorSettings:
    """What all fits of one search share.

    Attributes
    ----------
    profile : RadialProfile, default Matern-3/2
    noise_floor : float, default 0.01
        Smallest noise variance, in units of var(y). A floor smooths the evidence over M
        and keeps it from interpolating; on data that cluster around an optimum 1e-6
        does better.
    iterations : int, default 60
        Of L-BFGS, in every fit.
    """

    profile: RadialProfile = MATERN32
    noise_floor: float = 0.01
    iterations: int = 60


@dataclass(frozen=True, eq=False, slots=True)
class FactorFit:
    """A fitted factor and its scales.

    Attributes
    ----------
    factor : ndarray, shape (D, k)
        M.
    variance, noise : float
        Signal and noise variance, in units of var(y).
    value : float
        Negative log posterior, in nats; lower is better. Comparable among fits of one
        rank.
    nll : float
        Negative log marginal likelihood alone.
    """

    factor: FloatArray
    variance: float
    noise: float
    value: float
    nll: float

    @property
    def rank(self) -> int:
        """Number of columns k."""
        return int(self.factor.shape[1])


def square_start(dim: int, ambient: int | None = None) -> FloatArray:
    """Return the isotropic start I / sqrt(D): lengthscale sqrt(D), which nothing escapes.

    Parameters
    ----------
    dim : int
        Rows of M.
    ambient : int, optional
        D, where M lives on a row span of fewer dimensions.
    """
    return np.asarray(np.eye(dim) / np.sqrt(ambient or dim))


def factor_model(
    dim: int, rank: int, settings: FactorSettings, prior: ParameterPrior
) -> GaussianProcessModel:
    """Return the GP on X M, M free of shape (dim, rank)."""
    term = KernelTerm(
        settings.profile,
        Free(dim, rank),
        "active",
        VARIANCE_PRIOR,
        prior,
        LOG_VARIANCE_BOUNDS,
    )
    return GaussianProcessModel(
        AdditiveKernel([term]), NOISE_PRIOR, (settings.noise_floor, NOISE_CEILING)
    )


def thin_prior(rank: int) -> LogSingularValues:
    """Return the prior of a thin factor: lengthscales log-normal around 1/2."""
    return LogSingularValues(rank, THIN_SCALE_CENTER, THIN_SCALE_SD)


def thin_model(dim: int, rank: int, settings: FactorSettings) -> GaussianProcessModel:
    """Return the GP on X M, M thin."""
    return factor_model(dim, rank, settings, thin_prior(rank))


def _as_fit(model: GaussianProcessModel, outcome: FitResult, factor: FloatArray) -> FactorFit:
    penalty, _ = model.penalty(outcome.theta)
    return FactorFit(
        factor,
        float(np.exp(outcome.theta[0])),
        float(np.exp(outcome.theta[-1])),
        outcome.value,
        outcome.value - penalty,
    )


def _fit(
    model: GaussianProcessModel,
    X: FloatArray,
    y: FloatArray,
    start: tuple[FloatArray, float, float],
    iterations: int,
) -> FactorFit:
    factor, variance, noise = start
    theta = np.concatenate([[np.log(variance)], factor.ravel(), [np.log(noise)]])
    outcome = model.fit(X, y, theta, max_iterations=iterations)
    return _as_fit(model, outcome, outcome.theta[1:-1].reshape(factor.shape))


def fit_full(
    X: FloatArray, y: FloatArray, start: FloatArray, settings: FactorSettings
) -> FactorFit:
    """Fit a square factor from ``start`` (D, D), signal variance 1, noise at the floor."""
    model = factor_model(X.shape[1], start.shape[1], settings, FULL_PRIOR)
    noise = max(settings.noise_floor, 1e-2)
    return _fit(model, X, y, (start, 1.0, noise), settings.iterations)


def fit_thin(
    X: FloatArray,
    y: FloatArray,
    start: FactorFit,
    settings: FactorSettings,
    iterations: int | None = None,
) -> FactorFit:
    """Continue a thin fit from where it ended."""
    model = thin_model(X.shape[1], start.rank, settings)
    begin = (start.factor, start.variance, start.noise)
    return _fit(model, X, y, begin, iterations or settings.iterations)


def smooth_start(frame: FloatArray) -> FactorFit:
    """Return a start on the columns of a frame (D, d): lengthscale 1.7, noise .2."""
    return FactorFit(SMOOTH_SCALE * frame, 1.0, SMOOTH_NOISE, np.inf, np.inf)


def truncate(
    X: FloatArray, y: FloatArray, fit: FactorFit, rank: int, settings: FactorSettings
) -> FactorFit:
    """Keep the top singular directions of a factor and refit from two starts.

    Parameters
    ----------
    X : ndarray, shape (n, D)
    y : ndarray, shape (n,)
    fit : FactorFit
        Of rank at least ``rank``.
    rank : int
        Columns d to keep.
    settings : FactorSettings

    Returns
    -------
    FactorFit
        The better of the fit that starts from the scales found and the one that starts
        smooth.
    """
    U, singular, _ = np.linalg.svd(fit.factor, full_matrices=False)
    frame = U[:, :rank]
    kept = np.maximum(singular[:rank], 1e-3 * max(float(singular[0]), 1e-3))
    found = FactorFit(frame * kept, fit.variance, fit.noise, np.inf, np.inf)
    candidates = [fit_thin(X, y, start, settings) for start in (found, smooth_start(frame))]
    return min(candidates, key=lambda candidate: candidate.value)


def basis_of(factor: FloatArray) -> FloatArray:
    """Return the left singular vectors of a factor M (D, d), an orthonormal basis."""
    return np.asarray(np.linalg.svd(factor, full_matrices=False)[0])


def factor_posterior(
    X: FloatArray, y: FloatArray, fit: FactorFit, profile: RadialProfile, noise: float
) -> GaussianProcess:
    """Return the GP on X M, conditioned on data, under a given noise variance."""
    term = KernelTerm(profile, Free(*fit.factor.shape), "active")
    model = GaussianProcessModel(AdditiveKernel([term]))
    theta = np.concatenate([[np.log(fit.variance)], fit.factor.ravel(), [np.log(noise)]])
    return model.condition(theta, X, y)


def gradient_reset(
    X: FloatArray, y: FloatArray, fit: FactorFit, floor: float, settings: FactorSettings
) -> FloatArray:
    """Return a square start from the gradients of the posterior mean at the data.

    With C the sum of their outer products and C = V diag(c) V', the start is
    V diag(max(sqrt(c/c_max), floor)) times max(.7, |M|_2): the spectrum that the function
    shows, in place of the one that the fit got caught in.

    Parameters
    ----------
    X : ndarray, shape (n, D)
    y : ndarray, shape (n,)
    fit : FactorFit
    floor : float
        Smallest relative scale, so that no direction is lost.
    settings : FactorSettings

    Returns
    -------
    ndarray, shape (D, D)
    """
    posterior = factor_posterior(X, y, fit, settings.profile, fit.noise)
    _, _, gradients, _ = posterior.predict_with_gradient(X)
    values, vectors = np.linalg.eigh(gradients.T @ gradients)
    values = np.maximum(values, 0.0)
    top = float(values[-1])
    scales = np.sqrt(values / top) if top > 0 else np.zeros_like(values)
    norm = max(RESET_NORM, float(np.linalg.norm(fit.factor, 2)))
    return np.asarray(vectors * np.maximum(scales, floor) * norm)


def fit_axes(X: FloatArray, y: FloatArray, settings: FactorSettings) -> FactorFit:
    """Fit a diagonal factor: one lengthscale for each input.

    Parameters
    ----------
    X : ndarray, shape (n, D)
    y : ndarray, shape (n,)
    settings : FactorSettings

    Returns
    -------
    FactorFit
        Its factor is diagonal, (D, D).

    Notes
    -----
    Where the active subspace is spanned by coordinate axes, D parameters find what D d
    cannot.
    """
    dim = X.shape[1]
    center = 0.5 * float(np.log(dim))
    fit, log_lengthscales = _fit_ard(X, y, np.full(dim, center), center, settings)
    return FactorFit(
        np.diag(np.exp(-log_lengthscales)), fit.variance, fit.noise, fit.value, fit.nll
    )


def truncate_axes(
    X: FloatArray, y: FloatArray, fit: FactorFit, rank: int, settings: FactorSettings
) -> FactorFit:
    """Keep the ``rank`` shortest lengthscales of a factor on axes and refit those alone.

    Parameters
    ----------
    X : ndarray, shape (n, D)
    y : ndarray, shape (n,)
    fit : FactorFit
        At most one non-zero entry in each row and column.
    rank : int
    settings : FactorSettings

    Returns
    -------
    FactorFit
        Factor (D, rank), one non-zero entry in each column, largest first.
    """
    scales = np.linalg.norm(fit.factor, axis=1)
    kept = np.argsort(-scales, kind="stable")[:rank]
    center = -float(np.log(THIN_SCALE_CENTER))
    thin, log_lengthscales = _fit_ard(
        X[:, kept], y, -np.log(scales[kept]), center, settings, (fit.variance, fit.noise)
    )
    order = np.argsort(log_lengthscales, kind="stable")
    factor = np.zeros((X.shape[1], rank))
    factor[kept[order], np.arange(rank)] = np.exp(-log_lengthscales[order])
    return replace(thin, factor=factor)


def _fit_ard(
    X: FloatArray,
    y: FloatArray,
    start: FloatArray,
    center: float,
    settings: FactorSettings,
    scales: tuple[float, float] = (1.0, 1e-2),
) -> tuple[FactorFit, FloatArray]:
    dim = X.shape[1]
    term = KernelTerm(
        settings.profile,
        Ard(dim),
        "axes",
        VARIANCE_PRIOR,
        Gaussian(center, AXIS_LOG_SD),
        LOG_VARIANCE_BOUNDS,
    )
    model = GaussianProcessModel(
        AdditiveKernel([term]), NOISE_PRIOR, (settings.noise_floor, NOISE_CEILING)
    )
    theta = np.concatenate([[np.log(scales[0])], start, [np.log(scales[1])]])
    outcome = model.fit(X, y, theta, max_iterations=settings.iterations)
    return _as_fit(model, outcome, np.empty((dim, 0))), outcome.theta[1:-1]


def row_span(X: FloatArray) -> tuple[FloatArray, FloatArray | None]:
    """Return coordinates of X on its row span, and the frame that leads back.

    The likelihood of any factor depends on X M alone, and the priors on singular values
    alone, so that nothing outside the row span can help: with n < D the search runs in n
    dimensions and finds the same optimum.

    Parameters
    ----------
    X : ndarray, shape (n, D)

    Returns
    -------
    coordinates : ndarray, shape (n, min(n, D))
        X itself if n >= D.
    frame : ndarray, shape (D, n), or None if n >= D
        ``coordinates = X @ frame``; a factor of coordinates lifts to ``frame @ factor``.
    """
    n, dim = X.shape
    if n >= dim:
        return X, None
    U, singular, Vt = np.linalg.svd(X, full_matrices=False)
    return np.asarray(U * singular), np.ascontiguousarray(Vt.T)
