r"""Moments of f under an uncertain input, through a Gaussian process.

For an input law p the quantities of interest are [Tripathy et al. 2016; thesis eq. 2.1 to 2.3]

.. math::
    \mu_f = \int f(x) p(x) dx, \qquad \sigma_f^2 = \int (f(x) - \mu_f)^2 p(x) dx,
    \qquad p(f) = \int \delta(f - f(x)) p(x) dx.

f is a GP given data, so that both are random. With m, c its mean and covariance, x and x'
independent draws from p,

.. math::
    E[\mu_f] = E_x m(x), \quad Var[\mu_f] = E_{xx'} c(x, x'), \quad
    E[\sigma_f^2] = E_x[m(x)^2 + c(x, x)] - E[\mu_f]^2 - Var[\mu_f].

A squared-exponential kernel of linear features z = M'x and a normal x give closed forms, since z
is normal too (Girard et al. 2003; Briol et al. 2019 on Bayesian quadrature). Anything else takes
quasi-random points of p, and the formulas hold for the law of those points: a Matern kernel of
W'x has no closed form for a uniform x, of which W'x is a sum with a density of many pieces.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from scipy.special import ndtri

from boring.exceptions import InvalidInputError
from boring.kernels.profiles import SQUARED_EXPONENTIAL
from boring.models.linalg import solve
from boring.models.posterior import GaussianProcess
from boring.typing import FloatArray
from boring.validation import as_positive_int, as_real_array
from boring.warping import in_squared_units

__all__ = ["InputLaw", "NormalInput", "Propagation", "UniformInput", "propagate"]

N_POINTS = 4096
"""Quasi-random points; a power of two [chosen here: their error is far below that of the
surrogate]."""

_BATCH = 512


@runtime_checkable
class InputLaw(Protocol):
    """A distribution of the input in scaled units."""

    @property
    def dim(self) -> int:
        """D."""
        ...

    def points(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Return n quasi-random points, shape (n, D)."""
        ...


