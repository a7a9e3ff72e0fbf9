# SPDX-License-Identifier: BSD-3-Clause
"""Reads switches, NVLink domain and GPUs of a Kubernetes node from its labels."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from topoloom.importers.cloud.hgx import find_board_gpu, find_card_gpu
from topoloom.importers.cloud.json_document import JsonDocument
from topoloom.importers.cloud.nvlink import can_connect_nodes, find_gpu_product

_TIER = re.compile(r"fabric\.topograph\.run/tier-([0-9]{1,2})")

#: Families of labels that name switches, from the top down; each node uses one family.
_FABRICS = (
    tuple(f"network.topology.nvidia.com/{name}" for name in ("core", "spine", "leaf")),
    tuple(
        f"backend.coreweave.cloud/{name}"
        for name in ("fabric", "superpod", "leafgroup")
    ),
    tuple(f"ib.coreweave.cloud/{name}" for name in ("fabric", "superpod", "leafgroup")),
    tuple(f"topology.k8s.aws/network-node-layer-{layer}" for layer in (1, 2, 3, 4)),
    tuple(
        f"cloud.google.com/gce-topology-{name}"
        for name in ("block", "subblock", "host")
    ),
)

#: Labels of NVLink domains; the first one that exists is used.
_NVLINK = (
    "nvidia.com/gpu.clique",
    "ds.coreweave.com/nvlink.domain",
    "topology.k8s.aws/ultraserver-id",
)
#: Topograph's labels, which also name cloud domains without NVLink.
_DOMAINS = (
    "accelerator.topograph.run/domain",
    "network.topology.nvidia.com/accelerator",
)
#: Google's sub-block is an NVLink domain for GB200 and similar GPUs.
_SUBBLOCK = "cloud.google.com/gce-topology-subblock"
#: Label value of GPUs outside any domain.
_NO_CLIQUE = re.compile(r"[0.\-]*")
_TYPE = "node.kubernetes.io/instance-type"
#: Chips of Trainium and Inferentia, as AWS's device plugin counts them.
NEURON = "aws.amazon.com/neuron"
_GPUS = ("nvidia.com/gpu", "amd.com/gpu", NEURON)
#: Vendors of resources that are neither GPUs nor other accelerators.
_NO_ACCELERATORS = (
    *("rdma", "vpc.amazonaws.com", "networking.gke.io", "devices.kubevirt.io"),
    *("smarter-devices", "squat.ai", "github.com", "openshift.io", "k8s.amazonaws.com"),
    *("kubernetes.io", "mellanox.com", "memory.amd.com", "intel.com"),
)


class LabeledNode(NamedTuple):
    """A node: the switches above it from the top down, its NVLink domain and GPUs.

    `labels` are the names of the labels for the switches and the domain. `across` is
    True if NVLink can connect the node to other nodes; in this case, `product` is the
    GPU type. `kind` is the instance type, `board` the GPU on its HGX board, `card` the
    GPU on its PCIe cards, `resource` what Kubernetes calls its GPUs.
    """

    name: str
    fabric: tuple[str, ...]
    domain: str
    gpus: int
    usable: bool
    labels: tuple[str, ...]
    across: bool
    product: str
    kind: str
    board: str
    card: str
    resource: str


def read_node(
    document: JsonDocument, item: Any
) -> tuple[LabeledNode, Mapping[str, str]]:
    """Read a node, with all of its labels, from an entry of the list."""
    if not isinstance(item, dict) or item.get("kind", "Node") != "Node":
        document.fail("", "expected entries of kind Node")
    about = _as_mapping(item.get("metadata"))
    name = about.get("name")
    if not isinstance(name, str) or not name:
        document.fail("", "a node has no metadata.name")
    labels = {
        key: value
        for key, value in _as_mapping(about.get("labels")).items()
        if isinstance(value, str)
    }
    status, spec = _as_mapping(item.get("status")), _as_mapping(item.get("spec"))
    conditions = status.get("conditions")
    not_ready = any(
        _as_mapping(one).get("type") == "Ready"
        and _as_mapping(one).get("status") != "True"
        for one in (conditions if isinstance(conditions, list) else ())
    )
    usable = not not_ready and spec.get("unschedulable") is not True
    fabric, domain = _list_switch_labels(labels), _find_domain(labels)
    gpus, resource = _count_gpus(document, name, status, labels)
    node = LabeledNode(
        name,
        tuple(labels[label] for label in fabric),
        labels.get(domain, ""),
        gpus,
        usable,
        (*fabric, domain),
        can_connect_nodes(labels),
        find_gpu_product(labels),
        labels.get(_TYPE, ""),
        find_board_gpu(labels),
        find_card_gpu(labels),
        resource,
    )
    return node, labels


def _as_mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list_switch_labels(labels: Mapping[str, str]) -> tuple[str, ...]:
    """List the labels of switches above a node, from the top down."""
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


def _find_domain(labels: Mapping[str, str]) -> str:
    known = [*(_NVLINK if can_connect_nodes(labels) else ()), *_DOMAINS]
    if find_gpu_product(labels):
        known.append(_SUBBLOCK)
    return next(
        (name for name in known if not _NO_CLIQUE.fullmatch(labels.get(name, ""))), ""
    )


def _count_gpus(
    document: JsonDocument,
    name: str,
    status: Mapping[str, Any],
    labels: Mapping[str, str],
) -> tuple[int, str]:
    """Count the GPUs available to pods, or else the GPUs found by the GPU operator.

    Also return the name of their resource.
    """
    resources = {
        **_as_mapping(status.get("capacity")),
        **_as_mapping(status.get("allocatable")),
    }
    counts = {resource: resources.get(resource) for resource in _GPUS}
    counts["nvidia.com/gpu.count"] = labels.get("nvidia.com/gpu.count")
    for resource, text in counts.items():
        if text is None or re.fullmatch("0+", str(text), re.ASCII):
            continue
        if re.fullmatch(r"[1-9][0-9]{0,3}", str(text), re.ASCII):
            return int(str(text)), resource
        document.fail(
            f'"{name}"',
            f"node '{name}' has '{text!s:.40}' GPUs; expected a number up to 9999",
        )
    for resource, amount in resources.items():
        vendor, _, kind = resource.partition("/")
        if kind and vendor not in _NO_ACCELERATORS and str(amount) != "0":
            document.fail(
                f'"{resource}"',
                f"node '{name}' has the resource {resource:.60}, which is not "
                f"understood; slots are {', '.join(_GPUS)}, and google.com/tpu",
            )
    return 0, ""
