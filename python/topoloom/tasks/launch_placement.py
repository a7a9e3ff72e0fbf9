# SPDX-License-Identifier: BSD-3-Clause
"""Loads a placement, and the hosts and CPUs that launchers need to know."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from topoloom.launch.host_placement import HostPlacement


def load_host_placement(
    placement: Path, hosts: str | None, cores_per_slot: int, bind: str | None
) -> HostPlacement:
    """Load a placement; `hosts` replaces the host names of its allocation."""
    from topoloom.launch.host_placement import host_placement
    from topoloom.placements.placement_file import load_placement
    from topoloom.support.hostlist import expand_hostlist

    file = load_placement(placement)
    return host_placement(
        file.machine,
        file.allocation.nodes,
        file.placement.slots,
        expand_hostlist(hosts) if hosts is not None else file.hosts,
        cores_per_slot,
        file.node,
        bind,
        file.cores_per_rank,
    )
