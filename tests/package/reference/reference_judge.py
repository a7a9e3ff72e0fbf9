# SPDX-License-Identifier: BSD-3-Clause
"""Reference implementation of slot distances and of all placement measures."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

from networks import ReferenceNetwork, Route, Wire
from trees import get_distance

#: Source, target, bytes and number of messages.
Message = tuple[int, int, int, int]


class NodeModel(NamedTuple):
    """Node levels bottom-up, with distances; the weight of a hop; port costs."""

    levels: Sequence[int] = (1,)
    distances: Sequence[int] = (0,)
    weight: int = 1
    port: Sequence[int] = (0,)

    @property
    def slots(self) -> int:
        """Return the number of slots of a node."""
        count = 1
        for arity in self.levels:
            count *= arity
        return count


def compute_default_weight(network: ReferenceNetwork, distances: Sequence[int]) -> int:
    """Choose the hop weight so that the nearest node is twice as far as any slot."""
    nodes = range(len(network.vertex))
    nearest = min(
        (network.distance(a, b) for a in nodes for b in nodes if a != b), default=0
    )
    return max(1, -(-2 * max(distances) // nearest)) if nearest else 1


def compute_slot_distance(
    network: ReferenceNetwork, inside: NodeModel, a: int, b: int
) -> int:
    """Return the distance of two slots."""
    count = inside.slots
    node_a, node_b = a // count, b // count
    if node_a == node_b:
        return get_distance(inside.levels, inside.distances, a % count, b % count)
    run = count // len(inside.port)
    ports = inside.port[a % count // run] + inside.port[b % count // run]
    return network.distance(node_a, node_b) * inside.weight + ports


class RouteShare(NamedTuple):
    """The share of traffic that uses minimal routes."""

    minimal: float

    def mix_routes(self, network: ReferenceNetwork, a: int, b: int) -> Route:
        """Combine minimal routes and detours by their shares."""
        route: Route = Counter()
        assert network.detours is not None
        for part, way in (
            (self.minimal, network.route),
            (1 - self.minimal, network.detours),
        ):
            for wire, share in way(a, b).items():
                route[wire] += part * share
        return route


def compute_link_loads(
    network: ReferenceNetwork,
    messages: list[Message],
    node: list[int],
    share: float | None,
) -> dict[Wire, dict[tuple[int, int], float]]:
    """Sum up the bytes of all messages on each link."""
    loads: defaultdict[Wire, Counter[tuple[int, int]]] = defaultdict(Counter)
    for source, target, size, _ in messages:
        a, b = node[source], node[target]
        if source == target or a == b:
            continue
        route = (
            network.route(a, b)
            if share is None
            else RouteShare(share).mix_routes(network, a, b)
        )
        for wire, part in route.items():
            loads[wire][source, target] += part * size
    return {wire: dict(pairs) for wire, pairs in loads.items()}


def compute_congestion(
    network: ReferenceNetwork, loads: dict[Wire, dict[tuple[int, int], float]]
) -> float:
    """Return the largest quotient of load and bandwidth."""
    return max(
        (
            sum(by.values()) / network.speed[wire].bandwidth
            for wire, by in loads.items()
        ),
        default=0.0,
    )


def judge_by_definition(
    network: ReferenceNetwork,
    inside: NodeModel,
    messages: list[Message],
    slots: list[int],
    host: int,
    share: float | None,
) -> dict[str, Any]:
    """Compute each measure by its definition in docs/concepts.md.

    `host` is the number of nodes per host; inter-node bytes count between hosts.
    """
    node = [slot // inside.slots for slot in slots]
    sent = [message for message in messages if message[0] != message[1]]
    loads = compute_link_loads(network, sent, node, share)
    sums = {wire: sum(by.values()) for wire, by in loads.items()}
    hop_bytes, message_hops, longest = 0, 0, 0
    ends: dict[str, Counter[int]] = defaultdict(Counter)
    between: dict[str, Counter[int]] = defaultdict(Counter)
    for source, target, size, count in sent:
        a, b = node[source], node[target]
        hop_bytes += size * compute_slot_distance(
            network, inside, slots[source], slots[target]
        )
        if a == b:
            continue
        hops = network.hops(a, b)
        message_hops += hops * count
        if count > 0:
            longest = max(longest, hops)
        ends["bytes_out"][a] += size
        ends["bytes_in"][b] += size
        ends["messages_out"][a] += count
        ends["messages_in"][b] += count
        if a // host != b // host:
            between["out"][a // host] += size
            between["in"][b // host] += size
    all_bytes = sum(message[2] for message in sent)
    all_messages = sum(message[3] for message in sent)
    carrying = [load for load in sums.values() if load > 0]
    nodes = range(len(network.vertex))
    return {
        "hop_bytes": hop_bytes,
        "hops_per_byte": hop_bytes / all_bytes if all_bytes else 0,
        "dilation_average": message_hops / all_messages if all_messages else 0,
        "dilation_max": longest,
        "traffic_average": sum(carrying) / len(carrying) if carrying else 0,
        "congestion_max": compute_congestion(network, loads),
        "inter_node_bytes": between["out"].total(),
        "inter_node_max": max(
            [*between["out"].values(), *between["in"].values()], default=0
        ),
        "node_bytes_out": [ends["bytes_out"][n] for n in nodes],
        "node_bytes_in": [ends["bytes_in"][n] for n in nodes],
        "node_messages_out": [ends["messages_out"][n] for n in nodes],
        "node_messages_in": [ends["messages_in"][n] for n in nodes],
    }
