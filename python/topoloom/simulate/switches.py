# SPDX-License-Identifier: BSD-3-Clause
"""Our own simulator of switches, cycle by cycle: buffers, credits, virtual channels.

Messages are cut into packets, and packets into flits, which wait in buffers of switches
where a channel is taken. A cycle is what the fastest channel takes for a flit.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from topoloom._core import (
    CommGraph,
    Error,
    Machine,
    ProgramMeasure,
    SwitchWiring,
    simulate_messages,
)
from topoloom.graphs.phases import Ints
from topoloom.simulate.rounds import Floats, equal_rounds, send_order
from topoloom.simulate.simulated import (
    BusyChannel,
    ReportProgress,
    Simulated,
    unwatched,
)
from topoloom.simulate.switch_toml import SwitchModel

#: Channels that are named.
BUSIEST = 5
#: The busiest of each round, which are added up.
_ADDED = 4096


def simulate(
    machine: Machine,
    node_of_rank: Sequence[int],
    phases: Sequence[CommGraph],
    switch: SwitchModel | None = None,
    *,
    progress: ReportProgress = unwatched,
) -> Simulated:
    """Simulate phases one after the other; see `topoloom.simulate.Simulate`.

    Several messages from one rank to another are sent in rounds, as SimGrid's are:
    the ranks wait for all of a round before the next. Equal rounds are simulated once.
    Progress is in packets.
    """
    if not machine.has_bandwidths or not machine.link_count:
        raise Error(
            f"{machine.name} has no links with bandwidths, so there are no packets to "
            "simulate; describe them, such as 'bandwidth=10GB/s,latency=1us'"
        )
    switch = switch or SwitchModel()
    wiring = SwitchWiring(machine, switch.routing)
    nodes = np.asarray(node_of_rank)
    rounds = [equal_rounds(phase) for phase in phases]
    count = sum(_packets(switch, nodes, sent) for one in rounds for _, sent in one)
    done = 0
    seconds = []
    busy: dict[str, float] = defaultdict(float)
    for phase in rounds:
        took = 0.0
        for times, sent in phase:
            measure = _simulate(machine, wiring, switch, nodes, sent)
            done += measure.packets
            progress(done, count)
            took += times * measure.seconds
            for name, share in measure.busiest:
                busy[name] += times * share * measure.seconds
        seconds.append(took)
    return Simulated(seconds, _busiest(busy, sum(seconds)))


def _simulate(
    machine: Machine,
    wiring: SwitchWiring,
    switch: SwitchModel,
    nodes: Ints,
    sent: Floats,
) -> ProgramMeasure:
    ends = sent[:, :2].astype(np.int64)
    between = nodes[ends].tolist()
    hops = np.asarray([machine.hops(*pair) for pair in between], float)
    order = send_order(ends[:, 0], hops)
    return simulate_messages(
        wiring,
        nodes,
        ends[order, 0],
        ends[order, 1],
        np.ceil(sent[order, 2]).astype(np.int64),
        settings=switch.settings(wiring.classes, sent[:, 2].max()),
        busiest=_ADDED,
    )


def _packets(switch: SwitchModel, nodes: Ints, sent: Floats) -> int:
    """Count what goes over the network."""
    ends = nodes[sent[:, :2].astype(np.int64)]
    away = sent[ends[:, 0] != ends[:, 1], 2]
    payload = switch.payload_for(sent[:, 2].max())
    return int(np.maximum(1, np.ceil(np.ceil(away) / payload)).sum())


def _busiest(busy: dict[str, float], seconds: float) -> tuple[BusyChannel, ...]:
    order = sorted(busy, key=lambda name: -busy[name])[:BUSIEST]
    return tuple(BusyChannel(name, busy[name] / seconds) for name in order)
