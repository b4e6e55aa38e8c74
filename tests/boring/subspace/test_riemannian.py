"""The pymanopt fence: descent, certificate, silence, and global state left as found."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import get_args

import numpy as np
import pytest

from boring.exceptions import FitError, InvalidInputError
from boring.subspace._riemannian import RiemannianMethod, polish, riemannian_gradient_norm
from boring.subspace.curvilinear import curvilinear_descent
from boring.subspace.stiefel import (
    is_orthonormal,
    largest_angle,
    random_frame,
    tangent_projection,
)

METHODS = get_args(RiemannianMethod)


class Trace:
    """Cost -tr(W'AW)/2, minimal on the span of the leading eigenvectors of A."""

    def __init__(self, eigenvalues: np.ndarray, seed: int = 0) -> None:
        self.basis = random_frame(len(eigenvalues), len(eigenvalues), np.random.default_rng(seed))
        self.A = (self.basis * eigenvalues) @ self.basis.T

    def __call__(self, W: np.ndarray) -> tuple[float, np.ndarray]:
        product = self.A @ W
        return -0.5 * float(np.vdot(W, product)), -product


EASY = Trace(np.array([5.0, 4.0, 1.0, 0.5, 0.2, 0.1]))


@pytest.mark.parametrize("method", METHODS)
def test_polish_finds_the_leading_eigenspace(method: RiemannianMethod) -> None:
    start = random_frame(6, 2, np.random.default_rng(1))
    result = polish(start, EASY, method=method, max_iterations=200)
    assert largest_angle(result.W, EASY.basis[:, :2]) < 1e-5
    assert result.cost == pytest.approx(-4.5, abs=1e-9)
    assert result.gradient_norm < 1e-5
    assert is_orthonormal(result.W, 1e-12)
    assert 0 < result.n_iterations <= 200
    assert result.stop_reason


@pytest.mark.parametrize("method", METHODS)
def test_polish_is_never_worse_than_its_start(method: RiemannianMethod) -> None:
    for seed in range(5):
        start = random_frame(6, 2, np.random.default_rng(seed))
        result = polish(start, EASY, method=method, max_iterations=1)
        assert result.cost <= EASY(start)[0]
        assert result.cost == EASY(result.W)[0]


@pytest.mark.parametrize("method", METHODS)
def test_polish_leaves_global_state_alone_and_prints_nothing(
    method: RiemannianMethod, capfd: pytest.CaptureFixture[str]
) -> None:
    before = np.random.get_state()  # noqa: NPY002
    errors = np.geterr()
    start = random_frame(6, 2, np.random.default_rng(1))
    copy = start.copy()
    first = polish(start, EASY, method=method, max_iterations=5)
    np.random.seed(123)  # noqa: NPY002
    second = polish(start, EASY, method=method, max_iterations=5)
    np.random.set_state(before)  # noqa: NPY002
    polish(start, EASY, method=method, max_iterations=5)
    after = np.random.get_state()  # noqa: NPY002
    np.testing.assert_array_equal(before[1], after[1])
    assert before[2:] == after[2:]
    np.testing.assert_array_equal(first.W, second.W)
    np.testing.assert_array_equal(start, copy)
    assert np.geterr() == errors
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("method", ["conjugate-gradient", "steepest-descent"])
def test_orthonormality_after_1000_retractions(method: RiemannianMethod) -> None:
    """An ill-conditioned cost keeps the search walking; its last frame is checked."""
    hard = Trace(np.concatenate([[1.0, 0.9999], 1.0 - np.geomspace(2e-4, 1.0, 10)]))
    seen: list[np.ndarray] = []

    def recording(W: np.ndarray) -> tuple[float, np.ndarray]:
        seen.append(W.copy())
        return hard(W)

    result = polish(
        random_frame(12, 2, np.random.default_rng(0)),
        recording,
        method=method,
        max_iterations=1001,
        gradient_tolerance=0.0,
        minimum_step=0.0,
    )
    assert result.n_iterations >= 1001
    assert is_orthonormal(result.W, 1e-10)
    assert is_orthonormal(seen[-1], 1e-10)
    assert len(seen) > 1000


def test_curvilinear_descent_finds_the_leading_eigenspace_and_stays_orthonormal() -> None:
    hard = Trace(np.concatenate([[1.0, 0.9], np.linspace(0.0, 0.85, 10)]))
    start = random_frame(12, 2, np.random.default_rng(0))
    result = curvilinear_descent(start, hard, max_iterations=1000, gradient_tolerance=1e-8)
    assert largest_angle(result.W, hard.basis[:, :2]) < 1e-6
    assert result.gradient_norm < 1e-7
    assert is_orthonormal(result.W, 1e-10)
    assert result.n_iterations < 1000
    assert result.cost < hard(start)[0]


def test_curvilinear_descent_shortens_steps_where_the_cost_fails() -> None:
    start = random_frame(6, 2, np.random.default_rng(1))

    def fragile(W: np.ndarray) -> tuple[float, np.ndarray]:
        if np.linalg.norm(W - start) > 0.05:
            raise FitError("too far")
        return EASY(W)

    result = curvilinear_descent(start, fragile, max_iterations=5, step=10.0)
    assert 0.0 < np.linalg.norm(result.W - start) <= 0.05
    assert result.cost < EASY(start)[0]
    with pytest.raises(FitError, match="start"):
        curvilinear_descent(start, lambda W: (np.nan, W), max_iterations=5)


def test_certificate_vanishes_exactly_at_critical_points() -> None:
    critical = EASY.basis[:, [0, 3]]
    assert riemannian_gradient_norm(critical, EASY(critical)[1]) < 1e-13
    tilt = tangent_projection(critical, np.ones((6, 2)))
    tilted = np.linalg.qr(critical + 1e-3 * tilt)[0]
    assert riemannian_gradient_norm(tilted, EASY(tilted)[1]) > 1e-4


def test_certificate_is_the_slope_along_the_steepest_direction() -> None:
    W = random_frame(6, 2, np.random.default_rng(5))
    _, gradient = EASY(W)
    norm = riemannian_gradient_norm(W, gradient)
    unit = tangent_projection(W, gradient) / norm
    step = 1e-5
    retracted = [np.linalg.qr(W + sign * step * unit) for sign in (1.0, -1.0)]
    frames = [Q * np.sign(np.diag(R)) for Q, R in retracted]
    slope = (EASY(frames[0])[0] - EASY(frames[1])[0]) / (2 * step)
    assert slope == pytest.approx(norm, rel=1e-6)


def test_polish_stops_at_once_at_a_critical_point_and_without_iterations() -> None:
    critical = EASY.basis[:, :2]
    assert polish(critical, EASY).n_iterations == 0
    start = random_frame(6, 2, np.random.default_rng(1))
    idle = polish(start, EASY, max_iterations=0)
    np.testing.assert_array_equal(idle.W, start)
    assert idle.gradient_norm == pytest.approx(riemannian_gradient_norm(start, EASY(start)[1]))


def test_polish_handles_the_one_point_manifold() -> None:
    result = polish(np.ones((1, 1)), lambda W: (float(W[0, 0]), np.ones((1, 1))))
    assert result.gradient_norm == 0.0


@pytest.mark.parametrize("method", METHODS)
def test_polish_walks_around_failures_of_the_cost(method: RiemannianMethod) -> None:
    start = random_frame(6, 2, np.random.default_rng(1))

    def fragile(W: np.ndarray) -> tuple[float, np.ndarray]:
        if np.linalg.norm(W - start) > 0.3:
            raise FitError("too far")
        return EASY(W)

    result = polish(start, fragile, method=method, max_iterations=5)
    assert np.isfinite(result.cost)
    assert result.cost < EASY(start)[0]


def test_bad_arguments() -> None:
    start = random_frame(6, 2, np.random.default_rng(1))
    with pytest.raises(InvalidInputError, match="method"):
        polish(start, EASY, method="newton")  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="orthonormal"):
        polish(2 * start, EASY)
    with pytest.raises(FitError, match="start"):
        polish(start, lambda W: (np.nan, W))


