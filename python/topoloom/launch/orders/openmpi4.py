# SPDX-License-Identifier: BSD-3-Clause
"""How Open MPI 4 maps, binds and ranks processes.

Source: orte/mca/rmaps of Open MPI 4.1.4 (round_robin, ppr; base: ranking, binding).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from topoloom.launch.orders.node_cores import (
    CORE,
    L2,
    L3,
    NODE,
    NUMA,
    LaunchError,
    MissingResourceError,
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

#: At most this many ranks are mapped by core, and bound to cores, by default.
_FEW_RANKS = 2

#: Resources that are no larger than a NUMA domain.
_INSIDE_NUMA = (CORE, L2, L3)

#: For each node: the cores that each of its ranks is mapped to, in mapping order.
Locales = list[list[Cores]]


def place(nodes: Sequence[NodeCores], ranks: int, mapping: Mapping) -> list[RankCores]:
    """Return the node and the cores of each rank."""
    mapping.check_binding()
    given, mapping = mapping, _choose_defaults(mapping, ranks)
    _check_default_resources(nodes, given, mapping)
    room = [len(node.cores) // mapping.cores_per_rank for node in nodes]
    check_room(ranks, room)
    locales = _map(nodes, room, ranks, mapping)
    if any(len(own) > most for own, most in zip(locales, room, strict=True)):
        raise LaunchError("puts more ranks on a node than it has cores for them")
    order = _rank(nodes, locales, mapping)
    if mapping.is_spanning and mapping.is_by_object and not mapping.ranks_per_resource:
        # Open MPI ranks spread processes, then deals them to the resources again.
        objects = [node.split(mapping.map_by) for node in nodes]
        locales = [
            [parts[i % len(parts)] for i in range(len(own))]
            for parts, own in zip(objects, locales, strict=True)
        ]
    cores = [
        _bind(node, tuple(own), mapping)
        for node, own in zip(nodes, locales, strict=True)
    ]
    return [RankCores(node, cores[node][number]) for node, number in order]


def _choose_defaults(mapping: Mapping, ranks: int) -> Mapping:
    """Return the mapping with Open MPI's choices."""
    few = ranks <= _FEW_RANKS
    is_given = bool(mapping.map_by)
    by = mapping.map_by
    if not by and mapping.cores is not None:
        by, is_given = (SLOT, False) if few else (NUMA, True)
    by = by or (CORE if few else NUMA)
    bind = mapping.bind_to
    if not bind:
        bind = CORE if few else NUMA
        if mapping.cores is not None:
            bind = CORE
        elif mapping.is_by_object and mapping.ranks_per_resource is None:
            bind = by
    rank = mapping.rank_by
    if not rank:
        is_ranked_alike = is_given and mapping.ranks_per_resource is None
        rank = by if is_ranked_alike else SLOT
    return replace(mapping, map_by=by, rank_by=rank, bind_to=bind)


def _check_default_resources(
    nodes: Sequence[NodeCores], given: Mapping, chosen: Mapping
) -> None:
    """Explain why a line needs NUMA domains that it does not name."""
    words = {"--map-by slot": (given.map_by, chosen.map_by)}
    if chosen.map_by not in _INSIDE_NUMA:
        words["--bind-to core"] = (given.bind_to, chosen.bind_to)
    missing = [word for word, names in words.items() if names == ("", NUMA)]
    if missing and any(NUMA not in node.sizes for node in nodes):
        raise MissingResourceError(
            "needs NUMA domains, which Open MPI 4 uses by default and the machine does "
            "not describe; describe them in [node] of its TOML file (see 'topoloom "
            f"help machines'), or add options such as {' '.join(missing)}"
        )


def _map(
    nodes: Sequence[NodeCores], room: Sequence[int], ranks: int, mapping: Mapping
) -> Locales:
    if mapping.map_by == SLOT:
        counts = _fill(room, ranks)
        return [[node.cores] * n for node, n in zip(nodes, counts, strict=True)]
    objects = [node.split(mapping.map_by) for node in nodes]
    if mapping.ranks_per_resource is not None:
        return _map_per_resource(objects, ranks, mapping.ranks_per_resource)
    if mapping.map_by == NODE:
        counts = _spread_over_nodes(room, ranks)
    elif mapping.is_spanning:
        return _span(objects, ranks)
    else:
        counts = _fill(room, ranks)
    return [
        [parts[i % len(parts)] for i in range(count)]
        for parts, count in zip(objects, counts, strict=True)
    ]


