# SPDX-License-Identifier: BSD-3-Clause
"""Nodes per host, from the text of a machine."""

from __future__ import annotations

from topoloom._core import MachineText


def text_nodes_per_host(text: str) -> int:
    """Find `Machine.nodes_per_host` without building the machine."""
    topology = MachineText(text).topology
    if topology.name != "rails":
        return 1
    return int(dict(topology.options).get("host", topology.body.partition(":")[0]))
