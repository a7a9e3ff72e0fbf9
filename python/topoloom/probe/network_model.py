# SPDX-License-Identifier: BSD-3-Clause
"""The network model that follows from what messages of each level cost."""

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
    Route,
    fit_link_costs,
)
from topoloom.probe.inference.message_costs import LevelCosts
from topoloom.probe.stages.scan import SIZE

IN_HOSTS = (HOST, PART)
#: The share of the nearest hosts' bandwidth below which bytes of the scan's messages
#: count between the farthest.
_SLOWER = 0.95


def model_of(found: Findings, machine: Machine) -> ModelFile | None:
    """Make the model of the nearest hosts, or of the ranks of a single one.

    Parameters
    ----------
    machine
        The description of what was found, whose links the model is to go with.
    """
    inside = inside_hosts(found)
    links = link_costs(found)
    if links is None:
        if inside is None:
            return None
        return ModelFile(inside.model, "measured inside a host")
    model = _on_links(found, links, machine)
    if inside is not None:
        model = model.with_inside(inside.model)
    return ModelFile(model, "measured between hosts")


def link_costs(found: Findings) -> LinkCosts | None:
    """Tell what is due to the links between hosts; None if there are none."""
    costs = between_hosts(found)
    if costs is None or found.network is None:
        return None
    routes = [
        Route(of_level.alone, of_level.burst, of_level.bandwidth)
        for _, of_level in _levels_of_hosts(found)
    ]
    return fit_link_costs(routes, _ends(costs), _overhead(costs))


def short_latency(found: Findings) -> float:
    """Return the latency of a link to the shortest messages, by that in the scan."""
    levels = [costs for _, costs in _levels_of_hosts(found)]
    if len(levels) > 1 and levels[-1].bandwidth < _SLOWER * levels[0].bandwidth:
        # Bytes of the scan's messages take longer on the way to the farthest, too.
        near, far = levels[0].alone.fit, levels[-1].alone.fit
        more = np.interp(SIZE, far.sizes, far.measured) - np.interp(
            SIZE, near.sizes, near.measured
        )
        if more > 0:
            share = float(far.measured[0] - near.measured[0]) / float(more)
            return min(max(share, 0.0), 1.0)
    links = link_costs(found)
    return 1.0 if links is None else 1 / max(links.latency_factor(SIZE), 0.1)


def between_hosts(found: Findings) -> LevelCosts | None:
    """Return the costs of the nearest hosts."""
    return next((costs for _, costs in _levels_of_hosts(found)), None)


def inside_hosts(found: Findings) -> LevelCosts | None:
    """Return the costs of the farthest ranks of a host."""
    for level in found.levels[::-1]:
        if level.groups[0].kind in IN_HOSTS and level.name in found.level_costs:
            return found.level_costs[level.name]
    return None


def nearest_hosts(found: Findings) -> tuple[int, int]:
    """Return the nodes of two hosts that are as near as any."""
    network = found.network
    assert network is not None
    if network.is_graph:
        a, b = network.neighbors[0]
    else:
        level, _ = next(_levels_of_hosts(found))
        first, second = level.groups[0].groups[:2]
        a, b = (found.host_of[group.ranks[0]] for group in (first, second))
    return network.order.index(a), network.order.index(b)


def _levels_of_hosts(found: Findings) -> Iterator[tuple[Level, LevelCosts]]:
    for level in found.levels:
        if level.groups[0].kind not in IN_HOSTS and level.name in found.level_costs:
            yield level, found.level_costs[level.name]


def _ends(costs: LevelCosts) -> list[int | None]:
    return [most for *_, most in costs.alone_lines]


def _overhead(costs: LevelCosts) -> float:
    """Return the seconds of both ranks; a receiver's are a sender's where unknown."""
    send = 0.0 if math.isnan(costs.send_cpu) else costs.send_cpu
    both = send + (send if math.isnan(costs.receive_cpu) else costs.receive_cpu)
    return min(both, float(costs.alone.fit.measured[0]))


def _on_links(found: Findings, links: LinkCosts, machine: Machine) -> NetworkModel:
    """Say how links differ by size, and take those of the nearest hosts off."""
    costs = between_hosts(found)
    assert costs is not None
    model = costs.model
    if not model.alone:
        return model
    route = machine.route(*nearest_hosts(found))
    near = sum(machine.latency(link) for link, _ in route)
    alone = [
        (max(0.0, alpha - factor * near), beta, most)
        for (alpha, beta, most), (factor, *_) in zip(
            model.alone, links.factors, strict=True
        )
    ]
    return model.with_alone(alone).with_link_factors(links.factors)
