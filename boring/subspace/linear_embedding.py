"""Learning a linear embedding with its uncertainty, and choosing points that reduce it.

Garnett, Osborne & Hennig (2014) [thesis Alg. 1]: y = g(R x) + noise with normal priors on the
entries of R; MAP, Laplace approximation, marginal GP (`boring.models.marginal`), and the next
point where the value says most about the parameters.

**Deviations**: output scale and noise are learned and integrated over like R, as the paper's
MGP allows; a constant mean has a normal prior and is integrated out; MAP starts from the last R,
from random draws and from a full-rank fit, as random starts alone seldom find W for D > 20.

The next point comes from a pool of uniform points, as in the paper. To climb the information over
the whole cube does worse: its maxima are corners, far from all that the model knows (samples of
the model, D = 10, d = 2, 50 points, 10 seeds: median largest angle 60 degrees by the maximum, 28
by the pool, 59 by uniform points; all far apart from seed to seed).
"""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from boring.exceptions import BoringError
from boring.kernels.additive import AdditiveKernel, KernelTerm
from boring.kernels.maps import Free
from boring.kernels.profiles import SQUARED_EXPONENTIAL
from boring.models.gp import GaussianProcessModel
from boring.models.marginal import MarginalGP
from boring.models.priors import Gaussian
from boring.subspace.checks import checked_data, checked_dim, checked_points, standardized
from boring.subspace.factor_fit import FactorSettings, basis_of, fit_full, row_span, square_start
from boring.typing import FloatArray
from boring.validation import as_positive_int
from boring.warping import in_squared_units

__all__ = ["LinearEmbedding", "embedding_model", "fit_embedding", "most_informative"]

SCALE = 2.0
"""Prior sd of an entry of R times sqrt(D): singular values of R, inverse lengthscales, around 2
[chosen here, as for the library's other thin factors]."""
VARIANCE_PRIOR = Gaussian(0.0, 1.0)
NOISE_PRIOR = Gaussian(float(np.log(1e-3)), 2.0)
"""On log variance and log noise variance, y standardised [chosen here]."""
CONSTANT_VARIANCE = 1.0
N_RANDOM_STARTS = 3
N_POOL = 500
"""Candidates for the next point [chosen here]."""
MAX_ITERATIONS = 150
"""Of L-BFGS for each start [chosen here; 300 function calls in the authors' code]."""
SHORT_ITERATIONS = 30
"""Spent on every start before the best one goes on."""


def embedding_model(dim: int, effective_dim: int) -> GaussianProcessModel:
    """Return the GP prior: a constant and one squared-exponential term on X R'."""
    prior = Gaussian(0.0, SCALE / float(np.sqrt(dim)))
    term = KernelTerm(
        SQUARED_EXPONENTIAL, Free(dim, effective_dim), "embedding", VARIANCE_PRIOR, prior
    )
    return GaussianProcessModel(AdditiveKernel([term], CONSTANT_VARIANCE), NOISE_PRIOR)


def fit_embedding(
    X: FloatArray,
    y: FloatArray,
    effective_dim: int,
    *,
    rng: np.random.Generator,
    last: FloatArray | None = None,
    fresh: bool = True,
) -> MarginalGP:
    """Return the marginal GP at the best MAP found.

    Parameters
    ----------
    X : ndarray, shape (n, D), scaled units
    y : ndarray, shape (n,), standardised
    effective_dim : int
        d.
    rng : numpy.random.Generator
        Consumed, for the random starts.
    last : ndarray, shape (D d + 2,), optional
        Parameters of a former fit, to start from.
    fresh : bool, default True
        Whether to start from random draws and from a full-rank fit too.
    """
    n, dim = X.shape
    model = embedding_model(dim, effective_dim)
    starts = [] if last is None else [last]
    if fresh or last is None:
        sd = SCALE / np.sqrt(dim)
        factors = [sd * rng.standard_normal((dim, effective_dim)) for _ in range(N_RANDOM_STARTS)]
        if n > effective_dim + 1:
            factors.append(_full_rank_start(X, y, effective_dim))
        starts += [np.concatenate([[0.0], M.ravel(), [np.log(1e-2)]]) for M in factors]
    if len(starts) > 1:
        starts = [model.fit_best(X, y, starts, max_iterations=SHORT_ITERATIONS).theta]
    fit = model.fit_best(X, y, starts, max_iterations=MAX_ITERATIONS)
    return MarginalGP(model.condition(fit.theta, X, y))


