# SPDX-License-Identifier: BSD-3-Clause
"""The nodes of slurm.conf: cores, GPUs, memory, and errors."""

from __future__ import annotations

import contextlib
from pathlib import Path

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


def test_cores_reserved_for_the_system_are_no_slots() -> None:
    """32 cores, of which four are reserved: two of each socket."""
    described = read_slurm_nodes((Path(__file__).parent / "data/s2.conf").read_text())
    assert Machine(described.text).levels == [14, 2]
    reserved, assumed = described.remarks
    assert reserved == "4 cores per node reserved for the system on 2 nodes"
    assert assumed.startswith("assumed: reserved cores (CoreSpecCount) of 2 nodes are")


def test_an_odd_number_of_reserved_cores_leaves_vacant_places() -> None:
    line = "NodeName=n[1-2] Sockets=2 CoresPerSocket=4 ThreadsPerCore=2"
    gpus = "Gres=gpu:1(S:0),gpu:1(S:1) RealMemory=1000 MemSpecLimit=100"
    (kind,) = read_slurm_nodes(f"{line} {gpus} CpuSpecList=0-1,3").node.types
    assert (kind.levels.sizes, kind.levels.vacant) == ((4, 2), (2, 3))
    assert [device.slots for device in kind.parts.devices] == [(0, 1), (2, 3, 4, 5)]
    assert kind.parts.memory_size == 900 * 1024**2
    (kind,) = read_slurm_nodes(f"{line} CoreSpecCount=3").node.types
    # Socket 1 loses two cores, socket 0 loses one.
    assert (kind.levels.sizes, kind.slots) == ((3, 2), (0, 1, 2, 3, 4))


def test_what_is_assumed_or_ignored_is_counted() -> None:
    described = read_slurm_nodes(
        "include gpus.conf\nNodeName=a[1-3] Gres=gpu:2,nvme:1 State=DOWN\n"
        "NodeName=b1\nDownNodes=a1,b1 State=DRAIN"
    )
    assert described.text == "tree:4+node:1,distance=8:16"
    assert described.remarks == (
        "Gres=nvme of 3 nodes ignored: only gpu is read",
        "assumed: 1 core on 4 nodes without CPUs=; slurmd -C prints them",
        "2 nodes of DownNodes= taken as usable; use +down:",
        "3 nodes with State=DOWN taken as usable; use +down:",
        "1 include line ignored",
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("include n.conf", "line 1: no NodeName= line names a node; give the included"),
        (
            "NodeName=n1 CPUs=2 CoreSpecCount=2",
            "line 1: all cores are reserved for the system",
        ),
        ("NodeName=n1 CPUs=2 CpuSpecList=2", "line 1: CpuSpecList"),
        ("NodeName=n1 CPUs=2 MemSpecLimit=x", "line 1: memspeclimit=x is not a number"),
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
