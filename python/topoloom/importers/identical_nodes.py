# SPDX-License-Identifier: BSD-3-Clause
"""Machines of identical nodes whose cores are known, joined by one switch."""

from __future__ import annotations

from collections.abc import Sequence

from topoloom.importers.machine_description import MachineDescription
from topoloom.importers.node_groups import NodeGroup, with_node_groups
from topoloom.nodes.node_levels import (
    NodeCores,
    add_hop_weight,
    format_levels,
    format_nodes,
    list_vacant_places,
    make_node_parts,
)


def describe_identical_nodes(
    inside: NodeCores, hosts: Sequence[str], count: int = 0, network: str | None = None
) -> MachineDescription:
    """Describe nodes with these cores, joined by one switch; `count` without hosts."""
    hosts = tuple(hosts)
    count = count or len(hosts) or 1
    levels = format_levels(inside)
    group = NodeGroup(
        levels if count == 1 else add_hop_weight(levels),
        make_node_parts(inside),
        None,
        "the node",
        vacant=list_vacant_places(inside),
    )
    return with_node_groups(
        MachineDescription(format_nodes(count, ""), hosts, network=network), [group]
    )
