r"""Sum-product networks over normal leaves: structure, evaluation, derivatives, learning.

A network over V variables has C leaves for each, pairs the variables at random, and gives each
pair the C^2 products of its children's nodes and C weighted sums of these; pairs are paired again
until one weighted sum is left. Children of a sum have one scope, those of a product disjoint
ones, hence the network is a normalised density that marginalises and conditions exactly
[Peharz et al., "Random sum-product networks", UAI 2019; Kruse, MSc thesis, DTU 2022, section
4.3]. Several tracks, each with pairings and leaves of its own, are mixed at the root.

Everything is batched: B networks of one structure are evaluated and trained together, each with
weights of its own on the observations (0 leaves one out), so that folds, restarts and values of a
hyperparameter cost one pass.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from boring.typing import FloatArray

__all__ = ["Track", "TrackStructure", "draw_structure", "initial_track", "log_leaves"]

#: Least weight of a sum's child: keeps every log finite (chosen here).
LEAST_WEIGHT = 1e-10


@dataclass(frozen=True)
class TrackStructure:
    """Which nodes are paired, level by level.

    Attributes
    ----------
    levels : tuple of tuple of tuple
        Of each level the regions, each the indices of one or two regions of the level below; a
        region without a partner is carried on as it is. The lowest level's are variables.
    """

    levels: tuple[tuple[tuple[int, ...], ...], ...]


def draw_structure(n_variables: int, rng: np.random.Generator) -> TrackStructure:
    """Return random pairings down to one region.

    Parameters
    ----------
    n_variables : int
        V, at least 2.
    rng : numpy.random.Generator
        Consumed.
    """
    levels = []
    count = n_variables
    while count > 1:
        order = [int(index) for index in rng.permutation(count)]
        levels.append(tuple(tuple(order[start : start + 2]) for start in range(0, count, 2)))
        count = len(levels[-1])
    return TrackStructure(tuple(levels))


@dataclass(eq=False)
class Track:
    """Parameters of B networks with one structure.

    Attributes
    ----------
    structure : TrackStructure
    means, variances : ndarray, shape (B, V, C)
        Of the leaves.
    weights : list of list of ndarray or None
        Of each region of each level, (B, C^2, C), at the root (B, C^2, 1); None where a region is
        carried on. Columns sum to 1.
    """

    structure: TrackStructure
    means: FloatArray
    variances: FloatArray
    weights: list[list[FloatArray | None]]

    def take(self, index: int) -> Track:
        """Return the network with this index, as a batch of one."""
        one = slice(index, index + 1)
        return Track(
            self.structure,
            self.means[one].copy(),
            self.variances[one].copy(),
            [[None if w is None else w[one].copy() for w in level] for level in self.weights],
        )

    def log_root(self, leaves: FloatArray) -> FloatArray:
        """Return log S (B, n) for log leaf values (B, n, V, C); -inf marks a leaf that is 0."""
        return self._forward(leaves)[0]

    def log_root_and_shares(self, leaves: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return log S (B, n), and d log S / d log leaf (B, n, V, C).

        Of one variable the latter are the posterior probabilities of its leaves; they sum to 1.
        """
        log_root, cache = self._forward(leaves)
        return log_root, self._backward(leaves.shape, cache, None)[0]

    def expected_counts(
        self, leaves: FloatArray, log_root_and_cache: tuple[FloatArray, _Cache], sample: FloatArray
    ) -> tuple[FloatArray, list[list[FloatArray | None]]]:
        """Return the leaves' shares, and each sum's expected counts of its children.

        Parameters
        ----------
        leaves : ndarray, shape (B, n, V, C)
        log_root_and_cache : tuple
            Of :meth:`forward` at these leaves.
        sample : ndarray, shape (B, n)
            Weights of the observations.
        """
        return self._backward(leaves.shape, log_root_and_cache[1], sample)

    def forward(self, leaves: FloatArray) -> tuple[FloatArray, _Cache]:
        """Return log S (B, n), and what the way back needs."""
        return self._forward(leaves)

    def _forward(self, leaves: FloatArray) -> tuple[FloatArray, _Cache]:
        nodes = [leaves[:, :, index, :] for index in range(leaves.shape[2])]
        cache: _Cache = []
        for level, weights in zip(self.structure.levels, self.weights, strict=True):
            above: list[FloatArray] = []
            kept: list[tuple[FloatArray, FloatArray] | None] = []
            for region, W in zip(level, weights, strict=True):
                if W is None:
                    above.append(nodes[region[0]])
                    kept.append(None)
                    continue
                left, right = nodes[region[0]], nodes[region[1]]
                top_left = left.max(axis=2, keepdims=True)
                top_right = right.max(axis=2, keepdims=True)
                A, B = np.exp(left - top_left), np.exp(right - top_right)
                products = (A[..., :, None] * B[..., None, :]).reshape(*A.shape[:2], -1)
                sums = products @ W
                above.append(np.log(sums) + top_left + top_right)
                kept.append((products, sums))
            nodes = above
            cache.append(kept)
        return nodes[0][..., 0], cache

    def _backward(
        self, shape: tuple[int, ...], cache: _Cache, sample: FloatArray | None
    ) -> tuple[FloatArray, list[list[FloatArray | None]]]:
        batch, n, n_variables, channels = shape
        shares = [np.ones((batch, n, 1))]
        counts: list[list[FloatArray | None]] = []
        sizes = [n_variables, *(len(level) for level in self.structure.levels)]
        for depth in reversed(range(len(self.structure.levels))):
            below: list[FloatArray] = [np.empty(0)] * sizes[depth]
            found: list[FloatArray | None] = []
            for region, W, kept, share in zip(
                self.structure.levels[depth],
                self.weights[depth],
                cache[depth],
                shares,
                strict=True,
            ):
                if W is None or kept is None:
                    below[region[0]] = share
                    found.append(None)
                    continue
                products, sums = kept
                scaled = share / sums
                joint = products * (scaled @ np.swapaxes(W, -1, -2))
                pairs = joint.reshape(batch, n, channels, channels)
                below[region[0]], below[region[1]] = pairs.sum(axis=3), pairs.sum(axis=2)
                if sample is not None:
                    weighted = scaled * sample[..., None]
                    found.append(W * (np.swapaxes(products, -1, -2) @ weighted))
            shares = below
            counts.insert(0, found)
        return np.stack(shares, axis=2), counts


