"""SI-BO: subspace identification by random differences and low-rank recovery, then GP-UCB.

Djolonga, Krause and Cevher, "High-dimensional Gaussian process bandits", NIPS 2013, algorithm 1
[thesis Alg. 2]. Steps, with f(x) = g(A x):

1. m_X centres xi_j uniform on the unit sphere; steps phi_ij with entries +-1/sqrt(m_Phi).
2. y_i = (1/eps) sum_j [f(xi_j + eps phi_ij) - f(xi_j)] = Phi(X)_i + curvature + noise, where the
   columns of X are the gradients at the centres: rank d. Cost m_X (m_Phi + 1) evaluations.
3. Dantzig selector: min |X|_* subject to |Phi*(y - Phi(X))|_op <= lambda.
4. The first d left singular vectors of X are the subspace.
5. GP-UCB in it.

**Deviations**

* The domain is a cube, not a ball: the GP on W'x is maximised over all x of the cube, which
  covers the cube's whole projection. Centres are drawn uniformly from the cube by default:
  the unit sphere is a vanishing share of a cube in many dimensions.
* The GP's noise variance is learned, and so takes up the error of the subspace, in place of the
  paper's bound on it, whose constants are unknown in practice.
* lambda is given relative to |Phi* y|, from which on X = 0.
* ``sum_centers=False`` keeps the differences of each centre apart, which costs nothing and gives
  m_X times as many measurements; the paper's algorithm adds them up.
* ``solver="nuclear-norm"`` replaces the Dantzig selector by nuclear-norm least squares.

The noise of y_i has variance 2 m_X s^2 / eps^2 (s: sd of the noise of f), and sums over centres
are correlated. m_Phi must exceed about d (D + m_X), and that is dear. Camelback on a random plane
of D dimensions, no noise, 10 seeds, median largest angle (evaluations): D = 10 1.8 degrees (257),
D = 25 2.5 (565), with the defaults; plain differences along the coordinates
(`baselines.subspace.coordinate_differences`) .5 (33) and .4 (78). With noise of sd .01 neither
finds the plane at the default step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from baselines._acquisition import Choice
from baselines.subspace.two_phase import (
    SamplingDesign,
    TwoPhaseOptimizer,
    check_options,
    draw_centers,
)
from boring._warn import warn
from boring.exceptions import InvalidInputError, NumericsWarning
from boring.subspace.low_rank import dantzig_selector, nuclear_norm_least_squares
from boring.typing import FloatArray
from boring.validation import as_positive_int, as_real

__all__ = ["SiBoOptimizer", "SiBoOptions", "recover_gradients"]

DEFAULT_N_CENTERS = 5
EXCESS = 2.0
"""Measurements per unknown of a matrix of rank d."""
SOLVERS = {"dantzig": dantzig_selector, "nuclear-norm": nuclear_norm_least_squares}


@dataclass(frozen=True)
class SiBoOptions:
    """Options of SI-BO.

    Parameters
    ----------
    effective_dim : int, optional
        d, at most D; None takes min(2, D).
    n_centers : int, optional
        m_X, at least d; None takes max(5, d) [chosen here].
    n_directions : int, optional
        m_Phi; None takes twice as many measurements as the d (D + m_X - d) numbers that fix a
        matrix of rank d [chosen here: at D = 40, d = 2 .7 times that many recover nothing, 1.4
        times come within 15 degrees, 2.5 times within 2].
    step : float, default 0.01
        eps; a step has length eps sqrt(D / m_Phi), scaled units [chosen here; noise asks for more,
        curvature for less].
    radius : float in (0, 1), default 0.003
        lambda relative to |Phi* y|_op [chosen here].
    solver : {"dantzig", "nuclear-norm"}, default "dantzig" [the paper]
    centers : {"cube", "sphere"}, default "cube"
        "sphere" is the paper's unit sphere.
    acquisition : {"ucb", "log-ei"}, default "ucb" [the paper]
        UCB with GP-UCB's beta in d dimensions, delta = 0.1. Log-EI reaches a hundredth of its
        regret where few evaluations are left (`baselines.subspace.coordinate_differences`).
    sum_centers : bool, default True [the paper]
        Whether differences are added up over centres before recovery.
    """

    effective_dim: int | None = None
    n_centers: int | None = None
    n_directions: int | None = None
    step: float = 0.01
    radius: float = 0.003
    solver: Literal["dantzig", "nuclear-norm"] = "dantzig"
    centers: Literal["cube", "sphere"] = "cube"
    acquisition: Choice = "ucb"
    sum_centers: bool = True

    def __post_init__(self) -> None:
        """Check every option that does not depend on the space."""
        check_options(self.effective_dim, self.n_centers, self.centers, self.acquisition)
        if self.n_directions is not None:
            as_positive_int(self.n_directions, "n_directions")
        for name in ("step", "radius"):
            if not 0.0 < as_real(getattr(self, name), name) < 1.0:
                raise InvalidInputError(
                    f"{name} must lie in (0, 1); received {getattr(self, name)!r}."
                )
        if self.solver not in SOLVERS:
            raise InvalidInputError(
                f"solver must be one of {', '.join(SOLVERS)}; received {self.solver!r}."
            )


def recover_gradients(
    directions: FloatArray,
    differences: FloatArray,
    radius: float,
    solver: str = "dantzig",
    sum_centers: bool = True,
) -> FloatArray:
    """Return the low-rank matrix of gradients that explains differences, or sums of them.

    Parameters
    ----------
    directions : ndarray, shape (m, r, D)
        phi_ij, centre j first.
    differences : ndarray, shape (m, r)
        (f(xi_j + eps phi_ij) - f(xi_j)) / eps; finite.
    radius : float in (0, 1)
        lambda relative to |Phi* y|_op.
    solver : {"dantzig", "nuclear-norm"}
    sum_centers : bool, default True
        Whether differences in the i-th direction are added up over the centres.

    Returns
    -------
    ndarray, shape (D, m)
        Zero if all measurements are.

    Warns
    -----
    NumericsWarning
        If the solver ran out of iterations; the message gives the gap.
    """
    m, _, dim = directions.shape
    # Entry (a, j) of X meets phi_ij[a] in row i, or in row (j, i) alone.
    if sum_centers:
        A = directions.transpose(1, 2, 0).reshape(-1, dim * m)
        y = differences.sum(axis=0)
    else:
        A = np.einsum("jia,jl->jial", directions, np.eye(m)).reshape(-1, dim * m)
        y = differences.ravel()
    size = float(np.abs(y).max(initial=0.0))
    if not size > 0.0:
        return np.zeros((dim, m))
    y = y / size
    norm = float(np.linalg.norm((A.T @ y).reshape(dim, m), 2))
    found = SOLVERS[solver](A, y, (dim, m), radius * norm)
    if not found.converged:
        warn(
            f"low-rank recovery stopped after {found.n_iterations} iterations with a duality gap "
            f"of {found.gap / max(found.value, 1e-300):.1e} of its value; choose a larger radius.",
            NumericsWarning,
        )
    return found.X * size


class SiBoOptimizer(TwoPhaseOptimizer):
    """Bayesian optimisation in a subspace identified by low-rank recovery.

    Parameters are those of :class:`boring.optimizer.Optimizer`; options those of
    :class:`SiBoOptions`.

    Raises
    ------
    InvalidInputError
        If ``effective_dim`` exceeds the dimension of the space or the number of centres.

    Examples
    --------
    >>> optimizer = SiBoOptimizer([(-1, 1)] * 4, direction="minimize", seed=0, effective_dim=1)
    >>> optimizer.n_sampling
    54
    >>> result = optimizer.run(lambda x: (x[0] + x[1] - 0.3) ** 2, 95, progress=False)
    >>> result.y_best < 1e-4
    True
    """

    name: ClassVar[str] = "si-bo"
    options_type: ClassVar[type] = SiBoOptions

    def _draw_design(self, rng: np.random.Generator) -> SamplingDesign:
        dim, d, m = self.space.dim, self.effective_dim, self.n_centers
        n_directions = self.options.n_directions
        wanted = int(EXCESS * d * (dim + m - d))
        per_center = wanted if self.options.sum_centers else -(-wanted // m)
        count = per_center if n_directions is None else n_directions
        side = self.options.step / np.sqrt(count)
        centers = draw_centers(self.options.centers, m, dim, side, rng)
        signs = rng.integers(0, 2, size=(len(centers), count, dim)) * 2.0 - 1.0
        return SamplingDesign(centers, side * signs, m)

    def _gradients(self, offsets: FloatArray, values: FloatArray, steps: FloatArray) -> FloatArray:
        step = self.options.step
        complete = np.isfinite(steps).all(axis=0)
        differences = (steps[:, complete] - values[:, None]) / step
        directions = offsets[:, complete] / step
        return recover_gradients(
            directions,
            differences,
            self.options.radius,
            self.options.solver,
            self.options.sum_centers,
        ).T

    @property
    def _default_n_centers(self) -> int:
        return DEFAULT_N_CENTERS

    def _resolved_options(self) -> dict[str, Any]:
        count = self.design.offsets.shape[1]
        return {**super()._resolved_options(), "n_directions": count}
