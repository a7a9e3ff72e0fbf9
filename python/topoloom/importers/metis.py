# SPDX-License-Identifier: BSD-3-Clause
"""Writes a machine's network as a METIS graph."""

from __future__ import annotations

from fractions import Fraction

from topoloom._core import Error, Machine, Wiring

#: Weights are exact if all bandwidths are multiples of the unit, which is the lowest
#: bandwidth divided by at most this number.
_FINEST = 1000
_MAX_WEIGHT = 2**31 - 1


def write_metis_machine(machine: Machine) -> str:
    """Write a METIS graph: nodes, then switches, and links weighted by bandwidth.

    The first line, a comment, states the number of nodes and the bandwidth of weight 1.
    METIS cannot represent links that differ by direction, nor several nodes that share
    a router and have no host links; `topoloom.Error` is raised for these.
    """
    pairs = _sum_bandwidths(machine)
    unit = _find_bandwidth_unit(set(pairs.values()))
    nodes = machine.node_count
    neighbors: list[list[tuple[int, int]]] = [[] for _ in range(nodes)]
    for (u, v), bandwidth in sorted(pairs.items()):
        while len(neighbors) <= max(u, v):
            neighbors.append([])
        weight = max(1, round(bandwidth / unit))
        if weight > _MAX_WEIGHT:
            raise Error("bandwidths differ by more than METIS weights can, 2^31 times")
        neighbors[u].append((v, weight))
        neighbors[v].append((u, weight))
    weighted = any(weight != 1 for row in neighbors for _, weight in row)
    rate = f"weight 1 is {float(unit):.12g} B/s"
    if not machine.has_bandwidths:
        rate = f"weight 1 is {float(unit):.12g}, relative: bandwidths are unknown"
    head = f"% {nodes} nodes, {len(neighbors) - nodes} switches; {rate}"
    rows = [
        " ".join(f"{v + 1} {weight}" if weighted else f"{v + 1}" for v, weight in row)
        for row in neighbors
    ]
    counts = f"{len(neighbors)} {len(pairs)}" + (" 1" if weighted else "")
    return "\n".join([head, counts, *rows, ""])


def _map_vertices(machine: Machine) -> dict[int, int]:
    """Return the METIS number of each vertex: nodes first, then switches."""
    wiring = Wiring(machine)
    nodes: list[int] = wiring.vertex.tolist()
    if len(set(nodes)) < len(nodes):
        raise Error(
            "several nodes on one router have no links of their own; leave out "
            "hosts=free"
        )
    switches = sorted(set(range(wiring.vertex_count)) - set(nodes))
    return {vertex: number for number, vertex in enumerate(nodes + switches)}


def _sum_bandwidths(machine: Machine) -> dict[tuple[int, int], float]:
    """Sum the bandwidths between two vertices; raise if directions differ."""
    number = _map_vertices(machine)
    one_way: dict[tuple[int, int], float] = {}
    for link in range(machine.link_count):
        u, v = machine.link_ends(link)
        ends = number[u], number[v]
        if ends[0] != ends[1]:
            one_way[ends] = one_way.get(ends, 0.0) + machine.bandwidth(link)
    for (u, v), bandwidth in one_way.items():
        if one_way.get((v, u)) != bandwidth:
            raise Error(
                f"the link from vertex {u} to {v} differs from the one back; "
                "an edge of a METIS graph is the same in both directions"
            )
    return {(u, v): rate for (u, v), rate in one_way.items() if u < v}


def _find_bandwidth_unit(bandwidths: set[float]) -> Fraction:
    """Find the largest unit of which all bandwidths are nearly multiples."""
    if not bandwidths:
        return Fraction(1)
    least = Fraction(min(bandwidths))
    ratios = [Fraction(bandwidth) / least for bandwidth in bandwidths]
    for parts in range(1, _FINEST):
        scaled = [ratio * parts for ratio in ratios]
        if all(abs(value - round(value)) * 10**9 <= value for value in scaled):
            return least / parts
    return least / _FINEST
