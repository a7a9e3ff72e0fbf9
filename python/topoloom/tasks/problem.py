# SPDX-License-Identifier: BSD-3-Clause
"""Loads a placement problem: a graph, a machine and an allocation."""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from topoloom._core import (
    Allocation,
    CommGraph,
    Error,
    Machine,
    Placement,
    Sharing,
    fragmented_allocation,
    mappers,
    place,
)
from topoloom.allocations.allocation_file import AllocatedHosts, load_allocation
from topoloom.allocations.described_allocation import described_allocation
from topoloom.allocations.launch_order import LaunchOrder
from topoloom.graphs.graph_file import load_graph
from topoloom.importers.machine_description import MachineDescription
from topoloom.machines.machine_file import load_machine_and_description
from topoloom.nodes.host_slot_numbers import HostSlotNumbers
from topoloom.nodes.host_text import list_vacant_nodes
from topoloom.nodes.hosts import (
    format_host_count,
    list_hosts_of_nodes,
    list_nodes_of_hosts,
    make_host_machine,
    slots_per_host,
)
from topoloom.nodes.node_parts import NodeParts
from topoloom.support.name_lookup import describe_unknown_name
from topoloom.support.parameter_error import ParameterError, check_int64
from topoloom.support.units import counted
from topoloom.tasks.sharing import NO_SHARING, has_shared_slots

_LAUNCHER = "launcher("


@dataclass(frozen=True)
class Problem:
    """A graph, and the slots that its ranks may use."""

    graph: CommGraph
    machine: Machine
    allocation: Allocation
    hosts: tuple[str, ...] | None
    node: NodeParts
    unused: str = ""  # which slots of a larger allocation the launcher uses
    switches: tuple[str, ...] = ()
    available: Allocation | None = None  # all slots, if the launcher uses some of them
    #: The launcher's placement, unless it is block order of the allocation.
    default: Placement | None = None
    #: What was assumed about the nodes of the allocation.
    remark: str = ""

    @property
    def allocation_remarks(self) -> list[str]:
        """How the nodes were chosen, and which of their slots are used."""
        return [remark for remark in (self.remark, self.unused) if remark]