def test_the_first_use_leaves_the_environment_alone() -> None:
    code = (
        "import os; before = dict(os.environ); import numpy as np;"
        "from boring.subspace._riemannian import polish;"
        "C = np.diag([3.0, 2.0, 1.0]);"
        "W = np.array([[0.6], [0.8], [0.0]]);"
        "polish(W, lambda W: (-np.sum(W * (C @ W)), -2 * C @ W));"
        "import sys; assert 'pymanopt' in sys.modules; assert dict(os.environ) == before"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("before", ["", "import jax;"])
@pytest.mark.parametrize("asked", ["0", "1"])
def test_the_first_use_leaves_the_precision_of_jax_alone(before, asked) -> None:
    pytest.importorskip("jax")
    code = (
        f"{before}import numpy as np;"
        "from boring.subspace._riemannian import polish;"
        "W = np.array([[0.6], [0.8], [0.0]]); C = np.diag([3.0, 2.0, 1.0]);"
        "polish(W, lambda W: (-np.sum(W * (C @ W)), -2 * C @ W));"
        f"import jax; assert jax.config.jax_enable_x64 == bool({asked})"
    )
    settings = {**os.environ, "JAX_ENABLE_X64": asked}
    subprocess.run([sys.executable, "-c", code], check=True, env=settings)


def test_pymanopt_is_imported_on_first_use_only() -> None:
    code = (
        "import sys; import boring.subspace._riemannian; import boring.subspace.tripathy;"
        "sys.exit('pymanopt' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
