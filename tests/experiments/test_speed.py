import time

import numpy as np

from boring.subspace.stiefel import random_frame
from experiments.speed import (
    alternate,
    ask_table,
    likelihood_table,
    profile_likelihood,
    time_asks,
)


def test_alternation_times_each_function_for_itself():
    calls = []

    def quick():
        calls.append("quick")

    def slow():
        calls.append("slow")
        time.sleep(0.002)

    seconds = alternate([quick, slow], blocks=3, calls=2)
    assert seconds.shape == (3, 2)
    assert np.all(seconds[:, 1] >= 0.002)
    assert np.all(seconds[:, 0] < seconds[:, 1])
    assert calls[:6] == ["quick", "slow", "quick", "quick", "slow", "slow"]
    assert calls[6:10] == ["slow", "slow", "quick", "quick"]


def test_likelihoods_that_are_timed_are_the_same_function():
    lines = likelihood_table(blocks=1).splitlines()
    rows = [line.strip("|").split("|") for line in lines if line.startswith(("| 50", "| 100"))]
    assert [int(row[0]) for row in rows] == [50, 100]
    for row in rows:
        assert float(row[-1]) < 1e-6
        assert all(float(cell) > 0 for cell in row[1:4])


def test_ask_times_and_profile():
    times = time_asks(3, 12, repeats=2)
    assert len(times.seconds) == 2
    assert all(seconds > 0 for seconds in times.seconds)
    assert any(name.startswith("boring/loop/algorithm.py") for name, *_ in times.profile)
    text = ask_table([(3, 12)], repeats=1)
    assert "s per ask" in text
    assert "`boring/optimizer.py" in text


def test_the_true_basis_has_the_larger_profile_likelihood():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (40, 4))
    W = random_frame(4, 1, rng)
    y = np.sin(3 * X @ W[:, 0])
    y = (y - y.mean()) / y.std()
    true, low, other = (
        profile_likelihood(W, X, y, 0.01),
        profile_likelihood(W, X, y, 1e-4),
        profile_likelihood(random_frame(4, 1, rng), X, y, 0.01),
    )
    assert other < true <= low
