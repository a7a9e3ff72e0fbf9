# SPDX-License-Identifier: BSD-3-Clause
"""Finds the spare host that replaces a lost host of a job at least cost.

A job that lost a host starts again on the other ones and a spare. There are two ways to
number its ranks. In place, the spare gets the ranks of the lost host: torchrun with
static rendezvous and a list of hosts, or Slurm with ``SLURM_HOSTFILE`` and ``srun -m
arbitrary``. Sorted, ranks follow the numbers of the hosts, so others move as well:
Slurm by default, and torchrun with c10d, which sorts hosts by address.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from topoloom._core import CommGraph, Error, Placement
from topoloom.nodes.hosts import slots_per_host
from topoloom.placements import objective_value
from topoloom.support.gain import gain
from topoloom.support.parameter_error import ParameterError
from topoloom.tasks.placement_problem import PlacementProblem

if TYPE_CHECKING:
    from topoloom.documents.ai import ReplacementFields, SparesDocument

Slots = npt.NDArray[np.int64]

#: Ways in which ranks are numbered after a restart.
RESTARTS = ("in-place", "sorted")


@dataclass(frozen=True)
class Replacement:
    """The best spare for a lost host.

    Attributes
    ----------
    lost, spare
        Numbers of the hosts.
    seconds
        Predicted time of the job on the spare.
    order
        Hosts in the order of the ranks.
    """

    lost: int
    spare: int
    seconds: float
    order: list[int]


@dataclass(frozen=True)
class SpareHosts:
    """The best spares of all hosts of a job.

    Attributes
    ----------
    problem
        The graph and the placement before a loss.
    order, spares
        Hosts in the order of the ranks, and allocated hosts without ranks.
    names
        Host -> name; its number if it has no name.
    seconds
        Restart -> predicted time of the job before a loss.
    best
        Restart -> the best replacement of every host in `order`.
    """

    problem: PlacementProblem
    order: list[int]
    spares: list[int]
    names: dict[int, str]
    seconds: dict[str, float]
    best: dict[str, list[Replacement]]

    def find_order(self, lost: str, restart: str) -> list[str]:
        """List the hosts in the order of the ranks after the named host is lost."""
        for one in self.best[restart]:
            if self.names[one.lost] == lost:
                return [self.names[host] for host in one.order]
        raise ParameterError("lost", f"{lost} is not a host of the job's ranks")

    def document(self) -> SparesDocument:
        """Return what ``--json`` prints."""
        return {
            "machine": self.problem.allocation.machine.text,
            "order": [self.names[host] for host in self.order],
            "spares": [self.names[host] for host in self.spares],
            "seconds": self.seconds,
            "lost": {
                restart: [self._describe(one, restart) for one in found]
                for restart, found in self.best.items()
            },
        }

    def _describe(self, one: Replacement, restart: str) -> ReplacementFields:
        return {
            "host": self.names[one.lost],
            "spare": self.names[one.spare],
            "seconds": one.seconds,
            "gain_percent": gain(self.seconds[restart], one.seconds),
            "order": [self.names[host] for host in one.order],
        }


class _Restarts:
    """Ranks of a job on hosts that change."""

    def __init__(self, problem: PlacementProblem, slots: Slots) -> None:
        self.slots = slots
        self.each = slots_per_host(problem.allocation.machine)
        self.hosts = slots // self.each
        _, first = np.unique(self.hosts, return_index=True)
        self.order: list[int] = self.hosts[np.sort(first)].tolist()
        allocated = problem.allocation.slots.astype(np.int64)
        self._allocated = set(allocated.tolist())
        used = set(self.order)
        hosts = dict.fromkeys((allocated // self.each).tolist())
        self.spares = [host for host in hosts if host not in used]

    def start(self, order: Sequence[int]) -> Slots:
        """Return the slots of the ranks if the hosts at each place are these."""
        place = {host: index for index, host in enumerate(self.order)}
        new = np.array([order[place[host]] for host in self.hosts.tolist()])
        moved: Slots = new * self.each + self.slots % self.each
        return moved

    def can_start(self, order: Sequence[int]) -> bool:
        """Whether the ranks' slots are allocated on these hosts."""
        return self._allocated.issuperset(self.start(order).tolist())

    def replace(self, lost: int, spare: int, restart: str) -> list[int]:
        """Return the order of the hosts after the restart."""
        order = [spare if host == lost else host for host in self.order]
        return sorted(order) if restart == "sorted" else order


def find_spares(
    problem: PlacementProblem,
    phases: Sequence[CommGraph],
    progress: Callable[[int, int], None] | None = None,
) -> SpareHosts:
    """Find the best spare for each host of a job, in both ways to restart it.

    Spares are the hosts of the allocation that have no ranks.

    Parameters
    ----------
    problem
        A graph with a placement file.
    phases
        Phases of the graph; without any, all messages are sent at once.
    progress
        Called with the number of hosts that are done, and that of all.

    Raises
    ------
    topoloom.Error
        If there is no placement or no spare, ranks share slots, or hosts have
        different numbers of ranks, so that a sorted order has no meaning.
    """
    if problem.file is None:
        raise Error("the problem has no placement, so no host has ranks")
    allocation = problem.allocation
    if not allocation.machine.has_bandwidths:
        raise Error("the machine has no bandwidths, so there are no times to compare")
    restarts = _Restarts(problem, problem.file.placement.slots.astype(np.int64))
    if not restarts.spares:
        raise Error(
            f"all {len(restarts.order)} hosts of the allocation have ranks, so there "
            "is no spare; place the job on an allocation with more hosts"
        )
    _, counts = np.unique(restarts.hosts, return_counts=True)
    if counts.min() < counts.max():
        raise Error(
            f"hosts have {counts.min()} to {counts.max()} ranks; spares are for hosts "
            "with equal numbers of ranks"
        )

    def time(order: Sequence[int]) -> float:
        placement = Placement(allocation, restarts.start(order))
        arguments: Any = (problem.graph, allocation, placement)
        return objective_value(*arguments, objective="time", phases=phases)

    seconds = {"in-place": time(restarts.order), "sorted": time(sorted(restarts.order))}
    best: dict[str, list[Replacement]] = {restart: [] for restart in RESTARTS}
    for count, lost in enumerate(restarts.order, 1):
        for restart, found in best.items():
            orders = {
                spare: restarts.replace(lost, spare, restart)
                for spare in restarts.spares
            }
            tried = [
                Replacement(lost, spare, time(order), order)
                for spare, order in orders.items()
                if restarts.can_start(order)
            ]
            if not tried:
                raise Error(
                    f"no spare has the slots of host {lost}; spares must have as many "
                    "slots as the hosts of the job"
                )
            found.append(min(tried, key=lambda one: one.seconds))
        if progress is not None:
            progress(count, len(restarts.order))
    return SpareHosts(
        problem,
        restarts.order,
        restarts.spares,
        _name_hosts(problem, restarts.each),
        seconds,
        best,
    )


def _name_hosts(problem: PlacementProblem, each: int) -> dict[int, str]:
    machine = problem.allocation.machine
    nodes = problem.allocation.nodes.astype(np.int64)
    hosts = (nodes * machine.slots_per_node // each).tolist()
    names = problem.hosts or [str(host) for host in hosts]
    return dict(zip(hosts, names, strict=True))
