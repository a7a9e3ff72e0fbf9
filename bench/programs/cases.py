# SPDX-License-Identifier: BSD-3-Clause
"""Simulated cases, each in a separate process to measure memory."""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable, Iterator

import numpy as np

from topoloom import Machine
from topoloom._core import (
    ProgramMeasure,
    Schedule,
    SwitchSettings,
    SwitchWiring,
    simulate_messages,
    simulate_schedule,
)
from topoloom.simulate.switch_toml import SwitchModel

MIB = 1 << 20
FREE = "+node:1,startup=0us,latency=0us"
TREE = f"fattree:16:16:16,bandwidth=50GB/s,latency=100ns{FREE}"
TORUS = f"torus:64x32x32,bandwidth=10GB/s,latency=100ns{FREE}"

Simulation = Callable[[SwitchWiring, SwitchSettings, int], Iterator[ProgramMeasure]]


def make_simulation(*names: tuple[str, str]) -> Simulation:
    """Return a simulation of several collectives of 1 MiB: (schedule, operation)."""

    def run(
        wiring: SwitchWiring, settings: SwitchSettings, threads: int
    ) -> Iterator[ProgramMeasure]:
        for name, operation in names:
            schedule = Schedule(name, operation, 4096, MIB)
            yield simulate_schedule(
                wiring, range(4096), schedule, settings=settings, threads=threads
            )

    return run


def simulate_halo(
    wiring: SwitchWiring, settings: SwitchSettings, threads: int
) -> Iterator[ProgramMeasure]:
    """Simulate an exchange of 8 KiB with six neighbors; ranks are in grid order."""
    shape = (64, 32, 32)
    rank = np.arange(np.prod(shape)).reshape(shape)
    to = np.stack([np.roll(rank, by, axis) for axis in range(3) for by in (1, -1)])
    source = np.repeat(rank.ravel(), 6)
    target = to.reshape(6, -1).T.ravel()
    sizes = np.full(len(source), 8192)
    yield simulate_messages(
        wiring, rank.ravel(), source, target, sizes, settings=settings, threads=threads
    )


#: name -> (machine, simulation)
CASES: dict[str, tuple[str, Simulation]] = {
    "allreduce by a ring, 4,096 hosts": (
        TREE,
        make_simulation(("ring", "allreduce")),
    ),
    "allreduce by binomial trees, 4,096 hosts": (
        TREE,
        make_simulation(("binomial", "reduce"), ("binomial", "bcast")),
    ),
    "halo of a 3-D stencil, 65,536 hosts": (TORUS, simulate_halo),
}


def main(name: str, router: str, flit: int, threads: int) -> None:
    """Simulate a case and print its cost as JSON."""
    machine, simulation = CASES[name]
    start = time.perf_counter()
    wiring = SwitchWiring(Machine(machine))
    settings = SwitchModel(flit=flit, router=router).settings(wiring.classes, 0)
    found = list(simulation(wiring, settings, threads))
    taken = time.perf_counter() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(
        json.dumps(
            {
                "simulated_seconds": sum(one.seconds for one in found),
                "flit_hops": sum(one.flit_hops for one in found),
                "seconds": taken,
                "mebibytes": memory / 1024,
            }
        )
    )


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
