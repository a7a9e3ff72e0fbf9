# SPDX-License-Identifier: BSD-3-Clause
"""Communication graphs are converted to and from SciPy and NetworkX."""

from __future__ import annotations

import random
import sys
from typing import Any

import networkx
import numpy as np
import pytest
import scipy.sparse

from topoloom import CommGraph, Error, Machine

LAYOUTS = ("csr", "csc", "coo", "lil", "dok", "bsr")


def draw_graph(seed: int, loads: bool = False) -> CommGraph:
    """Draw a graph with self-messages, edges of 0 bytes and edges of 0 messages."""
    rng = random.Random(seed)
    ranks, edges = rng.randint(1, 9), rng.randrange(25)
    ends = [[rng.randrange(ranks) for _ in range(edges)] for _ in "12"]
    sizes = [rng.choice((0, 1, 999, 2**53 + 1)) for _ in range(edges)]
    messages = [rng.randrange(4) for _ in sizes]
    load = [rng.random() for _ in range(ranks)] if loads else None
    return CommGraph.from_edges(ranks, *ends, sizes, messages, load)


@pytest.mark.parametrize("seed", range(20))
def test_a_graph_survives_a_round_trip_through_scipy(seed: int) -> None:
    graph = draw_graph(seed)
    sizes, messages = graph.to_scipy(), graph.to_scipy("messages")
    assert sizes.dtype == messages.dtype == np.int64
    assert sizes.has_sorted_indices
    assert CommGraph.from_scipy(sizes, messages) == graph
    dense = np.zeros((graph.rank_count, graph.rank_count), np.int64)
    source = np.repeat(np.arange(graph.rank_count), np.diff(graph.first.astype(int)))
    dense[source, graph.peer] = graph.bytes
    np.fill_diagonal(dense, graph.self_bytes)
    assert np.array_equal(sizes.toarray(), dense)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", ["int8", "int32", "uint64", "float32", "float64"])
def test_any_sparse_matrix_of_integers_is_accepted(layout: str, kind: str) -> None:
    dense = np.array([[3, 5, 0, 0], [0, 0, 7, 0], [0, 0, 0, 1], [9, 0, 0, 0]], kind)
    for make in (scipy.sparse.coo_array, scipy.sparse.coo_matrix):
        graph = CommGraph.from_scipy(make(dense).asformat(layout))
        assert np.array_equal(graph.to_scipy().toarray(), dense)
        assert graph.self_bytes.tolist() == [3, 0, 0, 0]
        assert set(graph.messages.tolist()) == {1}


def test_duplicate_entries_are_summed_exactly() -> None:
    ends = ([0, 0, 1], [1, 1, 0])
    twice = scipy.sparse.coo_array(([2**62, 5, 1], ends), shape=(2, 2))
    assert CommGraph.from_scipy(twice).bytes.tolist() == [2**62 + 5, 1]
    over = scipy.sparse.coo_array(([2**62, 2**62, 1], ends), shape=(2, 2))
    with pytest.raises(Error, match=r"add up to more than 2\^63"):
        CommGraph.from_scipy(over)


def test_messages_can_be_given_on_other_edges() -> None:
    sizes = scipy.sparse.csr_array(np.array([[0, 5], [0, 0]]))
    messages = scipy.sparse.csr_array(np.array([[0, 0], [2, 0]]))
    graph = CommGraph.from_scipy(sizes, messages)
    assert (graph.bytes.tolist(), graph.messages.tolist()) == ([5, 0], [0, 2])


@pytest.mark.parametrize("seed", range(20))
def test_a_graph_survives_a_round_trip_through_networkx(seed: int) -> None:
    graph = draw_graph(seed, loads=seed % 2 == 0)
    made = graph.to_networkx()
    assert CommGraph.from_networkx(made) == graph
    assert sum(size for *_, size in made.edges(data="bytes")) == (
        graph.total_bytes + graph.self_bytes.sum()
    )


@pytest.mark.parametrize("seed", range(10))
def test_labels_are_ranks_or_numbered_in_the_order_of_the_graph(seed: int) -> None:
    graph = draw_graph(seed)
    order = random.Random(seed).sample(range(graph.rank_count), graph.rank_count)
    numbered = networkx.DiGraph()
    numbered.add_nodes_from(np.array(order) if seed % 2 else order)
    numbered.add_edges_from(graph.to_networkx().edges(data=True))
    assert CommGraph.from_networkx(numbered) == graph
    named = networkx.relabel_nodes(numbered, lambda rank: f"host{rank}")
    position = {label: at for at, label in enumerate(named)}
    moved = CommGraph.from_networkx(named).to_networkx()
    for rank, peer, data in graph.to_networkx().edges(data=True):
        there = moved.edges[position[f"host{rank}"], position[f"host{peer}"]]
        assert there == data


def test_undirected_edges_count_both_ways_and_parallel_edges_are_summed() -> None:
    plain = networkx.path_graph(3)
    graph = CommGraph.from_networkx(plain, weight=None)
    assert graph.to_scipy().toarray().tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    several = networkx.MultiDiGraph([(0, 1, {"w": 5}), (0, 1, {"w": 2.0})])
    several.add_edge(1, 1, w=9)
    graph = CommGraph.from_networkx(several, weight="w")
    assert graph.to_scipy().toarray().tolist() == [[0, 7], [0, 9]]
    assert graph.messages.tolist() == [2]


