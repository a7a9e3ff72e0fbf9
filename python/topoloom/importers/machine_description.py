# SPDX-License-Identifier: BSD-3-Clause
"""The result of every importer: a machine, and the names of its nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from topoloom.nodes.node_parts import NO_PARTS, NodeParts


class AllocatedNode(NamedTuple):
    """A node of a job's allocation and the job's slots on it, from 0; () for all."""

    host: str
    slots: tuple[int, ...] = ()


@dataclass(frozen=True)
class MachineDescription:
    """A machine as described by a file or a system.

    Attributes
    ----------
    text
        The short text that `topoloom.Machine` takes.
    hosts
        ``hosts[i]`` is the name of node i; empty if nodes have no names.
    allocated
        The nodes of the job, in the launcher's order; empty for the whole machine.
    node
        Names of levels, CPUs and devices of each node.
    network
        The kind of the network, a key of `network_speeds.NETWORKS`; empty if unknown;
        None if `text` has its speeds, or there is no network.
    remarks
        Assumptions made.
    switches
        Names of switches in the order of their vertices; empty if they have no names.
    missing
        Omissions for lack of data, one sentence each.
    labels
        The Kubernetes labels that name a node's groups, from leaf groups up; "" for
        unknown ones.
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


class GivenSpeeds(NamedTuple):
    """The user's speeds instead of assumed ones, in bytes per second each way.

    Attributes
    ----------
    network
        All NICs of a node; for a torus, a link.
    nvlink
        The NVLink of a GPU, inside or between nodes.
    """

    network: float | None = None
    nvlink: float | None = None
