# SPDX-License-Identifier: BSD-3-Clause
"""Finds the NICs of a node that MPI uses: the NICs on its fastest network.

InfiniBand, Omni-Path and Slingshot rank above RDMA over Ethernet, which ranks above
plain Ethernet, such as a management NIC.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import IntEnum

from topoloom.nodes.node_parts import ETHERNET, NIC

#: Prefixes of the device names that drivers and systemd give to fabric NICs; ``hsn0``
#: and ``cxi0`` are Slingshot NICs.
_FABRIC = re.compile(r"(?:ib[0-9ps]|hfi|opa|hsn|cxi|bxi|efa)")
#: Drivers of NICs that support RDMA only over Ethernet.
_OVER_ETHERNET = re.compile(
    r"(?:bnxt_re|irdma|i40iw|qedr|cxgb|iw_|hns|erdma|mana|ionic|rxe|siw|roce|iwp)"
)


class NicNetwork(IntEnum):
    """The network type of a NIC; MPI uses the NICs with the node's highest value."""

    ETHERNET = 0
    RDMA_OVER_ETHERNET = 1
    FABRIC = 2


def classify_network(
    names: Sequence[str], has_rdma: bool, over_ethernet: bool | None = None
) -> NicNetwork:
    """Find the network type of a NIC from its names, such as ``ib0``, ``mlx5_0``.

    `has_rdma` is True for an OpenFabrics device. `over_ethernet` is True if the link
    layer of its ports is Ethernet; None if unknown.
    """
    if any(_FABRIC.match(name) for name in names):
        return NicNetwork.FABRIC
    if not has_rdma:
        return NicNetwork.ETHERNET
    if over_ethernet or any(_OVER_ETHERNET.match(name) for name in names):
        return NicNetwork.RDMA_OVER_ETHERNET
    return NicNetwork.FABRIC


def classify_interfaces(networks: Sequence[NicNetwork]) -> list[str]:
    """Return the device kind of each NIC of a node: ``nic`` if MPI uses it.

    >>> classify_interfaces([NicNetwork.ETHERNET, NicNetwork.FABRIC])
    ['ethernet', 'nic']
    """
    best = max(networks, default=NicNetwork.ETHERNET)
    return [NIC if network == best else ETHERNET for network in networks]
