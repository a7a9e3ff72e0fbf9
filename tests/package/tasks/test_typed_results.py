# SPDX-License-Identifier: BSD-3-Clause
"""Typed results of tasks give the JSON document that --json prints."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from topoloom import (
    Allocation,
    Error,
    Machine,
    load_placement,
    save_graph,
    save_placement,
)
from topoloom.graphs import parse_mesh, parse_traffic, stencil
from topoloom.model import fit_file, load_model, load_pair_curves, predict_times
from topoloom.tasks import (
    AllocationSpec,
    LineSpeeds,
    allocate_nodes,
    build_trees,
    find_contention,
    load_placement_problem,
    load_problem,
    map_axes,
    map_ranks,
    measure_grid,
    order_processes,
    prove_bounds,
    rank_collective,
    rank_tiles,
    read_call,
    read_objective,
    read_platform,
)

MACHINE = "torus:4x4"
NODES = Allocation.whole(Machine(MACHINE))


@pytest.fixture(autouse=True)
def input_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write a graph, a placement and tables of times to the working directory."""
    monkeypatch.chdir(tmp_path)
    save_graph("p.npz", stencil([4, 4], 5, bytes=1000))
    problem = load_problem("p.npz", MACHINE, AllocationSpec())
    objective = read_objective("hop-bytes", None, "p.npz", problem.machine)
    save_placement("x.json", map_ranks(problem, objective, "hilbert").file)
    Path("costs.csv").write_text("0,1,2,2\n1,0,2,2\n2,2,0,1\n2,2,1,0\n")
    Path("pings.csv").write_text("size,time\n8,2e-6\n1024,3e-6\n4096,6e-6\n")
    Path("pairs.csv").write_text("pairs,time\n1,1\n2,1\n4,2\n")


def rank_schedules(**options: Any) -> Any:
    call = read_call("allgather", 16, 1024)
    return rank_collective(call, read_platform(call, "hdr"), **options)


#: command line without --json -> the same task in Python
SAME: dict[str, Callable[[], Any]] = {
    "allocate -m torus:4x4 -N 6 --seed 3": lambda: allocate_nodes(
        MACHINE, AllocationSpec(nodes=6, seed=3)
    ),
    "ai axes -m torus:4x4 --mesh tp=4,dp=4 --traffic tp=1GB,dp=1MB": lambda: map_axes(
        NODES,
        mesh := parse_mesh("tp=4,dp=4"),
        parse_traffic("tp=1GB,dp=1MB", mesh),
    ),
    "bound p.npz x.json": lambda: prove_bounds(
        load_placement_problem("bound", "p.npz", "x.json", None, AllocationSpec())
    ),
    "collective rank allgather -n 16 --bytes 1024 --model hdr": rank_schedules,
    "collective grid x.json --grid 4x4 --inner-bandwidth 100GB/s": lambda: measure_grid(
        load_placement("x.json"), [4, 4], LineSpeeds(inner_bandwidth=100e9)
    ),
    "collective grid x.json --grid 4x4 --fastest-tile scatter": lambda: rank_tiles(
        load_placement("x.json"), [4, 4], collective="scatter"
    ),
    "model channels pairs.csv --bytes 8MiB": lambda: load_pair_curves(
        "pairs.csv", 8 << 20
    ),
    "model fit pings.csv": lambda: fit_file("pings.csv"),
    "collective order costs.csv": lambda: order_processes(
        np.loadtxt("costs.csv", delimiter=",")
    ),
    "collective contention prefix -m torus:4x4 --find routes": lambda: find_contention(
        NODES, "prefix", "routes"
    ),
    "collective trees -m torus:4x4 --roots 4": lambda: build_trees(NODES, "4"),
}


@pytest.mark.parametrize("command", SAME)
def test_a_task_returns_what_its_command_prints(command: str, topoloom: Any) -> None:
    printed = topoloom(*command.split(), "--json").json
    document = SAME[command]().document()
    assert json.loads(json.dumps(document)) == printed


def test_nodes_are_chosen_and_ranks_are_placed_for_a_graph() -> None:
    Path("free.txt").write_text("".join(f"{node}\n" for node in range(0, 64, 2)))
    found = allocate_nodes(
        "torus:8x8",
        AllocationSpec(),
        free="free.txt",
        graph_file="p.npz",
        mapper="gge+swap",
    )
    assert found.choice is not None
    file = found.placement_file()
    assert file.values["hop_bytes"] == found.choice.values["chosen"]
    assert found.choice.values["chosen"] <= found.choice.values["first"]
    assert set(found.nodes.allocation.nodes.tolist()) <= set(range(0, 64, 2))


def test_an_order_for_a_collective_is_never_slower_than_block_order() -> None:
    call = read_call("alltoall", 16, 64)
    platform = read_platform(call, "hdr", "torus:4x4,bandwidth=1GB/s")
    block = rank_collective(call, platform)
    found = rank_collective(call, platform, order_ranks=True)
    assert found.ranked[0].cost.time <= block.ranked[0].cost.time
    assert found.placement_file().values["objective"] == found.ranked[0].cost.time
    graph, rounds = found.graph()
    assert sum(each.bytes.sum() for each in rounds) == graph.bytes.sum()


def test_a_message_takes_the_time_of_the_model() -> None:
    model = load_model("hdr").model
    for one in predict_times(model, [8, 1024], processes=4):
        assert one.seconds == model.time(one.bytes, 4)
        assert one.arrival_seconds == model.costs.latency + one.seconds


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: build_trees(NODES, "17"), "1 to 16"),
        (lambda: build_trees(NODES, members=17), "16 nodes"),
        (lambda: find_contention(NODES, "shift", "rout"), "did you mean 'routes'"),
        (lambda: measure_grid(load_placement("x.json"), [3, 5]), "16 cells"),
        (lambda: rank_tiles(load_placement("x.json"), [3, 5]), "16 cells"),
        (lambda: order_processes(np.ones((2, 2)), root=2), "processes 0 to 1"),
        (lambda: allocate_nodes(MACHINE, AllocationSpec()), "nodes is missing"),
        (lambda: predict_times(load_model("hdr").model, [8], 0), "1 or more, not 0"),
    ],
)
def test_errors_of_tasks_are_reported(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(Error, match=message):
        call()
