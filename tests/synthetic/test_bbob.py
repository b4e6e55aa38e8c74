"""BBOB through its library, against formulas and random numbers written from its definition."""

import pickle

import numpy as np
import pytest

from boring.exceptions import InvalidInputError, UnknownNameError
from boring.extras import MissingExtraError
from boring.space import Box
from synthetic import bbob as module
from synthetic import get_problem

pytest.importorskip("ioh")


@pytest.fixture
def rng():
    return np.random.default_rng(0)


# The suite's own random numbers: Lehmer's generator, shuffled, Box and Muller, Gram and Schmidt.


def uniform(n, seed):
    def step(state):
        return 16807 * state % 2147483647

    state, table = max(1, abs(seed)), np.zeros(32, dtype=np.int64)
    for index in range(39, -1, -1):
        state = step(state)
        if index < 32:
            table[index] = state
    last, drawn = table[0], np.empty(n)
    for k in range(n):
        state = step(state)
        place = last // 67108865
        last, table[place] = table[place], state
        drawn[k] = last / 2.147483647e9
    return drawn


def rotation(dim, seed):
    u = uniform(2 * dim * dim, seed)
    normal = np.sqrt(-2.0 * np.log(u[: dim * dim])) * np.cos(2.0 * np.pi * u[dim * dim :])
    Q, R = np.linalg.qr(normal.reshape(dim, dim).T)
    return Q * np.sign(np.diag(R))


def oscillate(x):
    size = np.log(np.abs(np.where(x == 0, 1.0, x)))
    c1, c2 = np.where(x > 0, 10.0, 5.5), np.where(x > 0, 7.9, 3.1)
    wave = np.sin(c1 * size) + np.sin(c2 * size)
    return np.where(x == 0, 0.0, np.sign(x) * np.exp(size + 0.049 * wave))


def skew(x, b):
    k = np.arange(x.shape[1]) / (x.shape[1] - 1)
    return np.where(x > 0, np.abs(x) ** (1.0 + b * k * np.sqrt(np.maximum(x, 0.0))), x)


def stretch(a, dim):
    return a ** (0.5 * np.arange(dim) / (dim - 1))


def rastrigin(z):
    return 10.0 * (z.shape[1] - np.cos(2.0 * np.pi * z).sum(axis=1)) + (z**2).sum(axis=1)


def f3(X, best, seed):
    return rastrigin(stretch(10.0, X.shape[1]) * skew(oscillate(X - best), 0.2))


def f9(X, best, seed):
    dim = X.shape[1]
    z = max(1.0, np.sqrt(dim) / 8.0) * X @ rotation(dim, seed).T + 0.5
    bend = z[:, :-1] ** 2 - z[:, 1:]
    return (100.0 * bend**2 + (z[:, :-1] - 1.0) ** 2).sum(axis=1)


def f15(X, best, seed):
    dim = X.shape[1]
    R, Q = rotation(dim, seed + 1_000_000), rotation(dim, seed)
    inner = skew(oscillate((X - best) @ R.T), 0.2)
    return rastrigin(inner @ Q.T * stretch(10.0, dim) @ R.T)


def f21(X, best, seed):
    dim = X.shape[1]
    R = rotation(dim, seed)
    conditions = np.full(101, np.sqrt(1000.0))
    conditions[1:] = 1000.0 ** (np.argsort(uniform(100, seed)) / 99.0)
    centers = 10.0 * uniform(101 * dim, seed).reshape(101, dim) - 5.0
    centers[0] *= 0.8
    heights = np.append(10.0, 1.1 + 8.0 * np.arange(100) / 99.0)
    bumps = []
    for index in range(101):
        order = np.argsort(uniform(dim, seed + 1000 * index))
        scales = conditions[index] ** (order / (dim - 1) - 0.5)
        squares = (scales * ((X - centers[index]) @ R.T) ** 2).sum(axis=1)
        bumps.append(heights[index] * np.exp(-0.5 * squares / dim))
    penalty = (np.maximum(np.abs(X) - 5.0, 0.0) ** 2).sum(axis=1)
    return oscillate(10.0 - np.max(bumps, axis=0)) ** 2 + penalty


@pytest.mark.parametrize("instance", [1, 2, 13])
@pytest.mark.parametrize("dim", [2, 3, 5, 10])
@pytest.mark.parametrize(("number", "formula"), [(3, f3), (9, f9), (15, f15), (21, f21)])
def test_values_are_those_of_the_definition(number, formula, dim, instance, rng):
    problem = module.bbob(number, dim, instance)
    X = rng.uniform(-5.0, 5.0, (200, dim))
    seed = number + 10_000 * instance
    expected = formula(X, problem.optimizers[0], seed) + problem.optimum
    np.testing.assert_allclose(problem(X), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("number", range(1, 25))
def test_optimum_is_attained_and_unbeaten_within_and_without(number, rng):
    problem = get_problem(f"bbob-f{number}-3")
    best = problem.optimizers[0]
    assert problem(best) == pytest.approx(problem.optimum, abs=1e-9)
    X = np.vstack(
        [
            rng.uniform(-5.0, 5.0, (1000, 3)),
            10.0 * rng.standard_normal((1000, 3)),
            best + 0.01 * rng.standard_normal((1000, 3)),
        ]
    )
    values = problem.formula.value(X)
    assert problem.regret(values).min() >= -1e-9
    assert values.std() > 0


def test_names_carry_number_instance_and_dimension():
    first, other = get_problem("bbob-f21-5"), get_problem("bbob-f21-i2-5")
    assert (first.name, other.name) == ("bbob-f21-5", "bbob-f21-i2-5")
    assert get_problem("bbob-f21-i1-5").name == "bbob-f21-5"
    assert first.space == Box(np.full(5, -5.0), np.full(5, 5.0))
    assert first.optimum != other.optimum
    hidden = get_problem("bbob-f3-2-in-10", seed=0)
    assert hidden.dim == 10
    assert hidden(hidden.optimizers[0]) == pytest.approx(get_problem("bbob-f3-2").optimum)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("bbob-f0-2", "number must be 1 to 24; received 0"),
        ("bbob-f25-2", "24 noiseless functions"),
        ("bbob-f3-i0-2", "instance must be 1 to 10000; received 0"),
        ("bbob-f3-i10001-2", "numbered from 1"),
        ("bbob-f3-1", "at least 2 variables; received 1"),
    ],
)
def test_other_numbers_are_refused(name, message):
    with pytest.raises(InvalidInputError, match=message):
        get_problem(name)


def test_other_names_are_unknown_and_the_message_names_the_family():
    with pytest.raises(UnknownNameError, match=r"bbob-f<1 to 24>"):
        get_problem("bbob-g3-2")


def test_there_is_no_gradient_and_copies_travel():
    problem = get_problem("bbob-f1-2")
    with pytest.raises(InvalidInputError, match="the library that computes it has none"):
        problem.gradient([0.0, 0.0])
    again = pickle.loads(pickle.dumps(problem))
    assert again([0.5, 1.0]) == problem([0.5, 1.0])


def test_without_the_library_the_message_names_the_extra(monkeypatch):
    module._function.cache_clear()
    monkeypatch.setitem(__import__("sys").modules, "ioh", None)
    with pytest.raises(MissingExtraError, match=r"A BBOB function .*boring-bo\[bbob\]"):
        get_problem("bbob-f1-2")
