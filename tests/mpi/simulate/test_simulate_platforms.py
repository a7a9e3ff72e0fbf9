# SPDX-License-Identifier: BSD-3-Clause
"""Our platforms give the times of SimGrid's clusters and of a compiled MPI program."""

from __future__ import annotations

import re
import subprocess
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from mpis import PROGRAMS
from simulated import CLOSE, FREE, LINKS, SIZE, make_graph

from topoloom import Allocation, Machine, place
from topoloom.graphs import random_geometric
from topoloom.importers.simgrid.clusters import write_simgrid_platform
from topoloom.simulate import simgrid as smpi
from topoloom.simulate.rounds import split_into_rounds
from topoloom.simulate.simgrid import simulate


@pytest.mark.parametrize(
    "text",
    [
        "torus:4x4x4,order=2:1:0,ties=simgrid",
        "torus:5x3,order=1:0",
        "fattree:4:4,up=1:2,parallel=1:2,routing=simgrid",
        "tree:4:4",
    ],
)
def test_our_routes_take_as_long_as_those_of_a_simgrid_cluster(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(f"{text},{LINKS}{FREE}")
    ranks = machine.node_count
    pattern = random_geometric(ranks, SIZE)
    placement = place(pattern, Allocation.whole(machine), "random").placement
    nodes = placement.slots.tolist()
    cluster = write_simgrid_platform(machine)
    assert "<cluster" in cluster
    monkeypatch.setattr(smpi, "EXTRA_LATENCY", 0.0)
    ours = simulate(machine, nodes, [pattern]).seconds
    monkeypatch.setattr(smpi, "write_routes", lambda *_: cluster)
    monkeypatch.setattr(smpi, "host_name", lambda rank: f"node-{nodes[rank]}.topoloom")
    assert simulate(machine, nodes, [pattern]).seconds == [
        pytest.approx(ours[0], rel=CLOSE)
    ]


@pytest.mark.parametrize("text", ["mesh:4x4", "dragonfly:4x2,nodes=2", "hyperx:4x4"])
def test_simgrid_reads_platforms_that_list_all_routes(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(f"{text},{LINKS}{FREE}")
    platform = write_simgrid_platform(machine)
    assert "<cluster" not in platform
    pattern = make_graph(16, list(combinations(range(16), 2)))
    monkeypatch.setattr(smpi, "EXTRA_LATENCY", 0.0)
    ours = simulate(machine, list(range(16)), [pattern]).seconds
    monkeypatch.setattr(smpi, "write_routes", lambda *_: platform)
    monkeypatch.setattr(smpi, "host_name", lambda rank: f"node-{rank}.topoloom")
    assert simulate(machine, list(range(16)), [pattern]).seconds == ours


def test_the_replayed_trace_takes_as_long_as_a_real_mpi_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A ring in both directions, compiled with smpicc, on the same platform."""
    machine = Machine(f"torus:2x4,{LINKS}{FREE}")
    nodes = [3, 0, 6, 1, 7, 2, 5, 4]
    ring = [(rank, (rank + step) % 8) for rank in range(8) for step in (1, 7)]
    monkeypatch.setattr(smpi, "EXTRA_LATENCY", 0.0)
    (replayed,) = simulate(machine, nodes, [make_graph(8, ring)]).seconds
    at = np.array(nodes)
    ways = smpi.find_links(machine, at, split_into_rounds(make_graph(8, ring)))
    (tmp_path / "platform.xml").write_text(smpi.write_platform(machine, at, ways, 0.0))
    (tmp_path / "hosts").write_text("".join(f"{smpi.host_name(n)}\n" for n in range(8)))
    run = ["smpicc", "-o", "ring", PROGRAMS / "ring.c"]
    subprocess.run(run, cwd=tmp_path, check=True, timeout=600)
    settings = [f"--cfg={setting}" for setting in smpi.SETTINGS]
    run = ["smpirun", *settings, "-np", "8", "-platform", "platform.xml"]
    run += ["-hostfile", "hosts", "./ring", str(SIZE)]
    ran = subprocess.run(
        run, cwd=tmp_path, check=True, timeout=600, capture_output=True, text=True
    )
    found = re.search(r"Simulated time: (\S+) seconds", ran.stderr + ran.stdout)
    assert found is not None, ran.stderr
    # For small messages, SMPI's 16-byte header takes a noticeable time.
    assert replayed == pytest.approx(float(found[1]), rel=2 * CLOSE)
