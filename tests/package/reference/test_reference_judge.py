# SPDX-License-Identifier: BSD-3-Clause
"""Measures of random placements equal those of a reference implementation."""

from __future__ import annotations

import re
from collections import Counter
from random import Random
from typing import NamedTuple

import pytest
from random_machines import KINDS, RandomMachine, draw_machine, list_wires
from reference_judge import (
    Message,
    NodeModel,
    compute_congestion,
    compute_default_weight,
    compute_link_loads,
    compute_slot_distance,
    judge_by_definition,
)

from topoloom import Allocation, CommGraph, Judgement, Machine, Placement, judge

CASES = 12
RANKS = 14


class JudgedCase(NamedTuple):
    """A random placement of a random graph on a part of a random machine."""

    drawn: RandomMachine
    inside: NodeModel
    messages: list[Message]
    loads: list[float]
    allocation: Allocation
    placement: Placement

    def judge(self) -> Judgement:
        """Judge the placement; list all loaded links."""
        graph = make_graph(len(self.loads), self.messages, self.loads)
        return judge(graph, self.allocation, self.placement, hottest=1000)


def make_graph(ranks: int, messages: list[Message], loads: list[float]) -> CommGraph:
    columns = list(zip(*messages, strict=True)) or [[], [], [], []]
    return CommGraph.from_edges(ranks, *map(list, columns), load=loads)


def draw_node_model(
    rng: Random, drawn: RandomMachine, whole: bool
) -> tuple[RandomMachine, NodeModel]:
    levels = [rng.randint(1, 3) for _ in range(rng.randint(1, 2))]
    text = f"{drawn.machine.text}+node:{':'.join(map(str, levels))}"
    if rng.random() < 0.4:
        inside = NodeModel(levels, [0] * len(levels))
    else:
        distances = sorted(rng.randint(0, 9) for _ in levels)
        count = NodeModel(levels).slots
        port = [rng.randint(0, 5) for _ in range(rng.choice((1, count)))]
        text += f",port={':'.join(map(str, port))}"
        listed = list(distances)
        if whole and rng.random() < 0.5:
            weight = compute_default_weight(drawn.network, distances)
        else:
            weight = rng.randint(1, 6)
            listed.append(weight)
        text += f",distance={':'.join(map(str, listed))}"
        inside = NodeModel(levels, distances, weight, port)
    return RandomMachine(Machine(text), drawn.network), inside


def draw_messages(rng: Random, ranks: int) -> list[Message]:
    """Draw messages, including self-messages, empty ones and zero counts."""
    pairs = {(rng.randrange(ranks), rng.randrange(ranks)) for _ in range(3 * ranks)}
    return [
        (a, b, rng.choice((0, rng.randrange(1 << 20))), rng.randrange(4))
        for a, b in sorted(pairs)
    ]


def draw_case(rng: Random, kind: str) -> JudgedCase:
    failures = rng.random() < 0.4
    drawn = draw_machine(rng, kind, failures)
    drawn, inside = draw_node_model(rng, drawn, not failures)
    machine, network = drawn
    first = rng.choice(sorted(set(range(len(network.vertex))) - network.down))
    joined = [first]
    for node in set(range(len(network.vertex))) - {first}:
        if all(
            network.connected(a, b)
            for one in joined
            for a, b in ((one, node), (node, one))
        ):
            joined.append(node)
    nodes = rng.sample(joined, rng.randint(1, len(joined)))
    allocation = Allocation(machine, nodes)
    slots = allocation.slots.tolist()
    shared = rng.random() < 0.4
    if shared:
        ranks = rng.randint(1, RANKS)
        chosen = [rng.choice(slots) for _ in range(ranks)]
    else:
        chosen = rng.sample(slots, rng.randint(1, min(RANKS, len(slots))))
    loads = [rng.choice((0.5, 1.0, 3.0)) for _ in chosen]
    return JudgedCase(
        drawn,
        inside,
        draw_messages(rng, len(chosen)),
        loads,
        allocation,
        Placement(allocation, chosen, shared=shared),
    )


