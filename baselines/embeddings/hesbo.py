"""HeSBO: Bayesian optimisation in an embedding by hashing.

Nayebi, Munteanu and Poloczek, "A framework for Bayesian optimization in embedded subspaces",
ICML 2019. Every input follows one of d target coordinates, drawn uniformly, with a random sign:
x_i = s_i z_{h(i)}. The box [-1, 1]^d of the target maps into the cube as it is, so that nothing
is clipped and no box has to be chosen. Of a function of d_e inputs, the box holds the optimum if
no two of them share a target coordinate, that is in d! / ((d - d_e)! d^{d_e}) of draws, and also
when those that do happen to agree.

**Deviations**

* MAP hyperparameters with a weak prior, log expected improvement, the joint multi-start
  maximiser.
* Points told from outside count at their least-squares preimage, unless they are reproduced
  badly and there are others.
* ``n_embeddings`` interleaves runs as in REMBO; the paper has one, which is the default.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import perm
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from baselines.embeddings.embedded_search import EmbeddedOptimizer, EmbeddedOptions, two_start_fit
from baselines.embeddings.features import SearchFeatures
from boring.kernels import Ard
from boring.models.posterior import GaussianProcess
from boring.rng import keyed_generator
from boring.typing import FloatArray

__all__ = ["HashingFeatures", "HesboOptimizer", "HesboOptions", "containment_probability"]

#: Letham et al. (2020) take d = 4 for a function of two variables, as the better setting.
DEFAULT_EFFECTIVE_DIM = 4


def containment_probability(effective_dim: int, n_active: int) -> float:
    """Return the share of draws in which no two active inputs share a target coordinate.

    Parameters
    ----------
    effective_dim : int
        d, of the target.
    n_active : int
        d_e, inputs on which the function depends.
    """
    return perm(effective_dim, n_active) / float(effective_dim) ** n_active


@dataclass(frozen=True, eq=False)
class HashingFeatures(SearchFeatures):
    """A target box in which every input follows one coordinate, up to its sign.

    Parameters
    ----------
    bins : ndarray of int, shape (D,)
        Target coordinate of each input, from 0 to d - 1; some may be nobody's.
    signs : ndarray, shape (D,)
        1 or -1.
    effective_dim : int
        d.
    """

    bins: NDArray[np.intp]
    signs: FloatArray
    effective_dim: int

    @classmethod
    def draw(cls, dim: int, effective_dim: int, rng: np.random.Generator) -> HashingFeatures:
        """Draw bins and signs uniformly.

        Parameters
        ----------
        dim, effective_dim : int
            D and d.
        rng : numpy.random.Generator
            Consumed.
        """
        bins = rng.integers(effective_dim, size=dim)
        signs = rng.choice(np.array([-1.0, 1.0]), size=dim)
        return cls(np.asarray(bins, dtype=np.intp), signs, effective_dim)

    @property
    def search_dim(self) -> int:
        """Dimension of the search box."""
        return self.effective_dim

    @property
    def prior_dim(self) -> int:
        """Dimension in which distances between features live."""
        return self.effective_dim

    def of_points(self, X: FloatArray) -> FloatArray:
        """Return features (n, f) of points X (n, D)."""
        return self.down(X)[0]

    def of_search(self, U: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return features (m, f) and their Jacobians at U (m, search_dim)."""
        identity = np.eye(self.effective_dim)
        return U, np.broadcast_to(identity, (len(U), *identity.shape))

    def up(self, U: FloatArray) -> FloatArray:
        """Return the points (m, D) that U (m, search_dim) stands for."""
        return np.asarray(self.signs * U[:, self.bins])

    def down(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return places (n, search_dim) of X (n, D), and how badly they reproduce it."""
        sums = np.zeros((self.effective_dim, len(X)))
        np.add.at(sums, self.bins, (self.signs * X).T)
        counts = np.bincount(self.bins, minlength=self.effective_dim)
        Z = np.asarray((sums / np.maximum(counts, 1)[:, None]).T)
        return Z, np.abs(self.up(Z) - X).max(axis=1, initial=0.0)


@dataclass(frozen=True)
class HesboOptions(EmbeddedOptions):
    """Options of HeSBO: those of :class:`EmbeddedOptions`, d being min(4, D) by default."""


class HesboOptimizer(EmbeddedOptimizer):
    """Bayesian optimisation in a hashing embedding.

    Parameters are those of :class:`boring.optimizer.Optimizer`; options those of
    :class:`HesboOptions`.

    Raises
    ------
    InvalidInputError
        If ``effective_dim`` exceeds the dimension of the space.

    Examples
    --------
    >>> optimizer = HesboOptimizer([(-1, 1)] * 10, direction="minimize", seed=0)
    >>> result = optimizer.run(lambda x: (x[0] - 0.3) ** 2, 12, progress=False)
    >>> len(set(abs(result.x_best))) <= 4
    True
    """

    name: ClassVar[str] = "hesbo"
    options_type: ClassVar[type] = HesboOptions
    default_effective_dim: ClassVar[int] = DEFAULT_EFFECTIVE_DIM

    def _draw_features(self) -> tuple[SearchFeatures, ...]:
        return tuple(
            HashingFeatures.draw(
                self.space.dim, self.effective_dim, keyed_generator(self.entropy, "hesbo", run)
            )
            for run in range(self.options.n_embeddings)
        )

    def _fit(self, features: SearchFeatures, X: FloatArray, y: FloatArray) -> GaussianProcess:
        d = self.effective_dim
        return two_start_fit(Ard(d), d, features.of_points(X), y)
