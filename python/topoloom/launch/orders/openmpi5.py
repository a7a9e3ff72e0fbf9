# SPDX-License-Identifier: BSD-3-Clause
"""How Open MPI 5 (PRRTE) maps, binds and ranks processes.

PRRTE binds each rank when it maps it, and counts one core of the resource as used.

Source: src/mca/rmaps of PRRTE 3.0.13 (round_robin, ppr; base: ranking, binding).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from topoloom.launch.orders.node_cores import (
    CORE,
    L2,
    L3,
    NODE,
    NUMA,
    PACKAGE,
    LaunchError,
    NodeCores,
    RankCores,
    check_room,
    take_cores,
)
from topoloom.launch.orders.openmpi_mapping import (
    FILL,
    NONE,
    SLOT,
    SPAN,
    Cores,
    Mapping,
    fill_objects,
    interleave,
    list_rounds,
)

_RANKINGS = (SLOT, NODE)
#: From large to small.
_LEVELS = (PACKAGE, NUMA, L3, L2, CORE)


@dataclass
class _Node:
    """A node while ranks are mapped to it.

    `room` is its number of slots, `objects` and `targets` are what ranks are mapped and
    bound to, `free` its cores without a rank, `ranks` the locale and the cores of each.
    """

    node: NodeCores
    room: int
    objects: list[Cores]
    targets: list[Cores]
    free: list[int]
    ranks: list[tuple[Cores, Cores]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.unused = set(self.free)

    @property
    def slots_left(self) -> int:
        return self.room - len(self.ranks)

    def count_free(self, cores: Sequence[int]) -> int:
        return sum(core in self.unused for core in cores)

    def add_rank(self, locale: Cores, mapping: Mapping) -> bool:
        """Map a rank to a locale, and bind it; return False if it does not fit."""
        each = mapping.cores_per_rank
        inside = locale
        if each > 1:
            if mapping.map_by in (SLOT, NODE):
                inside = self._find_package(each)
            if self.count_free(inside) < each:
                return False
        elif mapping.bind_to not in (NONE, CORE):
            near = set(locale)
            parts = ([core for core in one if core in near] for one in self.targets)
            inside = next((tuple(p) for p in parts if self.count_free(p)), locale)
        cores = take_cores(self.free, inside, each)
        self.unused.difference_update(cores)
        self.ranks.append((locale, cores))
        return True

    def _find_package(self, cores: int) -> Cores:
        """Return the first package with enough free cores; () if there is none."""
        packages = self.node.split(PACKAGE)
        return next((one for one in packages if self.count_free(one) >= cores), ())


def place(nodes: Sequence[NodeCores], ranks: int, mapping: Mapping) -> list[RankCores]:
    """Return the node and the cores of each rank."""
    mapping.check_binding()
    mapping = _choose_defaults(mapping)
    room = [len(node.cores) // mapping.cores_per_rank for node in nodes]
    check_room(ranks, room)
    mapped = [
        _Node(
            node,
            most,
            node.split(NODE if mapping.map_by == SLOT else mapping.map_by),
            [] if mapping.bind_to == NONE else node.split(mapping.bind_to),
            list(node.cores),
        )
        for node, most in zip(nodes, room, strict=True)
    ]
    _map(mapped, ranks, mapping)
    total = sum(len(node.ranks) for node in mapped)
    if total > ranks:
        raise LaunchError(
            f"starts {total} ranks instead of {ranks}: Open MPI 5 maps all "
            f"{mapping.ranks_per_resource} ranks to each resource that it uses"
        )
    if total < ranks:
        raise LaunchError(f"maps only {total} of {ranks} ranks under Open MPI 5")
    return [
        RankCores(node, mapped[node].ranks[number][1])
        for node, number in _rank(mapped, mapping)
    ]


def _choose_defaults(mapping: Mapping) -> Mapping:
    """Return the mapping with Open MPI's choices; refuse what version 5 refuses."""
    by, is_by_resource = mapping.map_by, mapping.ranks_per_resource is not None
    if not by:
        by = mapping.bind_to if mapping.bind_to not in ("", NONE) else CORE
        by = SLOT if mapping.cores_per_rank > 1 or mapping.bind_to == NONE else by
    has_objects = by not in (SLOT, NODE)
    bind = mapping.bind_to
    if not bind and mapping.cores is not None:
        bind = CORE
    elif not bind:
        # By slot and node, NUMA domains are filled in order, as cores are.
        bind = by if has_objects else CORE
    rank = mapping.rank_by or mapping.rank_spread
    if mapping.rank_by not in ("", *_RANKINGS):
        raise LaunchError(
            "ranks by a resource, as only Open MPI 4 does; Open MPI 5 ranks by slot, "
            "node, fill or span"
        )
    if not rank:
        rank = SLOT if is_by_resource else FILL if has_objects else by
        if mapping.is_spanning and (has_objects or is_by_resource):
            rank = SPAN
    if rank in (FILL, SPAN) and not has_objects:
        raise LaunchError(f"ranks by {rank}, which needs a mapping to a resource")
    if by == CORE and mapping.cores_per_rank > 1:
        raise LaunchError("maps by core, but a rank has several cores; map by slot")
    if bind == NONE and mapping.cores is not None:
        raise LaunchError("combines PE with a binding to none; leave one out")
    if bind != NONE and has_objects and _LEVELS.index(bind) < _LEVELS.index(by):
        raise LaunchError(f"binds to {bind}, which is larger than the mapping, {by}")
    return replace(mapping, map_by=by, rank_by=rank, bind_to=bind)


