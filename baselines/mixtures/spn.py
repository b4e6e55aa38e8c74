r"""Sum-product networks, conditioned on x, as a surrogate.

Kruse, MSc thesis, DTU 2022, section 4.3: a random sum-product network of (x, y)
(:mod:`baselines.mixtures.network`), trained by expectation-maximisation to the mode under an
inverse-gamma prior InvGamma(alpha, 1) of the leaves' variances, blended with a prior
(:mod:`baselines.mixtures.blending`). Every component factorises, so y given x is a mixture of the
y-leaves alone, with weights that depend on x:

.. math:: p(y | x) = \sum_c \omega_c(x) N(y; m_c, v_c), \qquad
   \omega_c(x) = \partial\log S / \partial\log\phi_{y,c}

with every y-leaf set to 1.

**Deviations**

* C and the number of tracks are not printed: 5 and 2 here (one track gives y C levels only).
* Updates of the sums' weights are not printed either; they are the usual expected counts.
* Eight values of alpha in [1, 200], each with its best Delta, replace 40 steps of an outer
  optimiser; all of them, all folds and all restarts are trained at once.
* A variable without a partner is carried on, without sums of its own over one child each.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from baselines._surrogate_loop import Fit, SurrogateOptimizer
from baselines.mixtures.blending import (
    BlendedMixture,
    FoldedOptions,
    JointMixture,
    Standardiser,
    best_blend,
    folds_of,
    is_due,
)
from baselines.mixtures.network import (
    Track,
    draw_structure,
    initial_track,
    log_leaves,
    normalised,
)
from boring.typing import FloatArray
from boring.validation import as_positive_int

__all__ = ["SpnMixture", "SpnOptimizer", "SpnOptions", "SumProductNetworks", "train"]

#: Of the inverse-gamma prior of leaf variances (Kruse); alpha is chosen among eight values.
BETA = 1.0
ALPHAS = tuple(float(alpha) for alpha in np.geomspace(1.0, 200.0, 8))
#: Most iterations of a final fit (Kruse) and of one in the cross-validation (chosen here), and the
#: gain for each observation below which training has stalled.
MAX_ITERATIONS = 1000
SELECT_ITERATIONS = 60
STALLED = 1e-4


@dataclass(frozen=True)
class SpnOptions(FoldedOptions):
    """Options of the sum-product network, beside :class:`FoldedOptions`.

    Parameters
    ----------
    n_channels : int, default 5
        C, leaves for each variable and sums for each region.
    n_tracks : int, default 2
    n_restarts : int, default 3
        Of the final fit (Kruse's table; his text has 2).
    """

    n_channels: int = 5
    n_tracks: int = 2
    n_restarts: int = 3

    def __post_init__(self) -> None:
        """Check the options."""
        super().__post_init__()
        as_positive_int(self.n_channels, "n_channels")
        as_positive_int(self.n_tracks, "n_tracks")
        as_positive_int(self.n_restarts, "n_restarts")


@dataclass(eq=False)
class SumProductNetworks:
    """B networks, each a mixture of tracks.

    Attributes
    ----------
    tracks : list of Track
    log_mix : ndarray, shape (T, B)
        Log weights of the tracks.
    alpha : ndarray, shape (B,)
        Of the leaves' prior.
    """

    tracks: list[Track]
    log_mix: FloatArray
    alpha: FloatArray

    @classmethod
    def draw(
        cls,
        data: FloatArray,
        sample: FloatArray,
        alpha: FloatArray,
        n_channels: int,
        n_tracks: int,
        rng: np.random.Generator,
    ) -> SumProductNetworks:
        """Return untrained networks, one for each alpha.

        Parameters
        ----------
        data : ndarray, shape (n, V), standardised, y last
        sample : ndarray, shape (B, n)
            Weights of the observations; 0 leaves one out.
        alpha : ndarray, shape (B,)
        n_channels, n_tracks : int
        rng : numpy.random.Generator
            Consumed.
        """
        tracks = [
            initial_track(data, sample, draw_structure(data.shape[1], rng), n_channels, rng)
            for _ in range(n_tracks)
        ]
        return cls(tracks, np.full((n_tracks, len(alpha)), -np.log(n_tracks)), alpha)

    def log_density(self, data: FloatArray, marginal: bool = False) -> FloatArray:
        """Return log p (B, n) of data (n, V), or of all variables but the last."""
        logs = []
        for track, mix in zip(self.tracks, self.log_mix, strict=True):
            leaves = log_leaves(data, track.means, track.variances)
            if marginal:
                leaves[:, :, -1, :] = 0.0
            logs.append(track.log_root(leaves) + mix[:, None])
        return np.asarray(np.logaddexp.reduce(logs, axis=0), dtype=np.float64)

    def step(self, data: FloatArray, sample: FloatArray) -> FloatArray:
        """Take one step of expectation-maximisation; return the objective before it, (B,).

        Parameters
        ----------
        data : ndarray, shape (n, V)
        sample : ndarray, shape (B, n)
            Weights of the observations.

        Notes
        -----
        The objective is the weighted log likelihood plus the log prior of the variances. It
        does not fall. A leaf's update is mean sum r x / sum r and variance
        (2 beta + sum r (x - mean)^2) / (2 (alpha + 1) + sum r), r its expected shares.
        """
        leaves = [log_leaves(data, track.means, track.variances) for track in self.tracks]
        passes = [track.forward(leaf) for track, leaf in zip(self.tracks, leaves, strict=True)]
        logs = np.stack([p[0] + mix[:, None] for p, mix in zip(passes, self.log_mix, strict=True)])
        total = np.logaddexp.reduce(logs, axis=0)
        objective = (sample * total).sum(axis=1) + self._log_prior()
        shares_of_tracks = np.exp(logs - total) * sample
        for track, leaf, passed, share in zip(
            self.tracks, leaves, passes, shares_of_tracks, strict=True
        ):
            r, counts = track.expected_counts(leaf, passed, share)
            r = r * share[:, :, None, None]
            self._update_leaves(track, data, r)
            track.weights = [
                [None if c is None else normalised(c) for c in level] for level in counts
            ]
        mix = np.maximum(shares_of_tracks.sum(axis=2), 1e-10)
        self.log_mix = np.log(mix / mix.sum(axis=0))
        return np.asarray(objective, dtype=np.float64)

    def take(self, index: int) -> SumProductNetworks:
        """Return the network with this index, as a batch of one."""
        one = slice(index, index + 1)
        tracks = [track.take(index) for track in self.tracks]
        return SumProductNetworks(tracks, self.log_mix[:, one], self.alpha[one])

    def _update_leaves(self, track: Track, data: FloatArray, r: FloatArray) -> None:
        mass = r.sum(axis=1)
        first = np.einsum("bnvc,nv->bvc", r, data)
        # A leaf without observations keeps its mean.
        means = np.where(mass > 1e-12, first / np.maximum(mass, 1e-12), track.means)
        residual = data[None, :, :, None] - means[:, None]
        second = (r * residual**2).sum(axis=1)
        shape = 2.0 * (self.alpha[:, None, None] + 1.0)
        track.means, track.variances = means, (2.0 * BETA + second) / (shape + mass)

    def _log_prior(self) -> FloatArray:
        total = np.zeros(len(self.alpha))
        for track in self.tracks:
            total -= (self.alpha + 1.0) * np.log(track.variances).sum(axis=(1, 2))
            total -= BETA * (1.0 / track.variances).sum(axis=(1, 2))
        return total


def train(
    networks: SumProductNetworks, data: FloatArray, sample: FloatArray, max_iterations: int
) -> FloatArray:
    """Train until no network gains any more; return the last objectives, (B,).

    Parameters
    ----------
    networks : SumProductNetworks
        Changed in place.
    data : ndarray, shape (n, V)
    sample : ndarray, shape (B, n)
    max_iterations : int
    """
    last = np.full(len(networks.alpha), -np.inf)
    for _ in range(max_iterations):
        objective = networks.step(data, sample)
        stalled = bool(np.all(objective - last < STALLED * len(data)))
        last = objective
        if stalled:
            break
    return last


class SpnMixture(JointMixture):
    """One network as components of y: its y-leaves, with weights log p(z, leaf).

    Parameters
    ----------
    network : SumProductNetworks
        A batch of one.
    """

    def __init__(self, network: SumProductNetworks) -> None:
        self.network = network
        tracks = network.tracks
        self.levels = np.concatenate([track.means[0, -1] for track in tracks])
        self.variances = np.concatenate([track.variances[0, -1] for track in tracks])

    def joint(self, Z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return log weights and means, each (n, T C), at Z (n, d)."""
        logs = []
        for track, mix in zip(self.network.tracks, self.network.log_mix, strict=True):
            log_root, shares = track.log_root_and_shares(_marginal_leaves(track, Z))
            tiny = np.finfo(np.float64).tiny
            of_levels = np.log(np.maximum(shares[0, :, -1, :], tiny))
            logs.append(log_root[0][:, None] + of_levels + mix[0])
        weights = np.hstack(logs)
        return weights, np.broadcast_to(self.levels, weights.shape)

    def joint_with_gradient(
        self, Z: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return the same, and gradients (n, T C, d); the means' are 0.

        For the gradients the network is evaluated once for each y-leaf, with the others at 0.
        """
        logs, means = self.joint(Z)
        slopes = []
        for track in self.network.tracks:
            leaves = _marginal_leaves(track, Z)
            channels = leaves.shape[3]
            alone = np.repeat(leaves, channels, axis=0)
            alone[:, :, -1, :] = np.where(np.eye(channels, dtype=bool), 0.0, -np.inf)[:, None, :]
            shares = track.log_root_and_shares(alone)[1][:, :, :-1, :]
            pull = -(Z[:, :, None] - track.means[0, :-1]) / track.variances[0, :-1]
            slopes.append(np.einsum("cndk,ndk->ncd", shares, pull))
        gradient = np.concatenate(slopes, axis=1)
        return logs, means, gradient, np.zeros_like(gradient)


def _marginal_leaves(track: Track, Z: FloatArray) -> FloatArray:
    """Return log leaf values (1, n, V, C) with y marginalised."""
    inputs = log_leaves(Z, track.means[:, :-1], track.variances[:, :-1])
    return np.concatenate([inputs, np.zeros_like(inputs[:, :, :1])], axis=2)


def select_alpha(
    data: FloatArray, options: SpnOptions, rng: np.random.Generator
) -> dict[str, float]:
    """Return alpha and log Delta with the best cross-validated density, and that density.

    Parameters
    ----------
    data : ndarray, shape (n, V), standardised, y last
    options : SpnOptions
    rng : numpy.random.Generator
        Consumed.
    """
    n = len(data)
    fold = folds_of(n, options.n_folds, rng)
    n_folds = int(fold.max()) + 1
    sample = (fold != np.arange(n_folds)[:, None]).astype(np.float64)
    samples, alphas = np.tile(sample, (len(ALPHAS), 1)), np.repeat(ALPHAS, n_folds)
    networks = SumProductNetworks.draw(
        data, samples, alphas, options.n_channels, options.n_tracks, rng
    )
    train(networks, data, samples, SELECT_ITERATIONS)
    shape = (len(ALPHAS), n_folds, n)
    held = fold[None, None, :]
    density, joint = (
        np.take_along_axis(networks.log_density(data, marginal).reshape(shape), held, axis=1)[:, 0]
        for marginal in (True, False)
    )
    n_training = sample.sum(axis=1)[fold]
    log_deltas, scores = best_blend(density, joint, data[:, -1], n_training, options.prior_variance)
    best = int(scores.argmax())
    return {
        "alpha": ALPHAS[best],
        "log_delta": float(log_deltas[best]),
        "score": float(scores[best]),
    }


class SpnOptimizer(SurrogateOptimizer):
    """Bayesian optimisation with a sum-product network.

    Parameters are those of :class:`boring.optimizer.Optimizer`; options those of
    :class:`SpnOptions`.

    Examples
    --------
    >>> optimizer = SpnOptimizer([(-1, 1)] * 2, direction="minimize", seed=0)
    >>> optimizer.run(lambda x: ((x - 0.3) ** 2).sum(), 8, progress=False).X.shape
    (8, 2)
    """

    name: ClassVar[str] = "spn"
    options_type: ClassVar[type] = SpnOptions

    def _fit(
        self, X: FloatArray, y: FloatArray, memory: Mapping[str, Any], rng: np.random.Generator
    ) -> Fit:
        options: SpnOptions = self.options
        standardiser = Standardiser.of(X)
        data = np.column_stack([standardiser(X), y])
        chosen = dict(memory)
        if is_due(memory, len(y), options.reselect_growth):
            chosen = {**select_alpha(data, options, rng), "selected_at": len(y)}
        restarts = np.full(options.n_restarts, chosen["alpha"])
        sample = np.ones((len(restarts), len(y)))
        networks = SumProductNetworks.draw(
            data, sample, restarts, options.n_channels, options.n_tracks, rng
        )
        objective = train(networks, data, sample, MAX_ITERATIONS)
        posterior = BlendedMixture(
            SpnMixture(networks.take(int(objective.argmax()))),
            standardiser,
            len(y),
            chosen["log_delta"],
            options.prior_variance,
        )
        return Fit(posterior, chosen, {"alpha": chosen["alpha"]})
