# SPDX-License-Identifier: BSD-3-Clause
"""Chooses free nodes for a job, or generates or measures an allocation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from topoloom._core import (
    Allocation,
    Error,
    Placement,
    choose_nodes,
    compact_nodes,
)
from topoloom.allocations.allocation_file import AllocatedHosts, load_allocation
from topoloom.allocations.compactness import measure_compactness
from topoloom.allocations.described_allocation import described_allocation
from topoloom.allocations.jobs_file import load_jobs
from topoloom.graphs.axes import Traffic
from topoloom.graphs.graph_file import load_graph
from topoloom.importers.node_groups import build_machine_of_type
from topoloom.machines.machine_facts import machine_name
from topoloom.machines.machine_file import load_machine_and_description
from topoloom.nodes.host_slot_numbers import HostSlotNumbers
from topoloom.nodes.hosts import format_host_count, list_hosts_of_nodes
from topoloom.nodes.node_parts import NO_PARTS, NodeParts
from topoloom.placements.placement_file import PlacementFile
from topoloom.support.parameter_error import ParameterError, check_int64
from topoloom.support.units import counted
from topoloom.tasks.machines.choose_for_mesh import MeshChoice, choose_for_mesh
from topoloom.tasks.machines.choose_hosts import (
    NodeChoice,
    choose_hosts,
    collect_hop_bytes,
)
from topoloom.tasks.problem import AllocationSpec, choose_allocation
from topoloom.tasks.search import UNLIMITED, MonitorSearch, Search, run_unmonitored

if TYPE_CHECKING:
    from topoloom.documents.allocations import AllocateDocument

Slots = npt.NDArray[np.uint32]


@dataclass(frozen=True)
class AllocatedNodes:
    """The nodes of a job, and facts about their shape."""

    nodes: AllocatedHosts
    title: str
    facts: Mapping[str, Any]  # facts about the shape
    choice: NodeChoice | None = None
    generated: Mapping[str, int] | None = None  # number of fragments, and seed
    machine_name: str = ""
    node: NodeParts = NO_PARTS
    switches: tuple[str, ...] = ()
    for_mesh: MeshChoice | None = None

    @property
    def interrupted(self) -> bool:
        """Whether a search was interrupted."""
        choices = (self.choice, self.for_mesh)
        return any(one is not None and one.interrupted for one in choices)

    def document(self, output: str | None = None) -> AllocateDocument:
        """Return the fields of the ``--json`` output."""
        allocation = self.nodes.allocation
        document: dict[str, Any] = {
            "machine": allocation.machine.text,
            "nodes": allocation.nodes.tolist(),
            "slots": allocation.slot_count,
            **self.facts,
            "output": output,
        }
        if self.choice is not None:
            document |= self.choice.document()
        elif self.for_mesh is not None:
            document |= self.for_mesh.document()
        else:
            document |= self.generated or {}
        return cast("AllocateDocument", document)

    def placement_file(self, **about: Any) -> PlacementFile:
        """Return the placement file on the chosen nodes; `about` adds fields to it."""
        choice = self.choice
        assert choice is not None
        assert choice.found is not None
        assert choice.graph is not None
        assert choice.placement is not None
        return PlacementFile.measured(
            choice.graph,
            self.nodes.allocation,
            choice.placement,
            hosts=self.nodes.hosts,
            node=self.node,
            switches=self.switches,
            mapper=choice.mapper,
            seed=choice.seed,
            work=choice.found.work,
            graph=choice.graph_file,
            **about,
        )


def allocate_nodes(
    machine_text: str,
    where: AllocationSpec,
    *,
    free: str | None = None,
    graph_file: str | None = None,
    mesh: Mapping[str, int] | None = None,
    traffic: Sequence[Traffic] = (),
    mapper: str = "auto",
    search: Search = UNLIMITED,
    jobs: Sequence[Path] = (),
    monitor: MonitorSearch = run_unmonitored,
) -> AllocatedNodes:
    """Choose, generate or read the nodes of a job, and measure them.

    Parameters
    ----------
    machine_text, where
        The machine, and the allocation or the number of nodes to generate or choose.
    free
        Nodes to choose from, as a file or a host list.
    graph_file, mapper, search
        The graph for which nodes are chosen; without one, nodes close to each other are
        chosen.
    mesh, traffic
        Axes for which hosts are chosen and ordered; see
        `topoloom.tasks.machines.choose_for_mesh`.
    jobs
        Files of other jobs, with which this job may share links.
    """
    machine, described = load_machine_and_description(machine_text)
    others: dict[str, Allocation] = {}
    for file in jobs:
        others |= load_jobs(machine, file, described.hosts)
    choice, for_mesh, generated = None, None, None
    if mesh is not None:
        listed = (
            described_allocation(machine, described)
            if free is None
            else load_allocation(machine, free, described.hosts)
        )
        chosen, for_mesh, title = choose_for_mesh(
            listed.allocation, mesh, traffic, search, monitor
        )
        nodes = listed.part(chosen)
    elif free is not None:
        listed = load_allocation(machine, free, described.hosts)
        chosen, choice, title = _choose_nodes(
            listed, described.node, where.nodes, graph_file, mapper, search, monitor
        )
        nodes = listed.part(chosen)
    elif where.allocation is not None or where.nodes is not None or described.allocated:
        nodes = choose_allocation(machine, described, where)
        hosts = list_hosts_of_nodes(machine, nodes.allocation.nodes)
        title = format_host_count(machine, len(nodes.allocation.nodes), len(hosts))
        if where.nodes is None:
            title += f" of {where.allocation or machine_text}"
        else:
            pieces = where.count_fragments(machine)
            title += f" in {counted(pieces, 'fragment')}, seed {where.seed}"
            generated = {"fragments": pieces, "seed": where.seed}
    else:
        raise ParameterError("nodes", "is missing; set it, or name an allocation")
    facts = measure_compactness(nodes.allocation, others, search.seed)
    name = machine_name(machine, described.node)
    return AllocatedNodes(
        nodes,
        title,
        facts,
        choice,
        generated,
        name,
        described.node,
        described.switches,
        for_mesh,
    )


def _restrict_to_one_type(
    free: Allocation, node: NodeParts
) -> tuple[Allocation, Callable[[Slots], Slots]]:
    """Return the free nodes as nodes of a machine that has only nodes of their type.

    Also return a function that maps slots of this machine to the original machine.
    """
    machine = free.machine
    ids = set(free.nodes.tolist())
    types = [kind for kind in node.types if ids & set(kind.nodes)]
    if not types:
        return free, lambda slots: slots
    if len(types) > 1:
        counts = " and ".join(str(len(kind.slots)) for kind in types)
        raise Error(
            f"the free nodes have {counted(len(types), 'type')}, of {counts} slots; "
            "give free nodes of one type"
        )
    one = build_machine_of_type(machine, types[0])
    own, per_node = one.slots_per_node, machine.slots_per_node
    places = types[0].levels.list_places()
    slot_of = np.zeros(own, np.uint32)
    slot_of[places] = types[0].slots

    def to_machine_slots(slots: Slots) -> Slots:
        return (slots // own * per_node + slot_of[slots % own]).astype(np.uint32)

    existing = free.nodes.astype(np.int64)[:, None] * own + np.array(places)
    return Allocation(one, free.nodes, existing.ravel()), to_machine_slots


def _choose_nodes(
    listed: AllocatedHosts,
    node: NodeParts,
    nodes: int | None,
    graph_file: str | None,
    mapper: str,
    search: Search,
    monitor: MonitorSearch,
) -> tuple[Allocation, NodeChoice, str]:
    """Choose `nodes` of the free nodes, by default enough for the graph."""
    free, machine = listed.allocation, listed.allocation.machine
    if machine.nodes_per_host > 1:
        return choose_hosts(free, nodes, graph_file, mapper, search, monitor)
    if nodes is not None:
        check_int64("nodes", nodes, 1)
    if graph_file is None:
        if nodes is None:
            raise ParameterError("nodes", "is missing; set the number of nodes")
        closest = compact_nodes(free, nodes, search.seed)
        draw = np.random.default_rng(search.seed).permutation(len(free.nodes))[:nodes]
        others = {"first": free.nodes[:nodes], "random": free.nodes[draw]}
        values = {
            name: Allocation(machine, those).average_distance
            for name, those in others.items()
        }
        values["chosen"] = closest.average_distance
        title = f"the {nodes} of {len(free.nodes)} free nodes that are closest together"
        slots = HostSlotNumbers(machine, node)
        return (
            slots.drop_missing(closest),
            NodeChoice("average_distance", values, search.seed),
            title,
        )
    graph = load_graph(graph_file)
    whole, slots_of = _restrict_to_one_type(free, node)
    per_node = whole.slot_count // len(whole.nodes)
    count = -(-graph.rank_count // per_node) if nodes is None else nodes
    with monitor("choosing nodes", search) as progress:
        found = choose_nodes(
            graph, whole, count, mapper, **search._asdict(), progress=progress
        )
        interrupted = not progress(found.work)
    allocation = Allocation(
        machine, found.allocation.nodes, slots_of(found.allocation.slots)
    )
    placement = Placement(allocation, slots_of(found.placement.slots))
    values = {**collect_hop_bytes(found), "chosen": found.hop_bytes}
    return (
        allocation,
        NodeChoice(
            "hop_bytes",
            values,
            search.seed,
            mapper,
            graph,
            str(graph_file),
            found,
            placement,
            interrupted,
        ),
        f"{count} of {len(free.nodes)} free nodes, chosen for {graph_file}",
    )
