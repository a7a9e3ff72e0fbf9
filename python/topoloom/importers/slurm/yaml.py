# SPDX-License-Identifier: BSD-3-Clause
"""Slurm's ``topology.yaml``: tree, block, ring and torus3d."""

from __future__ import annotations

import math
from collections.abc import Callable

from topoloom._core import Error
from topoloom.importers.machine_description import MachineDescription
from topoloom.importers.slurm.conf import describe_ring, under_one_root
from topoloom.importers.switch_tree import HostLists, Switch, describe_switches
from topoloom.importers.torus_places import MAX_ROUTERS, check_size
from topoloom.support.yaml_tree import Value, read_yaml


def read_slurm_yaml(text: str) -> MachineDescription:
    """Read ``topology.yaml``: the only topology, or the first default of the cluster.

    Trees, blocks and rings are read as by `read_slurm_conf`. A torus3d becomes
    ``torus:XxYxZ``; Slurm lists its nodes with x fastest, ``hosts`` has z fastest.
    Placements, which restrict jobs, are ignored. Raises `topoloom.Error` for a flat
    topology, which names no nodes, and without PyYAML.
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


def _tree(value: Value) -> MachineDescription:
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
                _expand(nodes_of, nodes) if nodes else (),
                _expand(children_of, children) if children else (),
            )
        )
    return describe_switches(switches)


def _block(value: Value) -> MachineDescription:
    return under_one_root(_groups(value, "blocks", "block"))


def _ring(value: Value) -> MachineDescription:
    return describe_ring(_groups(value, "rings", "ring"))


def _flat(value: Value) -> MachineDescription:
    raise Error(
        f"line {value.line}: a flat topology names no nodes and no network; "
        "describe the machine yourself, as tree:64"
    )


def _torus(value: Value) -> MachineDescription:
    toruses = value.get("toruses").items("a list of toruses")
    if len(toruses) != 1:
        raise Error(
            f"line {value.line}: there are {len(toruses)} toruses; a machine is one "
            "network, so keep one"
        )
    torus = toruses[0]
    dims = _coordinates(torus.get("dims"), 1)
    count = math.prod(dims)
    check_size(dims, 1, torus.line)
    hosts: list[str | None] = [None] * count
    lists, seen = HostLists(), set()
    regions = torus.find("regions")
    for region in regions.items("a list of regions") if regions else [torus]:
        (ax, ay, az), (sx, sy, sz) = (0, 0, 0), dims
        if regions is not None:
            ax, ay, az = _coordinates(region.get("anchor"), 0)
            sx, sy, sz = _coordinates(region.get("dims"), 1)
        if ax + sx > dims[0] or ay + sy > dims[1] or az + sz > dims[2]:
            raise Error(
                f"line {region.line}: the region of {sx}x{sy}x{sz} at "
                f"({ax},{ay},{az}) leaves the torus of {_shape(dims)}"
            )
        names = _expand(lists, region.get("nodes"))
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
                    "its place is taken already; list each once"
                )
            hosts[at] = name
            seen.add(name)
    named = tuple(name for name in hosts if name is not None)
    if len(named) < count:
        raise Error(
            f"line {torus.line}: {count - len(named)} of {count} places of the torus "
            "have no node; add regions for them"
        )
    return MachineDescription(f"torus:{_shape(dims)}", named, network="")


_KINDS: dict[str, Callable[[Value], MachineDescription]] = {
    "tree": _tree,
    "block": _block,
    "ring": _ring,
    "flat": _flat,
    "torus3d": _torus,
}


def _groups(value: Value, plural: str, singular: str) -> list[Switch]:
    lists = HostLists()
    groups = [
        Switch(item.get(singular).text(), item.line, _expand(lists, item.get("nodes")))
        for item in value.get(plural).items(f"a list of {plural}")
    ]
    if not groups:
        raise Error(f"line {value.line}: there are no {plural}; list at least one")
    return groups


def _expand(lists: HostLists, value: Value) -> tuple[str, ...]:
    return lists.expand(value.line, value.text())


def _coordinates(value: Value, least: int) -> tuple[int, int, int]:
    x, y, z = (value.get(axis).integer(least, MAX_ROUTERS) for axis in "xyz")
    return x, y, z


def _shape(dims: tuple[int, int, int]) -> str:
    return "x".join(map(str, dims))
