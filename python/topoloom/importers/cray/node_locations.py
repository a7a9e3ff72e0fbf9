# SPDX-License-Identifier: BSD-3-Clause
"""Locations of nodes in Cray XT, XE and XC systems, and the groups of an XC."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from topoloom.importers.machine_description import MachineDescription
from topoloom.importers.switch_tree import HostPath, describe_host_paths

#: Blades per chassis in the XT and XE series, whose networks are tori; an XC has 16.
BLADES_OF_XE = 8


class CrayLocation(NamedTuple):
    """The location of a node, outermost part first; sorting is in the same order."""

    row: int
    pair: int
    column: int
    cage: int
    slot: int
    node: int

    @property
    def group(self) -> str:
        """The dragonfly group of an XC: two adjacent cabinets."""
        return f"group {self.pair}-{self.row}"

    @property
    def chassis(self) -> str:
        """Name of the chassis in Cray's notation."""
        return f"c{self.column}-{self.row}c{self.cage}"

    @property
    def blade(self) -> str:
        """Name of the blade in Cray's notation."""
        return f"{self.chassis}s{self.slot}"

    @property
    def name(self) -> str:
        """Name of the node in Cray's notation."""
        return f"{self.blade}n{self.node}"


def make_location(
    column: int, row: int, cage: int, slot: int, node: int
) -> CrayLocation:
    """Build a location from the numbers in a name such as ``c7-3c2s15n1``."""
    return CrayLocation(row, column // 2, column, cage, slot, node)


def describe_xc_groups(
    found: dict[CrayLocation, tuple[int, str]],
) -> MachineDescription:
    """Build the machine from the nodes of an XC, with their line and host name.

    Blades, chassis and groups are switches; a root joins several groups.
    """
    described = describe_host_paths(
        HostPath(*found[place], (place.blade, place.chassis, place.group, "all groups"))
        for place in sorted(found)
    )
    return replace(described, network="aries")
