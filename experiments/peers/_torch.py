"""What the adapters of BoTorch share.

Containment, the step of those that maximise log-EI, and the local model of TuRBO and BAxUS.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from boring.typing import FloatArray
from boring.warping import standardize

from ._ladder import perturbed_candidates, region
from .base import Requirement

__all__ = [
    "TORCH",
    "LocalModel",
    "improvement_point",
    "load_torch",
    "thompson_point",
    "torch_contained",
]

TORCH = Requirement("botorch", ("torch", "gpytorch", "botorch"), "torch-peers")

LENGTHSCALES, VARIANCES, NOISES = (0.005, 2.0), (0.05, 20.0), (0.0005, 0.1)
"""Bounds of lengthscales (in the unit cube), signal variance and noise variance (values
standardised): Eriksson et al. 2019, appendix C."""

FIT_ITERATIONS = 100
"""Of L-BFGS (chosen here; the likelihood hardly changes after 50)."""


def load_torch() -> None:
    """Import everything that the adapters need."""
    import botorch.acquisition
    import botorch.fit
    import botorch.generation
    import botorch.models
    import botorch.models.map_saas
    import botorch.optim
    import botorch.optim.fit  # noqa: F401


@contextlib.contextmanager
def torch_contained(seed: int) -> Iterator[None]:
    """Seed torch inside the block, with one thread; restore both on exit."""
    import torch

    n_threads = torch.get_num_threads()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(n_threads)


def improvement_point(
    make_model: Callable[[Any, Any], Any],
    points: FloatArray,
    costs: FloatArray,
    seed: int,
    *,
    n_restarts: int,
    n_raw: int,
    fit_options: Mapping[str, Any] | None = None,
    search_options: Mapping[str, Any] | None = None,
) -> FloatArray:
    """Fit a model to all points and return where its log expected improvement is largest.

    Parameters
    ----------
    make_model : callable
        From points (n, d) of the unit cube and values (n, 1), larger is better, both tensors, to a
        model of BoTorch.
    points : ndarray, shape (n, d), scaled units
    costs : ndarray, shape (n,)
        Smaller is better; finite.
    seed : int
        For torch.
    n_restarts, n_raw : int
        Starts of the maximisation, and points they are picked from.
    fit_options, search_options : mapping, optional
        Options of L-BFGS, for hyperparameters and for the acquisition; BoTorch's own by default.

    Returns
    -------
    ndarray, shape (d,), scaled units
    """
    import torch
    from botorch.acquisition import LogExpectedImprovement
    from botorch.fit import fit_gpytorch_mll
    from botorch.optim import optimize_acqf
    from gpytorch.mlls import ExactMarginalLogLikelihood

    dim = points.shape[1]
    with torch_contained(seed):
        X = torch.tensor((points + 1.0) / 2.0, dtype=torch.double)
        y = torch.tensor(-costs, dtype=torch.double)[:, None]
        model = make_model(X, y)
        fit_gpytorch_mll(
            ExactMarginalLogLikelihood(model.likelihood, model),
            optimizer_kwargs={"options": dict(fit_options)} if fit_options else None,
        )
        found, _ = optimize_acqf(
            LogExpectedImprovement(model, best_f=y.max()),
            bounds=torch.stack([torch.zeros(dim), torch.ones(dim)]).double(),
            q=1,
            num_restarts=n_restarts,
            raw_samples=n_raw,
            options=dict(search_options) if search_options else None,
        )
        return 2.0 * np.asarray(found[0].detach().numpy(), dtype=np.float64) - 1.0


class LocalModel:
    """A Gaussian process with constant mean and a Matern-5/2 kernel with a lengthscale each.

    The hyperparameters maximise the likelihood within bounds. To be used inside
    :func:`torch_contained`.

    Parameters
    ----------
    points : ndarray, shape (n, d), unit cube
    costs : ndarray, shape (n,)
        Smaller is better; finite.
    """

    def __init__(self, points: FloatArray, costs: FloatArray) -> None:
        import torch
        from botorch.models import SingleTaskGP
        from botorch.optim.fit import fit_gpytorch_mll_scipy
        from gpytorch.constraints import Interval
        from gpytorch.kernels import MaternKernel, ScaleKernel
        from gpytorch.likelihoods import GaussianLikelihood
        from gpytorch.mlls import ExactMarginalLogLikelihood

        matern = MaternKernel(
            nu=2.5, ard_num_dims=points.shape[1], lengthscale_constraint=Interval(*LENGTHSCALES)
        )
        self._model: Any = SingleTaskGP(
            torch.tensor(points, dtype=torch.double),
            torch.tensor(standardize(-costs), dtype=torch.double)[:, None],
            covar_module=ScaleKernel(matern, outputscale_constraint=Interval(*VARIANCES)),
            likelihood=GaussianLikelihood(noise_constraint=Interval(*NOISES)),
            outcome_transform=None,
        )
        mll = ExactMarginalLogLikelihood(self._model.likelihood, self._model)
        fit_gpytorch_mll_scipy(mll, options={"maxiter": FIT_ITERATIONS})
        mll.eval()

    @property
    def lengthscales(self) -> FloatArray:
        """Lengthscales, shape (d,), unit cube."""
        fitted = self._model.covar_module.base_kernel.lengthscale
        return np.array(fitted.detach().numpy(), dtype=np.float64).reshape(-1)

    def draw_best(self, candidates: FloatArray) -> FloatArray:
        """Return the candidate that is best in one joint draw from the posterior, shape (d,)."""
        import gpytorch
        import torch
        from botorch.generation import MaxPosteriorSampling

        with torch.no_grad(), gpytorch.settings.max_cholesky_size(np.inf):
            sampling = MaxPosteriorSampling(self._model, replacement=False)
            best = sampling(torch.tensor(candidates, dtype=torch.double), num_samples=1)
        return np.array(best[0].numpy(), dtype=np.float64)


def thompson_point(
    points: FloatArray,
    costs: FloatArray,
    length: float,
    n_candidates: int,
    rng: np.random.Generator,
    seed: int,
) -> FloatArray:
    """Return the next point of a trust region about the best point.

    Parameters
    ----------
    points : ndarray, shape (n, d), scaled units
    costs : ndarray, shape (n,)
        Smaller is better; finite.
    length : float
        Geometric mean of the region's sides, in units of the cube's.
    n_candidates : int
    rng : numpy.random.Generator
        Consumed, for the candidates.
    seed : int
        For torch.

    Returns
    -------
    ndarray, shape (d,), scaled units
    """
    unit_points = 0.5 * (points + 1.0)
    centre = unit_points[int(np.argmin(costs))]
    with torch_contained(seed):
        model = LocalModel(unit_points, costs)
        lower, upper = region(centre, model.lengthscales, length)
        candidates = perturbed_candidates(centre, lower, upper, n_candidates, rng)
        return 2.0 * model.draw_best(candidates) - 1.0
