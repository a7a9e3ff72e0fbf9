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
    SwitchWiring,
    simulate_messages,
)
from topoloom.graphs.phases import Ints
from topoloom.simulate.rounds import Floats, equal_rounds, send_order
from topoloom.simulate.switch_toml import SwitchModel


def simulate(
    machine: Machine,
    node_of_rank: Sequence[int],
    phases: Sequence[CommGraph],
    switch: SwitchModel | None = None,
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
    switch = switch or SwitchModel()
    wiring = SwitchWiring(machine, switch.routing)
    nodes = np.asarray(node_of_rank)
    return [
        sum(
            times * _simulate(machine, wiring, switch, nodes, sent)
            for times, sent in equal_rounds(phase)
        )
        for phase in phases
    ]


def _simulate(
    machine: Machine,
    wiring: SwitchWiring,
    switch: SwitchModel,
    nodes: Ints,
    sent: Floats,
) -> float:
    ends = sent[:, :2].astype(np.int64)
    between = nodes[ends].tolist()
    hops = np.asarray([machine.hops(*pair) for pair in between], float)
    order = send_order(ends[:, 0], hops)
    done = simulate_messages(
        wiring,
        nodes,
        ends[order, 0],
        ends[order, 1],
        np.ceil(sent[order, 2]).astype(np.int64),
        settings=switch.settings(wiring.classes, sent[:, 2].max()),
    )
    return float(done.seconds)
