# SPDX-License-Identifier: BSD-3-Clause
"""Reference model of rail-optimized GPU clusters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from networks import (
    LinkSpeed,
    ReferenceNetwork,
    Route,
    WireList,
    concatenate,
    route_along,
    split_evenly,
)


def make_rail_cluster(
    gpus_per_domain: int,
    domains_per_unit: int,
    units: int,
    rail_count: int,
    spines: int,
    cross: str,
    speed: Sequence[LinkSpeed],
) -> ReferenceNetwork:
    """Join the GPUs of a domain by NVLink, of a rail in a unit by a leaf switch.

    `speed` has the speeds of NVLink, links to leaves and links to spines. Vertices are
    the GPUs, the NVSwitches by domain, the leaves by unit and rail, and the spines.
    """
    nodes = gpus_per_domain * domains_per_unit * units
    nv_switches = nodes
    leaves = nv_switches + domains_per_unit * units
    first_spine = leaves + units * rail_count

    def get_nvswitch(gpu: int) -> int:
        return nv_switches + gpu // gpus_per_domain

    def get_leaf(gpu: int) -> int:
        unit, rail = (
            gpu // (gpus_per_domain * domains_per_unit),
            gpu % gpus_per_domain % rail_count,
        )
        return leaves + unit * rail_count + rail

    wires = WireList()
    for gpu in range(nodes):
        wires.add_cable(gpu, get_nvswitch(gpu), speed[0])
        wires.add_cable(gpu, get_leaf(gpu), speed[1])
    for switch in range(leaves, first_spine):
        for spine in range(spines):
            wires.add_cable(switch, first_spine + spine, speed[2])

    def route(a: int, b: int) -> Route:
        if a == b:
            return Counter()
        if a // gpus_per_domain == b // gpus_per_domain:
            return route_along(a, get_nvswitch(a), b)
        place_a, place_b = a % gpus_per_domain, b % gpus_per_domain
        if (place_a - place_b) % rail_count and cross == "nvlink":
            relay = a - place_a + place_b  # the target's GPU in a's domain
            return concatenate(route_along(a, get_nvswitch(a), relay), route(relay, b))
        if get_leaf(a) == get_leaf(b):
            return route_along(a, get_leaf(a), b)
        return split_evenly(
            route_along(a, get_leaf(a), first_spine + spine, get_leaf(b), b)
            for spine in range(spines)
        )

    def distance(a: int, b: int) -> int:
        """Weigh each link by the ratio of NVLink's bandwidth to its own."""
        weights = [
            share * max(1, round(speed[0].bandwidth / wires.speed[wire].bandwidth))
            for wire, share in route(a, b).items()
        ]
        return round(sum(weights))

    return ReferenceNetwork(list(range(nodes)), wires.speed, route, apart=distance)
