# SPDX-License-Identifier: BSD-3-Clause
"""A placement for launchers: the host name and local slot of each rank."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from topoloom._core import Error
from topoloom.nodes.host_slot_numbers import HostSlotNumbers
from topoloom.nodes.hosts import (
    host_count,
    list_host_names,
    list_hosts_of_nodes,
    slots_per_host,
)
from topoloom.nodes.node_parts import NO_PARTS, NodeParts, package_count
from topoloom.support.name_lookup import describe_unknown_name
from topoloom.support.parameter_error import ParameterError
from topoloom.support.units import counted

if TYPE_CHECKING:
    from topoloom._core import Machine

#: Binding targets: all CPUs of the rank's slot, or one hardware thread (PU).
CORE, PU = BINDS = ("core", "pu")

CPUS_REMEDY = (
    "take one from hwloc ('topoloom machine import node.xml -o m.toml', joined with a "
    "network by 'topoloom machine import NETWORK --node node.xml') or 'detect', or "
    "write node.cpus"
)

Ids = npt.NDArray[np.int64]


@dataclass(frozen=True)
class HostPlacement:
    """Host and slot of each rank; built and checked by `host_placement`.

    Attributes
    ----------
    hosts : list of str
        Unique names of the allocation's hosts in launcher order.
    nodes : int array of shape ``(hosts,)``
        Node id of each host; in a rail network, of its first GPU.
    host : int array of shape ``(ranks,)``
        ``hosts[host[r]]`` is the name of rank ``r``'s host.
    slot : int array of shape ``(ranks,)``
        ``slot[r]`` is the slot of rank ``r`` on its host, from 0.
    machine_slot : int array of shape ``(ranks,)``
        Slot of each rank, numbered over the whole machine.
    slots_per_host : int
        Slots per host in the machine's numbering, which is uniform even if nodes
        differ.
    cores_per_slot : int
        Cores per slot.
    machine : Machine
        The machine that the slots belong to.
    node : NodeParts
        CPUs and devices of nodes, if known.
    bind : str or None
        Binding target, one of `BINDS`; None for the launcher's default.
    slots_per_rank : int
        Number of consecutive slots per rank; `slot` is the first one.
    slots_of_host, packages_of_host : int array of shape ``(hosts,)``
        Slots and packages (sockets) of each host; 1 package if their number is not
        known, or if they differ in slots.
    has_uneven_packages : bool array of shape ``(hosts,)``
        Whether the packages of a host differ in slots.
    parts_of_host : list of NodeParts
        CPUs and devices of each host.
    has_invented_names : bool
        Whether `hosts` is n7 for node 7, because no names are known.
    """

    hosts: list[str]
    nodes: Ids
    host: Ids
    slot: Ids
    machine_slot: Ids
    slots_per_host: int
    cores_per_slot: int
    machine: Machine
    node: NodeParts
    bind: str | None
    slots_per_rank: int
    slots_of_host: Ids
    packages_of_host: Ids
    has_uneven_packages: npt.NDArray[np.bool_]
    parts_of_host: list[NodeParts]
    has_invented_names: bool = False

    @property
    def rank_count(self) -> int:
        """Number of ranks."""
        return len(self.host)

    @property
    def cores_per_rank(self) -> int:
        """Number of cores of each rank, hence of threads of hybrid programs."""
        return self.cores_per_slot * self.slots_per_rank

    @property
    def has_several_packages(self) -> bool:
        """Whether any host is known to have several packages."""
        return bool((self.packages_of_host > 1).any() or self.has_uneven_packages.any())

    @property
    def shares_slots(self) -> bool:
        """Whether several ranks are on one slot."""
        return len(np.unique(self.machine_slot)) < self.rank_count

    def host_name(self, rank: int) -> str:
        """Return the host name of a rank."""
        return self.hosts[int(self.host[rank])]

    def cpus(self, rank: int) -> tuple[int, ...]:
        """List a rank's CPUs, numbered as by the operating system; () if unknown."""
        known = self.parts_of_host[int(self.host[rank])].cpus
        if not known:
            return ()
        first = int(self.slot[rank])
        if self.bind == PU:
            return known[first][:1]
        own = known[first : first + self.slots_per_rank]
        return tuple(cpu for cpus in own for cpu in cpus)

    def cpus_per_rank(self) -> int | None:
        """Count the CPUs of each rank's cores; None if unknown, or if ranks differ."""
        unbound = replace(self, bind=None)
        counts = {len(unbound.cpus(rank)) for rank in range(self.rank_count)}
        return counts.pop() if len(counts) == 1 and 0 not in counts else None

    def launch_order(self) -> Ids:
        """List the ranks in the order of their slots, host by host."""
        return np.lexsort((self.slot, self.host)).astype(np.int64)

    def ranks_per_host(self) -> Ids:
        """Count the ranks on each host, in the order of `hosts`."""
        return np.bincount(self.host, minlength=len(self.hosts)).astype(np.int64)

    def ranks_of_hosts(self) -> list[list[int]]:
        """List the ranks on each host, ascending, in the order of `hosts`."""
        order = np.argsort(self.host, kind="stable")
        ends = np.cumsum(self.ranks_per_host())[:-1]
        return [part.tolist() for part in np.split(order, ends)]

    def host_runs(self) -> list[tuple[int, int]]:
        """List the runs of ranks on one host, as pairs ``(host index, rank count)``."""
        starts = np.flatnonzero(np.diff(self.host, prepend=-1))
        ends = np.append(starts[1:], self.rank_count)
        pairs = zip(starts.tolist(), ends.tolist(), strict=True)
        return [(int(self.host[start]), end - start) for start, end in pairs]

    def require_one_run_per_host(
        self, target: str, remedy: str
    ) -> list[tuple[int, int]]:
        """Return `host_runs`; raise `topoloom.Error` if a host has several runs.

        The message contains the name of the format, `target`, two ranks of the host,
        and `remedy`.
        """
        runs = self.host_runs()
        first_rank: dict[int, int] = {}
        rank = 0
        for host, count in runs:
            if host in first_rank:
                raise Error(
                    f"{target} cannot express this placement: ranks "
                    f"{first_rank[host]} and {rank} are both on host "
                    f"'{self.hosts[host]}', but not the ranks between them; {remedy}"
                )
            first_rank[host] = rank
            rank += count
        return runs

    def fills_in_rank_order(self) -> bool:
        """Return whether ranks fill the slots of each host, from 0, in rank order."""
        order = np.lexsort((np.arange(self.rank_count), self.host))
        host, slot = self.host[order], self.slot[order]
        number = np.arange(self.rank_count) - np.searchsorted(host, host)
        return bool(np.array_equal(slot, number * self.slots_per_rank))

    def is_bound_or_in_rank_order(self) -> bool:
        """Return whether ranks are bound, or fill each host's slots in rank order."""
        return self.bind is not None or self.fills_in_rank_order()

    def drop_unused_hosts(self) -> HostPlacement:
        """Remove hosts without ranks, and order the others by their lowest rank.

        Hydra 5.0 forwards standard input to its first host, and aborts if rank 0 runs
        elsewhere.
        """
        used, first_rank = np.unique(self.host, return_index=True)
        return self._select_hosts(used[np.argsort(first_rank)])

    def reorder_used_hosts(self, names: Sequence[str]) -> HostPlacement | None:
        """Keep hosts with ranks, in the order of `names`; None if `names` lacks one."""
        order = {name: index for index, name in enumerate(names)}
        used = np.unique(self.host).tolist()
        if any(self.hosts[host] not in order for host in used):
            return None
        used.sort(key=lambda host: order[self.hosts[host]])
        return self._select_hosts(np.array(used, dtype=np.int64))

    def _select_hosts(self, kept: Ids) -> HostPlacement:
        index = np.full(len(self.hosts), -1, dtype=np.int64)
        index[kept] = np.arange(len(kept))
        return replace(
            self,
            hosts=[self.hosts[host] for host in kept],
            nodes=self.nodes[kept],
            host=index[self.host],
            slots_of_host=self.slots_of_host[kept],
            packages_of_host=self.packages_of_host[kept],
            has_uneven_packages=self.has_uneven_packages[kept],
            parts_of_host=[self.parts_of_host[host] for host in kept.tolist()],
        )


