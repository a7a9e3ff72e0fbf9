# SPDX-License-Identifier: BSD-3-Clause
"""Locations of nodes in Cray XT, XE and XC systems, and the groups of an XC."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from topoloom.importers.machine_description import MachineDescription
from topoloom.importers.switch_tree import HostPath, describe_host_paths

#: Blades in a chassis of the XT and XE series, whose networks are tori. An XC has 16.
BLADES_OF_XE = 8


class CrayLocation(NamedTuple):
    """The location of a node, outermost first: sorts by group, chassis, blade."""

    row: int
    pair: int
    column: int
    cage: int
    slot: int
    node: int

    @property
    def group(self) -> str:
        """The group of an XC: two neighboring cabinets."""
        return f"group {self.pair}-{self.row}"

    @property
    def chassis(self) -> str:
        """Cray's name of the chassis."""
        return f"c{self.column}-{self.row}c{self.cage}"

    @property
    def blade(self) -> str:
        """Cray's name of the blade."""
        return f"{self.chassis}s{self.slot}"

    @property
    def name(self) -> str:
        """Cray's name of the node."""
        return f"{self.blade}n{self.node}"


def make_location(
    column: int, row: int, cage: int, slot: int, node: int
) -> CrayLocation:
    """Make a location of the numbers in ``c7-3c2s15n1``."""
    return CrayLocation(row, column // 2, column, cage, slot, node)


def describe_groups(found: dict[CrayLocation, tuple[int, str]]) -> MachineDescription:
    """Describe the nodes of an XC, each with its line and host name.

    Blades, chassis and groups are switches; a root joins several groups.
    """
    described = describe_host_paths(
        HostPath(*found[place], (place.blade, place.chassis, place.group, "all groups"))
        for place in sorted(found)
    )
    return replace(described, network="aries")
