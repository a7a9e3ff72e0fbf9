# SPDX-License-Identifier: BSD-3-Clause
"""Loads a graph with a placement file, or with a machine."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from topoloom._core import Allocation, CommGraph, Error, Sharing
from topoloom.allocations.launch_order import LaunchOrder
from topoloom.graphs.graph_file import load_graph
from topoloom.machines.link_names import vertex_names
from topoloom.nodes.node_parts import NO_PARTS, NodeParts
from topoloom.placements.placement_file import PlacementFile, load_placement
from topoloom.support.parameter_error import ParameterError
from topoloom.support.units import counted
from topoloom.tasks.launched_placement import (
    is_placement_file,
    load_launched_placement,
)
from topoloom.tasks.problem import (
    AllocationSpec,
    load_nodes,
    load_problem,
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

    @property
    def shared(self) -> bool:
        """Whether the placement lets ranks share slots."""
        return self.file is not None and self.file.placement.shared

    @property
    def capacities(self) -> tuple[float, ...]:
        """The slot capacities that the placement was made with."""
        return () if self.file is None else self.file.capacities

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
        return _load_launched_problem(action, graph_file, placement, machine, where)
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


def _load_launched_problem(
    action: str,
    graph_file: str,
    placement: str,
    machine: str | None,
    where: AllocationSpec,
) -> PlacementProblem:
    """Load a graph with a launcher's file, such as a rankfile."""
    if machine is None:
        raise ParameterError(
            "machine",
            f"is missing; {placement} is a launcher's file, which does not contain the "
            f"machine; name it, and the allocation, to {action}",
        )
    graph = load_graph(graph_file)
    given, described = load_nodes(machine, where)
    ranks = graph.rank_count
    file, remark = load_launched_placement(placement, given, described.node, ranks)
    if not file.placement.shared:
        started, _ = select_launched_slots(given, described, where, ranks)
        if np.isin(file.placement.slots, started.allocation.slots).all():
            given = started
    return PlacementProblem(
        graph,
        given.allocation,
        file,
        given.hosts,
        described.switches,
        described.node,
        remark,
    )
