import numpy as np
import pytest

from baselines.restricted.dropout import DropoutOptimizer, _fit, fill
from boring.exceptions import InvalidInputError


def rng(seed=0):
    return np.random.default_rng(seed)


def bowl(x):
    return float(np.sum((x - 0.3) ** 2))


def changed(result, n_initial):
    """Return how many coordinates of each proposal differ from the best point before it."""
    counts = []
    for i in range(n_initial, len(result.X)):
        best = result.X[int(np.argmin(result.y[:i]))]
        counts.append(int((np.abs(result.X[i] - best) > 1e-9).sum()))
    return counts


def test_copy_changes_the_kept_coordinates_only_and_all_of_them_in_turn():
    optimizer = DropoutOptimizer(
        [(-1, 1)] * 12, direction="minimize", seed=0, n_kept=3, fill="copy", n_initial=6
    )
    result = optimizer.run(bowl, 26, progress=False)
    counts = changed(result, 6)
    assert max(counts) == 3
    moved = np.abs(np.diff(result.X[5:], axis=0)).max(axis=0) > 0
    assert moved.all()


def test_random_changes_everything_and_mix_does_so_now_and_then():
    options = {"direction": "minimize", "n_kept": 3, "n_initial": 6, "seed": 0}
    result = DropoutOptimizer([(-1, 1)] * 12, fill="random", **options).run(
        bowl, 16, progress=False
    )
    assert min(changed(result, 6)) >= 9  # the nine that are not kept
    mixed = DropoutOptimizer([(-1, 1)] * 12, fill="mix", random_share=0.5, **options)
    counts = np.array(changed(mixed.run(bowl, 26, progress=False), 6))
    assert 0.2 < (counts > 3).mean() < 0.8


def test_mix_is_random_as_often_as_stated():
    random = rng(1)
    share = np.mean([fill("mix", np.zeros(3), 0.1, random)[1] for _ in range(3000)])
    assert abs(share - 0.1) < 3 * np.sqrt(0.09 / 3000)
    x, is_random = fill("copy", np.full(3, 0.5), 1.0, random)
    assert not is_random
    np.testing.assert_array_equal(x, 0.5)


def test_coordinates_that_are_left_out_are_noise():
    X = rng().uniform(-1, 1, (60, 6))
    y = X[:, 0] + X[:, 5]
    y = (y - y.mean()) / y.std()
    assert 0.3 < _fit(X[:, :2], y).noise_variance < 0.8  # half of the variance is x_5's
    assert _fit(X[:, [0, 5]], y).noise_variance < 1e-2


def test_coordinates_are_drawn_evenly():
    counts = np.zeros(10)
    for seed in range(60):
        optimizer = DropoutOptimizer(
            [(-1, 1)] * 10, direction="minimize", seed=seed, n_kept=2, fill="copy", n_initial=3
        )
        X = rng(seed).uniform(-1, 1, (3, 10))
        y = [bowl(x) for x in X]
        x = optimizer.tell(X, y).ask()[0]
        counts += np.abs(x - X[int(np.argmin(y))]) > 1e-9
    expected = counts.sum() / 10
    assert counts.sum() > 100
    assert ((counts - expected) ** 2 / expected).sum() < 27.9  # chi squared, 9 degrees, .001


@pytest.mark.statistical
def test_reaches_a_small_regret_in_most_seeds():
    reached = 0
    for seed in range(3):
        optimizer = DropoutOptimizer([(-1, 1)] * 8, direction="minimize", seed=seed, fill="copy")
        reached += optimizer.run(bowl, 36, progress=False).y_best < 0.5
    assert reached >= 2  # the best of 36 uniform points is near 1.2


@pytest.mark.parametrize(
    "options",
    [
        {"n_kept": 5},
        {"n_kept": 0},
        {"fill": "best"},
        {"acquisition": "ei"},
        {"random_share": 1.5},
    ],
)
def test_bad_options_are_rejected(options):
    with pytest.raises(InvalidInputError):
        DropoutOptimizer([(-1, 1)] * 4, direction="minimize", **options)


def test_ucb_is_an_option():
    optimizer = DropoutOptimizer([(-1, 1)] * 4, direction="maximize", seed=1, acquisition="ucb")
    assert optimizer.run(lambda x: -bowl(x), 20, progress=False).X.shape == (20, 4)
