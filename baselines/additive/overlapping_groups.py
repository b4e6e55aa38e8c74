"""Additive GP-UCB with overlapping groups.

Rolland, Scarlett, Bogunovic and Cevher, "High-dimensional Bayesian optimization via additive
models with overlapping groups", AISTATS 2018. A dependency graph joins inputs that interact; f is
a sum of functions of its maximal cliques. The graph is sampled edge by edge (Gibbs), and the sum
of the cliques' bounds mu_j + sqrt(beta_t) sigma_j is maximised exactly on a grid by messages on a
junction tree (:mod:`baselines.additive.junction_tree`).

Overlapping functions are not identifiable one by one; only their sum is.

**Deviations**

* An edge is drawn from its conditional probability; the code derived from the paper accepts
  improvements only, which is hill climbing. Edges whose completion has a clique above
  ``max_clique_size`` have probability 0: the tables of messages grow exponentially with it.
* Each connected component has its own grid, as fine as ``table_size`` lets its largest clique
  be, and grids are refined around the maximiser (exact on each grid).
* Hyperparameters (variance, a lengthscale an input, noise) at their maximum a posteriori.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit, logit

from baselines.additive.groups import Structure, StructureEvidence, as_structure
from baselines.additive.groupwise import GroupwiseOptimizer
from baselines.additive.junction_tree import (
    JunctionTree,
    dependency_graph,
    junction_trees,
    maximal_cliques,
)
from boring.acquisition import Acquisition, UpperConfidenceBound
from boring.exceptions import InvalidInputError
from boring.typing import FloatArray
from boring.validation import as_positive_int, as_real

__all__ = [
    "OverlappingGroupsOptimizer",
    "OverlappingGroupsOptions",
    "maximize_on_grids",
    "sample_edges",
]

Edge = tuple[int, int]


@dataclass(frozen=True)
class OverlappingGroupsOptions:
    """Options of additive GP-UCB with overlapping groups.

    Parameters
    ----------
    max_clique_size : int, default 3
        Largest clique of the chordal completion (chosen here).
    edge_probability : float in (0, 1), optional
        Of each edge a priori; None takes 1/D, so that an input has about one neighbour (chosen
        here).
    n_flips : int, default 100
        Edges drawn at each update [the derived code: 100 graphs].
    update_every : int, default 15
        Observations between two updates of graph and hyperparameters [the derived code].
    points_per_axis : int, at least 3, default 51
        Of the grid [the derived code], unless ``table_size`` allows fewer.
    table_size : int, at least 3^max_clique_size, default 2601
        Entries of a table, 51 squared (chosen here).
    n_zooms : int, default 3
        Refinements of the grid; 0 leaves the box's own (chosen here).
    """

    max_clique_size: int = 3
    edge_probability: float | None = None
    n_flips: int = 100
    update_every: int = 15
    points_per_axis: int = 51
    table_size: int = 2601
    n_zooms: int = 3

    def __post_init__(self) -> None:
        """Check the options."""
        for name in ("max_clique_size", "n_flips", "update_every"):
            as_positive_int(getattr(self, name), name)
        as_positive_int(self.points_per_axis, "points_per_axis", minimum=3)
        as_positive_int(self.table_size, "table_size")
        as_positive_int(self.n_zooms, "n_zooms", minimum=0)
        if self.table_size < 3**self.max_clique_size:
            raise InvalidInputError(
                f"table_size must be at least 3^max_clique_size, three points an axis; received "
                f"{self.table_size} for cliques of {self.max_clique_size}. Raise table_size."
            )
        p = self.edge_probability
        if p is not None and not 0.0 < as_real(p, "edge_probability") < 1.0:
            raise InvalidInputError(f"edge_probability must lie between 0 and 1; received {p!r}")


def sample_edges(
    edges: Sequence[Edge],
    evidence: StructureEvidence,
    dim: int,
    *,
    edge_probability: float,
    max_clique_size: int,
    n_flips: int,
    rng: np.random.Generator,
) -> tuple[list[Edge], list[Edge]]:
    """Draw edges of the dependency graph from their conditional probabilities.

    Parameters
    ----------
    edges : sequence of (int, int)
        Where the chain starts.
    evidence : StructureEvidence
    dim : int
        D.
    edge_probability : float
        Independent for each edge a priori.
    max_clique_size : int
        Of the chordal completion.
    n_flips : int
        Pairs of inputs, drawn uniformly, whose edge is drawn anew.
    rng : numpy.random.Generator
        Consumed.

    Returns
    -------
    edges, best : list of (int, int)
        The last graph of the chain and the most probable one it visited.
    """
    graph = dependency_graph(dim, edges)
    cliques = maximal_cliques(graph)
    total = evidence.total(cliques)
    value = evidence.of_total(total, len(cliques))
    prior = float(logit(edge_probability))
    best, best_score = _edges(graph), value + prior * graph.number_of_edges()
    pairs = rng.integers(dim, size=(n_flips, 2)) if dim > 1 else np.empty((0, 2), dtype=int)
    for first, second in pairs.tolist():
        if first == second:
            continue
        i, j = min(first, second), max(first, second)
        present = graph.has_edge(i, j)
        changed = graph.copy()
        (changed.remove_edge if present else changed.add_edge)(i, j)
        new = maximal_cliques(changed)
        new_total = total.copy()
        for clique in set(cliques) - set(new):
            new_total -= evidence.correlation(clique)
        for clique in set(new) - set(cliques):
            new_total += evidence.correlation(clique)
        new_value = evidence.of_total(new_total, len(new))
        sign = -1.0 if present else 1.0
        # p(flip | rest) = 1 / (1 + exp(-(log posterior ratio)))
        if rng.random() >= expit(new_value - value + sign * prior):
            continue
        if not present and not _fits(changed, i, max_clique_size):
            continue
        graph, cliques, total, value = changed, new, new_total, new_value
        score = value + prior * graph.number_of_edges()
        if score > best_score:
            best, best_score = _edges(graph), score
    return _edges(graph), best


def _edges(graph: Any) -> list[Edge]:
    return sorted((min(i, j), max(i, j)) for i, j in graph.edges)


def _fits(graph: Any, node: int, max_clique_size: int) -> bool:
    """Tell whether the component of a node has a junction tree of small enough cliques."""
    for tree in junction_trees(graph):
        if node in tree.variables:
            return tree.width <= max_clique_size
    raise AssertionError("every node has a component")


def maximize_on_grids(
    tree: JunctionTree,
    structure: Structure,
    acquisitions: Sequence[Acquisition],
    *,
    points_per_axis: int,
    n_zooms: int = 0,
) -> tuple[dict[int, float], float]:
    """Maximise a sum of acquisitions over a component of the graph, exactly on a grid.

    Parameters
    ----------
    tree : JunctionTree
        Of the component.
    structure : tuple of groups
        The component's groups.
    acquisitions : sequence of Acquisition
        One a group, on its coordinates.
    points_per_axis : int
        Equally spaced over [-1, 1], ends included.
    n_zooms : int, default 0
        How often the grid is laid anew over the neighbouring spacings of the maximiser, which
        stays in it if the number of points is odd and is kept as the best in any case.

    Returns
    -------
    x : dict of int to float
        Coordinate of each variable.
    value : float
    """
    axes = {v: np.linspace(-1.0, 1.0, points_per_axis) for v in tree.variables}
    best: tuple[dict[int, float], float] | None = None
    half_width = 1.0
    for _ in range(n_zooms + 1):
        factors = {}
        for group, acquisition in zip(structure, acquisitions, strict=True):
            mesh = np.meshgrid(*(axes[v] for v in group), indexing="ij")
            points = np.stack([part.ravel() for part in mesh], axis=1)
            factors[group] = acquisition.value(points).reshape(mesh[0].shape)
        indices, value = tree.maximize(factors)
        if best is None or value > best[1]:
            best = ({v: float(axes[v][k]) for v, k in indices.items()}, value)
        half_width *= min(0.5, 2.0 / (points_per_axis - 1))
        axes = {
            v: np.clip(np.linspace(x - half_width, x + half_width, points_per_axis), -1.0, 1.0)
            for v, x in best[0].items()
        }
    assert best is not None
    return best


class OverlappingGroupsOptimizer(GroupwiseOptimizer):
    """Additive GP-UCB on a sampled dependency graph. Needs networkx (extra ``graphs``).

    Parameters are those of :class:`boring.optimizer.Optimizer`; options those of
    :class:`OverlappingGroupsOptions`.

    Raises
    ------
    ImportError
        If networkx is not installed.

    Examples
    --------
    >>> optimizer = OverlappingGroupsOptimizer([(-1, 1)] * 4, direction="minimize", seed=0)
    >>> result = optimizer.run(lambda x: x[0] * x[1] + x[1] * x[2] + x[3], 15, progress=False)
    >>> result.X.shape
    (15, 4)
    """

    name: ClassVar[str] = "overlapping-groups"
    options_type: ClassVar[type] = OverlappingGroupsOptions
    per_input = True

    @property
    def edge_probability(self) -> float:
        """Probability of an edge a priori."""
        given: float | None = self.options.edge_probability
        return 1.0 / max(2, self.space.dim) if given is None else given

    def _resolved_options(self) -> dict[str, object]:
        return {**self.option_values(), "edge_probability": self.edge_probability}

    def _learn(
        self,
        X: FloatArray,
        y: FloatArray,
        tied: FloatArray,
        memory: Mapping[str, Any],
        rng: np.random.Generator,
    ) -> dict[str, Any]:
        dim, options = self.space.dim, self.options
        chain, best = sample_edges(
            [(int(i), int(j)) for i, j in memory.get("chain", [])],
            StructureEvidence(X, y, tied),
            dim,
            edge_probability=self.edge_probability,
            max_clique_size=options.max_clique_size,
            n_flips=options.n_flips,
            rng=rng,
        )
        structure = maximal_cliques(dependency_graph(dim, best))
        return {"structure": structure, "edges": best, "chain": chain}

    def _beta(self, group_size: int, t: int) -> float:
        # beta_t = .5 log(2t) for every clique [the derived code].
        return float(np.sqrt(0.5 * np.log(2.0 * t)))

    def _maximize(
        self,
        acquisitions: list[UpperConfidenceBound],
        structure: Structure,
        incumbent: FloatArray,
        rng: np.random.Generator,
    ) -> tuple[FloatArray, float]:
        options = self.options
        x, total = np.array(incumbent), 0.0
        graph = dependency_graph(self.space.dim, _pairs(structure))
        for tree in junction_trees(graph):
            inside = [k for k, group in enumerate(structure) if group[0] in tree.variables]
            allowed = int(np.floor(options.table_size ** (1.0 / tree.width) + 1e-9))
            part, value = maximize_on_grids(
                tree,
                as_structure(structure[k] for k in inside),
                [acquisitions[k] for k in inside],
                points_per_axis=min(options.points_per_axis, allowed),
                n_zooms=options.n_zooms,
            )
            total += value
            for variable, coordinate in part.items():
                x[variable] = coordinate
        return x, total


def _pairs(structure: Structure) -> list[Edge]:
    """Return the edges among the inputs of each group."""
    return [(i, j) for group in structure for i in group for j in group if i < j]
