# SPDX-License-Identifier: BSD-3-Clause
"""Finds vacant positions, and nodes per host, without building a machine.

A position in a torus may be vacant: its node has a name such as ``vacant_17``, and no
job runs there. This module does not import numpy.
"""

from __future__ import annotations

from collections.abc import Iterable

from topoloom._core import MachineText

#: Host names contain no underscore, so this prefix is unambiguous.
_VACANT = "vacant_"


def is_vacant(host: str) -> bool:
    """Return whether this is the name of a vacant position."""
    return host.startswith(_VACANT)


def format_vacant_name(node: int) -> str:
    """Return the name of a vacant position."""
    return f"{_VACANT}{node}"


def list_vacant_nodes(hosts: Iterable[str]) -> set[int]:
    """Return the ids of vacant nodes."""
    return {node for node, host in enumerate(hosts) if is_vacant(host)}


def drop_vacant(hosts: Iterable[str]) -> list[str]:
    """Remove the names of vacant positions."""
    return [host for host in hosts if not is_vacant(host)]


def parse_nodes_per_host(text: str) -> int:
    """Parse `Machine.nodes_per_host` from a machine's text."""
    topology = MachineText(text).topology
    if topology.name != "rails":
        return 1
    return int(dict(topology.options).get("host", topology.body.partition(":")[0]))
