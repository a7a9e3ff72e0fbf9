# SPDX-License-Identifier: BSD-3-Clause
"""The shape of a node: its levels, and the place of each core in them.

If cores are unevenly spread over caches, NUMA domains and packages, because some are
reserved or offline or because cores differ, the node has the shape of its largest
parts. Places without a core are vacant::

    package 0: cores 1 2 3      4 places per package, distance 8:16
    package 1: cores 4 5 6 7    1 2 3 .   4 5 6 7
"""

from __future__ import annotations

import itertools
import math
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from topoloom.nodes.node_parts import COSTS, MAX_CPUS

#: hwloc's types of shared resources -> names of their levels, keys of
#: `node_parts.COSTS`. Among levels with equal costs, the first one determines the name.
SHARED = {
    "L2Cache": "L2",
    "L3Cache": "L3",
    "NUMANode": "numa",
    "Die": "die",
    "Group": "group",
    "Package": "package",
}
#: A route to a NIC costs more if it leaves one of these resources. They are also the
#: ones that are further apart the more of them are nested.
CROSSED = ("NUMANode", "Die", "Group", "Package")
_PACKAGE, _NODE = "package", "node"
#: A shape with more places per core loses levels.
_MAX_PLACES_PER_CORE = 8


class Container(NamedTuple):
    """A shared resource: a key of `SHARED`, and its CPUs as a bit mask."""

    kind: str
    cpus: int


class Level(NamedTuple):
    """A level: its resource, its distance, and the first core of each resource."""

    name: str
    distance: int
    starts: list[int]


class CoreShape(NamedTuple):
    """Levels of a node, bottom-up, and the place of each core.

    Attributes
    ----------
    levels, sizes
        The levels, and the number of parts of each.
    places
        The place of each core, ascending.
    omitted
        Number of resources, by name, that are in no level: they overlap others, or
        their level would leave most places vacant.
    """

    levels: list[Level]
    sizes: list[int]
    places: list[int]
    omitted: dict[str, int]

    def list_vacant_places(self) -> tuple[int, ...]:
        """List the places without a core."""
        used = set(self.places)
        return tuple(i for i in range(math.prod(self.sizes)) if i not in used)


class _Run(NamedTuple):
    """Cores that share a resource: from `first` up to, but without, `end`."""

    kind: str
    first: int
    end: int


def find_core_shape(cores: Sequence[int], containers: Iterable[Container]) -> CoreShape:
    """Find the levels of a node from the resources that its cores share.

    The distance of two cores is that of the closest resource which both share. A
    resource that contains others of its cost, such as a group of NUMA domains, costs 1
    more.
    """
    runs, omitted = _list_runs(cores, containers)
    packages = [run for run in runs if run.kind == "Package"]
    top = _PACKAGE if len(packages) == 1 else _NODE
    kept = _drop_redundant_runs(runs, packages, len(cores), omitted)
    levels = _stack_levels(_compute_costs(kept, len(cores)), len(cores), omitted)
    if not levels or len(levels[-1].starts) > 1 or len(cores) == 1:
        levels.append(Level(top, COSTS[top], [0]))
    levels = _drop_sparse_levels(levels, len(cores), omitted)
    return _place_cores(levels, len(cores), dict(omitted))


def list_bits(mask: int) -> list[int]:
    """List the numbers of the bits that are set, ascending."""
    bits = []
    while mask:
        bits.append((mask & -mask).bit_length() - 1)
        mask &= mask - 1
    return bits


def _list_runs(
    cores: Sequence[int], containers: Iterable[Container]
) -> tuple[list[_Run], Counter[str]]:
    """List the resources as runs of cores; count those whose cores are apart.

    A core is identified by its first CPU.
    """
    core_of = {(core & -core).bit_length() - 1: i for i, core in enumerate(cores)}
    firsts = sum(1 << cpu for cpu in core_of)
    runs, omitted = set(), Counter[str]()
    for kind, mask in {(kind, mask & firsts) for kind, mask in containers}:
        own = sorted(core_of[cpu] for cpu in list_bits(mask))
        if own and own[-1] - own[0] + 1 == len(own):
            runs.add(_Run(kind, own[0], own[-1] + 1))
        elif own:
            omitted[SHARED[kind]] += 1
    return sorted(runs), omitted


def _drop_redundant_runs(
    runs: Iterable[_Run], packages: Sequence[_Run], count: int, omitted: Counter[str]
) -> list[_Run]:
    """Drop dies and groups that equal a package, and what spans all packages.

    Also drop, and count, what spans some packages but is no group of packages.
    """
    firsts = [run.first for run in packages]
    ends = [run.end for run in packages]
    whole = set(zip(firsts, ends, strict=True))
    kept = []
    for run in runs:
        kind, first, end = run
        is_inside = kind == "Package" or not _crosses_packages(first, end, firsts, ends)
        if kind in ("Die", "Group") and (first, end) in whole:
            continue
        if not is_inside and end - first == count:
            continue
        if is_inside or (kind in CROSSED and first in firsts and end in ends):
            kept.append(run)
        else:
            omitted[SHARED[kind]] += 1
    return kept