def host_placement(
    machine: Machine,
    nodes: Sequence[int] | npt.NDArray[Any],
    slots: Sequence[int] | npt.NDArray[Any],
    hosts: Sequence[str] | None = None,
    cores_per_slot: int = 1,
    node: NodeParts = NO_PARTS,
    bind: str | None = None,
    slots_per_rank: int = 1,
) -> HostPlacement:
    """Convert machine slot numbers to host names and local slots.

    Parameters
    ----------
    machine : Machine
        The machine that the slots belong to.
    nodes : int array
        The allocation's nodes in launcher order.
    slots : int array of shape ``(ranks,)``
        Slot of each rank, numbered over the machine.
    hosts : list of str, optional
        One name per host of `nodes`, or one host name per node. Default: ``n7`` for
        host 7.
    cores_per_slot : int
        Cores per slot, for programs with several threads per rank.
    node : NodeParts
        CPUs and devices of each host.
    bind : str, optional
        One of `BINDS`: bind each rank to all CPUs of its slot, or only to the first
        CPU.
    slots_per_rank : int
        Number of consecutive slots per rank; `slots` contains the first ones.

    Raises
    ------
    topoloom.Error
        If a name is missing, repeated or malformed, a slot is not allocated, or no
        CPUs are known to bind to.
    """
    numbers = list_hosts_of_nodes(machine, nodes)
    if hosts is None:
        names = [f"n{number}" for number in numbers.tolist()]
    else:
        names = list_host_names(machine, nodes, hosts)
    _check_names(names)
    if cores_per_slot < 1:
        raise Error(f"a slot has at least 1 core, not {cores_per_slot}")
    first_nodes = numbers * machine.nodes_per_host
    parts_of_host = node.of_nodes(first_nodes.tolist())
    known = {id(parts): parts for parts in parts_of_host}.values()
    if bind is not None:
        for parts in known:
            _check_bind(bind, parts, cores_per_slot)
    for parts in known:
        _check_cores(cores_per_slot, slots_per_rank, parts)
    slot_ids = np.asarray(slots, dtype=np.int64)
    per_node = machine.slots_per_node
    position = np.full(machine.node_count, -1, dtype=np.int64)
    node_ids = np.asarray(nodes, dtype=np.int64)
    place = np.zeros(host_count(machine), dtype=np.int64)
    place[numbers] = np.arange(len(numbers))
    position[node_ids] = place[node_ids // machine.nodes_per_host]
    host = position[slot_ids // per_node]
    if slot_ids.size and host.min() < 0:
        rank = int(np.argmin(host))
        raise Error(
            f"rank {rank} is on slot {slot_ids[rank]} of node "
            f"{slot_ids[rank] // per_node}, which is not in the allocation"
        )
    slots_of = HostSlotNumbers(machine, node)
    local = slots_of.to_local_slots(slot_ids)
    if slot_ids.size and local.min() < 0:
        rank = int(np.argmin(local))
        raise Error(
            f"rank {rank} is on slot {slot_ids[rank]}, which host {names[host[rank]]} "
            "does not have; place the ranks again"
        )
    on_rails = machine.nodes_per_host > 1
    count = 1 if on_rails else package_count(machine.levels, node.names)
    packages, uneven = [count] * len(names), [False] * len(names)
    if node.types:
        counts = [(kind.package_count, kind.has_uneven_packages) for kind in node.types]
        of_host = [counts[i] for i in node.type_indices(first_nodes.tolist())]
        packages = [each for each, _ in of_host]
        uneven = [each for _, each in of_host]
    return HostPlacement(
        names,
        first_nodes,
        host,
        local,
        slot_ids,
        slots_per_host(machine),
        cores_per_slot,
        machine,
        node,
        bind,
        slots_per_rank,
        slots_of.counts[numbers],
        np.array(packages, np.int64),
        np.array(uneven, np.bool_),
        parts_of_host,
        has_invented_names=hosts is None,
    )


def _check_bind(bind: str, node: NodeParts, cores_per_slot: int) -> None:
    if bind not in BINDS:
        raise Error(describe_unknown_name("thing to bind to", bind, BINDS))
    if not node.cpus:
        raise Error(
            f"cannot bind to a {bind}: the machine has no CPUs of its "
            f"slots; {CPUS_REMEDY}"
        )
    if cores_per_slot > 1:
        raise ParameterError(
            ("bind", "cores_per_slot"),
            "are mutually exclusive; node.cpus defines the CPUs of a slot",
        )


def _check_cores(cores_per_slot: int, slots_per_rank: int, node: NodeParts) -> None:
    """Raise `topoloom.Error` if slots have more cores than the node has CPUs."""
    if node.cpus and cores_per_slot > 1 and slots_per_rank > 1:
        raise ParameterError(
            "cores_per_slot",
            f"must be 1, not {cores_per_slot}: each rank has {slots_per_rank} of the "
            "node's slots, whose CPUs are known",
        )
    cores, cpus = cores_per_slot * len(node.cpus), sum(map(len, node.cpus))
    if cores_per_slot > 1 and cores > cpus:
        raise ParameterError(
            "cores_per_slot",
            f"is {cores_per_slot}: {counted(len(node.cpus), 'slot')} would have "
            f"{cores} cores, but a node has {counted(cpus, 'CPU')}; place ranks with "
            "several cores per rank instead",
        )


def _check_names(names: list[str]) -> None:
    for name in names:
        if not name or not all(c.isalnum() or c in "-._" for c in name):
            raise Error(
                f"'{name}' is not a host name (letters, digits, '-', '_' and '.')"
            )
    name, times = Counter(names).most_common(1)[0] if names else ("", 0)
    if times > 1:
        raise Error(f"host '{name}' is named {times} times; each host needs its own")
