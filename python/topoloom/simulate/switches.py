# SPDX-License-Identifier: BSD-3-Clause
"""The built-in packet-level simulator of switches: buffers, credits, arbiters.

Messages are split into packets and flits, which wait in switch buffers until a channel
is free. A cycle is the time of one flit on the fastest channel.
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
from topoloom.simulate.result import (
    BusyChannel,
    BusySwitch,
    ReportProgress,
    SimulationResult,
    ignore_progress,
)
from topoloom.simulate.rounds import Floats, choose_send_order, split_into_rounds
from topoloom.simulate.switch_toml import SwitchModel

#: Number of the busiest channels, and of the busiest switches, in the result.
BUSIEST = 5


def simulate(
    machine: Machine,
    node_of_rank: Sequence[int],
    phases: Sequence[CommGraph],
    switch: SwitchModel | None = None,
    *,
    progress: ReportProgress = ignore_progress,
) -> SimulationResult:
    """Simulate phases one after another; see `topoloom.simulate.Simulator`.

    The result includes the busiest channels. Progress counts packets.

    Several messages of a pair are sent in rounds; a round begins when the previous
    round is complete. Equal rounds are simulated once.
    """
    switch, wiring = _make_wiring(machine, switch)
    nodes = np.asarray(node_of_rank)
    rounds = [split_into_rounds(phase) for phase in phases]
    count = sum(
        _count_packets(switch, nodes, sent) for phase in rounds for _, sent in phase
    )
    done = 0
    seconds = []
    busy: Floats = np.zeros(np.asarray(channel_switches(wiring)).size)
    for phase in rounds:
        took = 0.0
        for times, sent in phase:
            report = _make_offset_progress(done, count, progress)
            measure = _simulate_messages(machine, wiring, switch, nodes, sent, report)
            done += measure.packets
            progress(done, count)
            took += times * measure.seconds
            busy = busy + times * np.asarray(measure.busy_seconds, float)
        seconds.append(took)
    return _make_result(wiring, seconds, busy)


def simulate_collective(
    machine: Machine,
    node_of_rank: Sequence[int],
    schedule: Schedule,
    switch: SwitchModel | None = None,
) -> SimulationResult:
    """Simulate the schedule of a collective.

    A rank begins a round when its own messages of the previous round are complete.

    Raises `topoloom.Error` if the machine has no links with bandwidths.
    """
    switch, wiring = _make_wiring(machine, switch)
    ends = {0, schedule.rounds - 1} if schedule.rounds else set()
    sizes = [edge_rows(schedule.phase(number))[:, 2] for number in ends]
    largest = max((size.max() for size in sizes if len(size)), default=0.0)
    measure = simulate_schedule(
        wiring,
        node_of_rank,
        schedule,
        settings=switch.settings(wiring.classes, largest),
    )
    return _make_result(
        wiring, [float(measure.seconds)], np.asarray(measure.busy_seconds)
    )


def simulate_graph(
    machine: Machine,
    node_of_rank: Sequence[int],
    operations: OperationGraph,
    switch: SwitchModel | None = None,
    *,
    progress: ReportProgress = ignore_progress,
) -> SimulationResult:
    """Simulate operations; each begins when those on which it depends are complete.

    Computation occupies its processor. Progress counts packets.

    Raises `topoloom.Error` if the machine has no links with bandwidths.
    """
    switch, wiring = _make_wiring(machine, switch)
    nodes = np.asarray(node_of_rank)
    sent = np.column_stack([np.asarray(ends, float) for ends in operations.sends])
    largest = sent[:, 2].max(initial=0)
    count = _count_packets(switch, nodes, sent)
    measure = simulate_operations(
        wiring,
        nodes,
        operations,
        settings=switch.settings(wiring.classes, largest),
        progress=_make_offset_progress(0, count, progress),
    )
    return _make_result(
        wiring, [float(measure.seconds)], np.asarray(measure.busy_seconds)
    )


def simulate_concurrent_jobs(
    machine: Machine,
    runs: Sequence[Sequence[tuple[CommGraph, Ints]]],
    switch: SwitchModel | None = None,
    *,
    progress: ReportProgress = ignore_progress,
) -> list[list[float]]:
    """Simulate concurrent jobs; each sends one message per pair, all at once.

    Each run is a list of jobs; a job is a graph, and the node of each rank. Returns,
    for each run, the seconds until each job's messages are delivered.

    Raises `topoloom.Error` if the machine has no links with bandwidths.
    """
    switch, wiring = _make_wiring(machine, switch)
    found = []
    for number, jobs in enumerate(runs):
        progress(number, len(runs))
        found.append(_simulate_jobs(machine, wiring, switch, jobs))
    return found


def _simulate_jobs(
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
        for each in split_into_rounds(pattern)[:1]
    ]
    if not sent:
        return [0.0] * len(jobs)
    all_sent = np.concatenate(sent)
    found = _simulate_messages(machine, wiring, switch, nodes, all_sent, lambda _: None)
    finish = np.asarray(found.finish)
    return [float(finish[begin:end].max(initial=0.0)) for begin, end in pairwise(first)]


def _make_wiring(
    machine: Machine, switch: SwitchModel | None
) -> tuple[SwitchModel, SwitchWiring]:
    require_links_with_bandwidths(machine)
    switch = switch or SwitchModel()
    return switch, SwitchWiring(machine, switch.routing)


def require_links_with_bandwidths(machine: Machine) -> None:
    """Raise `topoloom.Error` if the machine has no links or no bandwidths."""
    if not machine.link_count:
        raise Error(f"{machine.name} has no links, so there are no packets to simulate")
    if not machine.has_bandwidths:
        raise Error(
            f"{machine.name} has no links with bandwidths, so there are no packets to "
            "simulate; describe them, such as 'bandwidth=10GB/s,latency=1us'"
        )


def _simulate_messages(
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
    order = choose_send_order(ends[:, 0], hops)
    return simulate_messages(
        wiring,
        nodes,
        ends[order, 0],
        ends[order, 1],
        np.ceil(sent[order, 2]).astype(np.int64),
        settings=switch.settings(wiring.classes, sent[:, 2].max()),
        progress=report,
    )


def _make_offset_progress(
    before: int, count: int, progress: ReportProgress
) -> Callable[[int], object]:
    """Make a progress callback that adds the packets of earlier rounds."""
    return lambda packets: progress(before + packets, count)


def _count_packets(switch: SwitchModel, nodes: Ints, sent: Floats) -> int:
    """Count the packets of messages that leave their node."""
    ends = nodes[sent[:, :2].astype(np.int64)]
    away = sent[ends[:, 0] != ends[:, 1], 2]
    payload = switch.choose_payload_bytes(sent[:, 2].max(initial=0))
    return int(np.maximum(1, np.ceil(np.ceil(away) / payload)).sum())


def _make_result(
    wiring: SwitchWiring, seconds: list[float], busy: Floats
) -> SimulationResult:
    """Make the result, with the busiest channels and switches."""
    switch = np.asarray(channel_switches(wiring))
    outputs = np.bincount(switch[switch >= 0], minlength=wiring.switches)
    sums = np.bincount(
        switch[switch >= 0], busy[switch >= 0], minlength=wiring.switches
    )
    mean = sums / np.maximum(outputs, 1)

    def list_busiest(of: Floats) -> list[int]:
        order = np.argsort(-of, kind="stable")[:BUSIEST]
        return [int(one) for one in order if of[one] > 0]

    def find_busiest_output(of: int) -> str:
        own = np.flatnonzero(switch == of)
        return channel_name(wiring, int(own[busy[own].argmax()]))

    all_along = sum(seconds)
    return SimulationResult(
        seconds,
        tuple(
            BusyChannel(channel_name(wiring, one), float(busy[one] / all_along))
            for one in list_busiest(busy)
        ),
        tuple(
            BusySwitch(find_busiest_output(one), float(mean[one] / all_along))
            for one in list_busiest(mean)
        ),
    )