STAR = networkx.Graph()
STAR.add_edge("switch", "b", bandwidth=2e9, latency=1e-6)
STAR.add_edge("a", "switch", bandwidth=1e9, latency=0)


def test_a_machine_from_networkx_has_its_links() -> None:
    machine = Machine.from_networkx(STAR, nodes=["a", "b"])
    assert machine.text == "graph:2+1:0-2,1-2@2GB/s@1us,bandwidth=1GB/s"
    everything = Machine.from_networkx(STAR, bandwidth=None, latency=None)
    assert everything.text == "graph:3:0-1,0-2"
    torus = networkx.grid_2d_graph(4, 4, periodic=True)
    machine = Machine.from_networkx(torus)
    assert np.array_equal(machine.hop_matrix(), Machine("torus:4x4").hop_matrix())
    ring = networkx.cycle_graph(5, create_using=networkx.DiGraph)
    assert Machine.from_networkx(ring).hops(1, 0) == 4


def make_sparse_matrix(*rows: Any) -> Any:
    return scipy.sparse.csr_array(np.array(rows))


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (
            lambda: CommGraph.from_scipy(make_sparse_matrix([0, 0.5], [0, 0])),
            "is 0.5, not an int",
        ),
        (
            lambda: CommGraph.from_scipy(make_sparse_matrix([0, np.nan], [0, 0])),
            "is nan",
        ),
        (
            lambda: CommGraph.from_scipy(make_sparse_matrix([0, -5], [0, 0])),
            "must not be negative",
        ),
        (
            lambda: CommGraph.from_scipy(make_sparse_matrix([0, 5])),
            r"shape \(1, 2\); give one that",
        ),
        (
            lambda: CommGraph.from_scipy(make_sparse_matrix([0, 1j], [0, 0])),
            "not complex128",
        ),
        (
            lambda: CommGraph.from_scipy(np.eye(2)),
            "must be a sparse array of scipy, not ndarray; make one with",
        ),
        (
            lambda: CommGraph.from_scipy(
                make_sparse_matrix([0, 1], [0, 0]), make_sparse_matrix([1])
            ),
            r"messages has shape \(1, 1\), and the matrix \(2, 2\)",
        ),
        (
            lambda: CommGraph.from_scipy(*[make_sparse_matrix([0, 1], [0, 0.5])] * 2),
            r"messages\[1\] is 0.5, not an integer",
        ),
        (
            lambda: CommGraph.from_edges(1, [], [], []).to_scipy("x"),
            "values is 'x'; it",
        ),
        (lambda: CommGraph.from_networkx({}), "graph must be a networkx.Graph"),
        (
            lambda: CommGraph.from_networkx(networkx.path_graph(2)),
            r"edge \(0, 1\) has no attribute 'bytes'; name the one .* or give None",
        ),
        (
            lambda: CommGraph.from_networkx(networkx.Graph([(0, 1, {"bytes": 0.1})])),
            r"bytes\[0\] is 0.1, not an integer; scale",
        ),
        (lambda: Machine.from_networkx(5), "graph must be a networkx.Graph"),
        (lambda: Machine.from_networkx(STAR, nodes=["a", "c"]), "names 'c', which the"),
        (lambda: Machine.from_networkx(STAR, nodes=["a", "a"]), "names 'a' twice"),
        (
            lambda: Machine.from_networkx(STAR, nodes=[["a"]]),
            "which the graph does not",
        ),
        (
            lambda: Machine.from_networkx(STAR, nodes="ab"),
            "must be a list of the graph",
        ),
        (
            lambda: Machine.from_networkx(networkx.MultiGraph([(0, 1)])),
            "is a multigraph; pass a Graph or DiGraph",
        ),
        (
            lambda: Machine.from_networkx(
                networkx.Graph([(0, 1, {"latency": 1}), (1, 2, {})])
            ),
            r"link \(1, 2\) has no attribute 'latency', but others have",
        ),
    ],
)
def test_conversion_errors_are_one_line(call: Any, line: str) -> None:
    with pytest.raises((Error, TypeError), match=line) as raised:
        call()
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("call", "package"),
    [
        (lambda: CommGraph.from_scipy(make_sparse_matrix([1])), "scipy"),
        (lambda: CommGraph.from_edges(1, [], [], []).to_scipy(), "scipy"),
        (lambda: CommGraph.from_networkx(STAR), "networkx"),
        (lambda: CommGraph.from_edges(1, [], [], []).to_networkx(), "networkx"),
        (lambda: Machine.from_networkx(STAR), "networkx"),
    ],
)
def test_without_the_package_the_error_names_it(
    call: Any, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setitem(sys.modules, f"{package}.sparse", None)
    with pytest.raises(Error, match=f"requires {package}; .*: pip install {package}$"):
        call()


def test_a_damaged_matrix_is_refused() -> None:
    matrix = scipy.sparse.csr_array((3, 3), dtype=np.int64)
    matrix.indices, matrix.data = np.array([1], np.int32), np.array([5])
    matrix.indptr = np.array([0, 1_000_000, 1, 1], np.int32)
    with pytest.raises(Error, match=r"^matrix is damaged: "):
        CommGraph.from_scipy(matrix)
