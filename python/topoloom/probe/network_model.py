# SPDX-License-Identifier: BSD-3-Clause
"""The network model that follows from what messages of each level cost."""

from __future__ import annotations

import math
from collections.abc import Iterator

from topoloom._core import Machine, NetworkModel
from topoloom.model.model_toml import ModelFile
from topoloom.probe.findings import Findings
from topoloom.probe.inference.groups import HOST, PART
from topoloom.probe.inference.levels import Level
from topoloom.probe.inference.link_factors import Route, fit_link_factors
from topoloom.probe.inference.message_costs import LevelCosts

IN_HOSTS = (HOST, PART)


def model_of(found: Findings, machine: Machine) -> ModelFile | None:
    """Make the model of the nearest hosts, or of the ranks of a single one.

    Parameters
    ----------
    machine
        The description of what was found, whose links the model is to go with.
    """
    costs, inside = between_hosts(found), inside_hosts(found)
    if costs is None:
        return inside and ModelFile(inside.model, "measured inside a host")
    model = _on_links(found, costs, machine)
    if inside is not None:
        model = model.with_inside(inside.model)
    return ModelFile(model, "measured between hosts")


def between_hosts(found: Findings) -> LevelCosts | None:
    """Return the costs of the nearest hosts."""
    return next((costs for _, costs in _levels_of_hosts(found)), None)


def inside_hosts(found: Findings) -> LevelCosts | None:
    """Return the costs of the farthest ranks of a host."""
    for level in found.levels[::-1]:
        if level.groups[0].kind in IN_HOSTS and level.name in found.level_costs:
            return found.level_costs[level.name]
    return None


def _levels_of_hosts(found: Findings) -> Iterator[tuple[Level, LevelCosts]]:
    for level in found.levels:
        if level.groups[0].kind not in IN_HOSTS and level.name in found.level_costs:
            yield level, found.level_costs[level.name]


def _on_links(found: Findings, costs: LevelCosts, machine: Machine) -> NetworkModel:
    """Say how links differ by size, and take those of the nearest hosts off."""
    model = costs.model
    if found.network is None or not model.alone:
        return model
    routes = [
        _route(found, level, of_level, machine)
        for level, of_level in _levels_of_hosts(found)
    ]
    factors = fit_link_factors(routes, [most for *_, most in model.alone])
    near = routes[0].latency - _beside_links(machine, routes[0].overhead)
    alone = [
        (max(0.0, alpha - factor * near), beta, most)
        for (alpha, beta, most), (factor, *_) in zip(model.alone, factors, strict=True)
    ]
    return model.with_alone(alone).with_link_factors(factors)


def _route(found: Findings, level: Level, costs: LevelCosts, machine: Machine) -> Route:
    """Describe what is between a typical pair of a level."""
    overhead = sum(
        cpu for cpu in (costs.send_cpu, costs.receive_cpu) if not math.isnan(cpu)
    )
    links = [link for link, _ in machine.route(*_nodes(found, level))]
    latency = sum(map(machine.latency, links))
    bandwidth = min([machine.port_bandwidth, *map(machine.bandwidth, links)])
    beside = _beside_links(machine, overhead)
    return Route(overhead, beside + latency, bandwidth, costs.alone)


def _beside_links(machine: Machine, overhead: float) -> float:
    return max(0.0, machine.startup + machine.node_latency - overhead)


def _nodes(found: Findings, level: Level) -> tuple[int, int]:
    network = found.network
    assert network is not None
    if network.is_graph:
        a, b = network.neighbors[0]
    else:
        first, second = level.groups[0].groups[:2]
        a, b = (found.host_of[group.ranks[0]] for group in (first, second))
    return network.order.index(a), network.order.index(b)
