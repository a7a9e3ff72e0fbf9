# SPDX-License-Identifier: BSD-3-Clause
"""What files of other programs cannot say of a machine, and what they assume."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from topoloom._core import Machine
from topoloom.importers.simgrid.clusters import assumed_rate
from topoloom.nodes.node_parts import NO_PARTS, NodeParts


def left_out(
    path: str | Path,
    machine: Machine,
    hosts: Sequence[str] = (),
    node: NodeParts = NO_PARTS,
) -> list[str]:
    """Say in lines what `save_machine` leaves out of this file, or adds to it.

    A ``.toml`` keeps everything.
    """
    suffix = Path(path).suffix
    latencies = any(machine.latency(link) for link in range(machine.link_count))
    lost = {
        "names of hosts": bool(hosts),
        "CPUs, memory and devices of nodes": node != NO_PARTS,
        "bandwidths": machine.has_bandwidths and suffix == ".tgt",
        "latencies": latencies and suffix != ".xml",
        "what is inside a node": machine.slots_per_node > 1 and suffix == ".graph",
        "routes": suffix == ".graph",
    }
    if suffix not in (".tgt", ".xml", ".graph"):
        return []
    parts = [what for what, is_lost in lost.items() if is_lost]
    lines = (
        [f"{path} leaves out {', '.join(parts)}; a .toml keeps all"] if parts else []
    )
    assumed = assumed_rate(machine) if suffix == ".xml" else ""
    return [*lines, f"{path}: {assumed}"] if assumed else lines
