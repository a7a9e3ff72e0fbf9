# SPDX-License-Identifier: BSD-3-Clause
"""Machines in the formats of SimGrid and Topoloom, and the ranks on them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from topoloom import Allocation, Machine, Placement
from topoloom.allocations import fragmented_allocation
from topoloom.machines.machine_file import load_machine
from topoloom.model.message_lines import format_model
from topoloom.model.model_names import load_model
from topoloom.schedules.choose import Call, RankSlots
from topoloom.schedules.joint_search import make_block_order, optimize_jointly

#: Attributes of SimGrid clusters of 1,024 hosts with links of 10 GB/s.
PLATFORMS = {
    "flat": 'lat="1us"',
    "fat tree": 'lat="500ns" topology="FAT_TREE" topo_parameters="2;32,32;1,16;1,1"',
    "torus": 'lat="100ns" topology="TORUS" topo_parameters="16,8,8"',
}
PLACEMENTS = ("block", "ours")
#: Attributes of clusters of 64 hosts; switches have equal uplinks and downlinks.
SMALL = {
    "torus 4x4x4": 'lat="100ns" topology="TORUS" topo_parameters="4,4,4"',
    "fat tree 8:8": 'lat="500ns" topology="FAT_TREE" topo_parameters="2;8,8;1,8;1,1"',
}

_CLUSTER = """\
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="n" suffix="" radical="0-{last}" speed="1Gf" bw="10GBps"
           loopback_bw="10GBps" loopback_lat="100ns" {what}/>
</platform>
"""


class PlacedJob(NamedTuple):
    """A job on a machine for the simulator, the library and the models.

    Attributes
    ----------
    platform, machine
        SimGrid's platform file, and libtopoloom-collective's machine file.
    hosts
        Host of each rank.
    slots
        Slot of each rank.
    """

    platform: Path
    machine: Path
    hosts: list[str]
    slots: RankSlots


def place_job(name: str, placement: str, ranks: int, folder: Path) -> PlacedJob:
    """Allocate nodes for a job, in four fragments if it does not fill the machine.

    Our placement is the best order of ranks for alltoalls of 512 B.
    """
    platform = folder / f"{name.replace(' ', '-')}.xml"
    platform.write_text(_CLUSTER.format(what=PLATFORMS[name], last=1023))
    machine = load_machine(str(platform))
    nodes = range(ranks)
    if ranks < machine.node_count and name != "flat":
        nodes = sorted(fragmented_allocation(machine, ranks, 4, 1).nodes)
    allocation = Allocation(machine, list(nodes), list(nodes))
    call = Call("alltoall", ranks, 512)
    order = make_block_order(call, allocation)
    if placement == "ours":
        model = load_model("simgrid").model
        order = optimize_jointly(call, allocation, model, seed=1).placement
    return _make_placed_job(platform, machine, RankSlots(allocation, order))


def place_on_nodes(name: str, nodes: Sequence[int], folder: Path) -> PlacedJob:
    """Allocate these nodes of a small machine, with one rank each."""
    platform = folder / f"{name.replace(' ', '-').replace(':', '-')}.xml"
    platform.write_text(_CLUSTER.format(what=SMALL[name], last=63))
    machine = load_machine(str(platform))
    allocation = Allocation(machine, list(nodes), list(nodes))
    placement = Placement(allocation, list(nodes))
    return _make_placed_job(platform, machine, RankSlots(allocation, placement))


def _make_placed_job(platform: Path, machine: Machine, slots: RankSlots) -> PlacedJob:
    return PlacedJob(
        platform,
        _write_machine_file(machine, platform.with_suffix(".machine")),
        [f"n{int(slot)}" for slot in slots.placement.slots],
        slots,
    )


def _write_machine_file(machine: Machine, file: Path) -> Path:
    lines: Sequence[str] = [f"node {i} n{i}\n" for i in range(machine.node_count)]
    costs = format_model(load_model("simgrid").model)
    file.write_text(f"{costs}machine {machine.text}\n" + "".join(lines))
    return file
