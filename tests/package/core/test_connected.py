# SPDX-License-Identifier: BSD-3-Clause
"""Nodes disconnected by failures have no hops, distances or routes."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from topoloom import Error, Machine
from topoloom.machines import Wiring
from topoloom.schedules import (
    Step,
    find_free_order,
    meetings_on_routes,
    spanning_trees,
)

MACHINES = [
    "torus:4x4",
    "torus:4x4+down:0",
    "mesh:3+down:0-1",
    "mesh:3+down:0>1",
    "mesh:5+down:2",
    "mesh:3x3+down:4,0-1",
    "fattree:2:2:2+down:0",
    "tree:3:2+down:1,4",
    "dragonfly:3x2,nodes=2+down:v0",
    "graph:4+1:0-4,1-4,2-4,3-4+down:0-4",
    "hyperx:3x3,nodes=2+down:v2",
]


def find_reachable_nodes(machine: Machine) -> np.ndarray:
    """Return the nodes that each node reaches over working links."""
    wiring = Wiring(machine)
    up = set(machine.nodes_up.tolist())
    answer = np.zeros((machine.node_count, machine.node_count), bool)
    vertices = wiring.vertex
    for node in up:
        seen, ends = {int(vertices[node])}, [int(vertices[node])]
        while ends:
            at = ends.pop()
            for to in wiring.link_to[wiring.link_from == at]:
                if int(to) not in seen:
                    seen.add(int(to))
                    ends.append(int(to))
        for other in up:
            answer[node, other] = int(vertices[other]) in seen
    return answer


@pytest.mark.parametrize("text", MACHINES)
def test_nodes_are_connected_by_links_that_are_up(text: str) -> None:
    machine = Machine(text)
    nodes = np.arange(machine.node_count)
    pairs = np.array(list(product(nodes, nodes)))
    found = machine.connected(pairs[:, 0], pairs[:, 1])
    assert found.dtype == bool
    assert np.array_equal(found.reshape(len(nodes), -1), find_reachable_nodes(machine))


@pytest.mark.parametrize("text", MACHINES)
def test_only_connected_nodes_have_hops_and_routes(text: str) -> None:
    machine = Machine(text)
    for a, b in product(range(machine.node_count), repeat=2):
        if machine.connected(a, b):
            assert machine.hops(a, b) < 100
            assert machine.distance(a, b) < 100
            assert bool(machine.route(a, b)) == (machine.hops(a, b) > 0)
            continue
        for ask in (machine.hops, machine.distance, machine.route):
            with pytest.raises(Error, match=r"is down$|^failures leave no route"):
                ask(a, b)
        with pytest.raises(Error, match=r"is down$|^failures leave no route"):
            meetings_on_routes(machine, Step([(0, 1)]), [a, b])
        with pytest.raises(Error, match=r"is down$|^failures leave no route"):
            spanning_trees(machine, "routes", [(a, [b])])
        if a != b:
            with pytest.raises(Error, match=r"down$|^failures disconnect the order"):
                find_free_order(machine, [a, b], [Step([(0, 1)])], on_routes=True)


@pytest.mark.parametrize("text", MACHINES)
def test_arrays_of_nodes_give_one_result_per_pair(text: str) -> None:
    machine = Machine(text)
    up = machine.nodes_up
    assert [int(n) for n in up] == [
        n for n in range(machine.node_count) if machine.connected(n, n)
    ]
    near = up[machine.connected(up[0], up)]
    for ask in (machine.hops, machine.distance):
        assert ask(np.full(len(near), up[0]), near).tolist() == [
            ask(int(up[0]), int(node)) for node in near
        ]
        assert ask([], []).size == 0
        with pytest.raises(Error, match="give equally many"):
            ask([0, 1], [0, 1, 2])
