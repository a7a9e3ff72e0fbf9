# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of a machine equal its values for single links and pairs."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import numpy as np
import pytest
from random_scalars import MACHINES

from topoloom import (
    Allocation,
    CommGraph,
    Error,
    Machine,
    Placement,
    judge,
    load_machine,
)
from topoloom._core import topologies
from topoloom.machines import save_machine

MORE = (
    "hyperx:3x3,nodes=2",
    "dragonfly:3x2,nodes=2",
    "dragonfly:3x2,nodes=2,routing=valiant",
    "fattree:2:2:2",
    "tree:3:2,distance=1:10",
    "torus:3x3,cards=2,bandwidth=1GB/s,bandwidth.host=5GB/s,latency=1us",
    "graph:3+1:0-3@2GB/s@1us,1-3@1GB/s,2-3@1GB/s@3ns,route=0>3>1",
)
KINDS = [str(kind["example"]) for kind in topologies()]
SMALL = [text for text in KINDS if Machine(text).slot_count <= 100]


@pytest.fixture(params=sorted({*MACHINES, *MORE, *SMALL}))
def machine(request: pytest.FixtureRequest) -> Machine:
    """Return each kind of machine, with and without failures."""
    return Machine(request.param)


def find_connected_nodes(machine: Machine) -> np.ndarray:
    """Return the largest connected set of working nodes."""
    up = machine.nodes_up
    both = [
        np.array([v for v in up if machine.connected(u, v) and machine.connected(v, u)])
        for u in up
    ]
    return max(both, key=len)


def test_arrays_of_links_equal_the_links_one_by_one(machine: Machine) -> None:
    links = range(machine.link_count)
    ends, bandwidth = machine.link_ends(), machine.bandwidth()
    assert ends.shape == (machine.link_count, 2)
    assert ends.tolist() == [list(machine.link_ends(link)) for link in links]
    assert bandwidth.tolist() == [machine.bandwidth(link) for link in links]
    assert machine.latency().tolist() == [machine.latency(link) for link in links]
    assert (ends.max(initial=0)) < machine.vertex_count
    for link in machine.links_up[:3]:  # of NumPy
        assert machine.bandwidth(link) == bandwidth[link]
        assert tuple(machine.link_ends(link)) == tuple(ends[link])
    some = machine.links_up[::2]
    assert np.array_equal(machine.bandwidth(some), bandwidth[some])
    assert np.array_equal(machine.link_ends(some), ends[some])
    assert set(machine.links_up.tolist()) <= set(links)


def test_matrices_equal_hops_and_distances_pair_by_pair(machine: Machine) -> None:
    nodes = find_connected_nodes(machine)
    pairs = np.repeat(nodes, len(nodes)), np.tile(nodes, len(nodes))
    square = (len(nodes), len(nodes))
    assert np.array_equal(
        machine.hop_matrix(nodes), machine.hops(*pairs).reshape(square)
    )
    width = machine.slots_per_node
    slots = (nodes[:, None] * width + np.arange(width)).ravel()[::-1]
    pairs = np.repeat(slots, len(slots)), np.tile(slots, len(slots))
    square = (len(slots), len(slots))
    assert np.array_equal(
        machine.distance_matrix(slots), machine.distance(*pairs).reshape(square)
    )
    if len(nodes) == machine.node_count:
        assert np.array_equal(machine.hop_matrix(), machine.hop_matrix(nodes))
    else:
        with pytest.raises(Error, match=r"is down; give nodes that|disconnect the mat"):
            machine.hop_matrix()


