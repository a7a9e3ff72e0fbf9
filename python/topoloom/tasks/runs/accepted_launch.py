# SPDX-License-Identifier: BSD-3-Clause
"""Remembers which placements a launcher has accepted in this job.

An empty program is started before each placed run, to detect errors of the launcher
before the program starts. A job that starts the same program many times does that once.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from topoloom.store.run_store import make_key
from topoloom.support.this_host import is_this_host

if TYPE_CHECKING:
    from topoloom.tasks.launch_slots import LaunchSlots
    from topoloom.tasks.placed_run import Job
    from topoloom.tasks.runs.run_log import RunLog


class AcceptedLaunch(NamedTuple):
    """The launch of a placement, in the store; `facts` is what it depends on."""

    log: RunLog
    facts: Sequence[object]

    def is_known(self, libraries: Sequence[Path]) -> bool:
        """Return whether all hosts have started a program and read these libraries."""
        entry = self.log.attempt(lambda store: store.read_entry(self._key(libraries)))
        return entry is not None and entry.get("accepted") is True

    def remember(self, libraries: Sequence[Path], is_accepted: bool) -> None:
        """Remember that the launch was accepted, or that it must be tried again."""
        entry = {"accepted": is_accepted}
        self.log.attempt(lambda store: store.write_entry(self._key(libraries), entry))

    def _key(self, libraries: Sequence[Path]) -> str:
        return make_key("accepted launch", [*self.facts, [*map(str, libraries)]])


def find_accepted_launch(
    log: RunLog, job: Job, slots: LaunchSlots, placement: str | None
) -> AcceptedLaunch | None:
    """Return what identifies a launch; None if it must always be tried.

    `placement` is the name of the stored placement. Outside of a batch job, hosts can
    fail or change their cores between two runs, so only launches on this host are
    remembered.
    """
    hosts = [*dict.fromkeys(slots.allocated.hosts or ())]
    batch_job = log.record["job"]
    if placement is None or not (
        batch_job or (hosts and all(map(is_this_host, hosts)))
    ):
        return None
    launcher = shutil.which(job.program[0])
    if launcher is None:
        return None
    facts = [
        *(batch_job, os.uname().nodename, sorted(os.sched_getaffinity(0)), hosts),
        *(launcher, Path(launcher).stat().st_mtime_ns, job.program, placement),
        *(slots.cores_per_slot, slots.cores_per_rank, slots.bind),
    ]
    return AcceptedLaunch(log, facts)
