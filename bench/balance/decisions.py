# SPDX-License-Identifier: BSD-3-Clause
"""Time of decisions on one core."""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

import topoloom as tl
from smpi import CORE, MPI, find
from topoloom.tasks import block_ranks

SIZES = (1000, 10_000, 100_000, 1_000_000)
METHODS = ("alias", "alias(remainder=exact)", "sweep", "qwalk")
#: Machines of the simulations, and machines with up to 10^6 nodes for 10^6 ranks.
MACHINES = (
    "torus:5x2+node:12",
    "torus:17x5+node:12",
    "torus:31x11+node:12",
    "torus:100x100x100",
    "torus:32x32x32+node:31",
    "fattree:100:100:100",
    "dragonfly:257x64,nodes=64",
)


class Decision(NamedTuple):
    """Minimum CPU seconds of a method over several runs."""

    method: str
    machine: str
    ranks: int
    seconds: float


def decide(repetitions: int) -> list[Decision]:
    """Time balancers that ignore the machine by size, and near partners for 10^6 ranks.

    Balancers that ignore the machine are called from C, as on ranks; others from
    Python.
    """
    found = list(_time_single_decision(repetitions))
    rng = np.random.default_rng(1)
    for text in MACHINES:
        machine = tl.load_machine(text)
        allocation = tl.Allocation.whole(machine)
        count = min(SIZES[-1], allocation.slot_count)
        where = block_ranks(allocation, count)._asdict()
        loads = rng.integers(20, 29, count)
        for method in ("curve(partners=order)", "transport", "auto"):
            seconds = _find_least_time(
                partial(tl.tasks.balance, loads, method=method, **where),
                min(repetitions, 3),
            )
            found.append(Decision(method, text, count, seconds))
    return found


def _time_single_decision(repetitions: int) -> Iterator[Decision]:
    with tempfile.TemporaryDirectory() as name:
        program = Path(name) / "decide_alone"
        source = Path(__file__).with_name("decide_alone.c")
        headers = f"-I{MPI.parent / 'core' / 'topoloom' / 'capi'}"
        linked = (CORE, f"-Wl,-rpath,{CORE.parent}")
        words = (find("cc", "gcc"), "-std=gnu11", "-O2", headers, source, *linked)
        subprocess.run([*map(str, words), "-o", program], check=True)
        for size in SIZES:
            for method in METHODS:
                command = [str(program), method, str(size), str(repetitions)]
                milliseconds = float(subprocess.check_output(command, text=True))
                yield Decision(method, "", size, milliseconds / 1e3)


def _find_least_time(run: Callable[[], object], repetitions: int) -> float:
    times = []
    for _ in range(repetitions):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return min(times)
