# SPDX-License-Identifier: BSD-3-Clause
"""Finds the slots that the ranks of a command may use, with host names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from topoloom.support.units import counted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from topoloom._core import Allocation
    from topoloom.allocations.allocation_file import AllocatedHosts
    from topoloom.importers.machine_description import MachineDescription
    from topoloom.launch.host_placement import HostPlacement
    from topoloom.launch.launcher import Launch
    from topoloom.launch.launchers.launcher_commands import LauncherCommand
    from topoloom.launch.launchers.unplaced_command import UnplacedCommand
    from topoloom.tasks.problem import AllocationSpec


class LaunchSlots(NamedTuple):
    """The slots that ranks may use, and the options of CPU binding.

    `where` is the allocation as the user described it.
    """

    allocated: AllocatedHosts
    described: MachineDescription
    where: AllocationSpec
    cores_per_slot: int
    bind: str | None
    cores_per_rank: int = 1

    @property
    def allocation(self) -> Allocation:
        """The slots."""
        return self.allocated.allocation

    def select_used(self, ranks: int, as_started: bool = False) -> LaunchSlots:
        """Restrict the allocation to the slots that the launcher uses."""
        from topoloom.tasks.problem import select_launched_slots

        allocated, _ = select_launched_slots(
            self.allocated, self.described, self.where, ranks, as_started
        )
        return self._replace(allocated=allocated)

    def build_launch(
        self,
        read: LauncherCommand | UnplacedCommand,
        slots: NDArray[np.uint32],
        directory: str,
    ) -> Launch:
        """Build the command that starts rank i on ``slots[i]``."""
        return read.apply(self.make_host_placement(slots), Path(directory))

    def make_host_placement(self, slots: NDArray[np.uint32]) -> HostPlacement:
        """Return host and CPUs of each rank, with rank i on ``slots[i]``."""
        from topoloom.launch.host_placement import host_placement

        return host_placement(
            self.allocation.machine,
            self.allocation.nodes,
            slots,
            self.allocated.hosts,
            self.cores_per_slot,
            self.described.node,
            self.bind,
            self.cores_per_rank,
        )


def find_launch_slots(
    read: LauncherCommand | UnplacedCommand,
    machine: str,
    where: AllocationSpec,
    hosts: str | None,
    cores_per_slot: int,
    bind: str | None,
    cores_per_rank: int,
) -> LaunchSlots:
    """Find the slots that a job may use, and the names of their hosts.

    Host names are taken from `hosts`, else from the allocation, else from the command.

    Raises
    ------
    topoloom.Error
        If host names are missing, or their number does not match.
    """
    from topoloom.nodes.hosts import list_hosts_of_nodes
    from topoloom.support.hostlist import expand_hostlist
    from topoloom.support.parameter_error import ParameterError
    from topoloom.tasks.problem import load_nodes

    given, described = load_nodes(machine, where)
    names = expand_hostlist(hosts) if hosts is not None else given.hosts
    if names is None:
        names = read.list_hosts()
    if names is None:
        unnamed = list_hosts_of_nodes(given.allocation.machine, given.allocation.nodes)
        raise ParameterError(
            "hosts",
            f"is missing: {counted(len(unnamed), 'host', 'have')} no known name; list "
            "the names, or name an allocation that contains them",
        )
    allocated = set_host_names(given, names)
    return LaunchSlots(
        allocated, described, where, cores_per_slot, bind, cores_per_rank
    )


def set_host_names(given: AllocatedHosts, names: Sequence[str]) -> AllocatedHosts:
    """Return the allocation with these host names."""
    from topoloom.allocations.allocation_file import AllocatedHosts
    from topoloom.nodes.hosts import (
        format_host_count,
        list_hosts_of_nodes,
        list_node_names,
    )
    from topoloom.support.parameter_error import ParameterError

    machine, nodes = given.allocation.machine, given.allocation.nodes
    hosts = len(list_hosts_of_nodes(machine, nodes))
    if len(names) not in (hosts, len(nodes)):
        each = "node" if machine.nodes_per_host == 1 else "of them"
        raise ParameterError(
            "hosts",
            f"has {counted(len(names), 'host')} for an allocation of "
            f"{format_host_count(machine, len(nodes), hosts)}; name one host for each "
            f"{each}, or choose the nodes with an allocation",
        )
    return AllocatedHosts(given.allocation, list_node_names(machine, nodes, names))


def check_rank_count(
    read: LauncherCommand | UnplacedCommand, ranks: int, name: str
) -> None:
    """Raise an error if the command starts another number of ranks."""
    from topoloom._core import Error

    started = read.rank_count()
    if started is not None and started != ranks:
        raise Error(
            f"the command starts {counted(started, 'rank')}, but {name} has {ranks}"
        )


def find_launcher_order_name(read: LauncherCommand | UnplacedCommand) -> str:
    """Return a command's launcher order: all but srun fill node after node."""
    from topoloom.allocations.launch_order import OPEN_MPI, SLURM
    from topoloom.launch.launchers import srun
    from topoloom.launch.launchers.unplaced_command import UnplacedCommand

    known = read.known if isinstance(read, UnplacedCommand) else read
    return SLURM if known and known.launcher is srun else OPEN_MPI


def check_applicable(
    read: LauncherCommand | UnplacedCommand, slots: LaunchSlots
) -> None:
    """Raise an error before the run if the command cannot apply any placement."""
    from topoloom.tasks.problem import TooManyRanksError

    ranks = read.rank_count()
    if ranks is None:
        return
    slot_count = slots.allocation.slot_count
    if ranks > slot_count:
        raise TooManyRanksError(
            f"{counted(ranks, 'rank', 'do')} not fit on {counted(slot_count, 'slot')}"
        )
    used = slots.select_used(ranks)
    with read.make_directory() as directory:
        used.build_launch(read, used.allocation.slots[:ranks], directory)