def get_nodes_per_host(kind: str, machine: Machine) -> int:
    """Return the nodes per host: the number in the text, or the GPUs of a domain."""
    if kind != "rails":
        return 1
    match = re.search(r",host=([0-9]+)", machine.text)
    return int(match[1] if match else machine.text.split(":")[1])


@pytest.mark.parametrize("kind", KINDS)
def test_every_measure_equals_its_definition(kind: str) -> None:
    rng = Random(3)
    for _ in range(CASES):
        case = draw_case(rng, kind)
        machine, network = case.drawn
        slots = case.placement.slots.tolist()
        judged = case.judge()
        adapts = network.detours is not None
        assert (judged.minimal_share is not None) == adapts, machine.text
        share = judged.minimal_share
        host = get_nodes_per_host(kind, machine)
        slow = judge_by_definition(
            network, case.inside, case.messages, slots, host, share
        )
        for name, value in slow.items():
            shown = getattr(judged, name)
            shown = shown.tolist() if hasattr(shown, "tolist") else shown
            assert shown == pytest.approx(value, rel=1e-9), (machine.text, name)
        on_slot: Counter[int] = Counter()
        for slot, load in zip(slots, case.loads, strict=True):
            on_slot[slot] += load
        assert judged.load_max == max(on_slot.values()), machine.text


@pytest.mark.parametrize("kind", KINDS)
def test_link_loads_and_their_contributors_equal_their_definition(kind: str) -> None:
    rng = Random(4)
    for _ in range(CASES):
        case = draw_case(rng, kind)
        machine, network = case.drawn
        node = [slot // case.inside.slots for slot in case.placement.slots.tolist()]
        judged = case.judge()
        share = judged.minimal_share
        loads = compute_link_loads(network, case.messages, node, share)
        wires = list_wires(machine)
        sums = [sum(loads.get(wire, {}).values()) for wire in wires]
        assert judged.loads.tolist() == pytest.approx(sums), machine.text
        wire_of = {machine.link_name(link): wire for link, wire in enumerate(wires)}
        assert len(judged.hottest) == sum(load > 0 for load in sums)
        seconds = [one[2] for one in judged.hottest]
        assert seconds == sorted(seconds, reverse=True)
        for name, size, time, pairs in judged.hottest:
            wire = wire_of[name]
            by_pair = loads[wire]
            assert size == pytest.approx(sum(by_pair.values()))
            assert time == pytest.approx(size / network.speed[wire].bandwidth)
            shown = [part for _, _, part in pairs]
            largest = sorted(by_pair.values(), reverse=True)[: len(shown)]
            assert shown == pytest.approx(largest), machine.text
            for source, target, part in pairs:
                assert part == pytest.approx(by_pair[source, target])


@pytest.mark.parametrize("kind", KINDS)
def test_distances_between_slots_follow_levels_ports_and_routes(
    kind: str,
) -> None:
    rng = Random(5)
    for _ in range(CASES):
        case = draw_case(rng, kind)
        slots = case.allocation.slots.tolist()
        for _ in range(60):
            a, b = rng.choice(slots), rng.choice(slots)
            expected = compute_slot_distance(case.drawn.network, case.inside, a, b)
            assert case.drawn.machine.distance(a, b) == expected, (
                f"{case.drawn.machine.text}, from slot {a} to {b}"
            )


def test_the_chosen_share_of_minimal_routes_minimizes_congestion() -> None:
    rng = Random(6)
    seen = 0
    while seen < CASES:
        case = draw_case(rng, "dragonfly")
        network = case.drawn.network
        if network.detours is None:
            continue
        seen += 1
        judged = case.judge()
        node = [slot // case.inside.slots for slot in case.placement.slots.tolist()]
        for share in [part / 20 for part in range(21)]:
            loads = compute_link_loads(network, case.messages, node, share)
            least = compute_congestion(network, loads)
            assert judged.congestion_max <= least * (1 + 1e-9), case.drawn.machine.text
