r"""REMBO with the reverse map: search the zonotope instead of a box that is too large or too small.

Binois, Ginsbourger and Roustant, "On the choice of the low-dimensional domain for global
optimization via random embeddings", Journal of Global Optimization 76 (2020). With orthonormal
columns A, every point of the cube has coordinates y = A'x, and these fill the zonotope
A'[-1, 1]^D: no y is searched in vain, and none is missing. The reverse map

.. math:: \gamma(y) = \arg\min_x \|x - A y\| \quad\text{with}\quad A'x = y,\ |x|_\infty \le 1

takes y to a point. Its optimality conditions say that gamma(y) = clip(A l) with the multipliers
l: the points are exactly those that REMBO reaches with an unbounded box, each once.

The rows of A have equal norms, so that no input weighs more than another.

**Deviations**

* The acquisition is a function of A'x and is maximised over x in the cube, whose image is the
  zonotope; no membership has to be tested. Candidates are drawn as clip(A l) from the middle to
  the rim, since A'x of uniform x crowds in the middle.
* gamma is computed by Newton's method on its dual in d variables, not by quadratic programming.
* Kernel, fit and interleaved runs are those of :mod:`baselines.embeddings.rembo`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from baselines.embeddings.embedded_search import EmbeddedOptimizer, EmbeddedOptions
from baselines.embeddings.features import SearchFeatures
from baselines.embeddings.rembo import DEFAULT_EFFECTIVE_DIM, DEFAULT_N_EMBEDDINGS
from boring.embedding import RandomEmbedding, back_project
from boring.rng import keyed_generator
from boring.typing import FloatArray

__all__ = [
    "ReverseRemboOptimizer",
    "ReverseRemboOptions",
    "ZonotopeFeatures",
    "equal_row_embedding",
    "reverse_map",
]

#: Rounds of evening out the rows; the norms then agree to about 1e-3 at D = 25, d = 2.
ROUNDS = 60
#: Newton's method on the dual stops at this residual in y, relative to the largest |y_i|.
DUAL_TOLERANCE = 1e-12
MAX_NEWTON_STEPS = 200
RIDGE = 1e-10
#: Candidates from the middle to the rim of the zonotope, for each proposal (chosen here).
N_CANDIDATES = 170


def equal_row_embedding(dim: int, effective_dim: int, rng: np.random.Generator) -> RandomEmbedding:
    """Draw A with orthonormal columns and rows of (nearly) equal norms.

    Parameters
    ----------
    dim, effective_dim : int
        D and d.
    rng : numpy.random.Generator
        Consumed.

    Notes
    -----
    Normal entries, then by turns rows of equal norm and the nearest orthonormal columns.
    """
    A = RandomEmbedding.gaussian(dim, effective_dim, rng).A
    for _ in range(ROUNDS):
        A = A / np.linalg.norm(A, axis=1, keepdims=True)
        left, _, right = np.linalg.svd(A, full_matrices=False)
        A = left @ right
    return RandomEmbedding(A)


def reverse_map(A: FloatArray, y: FloatArray) -> FloatArray:
    """Return gamma(y), the point of the cube with A'x = y that is nearest to A y.

    Parameters
    ----------
    A : ndarray, shape (D, d)
        Orthonormal columns.
    y : ndarray, shape (d,)
        In the zonotope A'[-1, 1]^D.

    Returns
    -------
    ndarray, shape (D,)
        For y on the rim the residual A'x - y is small but not zero; for y beyond it, x is a
        point of the rim.

    Notes
    -----
    Minimises sum_i H(a_i'l) - y'l, with H(t) = t^2/2 in [-1, 1] and |t| - 1/2 beyond: convex,
    with the gradient A' clip(A l) - y.
    """
    scale = max(float(np.abs(y).max(initial=0.0)), 1e-300)
    multipliers = y.copy()
    value, gradient, inside = _dual(A, y, multipliers)
    for _ in range(MAX_NEWTON_STEPS):
        if float(np.abs(gradient).max(initial=0.0)) <= DUAL_TOLERANCE * scale:
            break
        rows = A[inside]
        hessian = rows.T @ rows + RIDGE * np.eye(A.shape[1])
        step = -np.linalg.solve(hessian, gradient)
        slope, length = float(gradient @ step), 1.0
        while length > 1e-10:
            trial = multipliers + length * step
            after, trial_gradient, trial_inside = _dual(A, y, trial)
            if after <= value + 1e-4 * length * slope:
                break
            length *= 0.5
        else:
            break
        multipliers, value, gradient, inside = trial, after, trial_gradient, trial_inside
    return np.clip(A @ multipliers, -1.0, 1.0)


def _dual(A: FloatArray, y: FloatArray, multipliers: FloatArray) -> tuple[float, FloatArray, Any]:
    """Return the dual's value, its gradient and the mask of coordinates inside the cube."""
    linear = A @ multipliers
    inside = np.abs(linear) < 1.0
    clipped = np.clip(linear, -1.0, 1.0)
    huber = np.where(inside, 0.5 * linear**2, np.abs(linear) - 0.5)
    return float(huber.sum() - y @ multipliers), clipped @ A - y, inside


@dataclass(frozen=True)
class ZonotopeFeatures(SearchFeatures):
    """The zonotope of one embedding, searched through the cube that it is the image of.

    Parameters
    ----------
    embedding : RandomEmbedding
        Orthonormal columns.
    """

    embedding: RandomEmbedding

    @property
    def search_dim(self) -> int:
        """Dimension of the search box."""
        return self.embedding.dim

    @property
    def prior_dim(self) -> int:
        """Dimension in which distances between features live."""
        return self.embedding.dim

    def of_points(self, X: FloatArray) -> FloatArray:
        """Return features (n, f) of points X (n, D)."""
        return np.asarray(X @ self.embedding.A)

    def of_search(self, U: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return features (m, f) and their Jacobians at U (m, search_dim)."""
        slope = self.embedding.A.T
        return self.of_points(U), np.broadcast_to(slope, (len(U), *slope.shape))

    def up(self, U: FloatArray) -> FloatArray:
        """Return the points (m, D) that U (m, search_dim) stands for."""
        return np.array([reverse_map(self.embedding.A, y) for y in self.of_points(U)])

    def down(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return places (n, search_dim) of X (n, D), and how badly they reproduce it."""
        return X, back_project(self.embedding, X)[1]

    def sample(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Draw clip(A l), l of uniform direction, with a uniform share of clipped inputs."""
        directions = rng.standard_normal((n, self.embedding.effective_dim))
        linear = directions @ self.embedding.A.T
        sizes = np.sort(np.abs(linear), axis=1)
        chosen = rng.integers(self.embedding.dim, size=n)
        scale = np.maximum(sizes[np.arange(n), chosen], 1e-12)
        return np.asarray(np.clip(linear / scale[:, None], -1.0, 1.0))

    def candidates(self, rng: np.random.Generator) -> FloatArray:
        """Draw candidates from the middle to the rim, and shrunk towards the middle."""
        points = self.sample(N_CANDIDATES, rng)
        shrunk = rng.random((N_CANDIDATES, 1)) ** (1.0 / self.embedding.effective_dim)
        shrunk[::2] = 1.0
        return points * shrunk


@dataclass(frozen=True)
class ReverseRemboOptions(EmbeddedOptions):
    """Options of REMBO with the reverse map: those of :class:`EmbeddedOptions`.

    By default d is min(2, D).

    Parameters
    ----------
    n_embeddings : int, default 4
        As in REMBO.
    """

    n_embeddings: int = DEFAULT_N_EMBEDDINGS


class ReverseRemboOptimizer(EmbeddedOptimizer):
    """Bayesian optimisation in the zonotopes of interleaved random embeddings.

    Parameters are those of :class:`boring.optimizer.Optimizer`; options those of
    :class:`ReverseRemboOptions`.

    Raises
    ------
    InvalidInputError
        If ``effective_dim`` exceeds the dimension of the space.

    Examples
    --------
    >>> optimizer = ReverseRemboOptimizer([(-1, 1)] * 10, direction="minimize", seed=0)
    >>> result = optimizer.run(lambda x: (x[0] - 0.3) ** 2, 12, progress=False)
    >>> result.X.shape
    (12, 10)
    """

    name: ClassVar[str] = "rembo-reverse"
    options_type: ClassVar[type] = ReverseRemboOptions
    default_effective_dim: ClassVar[int] = DEFAULT_EFFECTIVE_DIM

    def _draw_features(self) -> tuple[SearchFeatures, ...]:
        return tuple(
            ZonotopeFeatures(
                equal_row_embedding(
                    self.space.dim,
                    self.effective_dim,
                    keyed_generator(self.entropy, "reverse-rembo", run),
                )
            )
            for run in range(self.options.n_embeddings)
        )
