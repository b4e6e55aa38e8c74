"""BORE with a random forest.

Tiao et al., "BORE", ICML 2021: any classifier will do; a forest needs neither scaling
nor training steps, and gives no gradient. Its probability is constant by pieces. The search draws
candidates in rounds around the best so far; of candidates that tie, the first drawn wins, and these
are the uniform ones, so that a plateau is entered at random and not at its edge.

**Deviation**: BORE's code calibrates the probabilities afterwards. A sigmoid on top leaves the
order of the points, and hence the maximum, as it is, and is left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from baselines._scikit import scikit_learn
from baselines.density_ratio.ratio_loop import (
    DensityRatioOptimizer,
    Labelled,
    RatioOptions,
    WithoutGradient,
)
from boring.acquisition import Acquisition
from boring.typing import FloatArray
from boring.validation import as_positive_int

__all__ = ["BoreForestOptimizer", "BoreForestOptions", "ForestScore"]


@dataclass(frozen=True, kw_only=True)
class BoreForestOptions(RatioOptions):
    """Options of BORE with a forest, beside those of :class:`RatioOptions`.

    Parameters
    ----------
    n_trees : int, default 100
        [scikit-learn's default; BORE's code grows 1000, at ten times the seconds]
    min_leaf : int, default 1
        Least points in a leaf [scikit-learn's default].
    """

    n_trees: int = 100
    min_leaf: int = 1

    def __post_init__(self) -> None:
        """Check the options."""
        super().__post_init__()
        as_positive_int(self.n_trees, "n_trees")
        as_positive_int(self.min_leaf, "min_leaf")


@dataclass(frozen=True, eq=False)
class ForestScore(WithoutGradient):
    """The share of a forest's votes for good.

    Parameters
    ----------
    forest : sklearn.ensemble.RandomForestClassifier
        Fitted on labels False and True.
    """

    forest: Any

    def value(self, Z: FloatArray) -> FloatArray:
        """Return the class probability, shape (m,), at Z (m, k)."""
        return np.asarray(self.forest.predict_proba(Z)[:, 1], dtype=np.float64)


class BoreForestOptimizer(DensityRatioOptimizer):
    """Bayesian optimisation by a random forest that tells good points from bad.

    Parameters are those of :class:`boring.optimizer.Optimizer`; options those of
    :class:`BoreForestOptions`.
    """

    name: ClassVar[str] = "bore-forest"
    options_type: ClassVar[type] = BoreForestOptions
    has_gradient: ClassVar[bool] = False

    def scored(self, labelled: Labelled, rng: np.random.Generator) -> Acquisition:
        """Return a score of Z; see `DensityRatioOptimizer.scored`."""
        options: BoreForestOptions = self.options
        forest = scikit_learn("ensemble").RandomForestClassifier(
            options.n_trees,
            min_samples_leaf=options.min_leaf,
            n_jobs=1,
            random_state=int(rng.integers(2**31)),
        )
        return ForestScore(forest.fit(labelled.Z, labelled.good))
