# SPDX-License-Identifier: BSD-3-Clause
"""Chooses hosts for a job on a rail network; a job uses all GPUs of its hosts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from topoloom._core import (
    Allocation,
    ChosenNodes,
    CommGraph,
    Error,
    Placement,
    choose_nodes,
    compact_nodes,
)
from topoloom.graphs.graph_file import load_graph
from topoloom.nodes.hosts import (
    Ids,
    list_fully_allocated_hosts,
    list_nodes_of_hosts,
    make_host_machine,
    slots_per_host,
)
from topoloom.support.parameter_error import ParameterError, check_int64
from topoloom.support.units import counted
from topoloom.tasks.search import MonitorSearch, Search


@dataclass(frozen=True)
class NodeChoice:
    """Chosen nodes, and the values of other choices of equal size."""

    measure: str
    values: Mapping[str, float]  # value of each choice: first, random, chosen
    seed: int
    mapper: str | None = None
    graph: CommGraph | None = None
    graph_file: str = ""
    found: ChosenNodes | None = None
    placement: Placement | None = None
    interrupted: bool = False

    def document(self) -> dict[str, Any]:
        """Return the fields of the ``--json`` output."""
        shown: dict[str, Any] = {
            f"{self.measure}_{name}": value for name, value in self.values.items()
        }
        shown |= {"mapper": self.mapper, "seed": self.seed}
        return shown | ({"work": self.found.work} if self.found is not None else {})


def collect_hop_bytes(chosen_nodes: ChosenNodes) -> dict[str, float]:
    """Collect the hop-bytes on the first nodes, and on random nodes if tried."""
    values: dict[str, float] = {"first": chosen_nodes.first_hop_bytes}
    if chosen_nodes.random_hop_bytes is not None:
        values["random"] = chosen_nodes.random_hop_bytes
    return values


def choose_hosts(
    free: Allocation,
    count: int | None,
    graph_file: str | None,
    mapper: str,
    search: Search,
    monitor: MonitorSearch,
) -> tuple[Allocation, NodeChoice, str]:
    """Choose `count` completely free hosts, by default enough for the graph."""
    machine, listed = free.machine, list_fully_allocated_hosts(free)
    graph = None if graph_file is None else load_graph(graph_file)
    if count is None:
        if graph is None:
            raise ParameterError("nodes", "is missing; set the number of nodes")
        count = -(-graph.rank_count // slots_per_host(machine))
    check_int64("nodes", count, 1)
    if count > len(listed):
        raise Error(
            f"cannot choose {counted(count, 'host')} of {len(listed)} completely "
            "free hosts"
        )

    def allocate(hosts: Ids) -> Allocation:
        return Allocation(machine, list_nodes_of_hosts(machine, hosts))

    if graph is None:
        boxes = Allocation(make_host_machine(machine), listed)
        closest = allocate(
            compact_nodes(boxes, count, search.seed).nodes.astype(np.int64)
        )
        draw = np.random.default_rng(search.seed).permutation(len(listed))[:count]
        values = {
            "first": allocate(listed[:count]).average_distance,
            "random": allocate(listed[draw]).average_distance,
            "chosen": closest.average_distance,
        }
        title = f"the {count} of {len(listed)} free hosts with the shortest distances"
        return closest, NodeChoice("average_distance", values, search.seed), title
    gpus = count * machine.nodes_per_host
    with monitor("choosing nodes", search) as progress:
        found = choose_nodes(
            graph, allocate(listed), gpus, mapper, **search._asdict(), progress=progress
        )
        values = collect_hop_bytes(found)
        best = _choose_fullest_hosts(listed, found.allocation, count)
        if best is not None:
            found = choose_nodes(
                graph,
                allocate(best),
                gpus,
                mapper,
                **search._asdict(),
                progress=progress,
            )
        interrupted = not progress(found.work)
    values["chosen"] = found.hop_bytes
    choice = NodeChoice(
        "hop_bytes",
        values,
        search.seed,
        mapper,
        graph,
        str(graph_file),
        found,
        found.placement,
        interrupted,
    )
    title = f"{count} of {len(listed)} free hosts, chosen for {graph_file}"
    return found.allocation, choice, title


def _choose_fullest_hosts(listed: Ids, chosen: Allocation, count: int) -> Ids | None:
    """Choose the hosts with the most chosen GPUs; None if the GPUs fill their hosts."""
    each = chosen.machine.nodes_per_host
    counts = np.bincount(chosen.nodes // each, minlength=int(listed.max()) + 1)
    if np.count_nonzero(counts) == count:
        return None
    fullest = np.argsort(-counts[listed], kind="stable")[:count]
    return listed[np.sort(fullest)]
