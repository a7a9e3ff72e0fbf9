# SPDX-License-Identifier: BSD-3-Clause
"""Which network interfaces of a node MPI uses: those of the best fabric that it has.

A card that manages the node counts only where nothing better is there: InfiniBand,
Omni-Path or Slingshot come before RDMA over Ethernet, and that before plain Ethernet.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import IntEnum

from topoloom.nodes.node_parts import ETHERNET, NIC

#: Names of devices and interfaces that say what network they are on, as the drivers
#: and systemd give them; ``hsn0`` and ``cxi0`` are Slingshot's.
_FABRIC = re.compile(r"(?:ib[0-9ps]|hfi|opa|hsn|cxi|bxi|efa)")
#: Drivers of cards that do RDMA over nothing but Ethernet.
_OVER_ETHERNET = re.compile(
    r"(?:bnxt_re|irdma|i40iw|qedr|cxgb|iw_|hns|erdma|mana|ionic|rxe|siw|roce|iwp)"
)


class NicNetwork(IntEnum):
    """What an interface is on; MPI takes the highest that a node has."""

    ETHERNET = 0
    RDMA_OVER_ETHERNET = 1
    FABRIC = 2


def classify_network(
    names: Sequence[str], has_rdma: bool, over_ethernet: bool | None = None
) -> NicNetwork:
    """Find what an interface is on.

    Parameters
    ----------
    names
        All names that the system has for it: ``ib0``, ``mlx5_0``.
    has_rdma
        Whether it is an OpenFabrics device.
    over_ethernet
        Whether its ports are Ethernet's; None if that is not known.
    """
    if any(_FABRIC.match(name) for name in names):
        return NicNetwork.FABRIC
    if not has_rdma:
        return NicNetwork.ETHERNET
    if over_ethernet or any(_OVER_ETHERNET.match(name) for name in names):
        return NicNetwork.RDMA_OVER_ETHERNET
    return NicNetwork.FABRIC


def interface_kinds(networks: Sequence[NicNetwork]) -> list[str]:
    """Find the kind of device that each interface of a node is.

    >>> interface_kinds([NicNetwork.ETHERNET, NicNetwork.FABRIC])
    ['ethernet', 'nic']
    """
    best = max(networks, default=NicNetwork.ETHERNET)
    return [NIC if network == best else ETHERNET for network in networks]
