# SPDX-License-Identifier: BSD-3-Clause
"""Graphs of recorded and generated collectives, expanded as NCCL does."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from topoloom import Allocation, Error, Machine
from topoloom.frameworks.deepspeed import DeepSpeedJob
from topoloom.graphs import Request, load_profile
from topoloom.graphs.axes import Traffic, parse_traffic
from topoloom.graphs.layouts import Layout
from topoloom.graphs.nccl_collectives import choose_algorithm
from topoloom.graphs.nccl_layouts import make_nccl_graph
from topoloom.graphs.patterns import make_graph, make_phases
from topoloom.graphs.phases import add_phases, edge_rows
from topoloom.nccl.communicator import make_communicator
from topoloom.tasks import import_pattern
from topoloom.tasks.axes import map_axes

HLO = """HloModule step, num_partitions=16

ENTRY %main (p: f32[1024]) -> f32[1024] {{
  ROOT %a = f32[1024]{{0}} {call}
}}
"""


def write_file(folder: Path, groups: str) -> Path:
    call = (
        f"all-reduce(%p), channel_id=1, replica_groups={groups}, "
        "use_global_device_ids=true, to_apply=%add"
    )
    path = folder / "step.hlo"
    path.write_text(HLO.format(call=call))
    return path


def import_edges(path: Path, gpus_per_node: int) -> dict[tuple[int, int], int]:
    made = import_pattern(path, collectives="nccl", gpus_per_node=gpus_per_node)
    return {(s, t): sent for s, t, sent, _ in edge_rows(made.graph).tolist()}


def test_a_small_allreduce_between_nodes_uses_trees(tmp_path: Path) -> None:
    found = import_edges(write_file(tmp_path, "[1,16]<=[16]"), 8)
    between = {(s, t): sent for (s, t), sent in found.items() if s // 8 != t // 8}
    # Each of the 8 NICs has two channels; r and r + 8 exchange half of their share on
    # each.
    assert between == {
        pair: 4096 // 8 for r in range(8) for pair in ((r, r + 8), (r + 8, r))
    }
    assert sum(found.values()) == 2 * 15 * 4096


def test_an_allreduce_in_a_node_is_a_ring_of_its_ranks(
    tmp_path: Path,
) -> None:
    found = import_edges(write_file(tmp_path, "[2,8]<=[16]"), 8)
    expected = {(8 * n + i, 8 * n + (i + 1) % 8) for n in (0, 1) for i in range(8)}
    assert set(found) == expected
    assert set(found.values()) == {2 * 7 * 4096 // 8}
    strided = import_edges(write_file(tmp_path, "[8,2]<=[2,8]T(1,0)"), 8)
    assert {abs(s - t) for s, t in strided} == {8}


def test_saved_files_contain_the_collectives_and_the_graph(tmp_path: Path) -> None:
    path = tmp_path / "p.npz"
    trace = write_file(tmp_path, "[1,16]<=[16]")
    made = import_pattern(trace, collectives="nccl", gpus_per_node=4)
    made.save(path)
    profile = load_profile(path)
    again = profile.graph("nccl", gpus_per_node=4)
    assert np.array_equal(edge_rows(again), edge_rows(made.graph))
    by_mpi = profile.graph("expand")
    assert not np.array_equal(edge_rows(by_mpi), edge_rows(made.graph))


def test_axes_are_expanded_to_nccl_messages_on_the_nodes_of_ranks() -> None:
    layout = Layout("", ((("tp", 4), ("dp", 4)),))
    traffic = [
        Traffic(("tp",), "ring", 6000),
        Traffic(("dp",), "alltoall", 3000),
        Traffic(("dp",), "chain", 70),
    ]
    in_order, reversed_ = np.arange(16), np.arange(16)[::-1].copy()
    graph, phases = make_nccl_graph(layout, traffic, in_order, 16, 4)
    assert len(phases) == 3
    tensor = edge_rows(phases[0])
    assert {(s // 4, (t - s) % 4) for s, t in tensor[:, :2].tolist()} == {
        (node, 1) for node in range(4)
    }
    assert set(tensor[:, 2].tolist()) == {6000}
    # Ranks of a data-parallel group have the same local rank, so there are no relays.
    assert set(edge_rows(phases[1])[:, 2].tolist()) == {1000}
    assert int(graph.total_bytes) == sum(int(p.total_bytes) for p in phases)
    again, _ = make_nccl_graph(layout, traffic, reversed_, 16, 4)
    assert int(again.total_bytes) == int(graph.total_bytes)
    with pytest.raises(Error, match="18 ranks are not a multiple of 4"):
        make_nccl_graph(layout, traffic, in_order, 18, 4)
    spread = in_order.reshape(4, 4).T.ravel()
    _, crossing = make_nccl_graph(layout, traffic, spread, 16, 4)
    inside = edge_rows(crossing[1])
    assert {(t - s) % 16 for s, t in inside[:, :2].tolist()} == {4, 8, 12}


@pytest.mark.parametrize("job", [None, DeepSpeedJob(tp=4, dp=2, pp=2)])
def test_every_phase_has_the_name_of_its_axes(job: DeepSpeedJob | None) -> None:
    mesh = {"tp": 4, "dp": 2, "pp": 2}
    sends = parse_traffic("tp=3GB,dp=halving:1GB,pp=1GB", mesh)
    machine = Machine("tree:2:2+node:4")
    mapped = map_axes(Allocation.whole(machine), job or mesh, sends)
    assert mapped.phase_names == ["tp", "dp", "pp"]
    for one in (mapped, mapped.with_nccl_messages()):
        assert len(one.phase_names) == len(one.graph[1])


@pytest.mark.parametrize("name", ["nccl-ring", "nccl-alltoall"])
def test_a_job_too_large_to_list_is_refused_at_once(name: str) -> None:
    with pytest.raises(Error, match=r"of 100,000,000 ranks is too large .* 262,144"):
        make_graph(name, Request(ranks=10**8, bytes=1024))


def test_ranks_must_fill_their_nodes(tmp_path: Path) -> None:
    trace = write_file(tmp_path, "[1,16]<=[16]")
    with pytest.raises(Error, match="16 ranks are not a multiple of 6 GPUs per node"):
        import_pattern(trace, collectives="nccl", gpus_per_node=6)
    with pytest.raises(Error, match="not a multiple of 8 GPUs"):
        make_graph("nccl-tree", Request(ranks=12, bytes=8))


@pytest.mark.parametrize("name", ["nccl-ring", "nccl-tree", "nccl-nvls"])
def test_generated_allreduces_have_equal_total_bytes(name: str) -> None:
    graph = make_graph(name, Request(ranks=24, bytes=4800, gpus_per_node=8))
    assert int(graph.total_bytes) == 2 * 23 * 4800


def test_large_and_small_allreduces_use_different_algorithms() -> None:
    two = make_communicator(range(16), 8)
    assert [choose_algorithm(two, size) for size in (8, 1 << 30)] == ["tree", "nvls"]
    assert choose_algorithm(make_communicator(range(8), 8), 8) == "ring"


def test_an_alltoall_uses_the_rails_of_its_targets() -> None:
    graph = make_graph("nccl-alltoall", Request(ranks=16, bytes=10, gpus_per_node=8))
    rows = edge_rows(graph)
    between = rows[rows[:, 0] // 8 != rows[:, 1] // 8]
    assert set((between[:, 1] - between[:, 0]).tolist()) == {8, -8}
    assert set(between[:, 2].tolist()) == {80}


def test_rounds_of_an_alltoall_add_up_and_pair_each_rank_once() -> None:
    request = Request(ranks=24, bytes=10, gpus_per_node=4)
    phases = make_phases("nccl-alltoall", request)
    assert len(phases) == 23
    whole = make_graph("nccl-alltoall", request)
    assert np.array_equal(edge_rows(add_phases(phases)), edge_rows(whole))
    for phase in phases:
        _, sent = np.unique(edge_rows(phase)[:, 0], return_counts=True)
        assert max(sent) <= 2  # its own message and a relayed one
