# SPDX-License-Identifier: BSD-3-Clause
"""Reads Kubernetes nodes from the output of ``kubectl get nodes -o json``.

Labels set by Topograph and by clouds name the switches above a node; these switches
form a tree. Labels set by NVIDIA's GPU operator and others name a node's NVLink domain;
the domains form a rail network. Control plane nodes have no such labels. Slices of
TPUs have a shape of their own instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise

from topoloom._core import MachineText
from topoloom.importers.cloud.hgx import format_intra_node_nvlink
from topoloom.importers.cloud.json_document import JsonDocument
from topoloom.importers.cloud.node_labels import NEURON, LabeledNode, read_node
from topoloom.importers.cloud.nvlink import (
    NvlinkLocation,
    count_levels_above_domains,
    describe_rails,
)
from topoloom.importers.cloud.switch_paths import describe_switch_paths
from topoloom.importers.cloud.tpu_slices import has_tpus, read_tpu_slices
from topoloom.importers.machine_description import MachineDescription
from topoloom.importers.network_speeds import NETWORKS
from topoloom.importers.node_groups import NodeGroup, with_node_groups
from topoloom.nodes.node_parts import NodeParts
from topoloom.support.units import counted

_CONTROL_PLANE = (
    "node-role.kubernetes.io/control-plane",
    "node-role.kubernetes.io/master",
)


def read_kubernetes_nodes(text: str) -> MachineDescription:
    """Read nodes; nodes whose location is unknown are listed as missing.

    A node has one slot per GPU. If no node has GPUs, each node is one slot; otherwise
    nodes without GPUs are missing. Nodes that are cordoned or not ready are down.
    """
    document = JsonDocument(text)
    value = document.value
    items = value.get("items", [value]) if isinstance(value, dict) else value
    if not isinstance(items, list):
        document.fail('"items"', "expected a list of nodes under 'items'")
    if not items:
        document.fail("", "there are no nodes in the list")
    if any(map(has_tpus, items)):
        return read_tpu_slices(document, items)
    nodes: dict[str, LabeledNode] = {}
    missing, control = list[str](), 0
    for item in items:
        node, labels = read_node(document, item)
        if node.name in nodes:
            document.fail(f'"{node.name}"', f"node '{node.name}' appears twice")
        if node.fabric or node.domain:
            nodes[node.name] = node
        elif any(label in labels for label in _CONTROL_PLANE):
            control += 1
        else:
            missing.append(
                f"node '{node.name}' has no label of a switch or an NVLink domain, "
                "such as network.topology.nvidia.com/leaf or nvidia.com/gpu.clique"
            )
    remarks = list[str]()
    if not any(node.gpus for node in nodes.values()):
        remarks.append("assumed: a slot per node, since no node says how many GPUs")
    missing += _drop_nodes_without_gpus(nodes)
    missing += _drop_nodes_without_domain(nodes, remarks)
    missing += _drop_nodes_of_other_depth(nodes)
    if not nodes:
        document.fail("", "no node has a label that says where it is in the network")
    if neuron := sum(node.resource == NEURON for node in nodes.values()):
        remarks.append(
            f"a slot per Neuron chip of {counted(neuron, 'node')}; the NeuronLinks "
            "between chips are left out"
        )
    if control:
        remarks.append(f"left out: {counted(control, 'node')} of the control plane")
    described = _build_rails(nodes) if _is_rail_network(nodes) else _build_tree(nodes)
    return replace(
        described,
        network=_find_network(nodes),
        remarks=(*described.remarks, *remarks),
        missing=tuple(missing),
    )


def _drop_nodes_without_gpus(nodes: dict[str, LabeledNode]) -> list[str]:
    """Remove nodes without GPUs if others have GPUs; describe the removed nodes."""
    if not any(node.gpus for node in nodes.values()):
        for name, node in list(nodes.items()):
            nodes[name] = node._replace(gpus=1)
        return []
    missing = [
        f"node '{node.name}' has no GPUs in its status, which others have"
        for node in nodes.values()
        if not node.gpus
    ]
    for name in [name for name, node in nodes.items() if not node.gpus]:
        del nodes[name]
    return missing


def _drop_nodes_of_other_depth(nodes: dict[str, LabeledNode]) -> list[str]:
    """Remove nodes with an unusual number of switch levels; describe these nodes."""
    depths = [len(node.fabric) for node in nodes.values()]
    usual = max(depths, key=lambda depth: (depths.count(depth), depth), default=0)
    missing = []
    for node in list(nodes.values()):
        if len(node.fabric) != usual:
            del nodes[node.name]
            missing.append(
                f"node '{node.name}' has labels of "
                f"{counted(len(node.fabric), 'level')} of switches, others of {usual}"
            )
    return missing


def _drop_nodes_without_domain(
    nodes: dict[str, LabeledNode], remarks: list[str]
) -> list[str]:
    """Remove nodes without NVLink domain if most nodes have one; describe them.

    If at most half of the nodes have a domain, all nodes stay; instead all domains are
    omitted, with a remark.
    """
    inside = [node for node in nodes.values() if node.domain]
    if not inside or len(inside) == len(nodes):
        return []
    label = inside[0].labels[-1]
    if 2 * len(inside) <= len(nodes):
        for node in inside:
            labels = (*node.labels[:-1], "")
            nodes[node.name] = node._replace(domain="", labels=labels)
        have = "has" if len(inside) == 1 else "have"
        remarks.append(
            f"left out: NVLink domains, since only {len(inside)} of "
            f"{counted(len(nodes), 'node')} {have} a label such as {label}; for those, "
            f"list them alone: kubectl get nodes -l {label} -o json"
        )
        return []
    missing = [node.name for node in nodes.values() if not node.domain]
    for name in missing:
        del nodes[name]
    return [
        f"node '{name}' has no label of an NVLink domain, which others have in {label}"
        for name in missing
    ]


def _is_rail_network(nodes: Mapping[str, LabeledNode]) -> bool:
    """Return whether NVLink connects nodes, so that the network has rails."""
    domains = {node.domain for node in nodes.values()}
    joined = all(node.across and node.domain for node in nodes.values())
    return joined and len(domains) < len(nodes)


def _find_network(nodes: Mapping[str, LabeledNode]) -> str:
    """Return the slowest network among the known instance types or GPU types."""
    named = [node.kind for node in nodes.values() if node.kind in NETWORKS]
    kinds = {name for name in named if name}
    if not kinds:
        full = all(node.gpus <= 8 for node in nodes.values())
        eight = full and any(node.gpus == 8 for node in nodes.values())
        products = {
            (node.product or (node.board if eight else "")).lower()
            for node in nodes.values()
        }
        kinds = {product for product in products if product in NETWORKS}
    return min(kinds, key=lambda kind: (NETWORKS[kind].bandwidth, kind), default="")


def _build_rails(nodes: Mapping[str, LabeledNode]) -> MachineDescription:
    """Build a rail network: NVLink domains, below switches that no domain spans."""
    domains = {name: node.domain for name, node in nodes.items()}
    paths = {name: node.fabric for name, node in nodes.items()}
    whole = count_levels_above_domains(paths, domains)
    below = {name: (*path[:whole], domains[name]) for name, path in paths.items()}
    kept = [
        k
        for k in _list_distinct_levels(below)
        if k < whole and len({p[k] for p in below.values()}) > 1
    ]
    used = whole if not kept else kept[-1] + 1
    racks = {
        name: NvlinkLocation(below[name][:used], node.domain, node.gpus)
        for name, node in nodes.items()
    }
    described = describe_rails(
        racks,
        {node.product for node in nodes.values()},
        lambda name: nodes[name].usable,
    )
    labels = [_find_level_label(nodes, -1)]
    if len({rack.unit for rack in racks.values()}) > 1:
        labels.append(_find_level_label(nodes, used - 1))
    remarks = list(described.remarks)
    depth = len(next(iter(paths.values())))
    if whole < depth:
        parted = ", ".join(
            _find_level_label(nodes, k) or "?" for k in range(whole, depth)
        )
        remarks.append(f"left out: switches that part NVLink domains, of {parted}")
    if len(kept) > 1:
        above = ", ".join(_find_level_label(nodes, k) or "?" for k in kept[:-1])
        remarks.append(
            f"left out: {counted(len(kept) - 1, 'level')} of switches above "
            f"{labels[-1]}, of {above}; rails have one"
        )
    return replace(described, remarks=tuple(remarks), labels=tuple(labels))


def _find_level_label(nodes: Mapping[str, LabeledNode], level: int) -> str:
    """Return the label that names a level; empty if nodes use different labels."""
    names = {node.labels[level] for node in nodes.values()}
    return names.pop() if len(names) == 1 else ""


def _build_tree(nodes: Mapping[str, LabeledNode]) -> MachineDescription:
    """Build a tree of switches; domains without NVLink are one of its levels.

    Domains may be below or above leaf switches. Levels are omitted if each of their
    groups contains only one group.
    """
    paths = {name: node.fabric for name, node in nodes.items()}
    domains = {name: node.domain for name, node in nodes.items()}
    depth = len(next(iter(paths.values())))
    labels = [_find_level_label(nodes, k) for k in range(depth)]
    remarks = []
    if all(domains.values()) and (len(set(domains.values())) < len(nodes) or not depth):
        for level in range(depth, -1, -1):
            joined = {
                name: (*path[:level], domains[name], *path[level:])
                for name, path in paths.items()
            }
            if _is_nested(joined, level, domains):
                paths = joined
                labels.insert(level, _find_level_label(nodes, -1))
                break
        else:
            remarks.append("left out: domains, since they and leaf switches overlap")
    kept = _list_distinct_levels(paths)
    described = describe_switch_paths(
        {name: tuple(path[k] for k in kept) for name, path in paths.items()}
    )
    described = replace(
        described,
        remarks=(*described.remarks, *remarks),
        labels=tuple(labels[k] for k in reversed(kept)),
    )
    return _add_gpus_and_failures(described, nodes)


def _is_nested(
    paths: Mapping[str, tuple[str, ...]], level: int, domains: Mapping[str, str]
) -> bool:
    """Return whether domains at `level` are nested in the levels above and below."""
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


def _list_distinct_levels(paths: Mapping[str, tuple[str, ...]]) -> list[int]:
    """List the levels whose groups differ from the next level's, and the last level."""
    depth = len(next(iter(paths.values())))
    counts = [len({path[: k + 1] for path in paths.values()}) for k in range(depth)]
    below = pairwise((*counts, len(paths)))
    kept = [k for k, (own, under) in enumerate(below) if own != under]
    return kept or [depth - 1]


def _add_gpus_and_failures(
    described: MachineDescription, nodes: Mapping[str, LabeledNode]
) -> MachineDescription:
    """Add the GPUs of nodes, and mark failed nodes."""
    place = {host: number for number, host in enumerate(described.hosts)}
    down = sorted(place[node.name] for node in nodes.values() if not node.usable)
    by_gpus: dict[int, list[int]] = {}
    for node in nodes.values():
        by_gpus.setdefault(node.gpus, []).append(place[node.name])
    if list(by_gpus) != [1]:
        nvlink, remarks = format_intra_node_nvlink(
            {node.board for node in nodes.values()},
            {node.card for node in nodes.values()},
            max(by_gpus),
        )
        described = replace(described, remarks=(*described.remarks, *remarks))
        described = with_node_groups(
            described,
            [
                NodeGroup(
                    f"+node:{gpus}{nvlink and f',{nvlink}'}" if gpus > 1 else "",
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