def _fill(room: Sequence[int], ranks: int) -> list[int]:
    counts: list[int] = []
    for most in room:
        counts.append(min(most, ranks - sum(counts)))
    return counts


def _spread_over_nodes(room: Sequence[int], ranks: int) -> list[int]:
    """Count the ranks of nodes that get the same number each, as far as they have room.

    The rest is spread again over the nodes that had room in the last round.
    """
    counts = [0] * len(room)
    used = len(room)
    while sum(counts) < ranks:
        left = ranks - sum(counts)
        each = max(left // used, 1)
        extra = max(left - each * used, 0)
        step = each + -(-extra // used)
        with_extra = extra - extra // used * used if extra % used else used
        used = 0
        for node, most in enumerate(room):
            if most <= counts[node]:
                continue
            share = step if used < with_extra or not extra else step - 1
            used += 1
            counts[node] += min(share, most - counts[node], ranks - sum(counts))
            if sum(counts) == ranks:
                break
    return counts


def _span(objects: Sequence[Sequence[Cores]], ranks: int) -> Locales:
    """Map equally many ranks to each resource of all nodes."""
    total = sum(map(len, objects))
    each = max(ranks // total, 1)
    extra = max(ranks - each * total, 0)
    left, locales = ranks, []
    for parts in objects:
        own: list[Cores] = []
        for part in parts:
            count = min(each + (extra > 0), left)
            extra -= extra > 0
            own += [part] * count
            left -= count
        locales.append(own)
    return locales


def _map_per_resource(
    objects: Sequence[Sequence[Cores]], ranks: int, most: int
) -> Locales:
    check_room(ranks, [most * len(parts) for parts in objects])
    left, locales = ranks, []
    for parts in objects:
        own = [part for part in parts for _ in range(most)][:left]
        left -= len(own)
        locales.append(own)
    return locales


@lru_cache(maxsize=256)
def _bind(node: NodeCores, locales: tuple[Cores, ...], mapping: Mapping) -> list[Cores]:
    """Bind each rank to the least used resource of its locale.

    A rank that is bound to several cores, or to none, counts as on the first free one.
    """
    each = mapping.cores_per_rank
    free = list(node.cores)
    if mapping.bind_to == NONE:
        return [take_cores(free, locale, each) for locale in locales]
    is_unknown = mapping.bind_to not in (CORE, *node.sizes)
    if is_unknown and mapping.map_by in _INSIDE_NUMA:
        targets = node.split(mapping.map_by)  # what is bound to is at least as large
    else:
        targets = node.split(mapping.bind_to)
    bound = [0] * len(targets)
    found = []
    for locale in locales:
        cores = frozenset(locale)
        near = [i for i, target in enumerate(targets) if not cores.isdisjoint(target)]
        first = min(near, key=lambda i: bound[i])
        if mapping.bind_to == CORE:
            own = tuple(core for (core,) in targets[first : first + each])
            for i in range(first, first + len(own)):
                bound[i] += 1
                if bound[i] > 1:
                    raise LaunchError("binds two ranks to one core")
            if len(own) < each or (mapping.is_by_object and not cores >= set(own)):
                raise LaunchError(
                    "binds ranks to cores outside the resource they are mapped to"
                )
        else:
            bound[first] += 1
            inside = [core for core in targets[first] if core in cores]
            own = take_cores(free, inside or targets[first], each)
        found.append(own)
    return found


def _rank(
    nodes: Sequence[NodeCores], locales: Locales, mapping: Mapping
) -> list[tuple[int, int]]:
    """List (node, number on the node) in the order of ranks."""
    if mapping.rank_by == SLOT:
        return [
            (i, number) for i, own in enumerate(locales) for number in range(len(own))
        ]
    if mapping.rank_by == NODE:
        return interleave([[(i,) for i in range(len(own))] for own in locales])
    objects = [tuple(node.split(mapping.rank_by)) for node in nodes]
    pairs = list(zip(objects, map(tuple, locales), strict=True))
    if mapping.rank_spread == FILL:
        return [
            (node, number)
            for node, pair in enumerate(pairs)
            for number in fill_objects(*pair)
        ]
    rounds = [list_rounds(*pair) for pair in pairs]
    if mapping.rank_spread == SPAN:
        return interleave(rounds)
    return [
        (node, number)
        for node, own in enumerate(rounds)
        for picked in own
        for number in picked
    ]