def test_rows_of_the_route_matrix_are_routes(machine: Machine) -> None:
    nodes = find_connected_nodes(machine)
    sources, targets = np.repeat(nodes, len(nodes)), np.tile(nodes, len(nodes))
    routes = machine.route_matrix(sources, targets)
    assert routes.shape == (len(sources), machine.link_count)
    assert routes.has_canonical_format
    for row, (source, target) in enumerate(zip(sources, targets, strict=True)):
        shares = np.zeros(machine.link_count)
        for link, share in machine.route(source, target):
            shares[link] += share
        assert np.allclose(routes[[row]].toarray()[0], shares)
    if "valiant" in machine.text:
        assert (routes.sum(axis=1) >= machine.hops(sources, targets) - 1e-9).all()
    else:
        assert np.allclose(routes.sum(axis=1), machine.hops(sources, targets))


def test_loads_are_bytes_on_the_rows_of_the_route_matrix(machine: Machine) -> None:
    allocation = Allocation(machine, find_connected_nodes(machine))
    rng = random.Random(machine.text)
    slots = rng.sample(allocation.slots.tolist(), allocation.slot_count)
    ranks = len(slots)
    edges = [[rng.randrange(ranks) for _ in range(40)] for _ in "12"]
    graph = CommGraph.from_edges(ranks, *edges, [rng.randrange(999) for _ in edges[0]])
    placement = Placement(allocation, slots)
    judgement = judge(graph, allocation, placement)
    if judgement.minimal_share is not None:
        return
    node = placement.slots // machine.slots_per_node
    source = np.repeat(node, np.diff(graph.first.astype(int)))
    loads = machine.route_matrix(source, node[graph.peer]).T @ graph.bytes
    assert np.allclose(loads, judgement.loads)


def test_a_machine_rebuilt_from_its_links_has_the_same_wiring(machine: Machine) -> None:
    nodes, ends = machine.node_count, machine.link_ends()
    if machine.has_failures or len(ends) == 0 or machine.vertex_count != ends.max() + 1:
        return
    numbered = "graph" in machine.text or "mesh" in machine.text
    pairs = set(map(tuple, ends.tolist()))
    if len(pairs) < len(ends) or not numbered:  # parallel links or host links
        return
    again = Machine.from_links(
        ends, machine.bandwidth(), machine.latency(), nodes=nodes, directed=True
    )
    order = np.lexsort(ends.T[::-1])
    assert np.array_equal(again.link_ends(), ends[order])
    assert np.array_equal(again.bandwidth(), machine.bandwidth()[order])
    assert np.array_equal(again.latency(), machine.latency()[order])


def draw_links(rng: random.Random) -> tuple[int, list[tuple[int, int]]]:
    """Draw a spanning tree and additional links."""
    count = rng.randint(2, 12)
    links = {(rng.randrange(v), v) for v in range(1, count)}
    for _ in range(rng.randrange(count)):
        a, b = sorted(rng.sample(range(count), 2))
        links.add((a, b))
    return count, sorted(links, key=lambda _: rng.random())


