# SPDX-License-Identifier: BSD-3-Clause
"""What every reader of other programs' files makes: a machine and its nodes' names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from topoloom.nodes.node_parts import NO_PARTS, NodeParts


class AllocatedNode(NamedTuple):
    """A node that a job was given, and which of its slots, counted on the node from 0.

    No slots stand for all of them.
    """

    host: str
    slots: tuple[int, ...] = ()


@dataclass(frozen=True)
class MachineDescription:
    """A machine as a file or a system describes it.

    Attributes
    ----------
    text
        The short text that `topoloom.Machine` takes.
    hosts
        ``hosts[i]`` is the name of node i; empty where nodes have no names.
    allocated
        The nodes of the job that the machine was described for, in the launcher's
        order; empty where that is the whole machine.
    node
        What is inside each node: names of levels, CPUs, devices.
    network
        Of which kind the network is, a key of `networks.NETWORKS`; empty where that is
        unknown; None where its speeds are in `text`, or there is none.
    remarks
        What was assumed.
    switches
        Names of switches, in the order of their vertices, which follow the nodes; empty
        where they have none.
    lacking
        What of a file was left out since something is missing, in words.
    labels
        The labels of Kubernetes nodes that say which group a node is in, from leaf
        groups up; empty strings where they are not known.
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
