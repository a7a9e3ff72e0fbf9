# SPDX-License-Identifier: BSD-3-Clause
"""What the words of mpirun say about mapping, ranking and binding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from topoloom.launch.orders.node_cores import CORE, NODE, LaunchError

SLOT = "slot"
SPAN, FILL = "span", "fill"
#: Binding to nothing.
NONE = "none"

Cores = tuple[int, ...]


@dataclass(frozen=True)
class Mapping:
    """The policies of a job; empty where Open MPI chooses.

    Attributes
    ----------
    map_by, rank_by, bind_to
        A resource of nodes, `SLOT` or `NODE`; `bind_to` may be `NONE`.
    rank_spread
        `SPAN` or `FILL`.
    ranks_per_resource
        The number of ranks on each resource (``ppr``).
    is_spanning
        Whether ranks are spread over the resources of all nodes.
    cores
        Cores per rank (``PE``); None if not given.
    """

    map_by: str = ""
    rank_by: str = ""
    rank_spread: str = ""
    bind_to: str = ""
    ranks_per_resource: int | None = None
    is_spanning: bool = False
    cores: int | None = None

    @property
    def cores_per_rank(self) -> int:
        """The number of cores of each rank."""
        return self.cores or 1

    def check_binding(self) -> None:
        """Raise an error if ranks with several cores are bound to something else."""
        if self.cores is not None and self.bind_to not in ("", NONE, CORE):
            raise LaunchError("combines PE with a binding other than core")

    @property
    def is_by_object(self) -> bool:
        """Whether ranks are mapped to resources within nodes."""
        return self.map_by not in ("", SLOT, NODE)


@lru_cache(maxsize=256)
def list_rounds(objects: tuple[Cores, ...], locales: tuple[Cores, ...]) -> list[Cores]:
    """Pick a rank of each object in turn, until all ranks of a node are picked.

    `locales` are the cores that each rank is mapped to; a rank is on an object if they
    share a core. Each round has at most one rank per object.
    """
    sets = [frozenset(cores) for cores in locales]
    left = list(range(len(locales)))
    rounds = []
    while left:
        picked: list[int] = []
        for cores in objects:
            mine = next((rank for rank in left if not sets[rank].isdisjoint(cores)), -1)
            if mine >= 0:
                left.remove(mine)
                picked.append(mine)
        rounds.append(tuple(picked))
    return rounds


@lru_cache(maxsize=256)
def fill_objects(objects: tuple[Cores, ...], locales: tuple[Cores, ...]) -> Cores:
    """Pick all ranks of each object before those of the next one."""
    sets = [frozenset(cores) for cores in locales]
    left = list(range(len(locales)))
    picked: list[int] = []
    for cores in objects:
        mine = [rank for rank in left if not sets[rank].isdisjoint(cores)]
        left = [rank for rank in left if rank not in mine]
        picked += mine
    return (*picked, *left)


def interleave(rounds_of_nodes: Sequence[Sequence[Cores]]) -> list[tuple[int, int]]:
    """List (node, rank of node) round by round over all nodes."""
    most = max(map(len, rounds_of_nodes), default=0)
    return [
        (node, rank)
        for number in range(most)
        for node, rounds in enumerate(rounds_of_nodes)
        if number < len(rounds)
        for rank in rounds[number]
    ]
