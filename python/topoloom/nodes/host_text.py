# SPDX-License-Identifier: BSD-3-Clause
"""Hosts as texts state them: vacant places by name, nodes per host by machine text.

In a torus a place may be vacant: its node has a name such as ``vacant_17``, and no job
runs there. Reading names and descriptions needs neither numpy nor a machine.
"""

from __future__ import annotations

from collections.abc import Iterable

from topoloom._core import MachineText

#: Names of hosts have no underscore.
_VACANT = "vacant_"


def is_vacant(host: str) -> bool:
    """Return whether this is the name of a vacant place."""
    return host.startswith(_VACANT)


def vacant_name(node: int) -> str:
    """Name a vacant place."""
    return f"{_VACANT}{node}"


def vacant_nodes(hosts: Iterable[str]) -> set[int]:
    """Return the nodes at vacant places."""
    return {node for node, host in enumerate(hosts) if is_vacant(host)}


def drop_vacant(hosts: Iterable[str]) -> list[str]:
    """Remove the names of vacant places."""
    return [host for host in hosts if not is_vacant(host)]


def nodes_per_host_of(text: str) -> int:
    """Find `Machine.nodes_per_host` from the machine's text, without building it."""
    topology = MachineText(text).topology
    if topology.name != "rails":
        return 1
    return int(dict(topology.options).get("host", topology.body.partition(":")[0]))
