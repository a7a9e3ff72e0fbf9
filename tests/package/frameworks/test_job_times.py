# SPDX-License-Identifier: BSD-3-Clause
"""Times of NCCL for the traffic of a job, recomputed from `topoloom.nccl`."""

from __future__ import annotations

import pytest

from topoloom import Allocation, Machine, load_machine
from topoloom.frameworks import MegatronJob
from topoloom.frameworks.nccl_times import make_nccl_times
from topoloom.frameworks.training_step import parse_step
from topoloom.graphs.axes import Traffic, parse_mesh, parse_traffic
from topoloom.nccl.hardware import find_hardware
from topoloom.nccl.times import predict_algorithms
from topoloom.tasks.axes import MappedAxes, map_axes

POD = load_machine("dgx-h100-pod")
DGX = find_hardware("dgx-h100")
GB = 10**9


def map_mesh(mesh: str, traffic: str | list[Traffic], machine: Machine) -> MappedAxes:
    axes = parse_mesh(mesh)
    sends = parse_traffic(traffic, axes) if isinstance(traffic, str) else traffic
    return map_axes(Allocation.whole(machine), axes, sends)


@pytest.mark.parametrize("gpus", [2, 4, 8])
@pytest.mark.parametrize("calls", [1, 1000, 1_000_000])
def test_a_group_inside_a_node_takes_nccls_time(gpus: int, calls: int) -> None:
    """A call gathers a buffer of which each rank sends all but its own part."""
    mapped = map_mesh(f"tp={gpus}", [Traffic(("tp",), "ring", GB, calls)], POD)
    buffer = round(GB / calls * gpus / (gpus - 1))
    expected = predict_algorithms(DGX, 1, "allgather", buffer, gpus)[0].seconds
    assert mapped.has_nccl_times
    assert mapped.orders.given.total == pytest.approx(calls * expected, rel=1e-6)


@pytest.mark.parametrize("nodes", [2, 4, 16])
def test_a_group_that_fills_nodes_uses_all_their_nics(nodes: int) -> None:
    ranks = 8 * nodes
    mapped = map_mesh(f"dp={ranks}", f"dp={100 * GB}", POD)
    buffer = round(100 * GB * ranks / (ranks - 1))
    expected = predict_algorithms(DGX, nodes, "allgather", buffer)[0].seconds
    assert mapped.orders.given.total == pytest.approx(expected, rel=1e-6)
    # 18 NVLinks of 20.6 GB/s carry a little less than eight NICs of 48 GB/s.
    assert mapped.orders.given.total == pytest.approx(
        100 * GB / (18 * 20.6e9), rel=0.02
    )


def test_groups_with_a_gpu_per_node_use_a_nic_each() -> None:
    mapped = map_mesh("tp=8,dp=4", f"dp={GB}", POD)
    assert mapped.orders.given.total == pytest.approx(GB / 48e9, rel=0.05)


def test_an_alltoall_takes_nccls_time() -> None:
    mapped = map_mesh("ep=16", f"ep={GB}", POD)
    expected = predict_algorithms(DGX, 2, "alltoall", round(GB * 16 / 15))[0].seconds
    assert mapped.orders.given.total == pytest.approx(expected, rel=1e-6)


def test_a_halving_is_an_allreduce_and_a_chain_takes_line_rates() -> None:
    mapped = map_mesh("dp=8", f"dp=halving:{GB}", POD)
    buffer = round(GB / 2 * 8 / 7)
    expected = predict_algorithms(DGX, 1, "allreduce", buffer)[0].seconds
    assert mapped.orders.given.total == pytest.approx(expected, rel=1e-6)
    chain = map_mesh("tp=8,pp=2", f"pp={GB}", POD)
    assert chain.orders.given.total == pytest.approx(GB / 2 / 50e9, rel=1e-3)


def test_no_order_is_slower_than_the_default() -> None:
    """At line rates the best order is another one; NCCL uses more NICs in this one."""
    job = MegatronJob(tp=2, cp=4, pp=4, dp=16, ep=8, etp=1)
    traffic = parse_traffic("tp=50GB,ep=353GB,pp=1GB,edp=28GB", job.axes)
    allocation = Allocation.whole(load_machine("nvl72-row"))
    orders = map_axes(allocation, job, traffic).orders
    assert orders.best.total <= orders.nested.total <= orders.given.total


def test_calls_of_a_step_share_its_bytes() -> None:
    """Of 4 layers, a stage of 2 has 2, each with 6 gathers and 4 scatters."""
    step = parse_step(
        "layers=4,hidden=8,heads=4,kv_heads=4,head_size=2,ffn=16,batches=3"
    )
    calls = {one.name: one.calls for one in step.traffic(MegatronJob(tp=2, pp=2))}
    assert calls == {"tp": 3 * 2 * 10, "pp": 3 * 2}


@pytest.mark.parametrize(
    "machine", ["torus:4x4,bandwidth=50GB/s", "tree:4:4", "rails:8:2:1"]
)
def test_other_machines_keep_line_rates(machine: str) -> None:
    assert make_nccl_times(Allocation.whole(Machine(machine))) is None
    mapped = map_mesh("tp=4,dp=2", "tp=1GB", Machine(machine))
    assert not mapped.has_nccl_times
    assert mapped.document()["times"] == "line rates"
