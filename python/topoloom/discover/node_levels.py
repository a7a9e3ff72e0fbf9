# SPDX-License-Identifier: BSD-3-Clause
"""From what the cores of a node share to the levels of a machine's short text."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

#: Distance between two cores that share one of these, of all that they share the least.
SHARED = {
    "L2Cache": 1,
    "L3Cache": 2,
    "NUMANode": 4,
    "Die": 4,
    "Group": 4,
    "Package": 8,
}
ACROSS_PACKAGES = 16
#: What a hop between nodes weighs: a way over one switch, of two hops, costs 32.
HOP_WEIGHT = 16


class Container(NamedTuple):
    """What cores share: a key of `SHARED`, and the set of its CPUs as a bit mask."""

    kind: str
    cpus: int


@dataclass(frozen=True)
class Inside:
    """The inside of a node.

    Attributes
    ----------
    cores
        The CPUs (hardware threads) of each core as a bit mask; what shares a container
        stands side by side.
    containers
        What the cores share, in any order.
    """

    cores: Sequence[int]
    containers: Sequence[Container]

    def within(self, cpus: int) -> Inside:
        """Keep the cores that have one of these CPUs."""
        cores = [core & cpus for core in self.cores if core & cpus]
        kept = (Container(kind, mask & cpus) for kind, mask in self.containers)
        return Inside(cores, [container for container in kept if container.cpus])


def levels_text(inside: Inside) -> str:
    """Write the levels, as ``+node:4:2,distance=2:16``; nothing for a single core.

    Containers that not all cores have, or that do not hold equally many, make no level:
    an irregular node gets the coarser levels that are true of all of it.
    """
    # A core is known by its first CPU.
    core_of = {_lowest(core): index for index, core in enumerate(inside.cores)}
    count = len(core_of)
    firsts = sum(1 << cpu for cpu in core_of)
    shared = {(kind, mask & firsts) for kind, mask in inside.containers}
    packages = [mask for kind, mask in shared if kind == "Package" and mask]
    distance = {count: ACROSS_PACKAGES if len(packages) > 1 else SHARED["Package"]}
    package_size = _regular_size(packages, core_of)
    for (kind, _), masks in _layers(shared, packages, count).items():
        size = _regular_size(masks, core_of)
        if size:
            distance[size] = min(SHARED[kind], distance.get(size, ACROSS_PACKAGES))
    levels = _chain(distance)
    if not levels:
        return ""
    # Launchers take the top level of several for the packages of a node.
    if len(levels) > 1 and levels[-2] != package_size:
        levels.append(count)
    arities = [size // inner for inner, size in itertools.pairwise([1, *levels])]
    distances = [distance[size] for size in levels]
    return f"+node:{_joined(arities)},distance={_joined(distances)}"


def nodes_text(nodes: int, levels: str) -> str:
    """Write equal nodes as a machine; several of them are on one switch."""
    if nodes == 1:
        return f"torus:1{levels}"
    return f"tree:{nodes}{levels}:{HOP_WEIGHT}" if levels else f"tree:{nodes}"


def _layers(
    shared: Iterable[tuple[str, int]], packages: list[int], count: int
) -> dict[tuple[str, int], list[int]]:
    """Sort containers by kind and size, for groups of one kind may be nested.

    What reaches over several packages says nothing of how near its cores are, and a
    die or group that is a whole package no more than that.
    """
    whole = set(packages)
    package_of: dict[int, int] = {}
    if sum(mask.bit_count() for mask in packages) <= count:
        package_of = {cpu: mask for mask in packages for cpu in _bits(mask)}
    layers: dict[tuple[str, int], list[int]] = {}
    for kind, mask in shared:
        if kind in ("Die", "Group") and mask in whole:
            continue
        if mask and not mask & ~package_of.get(_lowest(mask), mask):
            layers.setdefault((kind, mask.bit_count()), []).append(mask)
    return layers


def _regular_size(masks: list[int], core_of: dict[int, int]) -> int:
    """Count the cores in each mask if they cut the cores into equal runs, else 0."""
    sizes = {mask.bit_count() for mask in masks}
    if len(sizes) != 1 or (size := sizes.pop()) * len(masks) != len(core_of):
        return 0
    runs = sorted(sorted(core_of[cpu] for cpu in _bits(mask)) for mask in masks)
    in_order = list(itertools.chain.from_iterable(runs)) == list(range(len(core_of)))
    return size if in_order else 0


def _chain(distance: dict[int, int]) -> list[int]:
    """Choose the sizes of levels, bottom-up: each divides the next and is nearer."""
    levels: list[int] = []
    for size in sorted(distance, reverse=True):
        if size > 1 and (
            not levels
            or (levels[0] % size == 0 and distance[size] < distance[levels[0]])
        ):
            levels.insert(0, size)
    return levels


def _bits(mask: int) -> Iterator[int]:
    while mask:
        yield _lowest(mask)
        mask &= mask - 1


def _lowest(mask: int) -> int:
    return (mask & -mask).bit_length() - 1


def _joined(numbers: Iterable[int]) -> str:
    return ":".join(map(str, numbers))
