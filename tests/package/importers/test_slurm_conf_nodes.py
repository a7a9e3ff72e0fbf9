# SPDX-License-Identifier: BSD-3-Clause
"""The nodes of slurm.conf: cores, GPUs, memory, and errors."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given, strategies as st

from topoloom import Error, Machine
from topoloom.importers.slurm.slurm_conf_nodes import read_slurm_nodes

CONF = r"""ClusterName=lab
NodeName=DEFAULT Sockets=2 CoresPerSocket=8 ThreadsPerCore=2 State=UNKNOWN
NodeName=cpu[1-4] RealMemory=256000
# NodeName=old Sockets=1
NodeName=gpu[1-2] CoresPerSocket=6 \
   Gres=gpu:a100:2(S:0),gpu:a100:2(S:1),nvme:1
nodename=fat1 Sockets=4
PartitionName=main Nodes=ALL Default=YES
"""


def test_nodes_differ_by_cores_gpus_and_memory() -> None:
    described = read_slurm_nodes(CONF)
    assert described.hosts == ("cpu1", "cpu2", "cpu3", "cpu4", "gpu1", "gpu2", "fat1")
    cpu, gpu, fat = described.node.types
    assert [kind.nodes for kind in (cpu, gpu, fat)] == [(0, 1, 2, 3), (4, 5), (6,)]
    assert [kind.levels.sizes for kind in (cpu, gpu, fat)] == [(8, 2), (6, 2), (8, 4)]
    assert cpu.parts.memory_size == 256_000 * 1024**2
    devices = gpu.parts.devices
    assert [device.name for device in devices] == ["gpu0", "gpu1", "gpu2", "gpu3"]
    assert devices[0].slots == devices[1].slots == tuple(range(6))
    assert devices[2].slots == devices[3].slots == tuple(range(6, 12))
    assert Machine(described.text).levels == [8, 4]


def test_equal_nodes_need_no_node_types() -> None:
    described = read_slurm_nodes("NodeName=a CPUs=4\nNodeName=b[1-2] CPUs=4\n")
    assert described.node.types == ()
    assert described.text == "tree:3+node:4,distance=8:16"


@pytest.mark.parametrize(
    ("values", "sizes"),
    [
        ("CPUs=8", [8]),
        ("CPUs=8 ThreadsPerCore=2", [4]),
        ("CPUs=8 Sockets=2", [4, 2]),
        ("CPUs=8 Sockets=2 ThreadsPerCore=2", [2, 2]),
        ("Boards=2 SocketsPerBoard=2 CoresPerSocket=3", [3, 4]),
        ("CoresPerSocket=3", [3]),
        ("CPUs=1", [1]),
    ],
)
def test_cores_are_counted_as_slurm_counts_them(values: str, sizes: list[int]) -> None:
    described = read_slurm_nodes(f"NodeName=n[0-1] {values}")
    assert Machine(described.text).levels == sizes


@pytest.mark.parametrize(
    ("gres", "count"),
    [("gpu", 1), ("gpu:4", 4), ("gpu:h100:8", 8), ("gpu:a:1,gpu:b:2", 3), ("nic:2", 0)],
)
def test_gpus_are_counted_from_gres(gres: str, count: int) -> None:
    described = read_slurm_nodes(f"NodeName=n[0-1] CPUs=4 Gres={gres}")
    assert len(described.node.devices) == count


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("NodeName=n1 RealMemory=5", "line 1: no cores are specified; write Sockets=2"),
        ("NodeName=n1 CPUs=0", "line 1: cpus=0 is not a number above 0"),
        ("NodeName=n1 CPUs=many", "line 1: cpus=many is not a number"),
        (
            "NodeName=n1 CPUs=2\nNodeName=n[1-2] CPUs=2",
            "line 2: node n1 is also on line",
        ),
        ("NodeName=n[1-", "line 1: "),
        ("NodeName=DEFAULT CPUs=2", "line 1: no NodeName= line names a node"),
        ("NodeName=n1 CPUs=99999", "line 1: 99999 cores exceed the maximum per node"),
        ("NodeName=n1 CPUs=2 Gres=gpu:9999", "line 1: Gres=gpu:9999 are over 1024"),
    ],
)
def test_invalid_slurm_conf_lines_are_named(text: str, message: str) -> None:
    with pytest.raises(Error) as caught:
        read_slurm_nodes(text)
    assert str(caught.value).startswith(message)


@given(st.text(alphabet="NodeNameCPUs=gresgpu:()S,[]-0123456789 \n\\", max_size=200))
def test_any_text_gives_a_machine_or_an_error(text: str) -> None:
    with contextlib.suppress(Error):
        Machine(read_slurm_nodes(f"NodeName={text}").text)
