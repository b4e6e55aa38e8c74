"""Data with a known additive structure, and all partitions of a few inputs."""

from __future__ import annotations

import numpy as np
import pytest

from boring.warping import standardize


def all_partitions(items):
    """Yield every partition of a list, each once."""
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for partition in all_partitions(rest):
        yield [[first], *partition]
        for k, group in enumerate(partition):
            yield [*partition[:k], [first, *group], *partition[k + 1 :]]


@pytest.fixture
def partitions():
    return all_partitions


@pytest.fixture
def planted():
    """Return a sampler: ripples round a random centre of each group, each of variance one."""

    def draw(structure, dim, n, seed, noise=0.05):
        rng = np.random.default_rng(seed)
        X = rng.uniform(-1, 1, (n, dim))
        y = np.zeros(n)
        for group in structure:
            center = rng.uniform(-0.7, 0.7, len(group))
            distance = np.linalg.norm(X[:, list(group)] - center, axis=1)
            single = np.sin(3 * X[:, group[0]] + center[0])
            part = single if len(group) == 1 else np.cos(2.5 * distance)
            y += (part - part.mean()) / part.std()
        return X, standardize(y + noise * y.std() * rng.standard_normal(n))

    return draw