@dataclass(frozen=True)
class UniformInput:
    """Uniform on the cube [-1, 1]^D.

    Parameters
    ----------
    dim : int
    """

    dim: int

    def points(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Return n points of a scrambled Sobol sequence, shape (n, D)."""
        return 2.0 * _unit_points(n, self.dim, rng) - 1.0


@dataclass(frozen=True, eq=False)
class NormalInput:
    """Normal with any covariance; points may leave the cube.

    Parameters
    ----------
    mean : ndarray, shape (D,), scaled units
    covariance : ndarray, shape (D, D), or (D,) for its diagonal

    Raises
    ------
    InvalidInputError
        If shapes disagree or the covariance is not symmetric positive semi-definite.
    """

    mean: FloatArray
    covariance: FloatArray

    def __post_init__(self) -> None:
        mean = as_real_array(self.mean, "mean")
        covariance = as_real_array(self.covariance, "covariance")
        if covariance.ndim == 1:
            covariance = np.diag(covariance)
        if mean.ndim != 1 or covariance.shape != (len(mean), len(mean)):
            raise InvalidInputError(
                f"mean must have shape (D,) and covariance (D, D) or (D,); received "
                f"{np.shape(self.mean)} and {np.shape(self.covariance)}."
            )
        finite = bool(np.all(np.isfinite(mean)) and np.all(np.isfinite(covariance)))
        if not finite or not np.allclose(covariance, covariance.T):
            raise InvalidInputError("mean and covariance must be finite, covariance symmetric.")
        lowest = float(np.linalg.eigvalsh(covariance)[0])
        if lowest < -1e-10 * max(1.0, float(np.abs(covariance).max())):
            raise InvalidInputError(
                f"covariance must be positive semi-definite; its least eigenvalue is {lowest:.3g}."
            )
        object.__setattr__(self, "mean", mean)
        object.__setattr__(self, "covariance", covariance)

    @property
    def dim(self) -> int:
        """D."""
        return len(self.mean)

    def points(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Return n normal scores of a scrambled Sobol sequence, shape (n, D)."""
        values, vectors = np.linalg.eigh(self.covariance)
        scores = ndtri(_unit_points(n, self.dim, rng))
        return np.asarray(self.mean + (scores * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)


@dataclass(frozen=True, eq=False, slots=True)
class Propagation:
    """What an uncertain input does to f, in the caller's units of y.

    Attributes
    ----------
    mean : float
        Posterior mean of mu_f.
    mean_std : float
        Posterior standard deviation of mu_f: what the surrogate does not know.
    variance : float
        Posterior mean of sigma_f^2.
    values : ndarray, shape (N,)
        Surrogate means at quasi-random inputs: a sample of p(f) [thesis eq. 2.3].
    closed_form : bool
        Whether the moments are exact, or averages over the N points.
    """

    mean: float
    mean_std: float
    variance: float
    values: FloatArray
    closed_form: bool


def propagate(
    posterior: GaussianProcess,
    law: InputLaw,
    *,
    rng: np.random.Generator,
    n_points: int = N_POINTS,
    center: float = 0.0,
    spread: float = 1.0,
) -> Propagation:
    """Return mean and variance of f under an uncertain input.

    Parameters
    ----------
    posterior : GaussianProcess
        On scaled inputs, such as ``ActiveSubspaceGP.posterior``.
    law : InputLaw
        `UniformInput`, `NormalInput` or any class with ``dim`` and ``points``.
    rng : numpy.random.Generator
        Consumed.
    n_points : int, default 4096
        A power of two is best.
    center, spread : float
        y = center + spread * the values of the posterior.

    Returns
    -------
    Propagation
        In closed form if the law is normal and the kernel one squared-exponential term.

    Raises
    ------
    InvalidInputError
        If the law has another dimension than the posterior.

    Examples
    --------
    >>> from boring.subspace.active_subspace_gp import ActiveSubspaceGP
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (30, 3))
    >>> model = ActiveSubspaceGP(1, n_restarts=3).fit(X, 2 + X @ [0.6, 0.8, 0], rng=rng)
    >>> found = propagate(
    ...     model.posterior, UniformInput(3), rng=rng, center=model.center, spread=model.spread
    ... )
    >>> abs(found.mean - 2) < 0.02, abs(found.variance - 1 / 3) < 0.02
    (True, True)
    """
    dim = posterior.X.shape[1]
    if law.dim != dim:
        raise InvalidInputError(f"the law has {law.dim} dimensions and the posterior {dim}.")
    points = law.points(as_positive_int(n_points, "n_points"), rng)
    values = posterior.predict(points)[0]
    terms = posterior.model.kernel.terms
    exact = (
        isinstance(law, NormalInput) and len(terms) == 1 and terms[0].profile is SQUARED_EXPONENTIAL
    )
    if exact:
        assert isinstance(law, NormalInput)
        first, square, double = _normal_moments(posterior, law)
    else:
        first, square, double = _averages(posterior, points)
    weights = solve(posterior.L, first)
    mean = float(first @ posterior.alpha)
    variance_of_mean = max(double - float(first @ weights), 0.0)
    # E[m^2 + c(x, x)] = total variance + sum of E[k k'] (alpha alpha' - A^-1).
    inner = float(posterior.alpha @ square @ posterior.alpha)
    explained = float(np.trace(solve(posterior.L, square)))
    second = posterior.model.kernel.total_variance(posterior.theta) + inner - explained
    variance = max(second - mean**2 - variance_of_mean, 0.0)
    return Propagation(
        center + spread * mean,
        abs(spread) * float(np.sqrt(variance_of_mean)),
        float(in_squared_units(variance, spread)),
        center + spread * values,
        exact,
    )


def _averages(
    posterior: GaussianProcess, points: FloatArray
) -> tuple[FloatArray, FloatArray, float]:
    """Return averages of k(x, X) (n,), of its outer product (n, n), and of k(x, x')."""
    kernel, theta = posterior.model.kernel, posterior.theta
    n = len(posterior.X)
    first, square, double = np.zeros(n), np.zeros((n, n)), 0.0
    for begin in range(0, len(points), _BATCH):
        batch = points[begin : begin + _BATCH]
        cross = kernel.matrix(theta, batch, posterior.X)
        first += cross.sum(axis=0)
        square += cross.T @ cross
        double += float(kernel.matrix(theta, batch, points).sum())
    count = len(points)
    return first / count, square / count, double / count**2


def _normal_moments(
    posterior: GaussianProcess, law: NormalInput
) -> tuple[FloatArray, FloatArray, float]:
    """Return E k(x, X), E k(x, X)' k(x, X) and E k(x, x') for normal x.

    With z = M'x ~ N(b, S), Z the features of the data and N(.; V) the density at 0,

        E exp(-|z - z_i|^2/2)  = |I + S|^-1/2 exp(-(z_i - b)'(I + S)^-1 (z_i - b)/2)
        E of two of them       = exp(-|z_i - z_j|^2/4) |I + 2 S|^-1/2
                                 exp(-(c - b)'(I/2 + S)^-1 (c - b)/2),  c = (z_i + z_j)/2
        E exp(-|z - z'|^2/2)   = |I + 2 S|^-1/2.
    """
    ((term, signal, parameters),) = posterior.terms
    constant = posterior.model.kernel.constant_variance
    feature_map = term.feature_map
    to_features: Callable[[FloatArray], FloatArray] = lambda X: feature_map.features(  # noqa: E731
        feature_map.inputs(X), parameters
    )
    Z, b = to_features(posterior.X), to_features(law.mean[None, :])[0]
    linear = to_features(np.eye(law.dim))
    S = linear.T @ law.covariance @ linear
    identity = np.eye(len(b))
    away = Z - b
    first = _gaussian(away, identity + S) / np.sqrt(np.linalg.det(identity + S))
    middle = 0.5 * (away[:, None, :] + away[None, :, :])
    gap = np.sum((Z[:, None, :] - Z[None, :, :]) ** 2, axis=2)
    spread = 1.0 / np.sqrt(np.linalg.det(identity + 2.0 * S))
    square = np.exp(-0.25 * gap) * spread * _gaussian(middle, 0.5 * identity + S)
    single = signal * first + constant
    # E[(s k_i + c)(s k_j + c)].
    both = signal**2 * square
    both += constant * signal * (first[:, None] + first[None, :]) + constant**2
    return single, both, signal * spread + constant


def _gaussian(away: FloatArray, covariance: FloatArray) -> FloatArray:
    """Return exp(-a' C^-1 a / 2) over the last axis of ``away``."""
    inverse = np.linalg.inv(covariance)
    return np.asarray(np.exp(-0.5 * np.einsum("...i,ij,...j->...", away, inverse, away)))


def _unit_points(n: int, dim: int, rng: np.random.Generator) -> FloatArray:
    from scipy.stats import qmc  # slow to load

    engine = qmc.Sobol(dim, scramble=True, rng=rng)
    unit = engine.random_base2((n - 1).bit_length())[:n]
    # Scrambled points may touch 0, where a normal score is infinite.
    return np.asarray(np.clip(unit, 2.0**-33, 1.0 - 2.0**-33))