_Cache = list[list[tuple[FloatArray, FloatArray] | None]]


def log_leaves(data: FloatArray, means: FloatArray, variances: FloatArray) -> FloatArray:
    """Return log densities (B, n, V, C) of data (n, V) under normal leaves (B, V, C)."""
    residual = data[None, :, :, None] - means[:, None]
    spread = variances[:, None]
    return np.asarray(-0.5 * (residual**2 / spread + np.log(2.0 * np.pi * spread)))


def initial_track(
    data: FloatArray,
    sample: FloatArray,
    structure: TrackStructure,
    n_channels: int,
    rng: np.random.Generator,
) -> Track:
    """Return B networks to begin with: leaves at observed values, weights from a flat Dirichlet.

    Parameters
    ----------
    data : ndarray, shape (n, V), standardised
    sample : ndarray, shape (B, n)
        Weights of the observations; leaves are at those that are not left out.
    structure : TrackStructure
    n_channels : int
        C.
    rng : numpy.random.Generator
        Consumed.
    """
    batch, n_variables = len(sample), data.shape[1]
    rows = np.argsort(sample <= 0.0, axis=1, kind="stable")  # those left out come last
    counts = (sample > 0.0).sum(axis=1)[:, None, None]
    picks = rng.integers(counts, size=(batch, n_variables, n_channels))
    picks = np.take_along_axis(rows, picks.reshape(batch, -1), axis=1).reshape(picks.shape)
    means = data[picks, np.arange(n_variables)[:, None]]
    means = means + 0.1 * rng.standard_normal(means.shape)
    variances = np.full(means.shape, 0.25)
    weights: list[list[FloatArray | None]] = []
    for depth, level in enumerate(structure.levels):
        n_sums = 1 if depth == len(structure.levels) - 1 else n_channels
        weights.append(
            [
                None
                if len(region) == 1
                else np.swapaxes(rng.dirichlet(np.ones(n_channels**2), (batch, n_sums)), 1, 2)
                for region in level
            ]
        )
    return Track(structure, means, variances, weights)


def normalised(counts: FloatArray) -> FloatArray:
    """Return weights of children from expected counts (B, children, sums)."""
    weights = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1e-300)
    weights = np.maximum(weights, LEAST_WEIGHT)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))
