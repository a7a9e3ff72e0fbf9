# SPDX-License-Identifier: BSD-3-Clause
"""Threads on the elements of Cell processors, as counted in Sudheer 2012, ch. 4."""

from __future__ import annotations

import numpy as np
import pytest

from topoloom import Allocation, CommGraph, Error, Machine, load_machine, place
from topoloom._core import (
    BusAffinities,
    bus_rates,
    bus_stations,
    named_affinities,
    rank_bipartitions,
    rank_bus_affinities,
)
from topoloom.graphs import Request, ring
from topoloom.graphs.patterns import make_graph
from topoloom.machines.machine_file import load_machine_and_hosts

#: Pattern -> how many of the 40,320 assignments are optimal.
OPTIMA = {
    "ring": 896,
    "rd1": 768,
    "rd2": 768,
    "rd3": 768,
    "bruck2": 1728,
    "binomial3": 4224,
}
CELL = Allocation.whole(load_machine("cell-eib"))


def make_pattern(name: str) -> CommGraph:
    return make_graph(name, Request(8, 1024))


def rank_affinities(graph: CommGraph) -> BusAffinities:
    return rank_bus_affinities(CELL, graph)


@pytest.mark.parametrize("name", OPTIMA)
def test_the_number_of_optimal_assignments_is_as_published(name: str) -> None:
    found = rank_affinities(make_pattern(name))
    scores, elements = np.asarray(found.scores), np.asarray(found.elements)
    assert scores.shape == (40320, 4)
    assert len(np.unique(elements, axis=0)) == 40320
    assert (np.sort(elements, axis=1) == np.arange(8)).all()
    assert scores.tolist() == sorted(scores.tolist())
    assert (scores == scores[0]).all(axis=1).sum() == found.optima == OPTIMA[name]
    peak, _, excess, half_way = scores[0]
    assert (peak, excess, half_way) == (2, 0, 0)  # one message per link


def test_scores_of_equal_sizes_do_not_depend_on_the_size() -> None:
    for name in OPTIMA:
        graphs = [make_graph(name, Request(8, size)) for size in (1, 1000, 2**40)]
        first, *others = map(rank_affinities, graphs)
        for other, size in zip(others, (1000, 2**40), strict=True):
            assert (np.asarray(other.scores) == np.asarray(first.scores)).all()
            assert other.unit == size


def test_loads_of_unequal_sizes_are_bytes_on_links() -> None:
    rng = np.random.default_rng(1)
    machine, stations = CELL.machine, bus_stations(CELL)
    for _ in range(5):
        source, target = np.divmod(rng.choice(64, 12, replace=False), 8)
        kept = source != target
        source, target = source[kept], target[kept]
        sizes = rng.integers(1, 5, len(source)) * 500
        found = rank_affinities(CommGraph.from_edges(8, source, target, sizes))
        for row in rng.integers(0, 40320, 10):
            at = np.array(stations)[np.asarray(found.elements)[row]]
            load = np.zeros(machine.link_count)
            for u, v, size in zip(source, target, sizes, strict=True):
                for link, share in machine.route(int(at[u]), int(at[v])):
                    load[link] += share * size
            peak, _, excess, _ = np.asarray(found.scores)[row] * found.unit / 2
            assert peak == load.max()
            assert excess == np.maximum(load - 2 * sizes.max(), 0).sum()


def test_elements_are_hosts_named_spe0_to_spe7() -> None:
    machine, hosts = load_machine_and_hosts("cell-eib")
    stations = bus_stations(CELL)
    assert [hosts[station] for station in stations] == [f"SPE{i}" for i in range(8)]
    # The order of the allocation has no effect.
    mixed = Allocation(machine, [7, 3, 1, 4, 8, 2, 10, 9])
    assert bus_stations(mixed) == stations
    assert bus_stations(Allocation(Machine("ring:8"), range(8))) == list(range(8))


def test_named_affinities_can_be_used_as_mappers() -> None:
    graph = make_pattern("ring")
    stations = np.array(bus_stations(CELL))
    for name, _, elements in named_affinities():
        found = place(graph, CELL, mapper=f"affinity(named={name})").placement
        assert found.slots.tolist() == stations[list(elements)].tolist()
    threads = [
        place(graph, CELL, mapper="affinity(named=random)", seed=seed).placement.slots
        for seed in (1, 1, 2)
    ]
    assert sorted(threads[0].tolist()) == sorted(stations.tolist())
    assert (threads[0] == threads[1]).all()
    assert (threads[0] != threads[2]).any()


def test_message_rates_depend_only_on_the_stations() -> None:
    machine = CELL.machine
    for source, target in ((0, 5), (3, 1), (2, 8)):
        rates = bus_rates(machine, [source], [target], [65536])
        assert np.asarray(rates.messages).tolist() == [[25.6e9] * 3]
        assert rates.slowest == rates.average == [25.6e9] * 3
        assert rates.ways == (2 if abs(source - target) == 6 else 1)


def test_rates_of_all_assignments_equal_single_evaluations() -> None:
    source, target = np.arange(8), (np.arange(8) * 3 + 1) % 8
    source, target = source[source != target], target[source != target]
    sizes = 16384 * (1 + source)
    graph = CommGraph.from_edges(8, source, target, sizes)
    found, stations = rank_affinities(graph), np.array(bus_stations(CELL))
    rates = np.asarray(found.rates(CELL, graph, startup=1e-7))
    assert rates.shape == (40320, 6)
    for row in range(0, 40320, 2016):
        at = stations[np.asarray(found.elements)[row]]
        one = bus_rates(CELL.machine, at[source], at[target], sizes, startup=1e-7)
        assert rates[row].tolist() == pytest.approx([*one.slowest, *one.average])


def test_a_ring_of_sixteen_crosses_two_processors_twice() -> None:
    halves = rank_bipartitions(ring(16, 1))
    assert (halves.best_bytes, halves.optima) == (2, 16)
    assert (halves.worst_bytes, halves.pessima) == (16, 2)
    assert halves.best.bit_count() == halves.worst.bit_count() == 8


def test_machines_other_than_ring_buses_are_refused() -> None:
    allocation = Allocation(Machine("torus:8"), list(range(8)))
    with pytest.raises(Error, match="for ring buses, not for torus:8"):
        rank_bus_affinities(allocation, ring(8, 1))
    with pytest.raises(Error, match="for ring buses, not for torus:8"):
        bus_rates(allocation.machine, [0], [1], [1])
    with pytest.raises(Error, match="8 elements, not for the 10 slots"):
        rank_bus_affinities(Allocation.whole(Machine("ring:10")), ring(8, 1))
    with pytest.raises(Error, match="must have equal lengths"):
        bus_rates(CELL.machine, [0], [1, 2], [1])
