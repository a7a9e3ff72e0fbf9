# SPDX-License-Identifier: BSD-3-Clause
"""Parts of a machine that failures separate."""

from __future__ import annotations

import numpy as np

from topoloom._core import Machine
from topoloom.support.number_ranges import compress_ranges

#: The most parts that messages list.
_NAMED = 4


def separate_parts(machine: Machine) -> list[list[int]]:
    """List the nodes of each part, whose nodes reach each other, the largest first."""
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
    """Write the parts in one line; "" if there is one."""
    if len(parts) < 2:
        return ""
    named = [
        f"node{'s' if len(part) > 1 else ''} {compress_ranges(part)}"
        for part in parts[:_NAMED]
    ]
    if len(parts) > _NAMED:
        named.append(f"{len(parts) - _NAMED:,} more")
    one_way = any(
        machine.connected(a[0], b[0]) for a in parts[:_NAMED] for b in parts if a != b
    )
    between = "routes in one direction at most" if one_way else "no route"
    return f"{len(parts):,} parts with {between} between them: {'; '.join(named)}"
