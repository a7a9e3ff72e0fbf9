# SPDX-License-Identifier: BSD-3-Clause
"""Finds the disconnected parts of a machine with failures."""

from __future__ import annotations

import numpy as np

from topoloom._core import Machine
from topoloom.support.number_ranges import compress_ranges

#: Maximum number of parts listed in messages.
_MAX_LISTED_PARTS = 4


def separate_parts(machine: Machine) -> list[list[int]]:
    """List the nodes of each connected part of a machine, the largest first."""
    left = machine.nodes_up
    parts = []
    while len(left):
        first = np.full(len(left), left[0])
        together = machine.connected(first, left) & machine.connected(left, first)
        together[0] = True
        parts.append(left[together].tolist())
        left = left[~together]
    return sorted(parts, key=len, reverse=True)


def describe_parts(machine: Machine, parts: list[list[int]]) -> str:
    """Describe the parts in one line; "" if the machine is connected."""
    if len(parts) < 2:
        return ""
    named = [
        f"node{'s' if len(part) > 1 else ''} {compress_ranges(part)}"
        for part in parts[:_MAX_LISTED_PARTS]
    ]
    if len(parts) > _MAX_LISTED_PARTS:
        named.append(f"{len(parts) - _MAX_LISTED_PARTS:,} more")
    one_way = any(
        machine.connected(a[0], b[0])
        for a in parts[:_MAX_LISTED_PARTS]
        for b in parts
        if a != b
    )
    between = "routes in one direction at most" if one_way else "no route"
    return f"{len(parts):,} parts with {between} between them: {'; '.join(named)}"
