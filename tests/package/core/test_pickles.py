# SPDX-License-Identifier: BSD-3-Clause
"""Graphs, machines, allocations, placements and results are values.

Objects with equal content are equal, and so are their pickles and copies.
"""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import random
from collections.abc import Callable
from typing import Any

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
    place,
)
from topoloom._core import topologies
from topoloom.graphs import ring
from topoloom.machines.machine_names import zoo_names
from topoloom.support.pickled import FORM, restore

WAYS: list[Callable[[Any], Any]] = [
    copy.copy,
    copy.deepcopy,
    *(
        lambda value, protocol=protocol: pickle.loads(pickle.dumps(value, protocol))
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1)
    ),
]
LINKS = Machine.from_links([(0, 2), (1, 2), (3, 2)], [1e9, 2e9, 1e9 / 3], 1e-7, nodes=2)


def draw_graph(rng: random.Random) -> CommGraph:
    """Draw a graph, with or without loads, self-messages and edges of 0 bytes."""
    ranks, edges = rng.randint(1, 9), rng.randrange(20)
    ends = [[rng.randrange(ranks) for _ in range(edges)] for _ in "12"]
    sizes = [rng.choice((0, 1, 999, 2**40)) for _ in range(edges)]
    messages = rng.choice((None, [rng.randrange(4) for _ in sizes]))
    load = rng.choice((None, [rng.random() for _ in range(ranks)]))
    return CommGraph.from_edges(ranks, *ends, sizes, messages, load)


def make_random_objects() -> list[Any]:
    rng = random.Random(5)
    objects: list[Any] = [draw_graph(rng) for _ in range(12)]
    objects += [CommGraph.from_edges(0, [], [], []), LINKS]
    for text in MACHINES:
        machine = Machine(text, ["a remark of its reader"])
        nodes = [int(machine.nodes_up[-1])]
        allocation = Allocation(machine, nodes)
        slots = allocation.slots.tolist()
        some = Allocation(machine, nodes, slots[-1:])
        shared = Placement(allocation, slots * 2, shared=True)
        objects += [machine, allocation, some, shared]
        objects.append(Placement(allocation, rng.sample(slots, len(slots))))
    return objects


OBJECTS = make_random_objects()


@pytest.mark.parametrize("copy_object", WAYS)
def test_copies_are_equal_and_other_objects_are_not(
    copy_object: Callable[[Any], Any],
) -> None:
    for one in OBJECTS:
        again = copy_object(one)
        assert again == one
        assert not again != one  # noqa: SIM202
        assert hash(again) == hash(one)
        assert repr(again) == repr(one)
        assert type(again) is type(one)
        assert one != repr(one)
        assert one != None  # noqa: E711


def test_objects_are_equal_only_if_their_contents_are_equal() -> None:
    def get_content(one: Any) -> Any:
        if isinstance(one, CommGraph):
            names = ("first", "peer", "bytes", "messages", "load", "self_bytes")
            return [getattr(one, name).tolist() for name in (*names, "self_messages")]
        if isinstance(one, Machine):
            return one.text
        if isinstance(one, Allocation):
            return one.machine.text, one.nodes.tolist(), one.slots.tolist()
        return one.slots.tolist(), one.shared, pickle.dumps(one)

    for a in OBJECTS:
        for b in OBJECTS:
            assert (a == b) == (type(a) is type(b) and get_content(a) == get_content(b))


def test_equal_graphs_from_different_sources_compare_equal() -> None:
    rng = random.Random(1)
    for _ in range(20):
        graph = draw_graph(rng)
        source = np.repeat(
            np.arange(graph.rank_count), np.diff(graph.first.astype(int))
        )
        own = np.arange(graph.rank_count)
        order = rng.sample(range(graph.edge_count), graph.edge_count)
        again = CommGraph.from_edges(
            graph.rank_count,
            np.append(source[order], own),
            np.append(graph.peer[order], own),
            np.append(graph.bytes[order], graph.self_bytes),
            np.append(graph.messages[order], graph.self_messages),
            graph.load,
        )
        assert again == graph
        assert hash(again) == hash(graph)


