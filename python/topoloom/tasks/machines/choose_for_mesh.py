# SPDX-License-Identifier: BSD-3-Clause
"""Chooses and orders hosts for a mesh, so that axis groups span few leaf groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from topoloom._core import Allocation, Error, Machine
from topoloom.allocations.spread.host_mesh import make_host_mesh
from topoloom.allocations.spread.leaf_group_choice import (
    LeafAssignment,
    Spreads,
    choose_leaf_groups,
)
from topoloom.allocations.spread.switch_levels import (
    group_leaves_by_switch,
    reduce_switches,
)
from topoloom.graphs.axes import Traffic, rank_order
from topoloom.nodes.hosts import (
    Ids,
    host_count,
    list_fully_allocated_hosts,
    list_nodes_of_hosts,
    make_host_machine,
    slots_per_host,
)
from topoloom.tasks.search import MonitorSearch, Search


@dataclass(frozen=True)
class MeshChoice:
    """Hosts chosen for a mesh of ranks, and alternative choices.

    Attributes
    ----------
    mesh
        Sizes of the axes, in the given order.
    spreads
        Spreads of the chosen hosts, of typical schedulers' choices, and lower bounds.
    interrupted
        Whether the search was stopped.
    """

    mesh: Mapping[str, int]
    spreads: Spreads
    interrupted: bool = False

    @property
    def measure(self) -> str:
        """The name of the minimized measure."""
        return "per byte" if self.spreads.mesh.weighted else "largest"

    def choices(self) -> dict[str, LeafAssignment]:
        """Return the compared choices by name, with the best one last."""
        spreads = self.spreads
        return {
            "first": spreads.first,
            "packed": spreads.packed,
            "chosen": spreads.chosen,
        }

    def document(self) -> dict[str, Any]:
        """Return the fields of the ``--json`` output."""
        spreads, mesh = self.spreads, self.spreads.mesh
        names = [one.name for one in mesh.along]
        return {
            "mesh": dict(self.mesh),
            "hosts": mesh.hosts,
            "spread_measure": self.measure,
            "spreads": {
                name: {
                    "largest": dict(zip(names, one.most, strict=True)),
                    "mean": dict(zip(names, one.mean, strict=True)),
                    "all": mesh.measure(one.cost),
                }
                for name, one in self.choices().items()
            },
            "spread_at_least": {
                **dict(zip(names, spreads.least, strict=True)),
                "all": mesh.measure(spreads.least_cost),
            },
            "spread_proven": spreads.proven,
            "segments": spreads.chosen.segments(),
        }


def choose_for_mesh(
    free: Allocation,
    mesh: Mapping[str, int],
    traffic: Sequence[Traffic],
    search: Search,
    monitor: MonitorSearch,
) -> tuple[Allocation, MeshChoice, str]:
    """Choose enough hosts for the mesh, and order them by rank.

    Among choices with the same spread over leaf groups, prefer one below few
    higher-level switches.

    Parameters
    ----------
    free
        The free hosts; partly free hosts are not used.
    mesh
        Sizes of the axes; ranks are numbered in the order of `rank_order`.
    traffic
        The traffic by which spreads are weighted. Without traffic, the largest spread
        of an axis group is minimized.

    Raises
    ------
    topoloom.Error
        On machines without leaf groups, for axes that do not fit into hosts, and if
        too few hosts are free.
    """
    machine, hosts = free.machine, list_fully_allocated_hosts(free)
    leaf_of_host = list_leaf_groups(machine)[hosts]
    leaves, leaf_of_host = np.unique(leaf_of_host, return_inverse=True)
    counts = np.bincount(leaf_of_host, minlength=len(leaves)).tolist()
    ordered = {name: mesh[name] for name in rank_order(mesh)}
    weights: dict[str, float] = dict.fromkeys(ordered, 1.0)
    if traffic:
        weights = {}
        for one in traffic:
            weights[one.name] = weights.get(one.name, 0.0) + one.bytes
        weights = {name: weight for name, weight in weights.items() if weight}
    needed = make_host_mesh(ordered, slots_per_host(machine), weights, bool(traffic))
    if not needed.along:
        raise Error(
            "every group of the mesh fits in one host, so all hosts are "
            "equally good; choose by number of nodes"
        )
    with monitor("choosing hosts", search) as progress:
        spreads = choose_leaf_groups(needed, counts, search.seed, lambda: progress(0))
        interrupted = not progress(0)
    first = hosts[np.unique(leaf_of_host, return_index=True)[1]]
    levels = find_leaf_levels(machine, first)
    leaf_of = reduce_switches(
        needed, spreads.chosen.leaf_of, counts, levels, lambda: not interrupted
    )
    spreads = replace(spreads, chosen=replace(spreads.chosen, leaf_of=leaf_of))
    waiting = [hosts[leaf_of_host == leaf].tolist() for leaf in range(len(leaves))]
    order = [waiting[leaf].pop(0) for leaf in spreads.chosen.leaf_of.tolist()]
    title = f"{needed.hosts} of {len(hosts)} free hosts, in the order of the mesh"
    chosen = Allocation(machine, list_nodes_of_hosts(machine, order))
    return chosen, MeshChoice(mesh, spreads, interrupted), title


def find_leaf_levels(machine: Machine, hosts: Ids) -> list[npt.NDArray[np.int64]]:
    """Find the levels of switches; `hosts` contains one host per leaf group."""
    ends = np.meshgrid(hosts, hosts, indexing="ij")
    between = make_host_machine(machine).hops(ends[0].ravel(), ends[1].ravel())
    return group_leaves_by_switch(between.reshape(len(hosts), len(hosts)))


def list_leaf_groups(machine: Machine) -> Ids:
    """Return the leaf group of every host, identified by its leaf switch.

    On rails, a leaf group is an NVLink domain of several hosts, or a scalable unit.

    Raises
    ------
    topoloom.Error
        If hosts are linked directly to each other.
    """
    machine = make_host_machine(machine)
    hosts = host_count(machine)
    ends = np.asarray(machine.link_ends(), np.int64)
    if machine.node_count == machine.vertex_count or ((ends < hosts).all(axis=1)).any():
        raise Error(
            "hosts of this machine are not attached to leaf switches, so that a group "
            "has no spread; choose for a pattern, or by number of nodes"
        )
    leaf_of = np.full(hosts, -1, np.int64)
    up = ends[ends[:, 0] < hosts]
    # If a host has several leaf switches, use the first: hosts of a group share all.
    leaf_of[up[::-1, 0]] = up[::-1, 1]
    return leaf_of