def _crosses_packages(
    first: int, end: int, firsts: Sequence[int], ends: Sequence[int]
) -> bool:
    """Return whether cores of a run are in a package, and others are outside it."""
    at = bisect_right(firsts, first) - 1
    if at >= 0 and first < ends[at]:
        return end > ends[at]
    return at + 1 < len(firsts) and firsts[at + 1] < end


def _compute_costs(runs: Iterable[_Run], count: int) -> list[tuple[int, int, _Run]]:
    """Compute the cost of each resource; return (cost, size, resource), ascending."""
    inner = [0] * count  # by core: the cost of the largest smaller resource
    costs = []
    by_size = sorted(runs, key=_size)
    for size, group in itertools.groupby(by_size, _size):
        of_size = []
        for run in group:
            cost = COSTS[SHARED[run.kind]]
            nested = max(inner[run.first : run.end])
            if run.kind in CROSSED and nested >= cost:
                above = _PACKAGE if nested < COSTS[_PACKAGE] else _NODE
                cost = min(nested + 1, COSTS[above] - 1)
            of_size.append((cost, size, run))
        costs += of_size
        for cost, _, run in of_size:
            if run.kind in CROSSED and size > 1:
                inner[run.first : run.end] = [
                    max(cost, other) for other in inner[run.first : run.end]
                ]
    order = list(SHARED)
    return sorted(costs, key=lambda one: (*one[:2], order.index(one[2].kind)))


def _size(run: _Run) -> int:
    return run.end - run.first


def _stack_levels(
    costs: Sequence[tuple[int, int, _Run]], count: int, omitted: Counter[str]
) -> list[Level]:
    """Join cores into resources, the closest ones first: one level per cost."""
    levels: list[Level] = []
    starts = list(range(count))
    for cost, group in itertools.groupby(costs, lambda one: one[0]):
        before, kinds = len(starts), []
        for _, _, run in group:
            inside = bisect_right(starts, run.first)
            outside = bisect_left(starts, run.end)
            if inside == outside:
                continue  # its cores share a closer resource
            is_cut = starts[inside - 1] != run.first or (
                run.end < count and starts[outside] != run.end
            )
            if is_cut:
                omitted[SHARED[run.kind]] += 1
                continue
            del starts[inside:outside]
            kinds.append(run.kind)
        if len(starts) < before:
            kind = min(kinds, key=list(SHARED).index)
            name = _make_unique(SHARED[kind], [level.name for level in levels])
            levels.append(Level(name, cost, starts.copy()))
    return levels


def _make_unique(name: str, others: Sequence[str]) -> str:
    """Append a number to a name that is taken: group, group2, group3."""
    numbered = (f"{name}{number}" for number in itertools.count(2))
    return name if name not in others else next(n for n in numbered if n not in others)


def _drop_sparse_levels(
    levels: list[Level], count: int, omitted: Counter[str]
) -> list[Level]:
    """Drop levels until the shape has few vacant places; count their resources."""
    most = min(MAX_CPUS, _MAX_PLACES_PER_CORE * count)
    while math.prod(_count_parts(levels, count)) > most:
        shorter = [levels[:i] + levels[i + 1 :] for i in range(len(levels) - 1)]
        best = min(shorter, key=lambda one: math.prod(_count_parts(one, count)))
        dropped = next(level for level in levels if level not in best)
        omitted[dropped.name] += len(dropped.starts)
        levels = best
    return levels


def _count_parts(levels: Sequence[Level], count: int) -> list[int]:
    """Count the parts of the largest resource of each level."""
    below: Sequence[int] = range(count)
    sizes = []
    for level in levels:
        edges = [bisect_left(below, start) for start in level.starts]
        edges.append(len(below))
        sizes.append(max(b - a for a, b in itertools.pairwise(edges)))
        below = level.starts
    return sizes


def _place_cores(levels: list[Level], count: int, omitted: dict[str, int]) -> CoreShape:
    sizes = _count_parts(levels, count)
    places = [0] * count
    step, below = 1, [*range(count)]
    for level, size in zip(levels, sizes, strict=True):
        for first, end in itertools.pairwise([*level.starts, count]):
            at = bisect_left(below, first)
            parts = [*below[at : bisect_left(below, end)], end]
            for number, (start, stop) in enumerate(itertools.pairwise(parts)):
                for core in range(start, stop):
                    places[core] += number * step
        step, below = step * size, level.starts
    return CoreShape(levels, sizes, places, omitted)
