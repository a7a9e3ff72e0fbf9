# SPDX-License-Identifier: BSD-3-Clause
"""Choosing nodes among free ones, by a graph or by distance, and what that gains."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from topoloom._core import (
    Allocation,
    ChosenNodes,
    CommGraph,
    Error,
    compact_nodes,
)
from topoloom.allocations.allocation_file import AllocatedHosts

if TYPE_CHECKING:
    from topoloom.tasks.search import Search


@dataclass(frozen=True)
class Choice:
    """Chosen nodes, and the same number of others to compare them with."""

    allocation: Allocation
    hosts: tuple[str, ...] | None  # names of the chosen nodes
    title: str
    measure: str
    values: dict[str, float]  # of the measure, by how the nodes were chosen
    seed: int
    mapper: str | None = None
    graph: CommGraph | None = None
    graph_file: str = ""
    found: ChosenNodes | None = None
    interrupted: bool = False

    def document(self) -> dict[str, Any]:
        """Say what was found, for programs."""
        shown: dict[str, Any] = {
            f"{self.measure}_{n}": v for n, v in self.values.items()
        }
        shown |= {"mapper": self.mapper, "seed": self.seed}
        return shown | ({"work": self.found.work} if self.found is not None else {})

    def print(self) -> None:
        """Say what was found, for people."""
        from topoloom.cli.console import print_table
        from topoloom.placements.measures import measure_title
        from topoloom.support.gain import gain, percent
        from topoloom.support.units import format_count

        base = self.values["first"]
        names = {
            "first": "the first free ones",
            "random": "random ones",
            "chosen": "chosen",
        }
        rows = []
        for name, value in self.values.items():
            shown = format_count(value) if self.found is not None else f"{value:.3f}"
            change = "" if name == "first" else percent(gain(base, value))
            rows.append((names[name], shown, change))
        print_table(["nodes", measure_title(self.measure), "gain"], rows)

    def save_placement(self, path: Path) -> None:
        """Write where the ranks go."""
        from topoloom._core import judge
        from topoloom.cli.command_line import command_line
        from topoloom.placements.measures import measure_values
        from topoloom.placements.placement_file import PlacementFile, save_placement

        assert self.found is not None
        assert self.graph is not None
        on = (self.graph, self.allocation, self.found.placement)
        save_placement(
            path,
            PlacementFile(
                machine=self.allocation.machine,
                allocation=self.allocation,
                placement=self.found.placement,
                hosts=self.hosts,
                values=measure_values(judge(*on)),
                mapper=self.mapper or "",
                seed=self.seed,
                work=self.found.work,
                graph=self.graph_file,
                command=command_line.get(),
            ),
        )


def chosen_nodes(
    listed: AllocatedHosts,
    nodes: int | None,
    graph_file: str | None,
    effort: str | None,
    search: Search,
) -> Choice:
    """Choose `nodes` of the free nodes, or as many as the graph needs."""
    from topoloom.support.checks import at_least

    if nodes is not None:
        at_least("--nodes", nodes, 1)
    if graph_file is not None:
        return _for_graph(listed, nodes, graph_file, effort, search)
    if nodes is None:
        raise Error("say how many nodes to choose, with --nodes")
    return _closest(listed, nodes, search.seed)


def _closest(listed: AllocatedHosts, nodes: int, seed: int) -> Choice:
    free = listed.allocation
    machine = free.machine
    chosen = compact_nodes(free, nodes, seed)
    draw = np.random.default_rng(seed).permutation(len(free.nodes))[:nodes]
    return Choice(
        chosen,
        _names(listed, chosen),
        f"the {nodes} of {len(free.nodes)} free nodes that are closest together",
        "average_distance",
        {
            "first": Allocation(machine, free.nodes[:nodes]).average_distance,
            "random": Allocation(machine, free.nodes[draw]).average_distance,
            "chosen": chosen.average_distance,
        },
        seed,
    )


def _names(free: AllocatedHosts, chosen: Allocation) -> tuple[str, ...] | None:
    if free.hosts is None:
        return None
    names = dict(zip(free.allocation.nodes.tolist(), free.hosts, strict=True))
    return tuple(names[node] for node in chosen.nodes.tolist())


def _for_graph(
    listed: AllocatedHosts,
    nodes: int | None,
    graph_file: str,
    effort: str | None,
    search: Search,
) -> Choice:
    from topoloom._core import choose_nodes
    from topoloom.cli.console import watching
    from topoloom.graphs.graph_file import load_graph

    free = listed.allocation
    graph = load_graph(graph_file)
    needed = -(-graph.rank_count // free.machine.slots_per_node)
    mapper = "auto" if effort is None else f"auto(effort={effort})"
    count = needed if nodes is None else nodes
    with watching("choosing nodes", search) as watch:
        found = choose_nodes(
            graph, free, count, mapper, **search._asdict(), progress=watch
        )
    values: dict[str, float] = {"first": found.first_hop_bytes}
    if found.random_hop_bytes is not None:
        values["random"] = found.random_hop_bytes
    values["chosen"] = found.hop_bytes
    return Choice(
        found.allocation,
        _names(listed, found.allocation),
        f"{count} of {len(free.nodes)} free nodes, chosen for {graph_file}",
        "hop_bytes",
        values,
        search.seed,
        mapper,
        graph,
        graph_file,
        found,
        watch.interrupted,
    )
