# SPDX-License-Identifier: BSD-3-Clause
"""Reference model of rail-optimized GPU clusters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from networks import Network, Route, Speed, Wires, along, joined, mixed


def rails(
    gpus: int,
    domains: int,
    units: int,
    rail_count: int,
    spines: int,
    cross: str,
    speed: Sequence[Speed],
) -> Network:
    """Join GPUs of a domain by NVLink, and those of a rail and unit by a leaf switch.

    `speed`: NVLink, links to leaves, links to spines. Vertices: the GPUs, the
    NVSwitches by domain, the leaves by unit and rail, the spines.
    """
    nodes = gpus * domains * units
    nv_switches = nodes
    leaves = nv_switches + domains * units
    first_spine = leaves + units * rail_count

    def nv_switch(gpu: int) -> int:
        return nv_switches + gpu // gpus

    def leaf(gpu: int) -> int:
        unit, rail = gpu // (gpus * domains), gpu % gpus % rail_count
        return leaves + unit * rail_count + rail

    wires = Wires()
    for gpu in range(nodes):
        wires.cable(gpu, nv_switch(gpu), speed[0])
        wires.cable(gpu, leaf(gpu), speed[1])
    for switch in range(leaves, first_spine):
        for spine in range(spines):
            wires.cable(switch, first_spine + spine, speed[2])

    def route(a: int, b: int) -> Route:
        if a == b:
            return Counter()
        if a // gpus == b // gpus:
            return along(a, nv_switch(a), b)
        if (a % gpus - b % gpus) % rail_count and cross == "nvlink":
            relay = a // gpus * gpus + b % gpus  # the target's GPU in a's domain
            return joined(along(a, nv_switch(a), relay), route(relay, b))
        if leaf(a) == leaf(b):
            return along(a, leaf(a), b)
        return mixed(
            along(a, leaf(a), first_spine + spine, leaf(b), b)
            for spine in range(spines)
        )

    def distance(a: int, b: int) -> int:
        """Weigh each link by the ratio of NVLink's bandwidth to its own."""
        weights = [
            share * max(1, round(speed[0].bandwidth / wires.speed[wire].bandwidth))
            for wire, share in route(a, b).items()
        ]
        return round(sum(weights))

    return Network(list(range(nodes)), wires.speed, route, apart=distance)