def _full_rank_start(X: FloatArray, y: FloatArray, effective_dim: int) -> FloatArray:
    """Return the leading directions of a full-rank fit with their scales, shape (D, d)."""
    coordinates, frame = row_span(X)
    start = square_start(coordinates.shape[1], X.shape[1])
    full = fit_full(coordinates, y, start, FactorSettings(SQUARED_EXPONENTIAL))
    U, singular, _ = np.linalg.svd(full.factor)
    thin = U[:, :effective_dim] * np.maximum(singular[:effective_dim], 1e-2)
    return thin if frame is None else np.asarray(frame @ thin)


def most_informative(marginal: MarginalGP, rng: np.random.Generator) -> tuple[FloatArray, float]:
    """Return the point of a pool whose value says most about the parameters, and how much.

    Parameters
    ----------
    marginal : MarginalGP
    rng : numpy.random.Generator
        Consumed, for the pool: uniform points of the cube.

    Returns
    -------
    x : ndarray, shape (D,), scaled units
    information : float
        In nats.
    """
    pool = rng.uniform(-1.0, 1.0, (N_POOL, marginal.posterior.X.shape[1]))
    information = marginal.information(pool)
    best = int(np.argmax(information))
    return pool[best], float(information[best])


class LinearEmbedding:
    """A surrogate that integrates over its embedding, and says where to look next.

    Parameters
    ----------
    effective_dim : int
        d.

    Attributes
    ----------
    marginal : MarginalGP
        Of standardised values; after `fit`.
    center, spread : float
        y = center + spread * standardised.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (40, 5))
    >>> model = LinearEmbedding(1).fit(X, np.sin(2 * X @ [0.6, 0.8, 0, 0, 0]), rng=rng)
    >>> bool(abs(model.active_basis[:2, 0]).round(1).tolist() == [0.6, 0.8])
    True
    >>> model.suggest(rng=rng).shape
    (5,)
    """

    marginal: MarginalGP
    center: float
    spread: float

    def __init__(self, effective_dim: int) -> None:
        self.effective_dim = as_positive_int(effective_dim, "effective_dim")

    def fit(self, X: ArrayLike, y: ArrayLike, *, rng: np.random.Generator) -> Self:
        """Find the MAP and its Laplace approximation; a former fit of this object is one start.

        Parameters
        ----------
        X : array_like, shape (n, D), scaled units in [-1, 1]
        y : array_like, shape (n,), any unit
        rng : numpy.random.Generator
            Consumed, for random starts.

        Raises
        ------
        InvalidInputError
            If shapes disagree, X leaves the cube, y is constant or d > D.
        FitError
            If every start failed.
        """
        inputs, values = checked_data(X, y, None)
        checked_dim(self.effective_dim, "effective_dim", *inputs.shape)
        standard, self.center, self.spread = standardized(values)
        last = self.marginal.posterior.theta if hasattr(self, "marginal") else None
        if last is not None and len(last) != inputs.shape[1] * self.effective_dim + 2:
            last = None
        self.marginal = fit_embedding(inputs, standard, self.effective_dim, rng=rng, last=last)
        return self

    @property
    def active_basis(self) -> FloatArray:
        """Orthonormal basis of the rows of R at the MAP, shape (D, d)."""
        return basis_of(self._fitted.factor)

    def predict(self, X: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return mean and marginal variance of f (without noise), each (m,), caller's units.

        Parameters
        ----------
        X : array_like, shape (m, D), scaled units
        """
        mean, variance = self._fitted.predict(self._points(X))
        return self.center + self.spread * mean, in_squared_units(variance, self.spread)

    def information(self, X: ArrayLike) -> FloatArray:
        """Return what a value at each row of X (m, D) says about the parameters, in nats (m,)."""
        return self._fitted.information(self._points(X))

    def suggest(self, *, rng: np.random.Generator) -> FloatArray:
        """Return the point of a pool whose value says most about the parameters, shape (D,).

        Parameters
        ----------
        rng : numpy.random.Generator
            Consumed, for candidates.
        """
        return most_informative(self._fitted, rng)[0]

    @property
    def _fitted(self) -> MarginalGP:
        if not hasattr(self, "marginal"):
            raise BoringError("the model has not seen data yet: call fit(X, y, rng=...) first.")
        return self.marginal

    def _points(self, X: ArrayLike) -> FloatArray:
        return checked_points(X, len(self._fitted.factor))
