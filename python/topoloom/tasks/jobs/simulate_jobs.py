# SPDX-License-Identifier: BSD-3-Clause
"""Simulates the switches of a machine on which several jobs run at the same time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from topoloom._core import CommGraph
from topoloom.graphs.phases import Ints
from topoloom.simulate.result import ReportProgress, ignore_progress
from topoloom.simulate.switch_toml import SwitchModel
from topoloom.simulate.switches import simulate_concurrent_jobs
from topoloom.tasks.jobs.joint import JobPlacements, JointPlacement


class JobTimes(NamedTuple):
    """Simulated seconds of each job.

    Attributes
    ----------
    alone
        Seconds with the joint placement on an empty machine.
    apart, jointly
        Seconds with separate placements, and with joint placements, while all jobs run.
    """

    alone: list[float]
    apart: list[float]
    jointly: list[float]


def simulate_jobs(
    found: JointPlacement,
    switch: SwitchModel | None = None,
    progress: ReportProgress = ignore_progress,
) -> JobTimes:
    """Simulate one message per pair of communicating ranks; all jobs start at once.

    Raises
    ------
    topoloom.Error
        If the machine has no links with bandwidths.
    """
    jointly = _list_jobs(found.together)
    runs = [_list_jobs(found.apart), jointly, *([job] for job in jointly)]
    machine = found.together.jobs[0].allocation.machine
    apart, together, *alone = simulate_concurrent_jobs(
        machine, runs, switch, progress=progress
    )
    return JobTimes([seconds for (seconds,) in alone], apart, together)


def _list_jobs(jobs: JobPlacements) -> list[tuple[CommGraph, Ints]]:
    """Pair each job with the nodes of its ranks."""
    return [
        (
            job.graph,
            (placement.slots // job.allocation.machine.slots_per_node).astype(np.int64),
        )
        for job, placement in zip(jobs.jobs, jobs.placements, strict=True)
    ]
