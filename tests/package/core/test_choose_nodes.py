# SPDX-License-Identifier: BSD-3-Clause
"""Shapes of allocations and choice of nodes, from Python."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from topoloom import Allocation, Error, Machine, Placement, judge
from topoloom.allocations import allocation_shape, choose_nodes, compact_nodes
from topoloom.allocations.jobs_file import load_jobs
from topoloom.graphs import stencil

MACHINES = (
    "torus:5x4x3",
    "mesh:7x6",
    "torus:6x5,nodes=2+node:2",
    "tree:4:5:2",
    "graph:5:0-1,1-2,2-3,3-4,4-0",
)


def draw_free_nodes(machine: Machine, data: st.DataObject) -> Any:
    """Draw free nodes in any order."""
    nodes = data.draw(
        st.lists(
            st.integers(0, machine.node_count - 1), min_size=2, max_size=30, unique=True
        )
    )
    return np.array(nodes, dtype=np.uint32)


def compute_average_distance(machine: Machine, nodes: Any) -> float:
    slots = [int(node) * machine.slots_per_node for node in nodes]
    pairs = [machine.distance(a, b) for a in slots for b in slots if a != b]
    return sum(pairs) / max(1, len(pairs))


@given(text=st.sampled_from(MACHINES), data=st.data())
def test_compact_nodes_are_free_and_no_farther_apart_than_the_first_free_nodes(
    text: str, data: st.DataObject
) -> None:
    machine = Machine(text)
    free = draw_free_nodes(machine, data)
    count = data.draw(st.integers(1, len(free)))
    chosen = compact_nodes(Allocation(machine, free), count)
    places = [free.tolist().index(node) for node in chosen.nodes.tolist()]
    assert places == sorted(set(places))
    assert len(places) == count
    assert chosen.average_distance == pytest.approx(
        compute_average_distance(machine, chosen.nodes)
    )
    assert (
        chosen.average_distance
        <= compute_average_distance(machine, free[:count]) * 1.0000001
    )


@given(text=st.sampled_from(MACHINES), data=st.data())
def test_chosen_nodes_are_never_worse_than_the_first_free_nodes(
    text: str, data: st.DataObject
) -> None:
    machine = Machine(text)
    free = Allocation(machine, draw_free_nodes(machine, data))
    count = data.draw(st.integers(1, len(free.nodes)))
    ranks = data.draw(st.integers(1, count * machine.slots_per_node))
    graph = stencil([ranks], 3, True, 8)
    found = choose_nodes(graph, free, count, "auto(effort=fast)", work=20_000)
    assert set(found.allocation.nodes.tolist()) <= set(free.nodes.tolist())
    assert len(found.allocation.nodes) == count
    placed = Placement(found.allocation, found.placement.slots)
    assert found.hop_bytes == judge(graph, found.allocation, placed).hop_bytes
    assert found.hop_bytes <= found.first_hop_bytes


def test_a_node_choice_outlives_its_inputs() -> None:
    found = choose_nodes(
        stencil([4], 3, True, 8), Allocation.whole(Machine("mesh:9")), 4
    )
    assert found.allocation.machine.text == "mesh:9"
    assert compact_nodes(Allocation.whole(Machine("mesh:9")), 2).machine.node_count == 9


def test_a_callback_can_stop_the_node_choice() -> None:
    machine = Machine("torus:16x16x16")
    calls = []

    def stop_search(work: int) -> bool:
        calls.append(work)
        return False

    found = choose_nodes(
        stencil([8, 8, 8], 27, True, 8),
        Allocation.whole(machine),
        512,
        progress=stop_search,
    )
    assert len(calls) >= 1
    assert found.random_hop_bytes is None
    assert len(found.allocation.nodes) == 512


def test_components_are_numbered_node_by_node() -> None:
    line = Allocation(Machine("mesh:8"), [7, 0, 1, 3])
    assert line.components() == [0, 1, 1, 2]
    shape = allocation_shape(line)
    assert shape.components == 3
    nodes = line.nodes.tolist()
    assert shape.loads.sum() == sum(abs(a - b) for a in nodes for b in nodes)


def test_jobs_are_read_from_squeue_output(tmp_path: Path) -> None:
    machine = Machine("torus:4x4")
    file = tmp_path / "jobs.txt"
    file.write_text("JOBID NODELIST\n71 n[01-03]\n72_4 n09,n11\n73 \n")
    jobs = load_jobs(machine, file)
    assert {job: a.nodes.tolist() for job, a in jobs.items()} == {
        "71": [1, 2, 3],
        "72_4": [9, 11],
    }


def test_a_file_without_the_header_of_squeue_is_one_job(tmp_path: Path) -> None:
    file = tmp_path / "other.txt"
    file.write_text("0 1\n0 2\n")
    jobs = load_jobs(Machine("torus:4x4"), file)
    assert {job: a.nodes.tolist() for job, a in jobs.items()} == {"other.txt": [1, 2]}


def test_hosts_of_jobs_are_found_by_name(tmp_path: Path) -> None:
    file = tmp_path / "jobs.txt"
    file.write_text("JOBID NODELIST\n5 b\n")
    jobs = load_jobs(Machine("torus:3"), file, ("a", "b", "c"))
    assert jobs["5"].nodes.tolist() == [1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("JOBID PARTITION NAME\n", "squeue -o '%i %N'"),
        ("JOBID NODELIST\n7 \n", "contains no job with nodes"),
        ("JOBID NODELIST\n7 n1\n7 n2\n", "jobs.txt:3: job 7 appears twice"),
        (
            "JOBID NODELIST\n\n7 n[1-2],n99\n",
            "jobs.txt:3: job 7: host n99 would be node 99",
        ),
        ("JOBID NODELIST\n7 n[1-\n", "jobs.txt:2: job 7: "),
        ("JOBID NODELIST\n7 n1,n1\n", "jobs.txt:2: job 7: host n1 is named twice"),
        ("", "jobs.txt: contains no node"),
        ("\0", "not a text file"),
    ],
)
def test_an_invalid_job_file_is_named(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "jobs.txt"
    file.write_text(text)
    with pytest.raises(Error) as error:
        load_jobs(Machine("torus:4x4"), file)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@given(text=st.text(alphabet="JOBID NODELIST\n0123456789n[],-_\t#", max_size=60))
def test_any_text_gives_jobs_or_an_error(text: str, tmp_path_factory: Any) -> None:
    file = tmp_path_factory.mktemp("jobs") / "jobs.txt"
    file.write_text("JOBID NODELIST\n" + text)
    machine = Machine("torus:4x4")
    with contextlib.suppress(Error):
        jobs = load_jobs(machine, file)
        assert all(0 < len(job.nodes) <= machine.node_count for job in jobs.values())
