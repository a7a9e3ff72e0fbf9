# SPDX-License-Identifier: BSD-3-Clause
"""Our own simulator of switches, cycle by cycle: buffers, credits, virtual channels.

Messages are cut into packets, and packets into flits, which wait in buffers of switches
where a channel is taken. A cycle is what the fastest channel takes for a flit.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from topoloom._core import (
    CommGraph,
    Error,
    Machine,
    SwitchSettings,
    SwitchWiring,
    simulate_messages,
)
from topoloom.graphs.phases import Ints
from topoloom.simulate.rounds import Floats, equal_rounds, send_order

#: Bytes of a flit, of packets with 16 of them: long messages need not be cut so finely.
FLIT, LONG_FLIT = 64, 256
FLITS_A_PACKET = 16
#: The message, in bytes, from which on flits are the long ones.
LONG = 64 * 1024
#: Virtual channels for each class that routes need, so that packets pass each other.
VCS_A_CLASS = 4


def simulate(
    machine: Machine, node_of_rank: Sequence[int], phases: Sequence[CommGraph]
) -> list[float]:
    """Simulate phases one after the other; see `topoloom.simulate.Simulate`.

    Several messages from one rank to another are sent in rounds, as SimGrid's are:
    the ranks wait for all of a round before the next. Equal rounds are simulated once.
    """
    if not machine.has_bandwidths or not machine.link_count:
        raise Error(
            f"{machine.name} has no links with bandwidths, so there are no packets to "
            "simulate; describe them, such as 'bandwidth=10GB/s,latency=1us'"
        )
    wiring = SwitchWiring(machine)
    nodes = np.asarray(node_of_rank)
    return [
        sum(
            times * _simulate(machine, wiring, nodes, sent)
            for times, sent in equal_rounds(phase)
        )
        for phase in phases
    ]


def _simulate(
    machine: Machine, wiring: SwitchWiring, nodes: Ints, sent: Floats
) -> float:
    ends = sent[:, :2].astype(np.int64)
    between = nodes[ends].tolist()
    hops = np.asarray([machine.hops(*pair) for pair in between], float)
    order = send_order(ends[:, 0], hops)
    flit = LONG_FLIT if sent[:, 2].max() >= LONG else FLIT
    settings = SwitchSettings(
        vcs=VCS_A_CLASS * wiring.classes, flit=flit, payload=FLITS_A_PACKET * flit
    )
    done = simulate_messages(
        wiring,
        nodes,
        ends[order, 0],
        ends[order, 1],
        np.ceil(sent[order, 2]).astype(np.int64),
        settings=settings,
    )
    return float(done.seconds)
