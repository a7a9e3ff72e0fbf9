# SPDX-License-Identifier: BSD-3-Clause
"""The NICs of a node that MPI uses: those on its best network.

InfiniBand, Omni-Path and Slingshot precede RDMA over Ethernet, which precedes plain
Ethernet, such as that of a management NIC.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import IntEnum

from topoloom.nodes.node_parts import ETHERNET, NIC

#: Prefixes that drivers and systemd give to names of devices on fabrics; ``hsn0`` and
#: ``cxi0`` are Slingshot's.
_FABRIC = re.compile(r"(?:ib[0-9ps]|hfi|opa|hsn|cxi|bxi|efa)")
#: Drivers of NICs that do RDMA over Ethernet only.
_OVER_ETHERNET = re.compile(
    r"(?:bnxt_re|irdma|i40iw|qedr|cxgb|iw_|hns|erdma|mana|ionic|rxe|siw|roce|iwp)"
)


class NicNetwork(IntEnum):
    """The network of a NIC; MPI uses the highest of a node."""

    ETHERNET = 0
    RDMA_OVER_ETHERNET = 1
    FABRIC = 2


def classify_network(
    names: Sequence[str], has_rdma: bool, over_ethernet: bool | None = None
) -> NicNetwork:
    """Find the network of a NIC by all of its names, such as ``ib0`` and ``mlx5_0``.

    `has_rdma` says whether it is an OpenFabrics device, and `over_ethernet` whether its
    ports are Ethernet's; None if unknown.
    """
    if any(_FABRIC.match(name) for name in names):
        return NicNetwork.FABRIC
    if not has_rdma:
        return NicNetwork.ETHERNET
    if over_ethernet or any(_OVER_ETHERNET.match(name) for name in names):
        return NicNetwork.RDMA_OVER_ETHERNET
    return NicNetwork.FABRIC


def interface_kinds(networks: Sequence[NicNetwork]) -> list[str]:
    """Return the kind of device of each NIC of a node.

    >>> interface_kinds([NicNetwork.ETHERNET, NicNetwork.FABRIC])
    ['ethernet', 'nic']
    """
    best = max(networks, default=NicNetwork.ETHERNET)
    return [NIC if network == best else ETHERNET for network in networks]
