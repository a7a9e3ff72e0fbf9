# SPDX-License-Identifier: BSD-3-Clause
"""Measures packet latency by load in the simulated switches of a machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from topoloom._core import (
    LoadMeasure,
    Machine,
    SwitchWiring,
)
from topoloom.support.parameter_error import ParameterError
from topoloom.tasks.search import UNLIMITED, MonitorSearch, run_unmonitored

if TYPE_CHECKING:
    from topoloom.documents.machines import LatencyHistogram, LoadPoint, SweepDocument

SWITCHING = ("wormhole", "cut-through")
#: Router types without an allocator.
WITHOUT_ALLOCATOR = ("output-queued", "split-fanout", "whole-fanout")
DEFAULT_LOADS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


@dataclass(frozen=True)
class SwitchSettings:
    """Settings of simulated switches.

    Attributes
    ----------
    router
        Router type: how a switch queues flits.
    vcs
        Virtual channels per channel; for virtual output queues, per output. By default,
        two per deadlock class of the routes; one for other routers.
    buffer
        Buffer size in flits per virtual channel at an input; for output-queued routers,
        per output.
    packet
        Packet size in flits.
    switching
        When a packet may advance: if the next buffer has space for one flit (wormhole),
        or for the whole packet (cut-through).
    routing
        Routing algorithm, which chooses among routes.
    arbiter
        Arbiter, which orders requests.
    allocator
        Allocator, which matches inputs with outputs; iSLIP runs `iterations`
        iterations.
    """

    router: str = "input-queued"
    vcs: int | None = None
    buffer: int = 8
    packet: int = 4
    switching: str = "wormhole"
    routing: str = "own"
    arbiter: str = "round-robin"
    allocator: str = "islip"
    iterations: int = 1


@dataclass(frozen=True)
class LoadSweep:
    """Measurements at each load.

    `stalled` lists the packets of a deadlock at the load after the last measured load.
    """

    machine: Machine
    switches: int
    traffic: str
    injection: str
    options: SwitchSettings
    seed: int
    points: list[LoadMeasure]
    interrupted: bool
    stalled: str = ""

    def document(self) -> SweepDocument:
        """Return the fields of the ``--json`` output."""
        options = self.options
        allocates = options.router not in WITHOUT_ALLOCATOR
        return {
            "machine": self.machine.text,
            "nodes": self.machine.node_count,
            "switches": self.switches,
            "traffic": self.traffic,
            "injection": self.injection,
            "router": options.router,
            "vcs": options.vcs,
            "buffer": options.buffer,
            "packet": options.packet,
            "switching": options.switching,
            "routing": options.routing,
            "arbiter": options.arbiter,
            "allocator": options.allocator if allocates else None,
            "iterations": options.iterations if allocates else None,
            "seed": self.seed,
            "stalled": self.stalled or None,
            "loads": [_make_point_document(point) for point in self.points],
        }


def _make_point_document(point: LoadMeasure) -> LoadPoint:
    return {
        "offered": point.offered,
        "accepted": point.accepted,
        "latency_mean": point.latency_mean,
        "latency_half_width": point.half_width,
        "latency_p50": point.latency_p50,
        "latency_p99": point.latency_p99,
        "saturated": point.saturated,
        "warm_up_cycles": point.warm_up,
        "measured_cycles": point.measured,
        "packets": point.packets,
        "source_min": min(point.by_source, default=0.0),
        "source_max": max(point.by_source, default=0.0),
        "fairness": point.fairness,
        "latency_histogram": make_latency_histogram(point.by_latency),
        "series": [
            {
                "cycle": sample.cycle,
                "accepted": sample.accepted,
                "channel_use": sample.channel_use,
                "buffer_fill": sample.buffer_fill,
            }
            for sample in point.series
        ],
    }


def make_latency_histogram(
    by_latency: Sequence[int], bars: int = 40
) -> LatencyHistogram:
    """Count packets by latency in at most `bars` bins of equal width."""
    width = max(1, -(-len(by_latency) // bars))
    counts = [
        sum(by_latency[start : start + width])
        for start in range(0, len(by_latency), width)
    ]
    return {"width": width, "packets": counts}


def sweep_loads(
    machine: Machine,
    traffic: str = "uniform",
    switches: SwitchSettings | None = None,
    loads: Sequence[float] = DEFAULT_LOADS,
    *,
    injection: str = "bernoulli",
    watch: bool = False,
    seed: int = 1,
    threads: int = 0,
    monitor: MonitorSearch = run_unmonitored,
) -> LoadSweep:
    """Simulate the switches of a machine at each load.

    A load is the number of flits per cycle that each node injects, as timed by
    `injection`. Results do not depend on the number of threads; 0 uses one per core.
    With `watch`, packets may use any virtual channel, and the sweep ends at a deadlock.

    Raises
    ------
    Error
        For loads outside (0, 1], traffic that does not fit the number of nodes, bursts
        that cannot reach the load, and too few virtual channels to avoid deadlock.
    """
    options = switches or SwitchSettings()
    if len(loads) == 0:
        raise ParameterError("loads", "is empty; set loads, such as 0.1,0.2")
    if options.router in WITHOUT_ALLOCATOR:
        options = replace(options, switching="cut-through")
    wiring = SwitchWiring(machine, options.routing)
    vcs = options.vcs
    if vcs is None:
        vcs = wiring.classes * (2 if options.router == "input-queued" else 1)
    options = replace(options, vcs=vcs, routing=wiring.routing)
    settings = {key: value for key, value in vars(options).items() if key != "routing"}
    points: list[LoadMeasure] = []
    interrupted, stalled = False, ""
    for number, load in enumerate(loads, start=1):
        title = f"{number}/{len(loads)} load {load:g}"
        with monitor(title, UNLIMITED) as progress:
            point = wiring.measure_load(
                traffic,
                load,
                **settings,
                injection=injection,
                watch=watch,
                seed=seed,
                threads=threads,
                progress=progress,
            )
            interrupted = not progress(0)
        if point.stalled:
            stalled = f"with load {load:g} {point.stalled}"
        if interrupted or stalled:
            break
        points.append(point)
    return LoadSweep(
        machine,
        wiring.switches,
        traffic,
        injection,
        options,
        seed,
        points,
        interrupted,
        stalled,
    )
