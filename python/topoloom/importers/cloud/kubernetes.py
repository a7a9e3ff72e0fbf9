# SPDX-License-Identifier: BSD-3-Clause
"""The nodes of Kubernetes, as ``kubectl get nodes -o json`` lists them.

Where a node is in the network is in its labels. Topograph writes those of switches and
of accelerator domains, NVIDIA's GPU operator the clique of multi-node NVLink, CoreWeave
its fabric; they are joined to one tree. Nodes of the control plane have no place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

from topoloom._core import MachineText
from topoloom.importers.cloud.json_document import JsonDocument
from topoloom.importers.cloud.paths import describe_paths
from topoloom.importers.described import Described
from topoloom.importers.insides import Inside, with_insides
from topoloom.nodes.node_parts import NodeParts
from topoloom.support.units import counted

_TIER = re.compile(r"fabric\.topograph\.run/tier-([0-9]{1,2})")

#: Labels of switches, the uppermost first; of a node one family is taken.
_FABRICS = (
    tuple(f"network.topology.nvidia.com/{name}" for name in ("core", "spine", "leaf")),
    tuple(
        f"backend.coreweave.cloud/{name}"
        for name in ("fabric", "superpod", "leafgroup")
    ),
    tuple(f"ib.coreweave.cloud/{name}" for name in ("fabric", "superpod", "leafgroup")),
)

#: Labels of accelerator domains, in which NVLink joins nodes; the first is taken.
_DOMAINS = (
    "nvidia.com/gpu.clique",
    "accelerator.topograph.run/domain",
    "network.topology.nvidia.com/accelerator",
    "ds.coreweave.com/nvlink.domain",
)
_GPUS = ("nvidia.com/gpu", "amd.com/gpu")
_CONTROL_PLANE = (
    "node-role.kubernetes.io/control-plane",
    "node-role.kubernetes.io/master",
)


class _Node(NamedTuple):
    """A node, the switches above it from the top, its NVLink domain and its GPUs.

    `labels` are those of the switches and the domain.
    """

    name: str
    fabric: tuple[str, ...]
    domain: str
    gpus: int
    usable: bool
    labels: tuple[str, ...]


def recognizes_kubernetes_nodes(text: str) -> bool:
    """Return whether a text is a list of Kubernetes objects, or a node."""
    return re.search(r'"kind"\s*:\s*"(Node|NodeList|List)"', text) is not None


def read_kubernetes_nodes(text: str) -> Described:
    """Read nodes; those without a place in the network are `Described.lacking`.

    A node has as many slots as GPUs; where others have GPUs, one without is lacking,
    and where none has, each is a slot. Nodes that are not ready or cordoned are down.

    Raises
    ------
    topoloom.Error
        If it is not a list of nodes, or no node has a place.
    """
    document = JsonDocument(text)
    value = document.value
    items = value.get("items", [value]) if isinstance(value, dict) else value
    if not isinstance(items, list):
        document.complain('"items"', "expected a list of nodes under 'items'")
    if not items:
        document.complain("", "there are no nodes in the list")
    nodes: dict[str, _Node] = {}
    lacking, control = list[str](), 0
    for item in items:
        node, labels = _read_node(document, item)
        if node.name in nodes:
            document.complain(f'"{node.name}"', f"node '{node.name}' appears twice")
        if node.fabric or node.domain:
            nodes[node.name] = node
        elif any(label in labels for label in _CONTROL_PLANE):
            control += 1
        else:
            lacking.append(
                f"node '{node.name}' has no label of a switch or an NVLink domain, "
                "such as network.topology.nvidia.com/leaf or nvidia.com/gpu.clique"
            )
    remarks = list[str]()
    if not any(node.gpus for node in nodes.values()):
        remarks.append("assumed: a slot per node, since no node says how many GPUs")
    lacking += _without_gpus(nodes)
    lacking += _without_levels(nodes)
    if not nodes:
        document.complain(
            "", "no node has a label that says where it is in the network"
        )
    if control:
        remarks.append(f"left out: {counted(control, 'node')} of the control plane")
    paths, mixed, label = _paths(list(nodes.values()))
    if mixed:
        remarks.append("left out: NVLink domains, since they and leaf switches overlap")
    if label in _DOMAINS:
        remarks.append(
            "assumed: NVLink between nodes is as fast as the network; for its own "
            "speed write rails as nvl72-row does"
        )
    described = describe_paths(paths)
    described = replace(
        described,
        network="",
        remarks=(*described.remarks, *remarks),
        lacking=tuple(lacking),
        leaf_label=label,
    )
    return _with_nodes(described, nodes)


def _read_node(document: JsonDocument, item: Any) -> tuple[_Node, Mapping[str, str]]:
    if not isinstance(item, dict) or item.get("kind", "Node") != "Node":
        document.complain("", "expected entries of kind Node")
    about = _mapping(item.get("metadata"))
    name = about.get("name")
    if not isinstance(name, str) or not name:
        document.complain("", "a node has no metadata.name")
    labels = {
        key: value
        for key, value in _mapping(about.get("labels")).items()
        if isinstance(value, str)
    }
    status, spec = _mapping(item.get("status")), _mapping(item.get("spec"))
    conditions = status.get("conditions")
    not_ready = any(
        _mapping(one).get("type") == "Ready" and _mapping(one).get("status") != "True"
        for one in (conditions if isinstance(conditions, list) else ())
    )
    usable = not not_ready and spec.get("unschedulable") is not True
    fabric, domain = _fabric(labels), _domain(labels)
    gpus = _gpus(document, name, status, labels)
    node = _Node(
        name,
        tuple(labels[label] for label in fabric),
        labels.get(domain, ""),
        gpus,
        usable,
        (*fabric, domain),
    )
    return node, labels


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _fabric(labels: Mapping[str, str]) -> tuple[str, ...]:
    """List labels of the switches above a node; Topograph's tiers count from it up."""
    tiers = {
        int(match[1]): key
        for key, value in labels.items()
        if value and (match := _TIER.fullmatch(key))
    }
    if tiers:
        return tuple(tiers[tier] for tier in sorted(tiers, reverse=True))
    for family in _FABRICS:
        found = tuple(label for label in family if labels.get(label))
        if found:
            return found
    return ()


