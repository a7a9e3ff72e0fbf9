# SPDX-License-Identifier: BSD-3-Clause
"""Loads a graph with a placement file, or with a machine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from topoloom._core import Allocation, CommGraph, Error, Placement, Sharing
from topoloom.allocations.launch_order import LaunchOrder
from topoloom.graphs.graph_file import load_graph
from topoloom.machines.link_names import vertex_names
from topoloom.nodes.node_parts import NO_PARTS, NodeParts
from topoloom.placements.placement_file import PlacementFile, load_placement
from topoloom.support.files import exists
from topoloom.support.parameter_error import ParameterError
from topoloom.support.units import counted
from topoloom.tasks.launched_placement import (
    is_placement_file,
    load_launched_placement,
)
from topoloom.tasks.problem import (
    AllocationSpec,
    include_slots,
    load_nodes,
    load_problem,
    place_like_launcher,
    select_launched_slots,
)
from topoloom.tasks.sharing import NO_SHARING


class PlacementProblem(NamedTuple):
    """A graph, the slots of its ranks, and a placement if a file was given."""

    graph: CommGraph
    allocation: Allocation
    file: PlacementFile | None
    hosts: tuple[str, ...] | None = None  # host names of the allocation's nodes
    switches: tuple[str, ...] = ()
    node: NodeParts = NO_PARTS
    remark: str = ""  # what was assumed about the placement
    #: The launcher's placement, unless it is block order of the allocation.
    default: Placement | None = None

    @property
    def shared(self) -> bool:
        """Whether the placement lets ranks share slots."""
        return self.file is not None and self.file.placement.shared

    @property
    def capacities(self) -> tuple[float, ...]:
        """The slot capacities that the placement was made with."""
        return () if self.file is None else self.file.capacities

    def place_like_launcher(self) -> Placement:
        """Return the placement that the launcher makes by default."""
        return self.default or place_like_launcher(
            self.graph, self.allocation, self.shared, self.capacities
        )

    @property
    def fixed(self) -> dict[int, int]:
        """The slots of the ranks that had to be on them."""
        if self.file is None:
            return {}
        slots = self.file.placement.slots
        return {rank: int(slots[rank]) for rank in self.file.fixed}

    @property
    def vertex_names(self) -> dict[str, str]:
        """The names of hosts and switches by network vertex."""
        nodes, hosts = self.allocation.nodes.tolist(), self.hosts or ()
        of_node = dict(zip(nodes, hosts, strict=False))
        return vertex_names(self.allocation.machine, of_node, self.switches)


def load_placement_problem(
    action: str,
    graph_file: str,
    placement: str | None,
    machine: str | None,
    where: AllocationSpec,
    sharing: Sharing = NO_SHARING,
) -> PlacementProblem:
    """Load a graph with a placement or a machine; errors name `action`.

    `placement` is a placement file, or a launcher's file for ranks on `machine`.
    """
    if placement is None:
        if machine is None:
            raise ParameterError(
                "machine", f"is missing; name a placement file or a machine to {action}"
            )
        problem = load_problem(graph_file, machine, where, sharing)
        return PlacementProblem(
            problem.graph,
            problem.allocation,
            None,
            problem.hosts,
            problem.switches,
            problem.node,
        )
    if not is_placement_file(placement):
        files = [placement]
        [launched] = load_launched_problems(action, graph_file, files, machine, where)
        return launched
    graph, file = load_graph(graph_file), load_placement(placement)
    if machine or where.allocation or where.nodes:
        raise Error(
            f"{placement} contains its machine and allocation; "
            "leave out the machine and the allocation"
        )
    if where.order != LaunchOrder():
        raise Error(
            f"{placement} contains the slots of the job; leave out the launcher, and "
            "ranks per node, cores and memory per rank"
        )
    if len(file.placement.slots) != graph.rank_count:
        raise Error(
            f"{placement} places {counted(len(file.placement.slots), 'rank')}, "
            f"but {graph_file} has {graph.rank_count}"
        )
    return PlacementProblem(
        graph, file.allocation, file, file.hosts, file.switches, file.node
    )


def find_graph_file(path: Path, file: PlacementFile) -> str:
    """Find the graph file of a placement, in the current folder or the placement's.

    A placement file can come from others. It may therefore name only a graph beside or
    below it: results would show the content of any other file.
    """
    if not file.graph:
        raise Error(f"{path} does not name its graph; give the graph, too")
    for graph in (Path(file.graph), path.parent / file.graph):
        if exists(graph):
            if not graph.resolve().is_relative_to(path.parent.resolve()):
                raise Error(
                    f"{path} names the graph {file.graph}, which is neither beside nor "
                    "below it; if it is yours, give the graph, too"
                )
            return str(graph)
    raise Error(f"{path}: its graph {file.graph} does not exist; give the graph, too")


def load_launched_problems(
    action: str,
    graph_file: str,
    placements: Sequence[str],
    machine: str | None,
    where: AllocationSpec,
) -> list[PlacementProblem]:
    """Load a graph with launchers' files, such as rankfiles, for one job."""
    if machine is None:
        raise ParameterError(
            "machine",
            f"is missing; {placements[0]} is a launcher's file, which does not contain "
            f"the machine; name it, and the allocation, to {action}",
        )
    graph = load_graph(graph_file)
    given, described = load_nodes(machine, where)
    ranks = graph.rank_count
    loaded = [
        load_launched_placement(path, given, described.node, ranks)
        for path in placements
    ]
    started = None
    if not any(file.placement.shared for file, _ in loaded):
        started, _ = select_launched_slots(given, described, where, ranks)
    used = np.concatenate([file.placement.slots for file, _ in loaded])
    job, default = include_slots(used, given, started, ranks)
    return [
        PlacementProblem(
            graph,
            job.allocation,
            file.with_allocation(job.allocation),
            job.hosts,
            described.switches,
            described.node,
            remark,
            default,
        )
        for file, remark in loaded
    ]
