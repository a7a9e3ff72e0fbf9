# SPDX-License-Identifier: BSD-3-Clause
"""Samples placed runs: time in MPI, and drift of the communication from the recording.

A run drifts if its input changes which ranks communicate. The next run is then placed
by its communication.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from topoloom._core import Error
from topoloom.graphs.traffic_distance import measure_traffic_distance
from topoloom.launch.launchers.unplaced_command import UnplacedCommand
from topoloom.preload.record.communication_sampler import (
    CommunicationSampler,
    sample_communication,
)
from topoloom.tasks.placed_run import RecordedJob
from topoloom.tasks.runs.run_log import is_representative

if TYPE_CHECKING:
    from topoloom.tasks.runs.remembered_job import RememberedJob
    from topoloom.tasks.verified_run import VerifiedRun

#: Share of the traffic that must flow between other ranks than recorded for the next
#: run to be placed by the new communication.
DRIFT = 0.1


class Drift(NamedTuple):
    """The new communication of a program, and its distance from the recording.

    `recording` is the name of the stored file.
    """

    distance: float
    recording: str
    recorded: RecordedJob

    def describe(self) -> str:
        """Say how the communication has changed."""
        return (
            f"the communication has changed: {100 * self.distance:.0f} % of the "
            "traffic flows between other ranks than recorded"
        )


@contextlib.contextmanager
def sample_run(remembered: RememberedJob) -> Iterator[CommunicationSampler | None]:
    """Yield the sampler of a placed run; None, and a remark, if there cannot be one.

    Runs whose ranks are renumbered in MPI are not sampled: the recorder would see
    some ranks by their new numbers, and others by their old ones.
    """
    job = remembered.job
    with contextlib.ExitStack() as stack:
        sampler = None
        if not isinstance(job.read, UnplacedCommand):
            try:
                sampler = stack.enter_context(
                    sample_communication(job.program, job.mpicc)
                )
            except Error as error:
                remembered.observer.remark(f"communication is not sampled: {error}")
        yield sampler


def compare_with_recording(
    remembered: RememberedJob,
    sampler: CommunicationSampler,
    recorded: RecordedJob,
    verified: VerifiedRun,
) -> Drift | None:
    """Store the time in MPI of an ended run; if it drifted, also its recording.

    A run that cannot be compared did not drift. If it should have been possible, a
    remark says why. A graph that the user brought is not replaced.
    """
    log = remembered.log
    try:
        profile = sampler.read_profile(verified.status)
        log.keep_mpi_time(profile)
        if not is_representative(profile):
            return None
        graph = profile.graph(remembered.collectives)
        assert recorded.graph is not None
        distance = measure_traffic_distance(recorded.graph, graph)
        log.record["drift"] = round(distance, 4)
        if distance <= DRIFT or remembered.placing.graph_file:
            return None
        name = log.keep_recording(profile, remembered.identity)
        new = RecordedJob.from_profile(profile, remembered.collectives)
    except Error as error:
        if verified.status == 0 and not verified.why:
            remembered.observer.remark(f"communication was not sampled: {error}")
        return None
    if name is None:
        return None
    return Drift(distance, name, new)