@pytest.mark.parametrize("seed", range(30))
def test_a_machine_from_links_is_restored_exactly_from_its_text(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rng = random.Random(seed)
    count, links = draw_links(rng)
    bandwidth = [rng.choice((1e9, 25e9, 1e5 / 3 * 7, 12.5e9, 3e14)) for _ in links]
    latency = [rng.choice((0, 1e-6, 1e-9 / 3, 2.5e-7)) for _ in links]
    machine = Machine.from_links(links, bandwidth, latency)
    assert machine.node_count == count
    assert machine.link_count == 2 * len(links)
    given = dict(zip(links, zip(bandwidth, latency, strict=True), strict=True))
    for (a, b), speed, delay in zip(
        machine.link_ends().tolist(),
        machine.bandwidth(),
        machine.latency(),
        strict=True,
    ):
        assert given[min(a, b), max(a, b)] == (speed, delay)
    again = Machine(machine.text)
    assert again == machine
    save_machine("links.toml", machine)
    assert load_machine("links.toml") == machine
    for facts in ("link_ends", "bandwidth", "latency", "hop_matrix"):
        assert np.array_equal(getattr(again, facts)(), getattr(machine, facts)())
    shuffled = rng.sample(range(len(links)), len(links))
    flipped = [links[i][:: rng.choice((1, -1))] for i in shuffled]
    same = Machine.from_links(
        flipped, [bandwidth[i] for i in shuffled], [latency[i] for i in shuffled]
    )
    assert same == machine
    assert hash(same) == hash(machine)


def test_links_in_files_have_a_bandwidth_and_a_latency(tmp_path: Path) -> None:
    path = tmp_path / "m.toml"
    path.write_text(
        'format = "topoloom-machine"\nversion = 1\n[topology]\nkind = "graph"\n'
        'nodes = 2\nlinks = [[0, 1, "2 GB/s", "3 us"]]\n'
    )
    machine = load_machine(path)
    assert (machine.bandwidth(0), machine.latency(0)) == (2e9, 3e-6)


def test_machines_from_links_support_directed_links_and_given_routes() -> None:
    ring = [(0, 1), (1, 2), (2, 3), (3, 0)]
    machine = Machine.from_links(ring, 1e9, 1e-6, directed=True)
    assert machine.hop_matrix()[1].tolist() == [3, 0, 1, 2]
    star = [(0, 3), (1, 3), (2, 3), (0, 4), (1, 4)]
    machine = Machine.from_links(star, 1.0, nodes=3, routes=[[0, 4, 1]])
    assert machine.text == "graph:3+2:0-3,0-4,1-3,1-4,2-3,route=0>4>1"
    ends = machine.link_ends()
    assert [ends[link].tolist() for link, _ in machine.route(0, 1)] == [[0, 4], [4, 1]]


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (lambda: Machine.from_links([(0, 1), (1, 0)], 1), "given twice.*directed=True"),
        (lambda: Machine.from_links([(0, 0)], 1), "joins a vertex to itself"),
        (lambda: Machine.from_links([(0, 1)], [1, 2]), "bandwidth has 2 entries for 1"),
        (lambda: Machine.from_links([(0, 1)], -1), "must be positive and finite"),
        (lambda: Machine.from_links([(0, 1)], np.nan), "bandwidth is nan"),
        (lambda: Machine.from_links([(0, 1)], 1, [-1]), r"latency\[0\] is -1"),
        (
            lambda: Machine.from_links([(0, 1.5)], 1),
            r"links\[0, 1\] is 1.5, not an int",
        ),
        (lambda: Machine.from_links([(0, 1, 2)], 1), "rows of 3; give pairs"),
        (lambda: Machine.from_links([(0, 1), (2, 3)], 1), "disconnected"),
        (lambda: Machine.from_links([(0, 2**32 - 1)], 1), "number them from 0"),
        (lambda: Machine.from_links([(0, 1)], 1, nodes=0), "at least one node"),
        (
            lambda: Machine.from_links([(0, 1)], 1, routes=[[0, 7]]),
            "a route lists the vertices from one node",
        ),
        (lambda: Machine("torus:1000x1000").hop_matrix(), "takes 4000 GB, more than"),
        (lambda: Machine("ring:4").hop_matrix([4]), "node 4 does not exist"),
        (lambda: Machine("ring:4").distance_matrix([9]), "slot 9 does not exist"),
        (lambda: Machine("ring:4").route_matrix([0], [1, 2]), "1 source nodes"),
        (lambda: Machine("ring:4").bandwidth([99]), "link 99 does not exist"),
        (
            lambda: Machine("mesh:3+down:0-1").route_matrix([0], [2]),
            "no route from node 0 to node 2",
        ),
    ],
)
def test_errors_of_machine_arrays_are_one_line(call: object, line: str) -> None:
    with pytest.raises(Error, match=line) as raised:
        call()  # type: ignore[operator]
    assert "\n" not in str(raised.value)


def test_without_scipy_the_error_names_the_package(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "scipy.sparse", None)
    with pytest.raises(Error, match=r"route_matrix\(\) requires scipy; .*: pip"):
        Machine("ring:4").route_matrix([0], [1])
