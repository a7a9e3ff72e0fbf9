# SPDX-License-Identifier: BSD-3-Clause
"""Assigns hosts to coordinates of a torus."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from topoloom._core import Error
from topoloom.nodes.host_text import format_vacant_name

#: Maximum number of routers along an axis of a torus.
MAX_ROUTERS = 16_384
# Upper limit, because a few bytes of text can specify a huge torus.
_MAX_PLACES = 500_000


def check_torus_size(size: Sequence[int], nodes: int, line: int) -> None:
    """Raise `topoloom.Error` if a torus is too large, with the line number."""
    if max(size) > MAX_ROUTERS or math.prod(size) * nodes > _MAX_PLACES:
        raise Error(
            f"line {line}: a torus of {'x'.join(map(str, size))} is too large to "
            "read; check the coordinates"
        )


def list_hosts_by_position(
    size: Sequence[int], nodes: int, hosts: Mapping[tuple[int, ...], Iterable[str]]
) -> tuple[str, ...]:
    """List the hosts in the order of a torus's nodes, with the last axis fastest.

    A router with fewer than `nodes` hosts has vacant positions.
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
    return tuple(name or format_vacant_name(node) for node, name in enumerate(names))
