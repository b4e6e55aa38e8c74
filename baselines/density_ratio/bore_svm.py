r"""BORE with a support vector machine.

Hassen and Rish, arXiv 2108.12461, figure 1, name it as a classifier and print no settings. The
kernel is :math:`\exp(-\gamma |x - x'|^2)`; what is maximised is the decision function, of which
Platt's class probability is a monotone map, with its gradient by hand. Platt's map is hence not
fitted: that takes five further fits and leaves the maximum where it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from baselines._options import check_positive
from baselines._scikit import scikit_learn
from baselines.density_ratio.ratio_loop import DensityRatioOptimizer, Labelled, RatioOptions
from boring.acquisition import Acquisition
from boring.typing import BoolArray, FloatArray

__all__ = ["BoreSvmOptimizer", "BoreSvmOptions", "SvmScore", "fit_svm"]


@dataclass(frozen=True, kw_only=True)
class BoreSvmOptions(RatioOptions):
    """Options of BORE with a support vector machine, beside those of :class:`RatioOptions`.

    Parameters
    ----------
    cost : float, default 1
        Of points on the wrong side of the margin [scikit-learn's default]. gamma is
        scikit-learn's ``"scale"``, one over the summed variances of the inputs.
    """

    cost: float = 1.0

    def __post_init__(self) -> None:
        """Check the options."""
        super().__post_init__()
        check_positive(self.cost, "cost")


@dataclass(frozen=True, eq=False)
class SvmScore:
    """The decision function.

    Parameters
    ----------
    support : ndarray, shape (s, k)
        Support vectors.
    weights : ndarray, shape (s,)
    intercept : float
    gamma : float
        Of the kernel.
    """

    support: FloatArray
    weights: FloatArray
    intercept: float
    gamma: float

    def value(self, Z: FloatArray) -> FloatArray:
        """Return the decision function, shape (m,), at Z (m, k)."""
        return np.asarray(self._kernel(Z) @ self.weights + self.intercept)

    def value_and_gradient(self, Z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the decision function, shape (m,), and its gradient, shape (m, k)."""
        weighted = self._kernel(Z) * self.weights
        total = weighted.sum(axis=1)
        gradient = 2.0 * self.gamma * (weighted @ self.support - total[:, None] * Z)
        return total + self.intercept, gradient

    def _kernel(self, Z: FloatArray) -> FloatArray:
        squares = np.sum(Z**2, axis=1)[:, None] + np.sum(self.support**2, axis=1)
        squares -= 2.0 * Z @ self.support.T
        return np.asarray(np.exp(-self.gamma * np.maximum(squares, 0.0)))


def fit_svm(Z: FloatArray, good: BoolArray, cost: float = 1.0) -> SvmScore:
    """Return the decision function of scikit-learn's machine.

    Parameters
    ----------
    Z : ndarray, shape (n, k)
    good : ndarray of bool, shape (n,)
    cost : float
    """
    spread = float(Z.shape[1] * Z.var())
    gamma = 1.0 / spread if spread > 0 else 1.0
    machine = scikit_learn("svm").SVC(C=cost, gamma=gamma, random_state=0).fit(Z, good)
    return SvmScore(
        np.asarray(machine.support_vectors_, dtype=np.float64),
        np.asarray(machine.dual_coef_[0], dtype=np.float64),
        float(machine.intercept_[0]),
        gamma,
    )


class BoreSvmOptimizer(DensityRatioOptimizer):
    """Bayesian optimisation by a support vector machine that tells good points from bad.

    Parameters are those of :class:`boring.optimizer.Optimizer`; options those of
    :class:`BoreSvmOptions`.
    """

    name: ClassVar[str] = "bore-svm"
    options_type: ClassVar[type] = BoreSvmOptions

    def scored(self, labelled: Labelled, rng: np.random.Generator) -> Acquisition:
        """Return a score of Z; see `DensityRatioOptimizer.scored`."""
        return fit_svm(labelled.Z, labelled.good, self.options.cost)
