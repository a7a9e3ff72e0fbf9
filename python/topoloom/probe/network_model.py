# SPDX-License-Identifier: BSD-3-Clause
"""Builds a network model from the message costs of each level."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from topoloom._core import Machine, NetworkModel
from topoloom.model.model_toml import ModelFile
from topoloom.probe.findings import Findings
from topoloom.probe.inference.groups import HOST, PART
from topoloom.probe.inference.levels import Level
from topoloom.probe.inference.link_costs import (
    LinkCosts,
    RouteTimes,
    fit_link_costs,
)
from topoloom.probe.inference.message_costs import LevelCosts
from topoloom.probe.stages.scan import SIZE

IN_HOSTS = (HOST, PART)
#: If the bandwidth of the farthest hosts is a smaller share of the nearest hosts'
#: bandwidth, the transfer time of scan messages is subtracted.
_SLOWER = 0.95


def make_network_model(found: Findings, machine: Machine) -> ModelFile | None:
    """Build the model of messages between the nearest hosts, or inside a single host.

    `machine`: the described machine, whose links add to the model's costs.
    """
    inside = find_inner_costs(found)
    links = fit_host_links(found)
    if links is None:
        if inside is None:
            return None
        return ModelFile(inside.model, "measured inside a host")
    model = _add_links(found, links, machine)
    if inside is not None:
        model = model.with_intra_node_model(inside.model)
    return ModelFile(model, "measured between hosts")


def fit_host_links(found: Findings) -> LinkCosts | None:
    """Fit the costs of links between hosts; None without such links."""
    costs = find_host_costs(found)
    if costs is None or found.network is None:
        return None
    routes = [
        RouteTimes(of_level.alone, of_level.burst, of_level.bandwidth)
        for _, of_level in _list_host_levels(found)
    ]
    return fit_link_costs(routes, _list_ends(costs), _compute_overhead(costs))


def compute_short_latency(found: Findings) -> float:
    """Compute the latency of the shortest messages relative to latency in the scan."""
    levels = [costs for _, costs in _list_host_levels(found)]
    if len(levels) > 1 and levels[-1].bandwidth < _SLOWER * levels[0].bandwidth:
        # The transfer of scan messages also takes longer to the farthest hosts.
        near, far = levels[0].alone.fit, levels[-1].alone.fit
        more = np.interp(SIZE, far.sizes, far.measured) - np.interp(
            SIZE, near.sizes, near.measured
        )
        if more > 0:
            share = float(far.measured[0] - near.measured[0]) / float(more)
            return min(max(share, 0.0), 1.0)
    links = fit_host_links(found)
    return 1.0 if links is None else 1 / max(links.latency_factor(SIZE), 0.1)


def find_host_costs(found: Findings) -> LevelCosts | None:
    """Find the costs between the nearest hosts."""
    return next((costs for _, costs in _list_host_levels(found)), None)


def find_inner_costs(found: Findings) -> LevelCosts | None:
    """Find the costs between the farthest ranks of a host."""
    for level in found.levels[::-1]:
        if level.groups[0].kind in IN_HOSTS and level.name in found.level_costs:
            return found.level_costs[level.name]
    return None


def find_nearest_hosts(found: Findings) -> tuple[int, int]:
    """Find the nodes of two hosts whose distance is minimal."""
    network = found.network
    assert network is not None
    if network.is_graph:
        a, b = network.neighbors[0]
    else:
        level, _ = next(_list_host_levels(found))
        first, second = level.groups[0].groups[:2]
        a, b = (found.host_of[group.ranks[0]] for group in (first, second))
    return network.order.index(a), network.order.index(b)


def _list_host_levels(found: Findings) -> Iterator[tuple[Level, LevelCosts]]:
    for level in found.levels:
        if level.groups[0].kind not in IN_HOSTS and level.name in found.level_costs:
            yield level, found.level_costs[level.name]


def _list_ends(costs: LevelCosts) -> list[int | None]:
    return [most for *_, most in costs.alone_lines]


def _compute_overhead(costs: LevelCosts) -> float:
    """Compute both ranks' overhead; if unknown, the receiver's equals the sender's."""
    send = 0.0 if math.isnan(costs.send_cpu) else costs.send_cpu
    both = send + (send if math.isnan(costs.receive_cpu) else costs.receive_cpu)
    return min(both, float(costs.alone.fit.measured[0]))


def _add_links(found: Findings, links: LinkCosts, machine: Machine) -> NetworkModel:
    """Add size-dependent link factors, and subtract the links of the nearest hosts."""
    costs = find_host_costs(found)
    assert costs is not None
    model = costs.model
    if not model.alone:
        return model
    route = machine.route(*find_nearest_hosts(found))
    near = sum(machine.latency(link) for link, _ in route)
    alone = [
        (max(0.0, alpha - factor * near), beta, most)
        for (alpha, beta, most), (factor, *_) in zip(
            model.alone, links.factors, strict=True
        )
    ]
    return model.with_single_message_lines(alone).with_link_factors(links.factors)
