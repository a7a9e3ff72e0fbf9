# SPDX-License-Identifier: BSD-3-Clause
"""Simulates the duration of task transfers on a machine."""

from __future__ import annotations

import shutil
from collections.abc import Sequence

import numpy as np

from topoloom._core import Balance, CommGraph, Error
from topoloom.graphs.phases import Ints
from topoloom.simulate import bind_switch, load_simulator
from topoloom.simulate.result import ignore_progress
from topoloom.tasks.balancing.balance import Ranks, make_transfer_graph

#: Maximum number of packets: the built-in simulator of switches takes ten seconds for
#: it.
MAX_PACKETS = 20_000_000


def plan_rounds(loads: Ints, balance: Balance, task_bytes: int) -> list[CommGraph]:
    """Split a plan into rounds; no rank sends tasks before it has received them."""
    held = loads.copy()
    source, target, left = balance.plan.T.copy()
    rounds = []
    while left.any():
        given = np.zeros_like(left)
        for i in left.nonzero()[0]:
            given[i] = min(left[i], held[source[i]])
            held[source[i]] -= given[i]
        np.add.at(held, target, given)
        left -= given
        goes = given > 0
        moved = np.column_stack([source[goes], target[goes], given[goes]])
        rounds.append(make_transfer_graph(len(loads), moved, task_bytes))
    return rounds


def time_moves(
    ranks: Ranks, rounds: Sequence[CommGraph], machine: str | None = None
) -> dict[str, float]:
    """Simulate rounds of transfers one after another.

    Parameters
    ----------
    ranks
        The slots of the ranks.
    rounds
        The transfers of each round.
    machine
        The name or file of a machine whose ``[switch]`` settings are used.

    Returns
    -------
    dict
        Seconds by simulator: the built-in switches, and SimGrid if it is installed.

    Raises
    ------
    Error
        If the machine has no links with bandwidths, more than 20 million packets cross
        it, or a simulator fails.
    """
    names = ["switches"] + (["simgrid"] if shutil.which("smpirun") else [])
    the_machine = ranks.allocation.machine
    nodes = (ranks.placement.slots // the_machine.slots_per_node).tolist()
    found = {}
    for name in names:
        own = machine if name == "switches" else None
        simulate = bind_switch(load_simulator(name), name, None, own)
        watch = _check_packet_count if name == "switches" else ignore_progress
        simulated = simulate(the_machine, nodes, rounds, progress=watch)
        found[name] = sum(simulated.seconds)
    return found


def _check_packet_count(_: int, packets: int) -> None:
    if packets > MAX_PACKETS:
        raise Error(
            f"the tasks are {packets:,} packets, more than the {MAX_PACKETS:,} that "
            "the switches can simulate; simulate smaller tasks (times are proportional "
            "to bytes), or set a larger payload in the machine's [switch]"
        )
