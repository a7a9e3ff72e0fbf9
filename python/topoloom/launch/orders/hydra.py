# SPDX-License-Identifier: BSD-3-Clause
"""MPICH's Hydra: ``mpiexec -ppn 4 -bind-to core:2 -map-by socket``.

Nodes are filled one after another; with ``-ppn``, in blocks of that many ranks, and
again from the first node if ranks are left. Without ``-bind-to``, ranks use the cores
of a node in order.

Source: utils/alloc/alloc.c and tools/topo/hwloc/topo_hwloc.c of Hydra 4.0.2.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from math import gcd
from typing import NamedTuple

from topoloom.launch.launchers.hydra import SYNTAX
from topoloom.launch.orders.launch_options import (
    LaunchOptions,
    LaunchOrderRules,
    read_count,
    read_options,
)
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

_RESOURCES = {
    "machine": NODE,
    "socket": PACKAGE,
    "package": PACKAGE,
    "numa": NUMA,
    "numanode": NUMA,
    "core": CORE,
    "l1cache": CORE,
    "l2cache": L2,
    "l3cache": L3,
}
#: Options that place ranks in ways that are not supported.
_REFUSED = frozenset(
    {"rankmap", "grr", "rr", "order-nodes", "configfile", "f", "hostfile", "hosts"}
    | {"machinefile", "machine", "host", "gpus-per-proc"}
)

Cores = tuple[int, ...]


class Resources(NamedTuple):
    """A number of consecutive resources of one kind, such as ``core:4``."""

    name: str
    number: int


class HydraOrder(NamedTuple):
    """The options of mpiexec that place ranks."""

    ranks_per_node: int | None
    bind: Resources | None
    mapping: Resources | None
    cores_per_rank: int

    def place(self, nodes: Sequence[NodeCores], ranks: int) -> list[RankCores]:
        """Return the node and the cores of each rank."""
        room = [len(node.cores) for node in nodes]
        check_room(ranks, room)
        blocks = room
        if self.ranks_per_node is not None:
            blocks = [self.ranks_per_node] * len(nodes)
        owner: list[int] = []
        while len(owner) < ranks:
            for node, block in enumerate(blocks):
                owner += [node] * min(block, ranks - len(owner))
        counts = Counter(owner)
        cores = [iter(self._bind(node, counts[i])) for i, node in enumerate(nodes)]
        return [RankCores(node, next(cores[node])) for node in owner]

    def _bind(self, node: NodeCores, ranks: int) -> list[Cores]:
        """Return the cores of the ranks of a node."""
        if self.bind is None:
            bound = [node.cores] * ranks
        else:
            mapping = self.mapping or self.bind
            bound = _list_bindings(
                tuple(node.split(self.bind.name)),
                self.bind.number,
                tuple(node.split(mapping.name)),
                mapping.number,
            )
            bound = [bound[i % len(bound)] for i in range(ranks)]
        if ranks * self.cores_per_rank > len(node.cores):
            raise LaunchError(
                f"puts {ranks} ranks of {self.cores_per_rank} cores on a node of "
                f"{len(node.cores)}; limit them with -ppn"
            )
        if self.cores_per_rank > 1:
            return bound
        free = list(node.cores)
        return [take_cores(free, cores, 1) for cores in bound]


@lru_cache(maxsize=64)
def _list_bindings(
    parts: tuple[Cores, ...],
    count: int,
    map_parts: tuple[Cores, ...],
    map_count: int,
) -> list[Cores]:
    """List the cores of the ranks of a node, until they repeat.

    Each of the domains of `map_count` map parts gets a rank in turn; a rank is bound to
    `count` consecutive parts, the next ones of its domain.
    """
    total = sum(map(len, map_parts))
    if total // len(map_parts) * map_count > total:
        raise LaunchError("maps by more resources than a node has")
    domains = []
    copies = map_count // gcd(map_count, len(map_parts))
    for i in range(copies * len(map_parts) // map_count):
        own = [
            map_parts[(i * map_count + j) % len(map_parts)] for j in range(map_count)
        ]
        domains.append([core for part in own for core in part])
    in_domain = total // len(map_parts) * map_count
    in_binding = total // len(parts) * count
    rounds = 1
    if in_binding < in_domain:
        rounds = in_domain // gcd(in_domain, in_binding)
    starts = [0] * len(domains)
    bindings = []
    for _ in range(rounds):
        for number, domain in enumerate(domains):
            first = _find_part(parts, domain[starts[number] % len(domain)])
            inside = list(range(len(parts)))
            if in_binding < in_domain:
                inside = [i for i in inside if set(parts[i]) <= set(domain)] or [first]
                starts[number] += in_binding
            at = inside.index(first) if first in inside else 0
            own = [parts[inside[(at + i) % len(inside)]] for i in range(count)]
            bindings.append(tuple(core for part in own for core in part))
    return bindings


def _find_part(parts: Sequence[Cores], core: int) -> int:
    return next(i for i, part in enumerate(parts) if core in part)


def read_order(words: Sequence[str]) -> LaunchOrderRules:
    """Read the options of an mpiexec command."""
    read = read_options(words, SYNTAX, _REFUSED)
    bind, mapping = _read_resources(read, "bind-to"), _read_resources(read, "map-by")
    if mapping is not None and bind is None:
        raise LaunchError("has -map-by without -bind-to; add -bind-to")
    cores = bind.number if bind is not None and bind.name == CORE else 1
    order = HydraOrder(read.find_count("ppn", "perhost"), bind, mapping, cores)
    return LaunchOrderRules(read.ranks, cores, order.place)


def _read_resources(read: LaunchOptions, name: str) -> Resources | None:
    option = read.find(name)
    if option is None or option.values[0] == "none":
        return None
    kind, colon, count = option.values[0].partition(":")
    if kind not in _RESOURCES:
        raise LaunchError(
            f"'{option.text}': no resource '{kind}'; there are: none, "
            f"{', '.join(_RESOURCES)}"
        )
    return Resources(_RESOURCES[kind], read_count(count, option.text) if colon else 1)
