# SPDX-License-Identifier: BSD-3-Clause
"""The result of all importers: a machine, and the names of its nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from topoloom.nodes.node_parts import NO_PARTS, NodeParts


class AllocatedNode(NamedTuple):
    """A node of a job's allocation, and the job's slots there; () for all slots."""

    host: str
    slots: tuple[int, ...] = ()


@dataclass(frozen=True)
class MachineDescription:
    """A machine read from a file or a system.

    Attributes
    ----------
    text
        Machine text for `topoloom.Machine`.
    hosts
        ``hosts[i]`` is the name of node i; empty if nodes have no names.
    allocated
        The nodes of the job, in launcher order; empty for the whole machine.
    node
        Names of levels, CPUs and devices of each node.
    network
        Network type, a key of `network_speeds.NETWORKS`; empty if unknown; None if
        `text` already contains the speeds, or there is no network.
    remarks
        Assumptions of the importer, one sentence each.
    switches
        Names of switches in vertex order; empty if switches have no names.
    missing
        Parts omitted for lack of data, one sentence each.
    labels
        The Kubernetes labels whose values name a node's groups, from leaf groups up; ""
        if unknown.
    name
        Name of the machine in its TOML file; empty for other sources, and if changed.
    """

    text: str
    hosts: tuple[str, ...] = ()
    allocated: tuple[AllocatedNode, ...] = ()
    node: NodeParts = NO_PARTS
    network: str | None = None
    remarks: tuple[str, ...] = ()
    switches: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    name: str = ""


class Selection(NamedTuple):
    """What to read of a file with several networks, and how; "" and 0 for the default.

    Attributes
    ----------
    topology
        Name of a topology in Slurm's ``topology.yaml``.
    part
        Name of a switch, ring or torus: only it and what is below it are read.
    xgmi
        Bytes/s of an xGMI link of AMD's GPUs per direction; 0 for that of the GPU.
    """

    topology: str = ""
    part: str = ""
    xgmi: float = 0


class GivenSpeeds(NamedTuple):
    """Speeds specified by the user, in bytes/s per direction.

    Attributes
    ----------
    network
        Total of a node's NICs; in a torus, bandwidth of a link. nvlink NVLink bandwidth
        of a GPU, inside a node or between nodes.
    """

    network: float | None = None
    nvlink: float | None = None
