# SPDX-License-Identifier: BSD-3-Clause
"""A placement in the launchers' words: each rank's host name and slot on that host."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from topoloom import Error

if TYPE_CHECKING:
    from topoloom import Machine

Ids = npt.NDArray[np.int64]


@dataclass(frozen=True)
class HostPlacement:
    """Where each rank sits; built by `host_placement`, which checks it.

    Attributes
    ----------
    hosts : list of str
        Names of the allocation's nodes in the launcher's order, all different.
    host : int array of shape ``(ranks,)``
        ``hosts[host[r]]`` is the name of rank ``r``'s node.
    slot : int array of shape ``(ranks,)``
        Slot of rank ``r`` on its node, from 0.
    machine_slot : int array of shape ``(ranks,)``
        The same slot, counted over the whole machine.
    slots_per_node : int
        Slots that each node of the machine has.
    packages : int
        Packages (sockets) in a node that has levels, else 1; slots are spread evenly.
    cores_per_slot : int
        Cores that one slot stands for.
    """

    hosts: list[str]
    host: Ids
    slot: Ids
    machine_slot: Ids
    slots_per_node: int
    packages: int = 1
    cores_per_slot: int = 1

    @property
    def rank_count(self) -> int:
        """Number of ranks."""
        return len(self.host)

    def name(self, rank: int) -> str:
        """Host name of a rank."""
        return self.hosts[int(self.host[rank])]

    def launch_order(self) -> Ids:
        """Ranks in the order of the slots they fill, node by node."""
        return np.lexsort((self.slot, self.host)).astype(np.int64)

    def ranks_per_host(self) -> Ids:
        """Count the ranks on each host, in the order of `hosts`."""
        return np.bincount(self.host, minlength=len(self.hosts)).astype(np.int64)

    def runs(self) -> list[tuple[int, int]]:
        """Split the ranks into stretches on one host: ``(host index, ranks)`` each."""
        starts = np.flatnonzero(np.diff(self.host, prepend=-1))
        ends = np.append(starts[1:], self.rank_count)
        pairs = zip(starts.tolist(), ends.tolist(), strict=True)
        return [(int(self.host[start]), end - start) for start, end in pairs]

    def fills_in_rank_order(self) -> bool:
        """Tell whether the ranks of each host take slots 0, 1, ... in rank order."""
        order = np.lexsort((np.arange(self.rank_count), self.host))
        host, slot = self.host[order], self.slot[order]
        first = np.searchsorted(host, host)
        return bool(np.array_equal(slot, np.arange(self.rank_count) - first))


def host_placement(
    machine: Machine,
    nodes: Sequence[int] | npt.NDArray[Any],
    slots: Sequence[int] | npt.NDArray[Any],
    hosts: Sequence[str] | None = None,
    cores_per_slot: int = 1,
) -> HostPlacement:
    """Name the host and the local slot of each rank.

    Parameters
    ----------
    machine : Machine
        The machine whose slots are meant.
    nodes : int array
        The allocation's nodes in the launcher's order.
    slots : int array of shape ``(ranks,)``
        Global slot of each rank.
    hosts : list of str, optional
        Host name of each of `nodes`; ``n<node id>`` if none are given.
    cores_per_slot : int
        Cores that one slot stands for (for programs with several threads a rank).

    Raises
    ------
    topoloom.Error
        If a name is missing, repeated or malformed, or a slot is not allocated.
    """
    names = [f"n{node}" for node in nodes] if hosts is None else list(hosts)
    _check_names(names, len(nodes))
    if cores_per_slot < 1:
        raise Error(f"a slot has at least 1 core, not {cores_per_slot}")
    slot_ids = np.asarray(slots, dtype=np.int64)
    per_node = machine.slots_per_node
    position = np.full(machine.node_count, -1, dtype=np.int64)
    position[np.asarray(nodes, dtype=np.int64)] = np.arange(len(nodes))
    host = position[slot_ids // per_node]
    if slot_ids.size and host.min() < 0:
        rank = int(np.argmin(host))
        raise Error(
            f"rank {rank} is on slot {slot_ids[rank]} of node "
            f"{slot_ids[rank] // per_node}, which is not in the allocation"
        )
    return HostPlacement(
        names,
        host,
        slot_ids % per_node,
        slot_ids,
        per_node,
        packages(machine),
        cores_per_slot,
    )


def packages(machine: Machine) -> int:
    """Count the packages of a node: the top level of a node with several levels."""
    levels = re.search(r"\+node:\d+(?::\d+)*:(\d+)", machine.text)
    return int(levels[1]) if levels else 1


def _check_names(names: list[str], node_count: int) -> None:
    if len(names) != node_count:
        raise Error(
            f"{len(names)} host names for an allocation of {node_count} nodes; "
            "give one name for each node, in the allocation's order"
        )
    for name in names:
        if not name or not all(c.isalnum() or c in "-._" for c in name):
            raise Error(
                f"'{name}' is not a host name (letters, digits, '-', '_' and '.')"
            )
    name, times = Counter(names).most_common(1)[0] if names else ("", 0)
    if times > 1:
        raise Error(f"host '{name}' is named {times} times; each node needs its own")
