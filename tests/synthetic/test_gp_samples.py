"""Samples of a Gaussian process, and the Gabor filter."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import qmc
from sklearn.gaussian_process.kernels import Matern

from boring.exceptions import InvalidInputError
from synthetic import get_problem
from synthetic.gabor import SIDE, gabor, gabor_filter
from synthetic.gp_samples import LENGTHSCALE, MARGIN, _draw, matern_sample


def sobol(problem, log2_n, seed=0):
    points = qmc.Sobol(problem.dim, seed=seed).random_base2(log2_n)
    return problem.space.unscale(2.0 * points - 1.0)


@pytest.mark.parametrize("dim", [1, 2, 3])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_optimum_of_a_sample_is_inside_stationary_and_unbeaten(dim, seed):
    problem = matern_sample(dim, seed)
    assert np.abs(problem.optimizers).max() <= MARGIN
    assert problem(problem.optimizers[0]) == problem.optimum
    np.testing.assert_allclose(problem.gradient(problem.optimizers), 0.0, atol=1e-12)
    X = sobol(problem, 12)
    y = problem(X)
    assert y.min() > problem.optimum
    found = [
        minimize(
            lambda z: problem(problem.space.clip(z)),
            start,
            jac=lambda z: problem.gradient(problem.space.clip(z)),
            bounds=[(-1.0, 1.0)] * dim,
            method="L-BFGS-B",
        ).fun
        for start in X[np.argsort(y)[:8]]
    ]
    assert min(found) == pytest.approx(problem.optimum, abs=1e-6)
    assert min(found) >= problem.optimum - 1e-12


def test_samples_have_the_covariance_of_the_kernel():
    points = np.array([[0.0, 0.0], [0.2, 0.1], [-0.5, 0.6], [0.9, -0.9]])
    rng = np.random.default_rng(0)
    n = 2000
    values = np.array([_draw(2, rng, False).value(points) for _ in range(n)])
    expected = Matern(length_scale=LENGTHSCALE, nu=2.5)(points)
    standard_error = np.sqrt((1.0 + expected**2) / n)
    np.testing.assert_array_less(np.abs(values.T @ values / n - expected), 5.0 * standard_error)
    # The check can tell another smoothness from this one.
    rough = Matern(length_scale=LENGTHSCALE, nu=0.5)(points)
    assert np.any(np.abs(values.T @ values / n - rough) > 5.0 * standard_error)
    assert abs((values**4).mean() - 3.0) < 0.3  # normal


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_grid_by_products_equals_evaluation(dim):
    formula = matern_sample(dim, 3).formula
    axis = np.linspace(-1.0, 1.0, 7)
    grid = np.stack(np.meshgrid(*[axis] * dim, indexing="ij"), axis=-1).reshape(-1, dim)
    np.testing.assert_allclose(formula.on_grid(axis).ravel(), formula.value(grid), atol=1e-12)


def test_gradient_and_hessian_agree_to_second_order():
    formula = matern_sample(2, 4).formula
    z, v = np.array([[0.2, -0.4]]), np.array([0.6, 0.8])
    steps = np.array([1e-2, 3e-3, 1e-3])
    slope = formula.gradient(z)[0]

    def order(slope):
        errors = [
            abs(formula.value(z + h * v)[0] - formula.value(z)[0] - h * slope @ v) for h in steps
        ]
        return np.polyfit(np.log(steps), np.log(errors), 1)[0]

    assert order(slope) == pytest.approx(2.0, abs=0.2)
    assert order(1.02 * slope) < 1.5
    change = (formula.gradient(z + 1e-5 * v) - formula.gradient(z - 1e-5 * v))[0] / 2e-5
    np.testing.assert_allclose(formula.hessian(z[0]) @ v, change, rtol=1e-6)


def test_clipped_sample_goes_on_as_on_the_side_of_its_box():
    plain, clipped = matern_sample(2, 5).formula, matern_sample(2, 5, clipped=True).formula
    inside = np.random.default_rng(0).uniform(-1.0, 1.0, (20, 2))
    np.testing.assert_array_equal(plain.value(inside), clipped.value(inside))
    np.testing.assert_array_equal(plain.gradient(inside), clipped.gradient(inside))
    outside = np.array([[3.0, 0.2], [-1.5, -7.0]])
    np.testing.assert_array_equal(clipped.value(outside), plain.value(np.clip(outside, -1, 1)))
    gradient = clipped.gradient(outside)
    assert gradient[0, 0] == 0.0 != gradient[0, 1]
    np.testing.assert_array_equal(gradient[1], 0.0)


def test_seeds_draw_the_function_and_nothing_else_does():
    x = np.full(100, 0.1)
    first = [get_problem("matern-2-in-100", seed=seed) for seed in (0, 0, 1)]
    assert first[0](x) == first[1](x) != first[2](x)
    assert first[0].optimum == first[1].optimum != first[2].optimum
    noisy = get_problem("matern-2-in-100-noise10", seed=1)
    assert noisy(x) == first[2](x)
    ideal = np.ptp(first[2].inner(sobol(first[2].inner, 10)))
    assert noisy.noise_std == pytest.approx(0.1 * ideal, rel=0.1)


def test_too_many_variables_are_refused():
    with pytest.raises(InvalidInputError, match="1, 2 or 3"):
        get_problem("matern-4-in-10", seed=0)


@pytest.mark.parametrize("seed", range(5))
def test_gabor_answers_best_to_its_own_filter(seed):
    problem = gabor(seed)
    theta = problem.true_basis[:, 0]
    assert problem.dim == 289
    assert problem.optimum == pytest.approx(1.0, abs=1e-15)
    assert problem(np.zeros(289)) == pytest.approx(np.exp(-1.0))
    assert problem(0.5 * theta) == pytest.approx(np.exp(-0.25))
    np.testing.assert_allclose(problem.gradient(theta), 0.0, atol=1e-14)
    rng = np.random.default_rng(seed)
    X = problem.space.sample(5000, rng)
    assert problem(X).max() <= problem.optimum
    # Only the part along theta matters.
    step = 0.3 * rng.uniform(-1.0, 1.0, 289)
    step -= (theta @ step) * theta
    assert problem(theta + step) == pytest.approx(1.0, abs=1e-12)
    h = 1e-6
    numeric = (problem(h * theta) - problem(-h * theta)) / (2 * h)
    assert problem.gradient(np.zeros(289)) @ theta == pytest.approx(numeric, rel=1e-8)
    assert not np.array_equal(gabor(seed + 1).true_basis, problem.true_basis)


@pytest.mark.parametrize(("orientation", "wavelength"), [(0.0, 4.0), (np.pi / 2, 5.0), (0.7, 6.0)])
def test_gabor_filter_has_its_wavelength_and_orientation(orientation, wavelength):
    size = 256
    spectrum = np.abs(np.fft.fft2(gabor_filter(orientation, wavelength, 0.3), (size, size)))
    down, across = np.unravel_index(spectrum.argmax(), spectrum.shape)
    frequency = np.array([np.fft.fftfreq(size)[across], np.fft.fftfreq(size)[down]])
    frequency *= np.sign(frequency @ [np.cos(orientation), np.sin(orientation)])
    expected = np.array([np.cos(orientation), np.sin(orientation)]) / wavelength
    np.testing.assert_allclose(frequency, expected, atol=0.012)
    assert gabor_filter(orientation, wavelength, 0.3).shape == (SIDE, SIDE)