def _map(nodes: Sequence[_Node], ranks: int, mapping: Mapping) -> None:
    if mapping.ranks_per_resource is not None:
        _map_per_resource(nodes, ranks, mapping, mapping.ranks_per_resource)
    elif mapping.map_by == SLOT:
        _map_by_slot(nodes, ranks, mapping)
    elif mapping.map_by == NODE:
        _map_by_node(nodes, ranks, mapping)
    else:
        _map_by_object(nodes, ranks, mapping)


def _map_by_slot(nodes: Sequence[_Node], ranks: int, mapping: Mapping) -> None:
    for node in nodes:
        for _ in range(min(node.room, ranks)):
            if not node.add_rank(node.node.cores, mapping):
                break
            ranks -= 1


def _map_by_node(nodes: Sequence[_Node], ranks: int, mapping: Mapping) -> None:
    """Map the same number of ranks to each node, then once more for the rest.

    A node with less room limits the nodes after it as well.
    """
    left = ranks
    for _ in range(2):
        share = max(left // len(nodes), 1)
        for node in nodes:
            share = min(share, node.slots_left)
            for _ in range(min(share, left)):
                if not node.add_rank(node.node.cores, mapping):
                    break
                left -= 1


def _map_by_object(nodes: Sequence[_Node], ranks: int, mapping: Mapping) -> None:
    """Map ranks to resources in turn: of one node until it is full, or of all nodes."""
    left, has_progress = ranks, True
    while left and has_progress:
        has_progress = False
        for node in nodes:
            is_short = False
            while left and node.slots_left and not is_short:
                before = left
                for part in node.objects:
                    if not left or not node.slots_left:
                        break
                    if node.count_free(part) < mapping.cores_per_rank:
                        is_short = True
                        continue
                    node.add_rank(part, mapping)
                    left -= 1
                has_progress |= left < before
                if mapping.is_spanning or left == before:
                    break


def _map_per_resource(
    nodes: Sequence[_Node], ranks: int, mapping: Mapping, most: int
) -> None:
    left = ranks
    for node in nodes:
        for part in node.objects:
            if left <= 0 or node.count_free(part) // mapping.cores_per_rank < most:
                continue
            count = min(most, left) if mapping.map_by == NODE else most
            for _ in range(min(count, node.slots_left)):
                if not node.add_rank(part, mapping):
                    raise LaunchError("needs more free cores than a package has")
                left -= 1


def _rank(nodes: Sequence[_Node], mapping: Mapping) -> list[tuple[int, int]]:
    """List (node, number on the node) in the order of ranks."""
    counts = [len(node.ranks) for node in nodes]
    if mapping.rank_by == SLOT:
        return [
            (i, number) for i, count in enumerate(counts) for number in range(count)
        ]
    if mapping.rank_by == NODE:
        return interleave([[(i,) for i in range(count)] for count in counts])
    pairs = [
        (tuple(node.objects), tuple(locale for locale, _ in node.ranks))
        for node in nodes
    ]
    if mapping.rank_by == SPAN:
        return interleave([list_rounds(*pair) for pair in pairs])
    return [
        (node, number)
        for node, pair in enumerate(pairs)
        for number in fill_objects(*pair)
    ]
