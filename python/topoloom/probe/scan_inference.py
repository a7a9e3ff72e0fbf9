# SPDX-License-Identifier: BSD-3-Clause
"""Infers hosts, groups, levels and the network from the times of all pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from topoloom.probe.findings import Findings
from topoloom.probe.inference.cost_matrix import fill_missing, make_cost_matrix
from topoloom.probe.inference.groups import (
    ALL,
    HOST,
    PART,
    Costs,
    RankGroup,
    find_rank_groups,
)
from topoloom.probe.inference.landmarks import HostGroup
from topoloom.probe.inference.large_groups import infer_network
from topoloom.probe.inference.levels import find_levels, make_neighbor_level
from topoloom.probe.inference.network import list_host_groups
from topoloom.probe.inference.pair_costs import PairCosts, SomeCosts
from topoloom.probe.job.samples import Exchange, ProbeSamples
from topoloom.probe.large_scan import describe_unexplained, infer_large
from topoloom.probe.stages.scan import MAX_RANKS, SIZE


def group_by_host(samples: ProbeSamples) -> tuple[list[list[int]], list[int]]:
    """Return the ranks of each host, ordered by first rank, and each rank's host."""
    number: dict[str, int] = {}
    ranks: list[list[int]] = []
    host_of = []
    for rank, place in enumerate(samples.places):
        host = number.setdefault(place.host, len(number))
        if host == len(ranks):
            ranks.append([])
        ranks[host].append(rank)
        host_of.append(host)
    return ranks, host_of


def list_scan_exchanges(samples: ProbeSamples) -> Iterator[Exchange]:
    """Yield the exchanges of the scan, which determine the costs of pairs."""
    for how in ("circle", "pairs"):
        yield from (e for e in samples.select(how, "echo") if e.bytes == SIZE)


def compute_scan_costs(samples: ProbeSamples) -> tuple[Costs, Costs]:
    """Compute the costs of pairs of ranks, and their errors; see `make_cost_matrix`."""
    return make_cost_matrix(samples.ranks, list_scan_exchanges(samples))


def infer_findings(
    samples: ProbeSamples, doubts: Sequence[str] = (), parts: HostGroup | None = None
) -> Findings:
    """Infer groups, levels and network from the scan.

    `parts`: groups of hosts found by landmarks, if any.
    """
    hosts, host_of = group_by_host(samples)
    errors = None
    if samples.ranks > MAX_RANKS:
        found, errors = infer_large(samples, hosts, host_of, doubts, parts)
    else:
        found = _infer_all(samples, hosts, host_of, doubts)
    if len(hosts) > 1 and _is_known(found.costs):
        found.network = infer_network(found.root, hosts, host_of, found.costs, errors)
        if found.network.is_graph:
            _remove_host_groups(found)
        elif errors is not None and isinstance(found.costs, PairCosts):
            found.doubts += describe_unexplained(hosts, host_of, found.costs, errors)
    return found


def _is_known(costs: SomeCosts) -> bool:
    return isinstance(costs, PairCosts) or not np.isnan(costs).any()


def _infer_all(
    samples: ProbeSamples,
    hosts: Sequence[Sequence[int]],
    host_of: Sequence[int],
    doubts: Sequence[str],
) -> Findings:
    measured, errors = compute_scan_costs(samples)
    root = find_rank_groups(hosts, measured, errors)
    costs = fill_missing(root, measured)
    return Findings(
        samples,
        [samples.places[ranks[0]].host for ranks in hosts],
        list(host_of),
        costs,
        root,
        find_levels(root, measured),
        doubts=list(doubts),
    )


def _remove_host_groups(found: Findings) -> None:
    """Remove groups of hosts, because direct links determine distances."""
    assert found.network is not None
    hosts = [group for group in found.root.all_groups() if group.kind == HOST]
    found.root = RankGroup(ALL, found.root.ranks, tuple(hosts))
    if isinstance(found.costs, PairCosts):
        predicted = found.network.predicted
        found.costs = found.costs.fill_by_network(found.root, predicted, found.host_of)
    inside = [level for level in found.levels if level.groups[0].kind in (HOST, PART)]
    links, first = found.network.neighbors, list_first_ranks(found)
    found.levels = [*inside, make_neighbor_level(found.root, first, links, found.costs)]


def list_first_ranks(found: Findings) -> list[int]:
    """List the first rank of each host."""
    first = dict[int, int]()
    for rank, host in enumerate(found.host_of):
        first.setdefault(host, rank)
    return [first[host] for host in range(len(found.hosts))]


def list_comparable_sets(found: Findings) -> list[list[int]]:
    """List sets of comparable ranks: one per host of a group, or a host's ranks."""
    if len(found.hosts) == 1:
        return [list(found.root.ranks)]
    return [
        [part.ranks[0] for part in group.groups]
        for group in list_host_groups(found.root)
    ]
