# SPDX-License-Identifier: BSD-3-Clause
"""Reads slices of TPUs from Kubernetes nodes of Google's GKE.

The chips of a slice form a torus or a mesh, whose shape is in a label. The nodes of a
slice are those of a node pool, or a single node that has all chips of the shape.
Slices exchange messages over the data-center network (DCN). No label says which chips
of a slice a node has, so the chips have no host names.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from topoloom.importers.cloud.json_document import JsonDocument
from topoloom.importers.machine_description import MachineDescription
from topoloom.importers.torus_positions import MAX_ROUTERS
from topoloom.support.units import counted

RESOURCE = "google.com/tpu"
_ACCELERATOR = "cloud.google.com/gke-tpu-accelerator"
_TOPOLOGY = "cloud.google.com/gke-tpu-topology"
_POOL = "cloud.google.com/gke-nodepool"
_MAX_CHIPS = 16_384


class _Generation(NamedTuple):
    """A kind of TPU: GB/s of a link per direction, Gbit/s of DCN per chip.

    Axes whose size is a multiple of `ring` are closed; with `all_axes`, only if all
    axes are multiples.
    """

    title: str
    axes: int
    link: float
    dcn: float
    ring: int
    all_axes: bool


#: Values of the label of accelerators. Sources: docs.cloud.google.com/tpu/docs/v4, v5e,
#: v5p, v6e, tpu7x (bandwidths of both directions and all links, DCN per chip or pod);
#: jax-ml.github.io/scaling-book/tpus (which axes are closed). DCN of v4 is as of v5p.
_GENERATIONS = {
    "tpu-v4-podslice": _Generation("TPU v4", 3, 50, 50, 4, True),
    "tpu-v5-lite-podslice": _Generation("TPU v5e", 2, 50, 25, 16, False),
    "tpu-v5p-slice": _Generation("TPU v5p", 3, 100, 50, 4, True),
    "tpu-v6e-slice": _Generation("TPU v6e", 2, 100, 100, 16, False),
    "tpu7x": _Generation("TPU7x", 3, 100, 100, 4, True),
}
#: As of the TPUs in machines/.
_LATENCY, _COSTS = "0.5us", "startup=0.2us,latency=0.3us"


class _Node(NamedTuple):
    name: str
    chips: int
    usable: bool
    kind: str
    shape: tuple[int, ...]
    pool: str


class _Slice(NamedTuple):
    """Chips in a grid; `shape` is that of the label, with one chip per position."""

    kind: _Generation
    shape: tuple[int, ...]

    def list_wraps(self) -> list[bool]:
        """List which axes are closed."""
        closed = [size % self.kind.ring == 0 for size in self.shape]
        return [all(closed)] * len(closed) if self.kind.all_axes else closed

    def may_be_twisted(self) -> bool:
        """Return whether Google can join the chips as a twisted torus."""
        least, most = min(self.shape), max(self.shape)
        sizes = {least, 2 * least}
        return self.kind.all_axes and most == 2 * least and {*self.shape} <= sizes


def has_tpus(item: Any) -> bool:
    """Return whether an entry of the list is a node with TPUs."""
    return bool(_get_resources(item))


def read_tpu_slices(document: JsonDocument, items: Sequence[Any]) -> MachineDescription:
    """Build the machine of all slices; other nodes are left out, with a remark."""
    nodes = [_read_node(document, item) for item in items if has_tpus(item)]
    if len({node.name for node in nodes}) < len(nodes):
        document.fail('"name"', "a node appears twice")
    slices = _list_slices(document, nodes)
    chips = sum(math.prod(part.shape) for part in slices)
    if chips > _MAX_CHIPS:
        document.fail(
            f'"{_TOPOLOGY}"', f"{chips:,} TPU chips; up to {_MAX_CHIPS:,} are read"
        )
    remarks = [
        "no label says which chips of a slice a node has, so chips have no host names: "
        f"{counted(len(nodes), 'node')}"
    ]
    for kind in dict.fromkeys(part.kind for part in slices):
        remarks.append(
            f"assumed: links of {kind.link:g} GB/s between chips, as Google states for "
            f"{kind.title}"
        )
    if twisted := sum(part.may_be_twisted() for part in slices):
        remarks.append(
            f"assumed: no twisted torus, which {counted(twisted, 'slice')} may be"
        )
    if down := [node.name for node in nodes if not node.usable]:
        remarks.append(
            f"{counted(len(down), 'node')} cordoned, not ready or without all chips, "
            f"whose chips are not known: {', '.join(down[:4])}"
        )
    if other := len(items) - len(nodes):
        remarks.append(f"left out: {counted(other, 'node')} without TPUs")
    if len(slices) == 1:
        return MachineDescription(_format_torus(slices[0]), remarks=tuple(remarks))
    text, hops = _format_slices(slices)
    speeds = {part.kind.dcn for part in slices}
    remarks.append(
        f"assumed: {' and '.join(f'{speed:g}' for speed in sorted(speeds))} Gbit/s per "
        f"chip between {len(slices)} slices; a message there takes {hops} hops, more "
        "than inside of a slice"
    )
    return MachineDescription(text, remarks=tuple(remarks))


def _get_mapping(value: Any, *keys: str) -> Mapping[str, Any]:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def _get_resources(item: Any) -> list[str]:
    """Return the numbers of chips in a node's capacity and allocatable resources."""
    found = [
        _get_mapping(item, "status", part).get(RESOURCE)
        for part in ("capacity", "allocatable")
    ]
    return [str(count) for count in found if count is not None and str(count) != "0"]


