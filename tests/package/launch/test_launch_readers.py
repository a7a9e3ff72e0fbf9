# SPDX-License-Identifier: BSD-3-Clause
"""Each launcher format, read as its manual says, gives the placement.

The readers follow the descriptions of the formats, and share no code with the writers.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple
from unittest.mock import Mock

import pytest
from hypothesis import given, strategies as st

from topoloom import Error, Machine
from topoloom.allocations.allocation_file import parse_allocation
from topoloom.launch.exports import torchrun, torchrun_script
from topoloom.launch.exports.launch_formats import FORMATS, find_format
from topoloom.launch.host_placement import HostPlacement, host_placement
from topoloom.nodes.node_parts import Device, NodeParts

#: Two cores with two threads each, and one GPU near each core.
NODE = NodeParts(
    cpus=((0, 2), (1, 3)),
    devices=(Device("cuda0", "gpu", (0,)), Device("cuda1", "gpu", (1,))),
)
SLOTS = 2


class HostSlot(NamedTuple):
    """Host and slot of a rank; the slot is None if the format does not state it."""

    host: str
    slot: int | None = None


@st.composite
def draw_placement(
    draw: st.DrawFn, bind: str | None = None, axes: int | None = None
) -> HostPlacement:
    """Draw a placement on all nodes of a mesh, in any order.

    Ranks are on any slots, on all slots, or consecutive on each host.
    """
    sizes = st.integers(1, 3)
    shape = draw(st.lists(sizes, min_size=axes or 1, max_size=axes or 3))
    machine = Machine(f"mesh:{'x'.join(map(str, shape))}+node:{SLOTS}")
    nodes = draw(st.permutations(range(machine.node_count)))
    kind = draw(st.sampled_from(["anywhere", "full", "packed"]))
    most = machine.slot_count
    count = most if kind == "full" else draw(st.integers(1, most))
    slots = draw(st.permutations(range(most)))[:count]
    if kind == "packed":
        place = draw(st.permutations(range(machine.node_count)))
        slots.sort(key=lambda slot: place[slot // SLOTS])
    hosts = [f"cn{node:02}" for node in nodes]
    return host_placement(machine, nodes, slots, hosts, 1, NODE, bind)


def list_expected_slots(placement: HostPlacement, slots: bool) -> list[HostSlot]:
    return [
        HostSlot(f"cn{slot // SLOTS:02}", slot % SLOTS if slots else None)
        for slot in placement.machine_slot.tolist()
    ]


def find_slot(cpus: str) -> int:
    """Find the slot with the CPUs of a list such as ``0,2``."""
    return [list(slot) for slot in NODE.cpus].index([*map(int, cpus.split(","))])


def list_mask_bits(mask: str) -> str:
    return ",".join(str(i) for i in range(8) if int(mask, 16) >> i & 1)


def read_intel_machinefile(text: str, placement: HostPlacement) -> list[HostSlot]:
    listed = []
    for line in text.splitlines():
        match = re.fullmatch(r"(\S+):(\d+)(?: binding=map=\[(\S+)\])?", line)
        assert match, line
        masks = match[3].split(",") if match[3] else [None] * int(match[2])
        assert len(masks) == int(match[2])
        listed += [
            HostSlot(match[1], m and find_slot(list_mask_bits(m))) for m in masks
        ]
    return listed


def read_slurm_hostfile(text: str, placement: HostPlacement) -> list[HostSlot]:
    return [HostSlot(line) for line in text.splitlines()]


def read_taskmap(text: str, placement: HostPlacement) -> list[HostSlot]:
    """RFC 34: a block is repeated `repeat` times; its nodes get `each` ranks each."""
    (line,) = text.splitlines()
    return [
        HostSlot(placement.hosts[first + node])
        for first, nodes, each, repeat in json.loads(line)
        for _ in range(repeat)
        for node in range(nodes)
        for _ in range(each)
    ]


def read_vcoordfile(text: str, placement: HostPlacement) -> list[HostSlot]:
    """Read ``(x,y,z)`` in a job on all nodes of a machine, last axis fastest."""
    listed = []
    for line in text.splitlines():
        assert re.fullmatch(r"\(\d+(,\d+){0,2}\)", line)
        place = [int(number) for number in line[1:-1].split(",")]
        listed.append(HostSlot(f"cn{placement.machine.node_at(place):02}"))
    return listed


def read_jsrun_erf(text: str, placement: HostPlacement) -> list[HostSlot]:
    lines = [line for line in text.splitlines() if line.startswith("rank:")]
    assert text.splitlines()[0] == "cpu_index_using: physical"
    pattern = r"rank: (\d+): { host: (\d+); cpu: {([\d,]+)} ; gpu: {(\d+)} }"
    found = [re.fullmatch(pattern, line) for line in lines]
    assert all(found), text
    assert [int(match[1]) for match in found if match] == list(range(len(lines)))
    assert all(match[4] == str(find_slot(match[3])) for match in found if match)
    return [
        HostSlot(placement.hosts[int(match[2]) - 1], find_slot(match[3]))
        for match in found
        if match
    ]


def read_torchrun(text: str, placement: HostPlacement) -> list[HostSlot]:
    """Ranks are numbered from the first node; process i of a node uses the i-th GPU."""
    listed = []
    for node, line in enumerate(text.splitlines()[1:]):
        number, host, count, gpus = line.split()
        assert int(number) == node
        assert len(gpus.split(",")) == int(count)
        listed += [HostSlot(host, int(gpu)) for gpu in gpus.split(",")]
    return listed


def read_torchrun_script(text: str, placement: HostPlacement) -> list[HostSlot]:
    """Run the script on each host and print the arguments of torchrun."""
    by_node = {}
    for host in placement.hosts:
        run = subprocess.run(
            ["sh", "-c", text, "script", "env"],
            env={"PATH": os.environ["PATH"], "SLURMD_NODENAME": f"{host}.cluster"},
            capture_output=True,
            text=True,
            timeout=600,
        )
        if run.returncode == 0:
            own = dict(line.split("=", 1) for line in run.stdout.splitlines())
            assert own["PET_NODE_RANK"] == own["NODE_RANK"]
            assert own["PET_RDZV_BACKEND"] == "static"
            gpus = own["CUDA_VISIBLE_DEVICES"].split(",")
            assert len(gpus) == int(own["PET_NPROC_PER_NODE"])
            by_node[int(own["NODE_RANK"])] = [HostSlot(host, int(gpu)) for gpu in gpus]
            assert own["PET_MASTER_ADDR"] == placement.host_name(0)
            nodes = int(own["PET_NNODES"])
        else:
            assert "has no ranks in this order" in run.stderr
    assert sorted(by_node) == list(range(nodes))
    return [slot for node in range(nodes) for slot in by_node[node]]


def read_jax(text: str, placement: HostPlacement) -> list[HostSlot]:
    devices = [(host, local) for host in placement.hosts for local in range(SLOTS)]
    return [HostSlot(*devices[index]) for index in json.loads(text)["devices"]]


def read_json(text: str, placement: HostPlacement) -> list[HostSlot]:
    document = json.loads(text)
    assert (document["format"], document["version"]) == ("topoloom-ranks", 1)
    assert document["hosts"] == placement.hosts
    assert [r["rank"] for r in document["ranks"]] == [*range(placement.rank_count)]
    for rank in document["ranks"]:
        assert rank["cpus"] == list(NODE.cpus[rank["slot"]])
        assert rank["gpu"] == f"cuda{rank['slot']}"
        assert rank["nic"] is None
    return [HostSlot(rank["host"], rank["slot"]) for rank in document["ranks"]]


def read_rank_order(text: str, placement: HostPlacement) -> list[HostSlot]:
    """Read the rank order; its ranks fill the nodes, which have equal rank counts."""
    words = re.sub(r"#.*", "", text).replace(",", " ").split()
    counts = placement.ranks_per_host()
    full = int(counts[0])
    listed = {}
    for position, rank in enumerate(words):
        listed[int(rank)] = HostSlot(placement.hosts[position // full])
    assert sorted(listed) == list(range(placement.rank_count))
    return [listed[rank] for rank in range(placement.rank_count)]


Reader = Callable[[str, HostPlacement], list[HostSlot]]
READERS: dict[str, Reader] = {
    "intel-machinefile": read_intel_machinefile,
    "mpich-rank-order": read_rank_order,
    "slurm-hostfile": read_slurm_hostfile,
    "flux-taskmap": read_taskmap,
    "pjm-vcoordfile": read_vcoordfile,
    "jsrun-erf": read_jsrun_erf,
    "torchrun": read_torchrun,
    "torchrun-script": read_torchrun_script,
    "jax": read_jax,
    "json": read_json,
}
NAMES_SLOTS = {"jsrun-erf", "torchrun", "torchrun-script", "jax", "json"}


def is_expressible(name: str, placement: HostPlacement) -> bool:
    """Return whether a format can express a placement, according to its manual."""
    per_host = placement.ranks_of_hosts()
    counts = [len(ranks) for ranks in per_host]
    used = max(i for i, count in enumerate(counts) if count) + 1
    together = all(
        ranks == list(range(ranks[0], ranks[0] + len(ranks)))
        for ranks in per_host
        if ranks
    )
    return {
        "torchrun": together,
        "torchrun-script": together,
        "flux-taskmap": min(counts) > 0,
        "mpich-rank-order": min(counts[:used]) > 0
        and len({*counts[: used - 1], max(counts)}) == 1,
    }.get(name, True)


@pytest.mark.parametrize("name", READERS)
@given(draw_placement())
def test_written_files_read_back_as_the_placement(
    name: str, placement: HostPlacement
) -> None:
    if not is_expressible(name, placement):
        with pytest.raises(Error):
            find_format(name).write(placement)
        return
    listed = READERS[name](find_format(name).write(placement), placement)
    assert listed == list_expected_slots(placement, slots=name in NAMES_SLOTS)


@given(draw_placement(bind="core"))
def test_intel_mpi_pins_each_rank_to_the_cpus_of_its_slot(
    placement: HostPlacement,
) -> None:
    text = find_format("intel-machinefile").write(placement)
    assert read_intel_machinefile(text, placement) == list_expected_slots(
        placement, slots=True
    )


@given(draw_placement(axes=3))
def test_a_blue_gene_map_is_written_only_for_full_blocks(
    placement: HostPlacement,
) -> None:
    full = set(placement.ranks_per_host().tolist()) == {int(placement.slot.max()) + 1}
    if not full:
        with pytest.raises(Error, match="bluegene-map"):
            find_format("bluegene-map").write(placement)
        return
    listed = []
    for line in find_format("bluegene-map").write(placement).splitlines():
        *place, core = map(int, line.split(" "))
        listed.append(HostSlot(f"cn{placement.machine.node_at(place):02}", core))
    assert listed == list_expected_slots(placement, slots=True)


def test_a_blue_gene_q_map_has_six_numbers_a_line() -> None:
    machine = Machine("torus:2x1x2x1x2+node:2")
    slots = [*range(15, -1, -1)]
    placement = host_placement(machine, range(8), slots)
    lines = find_format("bluegene-map").write(placement).splitlines()
    assert lines[0] == "1 0 1 0 1 1"
    assert lines[-1] == "0 0 0 0 0 0"


@pytest.mark.parametrize(
    ("hosts", "taskmap"),
    [
        # examples of RFC 34
        ([0] * 4 + [1] * 4 + [2] * 4 + [3] * 4, "[[0,4,4,1]]"),
        ([0, 1, 2, 3] * 4, "[[0,4,1,4]]"),
        ([1] * 2 + [2] * 2 + [0] * 2, "[[1,2,2,1],[0,1,2,1]]"),
    ],
)
def test_task_maps_equal_the_examples_of_the_rfc(
    hosts: list[int], taskmap: str
) -> None:
    taken = [0] * 4
    slots = []
    for host in hosts:
        slots.append(4 * host + taken[host])
        taken[host] += 1
    nodes = range(max(hosts) + 1)
    placement = host_placement(Machine(f"mesh:{len(nodes)}+node:4"), nodes, slots)
    assert find_format("flux-taskmap").write(placement) == taskmap + "\n"


@given(draw_placement())
def test_a_vcoordfile_names_the_nodes_of_an_allocation(
    placement: HostPlacement,
) -> None:
    text = find_format("pjm-vcoordfile").write(placement)
    nodes = parse_allocation(placement.machine, text).allocation.nodes.tolist()
    taken = (placement.machine_slot // SLOTS).tolist()
    assert nodes == list(dict.fromkeys(taken))


def test_coordinates_are_relative_to_the_corner_of_the_job() -> None:
    machine = Machine("torus:4x4+node:2")
    block = [machine.node_at([x, y]) for x in (2, 3) for y in (1, 2)]
    slots = [2 * block[3], 2 * block[0], 2 * block[0] + 1]
    placement = host_placement(machine, block, slots)
    assert find_format("pjm-vcoordfile").write(placement) == "(1,1)\n(0,0)\n(0,0)\n"
    assert "node=2x2" in find_format("pjm-vcoordfile").format_usage_command(placement)


@pytest.mark.parametrize(
    ("machine", "nodes", "message"),
    [
        (
            "torus:4x4",
            [0, 1, 4],
            r"3 nodes .* do not form a complete box; their box is 2x2",
        ),
        ("tree:4:2", [0, 1], "not a torus or mesh"),
        (
            "torus:4x4,nodes=2",
            [0, 1],
            "not a torus or mesh with one node per router",
        ),
        ("torus:2x2x2x2", range(16), "1 to 3 coordinates, but the machine has 4"),
    ],
)
def test_coordinates_are_refused_without_a_grid(
    machine: str, nodes: list[int], message: str
) -> None:
    placement = host_placement(Machine(machine), nodes, nodes)
    with pytest.raises(Error, match=message):
        find_format("pjm-vcoordfile").write(placement)


def test_a_rank_order_lists_ranks_by_slot_and_not_slots_by_rank() -> None:
    """For a cycle of three ranks, the list and its inverse differ."""
    placement = host_placement(Machine("mesh:3"), range(3), [1, 2, 0])
    text = find_format("mpich-rank-order").write(placement)
    assert text.splitlines()[-1] == "2,0,1"


def test_ranks_that_share_a_gpu_are_refused_by_torchrun() -> None:
    one_gpu = NodeParts(NODE.names, NODE.cpus, (Device("cuda0", "gpu", (0, 1)),))
    placement = host_placement(
        Machine("mesh:1+node:2"), [0], [0, 1], ["a"], 1, one_gpu, None
    )
    with pytest.raises(Error, match="ranks 0 to 1 on host 'a' are nearest to 1 GPUs"):
        find_format("torchrun").write(placement)


def test_jsrun_files_require_cpu_numbers() -> None:
    placement = host_placement(Machine("mesh:2"), range(2), [1, 0])
    with pytest.raises(Error, match="has no CPUs of its slots; take one"):
        find_format("jsrun-erf").write(placement)


def test_jax_also_gets_coordinates_on_a_torus_of_devices() -> None:
    placement = host_placement(Machine("torus:2x2"), [3, 1, 0, 2], [1, 3, 0, 2])
    document = json.loads(find_format("jax").write(placement))
    assert document["devices"] == [1, 0, 2, 3]
    assert document["coords"] == [[0, 1], [1, 1], [0, 0], [1, 0]]


@given(draw_placement(bind="core"))
def test_per_host_lists_give_each_rank_its_cpus_and_gpu(
    placement: HostPlacement,
) -> None:
    """Lists with one entry per local rank are written only if all hosts agree."""
    srun = find_format("slurm-hostfile").format_usage_command(placement)
    flux = find_format("flux-taskmap").format_usage_command(placement)
    locals_ = [
        [int(placement.slot[rank]) for rank in ranks]
        for ranks in placement.ranks_of_hosts()
    ]
    longest = max(locals_, key=len)
    if any(slots != longest[: len(slots)] for slots in locals_):
        assert "-bind" not in srun
        assert "affinity" not in flux
        return
    masks = ",".join("0x5" if slot == 0 else "0xa" for slot in longest)
    gpus = ",".join(map(str, longest))
    assert f"--cpu-bind=mask_cpu:{masks} --gpu-bind=map_gpu:{gpus} -n" in srun
    cpus = ";".join("0,2" if slot == 0 else "1,3" for slot in longest)
    quote = "'" if len(longest) > 1 else ""
    assert f"-o {quote}cpu-affinity=map:{cpus}{quote} " in flux
    assert f"gpu-affinity=map:{gpus.replace(',', ';')}{quote} --taskmap" in flux


def test_every_format_has_a_launch_command() -> None:
    for entry in FORMATS:
        assert "FILE" in entry.usage
        placement = host_placement(Machine("mesh:2x2"), range(4), range(4), None, 1)
        assert "{" not in entry.format_usage_command(placement)


@pytest.mark.parametrize(
    "host", ["$(touch owned)", "a'b", "`id`", 'a"; touch owned; "']
)
def test_the_torchrun_script_quotes_any_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    monkeypatch.setattr(torchrun, "list_nodes", lambda _: [(host, [0])])
    (tmp_path / "job.sh").write_text(torchrun_script.write(Mock()))
    done = subprocess.run(
        ["sh", "job.sh", "printenv", "PET_MASTER_ADDR"],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "SLURMD_NODENAME": host},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == f"{host}\n"
    assert not (tmp_path / "owned").exists()
