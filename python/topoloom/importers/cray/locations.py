# SPDX-License-Identifier: BSD-3-Clause
"""Where a node of a Cray XT, XE or XC is built in, and the XC's groups as a machine."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from topoloom.importers.machine_description import MachineDescription
from topoloom.importers.switch_tree import HostPath, describe_host_paths

#: blades in a chassis of the XT and XE series, whose networks are tori; an XC has 16
BLADES_OF_XE = 8


class CrayLocation(NamedTuple):
    """Where a node is, outermost first: sorting sorts by group, chassis, blade."""

    row: int
    pair: int
    column: int
    cage: int
    slot: int
    node: int

    @property
    def group(self) -> str:
        """The two cabinets side by side that are a group of an XC."""
        return f"group {self.pair}-{self.row}"

    @property
    def chassis(self) -> str:
        """The chassis, as Cray names it."""
        return f"c{self.column}-{self.row}c{self.cage}"

    @property
    def blade(self) -> str:
        """The blade, as Cray names it."""
        return f"{self.chassis}s{self.slot}"

    @property
    def name(self) -> str:
        """The node, as Cray names it."""
        return f"{self.blade}n{self.node}"


def make_location(
    column: int, row: int, cage: int, slot: int, node: int
) -> CrayLocation:
    """Make a place of the numbers in ``c7-3c2s15n1``."""
    return CrayLocation(row, column // 2, column, cage, slot, node)


def describe_groups(found: dict[CrayLocation, tuple[int, str]]) -> MachineDescription:
    """Make a machine of the nodes of an XC; each has its line and its host's name.

    Blades, chassis and groups are switches, and there is a root above several groups.
    """
    described = describe_host_paths(
        HostPath(*found[place], (place.blade, place.chassis, place.group, "all groups"))
        for place in sorted(found)
    )
    return replace(described, network="aries")
