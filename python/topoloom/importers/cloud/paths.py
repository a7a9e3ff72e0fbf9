# SPDX-License-Identifier: BSD-3-Clause
"""Nodes by the switches above them, as a machine."""

from __future__ import annotations

from collections.abc import Mapping

from topoloom.importers.described import Described
from topoloom.importers.switch_tree import Switch, describe_switches


def describe_paths(placed: Mapping[str, tuple[str, ...]]) -> Described:
    """Attach instances to the switches of their paths, the top one first.

    Switches of the same name are the same only below the same switch. Those at the top
    that all instances share say nothing and are left out, but for the lowest of them;
    where they share none, one more joins the top ones.
    """
    first, last = min(placed.values()), max(placed.values())
    top = 0
    while first[: top + 1] == last[: top + 1] and top < len(first):
        top += 1
    nodes: dict[tuple[str, ...], list[str]] = {}
    for name, path in placed.items():
        for length in range(top, len(path) + 1):
            nodes.setdefault(path[:length], [])
        nodes[path].append(name)
    # The lines are never shown: names and places are right by now.
    paths = sorted(nodes, key=len)
    children: dict[tuple[str, ...], list[str]] = {path: [] for path in paths}
    for path in paths[1:]:
        children[path[:-1]].append(repr(path))
    return describe_switches(
        [
            Switch(repr(path), 1, tuple(nodes[path]), tuple(children[path]))
            for path in paths
        ]
    )
