r"""ALEBO: an embedding that is never clipped, and a kernel that knows it is an embedding.

Letham, Calandra, Rai and Bakshy, "Re-examining linear embeddings for high-dimensional Bayesian
optimization", NeurIPS 2020. The columns of B (d, D) are drawn uniformly from the unit sphere; a
point x has the coordinates y = B x, and y stands for x = B^+ y (pseudo-inverse). Three departures
from REMBO: only y in the polytope :math:`|B^+ y|_\infty \le 1` are searched, so that nothing is
clipped; the kernel is a squared exponential of a full Mahalanobis distance
:math:`(y - y')' \Gamma (y - y')`, because a product kernel of f's few inputs is one on the
embedding, for a Gamma of rank d_e that depends on both; and B has unit columns, which leaves more
embeddings with an optimum inside.

**Deviations**

* Gamma = M M' at its MAP with a prior on the singular values of M, which is invariant under
  rotations of y. The paper draws Gamma from a Laplace approximation and matches moments; its
  predictive variances are therefore larger than ours with few points.
* The acquisition is maximised over the cube :math:`[-1, 1]^d`, which
  :math:`y = u\,|u|_\infty / |B^+ u|_\infty` maps one to one onto the polytope, in place of a
  solver with 2 D linear constraints. Log expected improvement.
* Points told from outside count at y = B x, unless they are reproduced badly and there are
  others. ``n_embeddings`` interleaves runs as in REMBO; the paper has one, which is the default.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from baselines.embeddings.embedded_search import (
    FIT_ITERATIONS,
    NOISE_PRIOR,
    VARIANCE_PRIOR,
    EmbeddedOptimizer,
    EmbeddedOptions,
)
from baselines.embeddings.features import SearchFeatures
from boring.kernels import SQUARED_EXPONENTIAL, AdditiveKernel, Free, KernelTerm
from boring.models.gp import GaussianProcessModel
from boring.models.posterior import GaussianProcess
from boring.models.priors import LogSingularValues
from boring.rng import keyed_generator
from boring.typing import FloatArray

__all__ = ["AleboOptimizer", "AleboOptions", "PolytopeFeatures", "hypersphere_projection"]

#: Letham et al. (2020) take d = 4 for a function of two variables, d = 12 for one of six.
DEFAULT_EFFECTIVE_DIM = 4
#: Median lengthscale 1.4 sd of y for uniform x, and its spread (chosen here).
LENGTHSCALE_CENTER = 1.4
LENGTHSCALE_SD = 1.0
#: Starts of the fit: a multiple of the identity, and random ones (the paper: ten).
N_RANDOM_STARTS = 3


def hypersphere_projection(dim: int, effective_dim: int, rng: np.random.Generator) -> FloatArray:
    """Draw B, shape (d, D), its columns uniform on the unit sphere.

    Parameters
    ----------
    dim, effective_dim : int
        D and d.
    rng : numpy.random.Generator
        Consumed.
    """
    B = rng.standard_normal((effective_dim, dim))
    return np.asarray(B / np.linalg.norm(B, axis=0))


@dataclass(frozen=True, eq=False)
class PolytopeFeatures(SearchFeatures):
    r"""The polytope of y with :math:`|B^+ y|_\infty \le 1`, as the image of a cube.

    Parameters
    ----------
    B : ndarray, shape (d, D)
        Of rank d.
    """

    B: FloatArray

    @cached_property
    def inverse(self) -> FloatArray:
        """The pseudo-inverse of B, shape (D, d)."""
        return np.asarray(np.linalg.pinv(self.B))

    @property
    def search_dim(self) -> int:
        """Dimension of the search box."""
        return int(self.B.shape[0])

    @property
    def prior_dim(self) -> int:
        """Dimension in which distances between features live."""
        return int(self.B.shape[1])

    @property
    def spread(self) -> float:
        """Root mean square of a coordinate of y for uniform x."""
        d, dim = self.B.shape
        return float(np.sqrt(dim / (3.0 * d)))

    def of_points(self, X: FloatArray) -> FloatArray:
        """Return features (n, f) of points X (n, D)."""
        return np.asarray(X @ self.B.T)

    def of_search(self, U: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return features (m, f) and their Jacobians at U (m, search_dim)."""
        rows, image = np.arange(len(U)), U @ self.inverse.T
        peak, face = np.argmax(np.abs(U), axis=1), np.argmax(np.abs(image), axis=1)
        size, reach = np.abs(U)[rows, peak], np.abs(image)[rows, face]
        at_origin = size == 0.0
        # At the origin the scale depends on the direction; any one gives y = 0.
        safe_size, safe_reach = np.where(at_origin, 1.0, size), np.where(at_origin, 1.0, reach)
        scale = safe_size / safe_reach
        Y = scale[:, None] * U
        slope = -(np.sign(image[rows, face]) / safe_reach)[:, None] * self.inverse[face]
        slope[rows, peak] += np.sign(U[rows, peak]) / safe_size
        slope[at_origin] = 0.0
        jacobian = scale[:, None, None] * np.eye(U.shape[1]) + Y[:, :, None] * slope[:, None, :]
        return Y, jacobian

    def up(self, U: FloatArray) -> FloatArray:
        """Return the points (m, D) that U (m, search_dim) stands for."""
        return np.clip(self.of_search(U)[0] @ self.inverse.T, -1.0, 1.0)

    def down(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return places (n, search_dim) of X (n, D), and how badly they reproduce it."""
        Y = self.of_points(X)
        image = Y @ self.inverse.T
        size, reach = np.abs(Y).max(axis=1), np.abs(image).max(axis=1, initial=0.0)
        scale = np.where(size > 0.0, reach / np.where(size > 0.0, size, 1.0), 1.0)
        return scale[:, None] * Y, np.abs(image - X).max(axis=1, initial=0.0)


@dataclass(frozen=True)
class AleboOptions(EmbeddedOptions):
    """Options of ALEBO: those of :class:`EmbeddedOptions`, d being min(4, D) by default."""


class AleboOptimizer(EmbeddedOptimizer):
    """Bayesian optimisation in the polytope of a random projection.

    Parameters are those of :class:`boring.optimizer.Optimizer`; options those of
    :class:`AleboOptions`.

    Raises
    ------
    InvalidInputError
        If ``effective_dim`` exceeds the dimension of the space.

    Examples
    --------
    >>> optimizer = AleboOptimizer([(-1, 1)] * 10, direction="minimize", seed=0)
    >>> result = optimizer.run(lambda x: (x[0] - 0.3) ** 2, 12, progress=False)
    >>> result.X.shape
    (12, 10)
    """

    name: ClassVar[str] = "alebo"
    options_type: ClassVar[type] = AleboOptions
    default_effective_dim: ClassVar[int] = DEFAULT_EFFECTIVE_DIM

    def _draw_features(self) -> tuple[SearchFeatures, ...]:
        return tuple(
            PolytopeFeatures(
                hypersphere_projection(
                    self.space.dim, self.effective_dim, keyed_generator(self.entropy, "alebo", run)
                )
            )
            for run in range(self.options.n_embeddings)
        )

    def _fit(self, features: SearchFeatures, X: FloatArray, y: FloatArray) -> GaussianProcess:
        assert isinstance(features, PolytopeFeatures)
        d, rng = self.effective_dim, keyed_generator(self.entropy, "alebo fit", len(X))
        center = 1.0 / (LENGTHSCALE_CENTER * features.spread)
        prior = LogSingularValues(d, center, LENGTHSCALE_SD)
        term = KernelTerm(SQUARED_EXPONENTIAL, Free(d, d), "embedded", VARIANCE_PRIOR, prior)
        model = GaussianProcessModel(AdditiveKernel([term], 1.0), NOISE_PRIOR)
        factors = [center * np.eye(d)]
        for _ in range(N_RANDOM_STARTS):
            frame = np.linalg.qr(rng.standard_normal((d, d)))[0]
            factors.append(frame * center * np.exp(rng.normal(0.0, LENGTHSCALE_SD, d)))
        starts = [
            np.concatenate([[VARIANCE_PRIOR.mean], factor.ravel(), [NOISE_PRIOR.mean]])
            for factor in factors
        ]
        F = features.of_points(X)
        fit = model.fit_best(F, y, starts, max_iterations=FIT_ITERATIONS)
        return model.condition(fit.theta, F, y)