EXAMPLES = [str(kind["example"]) for kind in topologies()]


@pytest.mark.parametrize("name", [*zoo_names(), *EXAMPLES])
def test_every_described_machine_survives_pickling(name: str) -> None:
    machine = load_machine(name)
    again = pickle.loads(pickle.dumps(machine))
    assert again == machine
    assert again.remarks == machine.remarks
    assert again.summary() == machine.summary()
    rng = random.Random(name)
    links = np.array([rng.randrange(machine.link_count) for _ in range(50)])
    pairs = [[rng.randrange(machine.node_count) for _ in links] for _ in "12"]
    for facts in ("link_ends", "bandwidth", "latency"):
        assert np.array_equal(
            getattr(again, facts)(links), getattr(machine, facts)(links)
        )
    assert np.array_equal(again.hops(*pairs), machine.hops(*pairs))


def test_unpickled_objects_can_be_used() -> None:
    machine = Machine("torus:4x4+down:3+node:2")
    allocation = Allocation(machine, [5, 1, 2])
    result = place(ring(6), allocation, "gge+swap")
    twin = pickle.loads(pickle.dumps(result))
    assert (twin.placement, twin.work) == (result.placement, result.work)
    assert (twin.proven, twin.optimal) == (result.proven, result.optimal)
    theirs = pickle.loads(pickle.dumps(allocation))
    before = judge(ring(6), allocation, result.placement)
    for where in (allocation, theirs):
        after = judge(ring(6), where, twin.placement)
        assert after.hop_bytes == before.hop_bytes
        assert np.array_equal(after.loads, before.loads)
    with pytest.raises(Error, match="made for another machine"):
        judge(ring(6), Allocation.whole(Machine("ring:32")), twin.placement)
    with pytest.raises(Error, match="is not part of this one"):
        judge(ring(6), Allocation(machine, [8, 9, 10]), twin.placement)


def test_pickled_placements_contain_the_machine_text_once() -> None:
    ends = [(v, v + 1) for v in range(500)]
    allocation = Allocation.whole(Machine.from_links(ends, 1e9))
    slots = allocation.slots[:2]
    one = len(pickle.dumps([Placement(allocation, slots)]))
    many = len(pickle.dumps([Placement(allocation, slots) for _ in range(20)]))
    assert many < 3 * one


def compute_hop_bytes(allocation: Allocation, placement: Placement) -> int:
    return judge(ring(4), allocation, placement).hop_bytes


def test_objects_can_be_sent_to_other_processes() -> None:
    allocation = Allocation.whole(Machine("torus:4x4"))
    jobs = [(allocation, Placement(allocation, range(at, at + 4))) for at in range(4)]
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.starmap(compute_hop_bytes, jobs) == [
            compute_hop_bytes(*job) for job in jobs
        ]


def test_a_pickle_of_another_version_is_refused_in_one_line() -> None:
    for call in (
        lambda: restore("Machine", FORM + 1, "torus:4x4", {}),
        lambda: restore("Machine", FORM, "moebius:17", []),
        lambda: restore("Judgement", FORM),
        lambda: restore("Placement", FORM, "torus:4x4", [1, 1], False),
    ):
        with pytest.raises(Error) as raised:
            call()
        assert "\n" not in str(raised.value)


def test_long_machines_have_short_reprs() -> None:
    machine = Machine.from_links([(v, v + 1) for v in range(500)], 1e9)
    assert len(repr(machine)) < 200
    assert len(repr(Allocation.whole(machine))) < 200
    assert repr(ring(4)) == "CommGraph(4 ranks, 4 edges, 4 bytes)"
    assert repr(Machine("torus:4x4")) == "Machine('torus:4x4')"
