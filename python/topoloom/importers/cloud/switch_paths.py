# SPDX-License-Identifier: BSD-3-Clause
"""Describes nodes by the paths of switches above them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from topoloom.importers.machine_description import MachineDescription
from topoloom.importers.switch_tree import Switch, describe_switches


def describe_switch_paths(placed: Mapping[str, tuple[str, ...]]) -> MachineDescription:
    """Build a tree of switches from each instance's path, given from the top down.

    Equal names denote the same switch only if the parent is also the same. If all
    instances share their top switches, only the lowest shared switch is kept; if they
    share none, a root is added.
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
    paths = sorted(nodes, key=len)
    names = _name_switches(paths)
    children: dict[tuple[str, ...], list[str]] = {path: [] for path in paths}
    for path in paths[1:]:
        children[path[:-1]].append(names[path])
    return describe_switches(
        [
            Switch(names[path], 1, tuple(nodes[path]), tuple(children[path]))
            for path in paths
        ]
    )


def _name_switches(paths: Sequence[tuple[str, ...]]) -> dict[tuple[str, ...], str]:
    """Name switches by the last part of their path if unique, else by the full path."""
    for name in (_last_part, "/".join, repr):
        names = {path: name(path) if path else "root" for path in paths}
        if len(set(names.values())) == len(paths) and all(
            one.isprintable() for one in names.values()
        ):
            break
    return names


def _last_part(path: tuple[str, ...]) -> str:
    return path[-1]