def _read_node(document: JsonDocument, item: Any) -> _Node:
    name = _get_mapping(item, "metadata").get("name")
    if not isinstance(name, str) or not name:
        document.fail("", "a node has no metadata.name")
    labels = _get_mapping(item, "metadata", "labels")
    counts = _get_resources(item)
    if not all(re.fullmatch("[1-9][0-9]{0,3}", count, re.ASCII) for count in counts):
        document.fail(
            f'"{name}"',
            f"node '{name}' has '{counts[0]:.40}' TPU chips; expected a number up to "
            "9999",
        )
    for label in (_ACCELERATOR, _TOPOLOGY, _POOL):
        if not isinstance(labels.get(label), str):
            document.fail(f'"{name}"', f"node '{name}' lacks the label {label}")
    kind, shape = labels[_ACCELERATOR], labels[_TOPOLOGY]
    if kind not in _GENERATIONS:
        document.fail(
            f'"{kind}"',
            f"node '{name}' has TPUs of the type {kind:.40}, which is not known; "
            f"known are {', '.join(_GENERATIONS)}",
        )
    axes = _GENERATIONS[kind].axes
    if not re.fullmatch(f"[1-9][0-9]{{0,3}}(x[1-9][0-9]{{0,3}}){{{axes - 1}}}", shape):
        example = "x".join("4" * axes)
        document.fail(
            f'"{shape}"',
            f"node '{name}' has the TPU topology {shape:.40}; expected {axes} sizes, "
            f"such as {example}",
        )
    chips = [int(count) for count in counts]
    conditions = _get_mapping(item, "status").get("conditions")
    unready = any(
        each.get("type") == "Ready" and each.get("status") != "True"
        for each in (conditions if isinstance(conditions, list) else ())
        if isinstance(each, dict)
    )
    cordoned = _get_mapping(item, "spec").get("unschedulable") is True
    usable = len(set(chips)) == 1 and not unready and not cordoned
    sizes = tuple(map(int, shape.split("x")))
    return _Node(name, max(chips), usable, kind, sizes, labels[_POOL])


def _list_slices(document: JsonDocument, nodes: Sequence[_Node]) -> list[_Slice]:
    """List slices: node pools, or nodes that have all chips of their shape."""
    pools: dict[str, list[_Node]] = {}
    for node in nodes:
        pools.setdefault(node.pool, []).append(node)
    slices = []
    for pool, members in pools.items():
        first = members[0]
        place = f'"{pool}"'
        if any((each.kind, each.shape) != first[3:5] for each in members):
            document.fail(
                place, f"nodes of the pool '{pool}' have TPUs of different slices"
            )
        expected, found = math.prod(first.shape), sum(each.chips for each in members)
        alone = all(each.chips == expected for each in members)
        if not alone and found != expected:
            shape = "x".join(map(str, first.shape))
            document.fail(
                place,
                f"the nodes of the pool '{pool}' have {counted(found, 'TPU chip')}, "
                f"but a slice of {shape} has {expected}; list all nodes of the slice",
            )
        if max(first.shape) > MAX_ROUTERS:
            document.fail(place, f"an axis of a slice has up to {MAX_ROUTERS} chips")
        part = _Slice(_GENERATIONS[first.kind], first.shape)
        slices += [part] * (len(members) if alone else 1)
    return slices


def _format_torus(part: _Slice) -> str:
    sizes = "x".join(map(str, part.shape))
    wraps = part.list_wraps()
    kind = "torus" if any(wraps) else "mesh"
    some = any(wraps) and not all(wraps)
    wrap = f",wrap={''.join(str(int(each)) for each in wraps)}" if some else ""
    link = part.kind.link
    return (
        f"{kind}:{sizes}{wrap},bandwidth={link:g}GB/s,latency={_LATENCY}"
        f"+node:1,bandwidth={2 * part.kind.axes * link:g}GB/s,{_COSTS}"
    )


def _format_slices(slices: Sequence[_Slice]) -> tuple[str, int]:
    """Format a graph of slices; also return the hops of a message between slices.

    A chain of links joins each chip to the network. It is so long that no message
    inside of a slice takes it.
    """
    chips = sum(math.prod(part.shape) for part in slices)
    depth = max(map(_find_diameter, slices)) // 2 + 1
    center = chips
    links: list[str] = []
    first, vertex = 0, chips + 1
    for part in slices:
        links += _list_links(part, first)
        rate = f"@{part.kind.dcn / 8:g}GB/s@0s"
        for chip in range(first, first + math.prod(part.shape)):
            chain = [chip, *range(vertex, vertex + depth - 1), center]
            vertex += depth - 1
            links += (f"{one}-{other}{rate}" for one, other in pairwise(chain))
        first += math.prod(part.shape)
    most = max(2 * part.kind.axes * part.kind.link for part in slices)
    text = (
        f"graph:{chips}+{vertex - chips}:{','.join(links)}"
        f"+node:1,bandwidth={most:g}GB/s,{_COSTS}"
    )
    return text, 2 * depth


def _find_diameter(part: _Slice) -> int:
    return sum(
        size // 2 if wrap else size - 1
        for size, wrap in zip(part.shape, part.list_wraps(), strict=True)
    )


def _list_links(part: _Slice, first: int) -> list[str]:
    """List the links of a slice whose chips have numbers from `first`, row by row."""
    links = []
    rate = f"@{part.kind.link:g}GB/s@{_LATENCY}"
    for chip in range(math.prod(part.shape)):
        step = 1
        for size, wrap in zip(
            reversed(part.shape), reversed(part.list_wraps()), strict=True
        ):
            at = chip // step % size
            if at + 1 < size:
                links.append(f"{first + chip}-{first + chip + step}{rate}")
            elif wrap:
                links.append(f"{first + chip - at * step}-{first + chip}{rate}")
            step *= size
    return links
