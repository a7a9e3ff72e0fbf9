# SPDX-License-Identifier: BSD-3-Clause
"""Reads Slurm's ``topology.yaml``: tree, block, ring and torus3d."""

from __future__ import annotations

import math
from collections.abc import Callable

from topoloom._core import Error
from topoloom.importers.machine_description import MachineDescription
from topoloom.importers.slurm.topology_conf import add_root_switch, describe_ring
from topoloom.importers.switch_tree import HostLists, Switch, describe_switches
from topoloom.importers.torus_positions import MAX_ROUTERS, check_torus_size
from topoloom.support.yaml_tree import Value, read_yaml


def read_slurm_yaml(text: str) -> MachineDescription:
    """Read ``topology.yaml``: its only topology, or the cluster's default topology.

    Trees, blocks and rings are read as in `read_slurm_conf`. A torus3d becomes
    ``torus:XxYxZ``; Slurm lists its nodes with x fastest, ``hosts`` has z fastest.
    Entries ``placements``, which restrict jobs, are ignored. Raises `topoloom.Error`
    for a flat topology, which contains no nodes, and if PyYAML is missing.
    """
    topologies = read_yaml(text).items("a list of topologies")
    chosen = [t for t in topologies if _is_default(t)] or topologies
    if len(chosen) > 1 and not _is_default(chosen[0]):
        raise Error(
            f"line {chosen[1].line}: none of {len(chosen)} topologies is the default; "
            "write 'cluster_default: true' in the one to read"
        )
    if not chosen:
        raise Error("line 1: there is no topology; begin with '- topology: NAME'")
    topology = chosen[0]
    kinds = [kind for kind in _KINDS if topology.find(kind) is not None]
    if len(kinds) != 1:
        raise Error(
            f"line {topology.line}: a topology has exactly one of "
            f"{', '.join(_KINDS)}; this one has {len(kinds)}"
        )
    return _KINDS[kinds[0]](topology.get(kinds[0]))


def _is_default(topology: Value) -> bool:
    value = topology.find("cluster_default")
    return value is not None and value.boolean()


def _read_tree(value: Value) -> MachineDescription:
    nodes_of, children_of = HostLists(), HostLists()
    switches = []
    for item in value.get("switches").items("a list of switches"):
        name = item.get("switch").text()
        nodes, children = item.find("nodes"), item.find("children")
        if nodes is not None and children is not None:
            raise Error(
                f"line {item.line}: switch {name} has both nodes and children; "
                "put the nodes under a switch of their own"
            )
        switches.append(
            Switch(
                name,
                item.line,
                _expand_hosts(nodes_of, nodes) if nodes else (),
                _expand_hosts(children_of, children) if children else (),
            )
        )
    return describe_switches(switches)


def _read_block(value: Value) -> MachineDescription:
    return add_root_switch(_read_groups(value, "blocks", "block"))


def _read_ring(value: Value) -> MachineDescription:
    return describe_ring(_read_groups(value, "rings", "ring"))


def _reject_flat(value: Value) -> MachineDescription:
    raise Error(
        f"line {value.line}: a flat topology contains no nodes and no network; "
        "describe the machine yourself, as tree:64"
    )


def _read_torus(value: Value) -> MachineDescription:
    toruses = value.get("toruses").items("a list of toruses")
    if len(toruses) != 1:
        raise Error(
            f"line {value.line}: there are {len(toruses)} toruses; a machine is one "
            "network, so keep one"
        )
    torus = toruses[0]
    dims = _read_coordinates(torus.get("dims"), 1)
    count = math.prod(dims)
    check_torus_size(dims, 1, torus.line)
    hosts: list[str | None] = [None] * count
    lists, seen = HostLists(), set()
    regions = torus.find("regions")
    for region in regions.items("a list of regions") if regions else [torus]:
        (ax, ay, az), (sx, sy, sz) = (0, 0, 0), dims
        if regions is not None:
            ax, ay, az = _read_coordinates(region.get("anchor"), 0)
            sx, sy, sz = _read_coordinates(region.get("dims"), 1)
        if ax + sx > dims[0] or ay + sy > dims[1] or az + sz > dims[2]:
            raise Error(
                f"line {region.line}: the region of {sx}x{sy}x{sz} at "
                f"({ax},{ay},{az}) leaves the torus of {_format_shape(dims)}"
            )
        names = _expand_hosts(lists, region.get("nodes"))
        if len(names) != sx * sy * sz:
            raise Error(
                f"line {region.line}: {sx}x{sy}x{sz} has {sx * sy * sz} places, "
                f"but {len(names)} nodes are listed"
            )
        for i, name in enumerate(names):
            x, y, z = ax + i % sx, ay + i // sx % sy, az + i // sx // sy
            at = (x * dims[1] + y) * dims[2] + z
            if hosts[at] is not None or name in seen:
                raise Error(
                    f"line {region.line}: node {name} at ({x},{y},{z}): the node or "
                    "position is already used; list each once"
                )
            hosts[at] = name
            seen.add(name)
    named = tuple(name for name in hosts if name is not None)
    if len(named) < count:
        raise Error(
            f"line {torus.line}: {count - len(named)} of {count} places of the torus "
            "have no node; add regions for them"
        )
    return MachineDescription(f"torus:{_format_shape(dims)}", named, network="")


_KINDS: dict[str, Callable[[Value], MachineDescription]] = {
    "tree": _read_tree,
    "block": _read_block,
    "ring": _read_ring,
    "flat": _reject_flat,
    "torus3d": _read_torus,
}


def _read_groups(value: Value, plural: str, singular: str) -> list[Switch]:
    lists = HostLists()
    groups = [
        Switch(
            item.get(singular).text(),
            item.line,
            _expand_hosts(lists, item.get("nodes")),
        )
        for item in value.get(plural).items(f"a list of {plural}")
    ]
    if not groups:
        raise Error(f"line {value.line}: there are no {plural}; list at least one")
    return groups


def _expand_hosts(lists: HostLists, value: Value) -> tuple[str, ...]:
    return lists.expand(value.line, value.text())


def _read_coordinates(value: Value, least: int) -> tuple[int, int, int]:
    x, y, z = (value.get(axis).integer(least, MAX_ROUTERS) for axis in "xyz")
    return x, y, z


def _format_shape(dims: tuple[int, int, int]) -> str:
    return "x".join(map(str, dims))
