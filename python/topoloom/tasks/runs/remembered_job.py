# SPDX-License-Identifier: BSD-3-Clause
"""A job that the run store remembers, and how it ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from topoloom.tasks.problem import check_fit

if TYPE_CHECKING:
    from topoloom.launch.launcher import Launch
    from topoloom.preload.verify import AffinityReport
    from topoloom.store.program_identity import ProgramIdentity
    from topoloom.tasks.launch_slots import LaunchSlots
    from topoloom.tasks.placed_run import Job, PlacedJob, RecordedJob
    from topoloom.tasks.runs.run_log import RunLog
    from topoloom.tasks.runs.stored_placement import Decision, Placing
    from topoloom.tasks.verified_run import VerifiedRun

#: Kinds of runs: placed, recorded in launcher order, or only in launcher order.
PLACED, RECORDED, LAUNCHER = "placed", "recorded", "launcher"


class Observer(NamedTuple):
    """Callbacks: for remarks, before a placed run, and for locations of ranks."""

    remark: Callable[[str], None]
    announce: Callable[[PlacedJob, Launch], None]
    report: Callable[[AffinityReport], None]


@dataclass
class RememberedJob:
    """A job that runs once.

    `identity` is None if the program cannot be recognized in later runs. With `like`,
    recordings with other arguments are accepted. `renumber` is whether ranks are
    renumbered in MPI. `collectives` is how collectives become messages.
    """

    job: Job
    slots: LaunchSlots
    identity: ProgramIdentity | None
    like: bool
    collectives: str
    renumber: bool
    placing: Placing
    log: RunLog
    observer: Observer

    def select_slots(self, recorded: RecordedJob) -> LaunchSlots:
        """Return the slots that the launcher uses; raise an error if they are few."""
        graph = recorded.graph
        assert graph is not None
        name = self.placing.graph_file or "the program"
        check_fit(graph, self.slots.allocation, name)
        return self.slots.select_used(graph.rank_count, as_started=self.renumber)


class Ended(NamedTuple):
    """How a job ended: its kind and exit status, and what is known about it.

    `why` says in one sentence why the job was not placed; "" if it was.
    """

    kind: str
    status: int
    why: str = ""
    recorded: RecordedJob | None = None
    decision: Decision | None = None
    launch: Launch | None = None
    verified: VerifiedRun | None = None
