# SPDX-License-Identifier: BSD-3-Clause
"""What jobs that run at the same time take in simulated switches."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from topoloom.simulate.simulated import ReportProgress, unwatched
from topoloom.simulate.switch_toml import SwitchModel
from topoloom.simulate.switches import simulate_together
from topoloom.tasks.jobs.joint import JointPlacement, Together


class JobTimes(NamedTuple):
    """Seconds of each job.

    Attributes
    ----------
    alone
        Placed jointly, on a machine that has nothing else to do.
    apart, jointly
        Placed each for itself, and together, while all run.
    """

    alone: list[float]
    apart: list[float]
    jointly: list[float]


def simulate_jobs(
    found: JointPlacement,
    switch: SwitchModel | None = None,
    progress: ReportProgress = unwatched,
) -> JobTimes:
    """Simulate a message of each pair of ranks, all jobs beginning at once.

    Raises
    ------
    topoloom.Error
        If the machine has no links with bandwidths.
    """
    simulations: list[Callable[[], list[float]]] = [
        lambda: _together(found.apart, switch),
        lambda: _together(found.together, switch),
        *(
            lambda only=number: _together(found.together, switch, only)
            for number in range(len(found.together.jobs))
        ),
    ]
    times = []
    for number, simulation in enumerate(simulations):
        progress(number, len(simulations))
        times.append(simulation())
    apart, jointly, *alone = times
    return JobTimes([seconds for (seconds,) in alone], apart, jointly)


def _together(
    found: Together, switch: SwitchModel | None, only: int | None = None
) -> list[float]:
    numbers = range(len(found.jobs)) if only is None else (only,)
    machine = found.jobs[0].allocation.machine
    return simulate_together(
        machine,
        [
            (
                found.jobs[number].graph,
                (found.placements[number].slots // machine.slots_per_node).astype(int),
            )
            for number in numbers
        ],
        switch,
    )
