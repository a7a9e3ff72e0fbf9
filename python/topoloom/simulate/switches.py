# SPDX-License-Identifier: BSD-3-Clause
"""Our own simulator of switches, packet by packet: buffers, credits, arbiters.

Messages are cut into packets, and packets into flits, which wait in buffers of switches
where a channel is taken. A cycle is what the fastest channel takes for a flit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from topoloom._core import (
    CommGraph,
    Error,
    Machine,
    OperationGraph,
    ProgramMeasure,
    Schedule,
    SwitchWiring,
    channel_name,
    channel_switches,
    simulate_messages,
    simulate_operations,
    simulate_schedule,
)
from topoloom.graphs.phases import Ints, edge_rows
from topoloom.simulate.rounds import Floats, equal_rounds, send_order
from topoloom.simulate.simulated import (
    BusyChannel,
    BusySwitch,
    ReportProgress,
    Simulated,
    unwatched,
)
from topoloom.simulate.switch_toml import SwitchModel

#: Channels and switches that are named.
BUSIEST = 5


def simulate(
    machine: Machine,
    node_of_rank: Sequence[int],
    phases: Sequence[CommGraph],
    switch: SwitchModel | None = None,
    *,
    progress: ReportProgress = unwatched,
) -> Simulated:
    """Simulate phases one after the other; see `topoloom.simulate.Simulate`.

    Names the busiest channels. Progress is in packets.

    Several messages from one rank to another are sent in rounds, as SimGrid's are:
    the ranks wait for all of a round before the next. Equal rounds are simulated once.
    """
    switch, wiring = _wired(machine, switch)
    nodes = np.asarray(node_of_rank)
    rounds = [equal_rounds(phase) for phase in phases]
    count = sum(_packets(switch, nodes, sent) for phase in rounds for _, sent in phase)
    done = 0
    seconds = []
    busy: Floats = np.zeros(np.asarray(channel_switches(wiring)).size)
    for phase in rounds:
        took = 0.0
        for times, sent in phase:
            report = _after(done, count, progress)
            measure = _simulate(machine, wiring, switch, nodes, sent, report)
            done += measure.packets
            progress(done, count)
            took += times * measure.seconds
            busy = busy + times * np.asarray(measure.busy_seconds, float)
        seconds.append(took)
    return _simulated(wiring, seconds, busy)


def simulate_collective(
    machine: Machine,
    node_of_rank: Sequence[int],
    schedule: Schedule,
    switch: SwitchModel | None = None,
) -> Simulated:
    """Simulate a collective, of which each rank begins a round when it can.

    That is when it has sent and received what the round before has.

    Raises
    ------
    topoloom.Error
        If the machine has no links with bandwidths.
    """
    switch, wiring = _wired(machine, switch)
    ends = {0, schedule.rounds - 1} if schedule.rounds else set()
    sizes = [edge_rows(schedule.phase(number))[:, 2] for number in ends]
    largest = max((size.max() for size in sizes if len(size)), default=0.0)
    measure = simulate_schedule(
        wiring,
        node_of_rank,
        schedule,
        settings=switch.settings(wiring.classes, largest),
    )
    return _simulated(
        wiring, [float(measure.seconds)], np.asarray(measure.busy_seconds)
    )


def play(
    machine: Machine,
    node_of_rank: Sequence[int],
    operations: OperationGraph,
    switch: SwitchModel | None = None,
    *,
    progress: ReportProgress = unwatched,
) -> Simulated:
    """Simulate operations, each of which begins when what it waits for is done.

    Work takes its time besides, on the processor of its rank that it names. Progress is
    in packets.

    Raises
    ------
    topoloom.Error
        If the machine has no links with bandwidths.
    """
    switch, wiring = _wired(machine, switch)
    nodes = np.asarray(node_of_rank)
    sent = np.column_stack([np.asarray(ends, float) for ends in operations.sends])
    largest = sent[:, 2].max(initial=0)
    count = _packets(switch, nodes, sent)
    measure = simulate_operations(
        wiring,
        nodes,
        operations,
        settings=switch.settings(wiring.classes, largest),
        progress=_after(0, count, progress),
    )
    return _simulated(
        wiring, [float(measure.seconds)], np.asarray(measure.busy_seconds)
    )


def simulate_together(
    machine: Machine,
    runs: Sequence[Sequence[tuple[CommGraph, Ints]]],
    switch: SwitchModel | None = None,
    *,
    progress: ReportProgress = unwatched,
) -> list[list[float]]:
    """Simulate jobs that begin at once: a message of each pair of ranks, all at once.

    Each run has jobs, which are patterns with the node of each of their ranks. Returns
    of each run the seconds until each job has sent and received all that it has.

    Raises
    ------
    topoloom.Error
        If the machine has no links with bandwidths.
    """
    switch, wiring = _wired(machine, switch)
    found = []
    for number, jobs in enumerate(runs):
        progress(number, len(runs))
        found.append(_finishes(machine, wiring, switch, jobs))
    return found


def _finishes(
    machine: Machine,
    wiring: SwitchWiring,
    switch: SwitchModel,
    jobs: Sequence[tuple[CommGraph, Ints]],
) -> list[float]:
    nodes = np.concatenate([at for _, at in jobs])
    first = np.cumsum([0, *(len(at) for _, at in jobs)])
    sent = [
        each.sent + np.array([before, before, 0])
        for (pattern, _), before in zip(jobs, first, strict=False)
        for each in equal_rounds(pattern)[:1]
    ]
    if not sent:
        return [0.0] * len(jobs)
    all_sent = np.concatenate(sent)
    found = _simulate(machine, wiring, switch, nodes, all_sent, lambda _: None)
    finish = np.asarray(found.finish)
    return [float(finish[begin:end].max(initial=0.0)) for begin, end in pairwise(first)]


def _wired(
    machine: Machine, switch: SwitchModel | None
) -> tuple[SwitchModel, SwitchWiring]:
    check_links(machine)
    switch = switch or SwitchModel()
    return switch, SwitchWiring(machine, switch.routing)


def check_links(machine: Machine) -> None:
    """Refuse a machine without links, or without their bandwidths."""
    if not machine.link_count:
        raise Error(f"{machine.name} has no links, so there are no packets to simulate")
    if not machine.has_bandwidths:
        raise Error(
            f"{machine.name} has no links with bandwidths, so there are no packets to "
            "simulate; describe them, such as 'bandwidth=10GB/s,latency=1us'"
        )


def _simulate(
    machine: Machine,
    wiring: SwitchWiring,
    switch: SwitchModel,
    nodes: Ints,
    sent: Floats,
    report: Callable[[int], object],
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
        progress=report,
    )


def _after(
    before: int, count: int, progress: ReportProgress
) -> Callable[[int], object]:
    """Report packets of a round on top of those of the rounds before it."""
    return lambda packets: progress(before + packets, count)


def _packets(switch: SwitchModel, nodes: Ints, sent: Floats) -> int:
    """Count what goes over the network."""
    ends = nodes[sent[:, :2].astype(np.int64)]
    away = sent[ends[:, 0] != ends[:, 1], 2]
    payload = switch.payload_for(sent[:, 2].max(initial=0))
    return int(np.maximum(1, np.ceil(np.ceil(away) / payload)).sum())


def _simulated(wiring: SwitchWiring, seconds: list[float], busy: Floats) -> Simulated:
    """Name the channels that were sending for longest, and the switches."""
    switch = np.asarray(channel_switches(wiring))
    outputs = np.bincount(switch[switch >= 0], minlength=wiring.switches)
    sums = np.bincount(
        switch[switch >= 0], busy[switch >= 0], minlength=wiring.switches
    )
    mean = sums / np.maximum(outputs, 1)

    def first(of: Floats) -> list[int]:
        order = np.argsort(-of, kind="stable")[:BUSIEST]
        return [int(one) for one in order if of[one] > 0]

    def busiest_output(of: int) -> str:
        own = np.flatnonzero(switch == of)
        return channel_name(wiring, int(own[busy[own].argmax()]))

    all_along = sum(seconds)
    return Simulated(
        seconds,
        tuple(
            BusyChannel(channel_name(wiring, one), float(busy[one] / all_along))
            for one in first(busy)
        ),
        tuple(
            BusySwitch(busiest_output(one), float(mean[one] / all_along))
            for one in first(mean)
        ),
    )
