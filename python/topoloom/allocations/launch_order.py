# SPDX-License-Identifier: BSD-3-Clause
"""The slots of an allocation that a launcher uses by default, in launcher order.

- ``slurm``: ``srun -N 3 -n 7`` spreads ranks evenly over the nodes, here 3, 2
  and 2; the ranks of a node are consecutive;
- ``openmpi``, ``mpich``: ``mpirun -n 7`` fills nodes one after another, up to a limit
  per node (``-N 3``, ``-ppn 3``);
- ``pjm``: on Fugaku, ``mpiexec -n 7`` fills the nodes of the job's box, equally many
  ranks each, the first axis fastest (``rank-map-bychip:XYZ``, the default);
- a launch line, such as ``srun --distribution=cyclic``, has its own order: see
  `launch.orders`.

On a node, ranks use slots in order. Two launchers may distribute bound ranks
round-robin over sockets instead: Slurm with ``task/affinity`` if ranks fill whole
nodes, and Open MPI if ranks fill whole sockets.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from topoloom._core import Allocation, Error
from topoloom.nodes.host_slot_numbers import HostSlotNumbers
from topoloom.nodes.hosts import host_count, list_hosts_of_nodes, slots_per_host
from topoloom.nodes.node_coordinates import has_coordinates, list_coordinates
from topoloom.nodes.node_parts import NO_PARTS, NodeParts
from topoloom.support.parameter_error import ParameterError
from topoloom.support.units import counted, format_bytes, format_size

if TYPE_CHECKING:
    from topoloom.launch.orders.launch_options import LaunchOrderRules

Counts = npt.NDArray[np.int64]


def deal_ranks(capacity: Counts, ranks: int) -> Counts:
    """Count the ranks of each node if ranks are distributed round-robin.

    >>> deal_ranks(np.array([4, 1, 4]), 7).tolist()
    [3, 1, 3]
    """
    rounds = range(int(capacity.max(initial=0)) + 1)
    whole = bisect.bisect_right(
        rounds, ranks, key=lambda k: np.minimum(capacity, k).sum()
    )
    counts = np.minimum(capacity, whole - 1)
    counts[np.flatnonzero(capacity >= whole)[: ranks - int(counts.sum())]] += 1
    return counts


def fill_nodes(capacity: Counts, ranks: int) -> Counts:
    """Count the ranks of each node if nodes are filled one after another.

    >>> fill_nodes(np.array([4, 1, 4]), 7).tolist()
    [4, 1, 2]
    """
    left = ranks - (np.cumsum(capacity) - capacity)
    counts: Counts = np.minimum(np.maximum(left, 0), capacity)
    return counts


def fill_nodes_equally(capacity: Counts, ranks: int) -> Counts:
    """Count the ranks of each node if nodes are filled to the same number.

    >>> fill_nodes_equally(np.array([4, 4, 4]), 7).tolist()
    [3, 3, 1]
    """
    each = -(-ranks // len(capacity))
    while np.minimum(capacity, each).sum() < ranks:
        each += 1
    return fill_nodes(np.minimum(capacity, each), ranks)


def order_by_first_axis(allocation: Allocation, axes: str = "XYZ") -> Allocation:
    """Order the nodes of a torus or mesh: the first of the axes varies fastest.

    Raises `topoloom.Error` if the machine is not a job's box of at most three axes.
    """
    machine = allocation.machine
    if not has_coordinates(machine) or len(machine.shape) > MAX_BOX_AXES:
        raise ParameterError(
            "launcher",
            f"pjm numbers the nodes of a job by coordinates, but {machine.name} is not "
            f"a torus or mesh of 1 to {MAX_BOX_AXES} axes with one node per router; "
            "describe the job by its shape, such as torus:4x6x8",
        )
    coordinates = list_coordinates(machine, allocation.nodes.tolist())
    dimensions = len(machine.shape)
    columns = ["XYZ".index(axis) for axis in axes if "XYZ".index(axis) < dimensions]
    if len(columns) < dimensions:
        raise ParameterError(
            "launcher", f"must name all {dimensions} axes of the job, not {axes}"
        )
    nodes = allocation.nodes[np.lexsort(coordinates[:, columns].T)]
    position = np.zeros(machine.node_count, np.int64)
    position[nodes] = np.arange(len(nodes))
    slots = allocation.slots
    order = np.argsort(position[slots // machine.slots_per_node], kind="stable")
    return Allocation(machine, nodes, slots[order])


class _Launcher(NamedTuple):
    spread: Callable[[Counts, int], Counts]
    #: (nodes, ranks, maximum ranks per node or 0, cores per rank) -> launch command
    command: Callable[[int, int, int, int], str]
    #: Reorders the nodes of an allocation; None if the launcher keeps their order.
    reorder_nodes: Callable[[Allocation], Allocation] | None = None


def _format_srun(nodes: int, ranks: int, _: int, cores: int) -> str:
    return f"srun -N {nodes} -n {ranks}" + (f" -c {cores}" if cores > 1 else "")


def _format_mpirun(_: int, ranks: int, most: int, cores: int) -> str:
    by = f" --map-by ppr:{most}:node:PE={cores}" if cores > 1 else f" -N {most}"
    return f"mpirun -n {ranks}" + (by if most else "")


def _format_mpiexec(_: int, ranks: int, most: int, __: int) -> str:
    return f"mpiexec -n {ranks}" + (f" -ppn {most}" if most else "")


def _format_pjm_mpiexec(nodes: int, ranks: int, most: int, _: int) -> str:
    each = most or -(-ranks // nodes)
    return f"mpiexec -n {ranks} with #PJM --mpi max-proc-per-node={each}"


#: Maximum number of axes of a PJM job's shape.
MAX_BOX_AXES = 3

SLURM, OPEN_MPI, MPICH, PJM = "slurm", "openmpi", "mpich", "pjm"
_LAUNCHERS = {
    SLURM: _Launcher(deal_ranks, _format_srun),
    OPEN_MPI: _Launcher(fill_nodes, _format_mpirun),
    MPICH: _Launcher(fill_nodes, _format_mpiexec),
    PJM: _Launcher(fill_nodes_equally, _format_pjm_mpiexec, order_by_first_axis),
}
LAUNCHERS = tuple(_LAUNCHERS)


class UsedSlots(NamedTuple):
    """The slots of an allocation that a job uses.

    Attributes
    ----------
    allocation
        One slot per rank, in launcher order, and the nodes of these slots.
    note
        Message for users that says which part of a larger allocation is used, and how
        to change this; "" if the job uses all slots.
    """

    allocation: Allocation
    note: str


@dataclass(frozen=True)
class LaunchOrder:
    """A launcher, and the maximum number of ranks per node.

    Attributes
    ----------
    launcher
        One of `LAUNCHERS`, or a launch line, which also states ranks per node and cores
        per rank.
    ranks_per_node
        Maximum number of ranks per node; the ranks then use as few nodes as possible.
        None for the launcher's default.
    cores_per_rank
        Number of consecutive slots of a node for each rank, which is placed on the
        first of them.
    memory_per_rank
        Bytes of the node's memory per rank; 0 for no limit.
    """

    launcher: str = SLURM
    ranks_per_node: int | None = None
    cores_per_rank: int = 1
    memory_per_rank: int = 0

    @property
    def has_limits(self) -> bool:
        """Whether options limit a node to fewer ranks than it has slots."""
        return (
            self.ranks_per_node is not None
            or self.cores_per_rank > 1
            or self.memory_per_rank > 0
        )

    @property
    def line(self) -> LaunchOrderRules | None:
        """The rules of a launch line; None for the name of a launcher."""
        if self.launcher in LAUNCHERS:
            return None
        from topoloom.launch.orders.launch_line import read_launch_line

        return read_launch_line(self.launcher)

    @property
    def has_own_order(self) -> bool:
        """Whether the launcher selects other slots than the first ones of each node."""
        return (
            self.launcher not in LAUNCHERS
            or _LAUNCHERS[self.launcher].reorder_nodes is not None
        )

    def select_first_slots(
        self,
        allocation: Allocation,
        ranks: int,
        memory: int = 0,
        node: NodeParts = NO_PARTS,
    ) -> Allocation:
        """Select every slot that can be the first slot of a rank.

        `memory` is each node's memory in bytes, 0 if unknown; `node` describes nodes
        that differ. Raises `topoloom.Error` if the ranks do not fit.
        """
        slots, capacity = self._find_slots_and_capacity(allocation, ranks, memory, node)
        return slots.select(capacity)

    def select_used_slots(
        self,
        allocation: Allocation,
        ranks: int,
        memory: int = 0,
        node: NodeParts = NO_PARTS,
    ) -> UsedSlots:
        """Select the slots that the launcher uses; rank i runs on slot i of the result.

        Parameters and errors are the same as for `select_first_slots`.
        """
        if self.line is not None:
            return self._select_slots_of_line(self.line, allocation, ranks, node)
        reorder = _LAUNCHERS[self.launcher].reorder_nodes
        if reorder is not None:
            allocation = reorder(allocation)
        slots, capacity = self._find_slots_and_capacity(allocation, ranks, memory, node)
        if self.ranks_per_node is not None:
            capacity = np.where(np.cumsum(capacity) - capacity < ranks, capacity, 0)
        counts = _LAUNCHERS[self.launcher].spread(capacity, ranks)
        note = ""
        if ranks < allocation.slot_count:
            kind = "node" if allocation.machine.nodes_per_host == 1 else "host"
            note = self._describe_used_part(slots.free, capacity, counts, kind)
        return UsedSlots(slots.select(counts), note)

    def _select_slots_of_line(
        self,
        line: LaunchOrderRules,
        allocation: Allocation,
        ranks: int,
        node: NodeParts,
    ) -> UsedSlots:
        from topoloom.allocations.launch_line_slots import (
            has_packages,
            place_with_launch_line,
        )

        if line.axes:
            allocation = order_by_first_axis(allocation, line.axes)
        machine = allocation.machine
        slots = place_with_launch_line(line, allocation, ranks, node)
        has_slots = np.isin(allocation.nodes, slots // machine.slots_per_node)
        used = Allocation(machine, allocation.nodes[has_slots], slots)
        notes = []
        if ranks < allocation.slot_count:
            kind = "node" if machine.nodes_per_host == 1 else "host"
            whole = _AllocatedSlots(allocation, 1, node).free
            counts = _AllocatedSlots(used, 1, node).free
            which = f"{len(counts):,} of them" if len(counts) < len(whole) else "each"
            notes.append(
                f"{counted(len(whole), kind)} of {_format_slots(whole)}: "
                f"{counted(ranks, 'rank')} use {_format_slots(counts)} of {which}, as "
                f"{self.launcher} does"
            )
        if line.assumption and has_packages(machine, node):
            notes.append(line.assumption)
        return UsedSlots(used, "; ".join(notes))

    def _find_slots_and_capacity(
        self, allocation: Allocation, ranks: int, memory: int, node: NodeParts
    ) -> tuple[_AllocatedSlots, Counts]:
        """Return each node's slots, and each node's maximum number of ranks."""
        slots = _AllocatedSlots(allocation, self.cores_per_rank, node)
        known = node.of_nodes(allocation.nodes.tolist()) if node.types else ()
        sizes = [parts.memory_size for parts in known] or [memory] * len(slots.free)
        capacity = self._compute_node_capacities(slots, np.array(sizes, np.int64))
        _check_capacity(ranks, capacity)
        return slots, capacity

    def _describe_used_part(
        self, free: Counts, capacity: Counts, counts: Counts, kind: str
    ) -> str:
        """Describe the used part of a larger allocation, and how to change this."""
        launcher = _LAUNCHERS[self.launcher]
        ranks, most = int(counts.sum()), int(capacity.max())
        nodes, used = len(counts), int(np.count_nonzero(counts))
        slots = counts[counts > 0] * self.cores_per_rank
        which = f"{used:,} of them" if used < nodes else "each" if nodes > 1 else "it"
        command = launcher.command(
            used, ranks, most if self.has_limits else 0, self.cores_per_rank
        )
        hint = ""
        if self.ranks_per_node is None:
            if -(-ranks // most) < used:
                hint = f"; --ranks-per-node {most} packs them"
            elif used < nodes:
                hint = f"; --ranks-per-node {-(-ranks // nodes)} spreads them"
        return (
            f"{counted(nodes, kind)} of {_format_slots(free)}: "
            f"{counted(ranks, 'rank')} {'uses' if ranks == 1 else 'use'} "
            f"{_format_slots(slots)} of {which}, as {command} does{hint}"
        )

    def _compute_node_capacities(
        self, slots: _AllocatedSlots, memory: Counts
    ) -> Counts:
        """Return the maximum number of ranks of each node."""
        capacity = slots.capacity
        if not capacity.any():
            raise ParameterError(
                "cores_per_rank",
                f"is {self.cores_per_rank}, but a node of the allocation has only "
                f"{counted(int(slots.free.max(initial=0)), 'slot')}",
            )
        if self.memory_per_rank:
            capacity = np.minimum(capacity, self._count_ranks_in_memory(memory))
        if self.ranks_per_node is None:
            return capacity
        if self.ranks_per_node > capacity.max():
            raise ParameterError(
                "ranks_per_node",
                f"is {self.ranks_per_node}, but only {capacity.max()} fit on a node of "
                "the allocation",
            )
        return np.minimum(capacity, self.ranks_per_node)

    def _count_ranks_in_memory(self, memory: Counts) -> Counts:
        if not memory.all():
            raise ParameterError(
                "memory_per_rank",
                'requires the memory size of nodes; set memory_size = "512 GiB" in '
                "[node] of the machine's TOML (create one with 'topoloom machine "
                "export MACHINE -o machine.toml'), or set the number of ranks per node",
            )
        most = int(memory.max())
        if self.memory_per_rank > most:
            raise ParameterError(
                "memory_per_rank",
                f"is {_format_size(self.memory_per_rank)}, more than the "
                f"{_format_size(most)} of a node",
            )
        return memory // self.memory_per_rank


def make_launch_line_order(line: str) -> LaunchOrder:
    """Make the launch order of a launch line.

    Raises `topoloom.Error` if the launcher or one of its words is unknown.
    """
    from topoloom.launch.orders.launch_line import read_launch_line

    return LaunchOrder(line, cores_per_rank=read_launch_line(line).cores_per_rank)


def _check_capacity(ranks: int, capacity: Counts) -> None:
    """Raise `topoloom.Error` if the nodes have too few slots for the ranks."""
    if ranks > capacity.sum():
        raise Error(
            f"{counted(ranks, 'rank')} on {counted(len(capacity), 'node')} with room "
            f"for {_format_range(capacity)} each; allocate more nodes, or allow more "
            "ranks per node"
        )


class _AllocatedSlots:
    """The slots of an allocation, host by host; each rank uses `slots_per_rank`."""

    def __init__(
        self, allocation: Allocation, slots_per_rank: int, node: NodeParts = NO_PARTS
    ) -> None:
        machine = allocation.machine
        hosts = list_hosts_of_nodes(machine, allocation.nodes)
        position = np.full(host_count(machine), -1, np.int64)
        position[hosts] = np.arange(len(hosts))
        owner = position[allocation.slots.astype(np.int64) // slots_per_host(machine)]
        order = np.argsort(owner, kind="stable")
        slots, owner = allocation.slots[order].astype(np.int64), owner[order]
        local = HostSlotNumbers(machine, node).to_local_slots(slots)
        # A rank does not span two GPUs of a host.
        jumps = np.diff(slots // machine.slots_per_node) != 0
        jumps |= (np.diff(owner) != 0) | (np.diff(local) != 1)
        runs = np.flatnonzero(np.concatenate([[True], jumps, [True]]))
        lengths = np.diff(runs)
        inside = np.arange(len(slots)) - np.repeat(runs[:-1], lengths)
        is_first = (inside % slots_per_rank == 0) & (
            inside + slots_per_rank <= np.repeat(lengths, lengths)
        )
        self._allocation = allocation
        self._first_slots, self._owner = slots[is_first], owner[is_first]
        #: For each host: the number of slots, and the number of ranks that fit.
        self.free: Counts = np.bincount(owner, minlength=len(hosts)).astype(np.int64)
        self.capacity: Counts = np.bincount(self._owner, minlength=len(hosts)).astype(
            np.int64
        )

    def select(self, counts: Counts) -> Allocation:
        """Select the first slots of `counts` ranks on each host."""
        first = np.cumsum(self.capacity) - self.capacity
        number = np.arange(len(self._first_slots)) - first[self._owner]
        slots = self._first_slots[number < counts[self._owner]]
        machine, nodes = self._allocation.machine, self._allocation.nodes
        has_slots = np.isin(nodes, slots // machine.slots_per_node)
        return Allocation(machine, nodes[has_slots], slots.astype(np.uint32))


def _format_size(amount: int) -> str:
    """Format bytes exactly in the largest fitting unit; round to avoid many digits."""
    exact = format_size(amount)
    return exact if len(exact) <= len("1023 GiB") else format_bytes(amount)


def _format_slots(counts: Counts) -> str:
    """Format slot counts: ``1 slot`` or ``3 to 4 slots``."""
    return f"{_format_range(counts)} slot" + ("" if counts.max() == 1 else "s")


def _format_range(counts: Counts) -> str:
    least, most = int(counts.min()), int(counts.max())
    if least == most:
        return f"{most:,}"
    return f"{least:,} {'or' if most == least + 1 else 'to'} {most:,}"
