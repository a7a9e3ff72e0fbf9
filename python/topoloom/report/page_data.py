# SPDX-License-Identifier: BSD-3-Clause
"""Collects the data of a report: arrays for pictures and numbers for texts.

All measures are computed by `judge`; this module routes no messages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from topoloom._core import Error, Wiring
from topoloom.figure.links import choose_load_unit
from topoloom.machines.link_names import format_link, vertex_names
from topoloom.nodes.node_parts import NO_PARTS, NodeParts
from topoloom.placements.hottest_links import list_hottest_links
from topoloom.report.matrix import MatrixLevel, find_positions, make_finest_level
from topoloom.report.packed_arrays import PackedArrays
from topoloom.report.scene import find_wrapping_links, make_scene, quantize

if TYPE_CHECKING:
    from topoloom._core import (
        Allocation,
        CommGraph,
        Judgement,
        Machine,
        Placement,
    )
    from topoloom.documents.placements import HottestLink
    from topoloom.figure.links import Array
    from topoloom.placements.fixed_bounds import AnyBounds
    from topoloom.placements.placement_file import PlacementFile

MAX_RANKS = 100_000  # maximum number of ranks, and of nodes, on a page
#: Maximum number of shown links, summed over views; the busiest are shown.
MAX_LINKS = 240_000
MAX_EXPLAINED_LINKS = 20_000  # maximum number of links for which rank pairs are listed
PAIRS_PER_LINK = 3  # number of rank pairs listed per link, as in `judge`
SHARED_LINKS = 10  # number of links listed with the shares of other jobs
#: Maximum size of all base64 arrays, so that the page stays below 3 MB.
MAX_CHARACTERS = 2_750_000


@dataclass(frozen=True)
class PlacementView:
    """A placement on the page."""

    name: str  # the mapper, or the file if mappers are not unique
    placement: Placement
    judgement: Judgement
    #: `values`, `gaps`: measures as in placement files, and their optimality gaps.
    values: Mapping[str, float]
    gaps: Mapping[str, float | None]
    made: PlacementFile | None = None  # the placement file; None for launcher order
    file: str = ""
    part_loads: Sequence[Array] = ()  # bytes per link, for each of `Report.parts`


@dataclass(frozen=True)
class Report:
    """The contents of a report: a problem and at least two views."""

    graph: CommGraph
    allocation: Allocation
    #: Views, with launcher order first; `best` is the index of the recommended view.
    views: list[PlacementView]
    best: int
    hosts: tuple[str, ...] | None = None
    bounds: AnyBounds | None = (
        None  # lower bounds on the measures; None if not computed
    )
    #: Bounds with the traffic of other jobs; None if that is unknown.
    bounds_with_background: AnyBounds | None = None
    #: `graph_file`, `command`: the graph's file, and the command line that made the
    #: report.
    graph_file: str = ""
    command: tuple[str, ...] = ()
    advice: str = ""  # what to do with the best placement, in one sentence; "": unknown
    affinity: str = ""  # text about the reported locations of ranks; "" if not verified
    #: Names of the machine's switches; empty if unnamed.
    switches: tuple[str, ...] = ()
    node: NodeParts = NO_PARTS  # internal structure of the machine's nodes
    #: `simulator`, `simulated`: the simulator, and results for the first views as in
    #: `topoloom.tasks.simulate_placements`; empty without simulation.
    simulator: str = ""
    simulated: Sequence[Mapping[str, Any]] = ()
    #: Names of the parts of the graph, such as the axes of a mesh.
    parts: tuple[str, ...] = ()

    @property
    def machine(self) -> Machine:
        """The machine of the allocation."""
        return self.allocation.machine

    @property
    def vertex_names(self) -> dict[str, str]:
        """The real names of nodes and switches by their default names."""
        of_node = zip(self.allocation.nodes.tolist(), self.hosts or (), strict=False)
        return vertex_names(self.machine, dict(of_node), self.switches)

    def list_shared_links(self, view: PlacementView) -> list[HottestLink]:
        """List the busiest links of a view with their shares of other jobs.

        Empty if the traffic of other jobs is unknown.
        """
        if view.judgement.congestion_with_background is None:
            return []
        return list_hottest_links(view.judgement, self.vertex_names)[:SHARED_LINKS]


def count_explained_links(views: int) -> int:
    """Return the number of hottest links per view to request from `judge`."""
    return MAX_EXPLAINED_LINKS // views


def check_size(ranks: int, nodes: int) -> None:
    """Raise `topoloom.Error` if there are too many ranks or nodes for a page."""
    for count, what in ((ranks, "ranks"), (nodes, "nodes")):
        if count > MAX_RANKS:
            raise Error(f"a page can show {MAX_RANKS:,} {what}, not {count:,}")


def collect_page_data(report: Report) -> tuple[dict[str, Any], PackedArrays]:
    """Collect the data of the pictures: JSON values and packed arrays.

    Raises `topoloom.Error` if there are too many ranks or nodes for a page.
    """
    machine, allocation = report.machine, report.allocation
    check_size(report.graph.rank_count, len(allocation.nodes))
    pack = PackedArrays()
    busiest = _list_busiest_links(report)
    loads = len(report.views) * (1 + len(report.parts))
    links = np.sort(busiest[: MAX_LINKS // loads])
    facts = {
        "ranks": report.graph.rank_count,
        "slotsPerNode": machine.slots_per_node,
        "levels": machine.levels,
        "links": len(busiest),
        "inSeconds": choose_load_unit(machine).in_seconds,
        "shape": [int(extent) for extent in machine.shape],
        "best": report.best,
        "parts": list(report.parts),
        **_add_machine(pack, machine, allocation, links),
    }
    _add_nodes(pack, report)
    names = [machine.link_name(int(link)) for link in links]
    known = report.vertex_names
    pack.add_strings("link.name", [format_link(name, known) for name in names])
    number = {name: index for index, name in enumerate(names)}
    facts["views"] = [
        _add_view(pack, f"view{index}", view, allocation, links, number)
        for index, view in enumerate(report.views)
    ]
    for index, level in enumerate(
        _find_finest_level(report, MAX_CHARACTERS - pack.size)
    ):
        facts["views"][index]["width"] = level.width
        _add_level(pack, f"view{index}.matrix", level, report.graph.rank_count)
    facts["arrays"] = pack.index
    return facts, pack


def _list_busiest_links(report: Report) -> Array:
    """List the working links; those with the largest load in any view come first."""
    machine = report.machine
    rate = choose_load_unit(machine).bandwidth
    busy = np.zeros(machine.link_count)
    for view in report.views:
        busy = np.maximum(busy, np.asarray(view.judgement.loads) / rate)
    if machine.has_failures:
        wiring = Wiring(machine)
        size = wiring.vertex_count
        ends = [machine.link_ends(link) for link in range(machine.link_count)]
        up = np.asarray(wiring.link_from, dtype=np.int64) * size + wiring.link_to
        mine = np.array(ends, dtype=np.int64).reshape(-1, 2) @ [size, 1]
        busy[~np.isin(mine, up)] = -1
    order = np.argsort(-busy, kind="stable")
    return order[busy[order] >= 0]


def _add_machine(
    pack: PackedArrays, machine: Machine, allocation: Allocation, links: Array
) -> dict[str, Any]:
    scene = make_scene(machine)
    ends = np.array([machine.link_ends(int(link)) for link in links], dtype=np.int64)
    ends = ends.reshape(-1, 2)
    out = find_wrapping_links(scene, [int(extent) for extent in machine.shape], ends)
    homes = scene.vertex[np.asarray(allocation.nodes, dtype=np.int64)]
    shown = np.arange(len(scene.coordinates))
    if len(shown) > MAX_RANKS:
        corner = [0]  # corners of the bounding box of a grid
        shown = np.unique(np.concatenate([corner, ends.reshape(-1), homes]))
    number = np.zeros(len(scene.coordinates), dtype=np.int64)
    number[shown] = np.arange(len(shown))
    coordinates, unit = quantize(scene.coordinates[shown])
    pack.add_integers("vertex.place", coordinates)
    pack.add_integers("vertex.nodes", scene.nodes[shown])
    pack.add_integers("node.vertex", number[homes])
    pack.add_integers("link.from", number[ends[:, 0]])
    pack.add_integers("link.to", number[ends[:, 1]])
    pack.add_integers("link.out", out)
    rates = np.array([machine.bandwidth(int(link)) for link in links])
    pack.add_numbers("link.rate", rates)
    return {"flat": scene.flat, "unit": unit, "steps": scene.steps.tolist()}


def _add_nodes(pack: PackedArrays, report: Report) -> None:
    machine, nodes = report.machine, np.asarray(report.allocation.nodes)
    pack.add_integers("node.id", nodes)
    pack.add_strings("node.host", list(report.hosts or ()))
    coordinates: list[str] = []
    if len(machine.shape):
        at = (machine.coordinates(node) for node in nodes.tolist())
        coordinates = [",".join(map(str, one)) for one in at]
    pack.add_strings("node.place", coordinates)


def _add_view(
    pack: PackedArrays,
    key: str,
    view: PlacementView,
    allocation: Allocation,
    links: Array,
    number: Mapping[str, int],
) -> dict[str, Any]:
    judgement, nodes = view.judgement, np.asarray(allocation.nodes)
    pack.add_numbers(f"{key}.load", np.asarray(judgement.loads)[links])
    for part, loads in enumerate(view.part_loads):
        pack.add_numbers(f"{key}.load{part}", np.asarray(loads)[links])
    per_node = allocation.machine.slots_per_node
    index = np.zeros(allocation.machine.node_count, dtype=np.int64)
    index[nodes] = np.arange(len(nodes))
    slots = np.asarray(view.placement.slots, dtype=np.int64)
    slots = index[slots // per_node] * per_node + slots % per_node
    pack.add_integers(f"{key}.slot", slots)
    pack.add_integers(
        f"{key}.rank", np.argsort(find_positions(allocation, view.placement))
    )
    for name in ("bytes_out", "bytes_in"):
        values = np.asarray(getattr(judgement, f"node_{name}"))[nodes]
        pack.add_numbers(f"{key}.{name}", values)
    for name in ("messages_out", "messages_in"):
        values = np.asarray(getattr(judgement, f"node_{name}"))[nodes]
        add = pack.add_integers if values.max(initial=0) < 2**32 else pack.add_numbers
        add(f"{key}.{name}", values)
    # Some links of this view may be missing, because other views have busier ones.
    # Some have no pairs, because only other jobs load them.
    hottest = [link for link in judgement.hottest if link[0] in number and link[3]]
    pairs = np.zeros((len(hottest), PAIRS_PER_LINK, 3))
    for row, (_, _, _, loaders) in enumerate(hottest):
        pairs[row, : len(loaders)] = loaders
    found = np.array([number[name] for name, *_ in hottest], dtype=np.int64)
    pack.add_integers(f"{key}.hot", found)
    pack.add_integers(f"{key}.source", pairs[:, :, 0].astype(np.int64))
    pack.add_integers(f"{key}.target", pairs[:, :, 1].astype(np.int64))
    pack.add_numbers(f"{key}.bytes", pairs[:, :, 2])
    return {"name": view.name, "shared": view.placement.shared}


def _find_finest_level(report: Report, limit: int) -> list[MatrixLevel]:
    """Find the finest level at which the matrices of all views fit into the limit."""
    ranks = report.graph.rank_count
    levels = [
        make_finest_level(
            report.graph, find_positions(report.allocation, view.placement)
        )
        for view in report.views
    ]
    # All views have the same level, because one cursor marks the same cell in each.
    widest = max(level.width for level in levels)
    while any(level.width < widest for level in levels):
        levels = [lv.coarsen() if lv.width < widest else lv for lv in levels]
    # Packing is slower than coarsening. Therefore coarsen first, until there are fewer
    # cells than characters.
    while sum(len(level.row) for level in levels) > limit and levels[0].width < ranks:
        levels = [level.coarsen() for level in levels]
    while True:
        trial = PackedArrays()
        for level in levels:
            _add_level(trial, "matrix", level, ranks)
        if trial.size <= limit or levels[0].width >= ranks:
            return levels
        levels = [level.coarsen() for level in levels]


def _add_level(pack: PackedArrays, key: str, level: MatrixLevel, ranks: int) -> None:
    rows = -(-ranks // level.width)
    pack.add_integers(f"{key}.count", np.bincount(level.row, minlength=rows))
    pack.add_integers(f"{key}.column", level.column)
    pack.add_numbers(f"{key}.bytes", level.bytes)
