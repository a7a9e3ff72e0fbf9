# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom balance` reads tasks with neighbors from tables and partitioner files."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import topoloom as tl

if TYPE_CHECKING:
    from tests.conftest import Command

SIDE = 12
#: A mesh of tasks: each rank has a strip of 3 rows. Rank 0 has excess load, and sizes
#: differ.
OWNERS = [i // (3 * SIDE) for i in range(SIDE * SIDE)]
LOADS = [3 if owner == 0 else 1 for owner in OWNERS]
SIZES = [50 + i % 7 for i in range(SIDE * SIDE)]
PAIRS = [(i, i + 1) for i in range(SIDE * SIDE) if (i + 1) % SIDE] + [
    (i, i + SIDE) for i in range(SIDE * (SIDE - 1))
]
MACHINE = "mesh:2,bandwidth=10GB/s,latency=1us+node:2"


def write_lines(path: str, lines: list[str]) -> None:
    Path(path).write_text("\n".join([*lines, ""]))


def write_tables() -> None:
    rows = zip(itertools.count(), OWNERS, LOADS, SIZES)
    head = "task,owner,load,bytes"
    write_lines("tasks.csv", [head, *(f"t{i},{o},{w},{s}" for i, o, w, s in rows)])
    # METIS lists the weight of an edge in both directions.
    write_lines("edges.csv", ["task,task,bytes", *(f"t{u},t{v},40" for u, v in PAIRS)])


def write_metis(fmt: str, first: list[int]) -> None:
    """Write the mesh, with edges of 20 bytes and the values `first` before loads."""
    neighbors: list[list[int]] = [[] for _ in OWNERS]
    for u, v in PAIRS:
        neighbors[u].append(v)
        neighbors[v].append(u)
    lines = [
        " ".join(map(str, [*size, load, *(f"{v + 1} 20" for v in row)]))
        for size, load, row in zip(
            [[one] for one in first] or itertools.repeat([]),
            LOADS,
            neighbors,
            strict=False,
        )
    ]
    write_lines("mesh.graph", [f"{len(OWNERS)} {len(PAIRS)} {fmt}", *lines])
    write_lines("mesh.assign", [str(owner) for owner in OWNERS])


def list_moves(found: dict[str, Any]) -> list[tuple[int, int, int]]:
    return [(int(name.strip("t")), old, new) for name, old, new in found["moves"]]


def test_neighboring_tasks_stay_on_the_same_rank(topoloom: Command) -> None:
    write_tables()
    alone = topoloom("balance", "tasks.csv", "--json").json
    found = topoloom("balance", "tasks.csv", "--graph", "edges.csv", "--json").json
    owners = np.array(OWNERS)
    for task, old, new in list_moves(alone):
        assert owners[task] == old
        owners[task] = new
    cut_alone = sum(40 for u, v in PAIRS if owners[u] != owners[v])
    assert found["cut_bytes_before"] == 40 * 3 * SIDE
    assert found["load_max_over_mean"] <= 1.02
    ours = found["cut_bytes"] + found["moved_bytes"]
    assert (found["cost_before"], found["cost"]) == (found["cut_bytes_before"], ours)
    assert ours < 0.9 * (cut_alone + alone["moved_bytes"])


def test_longer_periods_allow_more_moves_and_a_smaller_cut(topoloom: Command) -> None:
    write_tables()
    words = ["balance", "tasks.csv", "--graph", "edges.csv", "--json"]
    once = topoloom(*words).json
    long = topoloom(*words, "--periods", "1000").json
    assert long["cut_bytes"] < once["cut_bytes"]
    assert long["moved_bytes"] > once["moved_bytes"]


def test_on_a_machine_the_cost_is_bytes_times_distance(topoloom: Command) -> None:
    write_tables()
    words = ["balance", "tasks.csv", "--graph", "edges.csv", "--machine", MACHINE]
    found = topoloom(*words, "--simulate", "--json").json
    owners = np.array(OWNERS)
    for task, _, new in list_moves(found):
        owners[task] = new
    node = owners // 2
    hops = sum(40 for u, v in PAIRS if node[u] != node[v])
    assert found["hop_bytes"] == hops
    across = node != np.array(OWNERS) // 2
    assert found["moved_hop_bytes"] == np.array(SIZES)[across].sum()
    inside = (found["cut_bytes"] + found["moved_bytes"]) / 16
    assert found["cost"] == hops + found["moved_hop_bytes"] + inside
    assert found["simulated_seconds"]["switches"] > 1e-6
    shown = topoloom(*words, "--simulate").out
    assert "bytes between ranks" in shown
    assert "cut and moved, summed" in shown
    assert "simulated in our switches" in shown


def test_memory_limits_are_respected_with_neighbors(topoloom: Command) -> None:
    write_tables()
    most = sum(SIZES) // 4 * 11 // 10
    words = ["balance", "tasks.csv", "--graph", "edges.csv", "--memory", str(most)]
    owners = np.array(OWNERS)
    for task, _, new in list_moves(topoloom(*words, "--json").json):
        owners[task] = new
    assert max(np.bincount(owners, SIZES)) <= most


@pytest.mark.parametrize("fmt", ["011", "111"])
def test_partitioner_files_give_the_same_result_as_tables(
    topoloom: Command, fmt: str
) -> None:
    """Chaco has vertex numbers in place of METIS sizes; neither counts as bytes."""
    sizes = SIZES if fmt == "111" else []
    write_tables()
    write_metis(fmt, sizes)
    words = ["balance", "mesh.graph", "--json"]
    by_graph = topoloom(*words).json
    if sizes:
        table = topoloom("balance", "tasks.csv", "--graph", "edges.csv", "--json").json
        assert list_moves(by_graph) == list_moves(table)
        assert by_graph["moved_bytes"] == table["moved_bytes"]
    else:
        assert by_graph["moved_bytes"] == len(by_graph["moves"])
        write_metis("111", list(range(1, len(OWNERS) + 1)))
        assert topoloom(*words).json == by_graph
    Path("mesh.assign").rename("parts")
    assert topoloom(*words, "--owners", "parts").json == by_graph


def test_edges_are_read_from_a_communication_graph(topoloom: Command) -> None:
    write_tables()
    ends = np.array(PAIRS).T
    graph = tl.CommGraph.from_edges(len(OWNERS), *ends, np.full(len(PAIRS), 40))
    tl.save_graph("edges.npz", graph)
    words = ["balance", "tasks.csv", "--json", "--graph"]
    assert topoloom(*words, "edges.npz").json == topoloom(*words, "edges.csv").json


@pytest.mark.parametrize(
    "lines",
    [
        ["% Zoltan's", "5 2 5 11", "6 1 2 3", "4 4 5", "3", "1", "1", "1", "1"],
        ["1 5 2 5 3", "6 1 2 3", "4 4 5", "3", "1", "1", "1", "1"],
        ["0 5 2 5 3", "6 0 1 2", "4 3 4", "3", "1", "1", "1", "1"],
        ["0 5 2 5 3", "6 0 1 2", "4 3 4", "3 1 1 1 1"],
        ["0 5 2 5 3", "6 0 1 2", "4 3 4", "3 1", "1 1 1"],
    ],
)
def test_hypergraphs_are_read_and_cut_with_minimal_cost(
    topoloom: Command, lines: list[str]
) -> None:
    write_lines("h.hg", lines)
    write_lines("h.assign", ["0", "0", "0", "0", "1"])
    found = topoloom("balance", "h.hg", "--tolerance", "10", "--json").json
    # The tolerance permits any loads, and cutting the edge of weight 4 costs more than
    # moving one byte.
    assert found["cut_bytes_before"] == 4
    assert found["cut_bytes"] == 0
    found = topoloom("balance", "h.hg", "-n", "2", "--tolerance", "0.2", "--json").json
    assert found["load_max_over_mean"] <= 1.2
    assert found["cut_bytes"] == 6


def compute_hyperedge_cut(
    hyperedges: list[tuple[int, list[int]]], owners: list[int]
) -> int:
    return sum(w * (len({owners[pin] for pin in pins}) - 1) for w, pins in hyperedges)


@pytest.mark.parametrize("factor", [1, 100])
def test_the_unit_of_hyperedge_weights_does_not_change_the_plan(
    topoloom: Command, factor: int
) -> None:
    hyperedges = [(1, [0, 1, 2, 3, 4]), (2, [4, 5]), (1, [0, 5])]
    rows = [" ".join(map(str, [w * factor, *pins])) for w, pins in hyperedges]
    write_lines("h.hg", ["0 6 3 9 2", *rows])
    owners = [0, 0, 0, 0, 0, 1]
    write_lines("h.assign", [str(owner) for owner in owners])
    words = ["--tolerance", "0.4", "--periods", str(100 // factor), "--json"]
    found = topoloom("balance", "h.hg", *words).json
    for task, _, new in list_moves(found):
        owners[task] = new
    assert found["cut_bytes"] == factor * compute_hyperedge_cut(hyperedges, owners)
    # The least cost of all distributions with 2 to 4 tasks per rank.
    every = itertools.product((0, 1), repeat=6)
    fair = [list(new) for new in every if 2 <= sum(new) <= 4]
    assert found["cost"] == found["cut_bytes"] * (100 // factor) + len(found["moves"])
    assert found["cost"] == min(
        100 * compute_hyperedge_cut(hyperedges, new)
        + sum(a != b for a, b in zip(new, [0, 0, 0, 0, 0, 1], strict=True))
        for new in fair
    )


@pytest.mark.parametrize(("pins", "weight"), [(3, 1), (10, 1), (32, 7), (40, 1)])
def test_the_cut_of_a_hyperedge_is_its_weight_per_additional_rank(
    topoloom: Command, pins: int, weight: int
) -> None:
    write_lines(
        "h.hg", [f"0 {pins} 1 {pins} 2", " ".join(map(str, [weight, *range(pins)]))]
    )
    write_lines("h.assign", ["0"] * (pins - 2) + ["1", "2"])
    words = ["balance", "h.hg", "--tolerance", "99", "--periods", "0.001", "--json"]
    found = topoloom(*words).json
    assert found["moves"] == []
    assert (found["cut_bytes_before"], found["cut_bytes"]) == (2 * weight, 2 * weight)
    # On a machine every pair of pins on different ranks counts, over two links.
    on = topoloom(*words, "--machine", "tree:3").json
    assert on["moves"] == []
    if pins <= 32:
        apart = 2 * (pins - 2) + 1
        expected = pytest.approx(2 * apart * weight / (pins - 1), rel=1e-9)
        assert on["hop_bytes_before"] == expected


EDGES = "task,task,bytes"


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([EDGES, "a,b"], "edges.csv:2: expected the 3 columns task,task,bytes, not 2"),
        ([EDGES, "a,bb,1"], "edges.csv:2: no task 'bb' (did you mean 'b'?)"),
        (["a,b,x"], "edges.csv:1: the number of bytes of a pair is an integer"),
        (["a,b,-3"], "edges.csv:1: the number of bytes of a pair is an integer"),
        (
            ["a,b,4611686018427387904"],
            "edges.csv:1: the number of bytes of a pair is b",
        ),
        (["a,b,4611686018427387903"] * 2, "the bytes of all pairs add up to 2^62 or"),
    ],
)
def test_invalid_edges_are_refused(
    topoloom: Command, lines: list[str], message: str
) -> None:
    write_lines("tasks.csv", ["task,owner,load,bytes", "a,0,1,1", "b,1,1,1"])
    write_lines("edges.csv", lines)
    refused = topoloom("balance", "tasks.csv", "--graph", "edges.csv")
    assert (refused.status, refused.out, refused.err.count("\n")) == (2, "", 1)
    assert message in refused.err


@pytest.mark.parametrize(
    ("file", "lines", "ranks", "message"),
    [
        ("m.graph", ["2 1", "2", "1"], None, "m.graph has no owners of tasks"),
        ("m.graph", ["2 1", "2", "1"], ["0"], "m.assign has ranks of 1 task, but m.gr"),
        ("m.graph", ["2 1", "2", "1"], ["0", "x"], "m.assign:2: the rank of a task is"),
        ("m.graph", ["2 1", "2", "1"], ["0", "10000000"], "m.assign:2: the rank of a"),
        ("m.graph", ["2 1", "2", "3"], ["0", "0"], "m.graph:3: vertex 2 has neighbor"),
        ("m.hg", ["2 1 2"], ["0", "0"], "m.hg:1: a number of the header is missing"),
        ("m.hg", ["2 1 2 21"], ["0", "0"], "m.hg:1: the header is 'vertices hyper"),
        ("m.hg", ["2 1 2 00", "1 3"], ["0", "0"], "m.hg:2: pins are 1 to 2"),
        ("m.hg", ["2 1 2 00"], ["0", "0"], "m.hg: the file ends where hyperedge 1 of"),
        ("m.hg", ["2 1 3 00", "1 2"], ["0", "0"], "announces 3 pins, but there are 2"),
        ("m.hg", ["9 1 2 00", "1 2"], ["0", "0"], "there are 9 vertices, but ranks of"),
        ("m.hg", ["2 1 2 10", "1 2", "3"], ["0", "0"], "m.hg: the file ends where the"),
        ("m.hg", ["2 1 2 10", "1 2", "1 2 3"], ["0", "0"], "m.hg:3: more weights than"),
        ("m.hg", ["2 1 2 01", f"{2**61} 1 2"], ["0", "0"], "m.hg: the weights of all"),
        ("m.hg", ["2 1 2 00", "1 2", "3"], ["0", "0"], "m.hg:3: nothing more is"),
    ],
)
def test_invalid_partitioner_files_are_refused(
    topoloom: Command,
    file: str,
    lines: list[str],
    ranks: list[str] | None,
    message: str,
) -> None:
    write_lines(file, lines)
    if ranks is not None:
        write_lines("m.assign", ranks)
    refused = topoloom("balance", file)
    assert (refused.status, refused.out, refused.err.count("\n")) == (2, "", 1)
    assert message in refused.err


#: A machine that can be simulated.
FAST = "torus:2x2,bandwidth=1GB/s,latency=1us"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["loads.csv", "--graph", "edges.csv"], "loads.csv contains numbers of equal"),
        (["loads.csv", "--simulate"], "--simulate is for transfers on a machine"),
        (["loads.csv", "-m", "mesh:4", "--simulate"], "has no links with bandwidths"),
        (
            ["loads.csv", "-m", FAST, "--bytes", "1TiB", "--simulate"],
            "the switches can simulate; simulate smaller tasks",
        ),
        (
            ["tasks.csv", "--periods", "2"],
            "--periods sets how often the messages of --graph are sent",
        ),
        (
            ["tasks.csv", "--graph", "edges.csv", "--periods", "0"],
            "periods must be above 0",
        ),
        (
            ["tasks.csv", "--owners", "edges.csv"],
            "tasks.csv contains a column of owners",
        ),
        (["tasks.csv", "--simulate"], "--simulate requires a machine"),
        (
            ["mesh.graph", "--graph", "edges.csv"],
            "mesh.graph is a graph and contains the edges",
        ),
        (["tasks.csv", "-m", "mesh:3"], "4 ranks do not fit on an allocation with"),
    ],
)
def test_incompatible_options_are_refused(
    topoloom: Command, words: list[str], message: str
) -> None:
    write_tables()
    write_metis("111", SIZES)
    write_lines("loads.csv", ["4", "2", "5", "5"])
    refused = topoloom("balance", *words)
    assert (refused.status, refused.out, refused.err.count("\n")) == (2, "", 1)
    assert message in refused.err


def test_rounds_of_a_plan_are_simulated_sequentially(
    topoloom: Command,
) -> None:
    write_lines("loads.csv", ["64", "0", "0", "0"])
    machine = "mesh:4,bandwidth=1GB/s,latency=1us"
    words = ["balance", "loads.csv", "--machine", machine, "--bytes", "1MiB"]
    words += ["--simulate", "--json", "--method"]
    at_once = topoloom(*words, "qwalk").json
    ring = topoloom(*words, "diffusion(neighbors=ring)").json
    assert (at_once["rounds"], ring["rounds"]) == (1, 2)
    # All 48 tasks leave rank 0 over one link of 1 GB/s.
    least = 48 * 2**20 / 1e9
    seconds = at_once["simulated_seconds"]
    assert least < seconds["switches"] < 1.1 * least
    for simulator, one in seconds.items():
        assert ring["simulated_seconds"][simulator] > 1.1 * least, simulator
        assert one < ring["simulated_seconds"][simulator]
