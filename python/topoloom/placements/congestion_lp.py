# SPDX-License-Identifier: BSD-3-Clause
"""Bounds congestion from below by a linear relaxation, for small problems.

Source: Sudheer 2012, ch. 7. x[i, k] is the fraction of rank i on node k. z[p, k, l] is
the fraction of pair p whose first rank is on node k and whose second is on node l.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoloom._core import Allocation, CommGraph, Error, Placement, judge
from topoloom.placements.linear_program import solve

#: Maximum number of entries of z; solving a problem of this size takes four minutes and
#: 0.4 GiB.
MAX_ENTRIES = 60_000

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
Progress = Callable[[int], bool]


@dataclass(frozen=True)
class Relaxation:
    """The proven bound of a relaxation, and a placement rounded from its solution."""

    bound: float  # lower bound on the congestion of any placement
    placement: Placement  # slot of each rank; maximizes the sum of x[rank, node]
    congestion: float  # of `placement`


def relax_congestion(
    graph: CommGraph,
    allocation: Allocation,
    seconds: float | None = None,
    progress: Progress = lambda _: True,
) -> Relaxation | None:
    """Solve the relaxation for one rank per slot; return None if stopped.

    `progress` is called periodically with 0; if it returns False, the solver stops.

    Raises
    ------
    topoloom.Error
        If scipy is missing, the problem is too large, or routes depend on the load.
    """
    if find_spec("scipy") is None:
        raise Error(
            "the linear relaxation requires scipy; install it with: "
            "pip install 'topoloom[bound]'"
        )
    some = Placement(allocation, allocation.slots[: graph.rank_count])
    judged = judge(graph, allocation, some)
    if judged.minimal_share is not None:
        raise Error(
            "the linear relaxation does not support routes that depend on the load"
        )
    links = allocation.machine.link_count
    if graph.total_bytes == 0 or len(allocation.nodes) == 1 or links == 0:
        return Relaxation(0.0, some, judged.congestion_max)  # no inter-node bytes
    problem = _make_problem(graph, allocation)
    solved = _solve_relaxation(problem, seconds, progress)
    if solved is None:
        return None
    where, prices = solved
    _, position = _assign_ranks(-where, problem)
    placement = Placement(allocation, allocation.slots[position])
    return Relaxation(
        _compute_safe_bound(problem, prices),
        placement,
        judge(graph, allocation, placement).congestion_max,
    )


@dataclass(frozen=True)
class _Problem:
    """Communicating pairs of ranks, nodes, and the routes between nodes."""

    ranks: int
    first: Whole  # lower rank of each pair
    second: Whole  # higher rank of each pair
    there: Floats  # bytes from first to second rank; the largest value is 1
    back: Floats
    node_of_slot: Whole
    capacity: Whole  # number of slots per node
    seconds: Any  # sparse matrix of relative times, links x pairs of nodes
    unit: float  # seconds

    def single_pair_congestion(self) -> Floats:
        """Return at [p, k, l] the congestion of pair p alone on nodes k and l."""
        nodes = len(self.capacity)
        most: Floats = self.seconds.max(axis=0).toarray().reshape(nodes, nodes)
        there, back = self.there[:, None, None], self.back[:, None, None]
        alone: Floats = np.maximum(there * most, back * most.T)
        return alone

    def partner_slots(self) -> Floats:
        """Return at [k, l] how many partners of a rank on node k fit on node l."""
        return self.capacity[None, :] - np.eye(len(self.capacity))


@dataclass(frozen=True)
class _DualPrices:
    """Dual values (prices) of the constraints on links, pairs, pair ends and slots."""

    link: Floats
    pair: Floats
    first: Floats  # [p, k]
    second: Floats  # [p, l]
    beside: Floats  # [i, k, l]


def _make_problem(graph: CommGraph, allocation: Allocation) -> _Problem:
    from scipy import sparse

    ranks = graph.rank_count
    peer, sent = graph.peer.astype(np.int64), graph.bytes.astype(np.float64)
    first = graph.first.astype(np.int64)
    rank = np.repeat(np.arange(ranks), first[1:] - first[:-1])
    talks = sent > 0
    rank, peer, sent = rank[talks], peer[talks], sent[talks]
    pairs, pair = np.unique(
        np.minimum(rank, peer) * ranks + np.maximum(rank, peer), return_inverse=True
    )
    there = np.bincount(pair, weights=np.where(rank < peer, sent, 0))
    back = np.bincount(pair, weights=np.where(rank < peer, 0, sent))

    machine, nodes = allocation.machine, allocation.nodes.tolist()
    entries = len(pairs) * len(nodes) ** 2
    if entries > MAX_ENTRIES:
        raise Error(
            f"{len(pairs):,} pairs of ranks on {len(nodes):,} nodes make a linear "
            f"relaxation of {entries:,} entries; at most {MAX_ENTRIES:,} can be solved"
        )
    position = {node: k for k, node in enumerate(nodes)}
    per_node = machine.slots_per_node
    node_of_slot = [position[slot // per_node] for slot in allocation.slots.tolist()]
    links, ends, seconds = [], [], []
    for k, source in enumerate(nodes):
        for m, target in enumerate(nodes):
            if source != target:
                for link, share in machine.route(source, target):
                    links.append(link)
                    ends.append(k * len(nodes) + m)
                    seconds.append(share / machine.bandwidth(link))
    used, link_row = np.unique(np.array(links, dtype=np.int64), return_inverse=True)
    most_bytes = max(sent, default=1.0)
    most_seconds = max(seconds, default=1.0)
    table = sparse.coo_array(
        (np.array(seconds) / most_seconds, (link_row, np.array(ends, dtype=np.int64))),
        shape=(len(used), len(nodes) ** 2),
    )
    return _Problem(
        ranks=ranks,
        first=pairs // ranks,
        second=pairs % ranks,
        there=there / most_bytes,
        back=back / most_bytes,
        node_of_slot=np.array(node_of_slot),
        capacity=np.bincount(node_of_slot),
        seconds=table,
        unit=most_bytes * most_seconds,
    )


def _solve_relaxation(
    problem: _Problem, seconds: float | None, progress: Progress
) -> tuple[Floats, _DualPrices] | None:
    """Minimize t over x, z and y (bytes from node to node); return x and prices."""
    ranks, nodes, pairs = problem.ranks, len(problem.capacity), len(problem.first)
    t, x, z, y = _number_entries(
        (), (ranks, nodes), (pairs, nodes, nodes), (nodes, nodes)
    )
    columns = 1 + int(y[-1, -1])
    (whole, first, second), equal = _make_equalities(problem, columns, x, z, y)
    (link, pair, beside), most = _make_inequalities(problem, columns, t, x, z, y)
    cost = np.zeros(columns)
    cost[t] = 1
    limits = np.full((columns, 2), (0.0, np.inf))
    full = np.flatnonzero(problem.capacity == 1)
    limits[z[:, full, full].ravel(), 1] = 0
    found = solve(
        progress,
        c=cost,
        A_eq=equal,
        b_eq=np.isin(np.arange(equal.shape[0]), whole) * 1.0,
        A_ub=most,
        b_ub=np.concatenate(
            [np.zeros(len(link) + pairs), problem.capacity, np.zeros(beside.size)]
        ),
        bounds=limits,
        method="highs-ipm",
        options={"time_limit": np.inf if seconds is None else seconds},
    )
    if found is None or found.status == 1:  # time limit
        return None
    if found.status != 0:
        raise Error(f"the linear relaxation was not solved: {found.message}")
    price, limit = found.eqlin.marginals, found.ineqlin.marginals
    return found.x[x], _DualPrices(
        link=-limit[link],
        pair=-limit[pair],
        first=price[first],
        second=price[second],
        beside=-limit[beside],
    )


def _make_equalities(
    problem: _Problem, columns: int, x: Whole, z: Whole, y: Whole
) -> tuple[tuple[Whole, Whole, Whole], Any]:
    """Make the equalities: a rank is on one node, a pair on the nodes of its ranks.

    Returns
    -------
    tuple
        The row numbers of ranks, first ends and second ends of pairs, and the matrix.
    """
    ranks, nodes, pairs = problem.ranks, len(problem.capacity), len(problem.first)
    whole, first, second, carried = _number_entries(
        (ranks,), (pairs, nodes), (pairs, nodes), (nodes, nodes)
    )
    matrix = _make_matrix(
        1 + int(carried[-1, -1]),
        columns,
        (whole[:, None], x, 1.0),
        (first[:, :, None], z, 1.0),
        (first, x[problem.first], -1.0),
        (second[:, None, :], z, 1.0),
        (second, x[problem.second], -1.0),
        (carried, z, problem.there[:, None, None]),
        (carried.T, z, problem.back[:, None, None]),
        (carried, y, -1.0),
    )
    return (whole, first, second), matrix


def _make_inequalities(
    problem: _Problem, columns: int, t: Whole, x: Whole, z: Whole, y: Whole
) -> tuple[tuple[Whole, Whole, Whole], Any]:
    """Make the inequalities: loads of links and pairs are at most t; slots suffice.

    Returns
    -------
    tuple
        The row numbers of links, pairs and partners of a rank, and the matrix.
    """
    ranks, nodes, pairs = problem.ranks, len(problem.capacity), len(problem.first)
    route = problem.seconds
    link, pair, held, beside = _number_entries(
        (route.shape[0],), (pairs,), (nodes,), (ranks, nodes, nodes)
    )
    matrix = _make_matrix(
        1 + int(beside[-1, -1, -1]),
        columns,
        (link[route.row], y.ravel()[route.col], route.data),
        (link, t, -1.0),
        (pair[:, None, None], z, problem.single_pair_congestion()),
        (pair, t, -1.0),
        (held, x, 1.0),
        (beside[problem.first], z, 1.0),
        (beside.transpose(0, 2, 1)[problem.second], z, 1.0),
        (beside, x[:, :, None], -problem.partner_slots()),
    )
    return (link, pair, beside), matrix


def _number_entries(*shapes: tuple[int, ...]) -> list[Whole]:
    """Return arrays of these shapes, filled with consecutive numbers from 0."""
    numbers, start = [], 0
    for shape in shapes:
        size = math.prod(shape)
        numbers.append(np.arange(start, start + size).reshape(shape))
        start += size
    return numbers


def _make_matrix(rows: int, columns: int, *terms: tuple[Any, Any, Any]) -> Any:
    """Make a sparse matrix from terms (rows, columns, values), which are broadcast."""
    from scipy import sparse

    flat = [[a.ravel() for a in np.broadcast_arrays(*term)] for term in terms]
    row, column, value = (np.concatenate(part) for part in zip(*flat, strict=True))
    return sparse.csr_array((value, (row, column)), shape=(rows, columns))


def _compute_safe_bound(problem: _Problem, prices: _DualPrices) -> float:
    """Compute a bound from prices that is valid despite rounding errors of the solver.

    A weighted mean of loads is at most the largest load, and equals a sum of costs of
    pairs. Prices shift costs between pairs and single ranks. Each pair, and the ranks
    together, cost at least their minimum. Inexact prices weaken the bound, but it
    remains valid.
    """
    link, alone = np.maximum(prices.link, 0), np.maximum(prices.pair, 0)
    weight = link.sum() + alone.sum()
    if weight == 0:
        return 0.0
    nodes = len(problem.capacity)
    distance = (link / weight @ problem.seconds).reshape(nodes, nodes)
    beside = np.maximum(prices.beside, 0)
    pair = (
        problem.there[:, None, None] * distance
        + problem.back[:, None, None] * distance.T
        + (alone / weight)[:, None, None] * problem.single_pair_congestion()
        - prices.first[:, :, None]
        - prices.second[:, None, :]
        + beside[problem.first]
        + beside.transpose(0, 2, 1)[problem.second]
    )
    full = np.flatnonzero(problem.capacity == 1)
    pair[:, full, full] = np.inf
    single = -(beside * problem.partner_slots()).sum(axis=2)
    np.add.at(single, problem.first, prices.first)
    np.add.at(single, problem.second, prices.second)
    rank, slot = _assign_ranks(single, problem)
    sizes = [distance, prices.first, prices.second, beside, single]
    # Each entry is a sum of at most a few thousand terms of this magnitude.
    rounding = 1e-12 * len(pair) * max(np.abs(size).max() for size in sizes)
    least = (
        pair.min(axis=(1, 2)).sum()
        + single[rank, problem.node_of_slot[slot]].sum()
        - rounding
    )
    return max(0.0, float(least) * problem.unit * (1 - 1e-9))


def _assign_ranks(cost: Floats, problem: _Problem) -> tuple[Whole, Whole]:
    """Assign ranks to slots with the least total cost; slots are allocation indices."""
    from scipy.optimize import linear_sum_assignment

    rank, slot = linear_sum_assignment(cost[:, problem.node_of_slot])
    return rank, slot
