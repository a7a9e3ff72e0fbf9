# SPDX-License-Identifier: BSD-3-Clause
"""Loads a placement from a launcher's file, such as a rankfile or a host file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from topoloom._core import Error, Placement
from topoloom.allocations.allocation_file import AllocatedHosts
from topoloom.launch.exports.read_launch_file import (
    list_possible_formats,
    open_launch_file,
)
from topoloom.launch.host_placement import host_placement
from topoloom.nodes.node_parts import NodeParts
from topoloom.placements.placement_file import PlacementFile, load_placement
from topoloom.support.file_kinds import find_file_kind
from topoloom.support.files import read_text
from topoloom.support.units import counted
from topoloom.tasks.problem import (
    AllocationSpec,
    Problem,
    include_slots,
    load_nodes,
)


class LaunchedPlacement(NamedTuple):
    """A placement, and what was assumed about it, in one sentence or ""."""

    file: PlacementFile
    remark: str = ""


def is_placement_file(path: str) -> bool:
    """Return whether a file is a placement file, damaged or not, or no placement."""
    if ":" in path and not Path(path).exists():
        return False
    if find_file_kind(path) is not None:
        return True
    text = read_text(path)
    if list_possible_formats(text):
        return False
    return not text.strip() or text.lstrip().startswith("{")


def load_launched_placement(
    path: str, given: AllocatedHosts, node: NodeParts, ranks: int
) -> LaunchedPlacement:
    """Load the placement of `ranks` ranks in an allocation.

    `path` is a file, or ``FORMAT:FILE``. If the file names only hosts, the ranks of a
    host take its slots in the launcher's order. Raises `topoloom.Error` for invalid
    files, unknown formats, and hosts or slots outside the allocation.
    """
    allocation = given.allocation
    machine = allocation.machine
    job = host_placement(
        machine, allocation.nodes, allocation.slots, given.hosts, node=node
    )
    slots, are_stated = open_launch_file(path).read_slots(job, ranks)
    shared = len(np.unique(slots)) < len(slots)
    file = PlacementFile(
        machine=machine,
        allocation=allocation,
        placement=Placement(allocation, slots, shared=shared),
        hosts=given.hosts,
        node=node,
        objective="time" if machine.has_bandwidths else "hop-bytes",
        mapper=path,
    )
    is_assumed = not are_stated and machine.slots_per_node > 1
    return LaunchedPlacement(
        file,
        "assumed: ranks take the slots of a host in the launcher's order; "
        f"{path} names only hosts"
        if is_assumed
        else "",
    )


def load_earlier_placement(
    path: str, problem: Problem, machine: str, where: AllocationSpec
) -> LaunchedPlacement:
    """Load a placement file, or a launcher's file for the machine and allocation."""
    if is_placement_file(path):
        return LaunchedPlacement(load_placement(path))
    given, _ = load_nodes(machine, where)
    return load_launched_placement(path, given, problem.node, problem.graph.rank_count)


def load_present_placement(
    path: str, problem: Problem, machine: str, where: AllocationSpec, shared: bool
) -> tuple[Problem, LaunchedPlacement]:
    """Load the current placement of a job, to compare it with others.

    The returned problem has the whole allocation if the placement is not on the slots
    that the launcher would use.

    Raises `topoloom.Error` if the placement is of another job, or if ranks share slots
    although `shared` is not set.
    """
    given, _ = load_nodes(machine, where)
    ranks = problem.graph.rank_count
    if is_placement_file(path):
        loaded = LaunchedPlacement(load_placement(path))
        _check_same_job(path, loaded.file, given, ranks)
    else:
        loaded = load_launched_placement(path, given, problem.node, ranks)
    file, remark = loaded
    if file.placement.shared and not shared:
        raise Error(f"{path} lets ranks share slots; set an imbalance or capacities")
    started = AllocatedHosts(problem.allocation, problem.hosts)
    job, default = include_slots(file.placement.slots, given, started, ranks)
    if default is not None:
        problem = replace(
            problem,
            allocation=job.allocation,
            hosts=job.hosts,
            unused="",
            default=default,
        )
    return problem, LaunchedPlacement(file.with_allocation(job.allocation), remark)


def _check_same_job(
    path: str, file: PlacementFile, given: AllocatedHosts, ranks: int
) -> None:
    machine, slots = given.allocation.machine, file.placement.slots
    if file.machine.text != machine.text:
        raise Error(f"{path} is for {file.machine.text}, not {machine.text}")
    if len(slots) != ranks:
        raise Error(
            f"{path} places {counted(len(slots), 'rank')}, but the graph has {ranks}"
        )
    outside = np.flatnonzero(~np.isin(slots, given.allocation.slots))
    if len(outside):
        rank = int(outside[0])
        raise Error(
            f"{path} puts rank {rank} on slot {slots[rank]}, which is not in the "
            "allocation"
        )
