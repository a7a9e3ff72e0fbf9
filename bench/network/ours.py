# SPDX-License-Identifier: BSD-3-Clause
"""Our switches, with the channel latency of BookSim."""

from __future__ import annotations

from time import perf_counter, process_time

import topoloom
from network.cases import Case, Point
from topoloom._core import SwitchWiring

#: Latency 1 in BookSim: a flit arrives two cycles after it is sent.
CHANNEL = 2
PAIRS = 5


def speedups(case: Case, load: float, threads: int) -> list[float]:
    """Return the speedup of several threads over one, by alternating runs."""
    wiring = SwitchWiring(topoloom.load_machine(case.machine))
    seconds: list[float] = []
    for with_threads in (1, threads) * PAIRS:
        start = perf_counter()
        wiring.measure_load("uniform", load, vcs=case.router.vcs, threads=with_threads)
        seconds.append(perf_counter() - start)
    return sorted(
        alone / together
        for alone, together in zip(seconds[::2], seconds[1::2], strict=True)
    )


def run(case: Case, load: float) -> Point:
    """Simulate a load on our network; other simulators provide the path length."""
    machine = topoloom.load_machine(case.machine)
    wiring = SwitchWiring(machine)
    start = process_time()
    found = wiring.measure_load(
        "uniform",
        load,
        vcs=case.router.vcs,
        buffer=case.router.buffer,
        packet=case.router.packet,
        channel=CHANNEL,
    )
    return Point(
        load,
        found.accepted,
        found.latency_mean,
        0,
        found.warm_up + found.measured,
        process_time() - start,
    )
