# SPDX-License-Identifier: BSD-3-Clause
"""Random machines as text, with their reference models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from random import Random
from typing import NamedTuple

from dragonflies import make_dragonfly
from grids import make_hyperx, make_ring_bus, make_torus, make_twisted_torus
from link_list_network import make_listed_graph
from networks import (
    Failures,
    LinkSpeed,
    ReferenceNetwork,
    Wire,
    apply_failures,
    attach_nodes,
)
from rail_clusters import make_rail_cluster
from trees import make_fat_tree, make_tree

from topoloom import Machine


class RandomMachine(NamedTuple):
    """A machine and its reference model."""

    machine: Machine
    network: ReferenceNetwork

    @property
    def wires(self) -> list[Wire]:
        """List the links by number."""
        return list_wires(self.machine)


def list_wires(machine: Machine) -> list[Wire]:
    """List the links by number."""
    between: Counter[tuple[int, int]] = Counter()
    wires = []
    for link in range(machine.link_count):
        u, v = machine.link_ends(link)
        wires.append((u, v, between[u, v]))
        between[u, v] += 1
    return wires


def draw_speeds(rng: Random, names: Sequence[str]) -> tuple[str, dict[str, LinkSpeed]]:
    """Draw a speed for all links, and other speeds for some link classes."""
    if rng.random() < 0.3:
        return "", dict.fromkeys(names, LinkSpeed())
    usual = rng.randint(1, 9) * 1e9
    latency = rng.randint(1, 9) / 1e6
    text = f",bandwidth={usual / 1e9:g}GB/s,latency={latency * 1e6:g}us"
    by_name = {}
    for name in names:
        factor = rng.choice((("", 1.0), ("half", 0.5), ("quarter", 0.25)))
        if factor[0]:
            text += f",bandwidth.{name}={factor[0]}"
        by_name[name] = LinkSpeed(usual * factor[1], latency)
    return text, by_name


def draw_attached_nodes(
    rng: Random, routers: ReferenceNetwork, switches: bool, known: bool
) -> tuple[str, ReferenceNetwork, bool]:
    """Attach nodes to routers; also return whether nodes have host links."""
    nodes = rng.randint(1, 3)
    text = f",nodes={nodes}"
    way = rng.choice(("", "hosts=free", "cards"))
    if way == "hosts=free":
        return text + ",hosts=free", attach_nodes(routers, nodes, 0), False
    cards = 1 if switches or nodes > 1 else 0
    if way == "cards":
        cards = rng.randint(1, 3)
        text += f",cards={cards}"
    speed = LinkSpeed(7e9, 3e-6) if known else LinkSpeed()
    if cards and known:
        text += ",bandwidth.host=7GB/s,latency.host=3us"
    return text, attach_nodes(routers, nodes, cards, speed), cards > 0


def draw_torus(rng: Random) -> tuple[str, ReferenceNetwork, bool]:
    """Draw a torus or a mesh with random routing order and ties."""
    extents = [rng.randint(1, 5) for _ in range(rng.randint(1, 3))]
    axes = "xyz"[: len(extents)]
    wraps = [rng.random() < 0.7 for _ in extents]
    order = rng.sample(range(len(extents)), len(extents))
    ties = rng.choice(("plus", "split", "simgrid"))
    body = "x".join(map(str, extents))
    marks = "".join(str(int(wrap)) for wrap in wraps)
    text = f"torus:{body},wrap={marks}" if any(wraps) else f"mesh:{body}"
    text += f",order={':'.join(map(str, order))},ties={ties}"
    names = [f"{axis}{sign}" for axis in axes for sign in "+-"]
    options, by_name = draw_speeds(rng, names)
    routers = make_torus(
        extents,
        wraps,
        order,
        ties,
        lambda axis, sign: by_name[axes[axis] + ("+" if sign > 0 else "-")],
    )
    if rng.random() < 0.5:
        return text + options, routers, False
    more, network, hosted = draw_attached_nodes(rng, routers, False, bool(options))
    return text + options + more, network, hosted


def draw_twisted_torus(rng: Random) -> tuple[str, ReferenceNetwork, bool]:
    """Draw a torus whose wraparound links shift along axes after their own."""
    extents = [rng.randint(2, 4) for _ in range(rng.randint(1, 3))]
    axes = "xyz"[: len(extents)]
    text = "twisted:" + "x".join(map(str, extents))
    twist = []
    for axis in range(len(extents)):
        shift = [
            rng.randrange(extents[to]) if to > axis else 0 for to in range(len(extents))
        ]
        twist.append(shift)
        if any(shift):
            text += f",twist.{axes[axis]}={':'.join(map(str, shift))}"
    options, by_name = draw_speeds(rng, axes)
    routers = make_twisted_torus(extents, twist, lambda axis, sign: by_name[axes[axis]])
    return text + options, routers, False


def draw_hyperx(rng: Random) -> tuple[str, ReferenceNetwork, bool]:
    """Draw a HyperX or a hypercube."""
    extents = [rng.randint(1, 4) for _ in range(rng.randint(1, 3))]
    text = "hyperx:" + "x".join(map(str, extents))
    switches = True
    if rng.random() < 0.4:
        extents = [2] * len(extents)
        text = f"hypercube:{len(extents)}"
        switches = False
    axes = "xyz"[: len(extents)]
    order = rng.sample(range(len(extents)), len(extents))
    text += f",order={':'.join(map(str, order))}"
    options, by_name = draw_speeds(rng, axes)
    routers = make_hyperx(extents, order, lambda axis, _: by_name[axes[axis]])
    more, network, hosted = draw_attached_nodes(rng, routers, switches, bool(options))
    return text + options + more, network, hosted


def draw_ring_bus(rng: Random) -> tuple[str, ReferenceNetwork, bool]:
    """Draw a ring bus."""
    stations, rings = rng.randint(1, 9), rng.randint(1, 3)
    ties = rng.choice(("split", "plus"))
    text = f"ring:{stations},rings={rings},ties={ties},bandwidth=3GB/s,latency=2us"
    return text, make_ring_bus(stations, rings, ties, LinkSpeed(3e9, 2e-6)), False


def draw_tree(rng: Random) -> tuple[str, ReferenceNetwork, bool]:
    """Draw a tree or a fat tree."""
    levels = [rng.randint(1, 4) for _ in range(rng.randint(1, 3))]
    body = ":".join(map(str, levels))
    each = [LinkSpeed(rng.randint(1, 9) * 1e9, rng.randint(1, 9) / 1e6) for _ in levels]
    bandwidths = ":".join(f"{one.bandwidth / 1e9:g}GB/s" for one in each)
    latencies = ":".join(f"{one.latency * 1e6:g}us" for one in each)
    options = f",bandwidth={bandwidths},latency={latencies}"
    if rng.random() < 0.3:
        distances = []
        if rng.random() < 0.5:
            distances = sorted(rng.randint(0, 20) for _ in levels)
            options += f",distance={':'.join(map(str, distances))}"
        return f"tree:{body}{options}", make_tree(levels, each, distances), False
    up = [rng.randint(1, 3) for _ in levels]
    parallel = [rng.randint(1, 3) for _ in levels]
    routing = rng.choice(("d-mod-k", "s-mod-k", "random", "simgrid"))
    text = f"fattree:{body},routing={routing}{options}"
    if rng.random() < 0.3:  # as many parents as children
        up, parallel = [1, *levels[:-1]], [1] * len(levels)
    else:
        text += f",up={':'.join(map(str, up))},parallel={':'.join(map(str, parallel))}"
    return text, make_fat_tree(levels, up, parallel, routing, each), False


def draw_dragonfly(rng: Random) -> tuple[str, ReferenceNetwork, bool]:
    """Draw a dragonfly of one or two dimensions."""
    groups, rows, columns = rng.randint(1, 6), rng.randint(1, 3), rng.randint(1, 4)
    flat = rows == 1
    body = f"{groups}x{columns}" if flat else f"{groups}x{rows}x{columns}"
    arrangement = rng.choice(("consecutive", "palmtree", "direct"))
    routing = rng.choice(("minimal", "valiant", "ugal"))
    needed = groups if arrangement == "direct" else groups - 1
    ports = -(-needed // (rows * columns))
    text = f"dragonfly:{body},arrangement={arrangement},routing={routing}"
    if ports and rng.random() < 0.6:
        ports += rng.randint(0, 2)
        text += f",global={ports}"
    names = ["local", "global"] if flat else ["row", "column", "global"]
    options, by_name = draw_speeds(rng, names)
    row = by_name["local" if flat else "row"]
    each = [row, by_name.get("column", row), by_name["global"]]
    routers = make_dragonfly(groups, rows, columns, ports, arrangement, routing, each)
    more, network, hosted = draw_attached_nodes(rng, routers, True, bool(options))
    return text + options + more, network, hosted


def draw_rail_cluster(rng: Random) -> tuple[str, ReferenceNetwork, bool]:
    """Draw GPUs in NVLink domains on rails."""
    gpus, domains, units = (
        rng.choice((1, 2, 4, 6)),
        rng.randint(1, 3),
        rng.randint(1, 3),
    )
    count = rng.choice([c for c in (1, 2, 3, 4, 6) if gpus % c == 0])
    spines, cross = rng.randint(1, 3), rng.choice(("nvlink", "spine"))
    text = f"rails:{gpus}:{domains}:{units},rails={count},spines={spines},cross={cross}"
    if rng.random() < 0.5:
        text += f",host={rng.choice([c for c in (1, 2, 3, 4, 6) if gpus % c == 0])}"
    options, by_name = draw_speeds(rng, ["nvlink", "rail", "spine"])
    each = list(by_name.values())
    return (
        text + options,
        make_rail_cluster(gpus, domains, units, count, spines, cross, each),
        False,
    )


def draw_graph(rng: Random) -> tuple[str, ReferenceNetwork, bool]:
    """Draw a connected graph with switches, link speeds and one listed route."""
    nodes, switches = rng.randint(2, 7), rng.randint(0, 4)
    forward = switches == 0 or rng.random() < 0.6
    usual = LinkSpeed(2e9, 1e-6)
    links: dict[tuple[int, int], LinkSpeed] = {}
    parts = []
    vertices = list(range(nodes + switches))
    backbone = vertices if forward else vertices[nodes:]
    pairs = [(v, rng.choice(backbone[:at])) for at, v in enumerate(backbone) if at]
    pairs += [] if forward else [(node, rng.choice(backbone)) for node in range(nodes)]
    pairs += [(rng.choice(vertices), rng.choice(vertices)) for _ in vertices]
    for u, v in pairs:
        if u == v or (u, v) in links or (v, u) in links:
            continue
        speed = rng.choice((usual, LinkSpeed(5e9, 1e-6)))
        links[u, v] = links[v, u] = speed
        parts.append(f"{u}-{v}" + ("@5GB/s" if speed != usual else ""))
    text = f"graph:{nodes}+{switches}:{','.join(parts)}"
    text += ",bandwidth=2GB/s,latency=1us" + ("" if forward else ",forward=no")
    given = {}
    if forward and rng.random() < 0.5:
        walk = [rng.randrange(nodes)]
        for _ in range(rng.randint(1, 4)):
            onward = [v for u, v in links if u == walk[-1] and v not in walk]
            if not onward:
                break
            walk.append(rng.choice(onward))
        if len(walk) > 1 and walk[-1] < nodes:
            given[walk[0], walk[-1]] = walk
            text += ",route=" + ">".join(map(str, walk))
    return text, make_listed_graph(nodes, links, given, forward), False


KINDS: dict[str, Callable[[Random], tuple[str, ReferenceNetwork, bool]]] = {
    "torus": draw_torus,
    "twisted": draw_twisted_torus,
    "hyperx": draw_hyperx,
    "ring": draw_ring_bus,
    "levels": draw_tree,
    "dragonfly": draw_dragonfly,
    "rails": draw_rail_cluster,
    "graph": draw_graph,
}


def draw_machine(
    rng: Random, kind: str, failures: bool = False, most: int = 72
) -> RandomMachine:
    """Draw a machine of a kind and its reference model, possibly with failures."""
    text, network, hosted = KINDS[kind](rng)
    while len(network.vertex) > most:
        text, network, hosted = KINDS[kind](rng)
    if not failures:
        return RandomMachine(Machine(text), network)
    order = list_wires(Machine(text))
    down, parts = draw_failures(rng, network)
    network = apply_failures(network, down, order, hosted)
    if not parts or len(network.down) == len(network.vertex):
        return draw_machine(rng, kind, failures, most)
    return RandomMachine(Machine(f"{text}+down:{','.join(parts)}"), network)


def draw_failures(rng: Random, network: ReferenceNetwork) -> tuple[Failures, list[str]]:
    """Mark a few nodes, vertices and links as failed."""
    nodes, vertices, links, parts = set(), set(), set(), []
    pairs = sorted({(u, v) for u, v, _ in network.speed})
    for _ in range(rng.randint(1, 3)):
        what = rng.choice(("node", "vertex", "link", "link", "direction"))
        if what == "node":
            nodes.add(rng.randrange(len(network.vertex)))
        elif what == "vertex" and pairs:
            vertices.add(rng.choice(pairs)[0])
        elif pairs:
            u, v = rng.choice(pairs)
            links.add((u, v))
            if what == "link" and (v, u) in pairs:
                links.add((v, u))
                parts.append(f"{u}-{v}")
            else:
                parts.append(f"{u}>{v}")
    parts += [str(node) for node in nodes] + [f"v{vertex}" for vertex in vertices]
    down = Failures(frozenset(nodes), frozenset(vertices), frozenset(links))
    return down, parts