class AllocationSpec(NamedTuple):
    """The slots that a job may use, as the user describes them."""

    allocation: str | None = None
    nodes: int | None = None  # number of nodes of a generated allocation
    fragments: int | None = None
    seed: int = 1
    order: LaunchOrder = LaunchOrder()  # launcher order, which selects and orders slots

    def count_fragments(self, machine: Machine) -> int:
        """Return the number of fragments that a generated allocation has.

        The default is 4, but at most the number of routers: nodes of one router are not
        separated.
        """
        if self.fragments is not None:
            return self.fragments
        shape = machine.shape
        per_router = machine.node_count // math.prod(shape) if shape else 1
        return min(4, -(-(self.nodes or 0) // per_router))


def load_problem(
    graph_file: str,
    machine_text: str,
    where: AllocationSpec,
    sharing: Sharing = NO_SHARING,
) -> Problem:
    """Load a graph and an allocation; unless ranks share slots, slots must suffice."""
    graph = load_graph(graph_file)
    given, described = load_nodes(machine_text, where)
    machine = given.allocation.machine
    if has_shared_slots(sharing, graph, given.allocation):
        if where.order.has_limits:
            raise ParameterError(
                ("imbalance", "capacities"),
                "cannot be combined with ranks per node, cores per rank or memory per "
                "rank",
            )
        if where.order.line is not None:
            raise ParameterError(
                ("imbalance", "capacities"),
                "cannot be combined with a launch line; name a launcher without "
                "options",
            )
        return Problem(
            graph,
            machine,
            given.allocation,
            given.hosts,
            described.node,
            switches=described.switches,
            remark=given.remark,
        )
    check_fit(graph, given.allocation, graph_file)
    at, unused = select_launched_slots(given, described, where, graph.rank_count)
    return Problem(
        graph,
        machine,
        at.allocation,
        at.hosts,
        described.node,
        unused,
        described.switches,
        given.allocation,
        remark=given.remark,
    )


def select_launched_slots(
    given: AllocatedHosts,
    described: MachineDescription,
    where: AllocationSpec,
    ranks: int,
    as_started: bool = False,
) -> tuple[AllocatedHosts, str]:
    """Select the slots of an allocation that the launcher uses; also describe them.

    Without an allocation, all slots are selected, unless the launcher has an order of
    its own, or `as_started` is set because it places the ranks itself.
    """
    order, node = where.order, described.node
    words = ""
    allocated = where.allocation or where.nodes or described.allocated
    if allocated or as_started or order.has_own_order:
        at, words = order.select_used_slots(
            given.allocation, ranks, node.memory_size, node
        )
    elif order.has_limits:
        at = order.select_first_slots(given.allocation, ranks, node.memory_size, node)
    else:
        return given, words
    return given.part(at), words


def include_slots(
    used: npt.NDArray[np.uint32],
    given: AllocatedHosts,
    started: AllocatedHosts | None,
    ranks: int,
) -> tuple[AllocatedHosts, Placement | None]:
    """Choose the slots of a job that uses the slots `used`.

    These are the slots that the launcher selects, `started`, if they include `used`.
    Otherwise they are all slots, and the launcher's placement is returned, too.
    """
    if started is None:
        return given, None
    if np.isin(used, started.allocation.slots).all():
        return started, None
    return given, Placement(given.allocation, started.allocation.slots[:ranks])


def load_nodes(
    machine_text: str, where: AllocationSpec
) -> tuple[AllocatedHosts, MachineDescription]:
    """Load a machine and the allocation of a job."""
    machine, described = load_machine_and_description(machine_text)
    return choose_allocation(machine, described, where), described


def choose_allocation(
    machine: Machine, described: MachineDescription, where: AllocationSpec
) -> AllocatedHosts:
    """Read or generate an allocation; by default the machine file's, or all nodes."""
    hosts = described.hosts
    if where.allocation is not None and where.nodes is not None:
        raise ParameterError(
            ("allocation", "nodes"), "are mutually exclusive; give one of them"
        )
    if where.fragments is not None and where.nodes is None:
        raise ParameterError(
            "fragments", "is for a generated allocation, which requires nodes"
        )
    slots = HostSlotNumbers(machine, described.node)
    if where.allocation is not None:
        listed = load_allocation(machine, where.allocation, hosts)
        return replace(listed, allocation=slots.drop_missing(listed.allocation))
    if where.nodes is None:
        return described_allocation(machine, described)
    pieces = where.count_fragments(machine)
    allocation = generate_allocation(machine, hosts, where.nodes, pieces, where.seed)
    names = tuple(hosts[node] for node in allocation.nodes.tolist()) if hosts else None
    generated = f"{counted(where.nodes, 'node')} in {counted(pieces, 'fragment')}"
    remark = f"{generated}, generated with seed {where.seed}"
    return AllocatedHosts(slots.drop_missing(allocation), names, remark)


def generate_allocation(
    machine: Machine, hosts: Sequence[str], nodes: int, fragments: int, seed: int
) -> Allocation:
    """Check the numbers, and generate a fragmented allocation of `nodes` hosts."""
    check_int64("nodes", nodes, 1)
    check_int64("fragments", fragments, 1)
    check_int64("seed", seed, 0)
    if machine.nodes_per_host > 1:
        boxes = fragmented_allocation(
            make_host_machine(machine), nodes, fragments, seed
        )
        return Allocation(machine, list_nodes_of_hosts(machine, boxes.nodes))
    if not list_vacant_nodes(hosts):
        return fragmented_allocation(machine, nodes, fragments, seed)
    usable = set(range(machine.node_count)) - list_vacant_nodes(hosts)
    if nodes > len(usable):
        raise Error(
            f"cannot allocate {nodes:,} nodes: {len(usable):,} of the machine's nodes "
            "have a host, the others are vacant"
        )
    drawn = nodes
    while True:
        # Generate larger allocations until enough nodes have a host.
        allocation = fragmented_allocation(machine, drawn, fragments, seed)
        taken = [node for node in allocation.nodes.tolist() if node in usable]
        if len(taken) >= nodes:
            return Allocation(machine, taken[:nodes])
        drawn += nodes - len(taken)


class TooManyRanksError(Error):
    """An error of a job with more ranks than slots.

    Commands with the option advise ``--imbalance``. If nodes have one slot each, their
    cores are probably not described.
    """

    def __init__(self, problem: str, *, has_cores: bool = True) -> None:
        super().__init__(problem)
        self.problem = problem
        self.has_cores = has_cores

    def __str__(self) -> str:
        """Return the message with advice for all commands."""
        cores = "" if self.has_cores else "describe the cores of a node (+node:16), "
        return f"{self.problem}; {cores}allocate more nodes or start fewer ranks"

    def describe_for(self, options: set[str]) -> str:
        """Return the message for a command with these options."""
        sharing = ", or pass --imbalance 0 to let ranks share slots"
        return f"{self}{sharing if '--imbalance' in options else ''}"


def check_fit(graph: CommGraph, allocation: Allocation, name: str) -> None:
    """Raise an error if ranks outnumber slots."""
    if graph.rank_count > allocation.slot_count:
        machine = allocation.machine
        hosts = list_hosts_of_nodes(machine, allocation.nodes)
        raise TooManyRanksError(
            f"{name} has {counted(graph.rank_count, 'rank')}, but the allocation has "
            f"only {counted(allocation.slot_count, 'slot')} "
            f"({format_host_count(machine, len(allocation.nodes), len(hosts))} with "
            f"{_format_slots_per_host(allocation)} each)",
            has_cores=slots_per_host(machine) > 1,
        )


def _format_slots_per_host(allocation: Allocation) -> str:
    """Format the number of slots per host: ``4``, or ``4 to 8``."""
    owner = allocation.slots // slots_per_host(allocation.machine)
    _, counts = np.unique(owner, return_counts=True)
    least, most = int(counts.min()), int(counts.max())
    return f"{least}" if least == most else f"{least} to {most}"


def place_like_launcher(
    graph: CommGraph,
    allocation: Allocation,
    shared: bool = False,
    capacities: Sequence[float] = (),
) -> Placement:
    """Place like a launcher: ranks in order, equally many on each shared slot.

    With `capacities`, each slot is filled to the same share of its capacity; otherwise
    loads are ignored. If ranks do not fit in order, the capacities are multiplied by 2,
    4 or 8.
    """
    if not shared:
        return place(graph, allocation, mapper="block").placement
    sharing = Sharing(imbalance=1e6)
    for times in (1, 2, 4, 8):
        if not len(capacities):
            break
        held = Sharing(capacities=[times * each for each in capacities])
        with contextlib.suppress(Error):
            return place(graph, allocation, mapper="block", sharing=held).placement
    return place(graph, allocation, mapper="block", sharing=sharing).placement


def is_launcher_mapper(mapper: str) -> bool:
    """Return whether a mapper is ``launcher(LINE)``."""
    return mapper.startswith(_LAUNCHER) and mapper.endswith(")")


def check_mapper_names(mapper: str) -> None:
    """Raise an error if a part of a mapper, such as ``gge+swap``, is unknown."""
    if is_launcher_mapper(mapper):
        return
    known = [str(each["name"]) for each in mappers()]
    for part in re.split(r"\+(?![^()]*\))", mapper):
        name = part.partition("(")[0].strip()
        if name not in known:
            raise Error(describe_unknown_name("mapper", name, known))


def place_with_launcher(
    problem: Problem, mapper: str, shared: bool, fixed: Mapping[int, int]
) -> Placement:
    """Place ranks as the mapper ``launcher(srun --distribution=cyclic)`` says.

    Raises `topoloom.Error` if the launcher uses slots that are not the job's, or does
    not keep the ranks in `fixed` on their slots.
    """
    if shared:
        raise Error(f"{mapper} does not let ranks share slots")
    order = LaunchOrder(mapper[len(_LAUNCHER) : -1].strip())
    allocation, node = problem.allocation, problem.node
    slots = order.select_used_slots(
        problem.available or allocation,
        problem.graph.rank_count,
        node.memory_size,
        node,
    ).allocation.slots
    others = int(np.count_nonzero(~np.isin(slots, allocation.slots)))
    if others:
        raise Error(
            f"{mapper} places {counted(others, 'rank')} on slots that the job's "
            "launcher does not use; pass this launch line as the launcher, too"
        )
    moved = [rank for rank, slot in fixed.items() if slots[rank] != slot]
    if moved:
        raise Error(f"{mapper} moves rank {moved[0]}, which is fixed")
    return Placement(allocation, slots)
