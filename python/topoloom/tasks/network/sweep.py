# SPDX-License-Identifier: BSD-3-Clause
"""Measures how long packets take in the switches of a machine, load by load."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from topoloom._core import (
    Error,
    LoadMeasure,
    Machine,
    SwitchWiring,
    allocators,
    arbiters,
    injections,
    routers,
    routings,
    traffics,
)
from topoloom.tasks.search import UNLIMITED, MonitorSearch, unmonitored

#: What 'topoloom network' does.
STUDIES = ("sweep",)
SWITCHING = ("wormhole", "cut-through")
#: Routers whose outputs serve what waits for them, without an allocator.
SERVING_ALONE = ("output-queued", "split-fanout", "whole-fanout")
DEFAULT_LOADS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


@dataclass(frozen=True)
class SwitchSettings:
    """How switches pass packets on; kinds are listed by functions of these names.

    Attributes
    ----------
    router
        How they queue; see `router_names`.
    vcs
        Virtual channels of each channel, for virtual output queues those of each
        output; None: two for each class that routes need; other routers: one.
    buffer
        Flits that one of them holds at its input, of output-queued routers for each
        output.
    packet
        Flits.
    switching
        When a packet may go on: as soon as there is room for a flit of it (wormhole),
        or for all of it (cut-through).
    routing
        By what packets choose among routes; see `routing_names`.
    arbiter
        Who is served first; see `arbiter_names`.
    allocator
        How inputs and outputs are matched, iSLIP in this number of `iterations`.
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
class Sweep:
    """What switches do under loads, in the order asked for.

    `stalled` names the packets that waited for each other in a circle, at the load
    behind the last one.
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

    def document(self) -> dict[str, Any]:
        """Say it in names and numbers."""
        allocates = self.options.router not in SERVING_ALONE
        return {
            "machine": self.machine.text,
            "nodes": self.machine.node_count,
            "switches": self.switches,
            "traffic": self.traffic,
            "injection": self.injection,
            "router": self.options.router,
            "vcs": self.options.vcs,
            "buffer": self.options.buffer,
            "packet": self.options.packet,
            "switching": self.options.switching,
            "routing": self.options.routing,
            "arbiter": self.options.arbiter,
            "allocator": self.options.allocator if allocates else None,
            "iterations": self.options.iterations if allocates else None,
            "seed": self.seed,
            "stalled": self.stalled or None,
            "loads": [_point(point) for point in self.points],
        }


def traffic_names() -> list[str]:
    """List the synthetic traffics, without options."""
    return [name.partition("(")[0] for name, _ in traffics()]


def injection_names() -> list[str]:
    """List when nodes make packets, without options."""
    return [name.partition("(")[0] for name, _ in injections()]


def router_names() -> list[str]:
    """List how switches queue."""
    return [name for name, _ in routers()]


def routing_names() -> list[str]:
    """List by what packets choose among routes."""
    return [name for name, _ in routings()]


def arbiter_names() -> list[str]:
    """List by what requesters come first."""
    return [name for name, _ in arbiters()]


def allocator_names() -> list[str]:
    """List how inputs and outputs are matched."""
    return [name for name, _ in allocators()]


def _point(point: LoadMeasure) -> dict[str, Any]:
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
        "latency_histogram": histogram(point.by_latency),
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


def histogram(by_latency: Sequence[int], bars: int = 40) -> dict[str, Any]:
    """Gather packets by cycles in bars of the same width, of `bars` or fewer."""
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
    threads: int = 1,
    monitor: MonitorSearch = unmonitored,
) -> Sweep:
    """Simulate the switches of a machine under each load.

    A load is what each node makes, in flits per cycle, all at once, at the times of the
    `injection`; see `injection_names`. Any number of threads gives the same result; 0:
    one per core. With `watch` packets take any virtual channel, and the sweep ends when
    some wait for each other in a circle.

    Raises
    ------
    Error
        For loads outside of (0, 1], traffic that does not fit the number of nodes,
        bursts that do not come to the load, and fewer virtual channels than the routes
        of the machine need to be free of deadlock.
    """
    options = switches or SwitchSettings()
    if len(loads) == 0:
        raise Error("no loads are given; name some, such as 0.1,0.2")
    if options.router in SERVING_ALONE:
        options = replace(options, switching="cut-through")
    wiring = SwitchWiring(machine, options.routing)
    vcs = options.vcs
    if vcs is None:
        vcs = wiring.classes * (2 if options.router == "input-queued" else 1)
    options = replace(options, vcs=vcs, routing=wiring.routing)
    points: list[LoadMeasure] = []
    interrupted, stalled = False, ""
    for number, load in enumerate(loads, start=1):
        title = f"{number}/{len(loads)} load {load:g}"
        with monitor(title, UNLIMITED) as progress:
            point = wiring.measure_load(
                traffic,
                load,
                vcs=vcs,
                buffer=options.buffer,
                packet=options.packet,
                switching=options.switching,
                router=options.router,
                arbiter=options.arbiter,
                allocator=options.allocator,
                iterations=options.iterations,
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
    return Sweep(
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
