# SPDX-License-Identifier: BSD-3-Clause
"""Reads Slurm's ``topology.yaml``: tree, block, ring and torus3d."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from topoloom._core import Error
from topoloom.importers.machine_description import MachineDescription
from topoloom.importers.slurm.topology_conf import add_root_switch, describe_ring
from topoloom.importers.switch_tree import (
    HostLists,
    Switch,
    describe_switches,
    select_part,
)
from topoloom.importers.torus_positions import MAX_ROUTERS, check_torus_size
from topoloom.nodes.host_text import format_vacant_name
from topoloom.support.name_lookup import describe_unknown_name
from topoloom.support.plain_text import shorten
from topoloom.support.units import counted
from topoloom.support.yaml_tree import Value, read_yaml


def read_slurm_yaml(
    text: str, topology: str = "", part: str = ""
) -> MachineDescription:
    """Read ``topology.yaml``: its only topology, its default, or the one named.

    Trees, blocks and rings are read as in `read_slurm_conf`; `part` is the name of a
    switch, block, ring or torus to read alone. A torus3d becomes ``torus:XxYxZ``, and
    places without a node are vacant; Slurm lists its nodes with x fastest, ``hosts``
    has z fastest. Entries ``placements``, which restrict jobs, are ignored. Raises
    `topoloom.Error` for a flat topology, which contains no nodes, and if PyYAML is
    missing.
    """
    topologies = read_yaml(text).items("a list of topologies")
    if not topologies:
        raise Error("line 1: there is no topology; begin with '- topology: NAME'")
    chosen = _choose_topology(topologies, topology)
    every = (*_KINDS, _FLAT)
    kinds = [kind for kind in every if chosen.find(kind) is not None]
    if len(kinds) != 1:
        raise Error(
            f"line {chosen.line}: a topology has exactly one of "
            f"{', '.join(every)}; this one has {len(kinds)}"
        )
    others = [_read_name(each) for each in topologies if each is not chosen]
    if kinds == [_FLAT]:
        raise Error(_describe_flat(chosen, others))
    described = _KINDS[kinds[0]](chosen.get(kinds[0]), part)
    if not others:
        return described
    listed = shorten(", ".join(others))
    remark = f"topology {_read_name(chosen)}: others are not read: {listed}"
    return replace(described, remarks=(remark, *described.remarks))


def _choose_topology(topologies: list[Value], name: str) -> Value:
    if name:
        named = [each for each in topologies if _read_name(each) == name]
        if len(named) == 1:
            return named[0]
        if named:
            raise Error(f"line {named[1].line}: topology {name} is listed twice")
        known = [_read_name(each) for each in topologies]
        raise Error(describe_unknown_name("topology", name, known))
    chosen = [each for each in topologies if _is_default(each)] or topologies
    if len(chosen) > 1 and not _is_default(chosen[0]):
        raise Error(
            f"line {chosen[1].line}: none of {len(chosen)} topologies is the default; "
            "write 'cluster_default: true' in the one to read, or choose one with "
            "'topoloom machine import --topology NAME'"
        )
    return chosen[0]


def _read_name(topology: Value) -> str:
    return topology.get("topology").text()


def _describe_flat(topology: Value, others: list[str]) -> str:
    message = (
        f"line {topology.get('flat').line}: a flat topology contains no nodes and no "
        "network; describe the machine yourself, as tree:64"
    )
    if not others:
        return message
    listed = shorten(", ".join(others))
    return (
        f"{message}, or read another topology of the file with 'topoloom machine "
        f"import --topology NAME': {listed}"
    )


def _is_default(topology: Value) -> bool:
    value = topology.find("cluster_default")
    return value is not None and value.boolean()


def _read_tree(value: Value, part: str) -> MachineDescription:
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
    kept, remarks = select_part(switches, part)
    return replace(describe_switches(kept), remarks=remarks)


def _read_block(value: Value, part: str) -> MachineDescription:
    blocks, remarks = select_part(_read_groups(value, "blocks", "block"), part)
    return replace(add_root_switch(blocks), remarks=remarks)


def _read_ring(value: Value, part: str) -> MachineDescription:
    rings, remarks = select_part(_read_groups(value, "rings", "ring"), part)
    return replace(describe_ring(rings), remarks=remarks)


def _choose_torus(value: Value, part: str) -> tuple[Value, list[str]]:
    """Choose the torus with this name, or the only one; also return remarks."""
    toruses = value.get("toruses").items("a list of toruses")
    named = [one for one in toruses if not part or one.get("name").text() == part]
    if part and not named:
        names = [one.get("name").text() for one in toruses]
        raise Error(describe_unknown_name("part", part, names))
    if len(named) != 1:
        raise Error(
            f"line {value.line}: there are {len(named)} toruses; a machine is one "
            "network, so choose one with 'topoloom machine import --part NAME'"
        )
    others = len(toruses) - 1
    return named[0], [
        f"part {part}: other toruses left out: {others}"
    ] if others else []


def _read_torus(value: Value, part: str) -> MachineDescription:
    torus, remarks = _choose_torus(value, part)
    if torus.find("placements") is not None:
        count = len(torus.get("placements").items("a list of placements"))
        remarks.append(f"placements of jobs ignored: {count}")
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
    if vacant := hosts.count(None):
        remarks.append(f"{vacant} of {counted(count, 'place')} have no node: vacant")
    names = tuple(
        format_vacant_name(at) if name is None else name
        for at, name in enumerate(hosts)
    )
    text = f"torus:{_format_shape(dims)}"
    return MachineDescription(text, names, network="", remarks=tuple(remarks))


_FLAT = "flat"  # a topology without nodes
_KINDS: dict[str, Callable[[Value, str], MachineDescription]] = {
    "tree": _read_tree,
    "block": _read_block,
    "ring": _read_ring,
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
