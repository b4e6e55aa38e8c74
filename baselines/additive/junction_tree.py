"""Exact maximum of a sum of functions of overlapping groups, by messages on a junction tree.

The dependency graph joins two variables that share a group. Its chordal completion (greedy
minimum fill-in) has cliques that form a tree in which every variable's cliques are connected;
maximising from the leaves to the root and reading off the arguments on the way back is exact, at
the cost of the largest clique's table [Rolland et al. 2018, section 4; Koller and Friedman 2009,
ch. 10 and 13]. Graph algorithms are networkx's (extra ``graphs``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from baselines.additive.groups import Group, Structure, as_structure
from boring.exceptions import InvalidInputError
from boring.extras import require
from boring.typing import FloatArray

__all__ = ["JunctionTree", "dependency_graph", "junction_trees", "maximal_cliques", "networkx"]


def networkx() -> Any:
    """Return the module networkx, loaded on first use.

    Raises
    ------
    MissingExtraError
        If it is not installed.
    """
    return require("networkx", "graphs", "A model of overlapping groups")


def dependency_graph(dim: int, edges: Iterable[Sequence[int]]) -> Any:
    """Return the graph on variables 0 .. D-1 with these edges (networkx.Graph)."""
    graph = networkx().empty_graph(dim)
    graph.add_edges_from((int(i), int(j)) for i, j in edges)
    return graph


def maximal_cliques(graph: Any) -> Structure:
    """Return the maximal cliques of a graph: the groups of its additive model."""
    return as_structure(networkx().find_cliques(graph))


@dataclass(frozen=True)
class JunctionTree:
    """Cliques of a chordal completion, parents before children.

    Parameters
    ----------
    cliques : tuple of groups
    parents : tuple of int
        Index of each clique's parent; -1 for the root, which comes first.
    """

    cliques: tuple[Group, ...]
    parents: tuple[int, ...]

    @property
    def width(self) -> int:
        """Size of the largest clique."""
        return max(len(clique) for clique in self.cliques)

    @property
    def variables(self) -> Group:
        """All variables of the tree."""
        return tuple(sorted(set().union(*self.cliques)))

    def maximize(self, factors: Mapping[Group, FloatArray]) -> tuple[dict[int, int], float]:
        """Return the grid indices that maximise a sum of tables, and the maximum.

        Parameters
        ----------
        factors : mapping of group to ndarray
            A table with one axis a variable, in the group's (ascending) order. Each group must
            lie within a clique.

        Raises
        ------
        InvalidInputError
            If a group lies in no clique, or a variable of the tree in no group.
        """
        sizes = {
            v: length
            for group, table in factors.items()
            for v, length in zip(group, table.shape, strict=True)
        }
        if set(sizes) != set(self.variables):
            raise InvalidInputError(
                f"factors must cover the variables {self.variables}; they cover "
                f"{tuple(sorted(sizes))}. Give every variable a table."
            )
        tables = [np.zeros([sizes[v] for v in clique]) for clique in self.cliques]
        for group, table in factors.items():
            home = next((k for k, c in enumerate(self.cliques) if set(group) <= set(c)), None)
            if home is None:
                raise InvalidInputError(
                    f"group {group} lies in no clique of {self.cliques}. Build the tree from a "
                    "graph that joins all variables of a group."
                )
            tables[home] += _expanded(table, group, self.cliques[home])
        # Leaves to root: for every value of the separator the best of the rest.
        chosen: dict[int, tuple[Group, Group, np.ndarray]] = {}
        for k in range(len(self.cliques) - 1, 0, -1):
            clique, parent = self.cliques[k], self.parents[k]
            separator = tuple(v for v in clique if v in self.cliques[parent])
            rest = tuple(v for v in clique if v not in separator)
            order = [clique.index(v) for v in (*separator, *rest)]
            flat = tables[k].transpose(order).reshape([*(sizes[v] for v in separator), -1])
            chosen[k] = (separator, rest, flat.argmax(axis=-1))
            tables[parent] += _expanded(flat.max(axis=-1), separator, self.cliques[parent])
        # Root to leaves: read the arguments off.
        best = int(tables[0].argmax())
        value = float(tables[0].flat[best])
        assignment = dict(
            zip(self.cliques[0], map(int, np.unravel_index(best, tables[0].shape)), strict=True)
        )
        for k in range(1, len(self.cliques)):
            separator, rest, argument = chosen[k]
            flat_index = int(argument[tuple(assignment[v] for v in separator)])
            shape = tuple(sizes[v] for v in rest)
            indices = np.unravel_index(flat_index, shape) if rest else ()
            assignment.update(zip(rest, map(int, indices), strict=True))
        return assignment, value


def _expanded(table: FloatArray, group: Group, clique: Group) -> FloatArray:
    """Return a table over ``group`` with axes of length one for the clique's other variables."""
    lengths = dict(zip(group, table.shape, strict=True))
    return table.reshape([lengths.get(v, 1) for v in clique])


def junction_trees(graph: Any) -> list[JunctionTree]:
    """Return one junction tree for each connected component of a graph.

    Parameters
    ----------
    graph : networkx.Graph
        On variables with integer names.
    """
    nx = networkx()
    trees = []
    for component in sorted(nx.connected_components(graph), key=min):
        _, tree = nx.algorithms.approximation.treewidth_min_fill_in(graph.subgraph(component))
        root = min(tree.nodes, key=sorted)
        order = [root, *(child for _, child in nx.bfs_edges(tree, root))]
        parent_of = {child: parent for parent, child in nx.bfs_edges(tree, root)}
        index = {bag: k for k, bag in enumerate(order)}
        trees.append(
            JunctionTree(
                tuple(tuple(sorted(bag)) for bag in order),
                tuple(index[parent_of[bag]] if bag in parent_of else -1 for bag in order),
            )
        )
    return trees