def _domain(labels: Mapping[str, str]) -> str:
    return next((label for label in _DOMAINS if labels.get(label)), "")


def _gpus(
    document: JsonDocument,
    name: str,
    status: Mapping[str, Any],
    labels: Mapping[str, str],
) -> int:
    """Count GPUs: those for pods, or all that the GPU operator found."""
    resources = {
        **_mapping(status.get("capacity")),
        **_mapping(status.get("allocatable")),
    }
    for text in (*map(resources.get, _GPUS), labels.get("nvidia.com/gpu.count")):
        if text is None or re.fullmatch("0+", str(text), re.ASCII):
            continue
        if re.fullmatch(r"[1-9][0-9]{0,3}", str(text), re.ASCII):
            return int(str(text))
        document.complain(
            f'"{name}"',
            f"node '{name}' has '{text!s:.40}' GPUs; expected a number up to 9999",
        )
    return 0


def _without_gpus(nodes: dict[str, _Node]) -> list[str]:
    """Take away nodes without GPUs where others have some, and name them."""
    if not any(node.gpus for node in nodes.values()):
        for name, node in list(nodes.items()):
            nodes[name] = node._replace(gpus=1)
        return []
    lacking = [
        f"node '{node.name}' has no GPUs in its status, which others have"
        for node in nodes.values()
        if not node.gpus
    ]
    for name in [name for name, node in nodes.items() if not node.gpus]:
        del nodes[name]
    return lacking


def _without_levels(nodes: dict[str, _Node]) -> list[str]:
    """Take away nodes that have fewer levels of switches than most, and name them."""
    depths = [len(node.fabric) for node in nodes.values()]
    usual = max(depths, key=lambda depth: (depths.count(depth), depth), default=0)
    lacking = []
    for node in list(nodes.values()):
        if len(node.fabric) != usual:
            del nodes[node.name]
            lacking.append(
                f"node '{node.name}' has labels of "
                f"{counted(len(node.fabric), 'level')} of switches, others of {usual}"
            )
    return lacking


def _paths(
    nodes: Sequence[_Node],
) -> tuple[dict[str, tuple[str, ...]], bool, str]:
    """List the levels above each node; say whether domains were left out.

    The last is the label of the lowest level; empty where nodes have different ones.
    A domain is below a leaf switch or above leaves, as it is; levels in which each
    group has one group below it say nothing and are left out.
    """
    paths = {node.name: node.fabric for node in nodes}
    alike = len({node.labels for node in nodes}) == 1
    labels = list(nodes[0].labels[:-1]) if alike else [""] * len(nodes[0].fabric)
    domains = {node.name: node.domain for node in nodes}
    mixed = False
    if all(domains.values()) and len(set(domains.values())) < len(nodes):
        depth = len(nodes[0].fabric)
        for level in range(depth, -1, -1):
            joined = {
                name: (*path[:level], domains[name], *path[level:])
                for name, path in paths.items()
            }
            if _nested(joined, level, domains):
                paths = joined
                labels.insert(level, nodes[0].labels[-1] if alike else "")
                break
        else:
            mixed = True
    kept = _useful(paths)
    return (
        {name: tuple(path[k] for k in kept) for name, path in paths.items()},
        mixed,
        labels[kept[-1]],
    )


def _nested(
    paths: Mapping[str, tuple[str, ...]], level: int, domains: Mapping[str, str]
) -> bool:
    """Return whether domains are whole in groups, and groups below them in domains."""
    above: dict[str, tuple[str, ...]] = {}
    below: dict[tuple[str, ...], str] = {}
    for name, path in paths.items():
        domain = domains[name]
        group = (*path[:level], *path[level + 1 : level + 2])
        if above.setdefault(domain, path[:level]) != path[:level]:
            return False
        if level + 1 < len(path) and below.setdefault(group, domain) != domain:
            return False
    return True


def _useful(paths: Mapping[str, tuple[str, ...]]) -> list[int]:
    """List the levels that say something."""
    depth = len(next(iter(paths.values())))
    counts = [len({path[: k + 1] for path in paths.values()}) for k in range(depth)]
    return [k for k, (own, under) in enumerate(pairwise((*counts, 0))) if own != under]


def _with_nodes(described: Described, nodes: Mapping[str, _Node]) -> Described:
    """Put GPUs into the nodes, and mark those that are down."""
    place = {host: number for number, host in enumerate(described.hosts)}
    down = sorted(place[node.name] for node in nodes.values() if not node.usable)
    by_gpus: dict[int, list[int]] = {}
    for node in nodes.values():
        by_gpus.setdefault(node.gpus, []).append(place[node.name])
    if list(by_gpus) != [1]:
        described = with_insides(
            described,
            [
                Inside(
                    f"+node:{gpus}" if gpus > 1 else "",
                    NodeParts(),
                    ids,
                    f"nodes of {counted(gpus, 'GPU')}",
                )
                for gpus, ids in by_gpus.items()
            ],
        )
    if down:
        text = MachineText(described.text)
        inside = f"+{text.node.text}" if text.node else ""
        failed = f"{text.network}+down:{','.join(map(str, down))}{inside}"
        described = replace(described, text=failed)
    return described
