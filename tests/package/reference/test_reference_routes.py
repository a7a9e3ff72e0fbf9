# SPDX-License-Identifier: BSD-3-Clause
"""Routes of random machines equal their reference models."""

from __future__ import annotations

from collections import Counter
from itertools import product
from random import Random

import pytest
from random_machines import KINDS, RandomMachine, draw_machine

from topoloom import Error

MACHINES = 25
PAIRS = 150


def draw_pairs(rng: Random, drawn: RandomMachine) -> list[tuple[int, int]]:
    nodes = range(len(drawn.network.vertex))
    every = list(product(nodes, nodes))
    return rng.sample(every, min(PAIRS, len(every)))


@pytest.mark.parametrize("kind", KINDS)
def test_links_of_random_machines_equal_the_reference_model(kind: str) -> None:
    rng = Random(1)
    for _ in range(MACHINES):
        machine, network = draw_machine(rng, kind)
        wires = RandomMachine(machine, network).wires
        assert set(wires) == network.speed.keys(), machine.text
        for link, wire in enumerate(wires):
            bandwidth, latency = network.speed[wire]
            assert machine.bandwidth(link) == pytest.approx(bandwidth), machine.text
            assert machine.latency(link) == pytest.approx(latency), machine.text


@pytest.mark.parametrize("failures", [False, True], ids=["whole", "failures"])
@pytest.mark.parametrize("kind", KINDS)
def test_routes_of_random_machines_equal_the_reference_model(
    kind: str, failures: bool
) -> None:
    rng = Random(2)
    for _ in range(MACHINES):
        drawn = draw_machine(rng, kind, failures)
        machine, network = drawn.machine, drawn.network
        wires = drawn.wires
        up = set(range(len(network.vertex))) - network.down
        assert set(machine.nodes_up.tolist()) == up, machine.text
        for a, b in draw_pairs(rng, drawn):
            case = f"{machine.text}, from {a} to {b}"
            connected = network.connected(a, b)
            assert machine.connected(a, b) == connected, case
            if not connected:
                with pytest.raises(Error):
                    machine.route(a, b)
                continue
            route: Counter[tuple[int, int, int]] = Counter()
            for link, share in machine.route(a, b):
                route[wires[link]] += share
            expected = network.route(a, b)
            assert route == pytest.approx(expected), case
            assert machine.hops(a, b) == network.hops(a, b), case
