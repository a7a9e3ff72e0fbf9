# SPDX-License-Identifier: BSD-3-Clause
"""Hosts at coordinates of a torus."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from topoloom._core import Error
from topoloom.nodes.host_text import vacant_name

#: Routers that an axis of a torus may have.
MAX_ROUTERS = 16_384
# A few bytes of text can name a place far away.
_MAX_PLACES = 500_000


def check_size(size: Sequence[int], nodes: int, line: int) -> None:
    """Raise `topoloom.Error` with the line of a torus larger than any machine."""
    if max(size) > MAX_ROUTERS or math.prod(size) * nodes > _MAX_PLACES:
        raise Error(
            f"line {line}: a torus of {'x'.join(map(str, size))} is too large to "
            "read; check the coordinates"
        )


def hosts_by_place(
    size: Sequence[int], nodes: int, hosts: Mapping[tuple[int, ...], Iterable[str]]
) -> tuple[str, ...]:
    """List the hosts in the order of a torus's nodes, the last axis fastest.

    A router with fewer than `nodes` hosts has vacant places.
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
