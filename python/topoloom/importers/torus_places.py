# SPDX-License-Identifier: BSD-3-Clause
"""Hosts at coordinates of a torus, and names for the places that have none."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from topoloom._core import Error

#: Routers that an axis of a torus may have.
MAX_ROUTERS = 16_384
# Beyond this the readers refuse: a few bytes of text can name a place far away.
_MAX_PLACES = 500_000
#: What begins the name of a place without a host. Names of hosts have no underscore.
_VACANT = "vacant_"


def is_vacant(host: str) -> bool:
    """Return whether this names a place of `hosts_by_place` that has no host."""
    return host.startswith(_VACANT)


def vacant_name(node: int) -> str:
    """Name the place of a node that has no host."""
    return f"{_VACANT}{node}"


def vacant_nodes(hosts: Iterable[str]) -> set[int]:
    """Find the nodes whose places have no host."""
    return {node for node, host in enumerate(hosts) if is_vacant(host)}


def drop_vacant(hosts: Iterable[str]) -> list[str]:
    """Leave out the names that do not stand for a host."""
    return [host for host in hosts if not is_vacant(host)]


def check_size(size: Sequence[int], nodes: int, line: int) -> None:
    """Refuse a torus with more places than any machine has, by the line it is from."""
    if max(size) > MAX_ROUTERS or math.prod(size) * nodes > _MAX_PLACES:
        raise Error(
            f"line {line}: a torus of {'x'.join(map(str, size))} is too large to "
            "read; check the coordinates"
        )


def hosts_by_place(
    size: Sequence[int], nodes: int, hosts: Mapping[tuple[int, ...], Iterable[str]]
) -> tuple[str, ...]:
    """List the hosts in the order of a torus's nodes, the last axis fastest.

    A place with fewer than `nodes` hosts is filled up with names such as
    ``vacant_17``, 17 being the node: a machine knows them, a job never has them.
    """
    names: list[str | None] = [None] * nodes
    for extent in size:
        names *= extent
    for place, here in hosts.items():
        router = 0
        for at, extent in zip(place, size, strict=True):
            router = router * extent + at
        for node, host in enumerate(here, router * nodes):
            names[node] = host
    return tuple(name or vacant_name(node) for node, name in enumerate(names))
