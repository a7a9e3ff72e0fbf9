# SPDX-License-Identifier: BSD-3-Clause
"""Every export is read back, and so are files that Topoloom has not written."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, assume, given, settings, strategies as st

from topoloom import Error, Machine
from topoloom.launch.export_format import ExportFormat
from topoloom.launch.exports.launch_formats import FORMATS, READABLE
from topoloom.launch.exports.read_launch_file import LaunchFile, list_possible_formats
from topoloom.launch.host_placement import HostPlacement, host_placement
from topoloom.launch.nearest_devices import list_nearest_gpu_numbers
from topoloom.launch.rank_blocks import deal_blocks
from topoloom.nodes.node_parts import Device, NodeParts

SLOTS = 4
#: Formats that place all ranks or none.
RANKS = {"mpich-rank-order": 6}
#: Four cores of two threads; two GPUs, each near two cores.
NODE = NodeParts(
    cpus=((0, 4), (1, 5), (2, 6), (3, 7)),
    devices=(Device("cuda0", "gpu", (0, 1)), Device("cuda1", "gpu", (2, 3))),
)


#: Nodes by their text: without packages, with two packages and CPUs that alternate
#: between them, and with one slot.
NODES = {
    "node:4": NODE,
    "node:2:2": NodeParts(("package", "node"), cpus=((0, 4), (2, 6), (1, 5), (3, 7))),
    "node:1": NodeParts(cpus=((0, 1),)),
}
#: 10,000 round trips over all formats with --full.
ROUND_TRIPS = settings(
    max_examples=6 * settings().max_examples if settings().max_examples > 20 else 20,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
)


@st.composite
def draw_placement(draw: st.DrawFn, entry: ExportFormat) -> HostPlacement:
    """Draw a placement that many formats can express, on all nodes of a mesh."""
    axes = 3 if entry.name == "bluegene-map" else draw(st.integers(1, 3))
    shape = draw(st.lists(st.integers(1, 3), min_size=axes, max_size=axes))
    text = draw(st.sampled_from(sorted(NODES)))
    machine = Machine(f"mesh:{'x'.join(map(str, shape))}+{text}")
    each, count = machine.slots_per_node, machine.slot_count
    nodes = draw(st.permutations(range(machine.node_count)))
    slots = draw(st.permutations(range(count)))
    kind = draw(st.sampled_from(["anywhere", "full", "packed", "even", "shared"]))
    if kind in ("anywhere", "packed"):
        slots = slots[: draw(st.integers(1, count))]
    if kind == "packed":
        place = draw(st.permutations(range(machine.node_count)))
        slots.sort(key=lambda slot: place[slot // each])
    if kind == "even":
        most = draw(st.integers(1, each))
        slots = [slot for slot in slots if slot % each < most]
    if kind == "shared":
        assume(entry.sharing is not None and entry.keeps_slots is KEEPS_ALL)
        slots = draw(st.lists(st.sampled_from(slots), min_size=1, max_size=30))
    bind = draw(st.sampled_from([None, "core"])) if entry.binds == "ranks" else None
    hosts = [f"cn{node:02}" for node in nodes]
    return host_placement(machine, nodes, slots, hosts, 1, NODES[text], bind)


#: The default of `ExportFormat.keeps_slots`: a file names the slots of all ranks.
KEEPS_ALL = ExportFormat.keeps_slots


@pytest.mark.parametrize(
    "entry", [each for each in FORMATS if each.read], ids=lambda each: each.name
)
@ROUND_TRIPS
@given(data=st.data())
def test_every_export_is_read_back(entry: ExportFormat, data: st.DataObject) -> None:
    placement = data.draw(draw_placement(entry))
    try:
        text = entry.write(placement)
    except Error:
        assume(False)
    machine, nodes = placement.machine, placement.nodes
    each = machine.slots_per_node
    every = [each * node + core for node in nodes for core in range(each)]
    job = host_placement(machine, nodes, every, placement.hosts, 1, placement.node)
    assert entry in list_possible_formats(text)
    slots, _ = LaunchFile("f", text, [entry]).read_slots(job, placement.rank_count)
    if entry.name.startswith("torchrun"):  # the first slot near the same GPU
        gpus = list_nearest_gpu_numbers(placement)
        again = replace(placement, slot=slots % each, machine_slot=slots)
        assert list_nearest_gpu_numbers(again) == gpus
    elif entry.keeps_slots(placement):
        assert slots.tolist() == placement.machine_slot.tolist()
    assert (slots // each).tolist() == (placement.machine_slot // each).tolist()


def make_job() -> HostPlacement:
    """Make a job with a rank on each slot of n2, n0 and n1."""
    machine = Machine(f"mesh:3+node:{SLOTS}")
    nodes = [2, 0, 1]
    slots = [SLOTS * node + core for node in nodes for core in range(SLOTS)]
    return host_placement(machine, nodes, slots, ["n2", "n0", "n1"], 1, NODE)


def read_hosts(text: str, name: str, ranks: int) -> list[str]:
    """Read a file of a recognized format; list the host and slot of each rank."""
    [entry] = [each for each in list_possible_formats(text) if each.name == name]
    found, _ = LaunchFile("f", text, [entry]).read_slots(make_job(), ranks)
    return [f"n{slot // SLOTS}:{slot % SLOTS}" for slot in found.tolist()]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("slurm-hostfile", "n1*2,n0\nn2\n", "n1:0 n1:1 n0:0 n2:0"),
        ("slurm-hostfile", "n1,n1,n0,n2", "n1:0 n1:1 n0:0 n2:0"),
        ("rank-hosts", "2: n0\n0: n1.site\n3: n2\n1: n1\n", "n1:0 n1:1 n0:0 n2:0"),
        ("rank-hosts", "[0] n1\n[3] n2\n[2] n0\n[1] n1\n", "n1:0 n1:1 n0:0 n2:0"),
        ("rank-hosts", "[1,1]<stdout>:n1\n[1,0]<stdout>: n2\n", "n2:0 n1:0"),
        ("mpich-rank-order", "# grid_order -C\n1,0\n3-5,2\n", "n2:1 n2:0 n1:1"),
        ("openmpi-rankfile", "rank 1=+n0 slot=3\nrank 0=n1 slots=0-1\n", "n1:0 n2:3"),
        ("hostfile", "n1 slots=1 max_slots=4\nn0 slots=2\n", "n1:0 n0:0 n0:1"),
        ("hostfile", "n0 max-slots=4\n", "n0:0 n0:1"),
        (
            "mpich-hostfile",
            "n1:1 binding=user:6\nn0:2 binding=user:1+5,0\n",
            "n1:2 n0:1 n0:0",
        ),
        (
            "jsrun-erf",
            "cpu_index_using: logical\nrank: 1: {host: 1; cpu: {2-3}}\n"
            "rank: 0: { host: 3; cpu: {7} } : app 0\n",
            "n1:3 n2:1",
        ),
        (
            "jsrun-erf",
            "rank: 0: { host: 3; cpu: {7} }\ncpu_index_using: physical\n",
            "n1:3",
        ),
        (
            "torchrun",
            "# node_rank host nproc_per_node cuda_visible_devices\n"
            "1 n2 1 0\n0 n0 2 1,0\n",
            "n0:2 n0:0 n2:0",
        ),
        (
            "slurm-environment",
            "PATH=/bin\nSLURM_JOB_NODELIST=n[0-2]\nSLURM_TASKS_PER_NODE=4(x3)\n"
            "SLURM_STEP_NODELIST=n[0-1]\nSLURM_STEP_TASKS_PER_NODE=3,1\n",
            "n0:0 n0:1 n0:2 n1:0",
        ),
        (
            "slurm-environment",
            'export SLURM_JOB_NODELIST="n[0-2]"\nexport SLURM_TASKS_PER_NODE="2,1(x2)"'
            '\nexport SLURM_DISTRIBUTION="cyclic:block"\n',
            "n0:0 n1:0 n2:0 n0:1",
        ),
    ],
)
def test_files_of_launchers_are_read(name: str, text: str, expected: str) -> None:
    words = expected.split()
    assert read_hosts(text, name, RANKS.get(name, len(words)))[: len(words)] == words


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("slurm-hostfile", "n1*2 n0\n", "f:1: expected a host name, not 'n1"),
        ("rank-hosts", "0: n1\n0: n2\n", "rank 0 has two locations"),
        ("jsrun-erf", "rank: 0: {host: 1; cpu: {0}}\n", "cpu_index_using: logical"),
        ("torchrun", "0 n1 2 0\n", "node rank 0 has 2 ranks, but only the GPUs 0"),
        ("torchrun", "0 n1 1 2\n", "GPU 2 of host 'n1' is not in the allocation"),
        ("slurm-environment", "SLURM_JOB_NODELIST=n0\n", "TASKS_PER_NODE is missing"),
        (
            "slurm-environment",
            "SLURM_JOB_NODELIST=n[0-1]\nSLURM_TASKS_PER_NODE=2\n",
            "lists 2 hosts, but tasks per node for 1",
        ),
        (
            "slurm-environment",
            "SLURM_JOB_NODELIST=n[0-1]\nSLURM_TASKS_PER_NODE=2(x2)\n",
            "has 4 tasks, but the graph has 2 ranks; write the output of env",
        ),
        (
            "slurm-environment",
            "SLURM_JOB_NODELIST=n0\nSLURM_TASKS_PER_NODE=2\n"
            "SLURM_DISTRIBUTION=arbitrary\n",
            "SLURM_DISTRIBUTION is arbitrary, which does not determine",
        ),
    ],
)
def test_wrong_files_are_refused(name: str, text: str, message: str) -> None:
    [entry] = [each for each in READABLE if each.name == name]
    with pytest.raises(Error, match=message):
        LaunchFile("f", text, [entry]).read_slots(make_job(), 2)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=6), st.integers(1, 5))
def test_hosts_get_blocks_of_ranks_in_turn(counts: list[int], size: int) -> None:
    def list_hosts(rows: list[list[int]]) -> list[int]:
        host_of = {rank: host for host, own in enumerate(rows) for rank in own}
        return [host_of[rank] for rank in range(sum(counts))]

    order = list_hosts(deal_blocks(counts, size))
    assert [order.count(host) for host in range(len(counts))] == counts
    rounds = [order[:i].count(host) // size for i, host in enumerate(order)]
    assert rounds == sorted(rounds)
    assert list_hosts(deal_blocks(counts, max(1, sum(counts)))) == sorted(order)
